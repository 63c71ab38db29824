/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that are loaded from the tasks a leaf of the PID table at a time. */
#include "query/flat.h"

#include <stdlib.h>
#include <string.h>

#include "memory/view.h"
#include "query/query.h"
#include "util/array.h"
#include "util/bytes.h"

#define FIRST_SIZE (2 * sizeof(uint64_t)) /* of a struct pid's first pointers to tasks, by kind of ID */
#define MAX_SIZE   (64 << 20)		  /* of what a query remembers: a million processes or so */

/* A process, as it is handed out: its address is the task's. */
struct known_row {
	struct kw_row_identity id;
	uint64_t pid_struct;
	const uint8_t *listed; /* where the struct pid's pointers to tasks are mapped */
	uint64_t first;	       /* of which the first is this */
};

/* What was found through a leaf. All of it is mapped, and stays where it is: kw_view_lasting(). */
struct known_leaf {
	size_t size;	/* of this structure, with what is behind it */
	uint64_t place; /* address of its slots */
	uint64_t base;	/* ID of the first */
	const uint8_t *shift, *slots;
	unsigned int nr_slots, nr, nr_others;
	struct known_row *rows; /* nr, behind this structure */
	const uint8_t **spans;	/* of each its part that is loaded from */
	const uint8_t **others; /* struct pids of no processes */
	uint64_t was[KW_XA_MAX_SLOTS];
};

static void forget_from(struct flat_memory *flat, size_t first, size_t nr)
{
	for (size_t i = first; i < first + nr; i++) {
		flat->size -= flat->item[i]->size;
		free(flat->item[i]);
	}
	flat->nr -= nr;
	memmove(flat->item + first, flat->item + first + nr, (flat->nr - first) * sizeof(*flat->item));
}

void kw_flat_forget(struct flat_memory *flat)
{
	if (flat->nr)
		forget_from(flat, 0, flat->nr);
	free(flat->item);
	*flat = (struct flat_memory){ 0 };
}

/* What is known of the leaf from an ID on, or NULL. Leaves that are passed over are no longer in the table. */
static struct known_leaf *find_known(struct flat_memory *flat, uint64_t base)
{
	size_t gone = 0;

	while (flat->at + gone < flat->nr && flat->item[flat->at + gone]->base < base)
		gone++;
	if (gone)
		forget_from(flat, flat->at, gone);
	return flat->at < flat->nr && flat->item[flat->at]->base == base ? flat->item[flat->at] : NULL;
}

static inline uint64_t pointer_at(const uint8_t *mapped, size_t i)
{
	return kw_load_u64(mapped + i * sizeof(uint64_t));
}

/* Whether a leaf still has the struct pids that it had: it has 16 or 64 slots, by fours. */
static bool has_same_slots(const struct known_leaf *known)
{
	const uint64_t *was = known->was, *end = was + known->nr_slots;
	const uint8_t *slots = known->slots;
	uint64_t changed = *known->shift;

	for (; was < end && !changed; was += 4, slots += 4 * sizeof(*was))
		changed = (was[0] ^ pointer_at(slots, 0)) | (was[1] ^ pointer_at(slots, 1)) |
			  (was[2] ^ pointer_at(slots, 2)) | (was[3] ^ pointer_at(slots, 3));
	return !changed;
}

/* Whether the struct pids of a leaf, which are the same, name the same tasks. */
static bool names_same_tasks(const struct known_leaf *known)
{
	const struct known_row *row, *end = known->rows + known->nr;

	for (row = known->rows; row < end; row++)
		if (pointer_at(row->listed, KW_PIDTYPE_PID) != row->first ||
		    !pointer_at(row->listed, KW_PIDTYPE_TGID))
			return false;
	for (unsigned int i = 0; i < known->nr_others; i++) {
		uint64_t first[] = { pointer_at(known->others[i], KW_PIDTYPE_PID),
				     pointer_at(known->others[i], KW_PIDTYPE_TGID) };

		if (kw_pid_is_process(first))
			return false;
	}
	return true;
}

static bool is_still_so(const struct kw_query *q, const struct known_leaf *known)
{
	return has_same_slots(known) && (!q->kernel->is_live || names_same_tasks(known));
}

static struct known_leaf *new_known(const struct kw_xa_leaf *leaf, unsigned int nr, unsigned int nr_others)
{
	struct known_leaf *known;
	size_t size = sizeof(*known) + nr * sizeof(*known->rows) + (nr + nr_others) * sizeof(*known->spans);

	known = malloc(size);
	if (!known)
		return NULL;
	known->size = size;
	known->place = leaf->place;
	known->base = leaf->base;
	known->nr_slots = leaf->nr;
	known->nr = nr;
	known->nr_others = nr_others;
	known->rows = (struct known_row *)(known + 1);
	known->spans = (const uint8_t **)(known->rows + nr);
	known->others = known->spans + nr;
	memcpy(known->was, leaf->slots, leaf->nr * sizeof(*leaf->slots));
	return known;
}

/* Find where the table's node, its tasks and struct pids are mapped to stay; false when a part of them is not. */
static bool pin(struct kw_query *q, struct known_leaf *known, const struct kw_task_ref *refs,
		const struct kw_pid_others *others)
{
	const struct kw_task_layout *t = &q->kernel->task;
	const struct kw_plan_node *root = q->show.plan.nodes.item;
	bool all;

	known->shift = kw_view_lasting(q->ctx, known->place - t->node_slots + t->node_shift, 1);
	known->slots = kw_view_lasting(q->ctx, known->place, known->nr_slots * sizeof(*known->was));
	all = known->shift && known->slots;
	for (unsigned int i = 0; i < known->nr; i++) {
		struct known_row *row = &known->rows[i];

		row->id = (struct kw_row_identity){ .pid = refs[i].pid,
						    .tid = refs[i].pid,
						    .address = refs[i].task };
		row->pid_struct = refs[i].pid_struct;
		row->first = refs[i].task + t->pid_links;
		row->listed = kw_view_lasting(q->ctx, row->pid_struct + t->pid_tasks, FIRST_SIZE);
		known->spans[i] = kw_view_lasting(q->ctx, refs[i].task + root->lo, root->hi - root->lo);
		all = all && row->listed && known->spans[i];
	}
	for (unsigned int i = 0; i < known->nr_others; i++) {
		known->others[i] = kw_view_lasting(q->ctx, others->pid_struct[i] + t->pid_tasks, FIRST_SIZE);
		all = all && known->others[i];
	}
	return all;
}

static bool insert(struct flat_memory *flat, struct known_leaf *known)
{
	if (known->size > MAX_SIZE - flat->size || !kw_array_push(flat, known))
		return false;
	flat->size += known->size;
	for (size_t i = flat->nr - 1; i > flat->at; i--)
		flat->item[i] = flat->item[i - 1];
	flat->item[flat->at] = known;
	return true;
}

/* Look at a leaf in the usual way, and remember what has been found; NULL when that is not for long. */
static const struct known_leaf *learn(struct kw_query *q, struct kw_pid_walk *walk,
				      const struct kw_xa_leaf *leaf, struct kw_task_ref *refs,
				      unsigned int *ret_nr)
{
	uint64_t damaged = walk->damaged + walk->xa.damaged;
	struct kw_pid_others others;
	struct known_leaf *known;

	*ret_nr = kw_pid_walk_look(q->ctx, q->kernel, walk, leaf, refs, &others);
	if (walk->damaged + walk->xa.damaged != damaged || !leaf->place || leaf->nr % 4)
		return NULL;
	known = new_known(leaf, *ret_nr, others.nr);
	if (known && pin(q, known, refs, &others) && insert(&q->flat, known))
		return known;
	free(known);
	return NULL;
}

/*
 * Whether a task that has been loaded from is the one that was found, and no other's memory. Its struct pid is asked last:
 * when it still names the task, what was loaded before was the task's.
 */
static inline bool is_own(const struct known_row *row, const uint8_t *pid, bool is_live)
{
	int32_t now = (int32_t)kw_load_u32(pid);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return now == row->id.pid && (!is_live || pointer_at(row->listed, KW_PIDTYPE_PID) == row->first);
}

/* What is loaded on the way takes the place of values that have been begun. */
static void take_alone(struct kw_query *q, const struct known_row *row)
{
	struct kw_task_ref ref = { .task = row->id.address,
				   .pid_struct = row->pid_struct,
				   .listed = row->listed,
				   .pid = row->id.pid };

	q->flat.is_begun = false;
	kw_query_take_process(q, &ref);
}

/* Hand out rows that have been loaded; those about which anything is not as usual are taken one by one. */
static inline __attribute__((always_inline)) void hand_out(struct kw_query *q, const struct known_leaf *known,
							   uint64_t nr, bool is_live)
{
	const struct kw_value *values = q->slots.values;
	const struct known_row *row = known->rows, *end = row + nr;
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
static bool load(struct kw_query *q, const struct known_leaf *known)
{
	struct kw_plan *plan = &q->show.plan;
	uint32_t nr_slots = (uint32_t)q->columns.nr;

	if (!q->flat.is_begun)
		kw_plan_load_begin(plan, q->slots.values, q->slots.nr, nr_slots);
	q->flat.is_begun = true;
	kw_plan_load(plan, known->spans, known->nr, q->slots.values, q->slots.nr, nr_slots);
	/* Asked once all values are copied. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !kw_faults_now(q->ctx);
}

static void show(struct kw_query *q, const struct known_leaf *known)
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

/* Show the rows of the leaf that comes next, if nothing has changed about it. */
static bool show_known(struct kw_query *q, struct kw_pid_walk *walk)
{
	uint64_t base, place = kw_xa_peek_leaf(q->ctx, &walk->xa, &base);
	const struct known_leaf *known = place ? find_known(&q->flat, base) : NULL;

	if (!known)
		return false;
	if (known->place != place || !is_still_so(q, known) || !load(q, known)) {
		forget_from(&q->flat, q->flat.at, 1);
		return false;
	}
	kw_xa_pass_leaf(&walk->xa);
	q->flat.at++;
	show(q, known);
	return true;
}

/* Show the rows of a leaf, and remember them; false, and refs are set, when its rows are to be taken one by one. */
static bool show_new(struct kw_query *q, struct kw_pid_walk *walk, const struct kw_xa_leaf *leaf,
		     struct kw_task_ref *refs, unsigned int *ret_nr)
{
	const struct known_leaf *known = find_known(&q->flat, leaf->base);

	if (known)
		forget_from(&q->flat, q->flat.at, 1);
	known = learn(q, walk, leaf, refs, ret_nr);
	if (!known)
		return false;
	q->flat.at++;
	if (!load(q, known))
		return false;
	show(q, known);
	return true;
}

bool kw_flat_next(struct kw_query *q, struct kw_pid_walk *walk, struct kw_task_ref *refs,
		  unsigned int *ret_nr)
{
	struct kw_xa_leaf leaf;

	while (!q->stop && !kw_faults_now(q->ctx)) {
		if (show_known(q, walk))
			continue;
		if (!kw_xa_find_leaf(q->ctx, &walk->xa, &leaf))
			break;
		if (!show_new(q, walk, &leaf, refs, ret_nr)) {
			q->flat.is_begun = false;
			return true;
		}
	}
	return !q->stop && kw_pid_walk_next(q->ctx, q->kernel, walk, refs, ret_nr);
}
