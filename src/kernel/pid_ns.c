/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Namespaces: the number of each, and IDs in PID namespaces, NStgid and its like in /proc/PID/status.
 *
 * A struct pid has a number in each of its namespaces, from the initial one, level 0, to its own. What is shown are
 * the numbers of a process, group or session in the namespaces of the *thread*; in one that the group's leader is not in
 * there is none, and the kernel prints 0.
 */
#include <stdlib.h>

#include "kernel/field_table.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"
#include "util/strbuf.h"

#define MAX_LEVEL 32 /* MAX_PID_NS_LEVEL */

struct layout {
	uint64_t level, numbers, stride, nr, ns; /* stride 0: not known */
	uint64_t inum;				 /* of struct pid_namespace; 0: not known */
};

struct numbers {
	uint32_t level;
	struct {
		int32_t nr;
		uint64_t ns;
	} at[MAX_LEVEL + 1];
};

static uint64_t offset_of(kw_ctx *ctx, const char *type, const char *path, bool *missing)
{
	struct kw_member member;

	if (kw_type_offset(ctx, type, path, &member) == KW_OK)
		return member.bit_offset / 8;
	*missing = true;
	return 0;
}

static void *make_layout(struct kw_row *row)
{
	struct layout *l = calloc(1, sizeof(*l));
	const struct kw_type *upid;
	bool missing = false;

	if (!l)
		return NULL;
	l->level = offset_of(row->ctx, "pid", "level", &missing);
	l->numbers = offset_of(row->ctx, "pid", "numbers", &missing);
	l->nr = offset_of(row->ctx, "upid", "nr", &missing);
	l->ns = offset_of(row->ctx, "upid", "ns", &missing);
	l->inum = offset_of(row->ctx, "pid_namespace", "ns.inum", &(bool){ false });
	if (!missing && kw_type_find(row->ctx, "struct upid", &upid) == KW_OK)
		l->stride = upid->size;
	kw_clear_error(row->ctx);
	return l;
}

static kw_status read_numbers(kw_ctx *ctx, const struct layout *l, uint64_t pid, struct numbers *ret)
{
	kw_status status = kw_read_u32(ctx, pid + l->level, &ret->level);

	if (!status && ret->level > MAX_LEVEL)
		status = KW_FORMAT;
	for (uint32_t i = 0; !status && i <= ret->level; i++) {
		uint64_t at = pid + l->numbers + i * l->stride;

		status = kw_read(ctx, at + l->nr, &ret->at[i].nr, sizeof(ret->at[i].nr));
		if (!status)
			status = kw_read_u64(ctx, at + l->ns, &ret->at[i].ns);
	}
	return status;
}

/* The number of `of` in the namespace that `own` has at a level; 0 when it has none there. */
static int32_t number_in(const struct numbers *of, const struct numbers *own, uint32_t level)
{
	return level <= of->level && of->at[level].ns == own->at[level].ns ? of->at[level].nr : 0;
}

static void all_numbers(struct kw_row *row, uint64_t own_pid, uint64_t of_pid, struct kw_value *out)
{
	const struct layout *l = kw_row_keep(row, KW_KEEP_PIDS, make_layout, free);
	struct numbers own, of;
	struct kw_strbuf sb = { 0 };
	kw_status status;

	if (!l || !l->stride) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = read_numbers(row->ctx, l, own_pid, &own);
	if (!status)
		status = read_numbers(row->ctx, l, of_pid, &of);
	if (status) {
		kw_set_absent(out, kw_absent_of_status(status));
		return;
	}
	for (uint32_t i = 0; i <= own.level; i++)
		kw_strbuf_printf(&sb, i ? " %d" : "%d", number_in(&of, &own, i));
	kw_row_put(row, out, sb.str, sb.len);
	kw_strbuf_free(&sb);
}

/* in: the level of the thread's struct pid and its address; the struct pid that is shown, its number at level 0. */
static void numbers(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char text[16];

	if (kw_pass_absent(in, 4, out))
		return;
	if (in[0].u) {
		all_numbers(row, in[1].u, in[2].u, out);
		return;
	}
	kw_row_put(row, out, text, kw_format_int(text, in[3].i));
}

/* in: the level of the thread's struct pid, its address, the number of the namespace of level 0. */
static void pid_namespace(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct layout *l = kw_row_keep(row, KW_KEEP_PIDS, make_layout, free);
	struct numbers own;
	kw_status status;
	uint32_t inum;

	if (kw_pass_absent(in, 3, out))
		return;
	*out = in[2];
	if (!in[0].u)
		return;
	if (!l || !l->stride || !l->inum) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = read_numbers(row->ctx, l, in[1].u, &own);
	if (!status)
		status = kw_read_u32(row->ctx, own.at[own.level].ns + l->inum, &inum);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_uint(out, inum);
}

#define NUMBER KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_POINTER
#define OWN    "thread_pid.level", "thread_pid"
#define GROUP(type) \
	"signal.pids[pid_type.PIDTYPE_" #type "]", "signal.pids[pid_type.PIDTYPE_" #type "].numbers[0].nr"

static const struct kw_field_def fields[] = {
	{ { "nstgid", "NSTGID", "NStgid", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "process ID in each of its PID namespaces, the outermost first",
	    "pid.numbers[].nr" },
	  { OWN, GROUP(TGID) },
	  numbers,
	  0 },
	{ { "nspid", "NSPID", "NSpid", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "thread ID in each of its PID namespaces", "pid.numbers[].nr" },
	  { OWN, "thread_pid", "thread_pid.numbers[0].nr" },
	  numbers,
	  0 },
	{ { "nspgid", "NSPGID", "NSpgid", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "process-group ID in each of its PID namespaces", "pid.numbers[].nr" },
	  { OWN, GROUP(PGID) },
	  numbers,
	  0 },
	{ { "nssid", "NSSID", "NSsid", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "session ID in each of its PID namespaces", "pid.numbers[].nr" },
	  { OWN, GROUP(SID) },
	  numbers,
	  0 },
	{ { "ns_cgroup", "CGROUPNS", "cgroupns", NUMBER, "cgroup namespace: its number in /proc/PID/ns",
	    "nsproxy.cgroup_ns->ns.inum" },
	  { "nsproxy.cgroup_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_ipc", "IPCNS", "ipcns", NUMBER, "ipc namespace: its number in /proc/PID/ns",
	    "nsproxy.ipc_ns->ns.inum" },
	  { "nsproxy.ipc_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_mnt", "MNTNS", "mntns", NUMBER, "mnt namespace: its number in /proc/PID/ns",
	    "nsproxy.mnt_ns->ns.inum" },
	  { "nsproxy.mnt_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_net", "NETNS", "netns", NUMBER, "net namespace: its number in /proc/PID/ns",
	    "nsproxy.net_ns->ns.inum" },
	  { "nsproxy.net_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_pid_for_children", "PIDCNS", "", NUMBER,
	    "pid namespace of its children: its number in /proc/PID/ns",
	    "nsproxy.pid_ns_for_children->ns.inum" },
	  { "nsproxy.pid_ns_for_children.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_time", "TIMENS", "timens", NUMBER, "time namespace: its number in /proc/PID/ns",
	    "nsproxy.time_ns->ns.inum" },
	  { "nsproxy.time_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_time_for_children", "TIMECNS", "", NUMBER,
	    "time namespace of its children: its number in /proc/PID/ns",
	    "nsproxy.time_ns_for_children->ns.inum" },
	  { "nsproxy.time_ns_for_children.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_user", "USERNS", "userns", NUMBER, "user namespace: its number in /proc/PID/ns",
	    "real_cred.user_ns->ns.inum" },
	  { "real_cred.user_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_uts", "UTSNS", "utsns", NUMBER, "uts namespace: its number in /proc/PID/ns",
	    "nsproxy.uts_ns->ns.inum" },
	  { "nsproxy.uts_ns.ns.inum" },
	  NULL,
	  0 },
	{ { "ns_pid", "PIDNS", "pidns", NUMBER, "PID namespace: its number in /proc/PID/ns",
	    "pid.numbers[level].ns->ns.inum" },
	  { "thread_pid.level", "thread_pid", "thread_pid.numbers[0].ns.ns.inum" },
	  pid_namespace,
	  0 },
};

const struct kw_field_table kw_pid_ns_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
