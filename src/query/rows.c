/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Running a query of a source whose rows are no tasks.
 *
 * There are few of them (CPUs, interrupts, modules): each is fetched once, keys and columns together. With an order
 * their values are kept until all are there.
 */
#include "query/query.h"

#include "kernel/task_rows.h"
#include "memory/view.h"
#include "query/walker.h"
#include "util/array.h"
#include "util/error.h"

kw_status kw_rows_build(kw_query *q)
{
	kw_status status = KW_OK;

	q->show.before = &q->where;
	q->first_key = q->slots.nr;
	q->slots.nr += (uint32_t)q->sort.nr;
	if (!q->condition.expr)
		status = kw_query_add_samples(q, &q->show);
	for (uint32_t i = 0; !status && i < q->columns.nr; i++)
		status = kw_stage_add(q->ctx, &q->root, &q->show, &q->slots, &q->columns.item[i], i);
	for (uint32_t i = 0; !status && i < q->sort.nr; i++)
		status = kw_stage_add(q->ctx, &q->root, &q->show, &q->slots, &q->sort.item[i].binding,
				      q->first_key + i);
	return status ? status : kw_stage_finish(q->ctx, &q->root, &q->show, &q->slots);
}

/* Strings are copied: the row's are gone with the next one. */
static bool keep(kw_query *q, struct key_values *to, const struct kw_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct kw_value v = values[i];

		if (v.type == KW_VAL_STRING || v.type == KW_VAL_BYTES) {
			v.str = kw_names_add(&q->key_text, v.str, v.len);
			if (!v.str)
				return false;
		}
		if (!kw_array_push(to, v))
			return false;
	}
	return true;
}

/* Rows of what a process has are its own. */
static struct kw_row_identity identity(const kw_query *q, uint64_t object, uint32_t cpu)
{
	int32_t pid = q->root.source->walk_task ? (int32_t)cpu : 0;

	return (struct kw_row_identity){ .pid = pid, .tid = pid, .address = object };
}

static bool keep_row(kw_query *q, uint64_t object, uint32_t cpu)
{
	struct pending p = { .ref = { .task = object, .pid = (int32_t)cpu }, .order = q->pending.nr };

	return keep(q, &q->kept_values, q->slots.values, q->columns.nr) &&
	       keep(q, &q->key_values, &q->slots.values[q->first_key], q->sort.nr) &&
	       kw_array_push(&q->pending, p);
}

static void note_damage(kw_query *q, const struct kw_value *values)
{
	kw_status status = kw_damage_among(values, q->columns.nr + q->sort.nr);

	if (status)
		kw_query_damage(q, status);
}

static void take_row(kw_query *q, const struct kw_found_row *found)
{
	kw_status status;

	if (q->walker && q->walked++ == KW_WALKER_MAX_JOINED) {
		kw_query_damage(q, KW_FORMAT);
		q->stop = true;
		return;
	}
	kw_row_begin(&q->row, found->object);
	q->row.index = found->index;
	q->row.cpu = found->cpu;
	if (q->condition.expr) {
		status = kw_stage_run(&q->where, &q->row, q->slots.values);
		if (status)
			kw_query_damage(q, status);
		if (status || !kw_query_row_passes(q))
			return;
		kw_row_go_on(&q->row);
	}
	status = kw_stage_run(&q->show, &q->row, q->slots.values);
	if (status) {
		kw_query_damage(q, status);
		return;
	}
	note_damage(q, q->slots.values);
	if (kw_query_is_ordered(q)) {
		q->failed = !keep_row(q, found->object, found->cpu);
		q->stop = q->failed;
	} else {
		struct kw_row_identity id = identity(q, found->object, found->cpu);

		kw_query_hand_out(q, q->slots.values, &id);
	}
}

static inline bool read_groups(struct kw_query *q, const struct kw_found_row *found, size_t nr)
{
	struct kw_reading *r = q->show.readings.item, *end = r + q->show.readings.nr;
	bool failed = false;

	for (; r < end; r++) {
		r->rows.found = found;
		r->rows.nr = nr;
		q->row.wanted = r->wanted;
		failed |= r->read_rows(&q->row, r->layout, &r->rows);
	}
	return failed;
}

/* Again when a page fails meanwhile, as in kw_stage_run(). Tells whether a value could not be read. */
static inline bool read_rows(struct kw_query *q, const struct kw_found_row *found, size_t nr)
{
	q->show.rows += nr;
	for (;;) {
		uint64_t faults = kw_faults_now(q->ctx);
		bool failed = read_groups(q, found, nr);

		if (!kw_faults_since(q->ctx, faults))
			return failed;
		kw_row_go_on(&q->row);
	}
}

/* Read rows together and hand them out. */
static bool show_rows(const struct kw_found_row *found, size_t nr, void *arg)
{
	kw_query *q = arg;
	const struct kw_value *values = q->slots.values;
	struct kw_row_identity id = { 0 };
	size_t stride = q->slots.nr;
	bool failed;

	kw_row_begin(&q->row, 0);
	failed = read_rows(q, found, nr);
	if (q->limit && q->limit - q->counts.rows <= nr) {
		nr = q->limit - q->counts.rows;
		q->stop = true;
	}
	for (const struct kw_found_row *end = found + nr; found < end; found++, values += stride) {
		if (failed)
			note_damage(q, values);
		q->counts.rows++;
		id.address = found->object;
		if (!q->fn(values, &id, q->arg)) {
			q->stop = true;
			break;
		}
	}
	return !q->stop;
}

static bool take_rows(const struct kw_found_row *found, size_t nr, void *arg)
{
	kw_query *q = arg;

	for (size_t i = 0; i < nr && !q->stop; i++)
		take_row(q, &found[i]);
	return !q->stop;
}

static void show_kept(kw_query *q)
{
	for (size_t i = 0; i < q->pending.nr && !q->stop; i++) {
		const struct pending *p = &q->pending.item[i];
		struct kw_row_identity id = identity(q, p->ref.task, (uint32_t)p->ref.pid);

		kw_query_hand_out(q, &q->kept_values.item[p->order * q->columns.nr], &id);
	}
}

static kw_status walk_pids(kw_query *q, const void *layout)
{
	const struct kw_source_def *source = q->root.source;
	kw_status status = KW_OK;

	for (size_t i = 0; status != KW_NOTFOUND && !q->stop && i < q->pids.nr; i++) {
		status = kw_walk_pid(q->ctx, q->kernel, layout, source->walk_task, (int32_t)q->pids.item[i],
				     take_rows, q);
		if (status && status != KW_NOTFOUND)
			kw_query_damage(q, status);
	}
	return status == KW_NOTFOUND ? status : KW_OK;
}

struct joining {
	kw_query *q;
	const void *layout;
	kw_status status;
};

static kw_status walk_head(kw_query *q, uint32_t owner)
{
	struct kw_eval env = { .ctx = q->ctx, .scratch = &q->show.scratch };
	struct kw_value head;

	kw_expr_eval(q->walker->head, &env, &head);
	return kw_walker_run(q->ctx, q->kernel, q->walker, &head, owner, take_rows, q);
}

static bool walk_one(const struct kw_value *values, const struct kw_row_identity *task, void *arg)
{
	struct joining *j = arg;
	kw_query *q = j->q;

	q->outer_values = values;
	if (q->walker)
		j->status = walk_head(q, (uint32_t)task->tid);
	else
		j->status = q->root.source->walk_task(q->ctx, q->kernel, j->layout, task->address, task->pid,
						      take_rows, q);
	if (j->status && j->status != KW_NOTFOUND)
		kw_query_damage(q, j->status);
	return !q->stop && j->status != KW_NOTFOUND;
}

/* What each row that the query in front gives has. */
static kw_status walk_outer(kw_query *q, const void *layout)
{
	struct joining j = { .q = q, .layout = layout };
	kw_status status = kw_query_run(q->outer, walk_one, &j);

	return j.status == KW_NOTFOUND ? j.status : status;
}

static kw_status walk(kw_query *q, const void *layout)
{
	const struct kw_source_def *source = q->root.source;

	if (q->reads_rows)
		return source->walk(q->ctx, q->kernel, layout, show_rows, q);
	q->walked = 0;
	if (q->outer)
		return walk_outer(q, layout);
	if (q->walker)
		return walk_head(q, 0);
	if (q->one_task)
		return source->walk_task(q->ctx, q->kernel, layout, q->one_task, q->one_pid, take_rows, q);
	return q->selects_pids ? walk_pids(q, layout) : source->walk(q->ctx, q->kernel, layout, take_rows, q);
}

kw_status kw_rows_run(kw_query *q)
{
	const struct kw_source_def *source = q->root.source;
	kw_status status;

	if (source->subject && !q->layout) {
		q->layout = kw_layout_get(q->ctx, q->kernel, source->subject);
		if (!q->layout)
			return q->ctx->status;
	}
	status = walk(q, q->layout);
	if (q->failed)
		return KW_OK;
	if (status == KW_NOTFOUND)
		return kw_fail(q->ctx, KW_UNREADABLE,
			       "%s: this kernel has no such thing, or its symbols are not known",
			       source->pub.name);
	if (status)
		kw_query_damage(q, status);
	if (kw_query_is_ordered(q)) {
		if (!kw_query_order(q))
			return kw_fail_nomem(q->ctx);
		show_kept(q);
	}
	return KW_OK;
}
