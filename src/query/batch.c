/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looking at the objects of many tasks together, and taking the rows from them. */
#include "query/batch.h"

#include <string.h>

#include "memory/view.h"
#include "query/query.h"

void kw_query_begin_row(kw_query *q, const struct kw_task_ref *ref)
{
	if (q->passed)
		kw_row_go_on(&q->row);
	else
		kw_row_begin(&q->row, ref->task);
}

/* The batch is good from now on, unless the stage's objects could not be got for want of memory. */
static bool begin_batch(kw_query *q, const struct kw_stage *stage, size_t nr, bool is_viewed,
			kw_status status)
{
	struct batch *batch = &q->batch;

	batch->stage = status ? NULL : stage;
	batch->nr = nr;
	batch->next = 0;
	batch->is_viewed = is_viewed;
	memset(batch->is_good, true, nr);
	if (status)
		q->failed = q->stop = true;
	return !status;
}

void kw_batch_fetch(kw_query *q, struct kw_stage *stage, size_t nr, const size_t *which, size_t nr_which)
{
	struct batch *batch = &q->batch;
	struct kw_task_ref refs[KW_PLAN_ROWS];
	uint64_t tasks[KW_PLAN_ROWS];
	bool is_listed[KW_PLAN_ROWS], is_changed[KW_PLAN_ROWS];

	nr_which = which ? nr_which : nr;
	for (size_t i = 0; i < nr_which; i++) {
		refs[i] = batch->refs[which ? which[i] : i];
		tasks[i] = refs[i].task;
	}
	if (!begin_batch(q, stage, nr, false, kw_plan_fetch(q->ctx, &stage->plan, tasks, which, nr_which)))
		return;
	memset(batch->is_good, false, nr);
	if (q->kernel->is_live) {
		kw_tasks_are_listed(q->ctx, q->kernel, refs, (unsigned int)nr_which, is_listed);
		kw_plan_recheck(q->ctx, &stage->plan, which, nr_which, is_changed);
	}
	for (size_t i = 0; i < nr_which; i++)
		batch->is_good[which ? which[i] : i] = !q->kernel->is_live ||
						       (is_listed[i] && !is_changed[i]);
}

void kw_batch_view(kw_query *q, struct kw_stage *stage, const struct kw_task_ref *refs, size_t nr)
{
	struct batch *batch = &q->batch;
	uint64_t tasks[KW_PLAN_ROWS];

	for (size_t i = 0; i < nr; i++) {
		batch->refs[i] = refs[i];
		tasks[i] = refs[i].task;
	}
	batch->faults = kw_fault_count(q->ctx);
	begin_batch(q, stage, nr, true, kw_plan_view_objects(q->ctx, &stage->plan, tasks, nr));
}

bool kw_batch_was_its_own(kw_query *q, const struct kw_stage *stage, const struct kw_task_ref *ref)
{
	/* Asked once all values are copied: then they were this task's. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (kw_faults_now(q->ctx) != q->batch.faults)
		return false;
	return !q->kernel->is_live ||
	       (kw_task_is_still_listed(q->ctx, q->kernel, ref) && !kw_plan_changed(q->ctx, &stage->plan));
}

bool kw_batch_take(kw_query *q, struct kw_stage *stage, const struct kw_task_ref *ref,
		   const struct kw_value *pid, kw_status *status)
{
	struct batch *batch = &q->batch;
	size_t i = batch->next;

	if (batch->stage != stage)
		return false;
	while (i < batch->nr && batch->refs[i].task != ref->task)
		i++;
	if (i == batch->nr || !batch->is_good[i])
		return false;
	batch->next = i + 1;
	kw_query_begin_row(q, ref);
	*status = kw_stage_take(stage, &q->row, i, q->slots.values);
	return !*status && (!pid || kw_is_task_of(pid, ref)) &&
	       (!batch->is_viewed || kw_batch_was_its_own(q, stage, ref));
}
