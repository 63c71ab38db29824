/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The leaves of the PID table, from run to run. */
#include "query/leaves.h"

#include <stdlib.h>
#include <string.h>

#include "memory/view.h"
#include "query/query.h"
#include "util/array.h"

#define FIRST_SIZE (2 * sizeof(uint64_t)) /* of a struct pid's first pointers to tasks, by kind of ID */
#define MAX_SIZE   (64 << 20)		  /* of what a query remembers: a million processes or so */

static void forget_from(struct kw_leaves *leaves, size_t first, size_t nr)
{
	for (size_t i = first; i < first + nr; i++) {
		leaves->size -= leaves->item[i]->size;
		free(leaves->item[i]);
	}
	leaves->nr -= nr;
	memmove(leaves->item + first, leaves->item + first + nr,
		(leaves->nr - first) * sizeof(*leaves->item));
}

void kw_leaves_forget(struct kw_leaves *leaves)
{
	if (leaves->nr)
		forget_from(leaves, 0, leaves->nr);
	free(leaves->item);
	*leaves = (struct kw_leaves){ 0 };
}

/* What is known of the leaf from an ID on, or NULL. Leaves that are passed over are no longer in the table. */
static struct kw_known_leaf *find_known(struct kw_leaves *leaves, uint64_t base)
{
	size_t gone = 0;

	while (leaves->at + gone < leaves->nr && leaves->item[leaves->at + gone]->base < base)
		gone++;
	if (gone)
		forget_from(leaves, leaves->at, gone);
	return leaves->at < leaves->nr && leaves->item[leaves->at]->base == base ? leaves->item[leaves->at]
										 : NULL;
}

/* Whether a leaf still has the struct pids that it had: it has 16 or 64 slots, by fours. */
static bool has_same_slots(const struct kw_known_leaf *known)
{
	const uint64_t *was = known->was, *end = was + known->nr_slots;
	const uint8_t *slots = known->slots;
	uint64_t changed = *known->shift;

	for (; was < end && !changed; was += 4, slots += 4 * sizeof(*was))
		changed = (was[0] ^ kw_pointer_at(slots, 0)) | (was[1] ^ kw_pointer_at(slots, 1)) |
			  (was[2] ^ kw_pointer_at(slots, 2)) | (was[3] ^ kw_pointer_at(slots, 3));
	return !changed;
}

/* Whether the struct pids of a leaf, which are the same, name the same tasks. */
static bool names_same_tasks(const struct kw_known_leaf *known)
{
	const struct kw_known_row *row, *end = known->rows + known->nr;

	for (row = known->rows; row < end; row++)
		if (!kw_known_is_listed(row) || !kw_pointer_at(row->listed, KW_PIDTYPE_TGID))
			return false;
	for (unsigned int i = 0; i < known->nr_others; i++) {
		uint64_t first[] = { kw_pointer_at(known->others[i], KW_PIDTYPE_PID),
				     kw_pointer_at(known->others[i], KW_PIDTYPE_TGID) };

		if (kw_pid_is_process(first))
			return false;
	}
	return true;
}

static bool is_still_so(const struct kw_query *q, const struct kw_known_leaf *known)
{
	return has_same_slots(known) && (!q->kernel->is_live || names_same_tasks(known));
}

static struct kw_known_leaf *new_known(const struct kw_xa_leaf *leaf, unsigned int nr, unsigned int nr_others)
{
	struct kw_known_leaf *known;
	size_t size = sizeof(*known) + nr * (sizeof(*known->rows) + sizeof(*known->kept)) +
		      (nr + nr_others) * sizeof(*known->spans);

	known = malloc(size);
	if (!known)
		return NULL;
	known->size = size;
	known->place = leaf->place;
	known->base = leaf->base;
	known->nr_slots = leaf->nr;
	known->nr = nr;
	known->nr_others = nr_others;
	known->rows = (struct kw_known_row *)(known + 1);
	known->kept = (struct kw_kept_row **)(known->rows + nr);
	known->spans = (const uint8_t **)(known->kept + nr);
	known->others = known->spans + nr;
	memset(known->kept, 0, nr * sizeof(*known->kept));
	memcpy(known->was, leaf->slots, leaf->nr * sizeof(*leaf->slots));
	return known;
}

/* Find where the table's node, its tasks and struct pids are mapped to stay; false when a part of them is not. */
static bool pin(struct kw_query *q, struct kw_known_leaf *known, const struct kw_task_ref *refs,
		const struct kw_pid_others *others)
{
	const struct kw_task_layout *t = &q->kernel->task;
	const struct kw_plan_node *root = q->show.plan.nodes.item;
	bool all;

	known->shift = kw_view_lasting(q->ctx, known->place - t->node_slots + t->node_shift, 1);
	known->slots = kw_view_lasting(q->ctx, known->place, known->nr_slots * sizeof(*known->was));
	all = known->shift && known->slots;
	for (unsigned int i = 0; i < known->nr; i++) {
		struct kw_known_row *row = &known->rows[i];

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

static bool insert(struct kw_leaves *leaves, struct kw_known_leaf *known)
{
	if (known->size > MAX_SIZE - leaves->size || !kw_array_push(leaves, known))
		return false;
	leaves->size += known->size;
	for (size_t i = leaves->nr - 1; i > leaves->at; i--)
		leaves->item[i] = leaves->item[i - 1];
	leaves->item[leaves->at] = known;
	return true;
}

/* Look at a leaf in the usual way, and remember what has been found; NULL when that is not for long. */
static const struct kw_known_leaf *learn(struct kw_query *q, struct kw_pid_walk *walk,
					 const struct kw_xa_leaf *leaf, struct kw_task_ref *refs,
					 unsigned int *ret_nr)
{
	uint64_t damaged = walk->damaged + walk->xa.damaged;
	struct kw_pid_others others;
	struct kw_known_leaf *known;

	*ret_nr = kw_pid_walk_look(q->ctx, q->kernel, walk, leaf, refs, &others);
	if (walk->damaged + walk->xa.damaged != damaged || !leaf->place || leaf->nr % 4)
		return NULL;
	known = new_known(leaf, *ret_nr, others.nr);
	if (known && pin(q, known, refs, &others) && insert(&q->leaves, known))
		return known;
	free(known);
	return NULL;
}

/* Show the rows of the leaf that comes next, if nothing has changed about it. */
static bool show_known(struct kw_query *q, struct kw_pid_walk *walk, kw_leaf_fn show)
{
	struct kw_leaves *leaves = &q->leaves;
	uint64_t base, place = kw_xa_peek_leaf(q->ctx, &walk->xa, &base);
	const struct kw_known_leaf *known = place ? find_known(leaves, base) : NULL;

	if (!known)
		return false;
	if (known->place != place || !is_still_so(q, known) || !show(q, known)) {
		forget_from(leaves, leaves->at, 1);
		return false;
	}
	kw_xa_pass_leaf(&walk->xa);
	leaves->at++;
	return true;
}

/* Show the rows of a leaf, and remember them; false, and refs are set, when its rows are to be taken one by one. */
static bool show_new(struct kw_query *q, struct kw_pid_walk *walk, const struct kw_xa_leaf *leaf,
		     kw_leaf_fn show, struct kw_task_ref *refs, unsigned int *ret_nr)
{
	struct kw_leaves *leaves = &q->leaves;
	const struct kw_known_leaf *known = find_known(leaves, leaf->base);

	if (known)
		forget_from(leaves, leaves->at, 1);
	known = learn(q, walk, leaf, refs, ret_nr);
	if (!known)
		return false;
	leaves->at++;
	return show(q, known);
}

bool kw_leaves_next(struct kw_query *q, struct kw_pid_walk *walk, kw_leaf_fn show, struct kw_task_ref *refs,
		    unsigned int *ret_nr)
{
	struct kw_xa_leaf leaf;

	while (!q->stop && !kw_faults_now(q->ctx)) {
		if (show_known(q, walk, show))
			continue;
		if (!kw_xa_find_leaf(q->ctx, &walk->xa, &leaf))
			break;
		if (!show_new(q, walk, &leaf, show, refs, ret_nr))
			return true;
	}
	return !q->stop && kw_pid_walk_next(q->ctx, q->kernel, walk, refs, ret_nr);
}
