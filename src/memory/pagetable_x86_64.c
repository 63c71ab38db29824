/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * x86-64 page tables.
 *
 * A table is a page of 512 entries of 8 bytes; each level takes 9 bits of the address, the lowest 12 are the offset
 * in the page:
 *
 *   level   5         4         3         2         1
 *   bits    56..48    47..39    38..30    29..21    20..12      (level 5 only with five levels)
 *
 * Bit 0 of an entry says present, bits 51..12 are the physical address of the next table or of the page. Bit 7 at
 * level 3 and 2 makes the entry a page of 1 GiB and 2 MiB. Linux also has pages that it keeps from the processor
 * (PROT_NONE, NUMA balancing): not present, but bit 8 is set, at level 2 also when bit 7 is. Their address is stored
 * with all its bits inverted, against speculation. Everything else that is not present is a swap entry or nothing.
 */
#include "memory/reader.h"

#include <string.h>

#define PRESENT	  0x001ULL
#define BIG	  0x080ULL
#define PROT_NONE 0x100ULL
#define ADDR_MASK 0x000ffffffffff000ULL

static unsigned int shift_of(unsigned int level)
{
	return 12 + 9 * (level - 1);
}

static bool is_canonical(uint64_t addr, unsigned int levels)
{
	unsigned int unused = 64 - (shift_of(levels) + 9);

	return (uint64_t)((int64_t)(addr << unused) >> unused) == addr;
}

static kw_status read_entry(kw_ctx *ctx, uint64_t table, uint64_t addr, unsigned int level, uint64_t *ret)
{
	uint64_t at = table + 8 * (addr >> shift_of(level) & 511);
	const void *mapped = kw_view_phys(ctx, at, sizeof(*ret));
	uint64_t faults;

	if (!mapped)
		return kw_read_phys(ctx, at, ret, sizeof(*ret));
	faults = kw_fault_count(ctx);
	memcpy(ret, mapped, sizeof(*ret));
	return kw_fault_count(ctx) == faults ? KW_OK : KW_FAILED;
}

/* True for an entry that is not present, but has a page all the same. */
static bool keeps_page(uint64_t entry, unsigned int level)
{
	switch (level) {
	case 1: return entry & PROT_NONE;
	case 2: return entry & (PROT_NONE | BIG);
	case 3: return entry & PROT_NONE && entry & BIG;
	default: return false;
	}
}

/* Tell whether an entry leads to memory, and put the address it holds right. */
static bool entry_target(uint64_t entry, unsigned int level, uint64_t sme_mask, uint64_t *ret)
{
	if (entry & PRESENT) {
		*ret = entry & ADDR_MASK & ~sme_mask;
		return true;
	}
	if (keeps_page(entry, level)) {
		*ret = ~entry & ADDR_MASK & ~sme_mask;
		return true;
	}
	return false;
}

static bool is_page(uint64_t entry, unsigned int level)
{
	return level == 1 || (level <= 3 && (entry & BIG || !(entry & PRESENT)));
}

kw_status kw_walk(kw_ctx *ctx, uint64_t pgd, uint64_t addr, uint64_t *ret_paddr, uint64_t *ret_size,
		  uint64_t *ret_entry)
{
	const struct kw_kernel_map *kernel = &ctx->reader->memory->kernel;
	unsigned int level = kernel->levels == 5 ? 5 : 4;
	uint64_t table = pgd & ADDR_MASK & ~kernel->sme_mask, entry = 0;

	ctx->counters.walks++;
	if (!is_canonical(addr, level))
		level = 0;
	for (; level; level--) {
		uint64_t size = 1ULL << shift_of(level);
		kw_status status = read_entry(ctx, table, addr, level, &entry);

		if (status != KW_OK)
			/* A table outside of memory is damage, not absence. */
			return status == KW_ABSENT ? KW_FAILED : status;
		if (!entry_target(entry, level, kernel->sme_mask, &table))
			break;
		if (!is_page(entry, level))
			continue;
		*ret_paddr = (table & ~(size - 1)) | (addr & (size - 1));
		*ret_size = size;
		return KW_OK;
	}
	if (ret_entry)
		*ret_entry = entry;
	return KW_ABSENT;
}

kw_status kw_walk_page_table(kw_ctx *ctx, uint64_t pgd, uint64_t addr, uint64_t *ret_paddr,
			     uint64_t *ret_entry)
{
	uint64_t size;
	kw_status status;

	kw_pass_begin(ctx);
	status = kw_walk(ctx, pgd, addr, ret_paddr, &size, ret_entry);
	kw_pass_end(ctx);
	return status;
}

static kw_status walk_kernel(kw_ctx *ctx, uint64_t addr, struct translation *translation)
{
	const struct kw_memory *memory = ctx->reader->memory;
	struct translation found = { .vaddr = addr & ~(PAGE_BYTES - 1) };
	kw_status status;

	if (!memory->kernel_known || addr < KERNEL_HALF)
		return KW_ABSENT;
	kw_pass_begin(ctx);
	status = kw_walk(ctx, memory->kernel.pgd, found.vaddr, &found.paddr, &found.page_size, NULL);
	kw_pass_end(ctx);
	if (status == KW_OK) {
		*translation = found;
		ctx->reader->has_translated = true;
	}
	return status;
}

kw_status kw_translate_page(kw_ctx *ctx, uint64_t addr, uint64_t *ret_paddr, uint64_t *ret_left)
{
	struct translation *translation = &ctx->reader->translations[addr / PAGE_BYTES % NR_TRANSLATIONS];
	kw_status status;

	if (translation->vaddr != (addr & ~(PAGE_BYTES - 1))) {
		status = walk_kernel(ctx, addr, translation);
		if (status != KW_OK)
			return status;
	}
	*ret_paddr = translation->paddr + addr % PAGE_BYTES;
	*ret_left = translation->page_size - (addr & (translation->page_size - 1));
	return KW_OK;
}
