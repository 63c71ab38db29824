/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the page tables say the kernel lies.
 *
 * The image is mapped from 0xffffffff80000000 + KASLR offset on by pages of 2 MiB, some of them split into small
 * ones where rights change in the middle; one middle table (1 GiB) holds all of it. It is one piece of physical
 * memory. The direct map is the lowest thing in the kernel half (0xffff888000000000 up, with five levels
 * 0xff11000000000000 up, plus a multiple of 1 GiB by KASLR) and maps physical address 0 on.
 *
 *   top table         256        273..         ...        511
 *                     |          |                        |
 *                     guard      direct map               [511 again with five levels] -> 510 -> image
 *
 * To start its other processors (and to resume) the kernel puts a top table with the same kernel half into the first
 * MiB of memory, where nothing moves: it is found in 160 pages, without any symbol. This holds from 5.10 to 7.3, with
 * one processor as well. The entry 0 there maps low memory one to one, the others of the lower half are empty.
 */
#include "symbol/image.h"

#include <string.h>

#include "memory/memory.h"
#include "symbol/set.h"

#define ENTRIES	     512
#define PRESENT	     0x001ULL
#define BIG	     0x080ULL
#define NO_EXEC	     (1ULL << 63)
#define ADDR_MASK    0x000ffffffffff000ULL
#define PAGE_4K	     0x1000ULL
#define PAGE_2M	     0x200000ULL
#define PAGE_1G	     0x40000000ULL
#define LOW_END	     0xa0000ULL /* from here to 1 MiB there are devices */
#define KERNEL_ENTRY 256
/* No kernel is smaller than this many pages of 2 MiB. */
#define MIN_IMAGE_PAGES 3

/* Tables read in one search: the direct map of a kernel without big pages needs 500; crafted ones could go on for ever. */
#define MAX_TABLES 2048

typedef uint64_t table[ENTRIES];

/* One search through a page table. */
struct scan {
	kw_ctx *ctx;
	uint64_t mask; /* of an address in an entry */
	unsigned int levels;
	unsigned int read; /* tables so far */
};

static struct scan scan_of(kw_ctx *ctx, const struct table_root *root)
{
	return (struct scan){ .ctx = ctx, .mask = ADDR_MASK & ~root->sme_mask, .levels = root->levels };
}

static bool read_table(kw_ctx *ctx, uint64_t paddr, table entries)
{
	return kw_scan_phys(ctx, paddr, entries, sizeof(table)) == KW_OK;
}

/* The next table below an entry; false when it is none, or not readable. */
static bool follow(struct scan *scan, uint64_t entry, table entries)
{
	return entry & PRESENT && !(entry & BIG) && scan->read++ < MAX_TABLES &&
	       read_table(scan->ctx, entry & scan->mask, entries);
}

enum piece { EMPTY, LINEAR, ODD };

/* Tell what small pages map: LINEAR with the physical address of the whole, when all agree. */
static enum piece small_pages(struct scan *scan, uint64_t entry, uint64_t *ret)
{
	enum piece piece = EMPTY;
	table pages;

	if (!follow(scan, entry, pages))
		return ODD;
	for (uint64_t i = 0; i < ENTRIES; i++) {
		uint64_t start = (pages[i] & scan->mask) - i * PAGE_4K;

		if (!(pages[i] & PRESENT))
			continue;
		if (start % PAGE_2M || (piece == LINEAR && start != *ret))
			return ODD;
		piece = LINEAR;
		*ret = start;
	}
	return piece;
}

static enum piece middle_entry(struct scan *scan, uint64_t entry, uint64_t *ret)
{
	if (!(entry & PRESENT))
		return EMPTY;
	if (!(entry & BIG))
		return small_pages(scan, entry, ret);
	*ret = entry & scan->mask & ~(PAGE_2M - 1);
	return LINEAR;
}

/* Find the linear piece in the middle table of the image. What init code has left may be missing in the midst of it. */
static kw_status scan_image(struct scan *scan, const table middle, struct kernel_image *ret)
{
	struct kernel_image image = { 0 };
	uint64_t paddr = 0;

	for (uint64_t i = 0; i < ENTRIES; i++) {
		enum piece piece = middle_entry(scan, middle[i], &paddr);
		uint64_t vaddr = KERNEL_MAP + i * PAGE_2M;

		if (piece == EMPTY)
			continue;
		if (piece == ODD || (image.size && paddr - image.paddr != vaddr - image.vaddr))
			break;
		if (!image.size) {
			image.vaddr = vaddr;
			image.paddr = paddr;
		}
		image.size = vaddr - image.vaddr + PAGE_2M;
		/* Where text and data share a big page it is split, and its entry says nothing of rights. */
		if (!image.data && middle[i] & NO_EXEC)
			image.data = vaddr;
	}
	if (!image.data)
		image.data = image.vaddr;
	if (image.size < MIN_IMAGE_PAGES * PAGE_2M)
		return KW_NOTFOUND;
	*ret = image;
	return KW_OK;
}

static kw_status find_below(struct scan *scan, const table top, struct kernel_image *ret)
{
	table entries;

	if (!follow(scan, top[511], entries))
		return KW_FAILED;
	if (scan->levels == 5 && !follow(scan, entries[511], entries))
		return KW_FAILED;
	if (!follow(scan, entries[510], entries))
		return KW_FAILED;
	return scan_image(scan, entries, ret);
}

kw_status image_find(kw_ctx *ctx, const struct table_root *root, struct kernel_image *ret)
{
	struct scan scan = scan_of(ctx, root);
	table top;

	return read_table(ctx, root->pgd, top) ? find_below(&scan, top, ret) : KW_FAILED;
}

static bool looks_like_trampoline(const table top)
{
	if (!(top[0] & PRESENT) || top[0] & BIG || !(top[511] & PRESENT) || top[511] & BIG)
		return false;
	for (size_t i = 1; i < KERNEL_ENTRY; i++)
		if (top[i])
			return false;
	return true;
}

kw_status image_find_trampoline(kw_ctx *ctx, struct table_root *ret_root, struct kernel_image *ret_image)
{
	table top;

	/* The kernel takes the highest free pages. */
	for (uint64_t paddr = LOW_END; paddr >= PAGE_4K;) {
		paddr -= PAGE_4K;
		if (!read_table(ctx, paddr, top) || !looks_like_trampoline(top))
			continue;
		for (unsigned int levels = 4; levels <= 5; levels++) {
			struct table_root root = { .pgd = paddr, .levels = levels };
			struct scan scan = scan_of(ctx, &root);

			if (find_below(&scan, top, ret_image) != KW_OK)
				continue;
			*ret_root = root;
			return KW_OK;
		}
	}
	return KW_NOTFOUND;
}

/* True when an upper-table entry (1 GiB) maps memory from physical address 0 on. */
static bool maps_zero(struct scan *scan, uint64_t entry)
{
	table middle;
	uint64_t paddr = 0;
	size_t agree = 0;

	if (entry & PRESENT && entry & BIG)
		return !(entry & scan->mask & ~(PAGE_1G - 1));
	if (!follow(scan, entry, middle))
		return false;
	for (uint64_t i = 0; i < ENTRIES; i++) {
		enum piece piece = middle_entry(scan, middle[i], &paddr);

		if (piece == LINEAR && paddr != i * PAGE_2M)
			return false;
		agree += piece == LINEAR;
	}
	/* A guest of 16 MiB is the smallest one thought of. */
	return agree >= 8;
}

static bool scan_upper(struct scan *scan, const table upper, uint64_t start, uint64_t *ret)
{
	for (uint64_t i = 0; i < ENTRIES; i++) {
		if (!(upper[i] & PRESENT))
			continue;
		if (maps_zero(scan, upper[i])) {
			*ret = start + i * PAGE_1G;
			return true;
		}
	}
	return false;
}

/* With five levels there is one more table between. */
static bool scan_top_entry(struct scan *scan, uint64_t entry, uint64_t start, uint64_t *ret)
{
	table entries, upper;

	if (!follow(scan, entry, entries))
		return false;
	if (scan->levels == 4)
		return scan_upper(scan, entries, start, ret);
	for (uint64_t i = 0; i < ENTRIES; i++)
		if (follow(scan, entries[i], upper) && scan_upper(scan, upper, start + (i << 39), ret))
			return true;
	return false;
}

kw_status image_find_direct_map(kw_ctx *ctx, const struct table_root *root, uint64_t *ret_base)
{
	unsigned int shift = root->levels == 5 ? 48 : 39;
	uint64_t sign = root->levels == 5 ? 0xfe00000000000000ULL : 0xffff000000000000ULL;
	struct scan scan = scan_of(ctx, root);
	table top;

	if (!read_table(ctx, root->pgd, top))
		return KW_FAILED;
	for (uint64_t i = KERNEL_ENTRY; i < ENTRIES - 1; i++)
		if (scan_top_entry(&scan, top[i], sign | i << shift, ret_base))
			return KW_OK;
	return KW_NOTFOUND;
}
