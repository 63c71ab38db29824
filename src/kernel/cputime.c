/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU time and page faults: own, or summed over the threads of a process.
 *
 * The tick-based utime and stime only give the proportion; /proc scales them to the precise run time and never lets
 * a value go back below what it showed last, which it keeps in prev_cputime (cputime_adjust()). The same is done
 * here, from the kernel's own prev_cputime, without writing it.
 */
#include <stdlib.h>

#include "kernel/field_table.h"
#include "kernel/task_walk.h"
#include "util/error.h"

enum { UTIME, STIME, RUNTIME, MINFLT, MAJFLT, NR_PARTS };

/* Of a process: its leader's own parts, those that ended threads left behind, and whether the leader is alone. */
enum { OWN, DEAD = NR_PARTS, SIGNAL = 2 * NR_PARTS, LIST_NEXT, LEADER_NEXT, NR_PROCESS };

static const char *const process_paths[NR_PROCESS] = {
	[OWN + UTIME] = "utime",
	[OWN + STIME] = "stime",
	[OWN + RUNTIME] = "se.sum_exec_runtime",
	[OWN + MINFLT] = "min_flt",
	[OWN + MAJFLT] = "maj_flt",
	[DEAD + UTIME] = "signal.utime",
	[DEAD + STIME] = "signal.stime",
	[DEAD + RUNTIME] = "signal.sum_sched_runtime",
	[DEAD + MINFLT] = "signal.min_flt",
	[DEAD + MAJFLT] = "signal.maj_flt",
	[SIGNAL] = "signal",
	[LIST_NEXT] = "signal.thread_head.next",
	[LEADER_NEXT] = "thread_node.next",
};

struct kw_cputime {
	const struct kw_kernel *kernel;
	struct kw_plan thread;	/* of one thread: the first NR_PARTS of process_paths */
	struct kw_plan process; /* all of them */
	bool missing;		/* this kernel lacks one of the members */
	bool valid;		/* sums are those of this row */
	enum kw_absent reason;	/* when they could not be made */
	struct kw_thread_sums sums;
};

static kw_status build_plan(kw_ctx *ctx, const struct kw_kernel *kernel, uint32_t nr, struct kw_plan *plan)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct kw_path path;
		kw_status status = kw_path_compile(ctx, kernel->task_struct, process_paths[i], &path);

		if (!status)
			status = kw_plan_add(ctx, plan, &path, i);
		if (status)
			return status;
	}
	return kw_plan_finish(ctx, plan);
}

struct kw_cputime *kw_cputime_new(kw_ctx *ctx, const struct kw_kernel *kernel)
{
	struct kw_cputime *c = calloc(1, sizeof(*c));
	kw_status status;

	if (!c) {
		kw_fail_nomem(ctx);
		return NULL;
	}
	c->kernel = kernel;
	status = build_plan(ctx, kernel, NR_PARTS, &c->thread);
	if (!status)
		status = build_plan(ctx, kernel, NR_PROCESS, &c->process);
	if (status == KW_NOTFOUND) {
		c->missing = true;
		kw_clear_error(ctx);
	} else if (status) {
		kw_cputime_free(c);
		return NULL;
	}
	return c;
}

void kw_cputime_free(struct kw_cputime *c)
{
	if (!c)
		return;
	kw_plan_deinit(&c->thread);
	kw_plan_deinit(&c->process);
	free(c);
}

void kw_cputime_next_row(struct kw_cputime *c)
{
	if (c)
		c->valid = false;
}

/* Add NR_PARTS values; false when they could not be had. */
static bool add_parts(struct kw_cputime *c, const struct kw_value *v)
{
	if (v[UTIME].type == KW_VAL_ABSENT) {
		c->reason = v[UTIME].absent;
		return false;
	}
	c->sums.utime += v[UTIME].u;
	c->sums.stime += v[STIME].u;
	c->sums.runtime += v[RUNTIME].u;
	c->sums.minflt += v[MINFLT].u;
	c->sums.majflt += v[MAJFLT].u;
	return true;
}

static bool add_thread(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct kw_cputime *c = arg;
	struct kw_value v[NR_PARTS];

	kw_plan_run(ctx, &c->thread, task, v);
	return add_parts(c, v);
}

/* True when the list of threads has the leader alone, both ways: then it needs no walk. */
static bool is_alone(const struct kw_row *row, const struct kw_value *v)
{
	const struct kw_task_layout *t = &row->kernel->task;

	return v[LIST_NEXT].u == row->task + t->thread_node &&
	       v[LEADER_NEXT].u == v[SIGNAL].u + t->thread_head;
}

static void add_process(struct kw_row *row, struct kw_cputime *c)
{
	struct kw_value v[NR_PROCESS];
	kw_status status;

	kw_plan_run(row->ctx, &c->process, row->task, v);
	if (!add_parts(c, v + DEAD))
		return;
	if (is_alone(row, v)) {
		add_parts(c, v + OWN);
		return;
	}
	status = kw_threads_each(row->ctx, row->kernel, row->task, add_thread, c);
	if (status && !c->reason)
		c->reason = kw_absent_of_status(status);
}

/* Return the row's sums, made once a row; NULL with a reason in c->reason. */
static const struct kw_thread_sums *row_sums(struct kw_row *row)
{
	struct kw_cputime *c = row->cputime;

	if (c->valid)
		return c->reason ? NULL : &c->sums;
	c->valid = true;
	c->reason = c->missing ? KW_ABSENT_NO_MEMBER : KW_ABSENT_NONE;
	if (c->missing)
		return NULL;
	c->sums = (struct kw_thread_sums){ 0 };
	if (row->is_thread)
		add_thread(row->ctx, row->task, c);
	else
		add_process(row, c);
	return c->reason ? NULL : &c->sums;
}

/* part / (part + other) of runtime; the sum may not fit into 64 bits, and wrapped to 0 would be divided by. */
static uint64_t scale(uint64_t part, uint64_t other, uint64_t runtime)
{
	return (uint64_t)((unsigned __int128)part * runtime / ((unsigned __int128)part + other));
}

/* As cputime_adjust(): prev is what the kernel showed last. */
static void adjust(const struct kw_thread_sums *sums, uint64_t prev_utime, uint64_t prev_stime,
		   uint64_t *utime, uint64_t *stime)
{
	uint64_t runtime = sums->runtime;

	*utime = prev_utime;
	*stime = prev_stime;
	if (prev_utime + prev_stime >= runtime)
		return;
	if (!sums->stime)
		*stime = 0;
	else if (!sums->utime)
		*stime = runtime;
	else
		*stime = scale(sums->stime, sums->utime, runtime);
	if (*stime > runtime)
		*stime = runtime;
	if (*stime < prev_stime)
		*stime = prev_stime;
	*utime = runtime - *stime;
	if (*utime < prev_utime) {
		*utime = prev_utime;
		*stime = runtime - *utime;
	}
}

/* in[0], in[1]: the process's prev_cputime; in[2], in[3]: the thread's. */
static bool row_times(struct kw_row *row, const struct kw_value *in, struct kw_value *out, uint64_t *utime,
		      uint64_t *stime)
{
	const struct kw_value *prev = row->is_thread ? in + 2 : in;
	const struct kw_thread_sums *sums;

	if (kw_pass_absent(prev, 2, out))
		return false;
	sums = row_sums(row);
	if (!sums) {
		kw_set_absent(out, row->cputime->reason);
		return false;
	}
	adjust(sums, prev[0].u, prev[1].u, utime, stime);
	return true;
}

static void utime(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t u, s;

	if (row_times(row, in, out, &u, &s))
		kw_set_uint(out, u);
}

static void stime(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t u, s;

	if (row_times(row, in, out, &u, &s))
		kw_set_uint(out, s);
}

static void total(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t u, s;

	if (row_times(row, in, out, &u, &s))
		kw_set_uint(out, u + s);
}

static void sum_field(struct kw_row *row, struct kw_value *out,
		      uint64_t (*get)(const struct kw_thread_sums *))
{
	const struct kw_thread_sums *sums = row_sums(row);

	if (sums)
		kw_set_uint(out, get(sums));
	else
		kw_set_absent(out, row->cputime->reason);
}

static uint64_t get_minflt(const struct kw_thread_sums *sums)
{
	return sums->minflt;
}

static uint64_t get_majflt(const struct kw_thread_sums *sums)
{
	return sums->majflt;
}

static void minflt(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)in;
	sum_field(row, out, get_minflt);
}

static void majflt(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)in;
	sum_field(row, out, get_majflt);
}

#define PREV                                                                                    \
	{                                                                                       \
		"signal.prev_cputime.utime", "signal.prev_cputime.stime", "prev_cputime.utime", \
			"prev_cputime.stime"                                                    \
	}
#define CPUTIME KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_CPUTIME, KW_SCOPE_BOTH, KW_COST_THREADS
#define FAULTS	KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_THREADS

static const struct kw_field_def fields[] = {
	{ { "utime", "UTIME", "", CPUTIME, "CPU time in user mode, all threads of a process",
	    "utime of task_struct and signal_struct, scaled to sum_exec_runtime" },
	  PREV,
	  utime,
	  false },
	{ { "stime", "STIME", "", CPUTIME, "CPU time in the kernel, all threads of a process",
	    "stime of task_struct and signal_struct, scaled to sum_exec_runtime" },
	  PREV,
	  stime,
	  false },
	{ { "time", "TIME", "cputime", CPUTIME, "CPU time, all threads of a process", "utime + stime" },
	  PREV,
	  total,
	  false },
	{ { "minflt", "MINFLT", "min_flt", FAULTS,
	    "page faults without input/output, all threads of a process",
	    "min_flt of task_struct and signal_struct" },
	  { "signal.min_flt" },
	  minflt,
	  false },
	{ { "majflt", "MAJFLT", "maj_flt,pagein", FAULTS,
	    "page faults with input/output, all threads of a process",
	    "maj_flt of task_struct and signal_struct" },
	  { "signal.maj_flt" },
	  majflt,
	  false },
};

const struct kw_field_table kw_cputime_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
