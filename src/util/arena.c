/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory in blocks: small requests share one, a large one has its own. */
#include "util/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 8192
#define ALIGNMENT  16

struct kw_arena_block {
	struct kw_arena_block *before;
	size_t used, size;
	max_align_t bytes[];
};

static struct kw_arena_block *add_block(struct kw_arena *arena, size_t size)
{
	struct kw_arena_block *block;

	if (size < BLOCK_SIZE)
		size = BLOCK_SIZE;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->before = arena->last;
	block->used = 0;
	block->size = size;
	arena->last = block;
	return block;
}

void *kw_arena_alloc(struct kw_arena *arena, size_t size)
{
	struct kw_arena_block *block = arena->last;
	size_t whole = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	void *memory;

	if (size > SIZE_MAX / 2)
		return NULL;
	if (!block || block->size - block->used < whole)
		block = add_block(arena, whole);
	if (!block)
		return NULL;
	memory = (char *)block->bytes + block->used;
	block->used += whole;
	arena->bytes += whole;
	return memset(memory, 0, size);
}

char *kw_arena_copy(struct kw_arena *arena, const char *bytes, size_t len)
{
	char *copy = kw_arena_alloc(arena, len + 1);

	if (copy && len)
		memcpy(copy, bytes, len);
	return copy;
}

void kw_arena_reset(struct kw_arena *arena)
{
	struct kw_arena_block *kept = arena->last;

	if (!kept)
		return;
	while (kept->before) {
		struct kw_arena_block *before = kept->before;

		kept->before = before->before;
		free(before);
	}
	kept->used = 0;
	arena->bytes = 0;
}

void kw_arena_free(struct kw_arena *arena)
{
	kw_arena_reset(arena);
	free(arena->last);
	*arena = (struct kw_arena){ 0 };
}
