/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel/list.h"

#include "memory/memory.h"

/*
 * Cycles are found as Brent does: a mark stays behind and moves up to where the walk is each time the number of steps since
 * then has doubled, so a walk that goes round meets it within twice the length of the round.
 */
kw_status kw_list_each(kw_ctx *ctx, uint64_t head, uint64_t node, uint64_t limit, kw_list_fn fn, void *arg)
{
	uint64_t at, mark = head, steps = 0, lap = 1;
	kw_status status = kw_read_u64(ctx, head, &at);

	for (uint64_t nr = 0; !status && at != head; nr++) {
		if (nr == limit || at == mark || at < node || !at)
			return KW_FORMAT;
		if (++steps == lap) {
			mark = at;
			steps = 0;
			lap *= 2;
		}
		if (!fn(ctx, at - node, arg))
			return KW_OK;
		status = kw_read_u64(ctx, at, &at);
	}
	return status;
}
