/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's clocks, from struct timekeeper.
 *
 *     monotonic = tkr_mono.base + (tkr_mono.xtime_nsec >> tkr_mono.shift)      as of the last update
 *     boottime  = monotonic + offs_boot
 *     realtime  = monotonic + offs_real
 *
 * The update is a timer tick old at most while a CPU is busy, longer while all are idle; for the live kernel the
 * system clock is asked instead.
 */
#include <time.h>

#include "kernel/kernel.h"
#include "memory/memory.h"
#include "type/btf.h"
#include "type/origin.h"
#include "type/types.h"
#include "util/error.h"

static uint64_t host_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Asked of the blob itself: a name that is not found would be compared with all others, for the message. */
static bool has_tk_data(kw_ctx *ctx)
{
	struct kw_types *types = kw_types_get(ctx);
	uint32_t id;

	return types && kw_btf_find(kw_types_kernel(types), "tk_data", KW_BTF_STRUCT, &id);
}

/*
 * Find the timekeeper: timekeeper_data[0].timekeeper since 6.17, tk_core.timekeeper of a struct tk_data since 6.13;
 * before, tk_core is an anonymous structure (so not in BTF) whose seqcount takes the first 8 bytes.
 */
static kw_status find_timekeeper(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret)
{
	const struct kw_globals *g = &kernel->globals;
	uint64_t base = g->timekeeper_data != KW_NO_ADDR ? g->timekeeper_data : g->tk_core;
	struct kw_member member;

	if (base == KW_NO_ADDR)
		return kw_fail(ctx, KW_NOTFOUND,
			       "no symbol tk_core or timekeeper_data: the time is not known");
	*ret = base + 8;
	if (!has_tk_data(ctx))
		return KW_OK;
	if (kw_type_offset(ctx, "tk_data", "timekeeper", &member))
		return ctx->status;
	*ret = base + member.bit_offset / 8;
	return KW_OK;
}

kw_status kw_clock_read(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_clock *ret)
{
	static const char *const paths[] = { "tkr_mono.base", "tkr_mono.xtime_nsec", "tkr_mono.shift",
					     "offs_boot", "offs_real" };
	const struct kw_type *timekeeper;
	struct kw_value v[5];
	struct kw_plan plan = { 0 };
	uint64_t addr = 0, mono;
	kw_status status;

	if (kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE) {
		*ret = (struct kw_clock){ host_clock(CLOCK_BOOTTIME), host_clock(CLOCK_REALTIME) };
		return KW_OK;
	}
	status = find_timekeeper(ctx, kernel, &addr);
	if (!status)
		status = kw_type_find(ctx, "struct timekeeper", &timekeeper);
	for (uint32_t i = 0; !status && i < 5; i++) {
		struct kw_path path;

		status = kw_path_compile(ctx, timekeeper, paths[i], &path);
		if (!status)
			status = kw_plan_add(ctx, &plan, &path, i);
	}
	if (!status)
		status = kw_plan_finish(ctx, &plan);
	if (!status)
		status = kw_plan_run(ctx, &plan, addr, v);
	if (!status && !v[0].u && !v[3].u && !v[4].u)
		status = kw_fail(ctx, KW_FORMAT, "the timekeeper is all zeros: the time is not known");
	if (!status) {
		mono = v[0].u + (v[1].u >> (v[2].u & 63));
		*ret = (struct kw_clock){ .boottime = mono + v[3].u, .realtime = mono + v[4].u };
	}
	kw_plan_deinit(&plan);
	return status;
}
