/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters of CPUs, for the rows of the sources cpus and system. */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include "kernel/kept.h"
#include "kernel/source.h"
#include "memory/view.h"

/** The times of a CPU in the order of a line of /proc/stat. */
enum kw_cpu_time {
	KW_CPU_USER,
	KW_CPU_NICE,
	KW_CPU_SYSTEM,
	KW_CPU_IDLE,
	KW_CPU_IOWAIT,
	KW_CPU_IRQ,
	KW_CPU_SOFTIRQ,
	KW_CPU_STEAL,
	KW_CPU_GUEST,
	KW_CPU_GUEST_NICE,
	KW_NR_CPU_TIMES
};

#define KW_MAX_SOFTIRQS	  32   /* there are 10 */
#define KW_CPU_MAX_OBJECT 1024 /* kernel_cpustat has 112 bytes, tick_sched 224, kernel_stat 48 */

/** Run-queue counters of a CPU. */
struct kw_rq_counters {
	uint64_t nr_switches;
	uint32_t nr_running, nr_iowait;
};

/** What struct kernel_stat counts. */
struct kw_cpu_kstat_sums {
	uint64_t pass; /* in which they were read */
	uint64_t irqs; /* of devices */
	uint64_t softirqs[KW_MAX_SOFTIRQS];
};

/** Addresses and offsets: KW_NO_ADDR for what this kernel lacks. */
struct kw_cpu_layout {
	uint64_t kernel_cpustat, tick_cpu_sched, runqueues, kstat; /* per-CPU */
	uint64_t online_mask;					   /* struct cpumask */
	uint64_t nohz_active; /* int; only its lowest byte is looked at */
	/* struct kernel_cpustat */
	uint64_t cpustat_size;					 /* 0 when it is not what kwalk knows */
	uint64_t time[KW_NR_CPU_TIMES];				 /* in cpustat[] */
	uint64_t elapse, elapse_since, elapse_steal, elapse_seq; /* since 6.20 or 7.0: see cpu.c */
	/* struct tick_sched */
	uint64_t tick_size; /* 0 when this kernel does not measure idle time in it */
	uint64_t idle_sleeptime, iowait_sleeptime, idle_entrytime, sleeptime_seq;
	uint64_t idle_active; /* of the 4 bytes that hold the flag */
	uint32_t idle_active_mask;
	/* struct rq */
	uint64_t nr_switches, nr_running, nr_iowait;
	uint64_t rq_first, rq_span; /* bytes of it that hold these; span 0: not all are there */
	/* struct kernel_stat */
	uint64_t kstat_size; /* 0 when it is not what kwalk knows */
	uint64_t irqs_sum, softirqs;
	uint32_t nr_softirqs;
};

extern const struct kw_subject kw_cpu_subject;

/** The table of the times, in the order of enum kw_cpu_time. */
extern const struct kw_field_table kw_cpu_time_fields;

/** Of each CPU: idle and iowait never go below what the rows of earlier runs showed. NULL remembers nothing. */
struct kw_idle_memory;
struct kw_idle_memory *kw_idle_memory_new(unsigned int nr_cpus);
void kw_idle_memory_free(struct kw_idle_memory *memory);

/** What a context keeps of a CPU. */
struct kw_cpu_kept {
	struct kw_pin cpustat, tick, waiters, kstat;
	uint64_t pass; /* in which the times were read */
	bool has_idle; /* idle and iowait as well, as measured */
	uint64_t times[KW_NR_CPU_TIMES];
};

/** What it keeps of all of them. */
struct kw_cpus_kept {
	struct kw_cpu_kstat_sums kstat;
	struct {
		uint64_t pass; /* in which it was read */
		uint64_t mask[KW_MAX_CPUS / 64];
	} online;
	struct kw_cpu_kept cpu[]; /* as many as the kernel has */
};

/** Get what is kept, NULL when nothing is yet. */
static inline const struct kw_cpus_kept *kw_cpus_kept(const kw_ctx *ctx)
{
	return ctx->kept ? ctx->kept[KW_CONTEXT_CPUS].state : NULL;
}

/** As kw_cpu_is_online(), reading the mask. */
bool kw_cpu_is_online_now(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
			  unsigned int cpu);

/** Tell whether a CPU is online. The mask is read once a pass. */
static inline bool kw_cpu_is_online(kw_ctx *ctx, const struct kw_kernel *kernel,
				    const struct kw_cpu_layout *l, unsigned int cpu)
{
	const struct kw_cpus_kept *kept = kw_cpus_kept(ctx);

	if (cpu >= kernel->nr_cpus || !kept || kept->online.pass != kw_pass_number(ctx))
		return kw_cpu_is_online_now(ctx, kernel, l, cpu);
	return kept->online.mask[cpu / 64] >> (cpu % 64) & 1;
}

/** As kw_cpu_times(), reading them. */
kw_status kw_cpu_times_read(const struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
			    const uint64_t **ret_times);

/** The times as they may be shown: idle and iowait are no less than they were. */
const uint64_t *kw_idle_never_back(struct kw_idle_memory *memory, unsigned int cpu, const uint64_t *times);

/**
 * Get the times of a CPU as /proc/stat has them, in ns: idle and iowait include the period under way. Read once a pass.
 *
 * @param ret_times  set to KW_NR_CPU_TIMES values, good until the next call for the CPU; idle and iowait are measured
 *                   when the row wants one of them
 * @return KW_OK, or why not: a read's state, KW_NOTFOUND when this kernel has no such counters (without a message)
 */
static inline kw_status kw_cpu_times(const struct kw_row *row, const struct kw_cpu_layout *l,
				     unsigned int cpu, const uint64_t **ret_times)
{
	const struct kw_cpus_kept *kept = kw_cpus_kept(row->ctx);

	if (!kept || cpu >= row->kernel->nr_cpus || kept->cpu[cpu].pass != kw_pass_number(row->ctx) ||
	    !kept->cpu[cpu].has_idle)
		return kw_cpu_times_read(row, l, cpu, ret_times);
	*ret_times = kept->cpu[cpu].times;
	if (row->idle)
		*ret_times = kw_idle_never_back(row->idle, cpu, *ret_times);
	return KW_OK;
}

/** Read the run-queue counters of a CPU. Returns as kw_cpu_times(). */
kw_status kw_cpu_rq(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
		    unsigned int cpu, struct kw_rq_counters *ret);

/** Read what struct kernel_stat counts on a CPU. Returns as kw_cpu_times(). */
kw_status kw_cpu_kstat(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
		       unsigned int cpu, struct kw_cpu_kstat_sums *ret);

/** Read the same of all CPUs together, as kw_cpu_kstat_all(). */
kw_status kw_cpu_kstat_read(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
			    const struct kw_cpu_kstat_sums **ret);

/**
 * Get the same of all CPUs together, read once a pass. Returns as kw_cpu_times().
 *
 * @param ret  set to what is good until the next call
 */
static inline kw_status kw_cpu_kstat_all(kw_ctx *ctx, const struct kw_kernel *kernel,
					 const struct kw_cpu_layout *l, const struct kw_cpu_kstat_sums **ret)
{
	const struct kw_cpus_kept *kept = kw_cpus_kept(ctx);

	if (!kept || kept->kstat.pass != kw_pass_number(ctx))
		return kw_cpu_kstat_read(ctx, kernel, l, ret);
	*ret = &kept->kstat;
	return KW_OK;
}

/** Map such a state to the reason of an absent value. */
enum kw_absent kw_absent_of_counter(kw_status status);

#endif
