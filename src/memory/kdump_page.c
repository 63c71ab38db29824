/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages of a kdump-compressed dump: from the number of a page to its descriptor, by counting the pages before it
 * in the bitmap, and from there to its bytes.
 *
 * Neither bitmap nor descriptors bear a checksum. What can be checked is that data follow each other as the
 * descriptors do: makedumpfile and QEMU write them in order, and the first behind the table is the page of zeros.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/kdump.h"
#include "util/error.h"

#define WINDOW 32   /* descriptors read together: the one wanted and what is around it */
#define HEAD   1024 /* descriptors looked at when a dump is opened */

/* How the flags of a descriptor say that a page is packed. */
static const struct {
	uint32_t flag;
	enum packing packing;
} packings[] = {
	{ 1, PACKED_ZLIB },
	{ 2, PACKED_LZO },
	{ 4, PACKED_SNAPPY },
	{ KDUMP_PACKED_ZSTD, PACKED_ZSTD },
};

int kw_kdump_read(const struct kdump_part *part, uint64_t offset, void *buf, size_t len)
{
	return kw_read_at(part->fd, part->flat, offset, buf, len);
}

/* Read descriptors from the first on that is wanted; fewer when the file ends before. */
static size_t read_descriptors(const struct kdump_part *part, uint64_t first, size_t nr,
			       struct kdump_descriptor *ret)
{
	uint64_t offset = part->table + first * KDUMP_DESCRIPTOR;
	uint64_t left = offset < part->file_size ? (part->file_size - offset) / KDUMP_DESCRIPTOR : 0;

	if (nr > part->nr - first)
		nr = part->nr - first;
	if (nr > left)
		nr = left;
	return nr && kw_kdump_read(part, offset, ret, nr * sizeof(*ret)) ? 0 : nr;
}

/* True when a descriptor can be one: it may still be of another page. */
static bool is_plausible(const struct kdump_part *part, const struct kdump_descriptor *desc)
{
	if (desc->offset < part->data || desc->offset > INT64_MAX || !desc->size || desc->size > PAGE_BYTES)
		return false;
	if (!desc->flags)
		return desc->size == PAGE_BYTES;
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (desc->flags == packings[i].flag)
			return true;
	return false;
}

/* Checking */

static bool is_zeros(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

/* True when the bytes between the table and the first page are the page of zeros, which no page of the dump need be. */
static bool is_zero_page(const struct kdump_part *part, struct unpacker *unpacker, uint64_t len)
{
	uint8_t packed[PAGE_BYTES], page[PAGE_BYTES];

	if (len > sizeof(packed) || kw_kdump_read(part, part->data, packed, len))
		return false;
	if (len == sizeof(packed))
		return is_zeros(packed, len);
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (unpack(unpacker, packings[i].packing, packed, len, page, sizeof(page)))
			return is_zeros(page, sizeof(page));
	return false;
}

kw_status kw_kdump_check_table(kw_ctx *ctx, const struct kdump_part *part, struct unpacker *unpacker)
{
	struct kdump_descriptor *desc = malloc(HEAD * sizeof(*desc));
	uint64_t lowest = UINT64_MAX;
	size_t nr, written = 0;
	bool agree = true;

	if (!desc)
		return kw_fail_nomem(ctx);
	nr = read_descriptors(part, 0, HEAD, desc);
	for (size_t i = 0; i < nr; i++) {
		if (desc[i].offset)
			written++;
		if (desc[i].offset && desc[i].offset < lowest)
			lowest = desc[i].offset;
	}
	free(desc);
	if (written && lowest != part->data)
		agree = lowest > part->data && is_zero_page(part, unpacker, lowest - part->data);
	if (agree)
		return KW_OK;
	return kw_fail(
		ctx, KW_FORMAT,
		"%s: the dump is damaged: the bitmap of its pages and their descriptors don't agree, so that "
		"the pages can't be told apart; copy it again from where it was made",
		part->name);
}

static bool is_lost(const struct kdump_part *part, const struct kdump_descriptor *desc)
{
	if (!desc->offset || desc->offset > part->file_size || desc->size > part->file_size - desc->offset)
		return true;
	return part->flat && !flat_holds(part->flat, desc->offset, desc->size);
}

/* True when the bytes of the last pages are there: then those of all are, unless the disk was full. */
static bool has_end(const struct kdump_part *part)
{
	struct kdump_descriptor desc[WINDOW];
	uint64_t first = part->nr > WINDOW ? part->nr - WINDOW : 0;
	size_t nr = read_descriptors(part, first, WINDOW, desc);

	if (nr != part->nr - first)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (is_lost(part, &desc[i]))
			return false;
	return true;
}

kw_status kw_kdump_count_lost(kw_ctx *ctx, const struct kdump_part *part, bool incomplete, uint64_t *ret)
{
	struct kdump_descriptor *desc;
	uint64_t lost = part->nr;

	if (!incomplete && !(part->flat && flat_is_cut(part->flat)) && has_end(part)) {
		*ret = 0;
		return KW_OK;
	}
	desc = malloc(HEAD * sizeof(*desc));
	if (!desc)
		return kw_fail_nomem(ctx);
	for (uint64_t at = 0; at < part->nr; at += HEAD) {
		size_t nr = read_descriptors(part, at, HEAD, desc);

		for (size_t i = 0; i < nr; i++)
			lost -= !is_lost(part, &desc[i]);
	}
	free(desc);
	*ret = lost;
	return KW_OK;
}

/* Pages */

static const struct kdump_part *find_part(const struct kdump *kdump, uint64_t pfn)
{
	for (size_t i = 0; i < kdump->nr; i++)
		if (pfn >= kdump->item[i].start && pfn < kdump->item[i].end)
			return &kdump->item[i];
	return NULL;
}

/* Find the number of a page's descriptor; false when the page is not in the dump. */
static bool find_rank(const struct kdump_part *part, uint64_t pfn, uint64_t *ret)
{
	uint64_t bit = pfn - part->first, word = bit / 64;
	uint64_t rank = part->rank[bit / KDUMP_RANK_PAGES];

	if (!(part->dumped[word] >> bit % 64 & 1))
		return false;
	for (uint64_t i = bit / KDUMP_RANK_PAGES * (KDUMP_RANK_PAGES / 64); i < word; i++)
		rank += (uint64_t)__builtin_popcountll(part->dumped[i]);
	*ret = rank + (uint64_t)__builtin_popcountll(part->dumped[word] & ((1ULL << bit % 64) - 1));
	return true;
}

/* True when a descriptor lies between two that would leave just the room for its page, elsewhere. */
static bool is_misplaced(const struct kdump_part *part, const struct kdump_descriptor *desc, size_t nr,
			 size_t i)
{
	size_t before = i, behind = i + 1;

	while (before && (!is_plausible(part, &desc[before - 1]) || desc[before - 1].offset == part->data))
		before--;
	while (behind < nr && (!is_plausible(part, &desc[behind]) || desc[behind].offset == part->data))
		behind++;
	if (!before || behind == nr)
		return false;
	before--;
	return desc[before].offset + desc[before].size != desc[i].offset &&
	       desc[before].offset + desc[before].size + desc[i].size == desc[behind].offset;
}

static kw_status find_descriptor(const struct kdump_part *part, uint64_t rank, struct kdump_descriptor *ret)
{
	struct kdump_descriptor desc[WINDOW];
	uint64_t first = rank > WINDOW / 2 ? rank - WINDOW / 2 : 0;
	size_t nr = read_descriptors(part, first, WINDOW, desc), i = rank - first;

	if (i >= nr || !is_plausible(part, &desc[i]) || is_misplaced(part, desc, nr, i))
		return KW_FAILED;
	*ret = desc[i];
	return KW_OK;
}

/* Find the part of a page and its place among the pages of that part; KW_ABSENT or KW_EXCLUDED when it has none. */
static kw_status find_page(const struct kdump *kdump, uint64_t pfn, const struct kdump_part **ret_part,
			   uint64_t *ret_rank)
{
	*ret_part = find_part(kdump, pfn);
	if (!*ret_part)
		return KW_ABSENT;
	return find_rank(*ret_part, pfn, ret_rank) ? KW_OK : KW_EXCLUDED;
}

kw_status kw_kdump_state(const void *source, uint64_t pfn)
{
	const struct kdump *kdump = source;
	const struct kdump_part *part;
	struct kdump_descriptor desc;
	uint64_t rank;
	kw_status status = find_page(kdump, pfn, &part, &rank);

	if (status)
		return status;
	if (!kdump->lacks)
		return KW_OK;
	if (find_descriptor(part, rank, &desc) != KW_OK || desc.offset > part->file_size ||
	    desc.size > part->file_size - desc.offset)
		return KW_FAILED;
	return KW_OK;
}

static bool unpack_page(const struct kdump_descriptor *desc, struct unpacker *unpacker, const uint8_t *packed,
			uint8_t *ret)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (desc->flags == packings[i].flag)
			return unpack(unpacker, packings[i].packing, packed, desc->size, ret, PAGE_BYTES);
	return false;
}

kw_status kw_kdump_decode(kw_ctx *ctx, const void *source, uint64_t pfn, struct unpacker *unpacker,
			  uint8_t *room, uint8_t *ret)
{
	const struct kdump_part *part;
	struct kdump_descriptor desc;
	uint64_t rank;
	kw_status status = find_page(source, pfn, &part, &rank);

	if (status)
		return status;
	if (find_descriptor(part, rank, &desc) != KW_OK ||
	    kw_kdump_read(part, desc.offset, desc.flags ? room : ret, desc.size))
		return KW_FAILED;
	ctx->counters.preads += 2;
	ctx->counters.pread_bytes += WINDOW * KDUMP_DESCRIPTOR + desc.size;
	if (desc.flags && !unpack_page(&desc, unpacker, room, ret))
		return KW_FAILED;
	return KW_OK;
}
