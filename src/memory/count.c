/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a target has of physical memory, and what it has not. */
#include "memory/reader.h"
#include "util/error.h"

static void count(struct kw_memory_counts *counts, kw_status status, uint64_t size)
{
	if (status == KW_OK)
		counts->present += size;
	else if (status == KW_EXCLUDED)
		counts->excluded += size;
	else if (status == KW_FAILED)
		counts->failed += size;
}

/* Page by page: as it is read, or as the format's tables say. */
static void count_pages(kw_ctx *ctx, const struct kw_segment *part, bool read,
			struct kw_memory_counts *counts)
{
	const struct decoded *decoded = &ctx->target->memory->decoded;
	uint8_t page[PAGE_BYTES];

	for (uint64_t at = 0, size; at < part->size; at += size) {
		uint64_t paddr = part->paddr + at, offset = part->offset + at;

		size = PAGE_BYTES - paddr % PAGE_BYTES;
		if (size > part->size - at)
			size = part->size - at;
		count(counts,
		      read ? kw_scan_phys(ctx, paddr, page, size)
			   : decoded->state(decoded->source, offset / decoded->unit),
		      size);
	}
}

static void count_part(kw_ctx *ctx, const struct kw_segment *part, bool read, struct kw_memory_counts *counts)
{
	const struct kw_memory *memory = ctx->target->memory;
	uint64_t left;

	if (part->offset == KW_NO_ADDR) {
		count(counts, KW_EXCLUDED, part->size);
	} else if (read || (memory->decoded.source && memory->decoded.state)) {
		count_pages(ctx, part, read, counts);
	} else {
		left = memory->decoded.source		  ? part->size
		       : part->offset < memory->file_size ? memory->file_size - part->offset
							  : 0;
		left = left < part->size ? left : part->size;
		count(counts, KW_OK, left);
		count(counts, KW_FAILED, part->size - left);
	}
}

kw_status kw_count_memory(kw_ctx *ctx, uint64_t start, uint64_t end, bool read, struct kw_memory_counts *ret)
{
	struct kw_memory_counts counts = { 0 };
	const struct segment_map *map;

	if (!ctx->target)
		return kw_fail(ctx, KW_INVALID, "nothing is open: call kw_open() first");
	map = &ctx->target->memory->phys;
	kw_pass_begin(ctx);
	for (size_t i = 0; i < map->nr; i++) {
		const struct kw_segment *segment = &map->item[i];
		uint64_t from = segment->paddr < start ? start : segment->paddr;
		uint64_t to = segment->paddr + segment->size;
		struct kw_segment part;

		if (end < to)
			to = end;
		if (from >= to)
			continue;
		part = segment_part(segment, from - segment->paddr, to - from);
		count_part(ctx, &part, read, &counts);
	}
	kw_pass_end(ctx);
	*ret = counts;
	return KW_OK;
}

const char *kw_left_out(kw_ctx *ctx)
{
	return ctx->target ? ctx->target->memory->left_out : NULL;
}
