/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding VMCOREINFO in physical memory.
 *
 * The text stands at the beginning of a page, a copy of it 24 bytes into another one, as an ELF note. Where these pages
 * are is up to the page allocator: seen between 16 and 32 MiB, right behind the image, and below the top. Looking at
 * every page costs 150 ms for each GiB. But the image holds a pointer to the page (vmcoreinfo_data, in .bss), and the
 * image is a few MiB: so every word of it that could point to a page is followed. The last thing in the image is .bss,
 * and what belongs to kernel/ is at the beginning of it: the search goes down from USUAL_DISTANCE below the end, and
 * sees the rest of .bss last.
 */
#include "symbol/search.h"

#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "symbol/vmcoreinfo.h"
#include "util/bytes.h"
#include "util/error.h"

#define PAGE_BYTES  4096
#define PIECE	    0x10000ULL
#define NOTE_HEADER 24 /* Elf64_Nhdr and "VMCOREINFO", padded */
/* A guess: the pointer is seen 5 to 6.8 MiB below the end of the image (5.10 to 7.3). */
#define USUAL_DISTANCE 0x480000ULL
/* What is followed in one image: a real one holds some hundred pointers to pages, a crafted one any number. */
#define MAX_POINTERS (1u << 16)
/* What is read and parsed in one search: a real memory holds two or three, with those of kernels before it. */
#define MAX_TEXTS 4096

struct search {
	kw_ctx *ctx;
	search_accept accept;
	void *arg;
	uint64_t found;
	uint64_t memory_end, direct_map;
	bool strict; /* follow only pointers next to a length */
	unsigned int followed, read;
};

/* Two words of memory, as halves. */
typedef uint32_t halves __attribute__((vector_size(16)));
typedef int32_t signs __attribute__((vector_size(16)));

/* Words that are looked at together: most memory of an image holds no pointer to a page. */
#define BLOCK 64

static bool is_mark(const uint8_t *p)
{
	return !memcmp(p, VMCOREINFO_MARK, 8);
}

static bool try_text(struct search *search, uint64_t paddr)
{
	char text[VMCOREINFO_PAGE];
	size_t len = sizeof(text);

	if (search->read++ >= MAX_TEXTS)
		return false;
	if (kw_read_phys(search->ctx, paddr, text, len) != KW_OK) {
		/* The last page of memory. */
		len = PAGE_BYTES - paddr % PAGE_BYTES;
		if (kw_read_phys(search->ctx, paddr, text, len) != KW_OK)
			return false;
	}
	len = vmcoreinfo_length(text, len);
	if (!vmcoreinfo_is_valid(text, len) || !search->accept(search->ctx, text, len, search->arg))
		return false;
	search->found = paddr;
	return true;
}

/* Look at the beginning of a page, of which NOTE_HEADER + 8 bytes are given. */
static bool try_page(struct search *search, uint64_t paddr, const uint8_t *page)
{
	return (is_mark(page) && try_text(search, paddr)) ||
	       (is_mark(page + NOTE_HEADER) && try_text(search, paddr + NOTE_HEADER));
}

static bool follow_pointer(struct search *search, uint64_t paddr)
{
	uint8_t head[NOTE_HEADER + 8];

	if (search->followed++ >= MAX_POINTERS)
		return false;
	return kw_scan_phys(search->ctx, paddr, head, sizeof(head)) == KW_OK && try_page(search, paddr, head);
}

/* Follow the pointer in a word, if it is one. */
static bool try_word(struct search *search, const uint8_t *word)
{
	uint64_t paddr = kw_load_u64(word) - search->direct_map;

	if (paddr >= search->memory_end || paddr % PAGE_BYTES || !paddr)
		return false;
	/* vmcoreinfo_size lies between vmcoreinfo_note and vmcoreinfo_data, from 5.10 to 7.3. */
	if (search->strict && kw_load_u64(word - 8) - 1 >= VMCOREINFO_PAGE)
		return false;
	return follow_pointer(search, paddr);
}

/*
 * True when some word of a block may lead into the direct map, by its upper half. Halves are compared as signed
 * numbers, which is what SSE2 can do: no lower half is less than the least of them.
 */
static bool may_point(const struct search *search, const uint8_t *block)
{
	uint32_t first = (uint32_t)(search->direct_map >> 32);
	uint32_t reach = (uint32_t)((search->direct_map + search->memory_end - 1) >> 32) - first;
	int32_t end = INT32_MIN + 1 + (int32_t)(reach < INT32_MAX ? reach : INT32_MAX);
	halves start = { 0, first + (uint32_t)INT32_MIN, 0, first + (uint32_t)INT32_MIN };
	signs ends = { INT32_MIN, end, INT32_MIN, end };
	signs found = { 0 };
	uint64_t words[2];

	for (size_t i = 0; i < BLOCK; i += sizeof(halves)) {
		halves two;

		memcpy(&two, block + i, sizeof(two));
		found |= (signs)(two - start) < ends;
	}
	memcpy(words, &found, sizeof(words));
	return words[0] | words[1];
}

/* Follow the pointers from the second word on: the first is looked at with the piece before. */
static bool follow_pointers(struct search *search, const uint8_t *words)
{
	for (size_t at = PIECE + 8; at > 8; at -= BLOCK) {
		const uint8_t *block = words + at - BLOCK;

		if (__builtin_expect(!may_point(search, block), 1))
			continue;
		for (size_t i = BLOCK; i; i -= 8)
			if (try_word(search, block + i - 8))
				return true;
	}
	return false;
}

static uint64_t memory_end(kw_ctx *ctx)
{
	size_t nr;
	const struct kw_segment *segments = kw_memory_physical(ctx->target->memory, &nr);

	return nr ? segments[nr - 1].paddr + segments[nr - 1].size : 0;
}

/* Search the image from `from` down to `to`, which count from its beginning. */
static bool search_part(struct search *search, uint64_t image, uint64_t from, uint64_t to, uint8_t *piece)
{
	/* Pieces overlap by a word. */
	for (uint64_t left = from; left > to; left -= PIECE) {
		uint64_t paddr = image + left - PIECE - 8;

		if (kw_scan_around(search->ctx, paddr, piece, PIECE + 8) < PIECE + 8 &&
		    follow_pointers(search, piece))
			return true;
	}
	return false;
}

static bool search_image(struct search *search, const struct kernel_image *image, uint8_t *piece)
{
	uint64_t usual = image->size > USUAL_DISTANCE ? image->size - USUAL_DISTANCE : image->size;

	return search_part(search, image->paddr, usual, PIECE, piece) ||
	       search_part(search, image->paddr, image->size, usual, piece);
}

kw_status search_by_pointer(kw_ctx *ctx, const struct kernel_image *image, uint64_t direct_map,
			    search_accept accept, void *arg, uint64_t *ret_paddr)
{
	struct search search = { .ctx = ctx, .accept = accept, .arg = arg, .strict = true };
	uint8_t *piece = malloc(PIECE + 8);
	bool found;

	if (!piece)
		return kw_fail_nomem(ctx);
	search.direct_map = direct_map;
	search.memory_end = memory_end(ctx);
	kw_pass_begin(ctx);
	found = search_image(&search, image, piece);
	if (!found) {
		search.strict = false;
		found = search_image(&search, image, piece);
	}
	kw_pass_end(ctx);
	free(piece);
	if (!found)
		return KW_NOTFOUND;
	*ret_paddr = search.found;
	return KW_OK;
}

static bool search_pages(struct search *search, uint64_t paddr, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at + NOTE_HEADER + 8 <= len; at += PAGE_BYTES)
		if (try_page(search, paddr + at, bytes + at))
			return true;
	return false;
}

/* Where a piece can't be had, part of it may be: a dump leaves pages out. */
static bool search_pages_apart(struct search *search, uint64_t paddr, uint8_t *piece, size_t len)
{
	for (size_t at = 0; at < len; at += PAGE_BYTES) {
		size_t part = len - at < PAGE_BYTES ? len - at : PAGE_BYTES;

		if (kw_scan_phys(search->ctx, paddr + at, piece, part) == KW_OK &&
		    search_pages(search, paddr + at, piece, part))
			return true;
	}
	return false;
}

/* Segments begin anywhere; pages don't. */
static bool search_segment(struct search *search, uint64_t start, uint64_t size, uint8_t *piece)
{
	uint64_t skip = -start % PAGE_BYTES;

	for (uint64_t at = skip; at < size; at += PIECE) {
		uint64_t paddr = start + at;
		uint64_t len = size - at < PIECE ? size - at : PIECE;

		if (kw_scan_phys(search->ctx, paddr, piece, len) != KW_OK) {
			if (search_pages_apart(search, paddr, piece, len))
				return true;
		} else if (search_pages(search, paddr, piece, len)) {
			return true;
		}
	}
	return false;
}

kw_status search_everywhere(kw_ctx *ctx, search_accept accept, void *arg, uint64_t *ret_paddr)
{
	struct search search = { .ctx = ctx, .accept = accept, .arg = arg };
	uint8_t *piece = malloc(PIECE);
	size_t nr;
	const struct kw_segment *segments = kw_memory_physical(ctx->target->memory, &nr);
	uint64_t budget = KW_SCAN_BUDGET;
	bool found = false;

	if (!piece)
		return kw_fail_nomem(ctx);
	kw_pass_begin(ctx);
	for (size_t i = 0; i < nr && !found; i++)
		found = search_segment(&search, segments[i].paddr,
				       kw_memory_scannable(ctx->target->memory, &segments[i], &budget),
				       piece);
	kw_pass_end(ctx);
	free(piece);
	if (!found)
		return KW_NOTFOUND;
	*ret_paddr = search.found;
	return KW_OK;
}
