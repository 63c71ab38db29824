/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queries over processes and threads.
 *
 * Without an order rows are handed out as they are walked. With one, a first stage fetches only the keys of all rows,
 * and the columns are fetched for the rows that will be shown, after checking that each is still the same task.
 */
#include <kwalk/query.h>

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "query/stage.h"
#include "util/array.h"
#include "util/error.h"

#define MAX_COLUMNS 256
#define MAX_TRIES   3
#define PREFETCH    4

struct names {
	char **item;
	size_t nr, cap;
};

struct bindings {
	struct kw_binding *item;
	size_t nr, cap;
};

struct sort_key {
	struct kw_binding binding;
	bool descending;
};

struct sort_keys {
	struct sort_key *item;
	size_t nr, cap;
};

struct numbers {
	uint32_t *item;
	size_t nr, cap;
};

/* A row whose keys have been fetched; the keys themselves lie in one array, nr_keys a row. */
struct pending {
	struct kw_task_ref ref;
	int32_t pid, tid, ppid;
	uint64_t start_time;
	size_t order; /* of being found: the last key */
	uint32_t depth;
};

struct pendings {
	struct pending *item;
	size_t nr, cap;
};

struct key_values {
	struct kw_value *item;
	size_t nr, cap;
};

struct kw_query {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	bool threads, forest;
	uint64_t limit;
	struct names text; /* everything cut from the options */
	struct bindings columns;
	struct kw_column *shown;
	struct sort_keys sort;
	struct numbers pids, users;
	struct names names;
	bool selects_pids, selects_users, selects_names;
	struct kw_slots slots;
	uint32_t first_key;					  /* slot of the first sort key */
	uint32_t tid_slot, start_slot, ppid_slot;		  /* of the key stage */
	uint32_t select_uid, select_comm, check_pid, check_start; /* other hidden slots */
	struct kw_stage select, keys, show;
	struct kw_row row;
	struct kw_clock clock;
	struct kw_query_counts counts;
	kw_status damage; /* state of the first damaged row */
	/* the run under way */
	kw_row_fn fn;
	void *arg;
	bool stop, failed;
	int32_t leader_pid;
	struct pendings pending;
	struct key_values key_values;
	struct names key_text;
};

/* --- binding ------------------------------------------------------------------------------------------------- */

static char *keep_text(struct names *names, const char *from, size_t len)
{
	char *copy = strndup(from, len);

	if (copy && kw_array_push(names, copy))
		return copy;
	free(copy);
	return NULL;
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->item[i]);
	names->nr = 0;
}

typedef kw_status (*element_fn)(kw_query *q, const char *element, size_t len);

/* Call fn for each element of a list; an empty element is an error. */
static kw_status each_element(kw_query *q, const char *what, const char *list, element_fn fn)
{
	const char *at = list;

	for (;;) {
		size_t len = strcspn(at, ",");
		kw_status status;

		if (!len)
			return kw_fail(q->ctx, KW_INVALID, "%s \"%s\": an element is empty", what, list);
		status = fn(q, at, len);
		if (status)
			return status;
		if (!at[len])
			return KW_OK;
		at += len + 1;
	}
}

static kw_status add_column(kw_query *q, const char *element, size_t len)
{
	const char *equals = memchr(element, '=', len);
	char *name = keep_text(&q->text, element, equals ? (size_t)(equals - element) : len);
	struct kw_binding binding;
	kw_status status;

	if (!name)
		return kw_fail_nomem(q->ctx);
	if (q->columns.nr == MAX_COLUMNS)
		return kw_fail(q->ctx, KW_INVALID, "more than %d columns", MAX_COLUMNS);
	status = kw_bind(q->ctx, q->kernel, name, &binding);
	if (status)
		return status;
	if (equals) {
		binding.column.header = keep_text(&q->text, equals + 1, len - (size_t)(equals + 1 - element));
		if (!binding.column.header)
			return kw_fail_nomem(q->ctx);
	}
	return kw_array_push(&q->columns, binding) ? KW_OK : kw_fail_nomem(q->ctx);
}

static kw_status add_sort_key(kw_query *q, const char *element, size_t len)
{
	struct sort_key key = { .descending = *element == '-' };
	size_t sign = *element == '-' || *element == '+';
	char *name = keep_text(&q->text, element + sign, len - sign);
	kw_status status;

	if (!name)
		return kw_fail_nomem(q->ctx);
	if (q->sort.nr == MAX_COLUMNS)
		return kw_fail(q->ctx, KW_INVALID, "more than %d sort keys", MAX_COLUMNS);
	status = kw_bind(q->ctx, q->kernel, name, &key.binding);
	if (status)
		return kw_fail_in(q->ctx, "sort");
	return kw_array_push(&q->sort, key) ? KW_OK : kw_fail_nomem(q->ctx);
}

static bool parse_number(const char *text, size_t len, uint64_t limit, uint32_t *ret)
{
	uint64_t number = 0;

	if (!len || len > 10)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	*ret = (uint32_t)number;
	return number < limit;
}

static kw_status add_pid(kw_query *q, const char *element, size_t len)
{
	uint32_t pid;

	if (!parse_number(element, len, KW_PID_LIMIT, &pid))
		return kw_fail(q->ctx, KW_INVALID, "process ID \"%.*s\" is not a number below %d", (int)len,
			       element, KW_PID_LIMIT);
	return kw_array_push(&q->pids, pid) ? KW_OK : kw_fail_nomem(q->ctx);
}

static kw_status add_user(kw_query *q, const char *element, size_t len)
{
	uint32_t uid;
	char name[256];

	if (!parse_number(element, len, 1ULL << 32, &uid)) {
		struct passwd *pwd;

		snprintf(name, sizeof(name), "%.*s", (int)(len < 255 ? len : 255), element);
		if (kw_memory_kind(q->ctx->target->memory) != KW_SOURCE_LIVE)
			return kw_fail(q->ctx, KW_INVALID,
				       "user \"%s\": a guest or dump has no user names here; give the number",
				       name);
		pwd = getpwnam(name);
		if (!pwd)
			return kw_fail(q->ctx, KW_INVALID, "user \"%s\" does not exist", name);
		uid = pwd->pw_uid;
	}
	return kw_array_push(&q->users, uid) ? KW_OK : kw_fail_nomem(q->ctx);
}

static kw_status add_name(kw_query *q, const char *element, size_t len)
{
	return keep_text(&q->names, element, len) ? KW_OK : kw_fail_nomem(q->ctx);
}

static kw_status parse_options(kw_query *q, const struct kw_query_options *o)
{
	kw_status status;

	if (o->source && strcmp(o->source, "threads") == 0)
		q->threads = true;
	else if (o->source && strcmp(o->source, "tasks") != 0)
		return kw_fail(q->ctx, KW_INVALID, "unknown source \"%s\": expected tasks or threads",
			       o->source);
	q->limit = o->limit;
	q->forest = o->forest;
	q->selects_pids = o->pids;
	q->selects_users = o->users;
	q->selects_names = o->names;
	status = each_element(q, "columns", o->columns ? o->columns : "pid,comm", add_column);
	if (!status && o->sort)
		status = each_element(q, "sort keys", o->sort, add_sort_key);
	if (!status && o->pids)
		status = each_element(q, "process IDs", o->pids, add_pid);
	if (!status && o->users)
		status = each_element(q, "users", o->users, add_user);
	if (!status && o->names)
		status = each_element(q, "names", o->names, add_name);
	return status;
}

static bool is_ordered(const kw_query *q)
{
	return q->sort.nr || q->forest;
}

static kw_status build_show(kw_query *q)
{
	kw_status status = KW_OK;

	for (uint32_t i = 0; !status && i < q->columns.nr; i++)
		status = kw_stage_add(q->ctx, q->kernel, &q->show, &q->slots, &q->columns.item[i], i);
	q->check_pid = q->slots.nr++;
	if (!status)
		status = kw_stage_add_path(q->ctx, q->kernel, &q->show, "pid", q->check_pid);
	if (!status && is_ordered(q)) {
		q->check_start = q->slots.nr++;
		status = kw_stage_add_path(q->ctx, q->kernel, &q->show, "start_boottime", q->check_start);
	}
	return status ? status : kw_stage_finish(q->ctx, &q->show);
}

static kw_status build_select(kw_query *q)
{
	kw_status status = KW_OK;

	q->select_uid = q->slots.nr++;
	q->select_comm = q->slots.nr++;
	if (q->selects_users)
		status = kw_stage_add_path(q->ctx, q->kernel, &q->select, "real_cred.euid", q->select_uid);
	if (!status && q->selects_names)
		status = kw_stage_add_path(q->ctx, q->kernel, &q->select, "comm", q->select_comm);
	return status ? status : kw_stage_finish(q->ctx, &q->select);
}

static kw_status build_keys(kw_query *q)
{
	static const char *const paths[] = { "pid", "start_boottime", "real_parent.tgid" };
	kw_status status = KW_OK;

	q->first_key = q->slots.nr;
	q->slots.nr += (uint32_t)q->sort.nr;
	for (uint32_t i = 0; !status && i < q->sort.nr; i++)
		status = kw_stage_add(q->ctx, q->kernel, &q->keys, &q->slots, &q->sort.item[i].binding,
				      q->first_key + i);
	q->tid_slot = q->slots.nr;
	q->start_slot = q->slots.nr + 1;
	q->ppid_slot = q->slots.nr + 2;
	q->slots.nr += 3;
	for (uint32_t i = 0; !status && i < 3; i++)
		status = kw_stage_add_path(q->ctx, q->kernel, &q->keys, paths[i], q->tid_slot + i);
	return status ? status : kw_stage_finish(q->ctx, &q->keys);
}

static kw_status build_row(kw_query *q)
{
	q->row.ctx = q->ctx;
	q->row.kernel = q->kernel;
	q->row.is_thread = q->threads;
	if (q->show.needs_cputime || q->keys.needs_cputime) {
		q->row.cputime = kw_cputime_new(q->ctx, q->kernel);
		if (!q->row.cputime)
			return q->ctx->status;
	}
	if ((q->show.needs_users || q->keys.needs_users) &&
	    kw_memory_kind(q->ctx->target->memory) == KW_SOURCE_LIVE) {
		q->row.users = kw_users_new();
		if (!q->row.users)
			return kw_fail_nomem(q->ctx);
	}
	q->shown = calloc(q->columns.nr, sizeof(*q->shown));
	q->slots.values = calloc(q->slots.nr, sizeof(*q->slots.values));
	if (!q->shown || !q->slots.values)
		return kw_fail_nomem(q->ctx);
	for (size_t i = 0; i < q->columns.nr; i++)
		q->shown[i] = q->columns.item[i].column;
	return KW_OK;
}

static kw_status build(kw_query *q, const struct kw_query_options *opts)
{
	kw_status status = kw_kernel_get(q->ctx, &q->kernel);

	if (!status)
		status = parse_options(q, opts);
	q->slots.nr = (uint32_t)q->columns.nr;
	if (!status)
		status = build_show(q);
	if (!status)
		status = build_select(q);
	if (!status && is_ordered(q))
		status = build_keys(q);
	return status ? status : build_row(q);
}

kw_status kw_query_new(kw_ctx *ctx, const struct kw_query_options *opts, kw_query **ret)
{
	struct kw_query_options all = { 0 };
	kw_query *q = calloc(1, sizeof(*q));
	kw_status status;

	if (!q)
		return kw_fail_nomem(ctx);
	if (opts)
		memcpy(&all, opts, opts->size < sizeof(all) ? opts->size : sizeof(all));
	q->ctx = ctx;
	kw_pass_begin(ctx);
	status = build(q, &all);
	kw_pass_end(ctx);
	if (status) {
		kw_query_free(q);
		return status;
	}
	*ret = q;
	return KW_OK;
}

void kw_query_free(kw_query *q)
{
	if (!q)
		return;
	kw_stage_deinit(&q->select);
	kw_stage_deinit(&q->keys);
	kw_stage_deinit(&q->show);
	kw_cputime_free(q->row.cputime);
	kw_users_free(q->row.users);
	free_names(&q->text);
	free_names(&q->names);
	free_names(&q->key_text);
	free(q->text.item);
	free(q->names.item);
	free(q->key_text.item);
	free(q->columns.item);
	free(q->sort.item);
	free(q->pids.item);
	free(q->users.item);
	free(q->pending.item);
	free(q->key_values.item);
	free(q->slots.values);
	free(q->shown);
	free(q);
}

const struct kw_column *kw_query_columns(const kw_query *q, size_t *ret_nr)
{
	*ret_nr = q->columns.nr;
	return q->shown;
}

const struct kw_query_counts *kw_query_counts(const kw_query *q)
{
	return &q->counts;
}

/* --- running ------------------------------------------------------------------------------------------------- */

static void note_damage(kw_query *q, kw_status status)
{
	if (!q->counts.damaged++)
		q->damage = status;
}

static void begin_row(kw_query *q, const struct kw_task_ref *ref)
{
	q->row.task = ref->task;
	q->row.text_used = 0;
	kw_cputime_next_row(q->row.cputime);
}

enum outcome { ROW_GOOD, ROW_GONE, ROW_TORN };

/*
 * Run a stage on a task. On a changing target the task must still be the one that was found after its values have
 * been copied, and the objects they came from must still be its own; else the row is read again.
 */
static enum outcome run_stage(kw_query *q, struct kw_stage *stage, const struct kw_task_ref *ref,
			      kw_status *status)
{
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		begin_row(q, ref);
		*status = kw_stage_run(stage, &q->row, q->slots.values);
		if (!q->kernel->is_live)
			return ROW_GOOD;
		if (!kw_task_is_alive(q->ctx, q->kernel, ref))
			return ROW_GONE;
		if (!kw_plan_changed(q->ctx, &stage->plan, ref->task))
			return ROW_GOOD;
		q->counts.retried++;
	}
	return ROW_TORN;
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

/* Selectors add to each other, as in ps. */
static bool is_selected(kw_query *q, const struct kw_task_ref *ref)
{
	const struct kw_value *v = q->slots.values;
	kw_status status;

	if (!q->selects_pids && !q->selects_users && !q->selects_names)
		return true;
	if (q->selects_pids && contains(&q->pids, (uint64_t)ref->pid))
		return true;
	if (!q->selects_users && !q->selects_names)
		return false;
	if (run_stage(q, &q->select, ref, &status) == ROW_GONE)
		return false;
	if (status)
		note_damage(q, status);
	if (q->selects_users && v[q->select_uid].type != KW_VAL_ABSENT &&
	    contains(&q->users, v[q->select_uid].u))
		return true;
	return q->selects_names && matches_name(q, &v[q->select_comm]);
}

static bool is_damaged_value(const struct kw_value *value)
{
	return value->type == KW_VAL_ABSENT &&
	       (value->absent == KW_ABSENT_NOT_IN_DUMP || value->absent == KW_ABSENT_UNREADABLE ||
		value->absent == KW_ABSENT_UNMAPPED);
}

/* A row counts as damaged when something in it could not be read, however much else is there. */
static void check_damage(kw_query *q, kw_status status)
{
	if (status) {
		note_damage(q, status);
		return;
	}
	for (size_t i = 0; i < q->columns.nr; i++) {
		if (is_damaged_value(&q->slots.values[i])) {
			note_damage(q, KW_ABSENT);
			return;
		}
	}
}

static void hand_out(kw_query *q, const struct kw_row_identity *id)
{
	q->counts.rows++;
	if (!q->fn(q->slots.values, id, q->arg))
		q->stop = true;
}

static void show_row(kw_query *q, const struct kw_task_ref *ref, struct kw_row_identity *id)
{
	const struct kw_value *pid = &q->slots.values[q->check_pid];
	kw_status status;
	enum outcome outcome = run_stage(q, &q->show, ref, &status);

	if (outcome == ROW_GONE) {
		q->counts.gone++;
		return;
	}
	if (outcome == ROW_TORN)
		q->counts.torn++;
	if (!status && ref->pid_struct && (pid->type == KW_VAL_ABSENT || pid->i != ref->pid)) {
		/* Not a task, or that of another ID: nothing in it is to be believed. */
		note_damage(q, KW_FORMAT);
		return;
	}
	check_damage(q, status);
	id->tid = pid->type == KW_VAL_ABSENT ? ref->pid : (int32_t)pid->i;
	id->address = ref->task;
	hand_out(q, id);
}

/* Strings of keys are copied: the plan reuses its storage with the next row. */
static bool keep_keys(kw_query *q)
{
	for (uint32_t i = 0; i < q->sort.nr; i++) {
		struct kw_value v = q->slots.values[q->first_key + i];

		if (v.type == KW_VAL_STRING || v.type == KW_VAL_BYTES) {
			v.str = keep_text(&q->key_text, v.str, v.len);
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
	struct pending p = { .ref = *ref, .order = q->pending.nr };
	kw_status status;

	if (run_stage(q, &q->keys, ref, &status) == ROW_GONE) {
		q->counts.gone++;
		return;
	}
	p.pid = q->leader_pid;
	p.tid = v[q->tid_slot].type == KW_VAL_ABSENT ? ref->pid : (int32_t)v[q->tid_slot].i;
	p.start_time = v[q->start_slot].type == KW_VAL_ABSENT ? 0 : v[q->start_slot].u;
	p.ppid = v[q->ppid_slot].type == KW_VAL_ABSENT ? 0 : (int32_t)v[q->ppid_slot].i;
	if (!keep_keys(q) || !kw_array_push(&q->pending, p))
		q->failed = q->stop = true;
}

static void take_row(kw_query *q, const struct kw_task_ref *ref)
{
	if (is_ordered(q)) {
		keep_row(q, ref);
	} else {
		struct kw_row_identity id = { .pid = q->leader_pid };

		show_row(q, ref, &id);
		if (q->limit && q->counts.rows == q->limit)
			q->stop = true;
	}
}

static bool take_thread(kw_ctx *ctx, uint64_t task, void *arg)
{
	kw_query *q = arg;
	const struct kw_task_layout *t = &q->kernel->task;
	struct kw_task_ref ref = { .task = task };
	uint32_t tid;

	if (kw_read_u64(ctx, task + t->thread_pid, &ref.pid_struct) != KW_OK ||
	    kw_read_u32(ctx, task + t->pid, &tid) != KW_OK) {
		note_damage(q, KW_ABSENT);
		return !q->stop;
	}
	ref.pid = (int32_t)tid;
	take_row(q, &ref);
	return !q->stop;
}

static void take_process(kw_query *q, const struct kw_task_ref *ref)
{
	kw_status status;

	if (!is_selected(q, ref))
		return;
	q->leader_pid = ref->pid;
	if (!q->threads) {
		take_row(q, ref);
		return;
	}
	status = kw_threads_each(q->ctx, q->kernel, ref->task, take_thread, q);
	if (status && (!q->kernel->is_live || kw_task_is_alive(q->ctx, q->kernel, ref)))
		note_damage(q, status);
}

static kw_status walk_pids(kw_query *q)
{
	for (size_t i = 0; i < q->pids.nr && !q->stop; i++) {
		struct kw_task_ref ref;
		kw_status status = kw_pid_lookup(q->ctx, q->kernel, (int32_t)q->pids.item[i], &ref);

		if (!status)
			take_process(q, &ref);
		else if (status != KW_NOTFOUND)
			note_damage(q, status);
	}
	return KW_OK;
}

static kw_status walk_all(kw_query *q)
{
	const struct kw_plan *plan = is_ordered(q) ? &q->keys.plan : &q->show.plan;
	struct kw_task_ref refs[KW_TASK_BATCH];
	struct kw_pid_walk walk;
	unsigned int nr;
	kw_status status = kw_pid_walk_begin(q->ctx, q->kernel, &walk);

	if (status)
		return status;
	while (!q->stop && kw_pid_walk_next(q->ctx, q->kernel, &walk, refs, &nr)) {
		for (unsigned int i = 0; i < nr && i < PREFETCH; i++)
			kw_plan_prefetch(q->ctx, plan, refs[i].task);
		for (unsigned int i = 0; i < nr && !q->stop; i++) {
			if (i + PREFETCH < nr)
				kw_plan_prefetch(q->ctx, plan, refs[i + PREFETCH].task);
			take_process(q, &refs[i]);
		}
	}
	if (walk.damaged)
		note_damage(q, walk.damage);
	if (walk.xa.damaged)
		note_damage(q, walk.xa.damage);
	q->counts.damaged += walk.damaged + walk.xa.damaged - !!walk.damaged - !!walk.xa.damaged;
	return KW_OK;
}

/* --- order --------------------------------------------------------------------------------------------------- */

static int compare_numbers(const struct kw_value *a, const struct kw_value *b)
{
	if (a->type == KW_VAL_FLOAT)
		return a->f < b->f ? -1 : a->f > b->f;
	if (a->type == KW_VAL_INT)
		return a->i < b->i ? -1 : a->i > b->i;
	return a->u < b->u ? -1 : a->u > b->u;
}

/* Absent is below everything. */
static int compare_values(const struct kw_value *a, const struct kw_value *b)
{
	if (a->type == KW_VAL_ABSENT || b->type == KW_VAL_ABSENT)
		return (a->type != KW_VAL_ABSENT) - (b->type != KW_VAL_ABSENT);
	if (a->type == KW_VAL_STRING || a->type == KW_VAL_BYTES) {
		int order = memcmp(a->str, b->str, a->len < b->len ? a->len : b->len);

		return order ? order : a->len < b->len ? -1 : a->len > b->len;
	}
	return compare_numbers(a, b);
}

static int by_keys(const void *a, const void *b, void *arg)
{
	const kw_query *q = arg;
	const struct pending *x = a, *y = b;

	for (size_t i = 0; i < q->sort.nr; i++) {
		const struct kw_value *keys = q->key_values.item;
		int order =
			compare_values(&keys[x->order * q->sort.nr + i], &keys[y->order * q->sort.nr + i]);

		if (order)
			return q->sort.item[i].descending ? -order : order;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_pid(const void *a, const void *b, void *arg)
{
	const struct pending *p = arg, *x = &p[*(const size_t *)a], *y = &p[*(const size_t *)b];

	return x->pid != y->pid				 ? (x->pid < y->pid ? -1 : 1)
	       : *(const size_t *)a < *(const size_t *)b ? -1
							 : 1;
}

#define NONE SIZE_MAX

/* Find the row of a process by bisection over the indices that are sorted by PID. */
static size_t find_process(const struct pending *p, const size_t *sorted, size_t nr, int32_t pid)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p[sorted[mid]].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && p[sorted[lo]].pid == pid ? sorted[lo] : NONE;
}

/*
 * Put children after their parents, siblings in the order they have. Parents are found by PID; a row whose parent is
 * not among the rows, or leads back to itself, is a root.
 */
static bool order_as_forest(kw_query *q)
{
	size_t nr = q->pending.nr, out = 0, depth;
	struct pending *p = q->pending.item, *ordered = calloc(nr + 1, sizeof(*ordered));
	size_t *memory = calloc(nr * 5 + 1, sizeof(*memory));
	size_t *sorted = memory, *parent = sorted + nr, *first = parent + nr, *next = first + nr,
	       *last = next + nr;

	if (!ordered || !memory) {
		free(ordered);
		free(memory);
		return false;
	}
	for (size_t i = 0; i < nr; i++) {
		sorted[i] = i;
		first[i] = next[i] = last[i] = NONE;
	}
	qsort_r(sorted, nr, sizeof(*sorted), by_pid, p);
	for (size_t i = 0; i < nr; i++) {
		/* A thread hangs below the first row of its process. */
		size_t own = find_process(p, sorted, nr, p[i].pid);

		parent[i] = own != i		    ? own
			    : p[i].ppid == p[i].pid ? NONE
						    : find_process(p, sorted, nr, p[i].ppid);
	}
	/* Cut cycles: following parents for more than nr steps means going round. */
	for (size_t i = 0; i < nr; i++) {
		size_t at = i, steps = 0;

		while (parent[at] != NONE && steps++ <= 64)
			at = parent[at];
		for (; parent[at] != NONE && steps <= nr; steps++)
			at = parent[at];
		if (parent[at] != NONE)
			parent[i] = NONE;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t up = parent[i];

		if (up == NONE)
			continue;
		if (first[up] == NONE)
			first[up] = i;
		else
			next[last[up]] = i;
		last[up] = i;
	}
	for (size_t root = 0; root < nr; root++) {
		size_t at = root;

		if (parent[root] != NONE)
			continue;
		for (depth = 0; at != NONE;) {
			ordered[out] = p[at];
			ordered[out++].depth = (uint32_t)depth;
			if (first[at] != NONE) {
				at = first[at];
				depth++;
				continue;
			}
			while (at != NONE && at != root && next[at] == NONE) {
				at = parent[at];
				depth--;
			}
			at = at == root ? NONE : next[at];
		}
	}
	free(memory);
	free(q->pending.item);
	q->pending.item = ordered;
	q->pending.nr = out;
	q->pending.cap = nr + 1;
	return true;
}

/* The second step: the columns of the rows that are left, if they are still the same tasks. */
static void show_pending(kw_query *q)
{
	for (size_t i = 0; i < q->pending.nr && !q->stop; i++) {
		const struct pending *p = &q->pending.item[i];
		struct kw_row_identity id = { .pid = p->pid, .start_time = p->start_time, .depth = p->depth };

		if (q->limit && q->counts.rows == q->limit)
			break;
		show_row(q, &p->ref, &id);
	}
}

static kw_status order_and_show(kw_query *q)
{
	if (q->pending.nr && q->sort.nr)
		qsort_r(q->pending.item, q->pending.nr, sizeof(*q->pending.item), by_keys, q);
	if (q->forest && q->pending.nr && !order_as_forest(q))
		return kw_fail_nomem(q->ctx);
	show_pending(q);
	return KW_OK;
}

static kw_status say_damage(kw_query *q)
{
	return kw_fail(q->ctx, KW_INCOMPLETE, "%s: %" PRIu64 " of the tasks could not be read wholly (%s)",
		       kw_memory_name(q->ctx->target->memory), q->counts.damaged,
		       q->damage == KW_FORMAT ? "damaged structure"
					      : kw_absent_text(kw_absent_of_status(q->damage)));
}

static kw_status run(kw_query *q)
{
	kw_status status = KW_OK;

	q->row.clock = NULL;
	if (q->show.needs_clock || q->keys.needs_clock) {
		if (kw_clock_read(q->ctx, q->kernel, &q->clock) == KW_OK)
			q->row.clock = &q->clock;
		kw_clear_error(q->ctx);
	}
	if (q->selects_pids && !q->selects_users && !q->selects_names)
		status = walk_pids(q);
	else
		status = walk_all(q);
	if (!status && q->failed)
		status = kw_fail_nomem(q->ctx);
	if (!status && is_ordered(q))
		status = order_and_show(q);
	if (!status && q->counts.damaged)
		status = say_damage(q);
	return status;
}

kw_status kw_query_run(kw_query *q, kw_row_fn fn, void *arg)
{
	kw_status status;

	q->fn = fn;
	q->arg = arg;
	q->stop = q->failed = false;
	q->counts = (struct kw_query_counts){ 0 };
	q->damage = KW_OK;
	q->pending.nr = 0;
	q->key_values.nr = 0;
	free_names(&q->key_text);
	kw_pass_begin(q->ctx);
	status = run(q);
	kw_pass_end(q->ctx);
	return status;
}

void kw_query_explain(const kw_query *q, FILE *out)
{
	if (q->select.plan.loads.nr) {
		fprintf(out, "select rows by\n");
		kw_plan_explain(&q->select.plan, "struct task_struct", out);
	}
	if (is_ordered(q)) {
		fprintf(out, "order rows by\n");
		kw_plan_explain(&q->keys.plan, "struct task_struct", out);
	}
	fprintf(out, "show\n");
	kw_plan_explain(&q->show.plan, "struct task_struct", out);
}
