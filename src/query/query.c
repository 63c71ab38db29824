/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding a query: its columns, selectors and keys to the layouts of the target. */
#include "query/query.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/thread_sums.h"
#include "memory/memory.h"
#include "query/program.h"
#include "query/rate.h"
#include "util/array.h"
#include "util/error.h"
#include "util/nearest.h"

#define MAX_COLUMNS 256

char *kw_names_add(struct names *names, const char *from, size_t len)
{
	char *copy = malloc(len + 1);

	/* Bytes may hold NULs. */
	if (copy) {
		memcpy(copy, from, len);
		copy[len] = '\0';
	}
	if (copy && kw_array_push(names, copy))
		return copy;
	free(copy);
	return NULL;
}

void kw_names_clear(struct names *names)
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
	char *name = kw_names_add(&q->text, element, equals ? (size_t)(equals - element) : len);
	struct kw_binding binding;
	kw_status status;

	if (!name)
		return kw_fail_nomem(q->ctx);
	if (q->columns.nr == MAX_COLUMNS)
		return kw_fail(q->ctx, KW_INVALID, "more than %d columns", MAX_COLUMNS);
	status = kw_bind(q->ctx, &q->root, name, &binding);
	if (status)
		return status;
	if (equals) {
		binding.column.header =
			kw_names_add(&q->text, equals + 1, len - (size_t)(equals + 1 - element));
		if (!binding.column.header)
			return kw_fail_nomem(q->ctx);
	}
	return kw_array_push(&q->columns, binding) ? KW_OK : kw_fail_nomem(q->ctx);
}

static kw_status add_sort_key(kw_query *q, const char *element, size_t len)
{
	struct sort_key key = { .descending = *element == '-' };
	size_t sign = *element == '-' || *element == '+';
	char *name = kw_names_add(&q->text, element + sign, len - sign);
	kw_status status;

	if (!name)
		return kw_fail_nomem(q->ctx);
	if (q->sort.nr == MAX_COLUMNS)
		return kw_fail(q->ctx, KW_INVALID, "more than %d sort keys", MAX_COLUMNS);
	status = kw_bind(q->ctx, &q->root, name, &key.binding);
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

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Rows come in the order of the table and once each, however the IDs were named. */
static void sort_pids(struct numbers *pids)
{
	size_t kept = 0;

	if (pids->nr)
		qsort(pids->item, pids->nr, sizeof(*pids->item), by_number);
	for (size_t i = 0; i < pids->nr; i++)
		if (!kept || pids->item[kept - 1] != pids->item[i])
			pids->item[kept++] = pids->item[i];
	pids->nr = kept;
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
	return kw_names_add(&q->names, element, len) ? KW_OK : kw_fail_nomem(q->ctx);
}

static kw_status unknown_source(kw_ctx *ctx, const char *name)
{
	struct kw_nearest nearest = { .want = name };
	const struct kw_source *known;
	char text[256];

	for (size_t i = 0; (known = kw_source_at(i)); i++)
		kw_nearest_offer(&nearest, known->name);
	kw_nearest_text(&nearest, text, sizeof(text));
	return kw_fail(ctx, KW_INVALID, "unknown source \"%s\"%s", name,
		       *text ? text : "; kwalk fields lists all");
}

kw_status kw_query_set_source(kw_query *q, const struct kw_source_def *source)
{
	kw_status status;

	q->threads = strcmp(source->pub.name, "threads") == 0;
	q->root = (struct kw_root){ .kernel = q->kernel, .source = source };
	status = kw_source_type(q->ctx, source, &q->root.type);
	/* Walking such a source will say that this kernel has nothing of the kind. */
	if (status == KW_NOTFOUND && source->walk) {
		kw_clear_error(q->ctx);
		status = KW_OK;
	}
	return status;
}

static kw_status find_pid_ns(kw_query *q, int32_t pid)
{
	kw_status status = kw_pid_ns_of(q->ctx, q->kernel, pid, &q->pid_ns);

	q->root.in_ns = !status;
	if (!status)
		q->row.pid_ns = &q->pid_ns;
	if (status == KW_NOTFOUND)
		return kw_fail(q->ctx, status, "there is no process %d", pid);
	if (status == KW_UNSUPPORTED)
		return kw_fail(q->ctx, status,
			       "PID namespaces: this kernel has no struct pid as it is known");
	return status ? kw_fail(q->ctx, status, "process %d: its PID namespace can't be read", pid) : KW_OK;
}

static kw_status set_source(kw_query *q, const char *name)
{
	const struct kw_source_def *source = kw_source_def(name);

	return source ? kw_query_set_source(q, source) : unknown_source(q->ctx, name);
}

static kw_status parse_options(kw_query *q, const struct kw_query_options *o)
{
	kw_status status = KW_OK;

	if (o->pidns && q->root.source->walk)
		return kw_fail(q->ctx, KW_INVALID, "rows of %s are no processes: no PID namespace sees them",
			       q->root.source->pub.name);
	if (o->pidns)
		status = find_pid_ns(q, o->pidns);
	if (status)
		return status;
	if (q->root.source->walk_task && (o->users || o->names || o->forest))
		return kw_fail(
			q->ctx, KW_INVALID,
			"rows of %s can be selected by the ID of their process only, and have no forest",
			q->root.source->pub.name);
	if (q->root.source->walk && !q->root.source->walk_task &&
	    (o->pids || o->users || o->names || o->forest))
		return kw_fail(
			q->ctx, KW_INVALID,
			"rows of %s are no processes: they can't be selected by ID, user or name, and have "
			"no forest",
			q->root.source->pub.name);
	q->limit = o->limit;
	q->anew = o->anew;
	q->forest = o->forest;
	q->selects_pids = o->pids;
	q->selects_users = o->users;
	q->selects_names = o->names;
	status =
		each_element(q, "columns", o->columns ? o->columns : q->root.source->pub.columns, add_column);
	if (!status && o->sort)
		status = each_element(q, "sort keys", o->sort, add_sort_key);
	if (!status && o->pids)
		status = each_element(q, "process IDs", o->pids, add_pid);
	sort_pids(&q->pids);
	if (!status && o->users)
		status = each_element(q, "users", o->users, add_user);
	if (!status && o->names)
		status = each_element(q, "names", o->names, add_name);
	return status;
}

kw_status kw_query_add_samples(kw_query *q, struct kw_stage *stage)
{
	kw_status status = KW_OK;

	for (struct kw_rate *rate = q->program ? q->program->rates : NULL; rate && !status; rate = rate->next)
		if (rate->sample.expr)
			status = kw_stage_add(q->ctx, &q->root, stage, &q->slots, &rate->sample,
					      q->slots.nr++);
	return status;
}

static bool is_plain(const kw_query *q)
{
	return !q->root.source->walk && !q->threads && !kw_query_is_ordered(q) && !q->selects_users &&
	       !q->selects_names && !q->condition.expr;
}

static kw_status build_show(kw_query *q)
{
	kw_status status = KW_OK;

	/* Right after where its values are still there. */
	if (!kw_query_is_ordered(q))
		q->show.before = &q->where;
	if (!q->condition.expr && !kw_query_is_ordered(q))
		status = kw_query_add_samples(q, &q->show);
	for (uint32_t i = 0; !status && i < q->columns.nr; i++)
		status = kw_stage_add(q->ctx, &q->root, &q->show, &q->slots, &q->columns.item[i], i);
	q->check_pid = q->slots.nr++;
	q->show.plan.in_words = is_plain(q);
	if (!status)
		status = kw_stage_add_path(q->ctx, &q->root, &q->show, "pid", &q->check_pid);
	if (!status && kw_query_is_ordered(q)) {
		q->check_start = q->slots.nr++;
		status = kw_stage_add_path(q->ctx, &q->root, &q->show, "start_boottime", &q->check_start);
	}
	return status ? status : kw_stage_finish(q->ctx, &q->root, &q->show, &q->slots);
}

static kw_status build_select(kw_query *q)
{
	kw_status status = KW_OK;

	q->select_uid = q->slots.nr++;
	q->select_comm = q->slots.nr++;
	if (q->selects_users)
		status = kw_stage_add_path(q->ctx, &q->root, &q->select, "real_cred.euid", &q->select_uid);
	if (!status && q->selects_names)
		status = kw_stage_add_path(q->ctx, &q->root, &q->select, "comm", &q->select_comm);
	return status ? status : kw_stage_finish(q->ctx, &q->root, &q->select, &q->slots);
}

static kw_status build_where(kw_query *q)
{
	kw_status status;

	q->where_slot = q->slots.nr++;
	q->where_pid = q->slots.nr++;
	status = kw_query_add_samples(q, &q->where);
	if (!status)
		status = kw_stage_add(q->ctx, &q->root, &q->where, &q->slots, &q->condition, q->where_slot);
	if (!status && !q->root.source->walk)
		status = kw_stage_add_path(q->ctx, &q->root, &q->where, "pid", &q->where_pid);
	return status ? status : kw_stage_finish(q->ctx, &q->root, &q->where, &q->slots);
}

static kw_status build_keys(kw_query *q)
{
	static const char *const paths[] = { "pid", "start_boottime", "real_parent.tgid" };
	uint32_t *slots[] = { &q->tid_slot, &q->start_slot, &q->ppid_slot };
	kw_status status = KW_OK;

	q->keys.before = &q->where;
	q->first_key = q->slots.nr;
	q->slots.nr += (uint32_t)q->sort.nr;
	if (!q->condition.expr)
		status = kw_query_add_samples(q, &q->keys);
	for (uint32_t i = 0; !status && i < q->sort.nr; i++)
		status = kw_stage_add(q->ctx, &q->root, &q->keys, &q->slots, &q->sort.item[i].binding,
				      q->first_key + i);
	/* Parents are of no use but for a forest. */
	for (uint32_t i = 0; !status && i < (q->forest ? 3 : 2); i++) {
		*slots[i] = q->slots.nr++;
		status = kw_stage_add_path(q->ctx, &q->root, &q->keys, paths[i], slots[i]);
	}
	return status ? status : kw_stage_finish(q->ctx, &q->root, &q->keys, &q->slots);
}

/* Rows that are nothing but values of the task itself need no more than loading them, and a look at its struct pid. */
static bool is_flat(const kw_query *q)
{
	return q->is_plain && q->show.plan.flat && !q->show.computed.nr && !q->show.of_mm.nr &&
	       !q->show.sums.nr && !q->show.constants.nr && !q->show.makings.nr && !q->show.readings.nr;
}

static kw_status make_values(kw_query *q)
{
	size_t rows;

	q->is_plain = is_plain(q);
	q->is_flat = is_flat(q);
	q->reads_rows = q->root.source->walk && !q->root.source->walk_task && !q->outer && !q->walker &&
			q->show.reads_rows && !q->condition.expr && !kw_query_is_ordered(q);
	rows = q->is_flat ? KW_PLAN_ROWS : q->reads_rows ? KW_ROWS_MAX : 1;
	q->shown = calloc(q->columns.nr, sizeof(*q->shown));
	q->slots.values = calloc(q->slots.nr * rows, sizeof(*q->slots.values));
	if (!q->shown || !q->slots.values)
		return kw_fail_nomem(q->ctx);
	if (q->reads_rows)
		kw_stage_place_rows(&q->show, &q->slots);
	return KW_OK;
}

static kw_status build_row(kw_query *q)
{
	uint32_t uses = q->show.uses | q->keys.uses | q->where.uses;

	if (q->root.source->walk && q->kernel->is_live) {
		q->row.idle = kw_idle_memory_new(q->kernel->nr_cpus);
		if (!q->row.idle)
			return kw_fail_nomem(q->ctx);
	}
	q->row.ctx = q->ctx;
	q->row.kernel = q->kernel;
	q->row.is_thread = q->threads;
	if (uses & KW_SUMS) {
		q->row.sums = kw_thread_sums_new(q->ctx, q->kernel, uses);
		if (!q->row.sums)
			return q->ctx->status;
	}
	if (uses & KW_USES_USERS && kw_memory_kind(q->ctx->target->memory) == KW_SOURCE_LIVE) {
		q->row.users = kw_users_new();
		if (!q->row.users)
			return kw_fail_nomem(q->ctx);
	}
	if (make_values(q))
		return q->ctx->status;
	for (size_t i = 0; i < q->columns.nr; i++)
		q->shown[i] = q->columns.item[i].column;
	return KW_OK;
}

kw_status kw_query_build(kw_query *q)
{
	kw_status status = KW_OK;

	q->slots.nr = (uint32_t)q->columns.nr;
	if (q->condition.expr)
		status = build_where(q);
	if (!status && q->root.source->walk) {
		status = kw_rows_build(q);
		return status ? status : build_row(q);
	}
	if (!status)
		status = build_show(q);
	if (!status)
		status = build_select(q);
	if (!status && kw_query_is_ordered(q))
		status = build_keys(q);
	return status ? status : build_row(q);
}

kw_status kw_query_begin(kw_ctx *ctx, const char *source, kw_query **ret)
{
	kw_query *q = calloc(1, sizeof(*q));
	kw_status status;

	if (!q)
		return kw_fail_nomem(ctx);
	q->ctx = ctx;
	status = kw_kernel_get(ctx, &q->kernel);
	if (!status)
		status = set_source(q, source);
	if (status) {
		kw_query_free(q);
		return status;
	}
	*ret = q;
	return KW_OK;
}

kw_status kw_query_new(kw_ctx *ctx, const struct kw_query_options *opts, kw_query **ret)
{
	struct kw_query_options all = { 0 };
	kw_query *q;
	kw_status status;

	if (opts)
		memcpy(&all, opts, opts->size < sizeof(all) ? opts->size : sizeof(all));
	kw_pass_begin(ctx);
	status = kw_query_begin(ctx, all.source, &q);
	if (!status) {
		status = parse_options(q, &all);
		if (!status)
			status = kw_query_build(q);
		if (status)
			kw_query_free(q);
	}
	kw_pass_end(ctx);
	if (!status)
		*ret = q;
	return status;
}

void kw_query_free(kw_query *q)
{
	if (!q)
		return;
	kw_leaves_forget(&q->leaves);
	kw_stage_deinit(&q->select);
	kw_stage_deinit(&q->where);
	kw_stage_deinit(&q->keys);
	kw_stage_deinit(&q->show);
	kw_row_deinit(&q->row);
	kw_idle_memory_free(q->row.idle);
	kw_names_clear(&q->text);
	kw_names_clear(&q->names);
	kw_names_clear(&q->key_text);
	free(q->text.item);
	free(q->names.item);
	free(q->key_text.item);
	free(q->columns.item);
	free(q->sort.item);
	free(q->pids.item);
	free(q->initial_pids.item);
	free(q->users.item);
	free(q->pending.item);
	free(q->found.item);
	free(q->key_values.item);
	free(q->kept_values.item);
	free(q->slots.values);
	free(q->shown);
	kw_remembered_free(q->remembered);
	kw_program_free(q->program);
	kw_query_free(q->outer);
	free(q);
}

const struct kw_column *kw_query_columns(const kw_query *q, size_t *ret_nr)
{
	if (q->program)
		return kw_program_columns(q->program, ret_nr);
	*ret_nr = q->columns.nr;
	return q->shown;
}

const struct kw_query_counts *kw_query_counts(const kw_query *q)
{
	return &q->counts;
}

static void explain(const kw_query *q, const struct kw_stage *stage, FILE *out)
{
	const struct kw_type *type = q->root.type;
	char root[160];

	snprintf(root, sizeof(root), "struct %s", type ? type->name : "");
	if (stage->plan.loads.nr)
		kw_plan_explain(&stage->plan, root, out);
	for (size_t i = 0; i < stage->readings.nr; i++) {
		const struct kw_field_table *table = stage->readings.item[i].group->table;

		fprintf(out, "read    %s", table->fields[0].pub.name);
		if (table->nr > 1)
			fprintf(out, " ... %s", table->fields[table->nr - 1].pub.name);
		fputc('\n', out);
	}
}

void kw_query_explain(const kw_query *q, FILE *out)
{
	if (q->outer) {
		kw_query_explain(q->outer, out);
		fprintf(out, "then for each of them, of %s\n", q->root.source->pub.name);
	}
	if (q->select.plan.loads.nr) {
		fprintf(out, "select rows by\n");
		explain(q, &q->select, out);
	}
	if (q->condition.expr) {
		fprintf(out, "keep rows where\n");
		explain(q, &q->where, out);
	}
	if (kw_query_is_ordered(q) && !q->root.source->walk) {
		fprintf(out, "order rows by\n");
		explain(q, &q->keys, out);
	}
	if (q->limit)
		fprintf(out, "show the first %" PRIu64 "\n", q->limit);
	else
		fprintf(out, "show\n");
	explain(q, &q->show, out);
	if (q->program)
		kw_program_explain(q->program, out);
}
