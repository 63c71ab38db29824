/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows lie in chunks and never move. */
#include "query/row_table.h"

#include <stdlib.h>

#include "util/array.h"

#define MOST_BYTES (256u << 20) /* of rows in all */
#define CHUNK	   64		/* rows that are allocated together */

static struct kw_kept_row *row_at(const struct kw_row_table *t, size_t i)
{
	return (void *)((char *)t->chunks.item[i / CHUNK] + i % CHUNK * t->row_size);
}

void kw_row_table_begin(struct kw_row_table *t, size_t objects, size_t values, size_t words, bool are_mapped)
{
	size_t word = are_mapped ? sizeof(struct kw_plan_witness) : sizeof(uint64_t);

	words += -words % KW_PLAN_WITNESSES;
	t->values_at = sizeof(struct kw_kept_row) + objects * sizeof(struct kw_plan_object);
	t->words_at = t->values_at + values * sizeof(struct kw_value);
	t->row_size = (t->words_at + words * word + 63) & ~(size_t)63;
}

void kw_row_table_deinit(struct kw_row_table *t)
{
	for (size_t i = 0; i < t->chunks.nr * CHUNK; i++)
		free(row_at(t, i)->text);
	for (size_t i = 0; i < t->chunks.nr; i++)
		free(t->chunks.item[i]);
	free(t->chunks.item);
	kw_key_map_free(&t->by_task);
	*t = (struct kw_row_table){ 0 };
}

static void give_back(struct kw_row_table *t, struct kw_kept_row *row)
{
	row->task = 0;
	row->next = t->unused;
	t->unused = row;
}

static bool add_chunk(struct kw_row_table *t)
{
	struct kw_kept_row *chunk;

	if ((t->chunks.nr + 1) * CHUNK * t->row_size > MOST_BYTES)
		return false;
	chunk = calloc(CHUNK, t->row_size);
	if (!chunk || !kw_array_push(&t->chunks, chunk)) {
		free(chunk);
		return false;
	}
	for (size_t i = CHUNK; i-- > 0;)
		give_back(t, row_at(t, (t->chunks.nr - 1) * CHUNK + i));
	return true;
}

struct kw_kept_row *kw_row_table_add(struct kw_row_table *t, uint64_t task)
{
	struct kw_kept_row *row;

	if (!kw_key_map_grow(&t->by_task) || (!t->unused && !add_chunk(t)))
		return NULL;
	row = t->unused;
	t->unused = row->next;
	*row = (struct kw_kept_row){ .task = task, .text = row->text, .text_size = row->text_size };
	kw_key_map_put(&t->by_task, &row->task);
	return row;
}

void kw_row_table_end_run(struct kw_row_table *t, uint64_t run)
{
	bool are_many = t->by_task.nr - t->seen > t->by_task.nr / 4 + CHUNK;

	t->seen = 0;
	if (!are_many)
		return;
	kw_key_map_empty(&t->by_task);
	for (size_t i = 0; i < t->chunks.nr * CHUNK; i++) {
		struct kw_kept_row *row = row_at(t, i);

		if (row->task && row->run == run)
			kw_key_map_put(&t->by_task, &row->task);
		else if (row->task)
			give_back(t, row);
	}
}
