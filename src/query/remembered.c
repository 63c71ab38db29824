/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that are as they were in the run before. */
#include "query/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "memory/view.h"
#include "query/parts.h"
#include "query/query.h"
#include "query/row_table.h"

#define MOST_TEXT 4096 /* bytes of a row's strings */
#define OFTEN	  4    /* a row that was another so many times is remembered only in every OFTEN-th run */

struct kw_remembered {
	struct kw_parts parts;
	struct kw_row_table table;
	struct kw_plan_object *image; /* of the row that is being made */
	uint64_t *words;	      /* of it, where rows are mapped; else NULL */
};

void kw_remembered_free(struct kw_remembered *r)
{
	if (!r)
		return;
	kw_parts_deinit(&r->parts);
	kw_row_table_deinit(&r->table);
	free(r->image);
	free(r->words);
	free(r);
}

static void forget(kw_query *q)
{
	kw_remembered_free(q->remembered);
	q->remembered = NULL;
}

/* Where each page is copied for the object that is on it there is nothing to compare with. */
static bool can_profit(const kw_query *q)
{
	return !q->anew && (kw_memory_is_copied(q->ctx->target->memory) || !kw_views_are_copies(q->ctx)) &&
	       q->is_plain && !q->is_flat && !q->root.in_ns && !q->show.makings.nr && !q->show.readings.nr &&
	       q->show.plan.in_words && q->show.plan.loads.nr;
}

/* NULL without memory, or when it is of no use. */
static struct kw_remembered *make(kw_query *q)
{
	const struct kw_plan *plan = &q->show.plan;
	struct kw_remembered *r = calloc(1, sizeof(*r));
	bool are_mapped = !kw_memory_is_copied(q->ctx->target->memory), done;

	done = r && kw_parts_make(q, &r->parts);
	if (done) {
		r->image = calloc(plan->nodes.nr, sizeof(*r->image));
		r->words = are_mapped ? calloc(plan->nr_words + 1, sizeof(*r->words)) : NULL;
	}
	if (!done || !r->image || (are_mapped && !r->words)) {
		kw_remembered_free(r);
		return NULL;
	}
	kw_row_table_begin(&r->table, plan->nodes.nr, q->columns.nr, plan->nr_words, are_mapped);
	return r;
}

void kw_remembered_begin(kw_query *q)
{
	bool fails = kw_fault_count(q->ctx) && !kw_memory_is_copied(q->ctx->target->memory);

	if (q->row.run == 2 && !fails && can_profit(q))
		q->remembered = make(q);
	/* Of what was found in a mapping nothing is to be used once a page of it has failed. */
	if (q->remembered && fails)
		forget(q);
}

void kw_remembered_end(kw_query *q)
{
	if (q->remembered)
		kw_row_table_end_run(&q->remembered->table, q->row.run);
}

/*
 * Objects of which nothing is known are nothing to compare with. Where they are mapped they have to stay there: what was
 * copied for this run alone does not, nor what a page table has led to.
 */
static bool can_be_kept(kw_query *q, const struct kw_plan_object *objects, bool is_mapped)
{
	const struct kw_plan_node *n = q->show.plan.nodes.item, *end = n + q->show.plan.nodes.nr;

	for (; n < end; n++, objects++)
		if (objects->status ||
		    (is_mapped && objects->data &&
		     objects->data != kw_view_lasting(q->ctx, objects->address + n->lo, n->hi - n->lo)))
			return false;
	return true;
}

static void run_moving(struct kw_remembered *r, kw_query *q, const struct kw_plan_object *objects)
{
	kw_plan_load_some(q->ctx, objects, r->parts.moving_loads.item, r->parts.moving_loads.nr,
			  q->slots.values);
	if (r->parts.moving.computed.nr || r->parts.moving.of_mm.nr)
		kw_stage_compute(&r->parts.moving, &q->row, q->slots.values);
}

static size_t text_length(const struct kw_value *values, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		if (values[i].type == KW_VAL_STRING || values[i].type == KW_VAL_BYTES)
			len += values[i].len;
	return len;
}

static bool make_room(struct kw_kept_row *row, size_t len)
{
	char *text;

	if (len <= row->text_size)
		return true;
	text = len <= MOST_TEXT ? malloc(len) : NULL;
	if (!text)
		return false;
	free(row->text);
	row->text = text;
	row->text_size = len;
	return true;
}

/* Keep the values of the row that has been made. False when there is no room for their text. */
static bool keep_values(struct kw_remembered *r, const kw_query *q, struct kw_kept_row *row)
{
	struct kw_value *values = kw_row_values(&r->table, row);
	char *text;

	if (!make_room(row, text_length(q->slots.values, q->columns.nr)))
		return false;
	text = row->text;
	memcpy(values, q->slots.values, q->columns.nr * sizeof(*values));
	for (size_t i = 0; i < q->columns.nr; i++) {
		if (values[i].type != KW_VAL_STRING && values[i].type != KW_VAL_BYTES)
			continue;
		if (values[i].len)
			memcpy(text, values[i].str, values[i].len);
		values[i].str = text;
		text += values[i].len;
	}
	return true;
}

static struct kw_row_identity identity(const struct kw_task_ref *ref)
{
	return (struct kw_row_identity){ .pid = ref->pid, .tid = ref->pid, .address = ref->task };
}

/* Copy the words of the row's objects, and note where they lie. The objects are of the copies then. */
static void keep_words(struct kw_remembered *r, const struct kw_plan *plan, struct kw_kept_row *row)
{
	uint64_t *words = r->words ? r->words : kw_row_words(&r->table, row);

	kw_plan_copy_words(plan, r->image, words);
	if (r->words)
		row->witnesses = kw_plan_call_witnesses(plan, kw_row_objects(row), words,
							kw_row_witnesses(&r->table, row), &row->lines);
}

/* Fill a row with what its task's objects are now; the values are made of the words that are kept, and of nothing else. */
static void make_row(struct kw_remembered *r, kw_query *q, const struct kw_task_ref *ref,
		     const struct kw_plan_object *now, struct kw_kept_row *row)
{
	const struct kw_plan *plan = &q->show.plan;
	uint64_t reads;

	memcpy(kw_row_objects(row), now, plan->nodes.nr * sizeof(*now));
	memcpy(r->image, now, plan->nodes.nr * sizeof(*now));
	keep_words(r, plan, row);
	kw_query_begin_row(q, ref);
	kw_plan_load_some(q->ctx, r->image, r->parts.still_loads.item, r->parts.still_loads.nr,
			  q->slots.values);
	reads = q->ctx->reads;
	kw_stage_compute(&r->parts.still, &q->row, q->slots.values);
	row->pid = ref->pid;
	row->is_good = q->ctx->reads == reads;
	run_moving(r, q, now);
}

/*
 * Remember a row anew, and show it. False, and nothing has been shown, when anything about it is not as usual.
 *
 * @param now  its objects, which are those of q->show.plan.row
 */
static bool show_new(struct kw_remembered *r, kw_query *q, const struct kw_task_ref *ref,
		     const struct kw_plan_object *now, struct kw_kept_row *row)
{
	struct kw_row_identity id = identity(ref);
	bool is_mapped = r->words;

	if (!can_be_kept(q, now, is_mapped))
		return false;
	make_row(r, q, ref, now, row);
	if (kw_is_task_of(&q->slots.values[q->check_pid], ref) &&
	    !kw_damage_among(q->slots.values, q->columns.nr) &&
	    (!is_mapped || kw_batch_was_its_own(q, &q->show, ref))) {
		row->is_good = row->is_good && keep_values(r, q, row);
		q->show.rows++;
		kw_query_hand_out(q, q->slots.values, &id);
		return true;
	}
	row->is_good = false;
	return false;
}

/* Compute what moves of a row whose words are as they were. False when any of it is not as usual. */
static bool refresh(struct kw_remembered *r, kw_query *q, const struct kw_task_ref *ref,
		    struct kw_kept_row *row, const struct kw_plan_object *now)
{
	struct kw_value *values = kw_row_values(&r->table, row);

	kw_query_begin_row(q, ref);
	run_moving(r, q, now);
	for (size_t i = 0; i < r->parts.columns; i++) {
		struct kw_value *value = &values[r->parts.column[i]];

		*value = q->slots.values[r->parts.column[i]];
		if (value->type == KW_VAL_ABSENT && kw_damage_among(value, 1))
			return false;
	}
	return true;
}

static inline void note_same(struct kw_remembered *r, kw_query *q, struct kw_kept_row *row)
{
	kw_row_table_see(&r->table, row, q->row.run);
	row->changes = 0;
	q->counts.same++;
	q->show.rows++;
}

/* What goes on changing is remembered only now and then. */
static bool is_worth_it(const kw_query *q, const struct kw_kept_row *row)
{
	return row->changes < OFTEN || (q->row.run + (row->task >> 6)) % OFTEN == 0;
}

/* A row that is another, or is not known yet. Returns what is kept of it, or NULL. */
static struct kw_kept_row *show_other(struct kw_remembered *r, kw_query *q, const struct kw_task_ref *ref,
				      struct kw_kept_row *row, size_t fetched)
{
	struct kw_plan *plan = &q->show.plan;

	if (!row)
		row = kw_row_table_add(&r->table, ref->task);
	if (row) {
		kw_row_table_see(&r->table, row, q->row.run);
		row->is_good = false;
		row->changes++;
		plan->row = plan->objects + fetched * plan->nodes.nr;
		if (is_worth_it(q, row) && show_new(r, q, ref, plan->row, row))
			return row;
	}
	kw_query_take_process(q, ref);
	return row;
}

/* Rows that are mapped */

static void take(kw_query *q, const struct kw_known_row *known)
{
	struct kw_task_ref ref = kw_known_ref(known);

	kw_query_take_process(q, &ref);
}

static inline bool is_good(const struct kw_kept_row *kept, const struct kw_known_row *known)
{
	return kept && kept->task == known->id.address && kept->is_good && kept->pid == known->id.pid;
}

/* What is kept of a row may have been given back meanwhile. */
static struct kw_kept_row *find_kept(const struct kw_remembered *r, struct kw_kept_row *kept,
				     const struct kw_known_row *known)
{
	return kept && kept->task == known->id.address ? kept
						       : kw_row_table_find(&r->table, known->id.address);
}

/*
 * Whether the words of a row are what they were, and were its task's own. All of them are looked at before the struct pid is
 * asked: when it still names the task, they were the task's.
 */
static inline bool is_same(const struct kw_remembered *r, const struct kw_known_row *known,
			   struct kw_kept_row *row, bool is_live)
{
	if (!kw_plan_is_as_it_was(kw_row_witnesses(&r->table, row), row->witnesses))
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !is_live || kw_known_is_listed(known);
}

/* Tell which rows, KW_PLAN_ROWS at most, are as they were; returns how many. */
static unsigned int compare(const struct kw_remembered *r, const kw_query *q,
			    const struct kw_known_row *known, struct kw_kept_row *const *kept,
			    unsigned int nr, bool *ret_same)
{
	bool is_live = q->kernel->is_live;
	unsigned int nr_same = 0;

	for (unsigned int i = 0; i < nr; i++) {
		ret_same[i] = is_good(kept[i], &known[i]);
		if (ret_same[i])
			kw_plan_prefetch(kw_row_witnesses(&r->table, kept[i]), kept[i]->lines);
	}
	for (unsigned int i = 0; i < nr; i++) {
		ret_same[i] = ret_same[i] && is_same(r, &known[i], kept[i], is_live);
		nr_same += ret_same[i];
	}
	return nr_same;
}

/* Show rows that are as they were, and of which nothing is computed. */
static void show_still(struct kw_remembered *r, kw_query *q, const struct kw_known_row *known,
		       struct kw_kept_row *const *kept, unsigned int nr)
{
	const struct kw_known_row *end = known + nr;

	for (; known < end && !q->stop; known++, kept++) {
		note_same(r, q, *kept);
		kw_query_hand_out(q, kw_row_values(&r->table, *kept), &known->id);
	}
}

/* Show a row that is as it was, once what moves of it is computed. False, and nothing has been shown, when it can't be. */
static bool show_moving(struct kw_remembered *r, kw_query *q, const struct kw_known_row *known,
			struct kw_kept_row *row)
{
	const struct kw_plan_object *objects = kw_row_objects(row);
	struct kw_task_ref ref = kw_known_ref(known);

	if (!refresh(r, q, &ref, row, objects))
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (kw_faults_now(q->ctx) || (q->kernel->is_live && !kw_known_is_listed(known)) ||
	    !kw_plan_points_to(&q->show.plan, objects, r->parts.node.item, r->parts.node.nr))
		return false;
	show_still(r, q, known, &row, 1);
	return true;
}

/* Show a row in the usual way, or remember it anew. */
static void view_other(struct kw_remembered *r, kw_query *q, const struct kw_known_row *known,
		       struct kw_kept_row **kept, size_t viewed)
{
	struct kw_task_ref ref = kw_known_ref(known);

	*kept = show_other(r, q, &ref, find_kept(r, *kept, known), viewed);
}

/* Find the objects of rows that are not as they were, many at a time, and show all rows. */
static void view_mixed(struct kw_remembered *r, kw_query *q, const struct kw_known_row *known,
		       struct kw_kept_row **kept, const bool *same, unsigned int nr)
{
	struct kw_task_ref others[KW_PLAN_ROWS];
	size_t nr_others = 0, other = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (!same[i])
			others[nr_others++] = kw_known_ref(&known[i]);
	if (nr_others)
		kw_batch_view(q, &q->show, others, nr_others);
	for (unsigned int i = 0; i < nr && !q->stop; i++)
		if (!same[i])
			view_other(r, q, &known[i], &kept[i], other++);
		else if (!r->parts.columns)
			show_still(r, q, &known[i], &kept[i], 1);
		else if (!show_moving(r, q, &known[i], kept[i]))
			take(q, &known[i]);
	q->batch.stage = NULL;
}

/* So many as the processor's cache has room for. */
static void view_some(struct kw_remembered *r, kw_query *q, const struct kw_known_row *known,
		      struct kw_kept_row **kept, unsigned int nr)
{
	bool same[KW_PLAN_ROWS];
	unsigned int nr_same = compare(r, q, known, kept, nr, same);

	if (kw_faults_now(q->ctx))
		memset(same, false, nr);
	else if (nr_same == nr && !r->parts.columns) {
		show_still(r, q, known, kept, nr);
		return;
	}
	view_mixed(r, q, known, kept, same, nr);
}

bool kw_remembered_show(kw_query *q, const struct kw_known_leaf *leaf)
{
	struct kw_remembered *r = q->remembered;
	unsigned int most = (unsigned int)q->show.plan.view_rows;

	for (unsigned int i = 0; i < leaf->nr; i++)
		__builtin_prefetch(leaf->kept[i]);
	for (unsigned int i = 0; i < leaf->nr && !q->stop; i += most)
		view_some(r, q, leaf->rows + i, leaf->kept + i, leaf->nr - i < most ? leaf->nr - i : most);
	return true;
}

/* Rows that are copied */

/* Copy the objects of rows that are known, and tell which are as they were. False when memory runs out. */
static bool copy_known(struct kw_remembered *r, kw_query *q, const struct kw_task_ref *refs, unsigned int nr,
		       struct kw_kept_row *const *rows, bool *ret_same)
{
	const struct kw_plan_object *known[KW_PLAN_ROWS];
	struct kw_task_ref known_refs[KW_PLAN_ROWS];
	size_t which[KW_PLAN_ROWS], nr_known = 0;
	bool is_listed[KW_PLAN_ROWS];

	for (unsigned int i = 0; i < nr; i++) {
		ret_same[i] = false;
		if (!rows[i] || !rows[i]->is_good || rows[i]->pid != refs[i].pid)
			continue;
		known[nr_known] = kw_row_objects(rows[i]);
		known_refs[nr_known] = refs[i];
		which[nr_known++] = i;
	}
	if (kw_plan_fetch_known(q->ctx, &q->show.plan, known, which, nr_known))
		return false;
	if (q->kernel->is_live)
		kw_tasks_are_listed(q->ctx, q->kernel, known_refs, (unsigned int)nr_known, is_listed);
	for (size_t k = 0; k < nr_known; k++) {
		size_t i = which[k];

		ret_same[i] = (!q->kernel->is_live || is_listed[k]) &&
			      kw_plan_has_words(&q->show.plan,
						q->show.plan.objects + i * q->show.plan.nodes.nr,
						kw_row_words(&r->table, rows[i]));
	}
	return true;
}

static void copy_same(struct kw_remembered *r, kw_query *q, const struct kw_task_ref *ref,
		      struct kw_kept_row *row, const struct kw_plan_object *now)
{
	struct kw_row_identity id = identity(ref);

	if (r->parts.columns && !refresh(r, q, ref, row, now)) {
		kw_query_take_process(q, ref);
		return;
	}
	note_same(r, q, row);
	kw_query_hand_out(q, kw_row_values(&r->table, row), &id);
}

void kw_remembered_copy(kw_query *q, const struct kw_task_ref *refs, unsigned int nr)
{
	struct kw_remembered *r = q->remembered;
	struct kw_kept_row *rows[KW_PLAN_ROWS];
	size_t others[KW_PLAN_ROWS], nr_others = 0;
	bool same[KW_PLAN_ROWS];

	for (unsigned int i = 0; i < nr; i++)
		rows[i] = kw_row_table_find(&r->table, refs[i].task);
	if (!copy_known(r, q, refs, nr, rows, same)) {
		q->failed = q->stop = true;
		return;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (!same[i])
			others[nr_others++] = i;
	memcpy(q->batch.refs, refs, nr * sizeof(*refs));
	kw_batch_fetch(q, &q->show, nr, others, nr_others);
	for (unsigned int i = 0; i < nr && !q->stop; i++)
		if (same[i])
			copy_same(r, q, &refs[i], rows[i], q->show.plan.objects + i * q->show.plan.nodes.nr);
		else if (q->batch.is_good[i])
			show_other(r, q, &refs[i], rows[i], i);
		else
			kw_query_take_process(q, &refs[i]);
	q->batch.stage = NULL;
}
