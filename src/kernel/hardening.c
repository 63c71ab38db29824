/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a thread is protected from: speculation past stores and at indirect branches, and changed return addresses.
 *
 * Against speculation there is one mode for the whole kernel, chosen while it boots. In some of them each thread may
 * choose for itself, in bits of task_struct.atomic_flags. The texts are those of /proc/PID/status.
 */
#include <kwalk/symbol.h>
#include <kwalk/type.h>

#include "kernel/source.h"
#include "kernel/symbol_value.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

/* Bits of task_struct.atomic_flags, PFA_... */
#define STORES_DISABLED		(1u << 3)
#define STORES_FORCE_DISABLED	(1u << 4)
#define BRANCHES_DISABLED	(1u << 5)
#define BRANCHES_FORCE_DISABLED (1u << 6)
#define STORES_UNTIL_EXEC	(1u << 7)

/* Bits of the word behind the features in cpuinfo_x86.x86_capability: X86_BUG_... */
#define BUG_SPECTRE_V2	 (1u << 16)
#define BUG_STORE_BYPASS (1u << 17)

/* Bits of thread_struct.features: ARCH_SHSTK_... */
#define SHADOW_STACK	   1u
#define SHADOW_STACK_WRITE 2u

#define UNKNOWN UINT64_MAX

/* A mode as this kernel numbers it; one that it has not is -1, which no mode is. */
struct modes {
	int64_t disable, prctl, seccomp, strict, preferred;
};

struct hardening {
	uint64_t bugs; /* UNKNOWN when not known, as the modes */
	uint64_t stores, ibpb, stibp;
	struct modes store, branch;
};

/* The words of features are numbered by an enumeration whose last member, since 6.10 or so, is their number. */
static uint64_t read_bugs(kw_ctx *ctx)
{
	uint64_t capability = kw_offset_or_none(ctx, "cpuinfo_x86", "x86_capability"), cpu;
	int64_t words = kw_enumerator_or_none(ctx, "enum cpuid_leafs", "NR_CPUID_WORDS");
	const struct kw_type *leafs;
	uint32_t bugs;

	if (words < 0 && kw_type_find(ctx, "enum cpuid_leafs", &leafs) == KW_OK)
		words = leafs->count;
	if (words < 0 || words > 64 || capability == KW_NO_ADDR ||
	    kw_symbol_address(ctx, "boot_cpu_data", &cpu) != KW_OK ||
	    kw_read_u32(ctx, cpu + capability + 4 * (uint64_t)words, &bugs) != KW_OK)
		return UNKNOWN;
	return bugs;
}

static uint64_t read_mode(kw_ctx *ctx, const char *symbol)
{
	uint64_t mode;

	return kw_symbol_value(ctx, symbol, 4, &mode) == KW_OK ? mode : UNKNOWN;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	static const char stores[] = "enum ssb_mitigation", branches[] = "enum spectre_v2_user_mitigation";
	struct hardening *h = layout;

	(void)kernel;
	*h = (struct hardening){
		.bugs = read_bugs(ctx),
		.stores = read_mode(ctx, "ssb_mode"),
		.ibpb = read_mode(ctx, "spectre_v2_user_ibpb"),
		.stibp = read_mode(ctx, "spectre_v2_user_stibp"),
		.store = { .disable = kw_enumerator_or_none(ctx, stores, "SPEC_STORE_BYPASS_DISABLE"),
			   .prctl = kw_enumerator_or_none(ctx, stores, "SPEC_STORE_BYPASS_PRCTL"),
			   .seccomp = kw_enumerator_or_none(ctx, stores, "SPEC_STORE_BYPASS_SECCOMP") },
		.branch = { .prctl = kw_enumerator_or_none(ctx, branches, "SPECTRE_V2_USER_PRCTL"),
			    .seccomp = kw_enumerator_or_none(ctx, branches, "SPECTRE_V2_USER_SECCOMP"),
			    .strict = kw_enumerator_or_none(ctx, branches, "SPECTRE_V2_USER_STRICT"),
			    .preferred = kw_enumerator_or_none(ctx, branches,
							       "SPECTRE_V2_USER_STRICT_PREFERRED") },
	};
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct hardening), resolve };

static bool is_chosen(const struct modes *modes, uint64_t mode)
{
	return mode == (uint64_t)modes->prctl || mode == (uint64_t)modes->seccomp;
}

/* As ssb_prctl_get(). */
static const char *store_bypass_text(const struct hardening *h, uint64_t flags)
{
	if (is_chosen(&h->store, h->stores)) {
		if (flags & STORES_FORCE_DISABLED)
			return "thread force mitigated";
		if (flags & STORES_UNTIL_EXEC)
			return "vulnerable"; /* the kernel has no other word for it */
		return flags & STORES_DISABLED ? "thread mitigated" : "thread vulnerable";
	}
	if (h->stores == (uint64_t)h->store.disable)
		return "globally mitigated";
	return h->bugs & BUG_STORE_BYPASS ? "vulnerable" : "not vulnerable";
}

/* As ib_prctl_get(). */
static const char *indirect_branch_text(const struct hardening *h, uint64_t flags)
{
	if (!(h->bugs & BUG_SPECTRE_V2))
		return "not affected";
	if (!h->ibpb && !h->stibp)
		return "always enabled";
	if (is_chosen(&h->branch, h->ibpb) || is_chosen(&h->branch, h->stibp)) {
		if (flags & BRANCHES_FORCE_DISABLED)
			return "conditional force disabled";
		return flags & BRANCHES_DISABLED ? "conditional disabled" : "conditional enabled";
	}
	if (h->ibpb == (uint64_t)h->branch.strict || h->stibp == (uint64_t)h->branch.strict ||
	    h->stibp == (uint64_t)h->branch.preferred)
		return "always disabled";
	return "not affected";
}

static void store_bypass(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct hardening *h = kw_layout_get(row->ctx, row->kernel, &subject);

	if (kw_pass_absent(in, 1, out))
		return;
	if (!h || h->bugs == UNKNOWN || h->stores == UNKNOWN)
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
	else
		kw_set_string(out, store_bypass_text(h, in[0].u));
}

static void indirect_branch(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct hardening *h = kw_layout_get(row->ctx, row->kernel, &subject);

	if (kw_pass_absent(in, 1, out))
		return;
	if (!h || h->bugs == UNKNOWN || h->ibpb == UNKNOWN || h->stibp == UNKNOWN)
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
	else
		kw_set_string(out, indirect_branch_text(h, in[0].u));
}

static void features(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	static const char *const texts[] = { "", "shstk", "wrss", "shstk wrss" };

	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_string(out, texts[in[0].u & (SHADOW_STACK | SHADOW_STACK_WRITE)]);
}

#define TEXT KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_OBJECT

static const struct kw_field_def fields[] = {
	{ { "store_bypass", "SSB", "Speculation_Store_Bypass", TEXT,
	    "is it kept from speculating past stores: in the words of /proc/PID/status",
	    "ssb_mode, task_struct.atomic_flags" },
	  { "atomic_flags" },
	  store_bypass,
	  0 },
	{ { "indirect_branch", "INDIRECT", "SpeculationIndirectBranch", TEXT,
	    "may indirect branches speculate: in the words of /proc/PID/status",
	    "spectre_v2_user_ibpb, spectre_v2_user_stibp, task_struct.atomic_flags" },
	  { "atomic_flags" },
	  indirect_branch,
	  0 },
	{ { "thread_features", "FEATURES", "x86_Thread_features", TEXT,
	    "shadow stack: shstk when it has one, wrss when it may write to it",
	    "thread_struct.features (since 6.6)" },
	  { "thread.features" },
	  features,
	  0 },
	{ { "thread_features_locked", "LOCKEDFEAT", "x86_Thread_features_locked", TEXT,
	    "which of these it can't change any more", "thread_struct.features_locked (since 6.6)" },
	  { "thread.features_locked" },
	  features,
	  0 },
};

const struct kw_field_table kw_hardening_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
