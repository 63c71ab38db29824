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
#include <string.h>
#include <time.h>

#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/bytes.h"
#include "util/error.h"

#define MAX_SPAN 1024 /* struct timekeeper has some 300 bytes */

static uint64_t host_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct clock_layout {
	uint64_t timekeeper; /* address */
	uint64_t base, nsec, shift, offs_boot, offs_real;
	uint64_t first, span; /* bytes of it that hold these, 8 for each */
	char missing[32];     /* a member that this kernel lacks, "" when there is none */
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
	uint64_t end = 0;
	const struct {
		const char *path;
		uint64_t *offset;
	} wanted[] = {
		{ "tkr_mono.base", &l->base },	 { "tkr_mono.xtime_nsec", &l->nsec },
		{ "tkr_mono.shift", &l->shift }, { "offs_boot", &l->offs_boot },
		{ "offs_real", &l->offs_real },
	};

	l->timekeeper = find_timekeeper(ctx, kernel);
	l->first = KW_NO_ADDR;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t offset = kw_offset_or_none(ctx, "timekeeper", wanted[i].path);

		*wanted[i].offset = offset;
		if (offset > MAX_SPAN - 8) {
			snprintf(l->missing, sizeof(l->missing), "%s", wanted[i].path);
			continue;
		}
		l->first = offset < l->first ? offset : l->first;
		end = offset + 8 > end ? offset + 8 : end;
	}
	l->span = end - l->first;
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct clock_layout), resolve };

static kw_status read_timekeeper(kw_ctx *ctx, const struct clock_layout *l, struct kw_clock *ret)
{
	uint64_t base, nsec, offs_boot, offs_real, mono;
	uint8_t copy[MAX_SPAN];
	const uint8_t *at;
	uint32_t shift;
	kw_status status;

	do {
		at = kw_look(ctx, l->timekeeper + l->first, l->span, copy, &status);
		if (!at)
			return kw_fail(ctx, status, "the timekeeper can't be read: the time is not known");
		base = kw_load_u64(at + (l->base - l->first));
		nsec = kw_load_u64(at + (l->nsec - l->first));
		shift = (uint32_t)kw_load_u64(at + (l->shift - l->first));
		offs_boot = kw_load_u64(at + (l->offs_boot - l->first));
		offs_real = kw_load_u64(at + (l->offs_real - l->first));
	} while (kw_look_failed(ctx, at, copy));
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

static kw_status get_layout(kw_ctx *ctx, const struct kw_kernel *kernel, const struct clock_layout **ret)
{
	const struct clock_layout *l = kw_layout_get(ctx, kernel, &subject);

	if (!l)
		return ctx->status;
	if (l->timekeeper == KW_NO_ADDR)
		return kw_fail(ctx, KW_NOTFOUND,
			       "no symbol tk_core or timekeeper_data: the time is not known");
	if (*l->missing)
		return kw_fail(ctx, KW_NOTFOUND, "struct timekeeper has no %s: the time is not known",
			       l->missing);
	*ret = l;
	return KW_OK;
}

static bool is_host(const kw_ctx *ctx)
{
	return kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE;
}

kw_status kw_clock_read(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_clock *ret)
{
	const struct clock_layout *l;
	kw_status status;

	if (is_host(ctx)) {
		*ret = (struct kw_clock){
			.boottime = host_clock(CLOCK_BOOTTIME),
			.realtime = host_clock(CLOCK_REALTIME),
			.monotonic = host_clock(CLOCK_MONOTONIC),
		};
		return KW_OK;
	}
	status = get_layout(ctx, kernel, &l);
	return status ? status : read_timekeeper(ctx, l, ret);
}

/* A clock that is no register of the CPU, as the one of a virtual machine may be, takes a microsecond to read. */
kw_status kw_clock_monotonic(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret)
{
	uint64_t pass = kw_pass_number(ctx);
	struct kw_clock clock;
	kw_status status = KW_OK;

	if (pass && ctx->clock.pass == pass) {
		*ret = ctx->clock.monotonic;
		return KW_OK;
	}
	if (is_host(ctx))
		clock.monotonic = host_clock(CLOCK_MONOTONIC);
	else
		status = kw_clock_read(ctx, kernel, &clock);
	if (status)
		return status;
	ctx->clock.pass = pass;
	ctx->clock.monotonic = *ret = clock.monotonic;
	return KW_OK;
}

/* The live kernel's two clocks would be read at two moments. */
kw_status kw_clock_started(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret)
{
	const struct clock_layout *l;
	struct kw_clock clock;
	kw_status status = get_layout(ctx, kernel, &l);

	if (!status)
		status = read_timekeeper(ctx, l, &clock);
	if (status && is_host(ctx)) {
		kw_clear_error(ctx);
		status = kw_clock_read(ctx, kernel, &clock);
	}
	if (!status)
		*ret = clock.realtime - clock.boottime;
	return status;
}
