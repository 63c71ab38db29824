/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a query has found through each leaf of the PID table, in mapped memory.
 *
 * It is remembered from run to run. Each run reads the leaves, and where one has the same struct pids as before, and these
 * name the same tasks, it goes straight to the tasks.
 */
#ifndef QUERY_LEAVES_H
#define QUERY_LEAVES_H

#include <kwalk/query.h>

#include "kernel/task_walk.h"

struct kw_kept_row; /* query/row_table.h */

/** A process, as it is handed out: its address is the task's. */
struct kw_known_row {
	struct kw_row_identity id;
	uint64_t pid_struct;
	const uint8_t *listed; /* where the struct pid's pointers to tasks are mapped */
	uint64_t first;	       /* of which the first is this */
};

/** What was found through a leaf. All of it is mapped, and stays where it is: kw_view_lasting(). */
struct kw_known_leaf {
	size_t size;	/* of this structure, with what is behind it */
	uint64_t place; /* address of its slots */
	uint64_t base;	/* ID of the first */
	const uint8_t *shift, *slots;
	unsigned int nr_slots, nr, nr_others;
	struct kw_known_row *rows; /* nr, behind this structure */
	const uint8_t **spans;	   /* of each its part that is loaded from */
	struct kw_kept_row *
		*kept; /* what is remembered of each, or NULL: who looks at it says whether it is still so */
	const uint8_t **others; /* struct pids of no processes */
	uint64_t was[KW_XA_MAX_SLOTS];
};

/** Zeroed: nothing is remembered. */
struct kw_leaves {
	struct kw_known_leaf **item; /* in the order of their IDs */
	size_t nr, cap;
	size_t size; /* of all of them */
	size_t at;   /* of the run: those before it have been passed */
};

/** Forget everything. */
void kw_leaves_forget(struct kw_leaves *leaves);

/** Begin a run. */
static inline void kw_leaves_begin(struct kw_leaves *leaves)
{
	leaves->at = 0;
}

/**
 * Show the rows of a leaf.
 *
 * @return false, and nothing has been shown, when a page has failed, which reads as zeros
 */
typedef bool (*kw_leaf_fn)(struct kw_query *q, const struct kw_known_leaf *leaf);

/**
 * Show the rows of leaf after leaf, until one has to be looked at in the usual way. As kw_pid_walk_next(), of that one.
 */
bool kw_leaves_next(struct kw_query *q, struct kw_pid_walk *walk, kw_leaf_fn show, struct kw_task_ref *refs,
		    unsigned int *ret_nr);

static inline uint64_t kw_pointer_at(const uint8_t *mapped, size_t i)
{
	return kw_load_u64(mapped + i * sizeof(uint64_t));
}

/** As kw_task_is_still_listed(). */
static inline bool kw_known_is_listed(const struct kw_known_row *row)
{
	return kw_pointer_at(row->listed, KW_PIDTYPE_PID) == row->first;
}

static inline struct kw_task_ref kw_known_ref(const struct kw_known_row *row)
{
	return (struct kw_task_ref){ .task = row->id.address,
				     .pid_struct = row->pid_struct,
				     .listed = row->listed,
				     .pid = row->id.pid };
}

#endif
