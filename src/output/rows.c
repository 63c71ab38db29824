/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of finished text.
 *
 *   block   row row row ...       a row does not cross into the next block
 *   row     len width  len width ...  text text ...
 *
 * Lengths and widths are numbers of 7 bits a byte, the lowest first; the top bit tells that another byte follows.
 */
#include "output/rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (32 * 1024)
#define NUMBER_MAX 10 /* bytes of a 64-bit number */

struct kw_block {
	struct kw_block *next;
	size_t used, size; /* of data */
	unsigned char data[];
};

static unsigned char *put_number(unsigned char *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = (unsigned char)(number | 0x80);
	*to++ = (unsigned char)number;
	return to;
}

static const unsigned char *get_number(const unsigned char *from, size_t *ret)
{
	uint64_t number = 0;
	int shift = 0;

	for (; *from & 0x80; shift += 7)
		number |= (uint64_t)(*from++ & 0x7f) << shift;
	*ret = (size_t)(number | (uint64_t)*from++ << shift);
	return from;
}

/* The block to add to, with room for so many bytes. */
static struct kw_block *block_with_room(struct kw_rows *rows, size_t need)
{
	struct kw_block *block = rows->last;
	size_t size = need > BLOCK_SIZE ? need : BLOCK_SIZE;

	if (block && block->size - block->used >= need)
		return block;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->next = NULL;
	block->used = 0;
	block->size = size;
	if (rows->last)
		rows->last->next = block;
	else
		rows->first = block;
	rows->last = block;
	return block;
}

bool kw_rows_add(struct kw_rows *rows, const struct kw_cell *cells, size_t nr, const char *text)
{
	struct kw_block *block;
	unsigned char *to;
	size_t len = 0, before;

	for (size_t i = 0; i < nr; i++)
		len += cells[i].len;
	block = block_with_room(rows, len + nr * 2 * NUMBER_MAX);
	if (!block)
		return false;
	before = block->used;
	to = block->data + before;
	for (size_t i = 0; i < nr; i++)
		to = put_number(put_number(to, cells[i].len), cells[i].width);
	if (len)
		memcpy(to, text, len);
	block->used = (size_t)(to - block->data) + len;
	rows->bytes += block->used - before;
	return true;
}

struct kw_rows_cursor kw_rows_start(const struct kw_rows *rows)
{
	return (struct kw_rows_cursor){ .block = rows->first };
}

const char *kw_rows_next(struct kw_rows_cursor *cursor, struct kw_cell *cells, size_t nr)
{
	const unsigned char *from, *text;

	if (cursor->block && cursor->at == cursor->block->used) {
		cursor->block = cursor->block->next;
		cursor->at = 0;
	}
	if (!cursor->block)
		return NULL;
	from = cursor->block->data + cursor->at;
	for (size_t i = 0; i < nr; i++)
		from = get_number(get_number(from, &cells[i].len), &cells[i].width);
	text = from;
	for (size_t i = 0; i < nr; i++)
		from += cells[i].len;
	cursor->at = (size_t)(from - cursor->block->data);
	return (const char *)text;
}

void kw_rows_clear(struct kw_rows *rows)
{
	struct kw_block *next;

	for (struct kw_block *block = rows->first; block; block = next) {
		next = block->next;
		free(block);
	}
	*rows = (struct kw_rows){ 0 };
}
