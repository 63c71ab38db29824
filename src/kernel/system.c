/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source system, which has one row: the sums that /proc/stat has, times of the clock, load. */
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Put a number of the only row, or why there is none, where it is asked for. */
static inline void put(const struct kw_rows *rows, size_t field, kw_status status, uint64_t number)
{
	struct kw_value *out = rows->column[field];

	if (out && status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else if (out)
		kw_set_uint(out, number);
}

/* Times of all possible CPUs. A CPU that can't be read makes the sum absent, not smaller. */
static bool read_times(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	uint64_t sum[KW_NR_CPU_TIMES] = { 0 };
	kw_status status = row->kernel->nr_cpus ? KW_OK : KW_NOTFOUND;

	for (unsigned int cpu = 0; !status && cpu < row->kernel->nr_cpus; cpu++) {
		const uint64_t *times;

		if (!kw_cpu_is_possible(row->kernel, cpu))
			continue;
		status = kw_cpu_times(row, layout, cpu, &times);
		if (status)
			break;
		for (size_t i = 0; i < KW_NR_CPU_TIMES; i++)
			sum[i] += times[i];
	}
	for (size_t i = 0; i < KW_NR_CPU_TIMES; i++)
		put(rows, i, status, sum[i]);
	return status;
}

enum { CTXT, PROCS_RUNNING, PROCS_BLOCKED, NR_SCHED };

static const struct kw_field_def sched_fields[] = {
	[CTXT] = KW_READ_FIELD("ctxt", "CTXT", "", UINT, COUNT, PLAIN, PERCPU, "context switches since boot",
			       "sum of rq.nr_switches"),
	[PROCS_RUNNING] = KW_READ_FIELD("procs_running", "RUN", "", UINT, COUNT, PLAIN, PERCPU,
					"tasks that run or wait for a CPU", "sum of rq.nr_running"),
	[PROCS_BLOCKED] = KW_READ_FIELD("procs_blocked", "BLOCKED", "", UINT, COUNT, PLAIN, PERCPU,
					"tasks that wait for input or output", "sum of rq.nr_iowait"),
};

/* The kernel adds up nr_running of online CPUs only, the others of all. */
static bool read_sched(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	uint64_t sum[NR_SCHED] = { 0 };
	kw_status status = row->kernel->nr_cpus ? KW_OK : KW_NOTFOUND;

	for (unsigned int cpu = 0; !status && cpu < row->kernel->nr_cpus; cpu++) {
		struct kw_rq_counters rq;

		if (!kw_cpu_is_possible(row->kernel, cpu))
			continue;
		status = kw_cpu_rq(row->ctx, row->kernel, layout, cpu, &rq);
		if (status)
			break;
		sum[CTXT] += rq.nr_switches;
		sum[PROCS_RUNNING] += kw_cpu_is_online(row->ctx, row->kernel, layout, cpu) ? rq.nr_running
											   : 0;
		/* A CPU's count goes below zero where another one wakes its tasks. */
		sum[PROCS_BLOCKED] += (uint64_t)(int64_t)(int32_t)rq.nr_iowait;
	}
	for (size_t i = 0; i < NR_SCHED; i++)
		put(rows, i, status, sum[i]);
	return status;
}

enum { INTR, SOFTIRQS };

static const struct kw_field_def intr_fields[] = {
	[INTR] = KW_READ_FIELD("intr", "INTR", "", UINT, COUNT, PLAIN, PERCPU, "interrupts since boot",
			       "sum of kernel_stat.irqs_sum and irq_stat"),
	[SOFTIRQS] = KW_READ_FIELD("softirqs", "SOFTIRQS", "", UINT, COUNT, PLAIN, PERCPU,
				   "softirqs since boot", "sum of kernel_stat.softirqs[]"),
};

struct intr_layout {
	const struct kw_cpu_layout *cpu;
	const struct kw_arch_irq_layout *arch;
};

static kw_status resolve_intr(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct intr_layout *l = layout;

	l->cpu = kw_layout_get(ctx, kernel, &kw_cpu_subject);
	l->arch = l->cpu ? kw_layout_get(ctx, kernel, &kw_arch_irq_subject) : NULL;
	return l->arch ? KW_OK : ctx->status;
}

static const struct kw_subject intr_subject = { sizeof(struct intr_layout), resolve_intr };

static uint64_t all_softirqs(const struct kw_cpu_layout *l, const struct kw_cpu_kstat_sums *sums)
{
	uint64_t sum = 0;

	for (size_t i = 0, nr = l->nr_softirqs; i < nr; i++)
		sum += sums->softirqs[i];
	return sum;
}

static bool read_intr(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	const struct intr_layout *l = layout;
	const struct kw_cpu_kstat_sums *sums = NULL;
	const struct kw_arch_irq_counts *arch = NULL;
	kw_status status = kw_cpu_kstat_all(row->ctx, row->kernel, l->cpu, &sums);

	if (!status && rows->column[INTR]) {
		arch = kw_arch_irq_counts(row->ctx, row->kernel, l->arch);
		status = arch ? arch->summed_status : KW_NOMEM;
	}
	put(rows, INTR, status, status || !arch ? 0 : arch->summed + sums->irqs);
	put(rows, SOFTIRQS, status, status ? 0 : all_softirqs(l->cpu, sums));
	return status;
}

enum { BTIME, UPTIME, NOW, JIFFIES };

static const struct kw_field_def clock_fields[] = {
	[BTIME] = KW_READ_FIELD("btime", "BTIME", "", UINT, TIMESTAMP, START, POINTER,
				"when the system was started", "timekeeper.offs_real - offs_boot"),
	[UPTIME] = KW_READ_FIELD("uptime", "UPTIME", "", UINT, NANOSECONDS, ELAPSED, POINTER,
				 "time since then", "timekeeper: CLOCK_BOOTTIME"),
	[NOW] = KW_READ_FIELD("now", "NOW", "", UINT, TIMESTAMP, START, POINTER, "the system's own clock",
			      "timekeeper: CLOCK_REALTIME"),
};

static bool read_clock(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	struct kw_clock clock = { 0 };
	uint64_t started = 0;
	kw_status status = KW_OK;

	(void)layout;
	if (rows->column[BTIME])
		status = kw_clock_started(row->ctx, row->kernel, &started);
	if (!status && (rows->column[UPTIME] || rows->column[NOW]))
		status = kw_clock_read(row->ctx, row->kernel, &clock);
	if (status) {
		kw_clear_error(row->ctx);
		status = KW_NOTFOUND;
	}
	put(rows, BTIME, status, started);
	put(rows, UPTIME, status, clock.boottime);
	put(rows, NOW, status, clock.realtime);
	return false;
}

enum {
	LOAD1,
	LOAD5,
	LOAD15,
	THREADS,
	LAST_PID,
	PROCESSES,
	JIFFIES_64,
	CPUS,
	CPUS_ONLINE,
	NR_IRQS,
	PAGE_SIZE
};

static const struct kw_field_def load_fields[] = {
	[LOAD1] = KW_READ_FIELD("load1", "LOAD1", "", FLOAT, NONE, PLAIN, OBJECT,
				"tasks that run or wait, averaged over a minute", "avenrun[0]"),
	[LOAD5] = KW_READ_FIELD("load5", "LOAD5", "", FLOAT, NONE, PLAIN, OBJECT, "the same over 5 minutes",
				"avenrun[1]"),
	[LOAD15] = KW_READ_FIELD("load15", "LOAD15", "", FLOAT, NONE, PLAIN, OBJECT,
				 "the same over 15 minutes", "avenrun[2]"),
	[THREADS] = KW_READ_FIELD("threads", "THREADS", "nr_threads", UINT, COUNT, PLAIN, OBJECT,
				  "threads there are", "nr_threads"),
	[LAST_PID] = KW_READ_FIELD("last_pid", "LASTPID", "", INT, NONE, PLAIN, OBJECT,
				   "process ID that was given last", "init_pid_ns.idr.idr_next - 1"),
	[PROCESSES] = KW_READ_FIELD("processes", "FORKS", "forks", UINT, COUNT, PLAIN, OBJECT,
				    "tasks created since boot", "total_forks"),
	[JIFFIES_64] = KW_READ_FIELD("jiffies", "JIFFIES", "Jiffies", UINT, COUNT, PLAIN, OBJECT,
				     "timer ticks, counted from 5 minutes before 2^32", "jiffies_64"),
	[CPUS] = KW_READ_FIELD("cpus", "CPUS", "", UINT, COUNT, PLAIN, OBJECT, "CPUs that there may be",
			       "__cpu_possible_mask"),
	[CPUS_ONLINE] = KW_READ_FIELD("cpus_online", "ONLINE", "", UINT, COUNT, PLAIN, OBJECT, "CPUs in use",
				      "__cpu_online_mask"),
	[NR_IRQS] = KW_READ_FIELD("nr_irqs", "NRIRQS", "", UINT, COUNT, PLAIN, OBJECT,
				  "numbers of interrupts that may be given", "nr_irqs, total_nr_irqs"),
	[PAGE_SIZE] = KW_READ_FIELD("page_size", "PAGESIZE", "PageSize", UINT, BYTES, PLAIN, OBJECT,
				    "bytes of a page", "constant on x86"),
};

struct load_layout {
	uint64_t avenrun, nr_threads, total_forks, jiffies_64, nr_irqs, idr_next;
	const struct kw_cpu_layout *cpu;
};

static kw_status resolve_load(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct load_layout *l = layout;
	struct kw_symbol_query q[] = {
		{ "avenrun", KW_NO_ADDR },     { "nr_threads", KW_NO_ADDR },
		{ "total_forks", KW_NO_ADDR }, { "jiffies_64", KW_NO_ADDR },
		{ "nr_irqs", KW_NO_ADDR },     { "total_nr_irqs", KW_NO_ADDR }, /* since 6.13 */
	};

	kw_symbol_addresses(ctx, q, COUNT(q));
	l->avenrun = q[0].addr;
	l->nr_threads = q[1].addr;
	l->total_forks = q[2].addr;
	l->jiffies_64 = q[3].addr;
	l->nr_irqs = q[5].addr == KW_NO_ADDR ? q[4].addr : q[5].addr;
	l->idr_next = kw_offset_or_none(ctx, "pid_namespace", "idr.idr_next");
	l->cpu = kw_layout_get(ctx, kernel, &kw_cpu_subject);
	return l->cpu ? KW_OK : ctx->status;
}

static const struct kw_subject load_subject = { sizeof(struct load_layout), resolve_load };

static void put_cpus(const struct kw_row *row, const struct load_layout *l, const struct kw_rows *rows)
{
	uint64_t possible = 0, online = 0;

	for (unsigned int cpu = 0; cpu < row->kernel->nr_cpus; cpu++) {
		possible += kw_cpu_is_possible(row->kernel, cpu);
		online += kw_cpu_is_online(row->ctx, row->kernel, l->cpu, cpu);
	}
	put(rows, CPUS, possible ? KW_OK : KW_NOTFOUND, possible);
	put(rows, CPUS_ONLINE, l->cpu->online_mask == KW_NO_ADDR || !online ? KW_NOTFOUND : KW_OK, online);
}

/* Fixed point with 11 bits behind it. */
static void set_average(struct kw_value *load)
{
	if (load->type == KW_VAL_UINT)
		*load = (struct kw_value){ .type = KW_VAL_FLOAT, .f = (double)load->u / 2048 };
}

/* An element of an array, or a member. */
static uint64_t behind(uint64_t addr, uint64_t offset)
{
	return addr == KW_NO_ADDR || offset == KW_NO_ADDR ? KW_NO_ADDR : addr + offset;
}

/* Tells whether it could not be read. */
static inline bool put_global(kw_ctx *ctx, struct kw_value *out, uint64_t addr, size_t size)
{
	if (!out)
		return false;
	kw_read_global(ctx, addr, size, out);
	return out->type == KW_VAL_ABSENT;
}

static bool put_averages(kw_ctx *ctx, const struct load_layout *l, struct kw_value *const *column)
{
	bool failed = false;

	for (size_t i = 0; i < 3; i++) {
		failed |= put_global(ctx, column[LOAD1 + i], behind(l->avenrun, 8 * i), 8);
		if (column[LOAD1 + i])
			set_average(column[LOAD1 + i]);
	}
	return failed;
}

static bool read_load(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	const struct load_layout *l = layout;
	struct kw_value *const *column = rows->column, *last_pid = column[LAST_PID];
	uint64_t next = behind(row->kernel->globals.init_pid_ns, l->idr_next);
	bool failed = put_averages(row->ctx, l, column);

	failed |= put_global(row->ctx, column[THREADS], l->nr_threads, 4);
	failed |= put_global(row->ctx, column[PROCESSES], l->total_forks, 8);
	failed |= put_global(row->ctx, column[JIFFIES_64], l->jiffies_64, 8);
	failed |= put_global(row->ctx, column[NR_IRQS], l->nr_irqs, 4);
	failed |= put_global(row->ctx, last_pid, next, 4);
	if (last_pid && last_pid->type == KW_VAL_UINT)
		kw_set_int(last_pid, (int64_t)last_pid->u - 1);
	if (column[CPUS] || column[CPUS_ONLINE])
		put_cpus(row, l, rows);
	put(rows, PAGE_SIZE, KW_OK, KW_PAGE_SIZE);
	return failed;
}

/* Texts */

enum { VERSION, CMDLINE, MHZ };

static const struct kw_field_def about_fields[] = {
	[VERSION] = KW_READ_FIELD("version", "VERSION", "", STRING, NONE, PLAIN, OBJECT,
				  "the kernel's version and who built it", "linux_banner"),
	[CMDLINE] = KW_READ_FIELD("cmdline", "CMDLINE", "", STRING, NONE, PLAIN, POINTER,
				  "how the kernel was started", "saved_command_line"),
	[MHZ] = KW_READ_FIELD("mhz", "MHZ", "", FLOAT, NONE, PLAIN, OBJECT,
			      "frequency of the CPUs, as measured when they were started", "cpu_khz"),
};

struct about_layout {
	uint64_t banner, cmdline, cpu_khz;
};

static kw_status resolve_about(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct about_layout *l = layout;
	struct kw_symbol_query q[] = { { "linux_banner", KW_NO_ADDR },
				       { "saved_command_line", KW_NO_ADDR },
				       { "cpu_khz", KW_NO_ADDR } };

	(void)kernel;
	kw_symbol_addresses(ctx, q, COUNT(q));
	l->banner = q[0].addr;
	l->cmdline = q[1].addr;
	l->cpu_khz = q[2].addr;
	return KW_OK;
}

static const struct kw_subject about_subject = { sizeof(struct about_layout), resolve_about };

static void set_text(struct kw_row *row, kw_status status, uint64_t addr, struct kw_value *out)
{
	char text[4096]; /* COMMAND_LINE_SIZE is 2048 */

	if (!status)
		status = kw_read_string(row->ctx, addr, text, sizeof(text));
	if (status) {
		kw_set_absent(out, kw_absent_of_counter(status));
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	kw_set_row_text(row, out, text);
}

static void read_about(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct about_layout *l = layout;
	uint64_t cmdline = 0;
	kw_status status = l->cmdline == KW_NO_ADDR ? KW_NOTFOUND
						    : kw_read_u64(row->ctx, l->cmdline, &cmdline);

	if (kw_row_wants(row, VERSION))
		set_text(row, l->banner == KW_NO_ADDR ? KW_NOTFOUND : KW_OK, l->banner, &values[VERSION]);
	if (kw_row_wants(row, CMDLINE))
		set_text(row, status, cmdline, &values[CMDLINE]);
	kw_read_global(row->ctx, l->cpu_khz, 4, &values[MHZ]);
	if (values[MHZ].type == KW_VAL_UINT)
		values[MHZ] = (struct kw_value){ .type = KW_VAL_FLOAT, .f = (double)values[MHZ].u / 1000 };
}

#define TABLE(name) static const struct kw_field_table name##_table = { name##_fields, COUNT(name##_fields) }

TABLE(sched);
TABLE(intr);
TABLE(clock);
TABLE(load);
TABLE(about);

static const struct kw_field_group system_groups[] = {
	{ .table = &kw_cpu_time_fields, .subject = &kw_cpu_subject, .read_rows = read_times },
	{ .table = &sched_table, .subject = &kw_cpu_subject, .read_rows = read_sched },
	{ .table = &intr_table, .subject = &intr_subject, .read_rows = read_intr },
	{ .table = &load_table, .subject = &load_subject, .read_rows = read_load },
	{ .table = &clock_table, .read_rows = read_clock },
	{ .table = &about_table, .subject = &about_subject, .read = read_about },
	{ .table = &kw_meminfo_fields, .subject = &kw_meminfo_subject, .read = kw_meminfo_read },
	{ .table = &kw_meminfo_exact_fields,
	  .subject = &kw_meminfo_exact_subject,
	  .read = kw_meminfo_exact_read },
};

static kw_status walk_system(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			     kw_take_rows take, void *arg)
{
	(void)ctx;
	(void)kernel;
	(void)layout;
	kw_take_row(take, 0, 0, 0, arg);
	return KW_OK;
}

const struct kw_source_def kw_system_source = {
	.pub = { "system", "the system as a whole: one row",
		 "uptime,load1,load5,load15,procs_running,procs_blocked" },
	.groups = system_groups,
	.nr_groups = COUNT(system_groups),
	.walk = walk_system,
};

/* The source cpus */

enum { CPU, ONLINE };

static const struct kw_field_def cpu_fields[] = {
	[CPU] = KW_READ_FIELD("cpu", "CPU", "", UINT, NONE, PLAIN, OBJECT, "number of the CPU",
			      "__cpu_possible_mask"),
	[ONLINE] = KW_READ_FIELD("online", "ONLINE", "", BOOL, NONE, PLAIN, OBJECT, "the CPU is in use",
				 "__cpu_online_mask"),
};

static bool read_cpus(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	const struct kw_cpu_layout *l = layout;
	struct kw_value *number = rows->column[CPU], *online = rows->column[ONLINE];

	if (number)
		kw_rows_put_index(rows, number);
	for (size_t i = 0; online && i < rows->nr; i++, online += rows->stride)
		if (l->online_mask == KW_NO_ADDR)
			kw_set_absent(online, KW_ABSENT_NO_SYMBOL);
		else
			kw_set_bool(online, kw_cpu_is_online(row->ctx, row->kernel, l, rows->found[i].cpu));
	return false;
}

static bool read_cpu_times(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	bool failed = false;

	for (size_t i = 0, skip = 0; i < rows->nr; i++, skip += rows->stride) {
		const uint64_t *times;
		kw_status status = kw_cpu_times(row, layout, rows->found[i].cpu, &times);

		failed |= status;
		for (size_t k = 0; k < KW_NR_CPU_TIMES; k++) {
			struct kw_value *column = rows->column[k];

			if (column && !status)
				kw_set_uint(&column[skip], times[k]);
			else if (column)
				kw_set_absent(&column[skip], kw_absent_of_counter(status));
		}
	}
	return failed;
}

static void read_cpu_sched(struct kw_row *row, const void *layout, struct kw_value *values)
{
	struct kw_rq_counters rq;
	kw_status status = kw_cpu_rq(row->ctx, row->kernel, layout, row->index, &rq);

	if (status) {
		kw_set_all_absent(values, NR_SCHED, kw_absent_of_counter(status));
		return;
	}
	kw_set_uint(&values[CTXT], rq.nr_switches);
	kw_set_uint(&values[PROCS_RUNNING], rq.nr_running);
	kw_set_uint(&values[PROCS_BLOCKED], (int32_t)rq.nr_iowait > 0 ? rq.nr_iowait : 0);
}

static void read_cpu_intr(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct intr_layout *l = layout;
	unsigned int cpu = (unsigned int)row->index;
	struct kw_cpu_kstat_sums sums;
	uint64_t irqs = 0;
	kw_status status = kw_cpu_kstat(row->ctx, row->kernel, l->cpu, cpu, &sums);

	if (!status && kw_row_wants(row, INTR))
		status = kw_arch_irq_sum(row->ctx, row->kernel, l->arch, cpu, &irqs);
	if (status) {
		kw_set_all_absent(values, COUNT(intr_fields), kw_absent_of_counter(status));
		return;
	}
	kw_set_uint(&values[INTR], irqs + sums.irqs);
	kw_set_uint(&values[SOFTIRQS], all_softirqs(l->cpu, &sums));
}

static const struct kw_field_def schedstat_fields[] = {
	KW_READ_FIELD("yields", "YIELDS", "yld_count", UINT, COUNT, PLAIN, PERCPU,
		      "times a task gave the CPU away", "rq.yld_count"),
	KW_READ_FIELD("sched_count", "SCHED", "", UINT, COUNT, PLAIN, PERCPU, "calls of the scheduler",
		      "rq.sched_count"),
	KW_READ_FIELD("sched_goidle", "GOIDLE", "", UINT, COUNT, PLAIN, PERCPU, "of these, to become idle",
		      "rq.sched_goidle"),
	KW_READ_FIELD("ttwu_count", "WAKEUPS", "", UINT, COUNT, PLAIN, PERCPU, "tasks woken up",
		      "rq.ttwu_count"),
	KW_READ_FIELD("ttwu_local", "LOCAL", "", UINT, COUNT, PLAIN, PERCPU, "of these, by this CPU",
		      "rq.ttwu_local"),
	KW_READ_FIELD("runtime", "RUNTIME", "rq_cpu_time", UINT, NANOSECONDS, CPUTIME, PERCPU,
		      "time that tasks ran here", "rq.rq_cpu_time"),
	KW_READ_FIELD("run_delay", "DELAY", "", UINT, NANOSECONDS, CPUTIME, PERCPU,
		      "time that they waited for it", "rq.rq_sched_info.run_delay"),
	KW_READ_FIELD("timeslices", "SLICES", "pcount", UINT, COUNT, PLAIN, PERCPU,
		      "time slices that they got", "rq.rq_sched_info.pcount"),
};

struct schedstat_layout {
	uint64_t runqueues, offset[COUNT(schedstat_fields)];
};

static kw_status resolve_schedstat(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct schedstat_layout *l = layout;
	struct kw_symbol_query q = { "runqueues", KW_NO_ADDR };

	(void)kernel;
	kw_symbol_addresses(ctx, &q, 1);
	l->runqueues = q.addr;
	/* Kernels without CONFIG_SCHEDSTATS have the last three only; the origin is the path. */
	for (size_t i = 0; i < COUNT(schedstat_fields); i++)
		l->offset[i] = kw_offset_or_none(ctx, "rq", strchr(schedstat_fields[i].pub.origin, '.') + 1);
	return KW_OK;
}

static const struct kw_subject schedstat_subject = { sizeof(struct schedstat_layout), resolve_schedstat };

static void read_schedstat(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct schedstat_layout *l = layout;
	uint64_t rq = kw_percpu(row->kernel, l->runqueues, row->index);

	for (size_t i = 0; i < COUNT(schedstat_fields); i++) {
		/* The counts are unsigned int, the times and slices 64 bits long. */
		if (rq == KW_NO_ADDR)
			kw_set_absent(&values[i], KW_ABSENT_NO_SYMBOL);
		else if (l->offset[i] == KW_NO_ADDR)
			kw_set_absent(&values[i], KW_ABSENT_NO_MEMBER);
		else
			kw_read_global(row->ctx, rq + l->offset[i], i < 5 ? 4 : 8, &values[i]);
	}
}

TABLE(cpu);
TABLE(schedstat);

static const struct kw_field_group cpu_groups[] = {
	{ .table = &cpu_table, .subject = &kw_cpu_subject, .read_rows = read_cpus },
	{ .table = &kw_cpu_time_fields, .subject = &kw_cpu_subject, .read_rows = read_cpu_times },
	{ .table = &sched_table, .subject = &kw_cpu_subject, .read = read_cpu_sched },
	{ .table = &intr_table, .subject = &intr_subject, .read = read_cpu_intr },
	{ .table = &schedstat_table, .subject = &schedstat_subject, .read = read_schedstat },
};

static kw_status walk_cpus(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
			   void *arg)
{
	struct kw_row_list list;

	(void)ctx;
	(void)layout;
	kw_row_list_begin(&list, take, arg);
	for (unsigned int cpu = 0; !list.stopped && cpu < kernel->nr_cpus; cpu++)
		if (kw_cpu_is_possible(kernel, cpu))
			kw_row_list_add(&list, 0, cpu, cpu);
	kw_row_list_flush(&list);
	return kernel->nr_cpus ? KW_OK : KW_NOTFOUND;
}

const struct kw_source_def kw_cpu_source = {
	.pub = { "cpus", "a CPU that is, or may become, part of the system",
		 "cpu,online,user,nice,system,idle,iowait,irq,softirq,steal,guest,guest_nice" },
	.groups = cpu_groups,
	.nr_groups = COUNT(cpu_groups),
	.walk = walk_cpus,
};
