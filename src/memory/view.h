/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kw_view() for inner loops: what is nearly always so, in line. Whoever walks a hundred thousand tasks has no time to call
 * a function for each pointer.
 */
#ifndef MEMORY_VIEW_H
#define MEMORY_VIEW_H

#include <string.h>

#include <kwalk/memory.h>

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

/**
 * As kw_view(), but only of a range that lies in a segment, where no page has ever failed: it stays where it is as long as
 * the context, and until a page fails. NULL else.
 */
static inline const void *kw_view_lasting(kw_ctx *ctx, uint64_t addr, size_t len)
{
	const void *found = kw_view_at_hand(ctx, addr, len);

	/* The first look finds the segment, so that the second sees it at hand: what was translated is not. */
	return found || !kw_view(ctx, addr, len) ? found : kw_view_at_hand(ctx, addr, len);
}

/** As kw_fault_count(). */
static inline uint64_t kw_faults_now(const kw_ctx *ctx)
{
	return guard_faults(&ctx->reader->memory->guard);
}

/**
 * A mapped segment, for loops that look at many objects of one size: what is the same for all of them is found once.
 * Good until something else is read; what it shows of a page that fails is zeros, as everywhere, and counted.
 */
struct kw_window {
	uint64_t start;	      /* address of the segment */
	uint64_t size;	      /* of it; 0: nothing is shown */
	uint64_t nr;	      /* addresses from start on at which an object lies in it wholly */
	const uint8_t *map;   /* where it is mapped */
	const uint8_t *asked; /* chunks of its file, when they are asked for, else NULL: see populate_done() */
	uint64_t offset;      /* of the segment in its file */
	size_t len;	      /* of an object */
};

/** Open a window at the segment of the first object to come. */
static inline struct kw_window kw_window_open(kw_ctx *ctx, uint64_t addr, size_t len)
{
	const struct kw_segment *segment;
	struct kw_window window = { .len = len };

	if (!kw_view_near(ctx, addr, len) || kw_faults_now(ctx))
		return window;
	segment = ctx->reader->virt_hit;
	if (addr - segment->vaddr >= segment->size)
		segment = ctx->reader->virt_before;
	if (addr - segment->vaddr >= segment->size || !segment->map || len > segment->size)
		return window;
	window.start = segment->vaddr;
	window.size = segment->size;
	window.nr = segment->size - len + 1;
	window.map = segment->map;
	window.asked = ctx->reader->memory->populate.asked;
	window.offset = segment->offset;
	return window;
}

/** Go on with objects of another size. */
static inline void kw_window_resize(struct kw_window *window, size_t len)
{
	window->len = len;
	window->nr = len <= window->size ? window->size - len + 1 : 0;
}

/** As kw_view_near() of an object, at best without a call. */
static inline const void *kw_window_view(kw_ctx *ctx, const struct kw_window *window, uint64_t addr)
{
	uint64_t skip = addr - window->start;

	if (__builtin_expect(skip < window->nr &&
				     (!window->asked || populate_done(&ctx->reader->memory->populate,
								      window->offset + skip, window->len)),
			     1))
		return window->map + skip;
	return kw_view(ctx, addr, window->len);
}

/** Whether kw_fetch() copies what it could view: objects are looked at once. */
static inline bool kw_views_are_copies(const kw_ctx *ctx)
{
	return ctx->reader->memory->once;
}

/** As kw_read(), in line where kw_view_at_hand() is: for a few bytes. */
static inline kw_status kw_read_near(kw_ctx *ctx, uint64_t addr, void *buf, size_t len)
{
	const void *found = ctx->reader->depth ? kw_view_at_hand(ctx, addr, len) : NULL;

	if (__builtin_expect(found != NULL, 1)) {
		memcpy(buf, found, len);
		/* Of a page that fails now these are zeros: the handler counts before it puts them in place. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__builtin_expect(!kw_faults_now(ctx), 1))
			return KW_OK;
	}
	return kw_read(ctx, addr, buf, len);
}

/**
 * Look at an object to take values out of it: in place where kw_view_at_hand() is, else in a copy.
 *
 * @param scratch  room for the copy, len bytes
 * @return NULL with *ret_status set to the state of the memory; what was taken counts once kw_look_failed() is false
 */
static inline const uint8_t *kw_look(kw_ctx *ctx, uint64_t addr, size_t len, void *scratch,
				     kw_status *ret_status)
{
	const void *found = ctx->reader->depth ? kw_view_at_hand(ctx, addr, len) : NULL;
	kw_status status;

	if (__builtin_expect(found != NULL, 1))
		return found;
	status = kw_read(ctx, addr, scratch, len);
	if (!status)
		return scratch;
	*ret_status = status;
	return NULL;
}

/** Tell whether a page has failed while values were taken: look again, which copies from now on. */
static inline bool kw_look_failed(const kw_ctx *ctx, const void *found, const void *scratch)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return found != scratch && kw_faults_now(ctx);
}

/**
 * Where an object that is looked at in every pass is mapped; zeroed: not yet looked for. An address in one of the
 * segments stays where it is as long as the context, unless pages fail: then all is copied.
 */
struct kw_pin {
	const uint8_t *at;
};

/** Look for it. As kw_look(). */
const uint8_t *kw_pin(kw_ctx *ctx, struct kw_pin *pin, uint64_t addr, size_t len, void *scratch,
		      kw_status *ret_status);

/** As kw_look() of an object that has a pin of its own. Only in a pass. */
static inline const uint8_t *kw_look_pinned(kw_ctx *ctx, struct kw_pin *pin, uint64_t addr, size_t len,
					    void *scratch, kw_status *ret_status)
{
	if (__builtin_expect(pin->at && !kw_faults_now(ctx), 1))
		return pin->at;
	return kw_pin(ctx, pin, addr, len, scratch, ret_status);
}

/** After a sequence of looks: whether a page has failed since kw_faults_now() was this, and all is to be done again. */
static inline bool kw_faults_since(const kw_ctx *ctx, uint64_t before)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __builtin_expect(kw_faults_now(ctx) != before, 0);
}

/** Number of the pass that is under way, 0 when there is none: what belongs to another one is out of date. */
static inline uint64_t kw_pass_number(const kw_ctx *ctx)
{
	return ctx->reader->depth ? ctx->reader->epoch : 0;
}

static inline kw_status kw_read_near_u64(kw_ctx *ctx, uint64_t addr, uint64_t *ret)
{
	return kw_read_near(ctx, addr, ret, sizeof(*ret));
}

static inline kw_status kw_read_near_u32(kw_ctx *ctx, uint64_t addr, uint32_t *ret)
{
	return kw_read_near(ctx, addr, ret, sizeof(*ret));
}

#endif
