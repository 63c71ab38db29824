/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The storage of a row. */
#include "kernel/row.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/field_table.h"
#include "kernel/thread_sums.h"

struct kw_row_block {
	struct kw_row_block *next;
	char bytes[];
};

static void free_blocks(struct kw_row *row)
{
	while (row->blocks) {
		struct kw_row_block *next = row->blocks->next;

		free(row->blocks);
		row->blocks = next;
	}
}

void kw_row_go_on(struct kw_row *row)
{
	row->serial++;
	kw_thread_sums_next_row(row->sums);
}

void kw_row_clear(struct kw_row *row)
{
	free_blocks(row);
	kw_thread_sums_next_row(row->sums);
}

void kw_row_deinit(struct kw_row *row)
{
	free_blocks(row);
	kw_thread_sums_free(row->sums);
	kw_users_free(row->users);
	for (size_t i = 0; i < KW_KEEP_NR; i++)
		if (row->kept[i].state)
			row->kept[i].free(row->kept[i].state);
}

static char *take_block(struct kw_row *row, size_t len)
{
	struct kw_row_block *block;

	if (len > KW_ROW_MAX_TEXT)
		return NULL;
	block = malloc(sizeof(*block) + len);
	if (!block)
		return NULL;
	block->next = row->blocks;
	row->blocks = block;
	return block->bytes;
}

void kw_row_put(struct kw_row *row, struct kw_value *out, const char *bytes, size_t len)
{
	size_t room = KW_ROW_TEXT - row->text_used;
	char *place = len > room ? take_block(row, len) : NULL;

	if (!place) {
		place = row->text + row->text_used;
		len = len < room ? len : room;
		row->text_used += len;
	}
	if (len)
		memcpy(place, bytes, len);
	*out = (struct kw_value){ .type = KW_VAL_STRING, .len = (uint32_t)len, .str = place };
}

void kw_set_row_text(struct kw_row *row, struct kw_value *out, const char *str)
{
	kw_row_put(row, out, str, strlen(str));
}

void *kw_row_keep(struct kw_row *row, enum kw_keep which, void *(*make)(struct kw_row *row),
		  void (*free_state)(void *state))
{
	struct kw_kept *kept = &row->kept[which];

	if (!kept->state) {
		kept->state = make(row);
		kept->free = free_state;
	}
	return kept->state;
}

size_t kw_format_int(char *text, int64_t number)
{
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char digits[20], *at = digits + sizeof(digits);
	size_t len;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	len = (size_t)(digits + sizeof(digits) - at);
	if (number < 0)
		*text++ = '-';
	memcpy(text, at, len);
	return len + (number < 0);
}
