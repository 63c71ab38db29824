/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a task may do: groups, capabilities, seccomp. User and group IDs are in task.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/field_table.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"
#include "util/strbuf.h"
#include "util/text_map.h"

#define MAX_GROUPS	 65536 /* NGROUPS_MAX */
#define PFA_NO_NEW_PRIVS 0

/* A group_info is shared by all processes of a session: its text is made once in a run. */
struct group_texts {
	uint64_t offset; /* of group_info.gid[0]; 0: not known */
	uint64_t run;
	struct kw_text_map texts;
};

static void *make_texts(struct kw_row *row)
{
	struct group_texts *g = calloc(1, sizeof(*g));
	struct kw_member member;

	if (g && kw_type_offset(row->ctx, "group_info", "gid", &member) == KW_OK)
		g->offset = member.bit_offset / 8;
	kw_clear_error(row->ctx);
	return g;
}

static void free_texts(void *state)
{
	struct group_texts *g = state;

	kw_text_map_clear(&g->texts);
	free(g);
}

static struct group_texts *get_texts(struct kw_row *row)
{
	struct group_texts *g = kw_row_keep(row, KW_KEEP_GROUPS, make_texts, free_texts);

	if (g && g->run != row->run) {
		kw_text_map_clear(&g->texts);
		g->run = row->run;
	}
	return g && g->offset ? g : NULL;
}

static kw_status list_groups(kw_ctx *ctx, uint64_t at, uint32_t nr, struct kw_strbuf *sb)
{
	uint32_t *ids = malloc(nr * sizeof(*ids) + 1);
	kw_status status = ids ? kw_read(ctx, at, ids, nr * sizeof(*ids)) : KW_NOMEM;

	for (uint32_t i = 0; !status && i < nr; i++)
		kw_strbuf_printf(sb, i ? " %" PRIu32 : "%" PRIu32, ids[i]);
	free(ids);
	return status;
}

static void make_groups(struct kw_row *row, struct group_texts *g, uint64_t info, uint32_t nr,
			struct kw_value *out)
{
	struct kw_strbuf sb = { 0 };
	uint64_t at;
	kw_status status = __builtin_add_overflow(info, g->offset, &at) ? KW_ABSENT
									: list_groups(row->ctx, at, nr, &sb);

	if (status || sb.failed) {
		kw_set_absent(out, status ? kw_absent_of_status(status) : KW_ABSENT_UNREADABLE);
	} else {
		kw_text_map_put(&g->texts, info, sb.str, sb.len);
		kw_row_put(row, out, sb.str, sb.len);
	}
	kw_strbuf_free(&sb);
}

static void groups(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	struct group_texts *g;
	const struct kw_text *text;

	if (kw_pass_absent(in, 2, out))
		return;
	if (!in[1].i) {
		kw_set_string(out, "");
		return;
	}
	g = get_texts(row);
	if (!g || in[1].i < 0 || in[1].i > MAX_GROUPS) {
		kw_set_absent(out, g ? KW_ABSENT_DAMAGED : KW_ABSENT_NO_MEMBER);
		return;
	}
	text = kw_text_map_find(&g->texts, in[0].u);
	if (text)
		kw_set_text(out, text);
	else
		make_groups(row, g, in[0].u, (uint32_t)in[1].i, out);
}

/* 64 bits since 6.3, two words of 32 before: then in[1] is there. */
static void capabilities(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out) && !kw_pass_missing(&in[1], out))
		kw_set_uint(out, in[0].u | (in[1].type == KW_VAL_ABSENT ? 0 : in[1].u << 32));
}

static void no_new_privs(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_bool(out, in[0].u >> PFA_NO_NEW_PRIVS & 1);
}

#define CAPABILITIES(name) \
	"real_cred." #name ".val | real_cred." #name ".cap[0]", "real_cred." #name ".cap[1]"

static const struct kw_field_def fields[] = {
	{ { "groups", "GROUPS", "supgid,Groups", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_WALK, "supplementary group IDs, separated by blanks", "cred.group_info: ngroups, gid[]" },
	  { "real_cred.group_info", "real_cred.group_info.ngroups" },
	  groups,
	  KW_USES_MORE },
	{ { "cap_inheritable", "CAPINH", "CapInh", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "capabilities kept across exec", "cred.cap_inheritable" },
	  { CAPABILITIES(cap_inheritable) },
	  capabilities,
	  0 },
	{ { "cap_permitted", "CAPPRM", "CapPrm", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "capabilities it may have", "cred.cap_permitted" },
	  { CAPABILITIES(cap_permitted) },
	  capabilities,
	  0 },
	{ { "cap_effective", "CAPEFF", "CapEff", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "capabilities it has", "cred.cap_effective" },
	  { CAPABILITIES(cap_effective) },
	  capabilities,
	  0 },
	{ { "cap_bounding", "CAPBND", "CapBnd", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "capabilities that exec can give", "cred.cap_bset" },
	  { CAPABILITIES(cap_bset) },
	  capabilities,
	  0 },
	{ { "cap_ambient", "CAPAMB", "CapAmb", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "capabilities kept across exec by programs without any", "cred.cap_ambient" },
	  { CAPABILITIES(cap_ambient) },
	  capabilities,
	  0 },
	{ { "loginuid", "LUID", "luid", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_OBJECT, "user ID of the login; 4294967295 when there was none", "task_struct.loginuid" },
	  { "loginuid" },
	  NULL,
	  0 },
	{ { "sessionid", "LSESS", "lsession", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_OBJECT, "session ID of the login; 4294967295 when there was none",
	    "task_struct.sessionid" },
	  { "sessionid" },
	  NULL,
	  0 },
	{ { "no_new_privs", "NNP", "NoNewPrivs", KW_VAL_BOOL, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_OBJECT, "exec gives no privileges", "task_struct.atomic_flags: PFA_NO_NEW_PRIVS" },
	  { "atomic_flags" },
	  no_new_privs,
	  0 },
	{ { "seccomp", "SECCOMP", "Seccomp", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_OBJECT, "seccomp mode: 0 none, 1 strict, 2 filter", "seccomp.mode" },
	  { "seccomp.mode" },
	  NULL,
	  0 },
	{ { "seccomp_filters", "FILTERS", "Seccomp_filters", KW_VAL_INT, KW_UNIT_COUNT, KW_SHOW_PLAIN,
	    KW_SCOPE_BOTH, KW_COST_OBJECT, "number of seccomp filters", "seccomp.filter_count (since 5.9)" },
	  { "seccomp.filter_count" },
	  NULL,
	  0 },
};

const struct kw_field_table kw_cred_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
