/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copying many ranges in few calls.
 *
 * The ranges are sorted by their place in the file; those that lie close together are read as one run, gaps included,
 * and copied from there. A run of one range is read straight to where it is wanted. The page cache of the pass is
 * neither used nor filled: what is gathered is as fresh as the call.
 *
 *     ranges    |aa|      |bbb||c|                          |dddd|
 *     runs      [    one read     ]                         [one ]
 */
#include <stdlib.h>
#include <string.h>

#include "memory/reader.h"

/* A call costs about as much as copying so many bytes: 3.5 us beside 1 ns a byte on a guest's /proc/kcore. */
#define MAX_GAP	  4096
#define MAX_RUN	  32768
#define MAX_SLICE 256 /* ranges looked at together */
#define MAX_MOVES 16  /* of each of them, on average, for sorting by insertion to pay */

/* A range and where it begins in the file. */
struct piece {
	uint64_t offset;
	struct kw_range *range;
};

/* Find the place of a range in the file; false when it is not in one piece there. */
static bool locate(const struct kw_reader *reader, const struct kw_range *range, uint64_t *ret_offset)
{
	const struct kw_segment *segment = reader->virt_hit;
	uint64_t skip = range->addr - segment->vaddr;

	if (skip >= segment->size) {
		segment = segments_find(&reader->memory->virt, VIRTUAL, range->addr);
		if (!segment)
			segment = hotplug_find(&reader->memory->hotplug, VIRTUAL, range->addr);
		skip = segment ? range->addr - segment->vaddr : 0;
	}
	if (!segment || segment->offset == KW_NO_ADDR || (segment->map && !reader->memory->once) ||
	    range->len > segment->size - skip)
		return false;
	*ret_offset = segment->offset + skip;
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/*
 * Objects that were made one after the other lie nearly in order, those of a slab in any: each is a few places away from
 * its own. Where that is not so it is left to qsort(), which does not profit from order.
 */
static void sort_pieces(struct piece *piece, size_t nr)
{
	size_t moves = 0;

	for (size_t i = 1; i < nr; i++) {
		struct piece p = piece[i];
		size_t k = i;

		for (; k && piece[k - 1].offset > p.offset; k--)
			piece[k] = piece[k - 1];
		piece[k] = p;
		moves += i - k;
		if (moves > MAX_MOVES * nr) {
			qsort(piece, nr, sizeof(*piece), by_offset);
			return;
		}
	}
}

/* Return how many pieces from the first on make a run, and its length in bytes. */
static size_t find_run(const struct piece *piece, size_t nr, size_t *ret_len)
{
	uint64_t start = piece->offset, end = start + piece->range->len;
	size_t i;

	for (i = 1; i < nr; i++) {
		uint64_t next_end = piece[i].offset + piece[i].range->len;

		if (piece[i].offset > end && piece[i].offset - end > MAX_GAP)
			break;
		if (next_end > start + MAX_RUN)
			break;
		if (next_end > end)
			end = next_end;
	}
	*ret_len = (size_t)(end - start);
	return i;
}

static void read_each(kw_ctx *ctx, const struct piece *piece, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		piece[i].range->status =
			kw_read_straight(ctx, piece[i].offset, piece[i].range->buf, piece[i].range->len);
}

static void read_run(kw_ctx *ctx, const struct piece *piece, size_t nr, size_t len)
{
	uint8_t *run = ctx->reader->run;

	/* One range that can't be read must not take the others with it. What is decoded is so by the unit anyway. */
	if (nr == 1 || !run || ctx->reader->memory->decoded.source ||
	    kw_read_straight(ctx, piece->offset, run, len) != KW_OK) {
		read_each(ctx, piece, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		memcpy(piece[i].range->buf, run + (piece[i].offset - piece->offset), piece[i].range->len);
		piece[i].range->status = KW_OK;
	}
}

static void gather_slice(kw_ctx *ctx, struct kw_range *ranges, size_t nr)
{
	struct piece piece[MAX_SLICE];
	size_t nr_pieces = 0, used, len;

	for (size_t i = 0; i < nr; i++) {
		struct piece p = { .range = &ranges[i] };

		if (!locate(ctx->reader, p.range, &p.offset)) {
			ranges[i].status = kw_read(ctx, ranges[i].addr, ranges[i].buf, ranges[i].len);
			continue;
		}
		piece[nr_pieces++] = p;
	}
	sort_pieces(piece, nr_pieces);
	for (size_t i = 0; i < nr_pieces; i += used) {
		used = find_run(&piece[i], nr_pieces - i, &len);
		read_run(ctx, &piece[i], used, len);
	}
}

void kw_gather(kw_ctx *ctx, struct kw_range *ranges, size_t nr)
{
	struct kw_reader *reader = ctx->reader;

	if (!reader->run)
		reader->run = malloc(MAX_RUN);
	for (size_t i = 0; i < nr; i += MAX_SLICE)
		gather_slice(ctx, ranges + i, nr - i < MAX_SLICE ? nr - i : MAX_SLICE);
}
