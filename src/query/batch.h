/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: the objects that one stage needs of many tasks are got together, and the rows are taken one after the other.
 *
 * Where memory is copied, so are the objects, in few calls, and each task is checked right after: it must still be the one
 * that was found, and its objects its own. Where memory is mapped, objects are found and their cache lines asked for; values
 * are copied when a row is taken, and checked then. A row about which anything is not as usual is not given: it is run by
 * itself.
 */
#ifndef QUERY_BATCH_H
#define QUERY_BATCH_H

#include "kernel/task_walk.h"
#include "query/stage.h"

struct kw_query; /* query/query.h */

/* Tasks whose objects one stage has fetched together. */
struct batch {
	const struct kw_stage *stage; /* NULL: none */
	struct kw_task_ref refs[KW_PLAN_ROWS];
	size_t nr, next; /* the next that will be asked for, or one after it */
	bool is_viewed;	 /* not copied, but found in mapped memory: values are those of when they are taken */
	uint64_t faults; /* of the mapping, before it was looked at */
	bool is_good[KW_PLAN_ROWS]; /* nothing had changed when all was copied */
};

/** Begin the row of a task, or go on with it where its condition has been looked at: what that got is still of use. */
void kw_query_begin_row(struct kw_query *q, const struct kw_task_ref *ref);

/**
 * Copy what a stage needs of the first nr tasks of q->batch.refs. Stops the query when memory runs out.
 *
 * @param which  of nr_which of them only, in their order; NULL: of all
 */
void kw_batch_fetch(struct kw_query *q, struct kw_stage *stage, size_t nr, const size_t *which,
		    size_t nr_which);

/** Find the objects that a stage needs of tasks in mapped memory: stage->plan.view_rows at most. As kw_batch_fetch(). */
void kw_batch_view(struct kw_query *q, struct kw_stage *stage, const struct kw_task_ref *refs, size_t nr);

/**
 * Tell whether what was taken of a row that was viewed, the last one of the stage's plan, is its task's own, and not a
 * failed page's zeros.
 */
bool kw_batch_was_its_own(struct kw_query *q, const struct kw_stage *stage, const struct kw_task_ref *ref);

/**
 * Give the row of a task of the batch. Rows are asked for in the order of the batch, and may be left out.
 *
 * @param pid  where the stage puts the task's ID, or NULL
 * @param status  set to the state of the task's own memory, when the row is there
 * @return false when the row has to be run by itself
 */
bool kw_batch_take(struct kw_query *q, struct kw_stage *stage, const struct kw_task_ref *ref,
		   const struct kw_value *pid, kw_status *status);

/** False for what is not a task, or that of another ID: nothing in it is to be believed. */
static inline bool kw_is_task_of(const struct kw_value *pid, const struct kw_task_ref *ref)
{
	return pid->type != KW_VAL_ABSENT && pid->i == ref->pid;
}

#endif
