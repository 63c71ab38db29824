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

#include <kwalk/symbol.h>

#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/error.h"

#define MAX_TRIES	    3
#define TS_FLAG_IDLE_ACTIVE 4 /* tick_sched.flags since 6.9 */

struct kw_idle_memory {
	unsigned int nr_cpus;
	uint64_t last[][2]; /* idle, iowait */
};

struct kw_idle_memory *kw_idle_memory_new(unsigned int nr_cpus)
{
	struct kw_idle_memory *memory = calloc(1, sizeof(*memory) + nr_cpus * sizeof(memory->last[0]));

	if (memory)
		memory->nr_cpus = nr_cpus;
	return memory;
}

void kw_idle_memory_free(struct kw_idle_memory *memory)
{
	free(memory);
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

static void resolve_symbols(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	struct kw_symbol_query q[] = {
		{ "kernel_cpustat", KW_NO_ADDR },    { "tick_cpu_sched", KW_NO_ADDR },
		{ "runqueues", KW_NO_ADDR },	     { "kstat", KW_NO_ADDR },
		{ "__cpu_online_mask", KW_NO_ADDR }, { "tick_nohz_active", KW_NO_ADDR },
	};

	kw_symbol_addresses(ctx, q, sizeof(q) / sizeof(q[0]));
	l->kernel_cpustat = q[0].addr;
	l->tick_cpu_sched = q[1].addr;
	l->runqueues = q[2].addr;
	l->kstat = q[3].addr;
	l->online_mask = q[4].addr;
	l->nohz_active = q[5].addr;
}

static uint64_t size_of(kw_ctx *ctx, const char *name, uint64_t limit)
{
	const struct kw_type *type;
	kw_status status = kw_type_find(ctx, name, &type);

	kw_clear_error(ctx);
	return status || type->size > limit ? 0 : type->size;
}

#define MAX_OBJECT 1024 /* kernel_cpustat has 112 bytes, tick_sched 224, kernel_stat 48 */

static void resolve_cpustat(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	static const char *const names[KW_NR_CPU_TIMES] = {
		"CPUTIME_USER", "CPUTIME_NICE",	   "CPUTIME_SYSTEM", "CPUTIME_IDLE",  "CPUTIME_IOWAIT",
		"CPUTIME_IRQ",	"CPUTIME_SOFTIRQ", "CPUTIME_STEAL",  "CPUTIME_GUEST", "CPUTIME_GUEST_NICE",
	};

	l->cpustat_size = size_of(ctx, "struct kernel_cpustat", MAX_OBJECT);
	l->cpustat = kw_offset_or_none(ctx, "kernel_cpustat", "cpustat");
	for (size_t i = 0; i < KW_NR_CPU_TIMES; i++) {
		l->index[i] = kw_enumerator_or_none(ctx, "enum cpu_usage_stat", names[i]);
		if (l->cpustat == KW_NO_ADDR || l->index[i] < 0 || l->index[i] > MAX_OBJECT ||
		    l->cpustat + 8 * (uint64_t)l->index[i] + 8 > l->cpustat_size)
			l->cpustat_size = 0;
	}
	l->elapse = kw_offset_or_none(ctx, "kernel_cpustat", "idle_elapse");
	l->elapse_since = kw_offset_or_none(ctx, "kernel_cpustat", "idle_entrytime");
	l->elapse_steal = kw_offset_or_none(ctx, "kernel_cpustat", "idle_stealtime");
	l->elapse_seq = kw_offset_or_none(ctx, "kernel_cpustat", "idle_sleeptime_seq");
}

/* idle_active was a bit of its own until 6.9 made it one of tick_sched.flags. */
static void resolve_tick(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	struct kw_member member;

	l->tick_size = size_of(ctx, "struct tick_sched", MAX_OBJECT);
	l->idle_sleeptime = kw_offset_or_none(ctx, "tick_sched", "idle_sleeptime");
	l->iowait_sleeptime = kw_offset_or_none(ctx, "tick_sched", "iowait_sleeptime");
	l->idle_entrytime = kw_offset_or_none(ctx, "tick_sched", "idle_entrytime");
	l->sleeptime_seq = kw_offset_or_none(ctx, "tick_sched", "idle_sleeptime_seq");
	l->idle_active = KW_NO_ADDR;
	if (kw_type_offset(ctx, "tick_sched", "idle_active", &member) == KW_OK) {
		l->idle_active = member.bit_offset / 32 * 4;
		l->idle_active_mask = 1U << member.bit_offset % 32;
	} else if (kw_type_offset(ctx, "tick_sched", "flags", &member) == KW_OK) {
		l->idle_active = member.bit_offset / 8;
		l->idle_active_mask = TS_FLAG_IDLE_ACTIVE;
	}
	kw_clear_error(ctx);
}

static void resolve_kstat(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	struct kw_member member;

	l->kstat_size = size_of(ctx, "struct kernel_stat", MAX_OBJECT);
	l->irqs_sum = kw_offset_or_none(ctx, "kernel_stat", "irqs_sum");
	l->softirqs = KW_NO_ADDR;
	if (kw_type_offset(ctx, "kernel_stat", "softirqs", &member) == KW_OK) {
		uint32_t count = kw_type_strip(ctx, member.type)->count;

		l->softirqs = member.bit_offset / 8;
		l->nr_softirqs = count < KW_MAX_SOFTIRQS ? count : KW_MAX_SOFTIRQS;
	}
	kw_clear_error(ctx);
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct kw_cpu_layout *l = layout;

	(void)kernel;
	resolve_symbols(ctx, l);
	resolve_cpustat(ctx, l);
	resolve_tick(ctx, l);
	resolve_kstat(ctx, l);
	l->nr_switches = kw_offset_or_none(ctx, "rq", "nr_switches");
	l->nr_running = kw_offset_or_none(ctx, "rq", "nr_running");
	l->nr_iowait = kw_offset_or_none(ctx, "rq", "nr_iowait");
	return KW_OK;
}

const struct kw_subject kw_cpu_subject = { sizeof(struct kw_cpu_layout), resolve };

bool kw_cpu_is_online(kw_ctx *ctx, const struct kw_cpu_layout *l, unsigned int cpu)
{
	uint64_t word = 0;

	return l->online_mask != KW_NO_ADDR &&
	       kw_read_near_u64(ctx, l->online_mask + cpu / 64 * 8, &word) == KW_OK && word >> (cpu % 64) & 1;
}

uint64_t kw_cpu_now(struct kw_row *row)
{
	struct kw_clock clock;

	if (kw_clock_read(row->ctx, row->kernel, &clock) == KW_OK)
		return clock.monotonic;
	kw_clear_error(row->ctx);
	return 0;
}

/*
 * Copy an object with a sequence count, again while somebody writes to it. What is still changing after the last try
 * is taken as it is.
 */
static kw_status copy_stable(kw_ctx *ctx, bool is_live, uint64_t addr, void *buf, size_t size, uint64_t seq)
{
	kw_status status = KW_OK;

	for (int tries = 0; !status && tries < MAX_TRIES; tries++) {
		uint32_t before, after;

		status = kw_read_near(ctx, addr, buf, size);
		if (status || !is_live || seq == KW_NO_ADDR || seq + 4 > size)
			break;
		memcpy(&before, (char *)buf + seq, 4);
		kw_forget(ctx, addr, size);
		status = kw_read_near_u32(ctx, addr + seq, &after);
		if (before == after && !(before & 1))
			break;
	}
	return status;
}

static uint64_t u64_at(const uint8_t *object, size_t size, uint64_t offset)
{
	uint64_t value = 0;

	if (offset != KW_NO_ADDR && offset + 8 <= size)
		memcpy(&value, object + offset, 8);
	return value;
}

static bool has_waiters(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
			unsigned int cpu)
{
	uint64_t rq = kw_percpu(kernel, l->runqueues, cpu);
	uint32_t waiters = 0;

	return rq != KW_NO_ADDR && l->nr_iowait != KW_NO_ADDR &&
	       kw_read_near_u32(ctx, rq + l->nr_iowait, &waiters) == KW_OK && (int32_t)waiters > 0;
}

/* The part of a period under way; 0 when the clock is older than its beginning. */
static uint64_t elapsed(uint64_t now, uint64_t since)
{
	return now > since ? now - since : 0;
}

/* Kernels that measure idle time in kernel_cpustat itself (idle_elapse). Stolen time is taken off later. */
static void add_elapsed(struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu, uint64_t now,
			const uint8_t *cpustat, uint64_t *times)
{
	bool iowait = has_waiters(row->ctx, row->kernel, l, cpu);
	uint64_t since = u64_at(cpustat, l->cpustat_size, l->elapse_since);
	uint64_t steal = l->elapse_steal == KW_NO_ADDR
				 ? 0
				 : u64_at(cpustat, l->cpustat_size, l->elapse_steal + 8 * iowait);

	if (l->elapse < l->cpustat_size && cpustat[l->elapse])
		times[iowait ? KW_CPU_IOWAIT : KW_CPU_IDLE] += elapsed(elapsed(now, since), steal);
}

/*
 * Kernels that measure it in tick_cpu_sched. The kernel gives it in us: what is beyond is cut off. An offline CPU, and
 * one that ticks while idle, has what the ticks counted.
 */
static kw_status take_sleeptime(struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu,
				uint64_t now, uint64_t *times)
{
	uint64_t addr = kw_percpu(row->kernel, l->tick_cpu_sched, cpu), sleeptime[2];
	uint8_t active = 0, tick[MAX_OBJECT];
	uint32_t flags;
	kw_status status;

	if (addr == KW_NO_ADDR || !l->tick_size || l->idle_sleeptime == KW_NO_ADDR ||
	    l->idle_active == KW_NO_ADDR || l->idle_active + 4 > l->tick_size || l->nohz_active == KW_NO_ADDR)
		return KW_OK;
	status = kw_read_near(row->ctx, l->nohz_active, &active, 1);
	if (status || !active || !kw_cpu_is_online(row->ctx, l, cpu))
		return status;
	status = copy_stable(row->ctx, row->kernel->is_live, addr, tick, l->tick_size, l->sleeptime_seq);
	if (status)
		return status;
	sleeptime[0] = u64_at(tick, l->tick_size, l->idle_sleeptime);
	sleeptime[1] = u64_at(tick, l->tick_size, l->iowait_sleeptime);
	memcpy(&flags, tick + l->idle_active, 4);
	if (flags & l->idle_active_mask)
		sleeptime[has_waiters(row->ctx, row->kernel, l, cpu)] +=
			elapsed(now, u64_at(tick, l->tick_size, l->idle_entrytime));
	times[KW_CPU_IDLE] = sleeptime[0] / 1000 * 1000;
	times[KW_CPU_IOWAIT] = sleeptime[1] / 1000 * 1000;
	return KW_OK;
}

static void never_back(struct kw_idle_memory *memory, unsigned int cpu, uint64_t *times)
{
	if (!memory || cpu >= memory->nr_cpus)
		return;
	for (int i = 0; i < 2; i++) {
		uint64_t *time = &times[i ? KW_CPU_IOWAIT : KW_CPU_IDLE];

		if (*time < memory->last[cpu][i])
			*time = memory->last[cpu][i];
		memory->last[cpu][i] = *time;
	}
}

kw_status kw_cpu_times(struct kw_row *row, const struct kw_cpu_layout *l, unsigned int cpu, uint64_t now,
		       uint64_t *times)
{
	uint64_t addr = kw_percpu(row->kernel, l->kernel_cpustat, cpu);
	uint8_t cpustat[MAX_OBJECT];
	kw_status status;

	if (addr == KW_NO_ADDR || !l->cpustat_size)
		return KW_NOTFOUND;
	status = copy_stable(row->ctx, row->kernel->is_live, addr, cpustat, l->cpustat_size, l->elapse_seq);
	if (status)
		return status;
	for (size_t i = 0; i < KW_NR_CPU_TIMES; i++)
		times[i] = u64_at(cpustat, l->cpustat_size, l->cpustat + 8 * (uint64_t)l->index[i]);
	if (l->elapse != KW_NO_ADDR)
		add_elapsed(row, l, cpu, now, cpustat, times);
	else
		status = take_sleeptime(row, l, cpu, now, times);
	if (!status)
		never_back(row->idle, cpu, times);
	return status;
}

kw_status kw_cpu_rq(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
		    unsigned int cpu, struct kw_rq_counters *ret)
{
	uint64_t rq = kw_percpu(kernel, l->runqueues, cpu);
	kw_status status;

	if (rq == KW_NO_ADDR || l->nr_switches == KW_NO_ADDR || l->nr_running == KW_NO_ADDR ||
	    l->nr_iowait == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_near_u64(ctx, rq + l->nr_switches, &ret->nr_switches);
	if (!status)
		status = kw_read_near_u32(ctx, rq + l->nr_running, &ret->nr_running);
	if (!status)
		status = kw_read_near_u32(ctx, rq + l->nr_iowait, &ret->nr_iowait);
	return status;
}

kw_status kw_cpu_kstat(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_cpu_layout *l,
		       unsigned int cpu, uint64_t *ret_irqs, uint32_t *softirqs)
{
	uint64_t addr = kw_percpu(kernel, l->kstat, cpu);
	uint8_t kstat[MAX_OBJECT];
	kw_status status;

	if (addr == KW_NO_ADDR || !l->kstat_size || l->softirqs == KW_NO_ADDR || l->irqs_sum == KW_NO_ADDR ||
	    l->softirqs + 4ULL * l->nr_softirqs > l->kstat_size)
		return KW_NOTFOUND;
	status = kw_read_near(ctx, addr, kstat, l->kstat_size);
	if (status)
		return status;
	*ret_irqs = u64_at(kstat, l->kstat_size, l->irqs_sum);
	memcpy(softirqs, kstat + l->softirqs, 4ULL * l->nr_softirqs);
	return KW_OK;
}
