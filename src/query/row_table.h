/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that are kept from run to run, found by the address of their task. */
#ifndef QUERY_ROW_TABLE_H
#define QUERY_ROW_TABLE_H

#include <kwalk/value.h>

#include "access/plan.h"
#include "util/key_map.h"

/**
 * A row; behind it its objects, values and words: as many as the table was begun with. Of words that are mapped it keeps where
 * they are, of others what is copied.
 */
struct kw_kept_row {
	uint64_t task;	  /* its key; 0: it is free */
	uint64_t run;	  /* that has seen it last */
	uint64_t changes; /* runs in a row that found it another */
	int32_t pid;
	bool is_good;		   /* else it has to be made anew */
	uint32_t witnesses, lines; /* of its words: how many are mapped, in how many cache lines */
	char *text;		   /* of the values */
	size_t text_size;	   /* that there is room for */
	struct kw_kept_row *next;  /* when it is free */
};

struct kw_row_table {
	size_t values_at, words_at, row_size; /* in a row, and its size */
	struct {
		struct kw_kept_row **item;
		size_t nr, cap;
	} chunks; /* of rows */
	struct kw_kept_row *unused;
	struct kw_key_map by_task;
	size_t seen; /* rows that the run has seen */
};

/** Begin a table of rows of so many objects, values, and words, which are mapped or not. */
void kw_row_table_begin(struct kw_row_table *t, size_t objects, size_t values, size_t words, bool are_mapped);

void kw_row_table_deinit(struct kw_row_table *t);

/** Return the row of a task, or NULL. */
static inline struct kw_kept_row *kw_row_table_find(const struct kw_row_table *t, uint64_t task)
{
	return kw_key_map_find(&t->by_task, task);
}

/** Add the row of a task that has none. NULL when memory runs out, or there are enough. */
struct kw_kept_row *kw_row_table_add(struct kw_row_table *t, uint64_t task);

/** Note that a run has seen a row. */
static inline void kw_row_table_see(struct kw_row_table *t, struct kw_kept_row *row, uint64_t run)
{
	t->seen += row->run != run;
	row->run = run;
}

/** End a run: give rows back that it has not seen, when there are many. */
void kw_row_table_end_run(struct kw_row_table *t, uint64_t run);

static inline struct kw_plan_object *kw_row_objects(struct kw_kept_row *row)
{
	return (void *)(row + 1);
}

/** Of a table of mapped words. */
static inline struct kw_plan_witness *kw_row_witnesses(const struct kw_row_table *t, struct kw_kept_row *row)
{
	return (void *)((char *)row + t->words_at);
}

/** Of the others. */
static inline uint64_t *kw_row_words(const struct kw_row_table *t, struct kw_kept_row *row)
{
	return (void *)((char *)row + t->words_at);
}

static inline struct kw_value *kw_row_values(const struct kw_row_table *t, struct kw_kept_row *row)
{
	return (void *)((char *)row + t->values_at);
}

#endif
