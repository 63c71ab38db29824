/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The virtual layout of the kernel: what is learnt of it while opening becomes segments, laid under those that the
 * source came with.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/reader.h"
#include "memory/source.h"
#include "util/array.h"
#include "util/error.h"

static bool list_segments(struct kw_memory *memory)
{
	memory->listed.nr = 0;
	for (size_t i = 0; i < memory->virt.nr; i++)
		if (!kw_array_push(&memory->listed, memory->virt.item[i]))
			return false;
	for (size_t i = 0; i < memory->phys.nr; i++)
		if (memory->phys.item[i].vaddr == KW_NO_ADDR &&
		    !kw_array_push(&memory->listed, memory->phys.item[i]))
			return false;
	return true;
}

static bool is_ram_mapped(const struct kw_memory *memory)
{
	for (size_t i = 0; i < memory->listed.nr; i++)
		if (memory->listed.item[i].map && memory->listed.item[i].kind != KW_SEG_TEXT)
			return true;
	return false;
}

kw_status kw_memory_list_segments(kw_ctx *ctx, struct kw_memory *memory)
{
	if (ctx->reader)
		kw_reader_reset(ctx->reader);
	if (!list_segments(memory))
		return kw_fail_nomem(ctx);
	memory->copied = memory->once || !is_ram_mapped(memory);
	return KW_OK;
}

const struct kw_segment *kw_segments(kw_ctx *ctx, size_t *ret_nr)
{
	const struct kw_memory *memory = ctx->target ? ctx->target->memory : NULL;

	const struct later_segments *later =
		memory ? __atomic_load_n(&memory->hotplug.later, __ATOMIC_ACQUIRE) : NULL;
	const struct segment_map *listed = later ? &later->listed : memory ? &memory->listed : NULL;

	*ret_nr = listed ? listed->nr : 0;
	return listed ? listed->item : NULL;
}

const struct kw_segment *kw_memory_physical(const struct kw_memory *memory, size_t *ret_nr)
{
	*ret_nr = memory->phys.nr;
	return memory->phys.item;
}

uint64_t kw_memory_scannable(const struct kw_memory *memory, const struct kw_segment *segment,
			     uint64_t *budget)
{
	uint64_t size = segment->size;

	if (segment->offset == KW_NO_ADDR)
		return 0;
	/* What is decoded is no larger than its bitmap or its chunks, which were read; /proc/kcore has no size. */
	if (memory->decoded.source || memory->file_size == UINT64_MAX)
		return size;
	if (*budget == KW_SCAN_BUDGET)
		*budget = memory->file_size > KW_SCAN_BUDGET / 2 ? KW_SCAN_BUDGET : 2 * memory->file_size;
	if (segment->offset >= memory->file_size)
		return 0;
	if (size > memory->file_size - segment->offset)
		size = memory->file_size - segment->offset;
	if (size > *budget)
		size = *budget;
	*budget -= size;
	return size;
}

/* Make virtual segments of the physical memory from paddr on: its first byte is at vaddr. */
static bool map_linearly(struct segment_map *map, const struct segment_map *phys, uint64_t paddr,
			 uint64_t vaddr, uint64_t size, enum kw_segment_kind kind)
{
	uint64_t end = size > UINT64_MAX - paddr ? UINT64_MAX : paddr + size;

	for (size_t i = 0; i < phys->nr; i++) {
		const struct kw_segment *segment = &phys->item[i];
		uint64_t from = segment->paddr > paddr ? segment->paddr : paddr;
		uint64_t to = segment->paddr + segment->size < end ? segment->paddr + segment->size : end;
		struct kw_segment part;

		if (from >= to || from - paddr > UINT64_MAX - vaddr)
			continue;
		part = segment_part(segment, from - segment->paddr, to - from);
		part.vaddr = vaddr + (from - paddr);
		part.kind = kind;
		if (!segments_add(map, VIRTUAL, &part))
			return false;
	}
	segments_finish(map, VIRTUAL);
	return true;
}

static kw_status add_linear(kw_ctx *ctx, uint64_t paddr, uint64_t vaddr, uint64_t size,
			    enum kw_segment_kind kind)
{
	struct kw_memory *memory = ctx->target->memory;
	struct segment_map map = { 0 };
	bool done = map_linearly(&map, &memory->phys, paddr, vaddr, size, kind) &&
		    segments_lay_under(&memory->virt, &map, VIRTUAL);

	segments_free(&map);
	/* The old maps may be gone either way. */
	kw_reader_reset(ctx->reader);
	return done ? kw_memory_list_segments(ctx, memory) : kw_fail_nomem(ctx);
}

kw_status kw_memory_set_kernel(kw_ctx *ctx, const struct kw_kernel_map *map)
{
	struct kw_memory *memory = ctx->target->memory;

	memory->kernel = *map;
	memory->kernel_known = map->pgd != 0;
	kw_reader_reset(ctx->reader);
	if (!map->image_size)
		return KW_OK;
	return add_linear(ctx, map->image_start - KERNEL_TEXT + map->phys_base, map->image_start,
			  map->image_size, KW_SEG_TEXT);
}

/* What the source had, but could not name: it is the direct map if it lies where that puts it. */
static void name_direct_map(struct segment_map *map, uint64_t base)
{
	for (size_t i = 0; i < map->nr; i++) {
		struct kw_segment *segment = &map->item[i];

		if (segment->kind == KW_SEG_OTHER && segment->paddr != KW_NO_ADDR &&
		    segment->vaddr - segment->paddr == base)
			segment->kind = KW_SEG_RAM;
	}
}

static void note_direct_map(struct segment_map *phys, uint64_t base)
{
	for (size_t i = 0; i < phys->nr; i++)
		if (phys->item[i].vaddr == KW_NO_ADDR)
			phys->item[i].vaddr = base + phys->item[i].paddr;
}

kw_status kw_memory_set_direct_map(kw_ctx *ctx, uint64_t base)
{
	struct kw_memory *memory = ctx->target->memory;

	if (base < KERNEL_HALF)
		return kw_fail(ctx, KW_FORMAT, "%s: 0x%llx can't be the address of the direct map",
			       memory->name, (unsigned long long)base);
	name_direct_map(&memory->virt, base);
	note_direct_map(&memory->phys, base);
	return add_linear(ctx, 0, base, UINT64_MAX, KW_SEG_RAM);
}
