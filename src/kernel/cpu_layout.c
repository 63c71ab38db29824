/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the counters of a CPU lie. What is not as kwalk knows it has the size 0, so that none of it is read. */
#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "type/types.h"
#include "util/error.h"

#define TS_FLAG_IDLE_ACTIVE 4 /* tick_sched.flags since 6.9 */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

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

static bool fits(uint64_t offset, uint64_t size, uint64_t object)
{
	return offset <= object && size <= object - offset;
}

static void resolve_cpustat(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	static const char *const names[KW_NR_CPU_TIMES] = {
		"CPUTIME_USER", "CPUTIME_NICE",	   "CPUTIME_SYSTEM", "CPUTIME_IDLE",  "CPUTIME_IOWAIT",
		"CPUTIME_IRQ",	"CPUTIME_SOFTIRQ", "CPUTIME_STEAL",  "CPUTIME_GUEST", "CPUTIME_GUEST_NICE",
	};

	uint64_t cpustat = kw_offset_or_none(ctx, "kernel_cpustat", "cpustat");

	l->cpustat_size = size_of(ctx, "struct kernel_cpustat", KW_CPU_MAX_OBJECT);
	for (size_t i = 0; i < KW_NR_CPU_TIMES; i++) {
		int64_t index = kw_enumerator_or_none(ctx, "enum cpu_usage_stat", names[i]);

		l->time[i] = cpustat + 8 * (uint64_t)index;
		if (cpustat == KW_NO_ADDR || index < 0 || index > KW_CPU_MAX_OBJECT ||
		    !fits(l->time[i], 8, l->cpustat_size))
			l->cpustat_size = 0;
	}
	l->elapse = kw_offset_or_none(ctx, "kernel_cpustat", "idle_elapse");
	l->elapse_since = kw_offset_or_none(ctx, "kernel_cpustat", "idle_entrytime");
	l->elapse_steal = kw_offset_or_none(ctx, "kernel_cpustat", "idle_stealtime");
	l->elapse_seq = kw_offset_or_none(ctx, "kernel_cpustat", "idle_sleeptime_seq");
	if (l->elapse != KW_NO_ADDR &&
	    !(fits(l->elapse, 1, l->cpustat_size) && fits(l->elapse_since, 8, l->cpustat_size) &&
	      (l->elapse_steal == KW_NO_ADDR || fits(l->elapse_steal, 16, l->cpustat_size))))
		l->cpustat_size = 0;
	if (!fits(l->elapse_seq, 4, l->cpustat_size))
		l->elapse_seq = KW_NO_ADDR;
}

/* idle_active was a bit of its own until 6.9 made it one of tick_sched.flags. */
static void resolve_tick(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	struct kw_member member;

	l->tick_size = size_of(ctx, "struct tick_sched", KW_CPU_MAX_OBJECT);
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
	if (!fits(l->idle_sleeptime, 8, l->tick_size) || !fits(l->iowait_sleeptime, 8, l->tick_size) ||
	    !fits(l->idle_entrytime, 8, l->tick_size) || !fits(l->idle_active, 4, l->tick_size))
		l->tick_size = 0;
	if (!fits(l->sleeptime_seq, 4, l->tick_size))
		l->sleeptime_seq = KW_NO_ADDR;
}

static void resolve_kstat(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	struct kw_member member;

	l->kstat_size = size_of(ctx, "struct kernel_stat", KW_CPU_MAX_OBJECT);
	l->irqs_sum = kw_offset_or_none(ctx, "kernel_stat", "irqs_sum");
	l->softirqs = KW_NO_ADDR;
	if (kw_type_offset(ctx, "kernel_stat", "softirqs", &member) == KW_OK) {
		uint32_t count = kw_type_strip(ctx, member.type)->count;

		l->softirqs = member.bit_offset / 8;
		l->nr_softirqs = count < KW_MAX_SOFTIRQS ? count : KW_MAX_SOFTIRQS;
	}
	kw_clear_error(ctx);
	if (!fits(l->irqs_sum, 8, l->kstat_size) || !fits(l->softirqs, 4ULL * l->nr_softirqs, l->kstat_size))
		l->kstat_size = 0;
}

static void resolve_rq(kw_ctx *ctx, struct kw_cpu_layout *l)
{
	uint64_t end;

	l->nr_switches = kw_offset_or_none(ctx, "rq", "nr_switches");
	l->nr_running = kw_offset_or_none(ctx, "rq", "nr_running");
	l->nr_iowait = kw_offset_or_none(ctx, "rq", "nr_iowait");
	if (l->nr_switches == KW_NO_ADDR || l->nr_running == KW_NO_ADDR || l->nr_iowait == KW_NO_ADDR)
		return;
	l->rq_first = min_u64(l->nr_switches, min_u64(l->nr_running, l->nr_iowait));
	end = max_u64(l->nr_switches + 8, max_u64(l->nr_running + 4, l->nr_iowait + 4));
	l->rq_span = end - l->rq_first;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct kw_cpu_layout *l = layout;

	(void)kernel;
	resolve_symbols(ctx, l);
	resolve_cpustat(ctx, l);
	resolve_tick(ctx, l);
	resolve_kstat(ctx, l);
	resolve_rq(ctx, l);
	return KW_OK;
}

const struct kw_subject kw_cpu_subject = { sizeof(struct kw_cpu_layout), resolve };
