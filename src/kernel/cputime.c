/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU time and page faults: own, or summed over the threads of a process.
 *
 * The tick-based utime and stime only give the proportion; /proc scales them to the precise run time and never lets
 * a value go back below what it showed last, which it keeps in prev_cputime (cputime_adjust()). The same is done
 * here, from the kernel's own prev_cputime, without writing it.
 */
#include "kernel/field_table.h"
#include "kernel/thread_sums.h"

/* part / (part + other) of runtime; the sum may not fit into 64 bits, and wrapped to 0 would be divided by. */
static uint64_t scale(uint64_t part, uint64_t other, uint64_t runtime)
{
	return (uint64_t)((unsigned __int128)part * runtime / ((unsigned __int128)part + other));
}

/* As cputime_adjust(): prev is what the kernel showed last. */
static void adjust(uint64_t *utime, uint64_t *stime, uint64_t runtime, uint64_t prev_utime,
		   uint64_t prev_stime)
{
	uint64_t user = *utime, system = *stime;

	*utime = prev_utime;
	*stime = prev_stime;
	if (prev_utime + prev_stime >= runtime)
		return;
	if (!system)
		*stime = 0;
	else if (!user)
		*stime = runtime;
	else
		*stime = scale(system, user, runtime);
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
	uint64_t runtime;

	if (kw_pass_absent(prev, 2, out) || !kw_thread_sum(row, KW_SUM_UTIME, utime, out) ||
	    !kw_thread_sum(row, KW_SUM_STIME, stime, out) ||
	    !kw_thread_sum(row, KW_SUM_RUNTIME, &runtime, out))
		return false;
	adjust(utime, stime, runtime, prev[0].u, prev[1].u);
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

/* in[4] when it started: of the time since then, for each CPU that it could have had alone. */
static void cpu_share(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t u, s, elapsed;

	if (kw_pass_absent(in + 4, 1, out) || !row_times(row, in, out, &u, &s))
		return;
	if (!row->clock) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	elapsed = row->clock->boottime > in[4].u ? row->clock->boottime - in[4].u : 0;
	*out = (struct kw_value){ .type = KW_VAL_FLOAT,
				  .f = elapsed ? (double)(u + s) * 100 / (double)elapsed : 0 };
}

#define PREV                                                                                    \
	{                                                                                       \
		"signal.prev_cputime.utime", "signal.prev_cputime.stime", "prev_cputime.utime", \
			"prev_cputime.stime"                                                    \
	}
#define CPUTIME	     KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_CPUTIME, KW_SCOPE_BOTH, KW_COST_THREADS
#define CHILDREN     KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_CPUTIME, KW_SCOPE_BOTH, KW_COST_POINTER
#define CHILD_FAULTS KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_POINTER
#define FAULTS	     KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_THREADS

#define ALL_TIMES KW_SUM(KW_SUM_UTIME) | KW_SUM(KW_SUM_STIME) | KW_SUM(KW_SUM_RUNTIME)

static const struct kw_field_def fields[] = {
	{ { "utime", "UTIME", "", CPUTIME, "CPU time in user mode, all threads of a process",
	    "utime of task_struct and signal_struct, scaled to sum_exec_runtime" },
	  PREV,
	  utime,
	  ALL_TIMES },
	{ { "stime", "STIME", "", CPUTIME, "CPU time in the kernel, all threads of a process",
	    "stime of task_struct and signal_struct, scaled to sum_exec_runtime" },
	  PREV,
	  stime,
	  ALL_TIMES },
	{ { "time", "TIME", "cputime", CPUTIME, "CPU time, all threads of a process", "utime + stime" },
	  PREV,
	  total,
	  ALL_TIMES },
	{ { "pcpu", "%CPU", "%cpu", KW_VAL_FLOAT, KW_UNIT_PERCENT, KW_SHOW_PERCENT, KW_SCOPE_BOTH,
	    KW_COST_THREADS, "share of a CPU since its start, all threads of a process: 200 are two CPUs",
	    "(utime + stime) / etime" },
	  { "signal.prev_cputime.utime", "signal.prev_cputime.stime", "prev_cputime.utime",
	    "prev_cputime.stime", "start_boottime" },
	  cpu_share,
	  ALL_TIMES | KW_USES_CLOCK },
	{ { "minflt", "MINFLT", "min_flt", FAULTS,
	    "page faults without input/output, all threads of a process",
	    "min_flt of task_struct and signal_struct" },
	  { "signal.min_flt" },
	  NULL,
	  KW_SUM(KW_SUM_MINFLT) },
	{ { "majflt", "MAJFLT", "maj_flt,pagein", FAULTS,
	    "page faults with input/output, all threads of a process",
	    "maj_flt of task_struct and signal_struct" },
	  { "signal.maj_flt" },
	  NULL,
	  KW_SUM(KW_SUM_MAJFLT) },
	{ { "guest_time", "GTIME", "gtime", CPUTIME,
	    "CPU time spent for virtual CPUs, all threads of a process; part of utime",
	    "gtime of task_struct and signal_struct" },
	  { "gtime" },
	  NULL,
	  KW_SUM(KW_SUM_GTIME) },
	{ { "cutime", "CUTIME", "", CHILDREN, "CPU time in user mode of children that were waited for",
	    "signal_struct.cutime" },
	  { "signal.cutime" },
	  NULL,
	  0 },
	{ { "cstime", "CSTIME", "", CHILDREN, "CPU time in the kernel of children that were waited for",
	    "signal_struct.cstime" },
	  { "signal.cstime" },
	  NULL,
	  0 },
	{ { "cguest_time", "CGTIME", "cgtime", CHILDREN,
	    "CPU time for virtual CPUs of children that were waited for", "signal_struct.cgtime" },
	  { "signal.cgtime" },
	  NULL,
	  0 },
	{ { "cminflt", "CMINFLT", "cmin_flt", CHILD_FAULTS,
	    "page faults without input/output of children that were waited for", "signal_struct.cmin_flt" },
	  { "signal.cmin_flt" },
	  NULL,
	  0 },
	{ { "cmajflt", "CMAJFLT", "cmaj_flt", CHILD_FAULTS,
	    "page faults with input/output of children that were waited for", "signal_struct.cmaj_flt" },
	  { "signal.cmaj_flt" },
	  NULL,
	  0 },
};

const struct kw_field_table kw_cputime_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
