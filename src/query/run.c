/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Running a query.
 *
 * Without an order rows are handed out as they are walked. With one, a first stage fetches only the keys of all rows,
 * and the columns are fetched for the rows that will be shown, after checking that each is still the same task.
 */
#include "query/query.h"

#include <inttypes.h>
#include <string.h>

#include "memory/view.h"
#include "query/flat.h"
#include "query/program.h"
#include "util/array.h"
#include "util/error.h"

#define MAX_TRIES 3

void kw_query_damage(kw_query *q, kw_status status)
{
	if (!q->counts.damaged++)
		q->damage = status;
}

enum outcome {
	ROW_GOOD,
	ROW_GONE,    /* the task has ended */
	ROW_TORN,    /* it went on changing */
	ROW_DAMAGED, /* it can't be read, or is none */
};

/* Where a dump lacks the page with the ID, the kernel's own table has to be believed. */
static bool may_be_task_of(const kw_query *q, const struct kw_value *pid, const struct kw_task_ref *ref)
{
	return kw_is_task_of(pid, ref) || (!q->kernel->is_live && kw_is_missing(pid));
}

/*
 * Run a stage on a task. On a changing target the task must still be the one that was found after its values have
 * been copied, and the objects they came from must still be its own; else the row is read again. A task that is not
 * alive, or of another ID, and yet is still in the table after all tries, has not ended.
 *
 * @param pid  where the stage puts the task's ID, or NULL
 */
static enum outcome run_stage(kw_query *q, struct kw_stage *stage, const struct kw_task_ref *ref,
			      const struct kw_value *pid, kw_status *status)
{
	bool right = true;

	if (kw_batch_take(q, stage, ref, pid, status))
		return ROW_GOOD;
	/* Its memory, and its ID, may have been another task's when its neighbour's were read. */
	if (q->kernel->is_live && !q->passed && kw_memory_is_copied(q->ctx->target->memory))
		kw_plan_forget_root(q->ctx, &stage->plan, ref->task);
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		bool alive;

		kw_query_begin_row(q, ref);
		*status = kw_stage_run(stage, &q->row, q->slots.values);
		right = !*status && (!pid || may_be_task_of(q, pid, ref));
		if (!q->kernel->is_live)
			break;
		alive = kw_task_is_alive(q->ctx, q->kernel, ref);
		if (!alive && !kw_task_is_listed(q->ctx, q->kernel, ref))
			return ROW_GONE;
		right = right && alive;
		if (right && !kw_plan_changed(q->ctx, &stage->plan))
			return ROW_GOOD;
		/* What was read may have been in the cache from before the memory became this task's. */
		kw_plan_forget(q->ctx, &stage->plan);
		q->counts.retried++;
	}
	if (right)
		return q->kernel->is_live ? ROW_TORN : ROW_GOOD;
	if (q->kernel->is_live && kw_task_has_left_table(q->ctx, q->kernel, ref))
		return ROW_GONE;
	*status = *status ? *status : KW_FORMAT;
	return ROW_DAMAGED;
}

static kw_status damage_of(const struct kw_value *value)
{
	switch (value->absent) {
	case KW_ABSENT_NOT_IN_DUMP: return KW_EXCLUDED;
	case KW_ABSENT_UNREADABLE: return KW_FAILED;
	case KW_ABSENT_UNMAPPED: return KW_ABSENT;
	case KW_ABSENT_DAMAGED: return KW_FORMAT;
	default: return KW_OK;
	}
}

kw_status kw_damage_among(const struct kw_value *values, size_t nr)
{
	for (const struct kw_value *end = values + nr; values < end; values++) {
		kw_status status = values->type == KW_VAL_ABSENT ? damage_of(values) : KW_OK;

		if (__builtin_expect(status != KW_OK, 0))
			return status;
	}
	return KW_OK;
}

static bool matches_name(const kw_query *q, const struct kw_value *comm)
{
	for (size_t i = 0; comm->type == KW_VAL_STRING && i < q->names.nr; i++)
		if (strlen(q->names.item[i]) == comm->len &&
		    memcmp(q->names.item[i], comm->str, comm->len) == 0)
			return true;
	return false;
}

static bool contains(const struct numbers *numbers, uint64_t number)
{
	for (size_t i = 0; i < numbers->nr; i++)
		if (numbers->item[i] == number)
			return true;
	return false;
}

/* The IDs asked for, as the initial namespace has them. */
static const struct numbers *wanted_pids(const kw_query *q)
{
	return q->pid_ns.address ? &q->initial_pids : &q->pids;
}

/* Selectors add to each other, as in ps. */
static bool is_selected(kw_query *q, const struct kw_task_ref *ref)
{
	const struct kw_value *v = q->slots.values;
	enum outcome outcome;
	kw_status status;

	if (!q->selects_pids && !q->selects_users && !q->selects_names)
		return true;
	if (q->selects_pids && contains(wanted_pids(q), (uint64_t)ref->pid))
		return true;
	if (!q->selects_users && !q->selects_names)
		return false;
	outcome = run_stage(q, &q->select, ref, NULL, &status);
	if (outcome == ROW_DAMAGED)
		kw_query_damage(q, status);
	if (outcome == ROW_DAMAGED || outcome == ROW_GONE)
		return false;
	if (q->selects_users && v[q->select_uid].type != KW_VAL_ABSENT &&
	    contains(&q->users, v[q->select_uid].u))
		return true;
	if (q->selects_names && matches_name(q, &v[q->select_comm]))
		return true;
	/* What could not be looked at may be what was asked for. */
	status = q->selects_users ? damage_of(&v[q->select_uid]) : KW_OK;
	if (status)
		kw_query_damage(q, status);
	return false;
}

/*
 * Show a row.
 *
 * @param id  pid, depth and, where rows have an order, start_time are set
 * @param counted  the row counts as damaged already
 */
static void show_row(kw_query *q, const struct kw_task_ref *ref, struct kw_row_identity *id, bool counted)
{
	const struct kw_value *v = q->slots.values;
	kw_status status;
	enum outcome outcome = run_stage(q, &q->show, ref, &v[q->check_pid], &status);

	/* The task_struct may have become another's since its keys were fetched. */
	if (outcome == ROW_GONE ||
	    (outcome != ROW_DAMAGED && kw_query_is_ordered(q) && v[q->check_start].type != KW_VAL_ABSENT &&
	     v[q->check_start].u != id->start_time)) {
		q->counts.gone++;
		return;
	}
	if (outcome != ROW_DAMAGED)
		status = kw_damage_among(v, q->columns.nr);
	if (status && !counted)
		kw_query_damage(q, status);
	if (outcome == ROW_DAMAGED)
		return;
	if (outcome == ROW_TORN)
		q->counts.torn++;
	id->tid = ref->pid;
	id->address = ref->task;
	kw_query_hand_out(q, q->slots.values, id);
}

/* Strings of keys are copied: the plan reuses its storage with the next row. */
static bool keep_keys(kw_query *q)
{
	for (uint32_t i = 0; i < q->sort.nr; i++) {
		struct kw_value v = q->slots.values[q->first_key + i];

		if (v.type == KW_VAL_STRING || v.type == KW_VAL_BYTES) {
			v.str = kw_names_add(&q->key_text, v.str, v.len);
			if (!v.str)
				return false;
		}
		if (!kw_array_push(&q->key_values, v))
			return false;
	}
	return true;
}

static void keep_row(kw_query *q, const struct kw_task_ref *ref)
{
	const struct kw_value *v = q->slots.values;
	struct pending p = { .ref = *ref, .order = q->pending.nr, .pid = q->leader_pid, .tid = ref->pid };
	kw_status status;
	enum outcome outcome = run_stage(q, &q->keys, ref, &v[q->tid_slot], &status);

	if (outcome == ROW_GONE) {
		q->counts.gone++;
		return;
	}
	/* A key that could not be read puts the row in a wrong place. */
	if (outcome != ROW_DAMAGED)
		status = kw_damage_among(&v[q->first_key], q->sort.nr);
	p.damaged = status != KW_OK;
	if (p.damaged)
		kw_query_damage(q, status);
	if (outcome == ROW_DAMAGED)
		return;
	p.start_time = v[q->start_slot].type == KW_VAL_ABSENT ? 0 : v[q->start_slot].u;
	if (q->forest && v[q->ppid_slot].type != KW_VAL_ABSENT)
		p.ppid = (int32_t)v[q->ppid_slot].i;
	if (!keep_keys(q) || !kw_array_push(&q->pending, p))
		q->failed = q->stop = true;
}

bool kw_query_row_passes(kw_query *q)
{
	const struct kw_value *result = &q->slots.values[q->where_slot];
	kw_status status = damage_of(result);

	/* What could not be looked at may be what was asked for. */
	if (status)
		kw_query_damage(q, status);
	return result->type == KW_VAL_BOOL && result->u;
}

static bool passes(kw_query *q, const struct kw_task_ref *ref)
{
	kw_status status;
	enum outcome outcome = run_stage(q, &q->where, ref, &q->slots.values[q->where_pid], &status);

	if (outcome == ROW_GONE)
		q->counts.gone++;
	if (outcome == ROW_DAMAGED)
		kw_query_damage(q, status);
	return outcome != ROW_GONE && outcome != ROW_DAMAGED && kw_query_row_passes(q);
}

static void take_row(kw_query *q, const struct kw_task_ref *ref)
{
	if (q->condition.expr) {
		q->passed = passes(q, ref);
		if (!q->passed)
			return;
	}
	if (kw_query_is_ordered(q)) {
		keep_row(q, ref);
	} else {
		struct kw_row_identity id = { .pid = q->leader_pid };

		show_row(q, ref, &id, false);
	}
	q->passed = false;
}

void kw_query_take_process(kw_query *q, const struct kw_task_ref *ref)
{
	if (!is_selected(q, ref))
		return;
	q->leader_pid = ref->pid;
	if (q->threads)
		kw_query_each_thread(q, ref, take_row);
	else
		take_row(q, ref);
}

/* A task found by another namespace's table is named there as it is by that; rows are found as everywhere by the first. */
static bool name_initially(kw_query *q, struct kw_task_ref *ref)
{
	uint32_t pid;
	kw_status status = kw_read_u32(q->ctx, ref->task + q->kernel->task.pid, &pid);

	if (status)
		kw_query_damage(q, status);
	ref->pid = (int32_t)pid;
	return !status;
}

/* Those that the namespace does not have are left out. */
static kw_status translate_pids(kw_query *q)
{
	q->initial_pids.nr = 0;
	for (size_t i = 0; q->pid_ns.address && i < q->pids.nr; i++) {
		struct kw_task_ref ref;
		kw_status status = kw_pid_lookup_in(q->ctx, q->kernel, q->pid_ns.address,
						    (int32_t)q->pids.item[i], &ref);

		if (status && status != KW_NOTFOUND)
			kw_query_damage(q, status);
		else if (!status && name_initially(q, &ref) &&
			 !kw_array_push(&q->initial_pids, (uint32_t)ref.pid))
			return kw_fail_nomem(q->ctx);
	}
	return KW_OK;
}

static unsigned int name_all_initially(kw_query *q, struct kw_task_ref *refs, unsigned int nr)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (name_initially(q, &refs[i]))
			refs[kept++] = refs[i];
	return kept;
}

static kw_status walk_pids(kw_query *q)
{
	const struct numbers *pids = wanted_pids(q);

	for (size_t i = 0; i < pids->nr && !q->stop; i++) {
		struct kw_task_ref ref;
		kw_status status = kw_pid_lookup(q->ctx, q->kernel, (int32_t)pids->item[i], &ref);

		if (!status)
			kw_query_take_process(q, &ref);
		else if (status != KW_NOTFOUND)
			kw_query_damage(q, status);
	}
	return KW_OK;
}

/* The stage that sees every task of a walk. */
static struct kw_stage *first_stage(kw_query *q)
{
	if (q->selects_users || q->selects_names)
		return &q->select;
	if (q->condition.expr)
		return &q->where;
	return kw_query_is_ordered(q) ? &q->keys : &q->show;
}

/* Threads are found one by one, so that nothing is known of them beforehand. */
static void copy_batch(kw_query *q, const struct kw_task_ref *refs, unsigned int nr)
{
	struct kw_stage *stage = first_stage(q);

	if (q->remembered) {
		kw_remembered_copy(q, refs, nr);
		return;
	}
	if (!q->threads || stage == &q->select) {
		memcpy(q->batch.refs, refs, nr * sizeof(*refs));
		kw_batch_fetch(q, stage, nr, NULL, 0);
	}
	for (unsigned int i = 0; i < nr && !q->stop; i++)
		kw_query_take_process(q, &refs[i]);
	q->batch.stage = NULL;
}

/* Show rows that were viewed; those about which anything is not as usual are taken one by one. */
static void show_viewed(kw_query *q, const struct kw_task_ref *refs, unsigned int nr)
{
	const struct kw_value *values = q->slots.values;
	struct kw_row_identity id = { 0 };
	kw_status status;

	for (unsigned int i = 0; i < nr && !q->stop; i++) {
		if (!kw_batch_take(q, &q->show, &refs[i], &values[q->check_pid], &status)) {
			kw_query_take_process(q, &refs[i]);
			continue;
		}
		status = kw_damage_among(values, q->columns.nr);
		if (status)
			kw_query_damage(q, status);
		id.pid = id.tid = refs[i].pid;
		id.address = refs[i].task;
		kw_query_hand_out(q, values, &id);
	}
}

static void view_and_take(kw_query *q, const struct kw_task_ref *refs, unsigned int nr)
{
	struct kw_stage *stage = first_stage(q);
	unsigned int most = (unsigned int)stage->plan.view_rows, some;

	for (unsigned int i = 0; i < nr && !q->stop; i += some) {
		some = nr - i < most ? nr - i : most;
		kw_batch_view(q, stage, refs + i, some);
		if (q->is_plain && !q->stop) {
			show_viewed(q, refs + i, some);
			continue;
		}
		/* Threads are found one by one: their leaders' objects are on their way, no more. */
		if (q->threads && stage != &q->select)
			q->batch.stage = NULL;
		for (unsigned int k = i; k < i + some && !q->stop; k++)
			kw_query_take_process(q, &refs[k]);
	}
	q->batch.stage = NULL;
}

/* The objects of a batch do not depend on each other: all are on their way before the first is looked at. */
static void look_at_batch(kw_query *q, const struct kw_task_ref *refs, unsigned int nr)
{
	uint64_t tasks[KW_TASK_BATCH];

	for (unsigned int i = 0; i < nr; i++)
		tasks[i] = refs[i].task;
	kw_plan_view(q->ctx, &first_stage(q)->plan, tasks, nr);
	view_and_take(q, refs, nr);
}

/* Get the next processes that are to be taken. */
static bool next_batch(kw_query *q, struct kw_pid_walk *walk, struct kw_task_ref *refs, unsigned int *ret_nr)
{
	bool is_mapped = !kw_memory_is_copied(q->ctx->target->memory);

	/* What is taken one by one takes the place of values that have been begun. */
	q->is_flat_begun = false;
	if (is_mapped && q->is_flat && !q->pid_ns.address)
		return kw_leaves_next(q, walk, kw_flat_show, refs, ret_nr);
	if (is_mapped && q->remembered)
		return kw_leaves_next(q, walk, kw_remembered_show, refs, ret_nr);
	return kw_pid_walk_next(q->ctx, q->kernel, walk, refs, ret_nr);
}

static kw_status walk_all(kw_query *q)
{
	struct kw_task_ref refs[KW_TASK_BATCH];
	struct kw_pid_walk walk;
	unsigned int nr;
	uint64_t ns = q->pid_ns.address ? q->pid_ns.address : q->kernel->globals.init_pid_ns;
	kw_status status = kw_task_walk_begin(q->ctx, q->kernel, ns, &walk);

	if (status)
		return kw_fail(q->ctx, KW_UNREADABLE, "%s: %s", kw_memory_name(q->ctx->target->memory),
			       kw_error(q->ctx));
	kw_leaves_begin(&q->leaves);
	kw_remembered_begin(q);
	while (!q->stop && next_batch(q, &walk, refs, &nr)) {
		if (q->pid_ns.address)
			nr = name_all_initially(q, refs, nr);
		if (kw_memory_is_copied(q->ctx->target->memory))
			copy_batch(q, refs, nr);
		else
			look_at_batch(q, refs, nr);
	}
	kw_remembered_end(q);
	if (q->anew)
		kw_leaves_forget(&q->leaves);
	if (walk.damaged)
		kw_query_damage(q, walk.damage);
	if (walk.xa.damaged)
		kw_query_damage(q, walk.xa.damage);
	q->counts.listed = walk.nr_listed;
	kw_pid_walk_end(&walk);
	q->counts.damaged += walk.damaged + walk.xa.damaged - !!walk.damaged - !!walk.xa.damaged;
	return KW_OK;
}

/* Fetch the columns of the pending rows from the first on: no more than will be shown. */
static void fetch_pending(kw_query *q, size_t first)
{
	size_t nr = q->pending.nr - first;

	if (q->limit && q->limit - q->counts.rows < nr)
		nr = q->limit - q->counts.rows;
	if (nr > KW_PLAN_ROWS)
		nr = KW_PLAN_ROWS;
	for (size_t i = 0; i < nr; i++)
		q->batch.refs[i] = q->pending.item[first + i].ref;
	kw_batch_fetch(q, &q->show, nr, NULL, 0);
}

/* The second step: the columns of the rows that are left, if they are still the same tasks. */
static void show_pending(kw_query *q)
{
	for (size_t i = 0; i < q->pending.nr && !q->stop; i++) {
		const struct pending *p = &q->pending.item[i];
		struct kw_row_identity id;

		if (i == q->ordered)
			kw_query_order_rest(q);
		id = (struct kw_row_identity){ .pid = p->pid,
					       .start_time = p->start_time,
					       .depth = p->depth };
		if (i % KW_PLAN_ROWS == 0 && kw_memory_is_copied(q->ctx->target->memory))
			fetch_pending(q, i);
		if (!q->stop)
			show_row(q, &p->ref, &id, p->damaged);
	}
	q->batch.stage = NULL;
}

static kw_status order_and_show(kw_query *q)
{
	if (!kw_query_order(q))
		return kw_fail_nomem(q->ctx);
	show_pending(q);
	return KW_OK;
}

static kw_status say_damage(kw_query *q)
{
	const char *what = q->root.source->walk ? q->root.source->pub.name : "tasks";

	return kw_fail(q->ctx, KW_INCOMPLETE, "%s: %" PRIu64 " of the %s could not be read wholly (%s)",
		       kw_memory_name(q->ctx->target->memory), q->counts.damaged, what,
		       kw_absent_text(kw_absent_of_status(q->damage)));
}

static void begin_stages(kw_query *q)
{
	kw_stage_begin(&q->select, q->slots.values);
	kw_stage_begin(&q->where, q->slots.values);
	kw_stage_begin(&q->keys, q->slots.values);
	kw_stage_begin(&q->show, q->slots.values);
}

kw_status kw_query_scan(kw_query *q)
{
	kw_status status = KW_OK;

	begin_stages(q);
	q->row.run++;
	q->row.clock = NULL;
	if ((q->show.uses | q->keys.uses | q->where.uses) & KW_USES_CLOCK) {
		if (kw_clock_read(q->ctx, q->kernel, &q->clock) == KW_OK)
			q->row.clock = &q->clock;
		kw_clear_error(q->ctx);
	}
	if (q->pid_ns.address)
		status = translate_pids(q);
	if (status)
		return status;
	if (q->root.source->walk)
		status = kw_rows_run(q);
	else if (q->selects_pids && !q->selects_users && !q->selects_names)
		status = walk_pids(q);
	else
		status = walk_all(q);
	if (!status && q->failed)
		status = kw_fail_nomem(q->ctx);
	if (!status && !q->root.source->walk && kw_query_is_ordered(q))
		status = order_and_show(q);
	q->counts.conditions = q->where.rows;
	q->counts.keys = q->keys.rows;
	q->counts.columns = q->show.rows;
	if (!status && q->counts.damaged)
		status = say_damage(q);
	return status;
}

static void begin_run(kw_query *q, kw_row_fn fn, void *arg)
{
	q->fn = fn;
	q->arg = arg;
	q->stop = q->failed = q->passed = false;
	q->counts = (struct kw_query_counts){ 0 };
	q->where.rows = q->keys.rows = q->show.rows = 0;
	q->damage = KW_OK;
	q->pending.nr = 0;
	q->key_values.nr = 0;
	q->kept_values.nr = 0;
	if (q->key_text.nr)
		kw_names_clear(&q->key_text);
}

kw_status kw_query_scan_all(kw_query *q, kw_row_fn fn, void *arg)
{
	q->one_task = 0;
	begin_run(q, fn, arg);
	return kw_program_scan(q);
}

static kw_status run(kw_query *q, kw_row_fn fn, void *arg)
{
	kw_status status;

	begin_run(q, fn, arg);
	kw_pass_begin(q->ctx);
	status = q->program ? kw_program_run(q) : kw_query_scan(q);
	kw_pass_end(q->ctx);
	return status;
}

kw_status kw_query_run(kw_query *q, kw_row_fn fn, void *arg)
{
	q->one_task = 0;
	return run(q, fn, arg);
}

kw_status kw_query_run_task(kw_query *q, const struct kw_row_identity *task, kw_row_fn fn, void *arg)
{
	if (!q->root.source->walk_task || !task->address)
		return kw_fail(q->ctx, KW_INVALID, "rows of %s are no task's", q->root.source->pub.name);
	q->one_task = task->address;
	q->one_pid = task->tid;
	return run(q, fn, arg);
}
