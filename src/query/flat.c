/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that are loaded from the tasks a leaf of the PID table at a time. */
#include "query/flat.h"

#include "memory/view.h"
#include "query/query.h"

/*
 * Whether a task that has been loaded from is the one that was found, and no other's memory. Its struct pid is asked last:
 * when it still names the task, what was loaded before was the task's.
 */
static inline bool is_own(const struct kw_known_row *row, const uint8_t *pid, bool is_live)
{
	int32_t now = (int32_t)kw_load_u32(pid);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return now == row->id.pid && (!is_live || kw_known_is_listed(row));
}

/* What is loaded on the way takes the place of values that have been begun. */
static void take_alone(struct kw_query *q, const struct kw_known_row *row)
{
	struct kw_task_ref ref = kw_known_ref(row);

	q->is_flat_begun = false;
	kw_query_take_process(q, &ref);
}

/* Hand out rows that have been loaded; those about which anything is not as usual are taken one by one. */
static inline __attribute__((always_inline)) void
hand_out(struct kw_query *q, const struct kw_known_leaf *known, uint64_t nr, bool is_live)
{
	const struct kw_value *values = q->slots.values;
	const struct kw_known_row *row = known->rows, *end = row + nr;
	const uint8_t *const *span = known->spans;
	const uint64_t pid = q->kernel->task.pid - q->show.plan.nodes.item[0].lo;
	const size_t stride = q->slots.nr;

	for (; row < end; row++, span++, values += stride) {
		if (__builtin_expect(!is_own(row, *span + pid, is_live), 0)) {
			take_alone(q, row);
			if (q->stop)
				return;
			continue;
		}
		q->counts.rows++;
		if (!q->fn(values, &row->id, q->arg)) {
			q->stop = true;
			return;
		}
	}
}

/* Load the rows of a leaf. False when a page has failed, which reads as zeros. */
static bool load(struct kw_query *q, const struct kw_known_leaf *known)
{
	struct kw_plan *plan = &q->show.plan;
	uint32_t nr_slots = (uint32_t)q->columns.nr;

	if (!q->is_flat_begun)
		kw_plan_load_begin(plan, q->slots.values, q->slots.nr, nr_slots);
	q->is_flat_begun = true;
	kw_plan_load(plan, known->spans, known->nr, q->slots.values, q->slots.nr, nr_slots);
	/* Asked once all values are copied. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !kw_faults_now(q->ctx);
}

static void show(struct kw_query *q, const struct kw_known_leaf *known)
{
	uint64_t nr = known->nr, left = q->limit - q->counts.rows;

	if (q->limit && left < nr)
		nr = left;
	q->show.rows += nr;
	if (q->kernel->is_live)
		hand_out(q, known, nr, true);
	else
		hand_out(q, known, nr, false);
	if (q->limit && q->counts.rows == q->limit)
		q->stop = true;
}

bool kw_flat_show(struct kw_query *q, const struct kw_known_leaf *leaf)
{
	if (!load(q, leaf)) {
		q->is_flat_begun = false;
		return false;
	}
	show(q, leaf);
	return true;
}
