/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a name stands in .debug_info: see the header. */
#include "type/dwarf_search.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "util/array.h"
#include "util/bytes.h"

#define FILTER_BITS  16
#define FILTER_BYTES ((1u << FILTER_BITS) / 8)

static uint32_t filter_bit(uint32_t offset)
{
	return offset & ((1u << FILTER_BITS) - 1);
}

/* Collect every offset in the section of strings at which the name can be read. */
static bool find_offsets(struct kw_dwarf_needle *needle, const char *name, const struct kw_section *strings)
{
	const uint8_t *at = strings->data, *end;

	if (!at)
		return true;
	end = at + strings->size;
	while ((at = memmem(at, (size_t)(end - at), name, needle->len))) {
		uint32_t offset = (uint32_t)(at - strings->data);

		if (!kw_array_push(needle, offset))
			return false;
		needle->filter[filter_bit(offset) / 8] |= (uint8_t)(1u << offset % 8);
		needle->last = offset;
		at++;
	}
	return true;
}

bool kw_dwarf_needle_init(struct kw_dwarf_needle *needle, const char *name, const struct kw_section *strings,
			  unsigned int offset_size)
{
	*needle = (struct kw_dwarf_needle){ .len = strlen(name) + 1, .filter = calloc(1, FILTER_BYTES) };
	if (!needle->filter || !find_offsets(needle, name, strings)) {
		kw_dwarf_needle_deinit(needle);
		return false;
	}
	if (needle->len <= offset_size || !strings->size)
		needle->inlined = name;
	return true;
}

void kw_dwarf_needle_deinit(struct kw_dwarf_needle *needle)
{
	free(needle->item);
	free(needle->filter);
}

static bool is_offset(const struct kw_dwarf_needle *needle, uint32_t v)
{
	size_t low = 0, high = needle->nr;

	if (!(needle->filter[filter_bit(v) / 8] >> v % 8 & 1))
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (needle->item[middle] == v)
			return true;
		if (needle->item[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* One search through a section. */
struct scan {
	const struct kw_dwarf_needle *needle;
	const uint8_t *data;
	size_t end; /* of the positions at which four bytes can be read */
};

/* The first position in [pos, end) with an offset of the name; SIZE_MAX when there is none. */
static size_t scan_slowly(const struct scan *scan, size_t pos, size_t end)
{
	for (; pos < end; pos++) {
		uint32_t v = kw_load_u32(scan->data + pos);

		if (v <= scan->needle->last && is_offset(scan->needle, v))
			return pos;
	}
	return SIZE_MAX;
}

#ifdef __SSE2__
#define AT_ONCE 16

/* A bit for each of 16 bytes that is at most `limit`. */
static unsigned int at_most(const uint8_t *bytes, uint8_t limit)
{
	__m128i limits = _mm_set1_epi8((char)limit);
	__m128i all = _mm_loadu_si128((const __m128i *)bytes);

	return (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(all, limits), limits));
}

/*
 * Most of what is no offset is beyond the strings: seen by the upper bytes of 16 positions at once, for a search of
 * the whole section reads 160 MB.
 */
static size_t scan_fast(const struct scan *scan, size_t *pos)
{
	uint32_t last = scan->needle->last;
	uint8_t highest = (uint8_t)(last >> 24), next = highest ? UINT8_MAX : (uint8_t)(last >> 16);

	for (; scan->end - *pos > AT_ONCE; *pos += AT_ONCE) {
		const uint8_t *at = scan->data + *pos;
		unsigned int low = at_most(at + 3, highest) & at_most(at + 2, next);

		for (; low; low &= low - 1) {
			unsigned int i = (unsigned int)__builtin_ctz(low);

			if (is_offset(scan->needle, kw_load_u32(at + i)))
				return *pos + i;
		}
	}
	return SIZE_MAX;
}
#else
static size_t scan_fast(const struct scan *scan, size_t *pos)
{
	(void)scan;
	(void)pos;
	return SIZE_MAX;
}
#endif

static size_t search_offset(const struct kw_dwarf_needle *needle, const struct kw_section *info, size_t pos)
{
	struct scan scan = { .needle = needle, .data = info->data };
	size_t found;

	if (!needle->nr || info->size < sizeof(uint32_t))
		return SIZE_MAX;
	scan.end = info->size - sizeof(uint32_t) + 1;
	if (pos >= scan.end)
		return SIZE_MAX;
	found = scan_fast(&scan, &pos);
	return found == SIZE_MAX ? scan_slowly(&scan, pos, scan.end) : found;
}

/* Where the name itself comes next; kept, so that finds of its offsets before there do not search again. */
static size_t search_inlined(struct kw_dwarf_needle *needle, const struct kw_section *info, size_t pos)
{
	const uint8_t *at;

	if (!needle->inlined || pos >= info->size)
		return SIZE_MAX;
	if (needle->inlined_at < pos || !needle->inlined_at) {
		at = memmem(info->data + pos, info->size - pos, needle->inlined, needle->len);
		needle->inlined_at = at ? (size_t)(at - info->data) : SIZE_MAX;
	}
	return needle->inlined_at;
}

bool kw_dwarf_search(struct kw_dwarf_needle *needle, const struct kw_section *info, size_t *pos)
{
	size_t inlined = search_inlined(needle, info, *pos), offset;
	struct kw_section until = *info;

	/* What comes first is the answer. */
	if (inlined < info->size && inlined + sizeof(uint32_t) - 1 < until.size)
		until.size = inlined + sizeof(uint32_t) - 1;
	offset = search_offset(needle, &until, *pos);
	if (offset == SIZE_MAX && inlined == SIZE_MAX)
		return false;
	*pos = offset < inlined ? offset : inlined;
	return true;
}

bool kw_dwarf_search_address(const struct kw_section *info, uint64_t addr, size_t *pos)
{
	/* Its length stands before the expression: few other bytes look like this. */
	uint8_t expression[] = { 1 + sizeof(addr), DW_OP_addr, 0, 0, 0, 0, 0, 0, 0, 0 };
	const uint8_t *at = NULL;

	memcpy(expression + 2, &addr, sizeof(addr));
	if (*pos < info->size)
		at = memmem(info->data + *pos, info->size - *pos, expression, sizeof(expression));
	if (at)
		*pos = (size_t)(at - info->data);
	return at;
}
