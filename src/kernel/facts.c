/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What kwalk info shows: the target, the kernel in it, where symbols and types came from, what each step cost. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kwalk/target.h>

#include "kernel/kernel.h"
#include "memory/memory.h"
#include "symbol/symbols.h"
#include "type/types.h"
#include "util/array.h"
#include "util/error.h"
#include "util/time.h"

struct facts {
	struct kw_fact *item;
	size_t nr, cap;
	bool failed;
};

/* Text may come from the target: only printable ASCII passes. */
static void sanitise(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			*text = '?';
}

static void format_value(struct kw_fact *fact, const char *fmt, va_list args)
{
	vsnprintf(fact->value, sizeof(fact->value), fmt, args);
	sanitise(fact->value);
}

static void __attribute__((format(printf, 2, 3))) set_value(struct kw_fact *fact, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	format_value(fact, fmt, args);
	va_end(args);
}

static void __attribute__((format(printf, 4, 5)))
add(struct facts *facts, const char *topic, const char *name, const char *fmt, ...)
{
	struct kw_fact fact = { .topic = topic, .name = name, .found = true };
	va_list args;

	va_start(args, fmt);
	format_value(&fact, fmt, args);
	va_end(args);
	if (!kw_array_push(facts, fact))
		facts->failed = true;
}

/* The fact that was added last tells of something that was looked for. */
static void mark(struct facts *facts, bool found)
{
	if (facts->nr)
		facts->item[facts->nr - 1].found = found;
}

/* Why the module's device, which would map what /proc/kcore refuses to, is not used. */
static void add_device(kw_ctx *ctx, struct facts *facts)
{
	int why = kw_memory_device_why(ctx->target->memory);
	const char *text;

	switch (why) {
	case 0: return;
	case ENOENT:
		text = "not there: the kernel module kwalk is not loaded (scripts/module install)";
		break;
	case ENXIO: text = "nothing is behind it: the kernel module kwalk is not loaded"; break;
	case ENODEV:
		text = "not used: it is no character device of root's that only root may write to";
		break;
	case EPERM: text = "refused: CAP_SYS_RAWIO is missing, or the kernel is locked down"; break;
	default: text = strerror(why);
	}
	add(facts, "target", "module", "/dev/kwalk: %s", text);
}

/* How many segments are read in which way; kwalk info -s lists each. */
static void add_segments(kw_ctx *ctx, struct facts *facts)
{
	size_t nr, mapped = 0, refused = 0;
	const struct kw_segment *segments = kw_segments(ctx, &nr);
	int why = 0;

	for (size_t i = 0; i < nr; i++) {
		mapped += segments[i].map != NULL;
		refused += segments[i].why != 0;
		why = segments[i].why ? segments[i].why : why;
	}
	add(facts, "target", "segments", "%zu: %zu mapped, %zu read with pread", nr, mapped, nr - mapped);
	if (refused)
		add(facts, "target", "mmap", "refused for %zu segments: %s", refused, strerror(why));
	add_device(ctx, facts);
}

static void add_memory(kw_ctx *ctx, struct facts *facts)
{
	const struct kw_memory *memory = ctx->target->memory;

	add(facts, "target", "name", "%s", kw_memory_name(memory));
	add(facts, "target", "kind", "%s", kw_memory_description(memory));
	add(facts, "target", "changes", "%s",
	    kw_memory_is_live(memory) ? "yes: it may change while it is read" : "no: frozen");
	add_segments(ctx, facts);
}

static void add_kernel(kw_ctx *ctx, struct facts *facts)
{
	static const char *const keys[][2] = { { "release", "OSRELEASE" }, { "build_id", "BUILD-ID" } };
	uint64_t number;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len;
		const char *text = kw_vmcoreinfo(ctx, keys[i][1], &len);

		if (text)
			add(facts, "kernel", keys[i][0], "%.*s", len < 200 ? (int)len : 200, text);
	}
	if (kw_vmcoreinfo_number(ctx, "KERNELOFFSET", &number))
		add(facts, "kernel", "kaslr_offset", "0x%" PRIx64, number);
	if (kw_vmcoreinfo_number(ctx, "NUMBER(phys_base)", &number))
		add(facts, "kernel", "phys_base", "%s0x%" PRIx64, (int64_t)number < 0 ? "-" : "",
		    (int64_t)number < 0 ? -number : number);
	if (kw_forced(ctx))
		add(facts, "kernel", "forced", "%s", kw_forced(ctx));
	add(facts, "kernel", "vmcoreinfo", "%s", kw_vmcoreinfo_origin(ctx));
}

/* Finding symbols, types and layouts is lazy: doing it here tells its cost. */
static void add_lazy(kw_ctx *ctx, struct facts *facts, uint64_t *ns)
{
	const struct kw_kernel *kernel;
	const char *types;
	size_t types_at;
	bool found;
	uint64_t start = kw_now_ns();

	found = kw_symbols_origin(ctx) != KW_SYMBOLS_NONE;
	ns[0] = kw_now_ns() - start;
	add(facts, "symbols", "origin", "%s", kw_symbols_description(ctx));
	mark(facts, found);
	start = kw_now_ns();
	types = kw_types_description(ctx);
	ns[1] = kw_now_ns() - start;
	types_at = facts->nr;
	add(facts, "types", "origin", "%s", types ? types : kw_error(ctx));
	mark(facts, types != NULL);
	start = kw_now_ns();
	if (kw_kernel_get(ctx, &kernel) != KW_OK) {
		add(facts, "kernel", "layouts", "%s", kw_error(ctx));
		mark(facts, false);
	} else {
		struct kw_clock clock;

		add(facts, "kernel", "cpus", "%u", kernel->nr_cpus);
		if (kw_clock_read(ctx, kernel, &clock) == KW_OK)
			add(facts, "kernel", "uptime", "%.3f s", (double)clock.boottime / 1e9);
	}
	ns[2] = kw_now_ns() - start;
	/* Of DWARF, how much was read for the layouts. */
	if (types && types_at < facts->nr)
		set_value(&facts->item[types_at], "%s", kw_types_description(ctx));
	kw_clear_error(ctx);
}

static void add_time(struct facts *facts, const char *step, uint64_t ns)
{
	add(facts, "time", step, "%.3f ms", (double)ns / 1e6);
}

kw_status kw_facts(kw_ctx *ctx, struct kw_fact **ret, size_t *nr)
{
	struct facts facts = { 0 };
	uint64_t ns[3] = { 0 };

	if (!ctx->target)
		return kw_fail(ctx, KW_INVALID, "nothing is open: call kw_open() first");
	kw_pass_begin(ctx);
	add_memory(ctx, &facts);
	if (!ctx->target->memory_only) {
		add_kernel(ctx, &facts);
		add_lazy(ctx, &facts, ns);
	}
	kw_pass_end(ctx);
	add_time(&facts, "open", ctx->target->open_ns);
	add_time(&facts, "find_kernel", ctx->target->locate_ns);
	add_time(&facts, "symbols", ns[0]);
	add_time(&facts, "types", ns[1]);
	add_time(&facts, "layouts", ns[2]);
	if (facts.failed) {
		free(facts.item);
		return kw_fail_nomem(ctx);
	}
	*ret = facts.item;
	*nr = facts.nr;
	return KW_OK;
}
