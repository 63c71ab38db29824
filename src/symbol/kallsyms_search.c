/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kallsyms tables found by their shape, for kernels that do not say where they are.
 *
 *   until 6.3   offsets, relative_base, num_syms, names, markers, [seqs,] token_table, token_index
 *   since 6.4   num_syms, names, markers, token_table, token_index, offsets, relative_base, seqs
 *   since 7.0   the same without relative_base; labels aligned to 4 instead of 8
 *
 * The token table is met first: single characters that occur in symbols are tokens of their own, at their character's
 * number, so that it holds "a\0b\0c\0" to "z\0". A table of u16 that must be the offsets of its 256 strings follows.
 * From there back, markers are the next growing numbers that begin with 0; the names end where they begin, and the
 * number of symbols is a u32 followed by exactly as many names as end there, at the offsets that the markers tell.
 */
#include "symbol/kallsyms_search.h"

#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "symbol/kallsyms_markers.h"
#include "symbol/set.h"
#include "util/bytes.h"
#include "util/error.h"

#define TOKENS	      256
#define INDEX_BYTES   (2 * TOKENS)
#define CHUNK	      (1u << 16)
#define TABLE_MAX     8192	  /* bytes of a token table and its index; in practice 1500 */
#define NAMES_MAX     (16u << 20) /* bytes of names, markers and seqs; in practice 3 MiB */
#define MIN_MARKERS   8		  /* 2,000 symbols */
#define MAX_TRIES     8		  /* a crafted image could ask for many more */
#define LETTERS_BYTES (2 * 26)

/* A piece of the image. */
struct piece {
	const uint8_t *bytes;
	size_t len;
	uint64_t addr;
};

/* Skip nr strings; 0 when they do not end in the buffer. */
static size_t skip_strings(const uint8_t *bytes, size_t len, size_t at, size_t nr)
{
	while (nr--) {
		const uint8_t *end = at < len ? memchr(bytes + at, '\0', len - at) : NULL;

		if (!end)
			return 0;
		at = (size_t)(end - bytes) + 1;
	}
	return at;
}

static bool index_fits(const uint8_t *bytes, size_t table, size_t index)
{
	size_t at = table;

	for (size_t i = 0; i < TOKENS; i++) {
		if (kw_load_u16(bytes + index + 2 * i) != at - table)
			return false;
		at = skip_strings(bytes, index, at, 1);
		if (!at)
			return false;
	}
	return true;
}

/* Given where "a" lies, find table and index around it. */
static bool find_tables(const struct piece *piece, size_t letter_a, struct kallsyms_tables *ret)
{
	size_t left = piece->len - letter_a, limit = letter_a + (left < TABLE_MAX ? left : TABLE_MAX);
	size_t end = skip_strings(piece->bytes, limit, letter_a, TOKENS - 'a');

	for (size_t index = kallsyms_align(end, 2); end && index <= kallsyms_align(end, 8); index += 2) {
		size_t back;

		if (index + INDEX_BYTES > limit)
			return false;
		back = kw_load_u16(piece->bytes + index + 2 * 'a');
		if (back > letter_a || !index_fits(piece->bytes, letter_a - back, index))
			continue;
		ret->token_table = piece->addr + letter_a - back;
		ret->token_index = piece->addr + index;
		return true;
	}
	return false;
}

static void make_letters(uint8_t letters[LETTERS_BYTES])
{
	for (size_t i = 0; i < 26; i++) {
		letters[2 * i] = (uint8_t)('a' + i);
		letters[2 * i + 1] = '\0';
	}
}

bool kallsyms_search_tokens(const uint8_t *bytes, size_t len, uint64_t addr, struct kallsyms_tables *ret)
{
	struct piece piece = { bytes, len, addr };
	uint8_t letters[LETTERS_BYTES];
	const uint8_t *p = bytes, *end = p + len;

	make_letters(letters);
	while ((p = memmem(p, (size_t)(end - p), letters, sizeof(letters)))) {
		if (find_tables(&piece, (size_t)(p - bytes), ret))
			return true;
		p++;
	}
	return false;
}

/* The image is one piece of physical memory. */
static uint64_t image_paddr(kw_ctx *ctx, uint64_t addr)
{
	return addr - KERNEL_MAP + ctx->target->symbols->map.phys_base;
}

/* *missing: raised by the bytes of the image that could not be had. */
static bool search_pieces(kw_ctx *ctx, uint64_t start, uint64_t size, uint8_t *bytes, uint64_t *missing,
			  struct kallsyms_tables *ret)
{
	uint64_t paddr = image_paddr(ctx, start);

	/* Pieces overlap by the longest table. */
	for (uint64_t at = 0; at < size; at += CHUNK) {
		size_t len = size - at < CHUNK + TABLE_MAX ? size - at : CHUNK + TABLE_MAX;
		size_t gaps = kw_scan_around(ctx, paddr + at, bytes, len);

		*missing += gaps < CHUNK ? gaps : CHUNK;
		if (gaps < len && kallsyms_search_tokens(bytes, len, start + at, ret))
			return true;
	}
	return false;
}

static bool search_image(kw_ctx *ctx, uint64_t start, uint64_t size, uint64_t *missing,
			 struct kallsyms_tables *ret)
{
	uint8_t *bytes = malloc(CHUNK + TABLE_MAX);
	bool found = bytes && search_pieces(ctx, start, size, bytes, missing, ret);

	free(bytes);
	return found;
}

/* Walk nr names from `names`: they must begin where the markers say, and end right before them. */
static bool names_fit(const struct piece *piece, size_t names, uint32_t nr, size_t markers)
{
	const uint8_t *start = piece->bytes + names, *p = start, *end = piece->bytes + markers;
	size_t len;

	for (uint32_t i = 0; i < nr; i++) {
		if (i % KALLSYMS_MARKER_STEP == 0 &&
		    kw_load_u32(end + 4 * (size_t)(i / KALLSYMS_MARKER_STEP)) != (uint32_t)(p - start))
			return false;
		p = kallsyms_entry(p, end, &len);
		if (!p)
			return false;
		p += len;
	}
	return end - p < 8;
}

/* The number of symbols stands before the names, the last of which the last marker is near to. */
static bool search_number(const struct piece *piece, size_t markers, size_t nr_markers,
			  struct kallsyms_tables *ret)
{
	size_t last = kw_load_u32(piece->bytes + markers + 4 * (nr_markers - 1));
	size_t far = last + KALLSYMS_MARKER_STEP * KALLSYMS_MAX_PER_NAME + 16;

	if (last + 8 > markers)
		return false;
	for (size_t at = (markers - last - 4) & ~(size_t)3, stop = markers > far ? markers - far : 4;
	     at >= stop; at -= 4) {
		uint32_t nr = kw_load_u32(piece->bytes + at);
		/* Padding to 8, which is zero, can't begin a name. */
		size_t names = piece->bytes[at + 4] ? at + 4 : at + 8;

		if (!nr || (nr - 1) / KALLSYMS_MARKER_STEP != nr_markers - 1 ||
		    !names_fit(piece, names, nr, markers))
			continue;
		ret->num_syms = piece->addr + at;
		ret->names = piece->addr + names;
		return true;
	}
	return false;
}

/* Go back from the token table, which is at the end of the piece, to the markers, and on to the number. */
bool kallsyms_search_names(const uint8_t *bytes, size_t len, uint64_t addr, struct kallsyms_tables *ret)
{
	struct piece piece = { bytes, len, addr };
	size_t tries = 0;

	for (size_t at = len & ~(size_t)3; at >= 4 && tries < MAX_TRIES;) {
		size_t nr;

		at -= 4;
		nr = kallsyms_count_markers(bytes + at, (len - at) / 4);
		if (nr < MIN_MARKERS)
			continue;
		tries++;
		if (search_number(&piece, at, nr, ret))
			return true;
	}
	return false;
}

static bool in_image(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr - start < size;
}

/* Offsets and base stand before the number of symbols, or behind the token index. */
static bool find_offsets(kw_ctx *ctx, uint64_t start, uint64_t size, struct kallsyms_tables *ret)
{
	uint64_t base, after = ret->token_index + INDEX_BYTES;
	uint32_t nr, first;

	if (kw_read_u32(ctx, ret->num_syms, &nr) != KW_OK)
		return false;
	ret->relative_base = ret->num_syms - 8;
	if (kw_read_u64(ctx, ret->relative_base, &base) == KW_OK && in_image(base, start, size)) {
		ret->offsets = ret->relative_base - kallsyms_align(4 * (size_t)nr, 8);
		return true;
	}
	ret->offsets = kallsyms_align(after, 8);
	ret->relative_base = ret->offsets + kallsyms_align(4 * (size_t)nr, 8);
	if (kw_read_u64(ctx, ret->relative_base, &base) == KW_OK && in_image(base, start, size))
		return true;
	ret->offsets = kallsyms_align(after, 4);
	ret->relative_base = KW_NO_ADDR;
	return kw_read_u32(ctx, ret->offsets, &first) == KW_OK &&
	       in_image(ret->offsets + (uint64_t)(int32_t)first, start, size);
}

/* Bytes of the image: a view, or a copy, which *copy is then set to. Pages that a dump lacks are gaps in it. */
static const uint8_t *get_bytes(kw_ctx *ctx, uint64_t addr, size_t len, uint8_t **copy)
{
	const uint8_t *view = kw_view(ctx, addr, len);

	if (view)
		return view;
	*copy = malloc(len);
	if (*copy && kw_read(ctx, addr, *copy, len) != KW_OK)
		kw_scan_around(ctx, image_paddr(ctx, addr), *copy, len);
	return *copy;
}

static bool search_below_tokens(kw_ctx *ctx, uint64_t start, uint64_t size, struct kallsyms_tables *ret)
{
	uint64_t len = ret->token_table - start, from;
	uint8_t *copy = NULL;
	const uint8_t *bytes;
	bool found;

	/* Labels are aligned in the image, so the bytes must begin so as well. */
	from = (ret->token_table - (len < NAMES_MAX ? len : NAMES_MAX)) & ~(uint64_t)7;
	bytes = get_bytes(ctx, from, ret->token_table - from, &copy);
	found = bytes && kallsyms_search_names(bytes, ret->token_table - from, from, ret);
	free(copy);
	return found && find_offsets(ctx, start, size, ret);
}

kw_status kallsyms_search(kw_ctx *ctx, uint64_t image_start, uint64_t image_size, uint64_t from,
			  struct kallsyms_tables *ret)
{
	struct kallsyms_tables tables;
	uint64_t skip = from - image_start, missing = 0;

	if (skip < image_size && search_image(ctx, from, image_size - skip, &missing, &tables) &&
	    search_below_tokens(ctx, image_start, image_size, &tables)) {
		*ret = tables;
		return KW_OK;
	}
	if (missing)
		return kw_fail(
			ctx, KW_NOTFOUND,
			"kallsyms: no such tables in the kernel image, of which %llu KiB are not there",
			(unsigned long long)(missing >> 10));
	return kw_fail(ctx, KW_NOTFOUND, "kallsyms: no such tables in the kernel image");
}
