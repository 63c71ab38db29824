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
#include "kernel/source.h"

#include <stdio.h>
#include <time.h>

#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/error.h"

static uint64_t host_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct clock_layout {
	uint64_t timekeeper; /* address */
	uint64_t base, nsec, shift, offs_boot, offs_real;
	char missing[32]; /* a member that this kernel lacks, "" when there is none */
};

/*
 * Find the timekeeper: timekeeper_data[0].timekeeper since 6.17, tk_core.timekeeper of a struct tk_data since 6.13;
 * before, tk_core is an anonymous structure (so not in BTF) whose seqcount takes the first 8 bytes.
 */
static uint64_t find_timekeeper(kw_ctx *ctx, const struct kw_kernel *kernel)
{
	const struct kw_globals *g = &kernel->globals;
	uint64_t base = g->timekeeper_data != KW_NO_ADDR ? g->timekeeper_data : g->tk_core;
	uint64_t offset =
		kw_type_exists(ctx, "struct tk_data") ? kw_offset_or_none(ctx, "tk_data", "timekeeper") : 8;

	return base == KW_NO_ADDR || offset == KW_NO_ADDR ? KW_NO_ADDR : base + offset;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct clock_layout *l = layout;
	const struct {
		const char *path;
		uint64_t *offset;
	} wanted[] = {
		{ "tkr_mono.base", &l->base },	 { "tkr_mono.xtime_nsec", &l->nsec },
		{ "tkr_mono.shift", &l->shift }, { "offs_boot", &l->offs_boot },
		{ "offs_real", &l->offs_real },
	};

	l->timekeeper = find_timekeeper(ctx, kernel);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		*wanted[i].offset = kw_offset_or_none(ctx, "timekeeper", wanted[i].path);
		if (*wanted[i].offset == KW_NO_ADDR)
			snprintf(l->missing, sizeof(l->missing), "%s", wanted[i].path);
	}
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct clock_layout), resolve };

static kw_status read_timekeeper(kw_ctx *ctx, const struct clock_layout *l, struct kw_clock *ret)
{
	uint64_t base, nsec, offs_boot, offs_real, mono, at = l->timekeeper;
	uint32_t shift;
	kw_status status = kw_read_near_u64(ctx, at + l->base, &base);

	if (!status)
		status = kw_read_near_u64(ctx, at + l->nsec, &nsec);
	if (!status)
		status = kw_read_near_u32(ctx, at + l->shift, &shift);
	if (!status)
		status = kw_read_near_u64(ctx, at + l->offs_boot, &offs_boot);
	if (!status)
		status = kw_read_near_u64(ctx, at + l->offs_real, &offs_real);
	if (status)
		return kw_fail(ctx, status, "the timekeeper can't be read: the time is not known");
	if (!base && !offs_boot && !offs_real)
		return kw_fail(ctx, KW_FORMAT, "the timekeeper is all zeros: the time is not known");
	mono = base + (nsec >> (shift & 63));
	*ret = (struct kw_clock){
		.boottime = mono + offs_boot,
		.realtime = mono + offs_real,
		.monotonic = mono,
	};
	return KW_OK;
}

kw_status kw_clock_read(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_clock *ret)
{
	const struct clock_layout *l;

	if (kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE) {
		*ret = (struct kw_clock){
			.boottime = host_clock(CLOCK_BOOTTIME),
			.realtime = host_clock(CLOCK_REALTIME),
			.monotonic = host_clock(CLOCK_MONOTONIC),
		};
		return KW_OK;
	}
	l = kw_layout_get(ctx, kernel, &subject);
	if (!l)
		return ctx->status;
	if (l->timekeeper == KW_NO_ADDR)
		return kw_fail(ctx, KW_NOTFOUND,
			       "no symbol tk_core or timekeeper_data: the time is not known");
	if (*l->missing)
		return kw_fail(ctx, KW_NOTFOUND, "struct timekeeper has no %s: the time is not known",
			       l->missing);
	return read_timekeeper(ctx, l, ret);
}
