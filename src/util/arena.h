/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that is given back all at once. Nothing that was allocated moves.
 */
#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include <stddef.h>

struct kw_arena_block;

/** A zeroed arena is an empty one. */
struct kw_arena {
	struct kw_arena_block *last; /* the one that is filled; each leads to the one before it */
	size_t bytes;		     /* handed out since the last reset */
};

/** Allocate zeroed memory, aligned for any type; NULL when memory runs out. */
void *kw_arena_alloc(struct kw_arena *arena, size_t size);

/** Copy bytes, with a NUL behind them; NULL when memory runs out. */
char *kw_arena_copy(struct kw_arena *arena, const char *bytes, size_t len);

/** Forget all that was allocated, and keep a block for what comes. */
void kw_arena_reset(struct kw_arena *arena);

/** Give everything back. */
void kw_arena_free(struct kw_arena *arena);

#endif
