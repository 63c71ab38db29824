/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times and counters of a CPU, from its per-CPU area.
 *
 *     kernel_cpustat.cpustat[]    ns, by what the CPU did; idle and iowait only up to the last tick
 *     tick_cpu_sched              idle and iowait as measured, and since when the CPU is idle, up to 7.1 or so
 *     kernel_cpustat.idle_*       the same in later kernels, where cpustat[] itself holds what was measured
 *     runqueues                   context switches, runnable tasks, tasks that wait for input or output
 *     kstat                       interrupts and softirqs
 *
 * A period of being idle that has not ended counts up to now: as iowait when tasks of the CPU wait, else as idle. The
 * kernel's own /proc/stat goes back when the last of them wakes up; here what a query has shown once is never taken
 * back (struct kw_idle_memory).
 */
#include "kernel/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "memory/view.h"
#include "util/bytes.h"
#include "util/error.h"

#define MAX_TRIES 3

/* Of a CPU. */
struct kw_idle_memory {
	uint64_t last[KW_NR_CPU_TIMES]; /* of which idle and iowait never go back */
};

struct kw_idle_memory *kw_idle_memory_new(unsigned int nr_cpus)
{
	return calloc(nr_cpus ? nr_cpus : 1, sizeof(struct kw_idle_memory));
}

void kw_idle_memory_free(struct kw_idle_memory *memory)
{
	free(memory);
}

static void *make_cpus(const struct kw_kernel *kernel)
{
	return calloc(1, sizeof(struct kw_cpus_kept) + kernel->nr_cpus * sizeof(struct kw_cpu_kept));
}

static struct kw_cpus_kept *keep_cpus(kw_ctx *ctx, const struct kw_kernel *kernel)
{
	return kw_context_keep(ctx, kernel, KW_CONTEXT_CPUS, make_cpus, free);
}

enum kw_absent kw_absent_of_counter(kw_status status)
{
	return status == KW_NOTFOUND ? KW_ABSENT_NO_SYMBOL : kw_absent_of_status(status);
}

#define TIME(name, header, help, origin) \
	KW_READ_FIELD(name, header, "", UINT, NANOSECONDS, CPUTIME, PERCPU, help, origin)
#define COUNTED	 "kernel_cpustat.cpustat[]"
#define MEASURED "tick_sched, kernel_cpustat: see cpu.c"

static const struct kw_field_def time_fields[] = {
	[KW_CPU_USER] = TIME("user", "USER", "in user mode, guests included", COUNTED),
	[KW_CPU_NICE] = TIME("nice", "NICE", "the same of tasks with a nice value above 0", COUNTED),
	[KW_CPU_SYSTEM] = TIME("system", "SYSTEM", "in the kernel", COUNTED),
	[KW_CPU_IDLE] = TIME("idle", "IDLE", "idle, the period under way included", MEASURED),
	[KW_CPU_IOWAIT] = TIME("iowait", "IOWAIT", "idle while a task waits for input or output", MEASURED),
	[KW_CPU_IRQ] = TIME("irq", "IRQ", "in interrupts", COUNTED),
	[KW_CPU_SOFTIRQ] = TIME("softirq", "SOFTIRQ", "in softirqs", COUNTED),
	[KW_CPU_STEAL] = TIME("steal", "STEAL", "taken by the hypervisor", COUNTED),
	[KW_CPU_GUEST] = TIME("guest", "GUEST", "running guests", COUNTED),
	[KW_CPU_GUEST_NICE] =
		TIME("guest_nice", "GUESTNICE", "running guests with a nice value above 0", COUNTED),
};

const struct kw_field_table kw_cpu_time_fields = { time_fields, KW_NR_CPU_TIMES };

bool kw_cpu_is_online_now(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
			  unsigned int cpu)
{
	struct kw_cpus_kept *cpus = keep_cpus(ctx, kernel);
	size_t size = (kernel->nr_cpus + 63) / 64 * sizeof(uint64_t);

	if (!cpus || l->online_mask == KW_NO_ADDR || cpu >= kernel->nr_cpus)
		return false;
	if (cpus->online.pass != kw_pass_number(ctx)) {
		if (kw_read_near(ctx, l->online_mask, cpus->online.mask, size) != KW_OK)
			return false;
		cpus->online.pass = kw_pass_number(ctx);
	}
	return cpus->online.mask[cpu / 64] >> (cpu % 64) & 1;
}

/*
 * An object that is looked at with what its writers count in it, again while somebody writes to it. What is still changing
 * after the last try is taken as it is.
 */
struct look {
	struct kw_pin *pin;
	uint64_t addr, size, seq; /* seq: where that count is, or KW_NO_ADDR */
	const uint8_t *at;
	uint32_t before;
	int tries;
	uint8_t copy[KW_CPU_MAX_OBJECT];
};

static inline void prepare_look(struct look *look, struct kw_pin *pin, uint64_t addr, uint64_t size,
				uint64_t seq)
{
	look->pin = pin;
	look->addr = addr;
	look->size = size;
	look->seq = seq;
	look->tries = 0;
}

static inline kw_status begin_look(kw_ctx *ctx, struct look *look)
{
	kw_status status = KW_OK;

	look->at = kw_look_pinned(ctx, look->pin, look->addr, look->size, look->copy, &status);
	if (look->at && look->seq != KW_NO_ADDR)
		look->before = kw_load_u32(look->at + look->seq);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return status;
}

/* Once values were taken: false when they have to be taken again. */
static inline bool end_look(const struct kw_row *row, struct look *look)
{
	uint32_t after;

	if (kw_look_failed(row->ctx, look->at, look->copy))
		return false;
	if (look->seq == KW_NO_ADDR || !row->kernel->is_live || ++look->tries == MAX_TRIES)
		return true;
	if (look->at == look->copy)
		kw_forget(row->ctx, look->addr, look->size);
	return kw_read_near_u32(row->ctx, look->addr + look->seq, &after) == KW_OK && after == look->before &&
	       !(after & 1);
}

/* Read a number of 4 bytes that has a pin. */
static kw_status read_pinned(kw_ctx *ctx, struct kw_pin *pin, uint64_t addr, uint32_t *ret)
{
	uint32_t copy;
	const uint8_t *at;
	kw_status status;

	do {
		at = kw_look_pinned(ctx, pin, addr, sizeof(copy), &copy, &status);
		if (!at)
			return status;
		*ret = kw_load_u32(at);
	} while (kw_look_failed(ctx, at, &copy));
	return KW_OK;
}

static bool has_waiters(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
			struct kw_cpu_kept *kept)
{
	uint64_t rq = kw_percpu(row->kernel, l->runqueues, cpu);
	uint32_t waiters = 0;

	return rq != KW_NO_ADDR && l->nr_iowait != KW_NO_ADDR &&
	       read_pinned(row->ctx, &kept->waiters, rq + l->nr_iowait, &waiters) == KW_OK &&
	       (int32_t)waiters > 0;
}

/* How long a CPU is idle by now; 0 when the clock is not known, or older than the beginning of that. */
static uint64_t elapsed(const struct kw_row *row, uint64_t since)
{
	uint64_t now;

	if (kw_clock_monotonic(row->ctx, row->kernel, &now) != KW_OK) {
		kw_clear_error(row->ctx);
		return 0;
	}
	return now > since ? now - since : 0;
}

/* Kernels that measure idle time in kernel_cpustat itself (idle_elapse). Stolen time is taken off later. */
struct period {
	bool is_idle;
	uint64_t since, steal[2];
};

static void take_period(const struct kw_cpu_layout *l, const uint8_t *cpustat, struct period *period)
{
	period->is_idle = cpustat[l->elapse];
	period->since = kw_load_u64(cpustat + l->elapse_since);
	for (int i = 0; i < 2; i++)
		period->steal[i] =
			l->elapse_steal == KW_NO_ADDR ? 0 : kw_load_u64(cpustat + l->elapse_steal + 8 * i);
}

static void add_period(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
		       struct kw_cpu_kept *kept, const struct period *period)
{
	bool iowait;
	uint64_t time;

	if (!period->is_idle)
		return;
	iowait = has_waiters(row, l, cpu, kept);
	time = elapsed(row, period->since);
	if (time > period->steal[iowait])
		kept->times[iowait ? KW_CPU_IOWAIT : KW_CPU_IDLE] += time - period->steal[iowait];
}

static inline void copy_times(const struct kw_cpu_layout *l, const uint8_t *cpustat, uint64_t *times)
{
	for (size_t i = 0; i < KW_NR_CPU_TIMES; i++)
		times[i] = kw_load_u64(cpustat + l->time[i]);
}

/* Where it is mapped, when that is known and no page has ever failed. */
static inline const uint8_t *pinned(const kw_ctx *ctx, const struct kw_pin *pin)
{
	return kw_faults_now(ctx) ? NULL : pin->at;
}

/* Times that are counted, and the period under way where it is part of the same object. */
static kw_status take_counted(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
			      struct kw_cpu_kept *kept, struct period *period)
{
	struct look look;

	prepare_look(&look, &kept->cpustat, kw_percpu(row->kernel, l->kernel_cpustat, cpu), l->cpustat_size,
		     l->elapse_seq);
	if (look.addr == KW_NO_ADDR || !look.size)
		return KW_NOTFOUND;
	do {
		kw_status status = begin_look(row->ctx, &look);

		if (status)
			return status;
		copy_times(l, look.at, kept->times);
		if (l->elapse != KW_NO_ADDR)
			take_period(l, look.at, period);
	} while (!end_look(row, &look));
	return KW_OK;
}

/*
 * Kernels that measure it in tick_cpu_sched. The kernel gives it in us: what is beyond is cut off. An offline CPU, and
 * one that ticks while idle, has what the ticks counted.
 */
static kw_status take_sleeptime(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
				struct kw_cpu_kept *kept)
{
	uint64_t sleeptime[2], since;
	struct look look;
	uint32_t flags;

	prepare_look(&look, &kept->tick, kw_percpu(row->kernel, l->tick_cpu_sched, cpu), l->tick_size,
		     l->sleeptime_seq);
	if (look.addr == KW_NO_ADDR || !kw_cpu_is_online(row->ctx, row->kernel, l, cpu))
		return KW_OK;
	do {
		kw_status status = begin_look(row->ctx, &look);

		if (status)
			return status;
		sleeptime[0] = kw_load_u64(look.at + l->idle_sleeptime);
		sleeptime[1] = kw_load_u64(look.at + l->iowait_sleeptime);
		flags = kw_load_u32(look.at + l->idle_active);
		since = kw_load_u64(look.at + l->idle_entrytime);
	} while (!end_look(row, &look));
	if (flags & l->idle_active_mask)
		sleeptime[has_waiters(row, l, cpu, kept)] += elapsed(row, since);
	kept->times[KW_CPU_IDLE] = sleeptime[0] / 1000 * 1000;
	kept->times[KW_CPU_IOWAIT] = sleeptime[1] / 1000 * 1000;
	return KW_OK;
}

static kw_status take_measured(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
			       struct kw_cpu_kept *kept)
{
	uint8_t active;
	kw_status status;

	if (!l->tick_size || l->nohz_active == KW_NO_ADDR)
		return KW_OK;
	status = kw_read_near(row->ctx, l->nohz_active, &active, 1);
	return status || !active ? status : take_sleeptime(row, l, cpu, kept);
}

const uint64_t *kw_idle_never_back(struct kw_idle_memory *memory, unsigned int cpu, const uint64_t *times)
{
	uint64_t *last = memory[cpu].last, idle = last[KW_CPU_IDLE], iowait = last[KW_CPU_IOWAIT];

	memcpy(last, times, sizeof(memory->last));
	if (last[KW_CPU_IDLE] < idle)
		last[KW_CPU_IDLE] = idle;
	if (last[KW_CPU_IOWAIT] < iowait)
		last[KW_CPU_IOWAIT] = iowait;
	return last;
}

static kw_status read_times(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
			    struct kw_cpu_kept *kept, bool wants_idle)
{
	/* Of a period under way nothing is there: what is counted is no more than numbers. */
	bool is_plain = l->elapse == KW_NO_ADDR && l->elapse_seq == KW_NO_ADDR;
	const uint8_t *at = is_plain ? pinned(row->ctx, &kept->cpustat) : NULL;
	struct period period;
	kw_status status = KW_OK;

	kept->pass = 0;
	if (at)
		copy_times(l, at, kept->times);
	if (!at || kw_look_failed(row->ctx, at, NULL))
		status = take_counted(row, l, cpu, kept, &period);
	if (!status && wants_idle) {
		if (l->elapse != KW_NO_ADDR)
			add_period(row, l, cpu, kept, &period);
		else
			status = take_measured(row, l, cpu, kept);
	}
	if (status)
		return status;
	kept->has_idle = wants_idle;
	kept->pass = kw_pass_number(row->ctx);
	return KW_OK;
}

kw_status kw_cpu_times_read(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
			    const uint64_t **ret_times)
{
	bool wants_idle = row->wanted & (kw_wanted_bit(KW_CPU_IDLE) | kw_wanted_bit(KW_CPU_IOWAIT));
	struct kw_cpus_kept *cpus = keep_cpus(row->ctx, row->kernel);
	kw_status status = KW_OK;

	if (!cpus || cpu >= row->kernel->nr_cpus)
		return cpus ? KW_NOTFOUND : KW_NOMEM;
	if (wants_idle || cpus->cpu[cpu].pass != kw_pass_number(row->ctx))
		status = read_times(row, l, cpu, &cpus->cpu[cpu], wants_idle);
	if (status)
		return status;
	*ret_times = cpus->cpu[cpu].times;
	if (wants_idle && row->idle)
		*ret_times = kw_idle_never_back(row->idle, cpu, *ret_times);
	return KW_OK;
}

/* They are far apart: where they have to be copied, each by itself. */
static kw_status copy_rq(kw_ctx *ctx, const struct kw_cpu_layout *l, uint64_t rq, struct kw_rq_counters *ret)
{
	kw_status status = kw_read(ctx, rq + l->nr_switches, &ret->nr_switches, 8);

	if (!status)
		status = kw_read(ctx, rq + l->nr_running, &ret->nr_running, 4);
	if (!status)
		status = kw_read(ctx, rq + l->nr_iowait, &ret->nr_iowait, 4);
	return status;
}

kw_status kw_cpu_rq(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
		    unsigned int cpu, struct kw_rq_counters *ret)
{
	uint64_t rq = kw_percpu(kernel, l->runqueues, cpu);
	const uint8_t *at;

	if (rq == KW_NO_ADDR || !l->rq_span)
		return KW_NOTFOUND;
	at = kw_pass_number(ctx) ? kw_view_at_hand(ctx, rq + l->rq_first, l->rq_span) : NULL;
	if (!at)
		return copy_rq(ctx, l, rq, ret);
	ret->nr_switches = kw_load_u64(at + (l->nr_switches - l->rq_first));
	ret->nr_running = kw_load_u32(at + (l->nr_running - l->rq_first));
	ret->nr_iowait = kw_load_u32(at + (l->nr_iowait - l->rq_first));
	return kw_look_failed(ctx, at, NULL) ? copy_rq(ctx, l, rq, ret) : KW_OK;
}

/* Add what struct kernel_stat counts on a CPU. It does not count when a page fails meanwhile. */
static kw_status add_kstat(kw_ctx *ctx, const struct kw_cpu_layout *l, uint64_t addr, struct kw_pin *pin,
			   struct kw_cpu_kstat_sums *sums)
{
	uint8_t copy[KW_CPU_MAX_OBJECT];
	const uint8_t *at;
	kw_status status;

	if (addr == KW_NO_ADDR || !l->kstat_size)
		return KW_NOTFOUND;
	at = kw_look_pinned(ctx, pin, addr, l->kstat_size, copy, &status);
	if (!at)
		return status;
	sums->irqs += kw_load_u64(at + l->irqs_sum);
	at += l->softirqs;
	for (size_t i = 0, nr = l->nr_softirqs; i < nr; i++)
		sums->softirqs[i] += kw_load_u32(at + 4 * i);
	return KW_OK;
}

kw_status kw_cpu_kstat(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
		       unsigned int cpu, struct kw_cpu_kstat_sums *ret)
{
	struct kw_cpus_kept *cpus = keep_cpus(ctx, kernel);
	kw_status status;
	uint64_t faults;

	if (!cpus || cpu >= kernel->nr_cpus)
		return cpus ? KW_NOTFOUND : KW_NOMEM;
	do {
		faults = kw_faults_now(ctx);
		memset(ret, 0, sizeof(*ret));
		status = add_kstat(ctx, l, kw_percpu(kernel, l->kstat, cpu), &cpus->cpu[cpu].kstat, ret);
	} while (kw_faults_since(ctx, faults));
	return status;
}

kw_status kw_cpu_kstat_read(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
			    const struct kw_cpu_kstat_sums **ret)
{
	struct kw_cpus_kept *cpus = keep_cpus(ctx, kernel);
	kw_status status;
	uint64_t faults;

	if (!cpus)
		return KW_NOMEM;
	do {
		faults = kw_faults_now(ctx);
		status = kernel->nr_cpus ? KW_OK : KW_NOTFOUND;
		cpus->kstat.irqs = 0;
		for (size_t i = 0, nr = l->nr_softirqs; i < nr; i++)
			cpus->kstat.softirqs[i] = 0;
		for (unsigned int cpu = 0; !status && cpu < kernel->nr_cpus; cpu++)
			if (kw_cpu_is_possible(kernel, cpu))
				status = add_kstat(ctx, l, kw_percpu(kernel, l->kstat, cpu),
						   &cpus->cpu[cpu].kstat, &cpus->kstat);
	} while (kw_faults_since(ctx, faults));
	cpus->kstat.pass = status ? 0 : kw_pass_number(ctx);
	*ret = &cpus->kstat;
	return status;
}
