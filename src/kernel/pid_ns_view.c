/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel/pid_ns_view.h"

#include <string.h>

#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define MAX_LEVEL 32 /* MAX_PID_NS_LEVEL */

struct numbers_layout {
	uint64_t level, numbers, nr, ns; /* of struct pid and struct upid */
	uint64_t stride;		 /* 0: not known */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct numbers_layout *l = layout;
	const struct kw_type *upid;

	(void)kernel;
	l->level = kw_offset_or_none(ctx, "pid", "level");
	l->numbers = kw_offset_or_none(ctx, "pid", "numbers");
	l->nr = kw_offset_or_none(ctx, "upid", "nr");
	l->ns = kw_offset_or_none(ctx, "upid", "ns");
	if (l->level != KW_NO_ADDR && l->numbers != KW_NO_ADDR && l->nr != KW_NO_ADDR &&
	    l->ns != KW_NO_ADDR && kw_type_find(ctx, "struct upid", &upid) == KW_OK)
		l->stride = upid->size;
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct numbers_layout), resolve };

static const struct numbers_layout *get_layout(kw_ctx *ctx, const struct kw_kernel *kernel)
{
	const struct numbers_layout *l = kw_layout_get(ctx, kernel, &subject);

	return l && l->stride ? l : NULL;
}

kw_status kw_pid_ns_of(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid, struct kw_pid_ns *ret)
{
	const struct numbers_layout *l = get_layout(ctx, kernel);
	struct kw_task_ref ref;
	struct kw_pid_ns ns;
	kw_status status;

	if (!l)
		return KW_UNSUPPORTED;
	status = kw_pid_lookup(ctx, kernel, pid, &ref);
	if (!status)
		status = kw_read_u32(ctx, ref.pid_struct + l->level, &ns.level);
	if (!status && ns.level > MAX_LEVEL)
		status = KW_FORMAT;
	if (!status)
		status = kw_read_u64(ctx, ref.pid_struct + l->numbers + ns.level * l->stride + l->ns,
				     &ns.address);
	if (!status)
		*ret = ns;
	return status;
}

/* As pid_nr_ns(): 0 for what the namespace does not see. */
static kw_status number_in(kw_ctx *ctx, const struct numbers_layout *l, const struct kw_pid_ns *ns,
			   uint64_t pid, int32_t *ret)
{
	uint64_t at, own;
	uint32_t level, number = 0;
	kw_status status = kw_read_u32(ctx, pid + l->level, &level);

	*ret = 0;
	if (status || level < ns->level)
		return status;
	at = pid + l->numbers + ns->level * l->stride;
	status = kw_read_u64(ctx, at + l->ns, &own);
	if (!status && own == ns->address)
		status = kw_read_u32(ctx, at + l->nr, &number);
	*ret = (int32_t)number;
	return status;
}

/* in[0] the struct pid. */
static void number(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct numbers_layout *l = get_layout(row->ctx, row->kernel);
	int32_t nr = 0;
	kw_status status = KW_OK;

	if (kw_pass_absent(in, 1, out))
		return;
	if (in[0].u && l && row->pid_ns)
		status = number_in(row->ctx, l, row->pid_ns, in[0].u, &nr);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_int(out, nr);
}

static void tracer(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (in[0].type != KW_VAL_ABSENT && !in[0].u)
		kw_set_int(out, 0);
	else if (!kw_pass_absent(in, 1, out))
		number(row, in + 1, out);
}

#define ID(name, header, aliases, help, ...)                                                       \
	{                                                                                          \
		{ name,		 header,	aliases,	 KW_VAL_INT, KW_UNIT_NONE,         \
		  KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_POINTER, help,	     "pid.numbers[].nr" }, \
			{ __VA_ARGS__ }, number, 0                                                 \
	}
#define GROUP(type) "signal.pids[pid_type.PIDTYPE_" #type "]"

/* Names, headings and aliases are those of the fields whose place they take. */
static const struct kw_field_def fields[] = {
	ID("pid", "PID", "PID", "process ID in the namespace", GROUP(TGID)),
	ID("tid", "TID", "lwp,spid", "thread ID in the namespace", "thread_pid"),
	ID("tgid", "TGID", "", "thread-group ID in the namespace", GROUP(TGID)),
	ID("ppid", "PPID", "", "process ID of the parent in the namespace; 0 outside",
	   "real_parent." GROUP(TGID)),
	ID("pgid", "PGID", "pgrp", "process-group ID in the namespace; 0 outside", GROUP(PGID)),
	ID("sid", "SID", "sess,session", "session ID in the namespace; 0 outside", GROUP(SID)),
	ID("tpgid", "TPGID", "", "foreground process group of its terminal in the namespace; 0 outside",
	   "signal.tty.ctrl.pgrp | signal.tty.pgrp"),
	{ { "tracer", "TRACER", "TracerPid", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "process ID of the tracer in the namespace; 0 when not traced, or from outside",
	    "pid.numbers[].nr" },
	  { "ptrace", "parent.thread_pid" },
	  tracer,
	  0 },
};

const struct kw_field_table kw_pid_ns_view_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
