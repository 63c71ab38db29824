/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Flat rows: processes of which nothing is shown but values of the task itself, in mapped memory.
 *
 * A query remembers from run to run what it has found through each leaf of the PID table. Each run reads the leaves, and
 * where one has the same struct pids as before, and these name the same tasks, it goes straight to the tasks.
 */
#ifndef QUERY_FLAT_H
#define QUERY_FLAT_H

#include "kernel/task_walk.h"

struct kw_query; /* query/query.h */
struct known_leaf;

/* Zeroed: nothing is remembered. */
struct flat_memory {
	struct known_leaf **item; /* in the order of their IDs */
	size_t nr, cap;
	size_t size;   /* of all of them */
	size_t at;     /* of the run: those before it have been passed */
	bool is_begun; /* what is the same in all rows stands in the query's values: kw_plan_load_begin() */
};

/** Forget everything. */
void kw_flat_forget(struct flat_memory *flat);

/** Begin a run. */
static inline void kw_flat_begin(struct flat_memory *flat)
{
	flat->at = 0;
	flat->is_begun = false;
}

/**
 * Show the rows of leaf after leaf, until one has to be looked at in the usual way. As kw_pid_walk_next(), of that one.
 */
bool kw_flat_next(struct kw_query *q, struct kw_pid_walk *walk, struct kw_task_ref *refs,
		  unsigned int *ret_nr);

#endif
