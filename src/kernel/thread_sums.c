/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums over the threads of a process, as do_task_stat(), thread_group_cputime() and do_io_accounting() make them.
 *
 * The leader's own values, those that ended threads left behind, and the pointers that tell whether the leader is alone
 * are fetched with the row: mostly no thread needs to be visited. For those that do there is a plan.
 */
#include "kernel/thread_sums.h"

#include <stdlib.h>

#include "kernel/field_table.h"
#include "kernel/task_walk.h"
#include "util/error.h"

static const struct {
	const char *thread, *ended;
} paths[KW_SUM_NR] = {
	[KW_SUM_UTIME] = { "utime", "signal.utime" },
	[KW_SUM_STIME] = { "stime", "signal.stime" },
	[KW_SUM_RUNTIME] = { "se.sum_exec_runtime", "signal.sum_sched_runtime" },
	[KW_SUM_MINFLT] = { "min_flt", "signal.min_flt" },
	[KW_SUM_MAJFLT] = { "maj_flt", "signal.maj_flt" },
	[KW_SUM_GTIME] = { "gtime", "signal.gtime" },
	[KW_SUM_RCHAR] = { "ioac.rchar", "signal.ioac.rchar" },
	[KW_SUM_WCHAR] = { "ioac.wchar", "signal.ioac.wchar" },
	[KW_SUM_SYSCR] = { "ioac.syscr", "signal.ioac.syscr" },
	[KW_SUM_SYSCW] = { "ioac.syscw", "signal.ioac.syscw" },
	[KW_SUM_READ_BYTES] = { "ioac.read_bytes", "signal.ioac.read_bytes" },
	[KW_SUM_WRITE_BYTES] = { "ioac.write_bytes", "signal.ioac.write_bytes" },
	[KW_SUM_CANCELLED] = { "ioac.cancelled_write_bytes", "signal.ioac.cancelled_write_bytes" },
};

static const char *const list_paths[] = { "signal", "signal.thread_head.next", "thread_node.next" };

struct kw_thread_sums {
	struct kw_plan thread;
	enum kw_sum part[KW_SUM_NR]; /* sum that is the i-th one made */
	unsigned int nr;
	bool valid;		 /* sums are those of this row */
	enum kw_absent reason;	 /* when they could not be made */
	bool present[KW_SUM_NR]; /* this kernel has it, and it was asked for */
	uint64_t sum[KW_SUM_NR];
};

/* KW_NOTFOUND for a path that this kernel lacks, with the error cleared. */
static kw_status add_path(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_plan *plan, const char *text,
			  uint32_t slot)
{
	struct kw_path path;
	kw_status status = kw_path_compile(ctx, kernel->task_struct, text, &path);

	if (!status)
		return kw_plan_add(ctx, plan, &path, slot);
	if (status != KW_NOMEM) {
		kw_clear_error(ctx);
		return KW_NOTFOUND;
	}
	return status;
}

static bool has_path(kw_ctx *ctx, const struct kw_kernel *kernel, const char *text)
{
	struct kw_path path;
	bool has = kw_path_compile(ctx, kernel->task_struct, text, &path) == KW_OK;

	kw_clear_error(ctx);
	return has;
}

static kw_status add_sum(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_thread_sums *s,
			 enum kw_sum which)
{
	kw_status status;

	if (!has_path(ctx, kernel, paths[which].thread) || !has_path(ctx, kernel, paths[which].ended))
		return KW_OK;
	status = add_path(ctx, kernel, &s->thread, paths[which].thread, s->nr);
	s->part[s->nr++] = which;
	s->present[which] = true;
	return status;
}

static kw_status build(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_thread_sums *s, uint32_t uses)
{
	kw_status status = KW_OK;

	for (unsigned int i = 0; !status && i < KW_SUM_NR; i++)
		if (uses & KW_SUM(i))
			status = add_sum(ctx, kernel, s, (enum kw_sum)i);
	return status ? status : kw_plan_finish(ctx, &s->thread);
}

const char *kw_thread_sum_input(uint32_t uses, unsigned int i)
{
	if (i >= KW_SUM_SIGNAL)
		return list_paths[i - KW_SUM_SIGNAL];
	if (!(uses & KW_SUM(i % KW_SUM_NR)))
		return NULL;
	return i < KW_SUM_NR ? paths[i].thread : paths[i - KW_SUM_NR].ended;
}

struct kw_thread_sums *kw_thread_sums_new(kw_ctx *ctx, const struct kw_kernel *kernel, uint32_t uses)
{
	struct kw_thread_sums *s = calloc(1, sizeof(*s));

	if (!s) {
		kw_fail_nomem(ctx);
		return NULL;
	}
	if (build(ctx, kernel, s, uses)) {
		kw_thread_sums_free(s);
		return NULL;
	}
	return s;
}

void kw_thread_sums_free(struct kw_thread_sums *s)
{
	if (!s)
		return;
	kw_plan_deinit(&s->thread);
	free(s);
}

void kw_thread_sums_next_row(struct kw_thread_sums *s)
{
	if (s)
		s->valid = false;
}

static bool add_value(struct kw_thread_sums *s, enum kw_sum which, const struct kw_value *value)
{
	if (value->type == KW_VAL_ABSENT) {
		s->reason = value->absent;
		return false;
	}
	s->sum[which] += value->u;
	return true;
}

static bool add_thread(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct kw_thread_sums *s = arg;
	struct kw_value v[KW_SUM_NR];

	kw_plan_run(ctx, &s->thread, task, v);
	for (unsigned int i = 0; i < s->nr; i++)
		if (!add_value(s, s->part[i], &v[i]))
			return false;
	return true;
}

/* Begin the sums that the row's fields use with some of its inputs; false when one could not be had. */
static bool set_inputs(struct kw_thread_sums *s, uint32_t uses, const struct kw_value *inputs)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		enum kw_sum which = s->part[i];

		s->sum[which] = 0;
		if (uses & KW_SUM(which) && !add_value(s, which, &inputs[which]))
			return false;
	}
	return true;
}

/* The sums of a leader that is alone: its own values and those of ended threads, which lie KW_SUM_NR farther. */
static void set_alone(struct kw_thread_sums *s, uint32_t uses, const struct kw_value *inputs)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		enum kw_sum which = s->part[i];
		const struct kw_value *own = &inputs[which], *ended = own + KW_SUM_NR;

		if (!(uses & KW_SUM(which)))
			continue;
		if (own->type == KW_VAL_ABSENT || ended->type == KW_VAL_ABSENT) {
			s->reason = ended->type == KW_VAL_ABSENT ? ended->absent : own->absent;
			return;
		}
		s->sum[which] = own->u + ended->u;
	}
}

/* True when the list of threads has the leader alone, both ways: then it needs no walk. */
static bool is_alone(const struct kw_row *row, const struct kw_value *v)
{
	const struct kw_task_layout *t = &row->kernel->task;

	return v[KW_SUM_LIST_NEXT].u == row->task + t->thread_node &&
	       v[KW_SUM_LEADER_NEXT].u == v[KW_SUM_SIGNAL].u + t->thread_head;
}

static void set_process(struct kw_row *row, struct kw_thread_sums *s)
{
	const struct kw_value *v = row->sum_inputs;
	struct kw_value absent;
	kw_status status;

	if (kw_pass_absent(v + KW_SUM_SIGNAL, 3, &absent)) {
		s->reason = absent.absent;
		return;
	}
	if (is_alone(row, v)) {
		set_alone(s, row->sum_uses, v);
		return;
	}
	row->ctx->reads++;
	if (!set_inputs(s, row->sum_uses, v + KW_SUM_NR))
		return;
	status = kw_threads_each(row->ctx, row->kernel, row->task, add_thread, s);
	if (status && !s->reason)
		s->reason = kw_absent_of_status(status);
}

static void make_sums(struct kw_row *row, struct kw_thread_sums *s)
{
	s->valid = true;
	s->reason = KW_ABSENT_NONE;
	if (row->is_thread)
		set_inputs(s, row->sum_uses, row->sum_inputs);
	else
		set_process(row, s);
}

/* The first sum of a row, or one that is not there. */
__attribute__((noinline)) static bool find_sum(struct kw_row *row, enum kw_sum which, uint64_t *ret,
					       struct kw_value *out)
{
	struct kw_thread_sums *s = row->sums;

	if (!s->present[which]) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return false;
	}
	if (!s->valid)
		make_sums(row, s);
	if (s->reason) {
		kw_set_absent(out, s->reason);
		return false;
	}
	*ret = s->sum[which];
	return true;
}

bool kw_thread_sum(struct kw_row *row, enum kw_sum which, uint64_t *ret, struct kw_value *out)
{
	const struct kw_thread_sums *s = row->sums;

	if (!s->valid || s->reason || !s->present[which])
		return find_sum(row, which, ret, out);
	*ret = s->sum[which];
	return true;
}

void kw_thread_sums_put(struct kw_row *row, const struct kw_sum_place *places, size_t nr,
			struct kw_value *values)
{
	for (size_t i = 0; i < nr; i++) {
		struct kw_value *out = &values[places[i].slot];
		uint64_t sum;

		if (kw_thread_sum(row, places[i].which, &sum, out))
			kw_set_uint(out, sum);
	}
}
