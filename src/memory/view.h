/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kw_view() for inner loops: what is nearly always so, in line. Whoever walks a hundred thousand tasks has no time to call
 * a function for each pointer.
 */
#ifndef MEMORY_VIEW_H
#define MEMORY_VIEW_H

#include "memory/reader.h"

/** As kw_view() where the range lies in the segment of one of the last two and no page has ever failed; else NULL. */
static inline const void *kw_view_at_hand(kw_ctx *ctx, uint64_t addr, size_t len)
{
	const struct kw_memory *memory = ctx->reader->memory;
	const struct kw_segment *segment = ctx->reader->virt_hit;
	uint64_t skip = addr - segment->vaddr;

	if (__builtin_expect(skip >= segment->size, 0)) {
		segment = ctx->reader->virt_before;
		skip = addr - segment->vaddr;
	}
	if (__builtin_expect(skip < segment->size && len <= segment->size - skip && segment->map &&
				     !guard_faults(&memory->guard) &&
				     populate_done(&memory->populate, segment->offset + skip, len),
			     1))
		return segment->map + skip;
	return NULL;
}

/** As kw_view(), which is asked unless the range lies in the segment of the last one, and no page has ever failed. */
static inline const void *kw_view_near(kw_ctx *ctx, uint64_t addr, size_t len)
{
	const void *found = kw_view_at_hand(ctx, addr, len);

	return __builtin_expect(found != NULL, 1) ? found : kw_view(ctx, addr, len);
}

/** Whether kw_fetch() copies what it could view: objects are looked at once. */
static inline bool kw_views_are_copies(const kw_ctx *ctx)
{
	return ctx->reader->memory->once;
}

/** As kw_fault_count(). */
static inline uint64_t kw_faults_now(const kw_ctx *ctx)
{
	return guard_faults(&ctx->reader->memory->guard);
}

#endif
