/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table with open addressing; rows lie in chunks and never move. */
#include "query/row_table.h"

#include <stdlib.h>

#include "util/array.h"

#define MOST_BYTES   (256u << 20) /* of rows in all */
#define CHUNK	     64		  /* rows that are allocated together */
#define FIRST_PLACES 1024

static struct kw_kept_row *row_at(const struct kw_row_table *t, size_t i)
{
	return (void *)((char *)t->chunks.item[i / CHUNK] + i % CHUNK * t->row_size);
}

void kw_row_table_begin(struct kw_row_table *t, size_t objects, size_t words, size_t values)
{
	t->words_at = sizeof(struct kw_kept_row) + objects * sizeof(struct kw_plan_object);
	t->values_at = t->words_at + words * sizeof(uint64_t);
	t->row_size = (t->values_at + values * sizeof(struct kw_value) + 63) & ~(size_t)63;
}

void kw_row_table_deinit(struct kw_row_table *t)
{
	for (size_t i = 0; i < t->chunks.nr * CHUNK; i++)
		free(row_at(t, i)->text);
	for (size_t i = 0; i < t->chunks.nr; i++)
		free(t->chunks.item[i]);
	free(t->chunks.item);
	free(t->place);
	*t = (struct kw_row_table){ 0 };
}

static size_t place_of(const struct kw_row_table *t, uint64_t task)
{
	return (size_t)((task >> 6) * 0x9e3779b97f4a7c15ULL >> 32) & (t->places - 1);
}

struct kw_kept_row *kw_row_table_find(const struct kw_row_table *t, uint64_t task)
{
	if (!t->places)
		return NULL;
	for (size_t at = place_of(t, task); t->place[at]; at = (at + 1) & (t->places - 1))
		if (t->place[at]->task == task)
			return t->place[at];
	return NULL;
}

static void put(struct kw_row_table *t, struct kw_kept_row *row)
{
	size_t at = place_of(t, row->task);

	while (t->place[at])
		at = (at + 1) & (t->places - 1);
	t->place[at] = row;
}

/* Put all rows that there are into a table of another size. False without memory, and nothing is done. */
static bool make_places(struct kw_row_table *t, size_t size)
{
	struct kw_kept_row **places = calloc(size, sizeof(*places));

	if (!places)
		return false;
	free(t->place);
	t->place = places;
	t->places = size;
	for (size_t i = 0; i < t->chunks.nr * CHUNK; i++)
		if (row_at(t, i)->task)
			put(t, row_at(t, i));
	return true;
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

	if (2 * (t->nr + 1) > t->places && !make_places(t, t->places ? 2 * t->places : FIRST_PLACES))
		return NULL;
	if (!t->unused && !add_chunk(t))
		return NULL;
	row = t->unused;
	t->unused = row->next;
	*row = (struct kw_kept_row){ .task = task, .text = row->text, .text_size = row->text_size };
	put(t, row);
	t->nr++;
	return row;
}

void kw_row_table_see(struct kw_row_table *t, struct kw_kept_row *row, uint64_t run)
{
	t->seen += row->run != run;
	row->run = run;
}

bool kw_row_table_end_run(struct kw_row_table *t, uint64_t run)
{
	bool are_many = t->nr - t->seen > t->nr / 4 + CHUNK;

	t->seen = 0;
	if (!are_many)
		return true;
	for (size_t i = 0; i < t->chunks.nr * CHUNK; i++) {
		struct kw_kept_row *row = row_at(t, i);

		if (row->task && row->run != run) {
			give_back(t, row);
			t->nr--;
		}
	}
	return make_places(t, t->places);
}
