/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index of a flattened dump: see the header.
 *
 * Invariant: pieces are sorted by offset, none overlaps, and all of them lie within the file and below 2^63.
 */
#include "memory/flat.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/source.h"
#include "util/array.h"
#include "util/error.h"

#define MAGIC	   "makedumpfile\0\0\0\0"
#define MAGIC_SIZE 16
#define HEADER	   4096
#define WINDOW	   65536

/* Bytes of the dump and where they lie in the file. */
struct piece {
	uint64_t offset, size, at;
};

struct flat {
	struct piece *item;
	size_t nr, cap;
	bool cut;
};

/* A place in the file from which block headers are read, with what lies behind it. */
struct cursor {
	int fd;
	uint64_t at, file_size;
	uint64_t window_at;
	size_t window_len;
	uint8_t window[WINDOW];
};

bool flat_probe(const uint8_t *head, size_t len)
{
	return len >= MAGIC_SIZE && !memcmp(head, MAGIC, MAGIC_SIZE);
}

/* Read the 16 bytes at the cursor; false when the file has no more. */
static bool read_pair(struct cursor *cursor, int64_t *ret_offset, int64_t *ret_size)
{
	uint64_t pair[2];

	if (cursor->file_size - cursor->at < sizeof(pair))
		return false;
	if (cursor->at < cursor->window_at ||
	    cursor->at + sizeof(pair) > cursor->window_at + cursor->window_len) {
		uint64_t left = cursor->file_size - cursor->at;

		cursor->window_at = cursor->at;
		cursor->window_len = left < HEADER ? (size_t)left : HEADER;
		/* Small blocks lie close together, between big ones little would be used of a whole window. */
		if (left >= WINDOW && cursor->window_len && *ret_size < HEADER)
			cursor->window_len = WINDOW;
		if (kw_read_file(cursor->fd, cursor->at, cursor->window, cursor->window_len)) {
			cursor->window_len = 0;
			return false;
		}
	}
	memcpy(pair, cursor->window + (cursor->at - cursor->window_at), sizeof(pair));
	*ret_offset = (int64_t)be64toh(pair[0]);
	*ret_size = (int64_t)be64toh(pair[1]);
	cursor->at += sizeof(pair);
	return true;
}

static kw_status read_blocks(kw_ctx *ctx, const char *name, struct cursor *cursor, struct flat *flat)
{
	int64_t offset, size = 0;

	flat->cut = true;
	while (read_pair(cursor, &offset, &size)) {
		struct piece piece = { (uint64_t)offset, (uint64_t)size, cursor->at };
		uint64_t left = cursor->file_size - cursor->at;

		if (offset == -1 && size == -1) {
			flat->cut = false;
			break;
		}
		if (offset < 0 || size <= 0 || size > INT64_MAX - offset)
			return kw_fail(ctx, KW_FORMAT,
				       "%s: the block at %llu of the flattened dump is damaged: it can't "
				       "be rearranged",
				       name, (unsigned long long)(cursor->at - 16));
		if (piece.size > left)
			piece.size = left;
		if (piece.size && !kw_array_push(flat, piece))
			return kw_fail_nomem(ctx);
		cursor->at += piece.size;
	}
	return KW_OK;
}

static int by_offset(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool is_in_order(const struct flat *flat)
{
	for (size_t i = 1; i < flat->nr; i++)
		if (flat->item[i].offset < flat->item[i - 1].offset + flat->item[i - 1].size)
			return false;
	return true;
}

/* The pieces that begin at or before a place, the one that comes last in the file on top: a heap. */
struct covering {
	const struct piece **item;
	size_t nr, cap;
};

static void sink(struct covering *heap)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap->nr) {
		const struct piece *swap = heap->item[i];

		if (child + 1 < heap->nr && heap->item[child + 1]->at > heap->item[child]->at)
			child++;
		if (heap->item[child]->at <= swap->at)
			break;
		heap->item[i] = heap->item[child];
		heap->item[child] = swap;
		i = child;
	}
}

static void pop(struct covering *heap)
{
	heap->item[0] = heap->item[--heap->nr];
	sink(heap);
}

static bool push(struct covering *heap, const struct piece *piece)
{
	size_t i;

	if (!kw_array_push(heap, piece))
		return false;
	for (i = heap->nr - 1; i && heap->item[(i - 1) / 2]->at < piece->at; i = (i - 1) / 2)
		heap->item[i] = heap->item[(i - 1) / 2];
	heap->item[i] = piece;
	return true;
}

static bool append(struct flat *out, const struct piece *from, uint64_t start, uint64_t end)
{
	struct piece part = { start, end - start, from->at + (start - from->offset) };
	struct piece *last = out->nr ? &out->item[out->nr - 1] : NULL;

	if (last && last->offset + last->size == start && last->at + last->size == part.at) {
		last->size += part.size;
		return true;
	}
	return kw_array_push(out, part);
}

/* Sweep over the sorted pieces: at each place the one that was written last counts. */
static bool sweep(const struct flat *in, struct covering *heap, struct flat *out)
{
	uint64_t place = 0;
	size_t next = 0;

	while (heap->nr || next < in->nr) {
		uint64_t end;

		if (!heap->nr && in->item[next].offset > place)
			place = in->item[next].offset;
		for (; next < in->nr && in->item[next].offset <= place; next++)
			if (!push(heap, &in->item[next]))
				return false;
		while (heap->nr && heap->item[0]->offset + heap->item[0]->size <= place)
			pop(heap);
		if (!heap->nr)
			continue;
		end = heap->item[0]->offset + heap->item[0]->size;
		if (next < in->nr && in->item[next].offset < end)
			end = in->item[next].offset;
		if (!append(out, heap->item[0], place, end))
			return false;
		place = end;
	}
	return true;
}

static kw_status sort(kw_ctx *ctx, struct flat *flat)
{
	struct covering heap = { 0 };
	struct flat out = { .cut = flat->cut };
	bool done;

	if (is_in_order(flat))
		return KW_OK;
	qsort(flat->item, flat->nr, sizeof(*flat->item), by_offset);
	if (is_in_order(flat))
		return KW_OK;
	done = sweep(flat, &heap, &out);
	free(heap.item);
	free(done ? flat->item : out.item);
	if (!done)
		return kw_fail_nomem(ctx);
	*flat = out;
	return KW_OK;
}

kw_status flat_open(kw_ctx *ctx, const char *name, int fd, uint64_t file_size, struct flat **ret)
{
	struct cursor *cursor = calloc(1, sizeof(*cursor));
	struct flat *flat = calloc(1, sizeof(*flat));
	kw_status status = KW_OK;

	if (!cursor || !flat) {
		status = kw_fail_nomem(ctx);
	} else if (file_size <= HEADER) {
		status = kw_fail(ctx, KW_FORMAT, "%s: the flattened dump was cut short: it has no block",
				 name);
	} else {
		*cursor = (struct cursor){ .fd = fd, .at = HEADER, .file_size = file_size };
		status = read_blocks(ctx, name, cursor, flat);
	}
	if (status == KW_OK)
		status = sort(ctx, flat);
	free(cursor);
	if (status == KW_OK)
		*ret = flat;
	else
		flat_free(flat);
	return status;
}

void flat_free(struct flat *flat)
{
	if (!flat)
		return;
	free(flat->item);
	free(flat);
}

uint64_t flat_size(const struct flat *flat)
{
	return flat->nr ? flat->item[flat->nr - 1].offset + flat->item[flat->nr - 1].size : 0;
}

bool flat_is_cut(const struct flat *flat)
{
	return flat->cut;
}

/* Return the first piece that ends behind offset; flat->nr when there is none. */
static size_t find(const struct flat *flat, uint64_t offset)
{
	size_t low = 0, high = flat->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (flat->item[mid].offset + flat->item[mid].size <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool flat_holds(const struct flat *flat, uint64_t offset, uint64_t len)
{
	for (size_t i = find(flat, offset); i < flat->nr && flat->item[i].offset <= offset; i++) {
		uint64_t left = flat->item[i].offset + flat->item[i].size - offset;

		if (left >= len)
			return true;
		offset += left;
		len -= left;
	}
	return !len;
}

ssize_t flat_read(const struct flat *flat, int fd, uint64_t offset, void *buf, size_t len)
{
	size_t done = 0;

	for (size_t i = find(flat, offset); i < flat->nr && done < len; i++) {
		const struct piece *piece = &flat->item[i];
		uint64_t skip = offset - piece->offset, part;
		int err;

		if (offset < piece->offset)
			break;
		part = piece->size - skip < len - done ? piece->size - skip : len - done;
		err = kw_read_file(fd, piece->at + skip, (uint8_t *)buf + done, part);
		if (err) {
			errno = err > 0 ? err : EIO;
			return -1;
		}
		done += part;
		offset += part;
	}
	return (ssize_t)done;
}
