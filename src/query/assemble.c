/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making a query of what was parsed: what the scan can do, and operators for the rest.
 *
 * The scan takes conditions, one order and one limit, as long as they come in front of group by, distinct and a limit.
 * Its rows have the columns that are shown first, then hidden ones that later operators look at; those of a grouped
 * query have the keys first, then what aggregates need.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "query/parser.h"
#include "query/program.h"
#include "query/walker.h"
#include "util/array.h"
#include "util/error.h"

#define MAX_OUTPUTS 1024

struct assembly {
	kw_ctx *ctx;
	kw_query *q;
	struct kw_program *program;
	struct kw_binder binder;
	const struct kw_query_syntax *syntax;
	const struct kw_clause
		*group; /* where groups are made: a group by, or a select with aggregates; NULL */
	const struct kw_clause *visible; /* the select whose columns are shown; NULL: default ones */
	struct kw_grouping grouping;
	const struct kw_assembly_options *options;
	struct {
		struct kw_binding *item;
		size_t nr, cap;
	} outputs;		/* of groups */
	bool fused;		/* the clause can still be part of the scan */
	bool grouped;		/* the clause is behind the groups */
	struct assembly *outer; /* of what stands in front of a join, or NULL */
	struct kw_outer scope;	/* how names behind the join get at these rows, when they are such */
};

static struct kw_op *add_op(struct assembly *a, enum kw_op_kind kind)
{
	struct kw_op *op = kw_arena_alloc(&a->program->arena, sizeof(*op));

	if (!op) {
		kw_fail_nomem(a->ctx);
		return NULL;
	}
	op->kind = kind;
	*a->program->end = op;
	a->program->end = &op->next;
	return op;
}

/* Names that a select gives are known behind it. */
static bool take_aliases(struct assembly *a, const struct kw_clause *clause)
{
	for (const struct kw_item *item = clause->items; item; item = item->next) {
		struct kw_alias *alias;

		if (!item->alias)
			continue;
		alias = kw_arena_alloc(&a->program->arena, sizeof(*alias));
		if (!alias) {
			kw_fail_nomem(a->ctx);
			return false;
		}
		*alias = (struct kw_alias){ item->alias, item->node, a->binder.aliases };
		a->binder.aliases = alias;
	}
	return true;
}

static bool take_aliases_before(struct assembly *a, const struct kw_clause *end)
{
	for (const struct kw_clause *c = a->syntax->clauses; c != end; c = c->next)
		if (c->kind == KW_CLAUSE_SELECT && !take_aliases(a, c))
			return false;
	return true;
}

static kw_status add_column(struct assembly *a, const struct kw_binding *binding, uint32_t *ret)
{
	if (a->q->columns.nr == MAX_OUTPUTS)
		return kw_program_fail(a->ctx, &a->program->text, a->syntax->at, KW_INVALID,
				       "more than %d columns, with those that order and conditions need",
				       MAX_OUTPUTS);
	*ret = (uint32_t)a->q->columns.nr;
	return kw_array_push(&a->q->columns, *binding) ? KW_OK : kw_fail_nomem(a->ctx);
}

static kw_status add_output(struct assembly *a, const struct kw_binding *binding, uint32_t *ret)
{
	*ret = (uint32_t)a->outputs.nr;
	return kw_array_push(&a->outputs, *binding) ? KW_OK : kw_fail_nomem(a->ctx);
}

/* Bind what an operator needs and make a column of it. */
static kw_status bind_hidden(struct assembly *a, const struct kw_node *node, bool is_condition, uint32_t *ret)
{
	struct kw_binding binding;
	kw_status status = is_condition ? kw_bind_condition(&a->binder, node, &binding)
					: kw_bind_binding(&a->binder, node, NULL, a->grouped, &binding);

	if (status)
		return status;
	return a->grouped ? add_output(a, &binding, ret) : add_column(a, &binding, ret);
}

/* Groups */

static bool selects_aggregates(struct assembly *a, const struct kw_clause *clause)
{
	for (const struct kw_item *item = clause->items; item; item = item->next)
		if (kw_has_aggregate(&a->binder, item->node))
			return true;
	return false;
}

static kw_status order_of_clauses(struct assembly *a, const struct kw_clause *clause)
{
	if (clause->kind == KW_CLAUSE_GROUP && a->group)
		return kw_program_fail(
			a->ctx, &a->program->text, clause->at, KW_INVALID,
			"the rows are groups already: there can be one group by, in front of a select "
			"with aggregates");
	if (clause->kind == KW_CLAUSE_DISTINCT && !a->group) {
		for (const struct kw_clause *c = clause->next; c; c = c->next)
			if (c->kind == KW_CLAUSE_GROUP)
				return kw_program_fail(a->ctx, &a->program->text, clause->at, KW_INVALID,
						       "distinct belongs behind group by");
	}
	return KW_OK;
}

/* Find where groups are made and which select is the last. */
static kw_status survey(struct assembly *a)
{
	const struct kw_alias *aliases = a->binder.aliases;
	kw_status status = KW_OK;

	for (const struct kw_clause *c = a->syntax->clauses; c && !status; c = c->next) {
		status = order_of_clauses(a, c);
		if (c->kind == KW_CLAUSE_GROUP)
			a->group = c;
		if (c->kind == KW_CLAUSE_GROUP)
			a->visible = NULL;
		if (c->kind != KW_CLAUSE_SELECT)
			continue;
		if (!a->group && selects_aggregates(a, c))
			a->group = c;
		a->visible = c;
		if (!status && !take_aliases(a, c))
			status = a->ctx->status;
	}
	a->binder.aliases = aliases;
	return status;
}

static kw_status bind_keys(struct assembly *a)
{
	struct kw_item *items = a->group->kind == KW_CLAUSE_GROUP ? a->group->items : NULL;
	kw_status status = KW_OK;
	uint32_t nr = 0, unused;

	for (const struct kw_item *item = items; item; item = item->next)
		nr++;
	if (!take_aliases_before(a, a->group))
		return a->ctx->status;
	a->grouping.end = &a->grouping.aggregates;
	a->grouping.key_bindings = kw_arena_alloc(&a->program->arena, nr * sizeof(struct kw_binding));
	if (!a->grouping.key_bindings)
		return kw_fail_nomem(a->ctx);
	a->grouping.keys = items;
	for (const struct kw_item *item = items; item && !status; item = item->next) {
		struct kw_binding *binding = &a->grouping.key_bindings[a->grouping.nr_keys++];

		status = kw_bind_binding(&a->binder, item->node, item->alias, false, binding);
		if (!status)
			status = add_column(a, binding, &unused);
	}
	a->binder.aliases = NULL;
	return status;
}

/* Columns that are shown */

static kw_status show_item(struct assembly *a, const struct kw_node *node, const char *alias,
			   const char *heading)
{
	struct kw_binding binding;
	kw_status status = kw_bind_binding(&a->binder, node, alias, a->group, &binding);
	uint32_t unused;

	if (status)
		return status;
	if (heading)
		binding.column.header = heading;
	a->program->nr_columns++;
	return a->group ? add_output(a, &binding, &unused) : add_column(a, &binding, &unused);
}

static struct kw_node *default_node(struct assembly *a, enum kw_node_kind kind, const char *text, size_t len)
{
	struct kw_node *node = kw_arena_alloc(&a->program->arena, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->at = node->first = a->syntax->at;
	node->text = kw_arena_copy(&a->program->arena, text, len);
	node->text_len = len;
	return node->text ? node : NULL;
}

static kw_status show_default_columns(struct assembly *a)
{
	const char *at = a->q->root.source->pub.columns;
	kw_status status = KW_OK;

	while (*at && !status) {
		size_t len = strcspn(at, ",");
		struct kw_node *node = default_node(a, KW_NODE_NAME, at, len);

		status = node ? show_item(a, node, NULL, NULL) : kw_fail_nomem(a->ctx);
		at += len + (at[len] == ',');
	}
	return status;
}

static kw_status show_default_groups(struct assembly *a)
{
	struct kw_node *count = default_node(a, KW_NODE_CALL, "count", 5);
	kw_status status = count ? KW_OK : kw_fail_nomem(a->ctx);

	for (const struct kw_item *key = a->grouping.keys; key && !status; key = key->next)
		status = show_item(a, key->node, key->alias, key->heading);
	return status ? status : show_item(a, count, "count", NULL);
}

/* The names that are known at the select are those of the selects before it. */
static kw_status show_columns(struct assembly *a)
{
	const struct kw_alias *aliases = a->binder.aliases;
	kw_status status = KW_OK;

	a->binder.grouping = a->group ? &a->grouping : NULL;
	if (a->visible && !take_aliases_before(a, a->visible))
		status = a->ctx->status;
	if (a->visible)
		for (const struct kw_item *item = a->visible->items; item && !status; item = item->next)
			status = show_item(a, item->node, item->alias, item->heading);
	else
		status = a->group ? show_default_groups(a) : show_default_columns(a);
	a->binder.aliases = aliases;
	a->binder.grouping = NULL;
	return status;
}

/* Clauses */

static struct kw_expr *both(struct assembly *a, const struct kw_expr *x, const struct kw_expr *y)
{
	struct kw_expr *e = kw_bind_new(&a->binder, KW_EXPR_AND);

	if (e) {
		e->type = KW_VAL_BOOL;
		e->a = (struct kw_expr *)x;
		e->b = (struct kw_expr *)y;
	}
	return e;
}

/* Conditions add up: the fields of both are needed. */
static kw_status add_condition(struct assembly *a, const struct kw_binding *more)
{
	struct kw_binding *all = &a->q->condition;
	struct kw_expr **end = &all->fields;

	if (!all->expr) {
		*all = *more;
		return KW_OK;
	}
	while (*end)
		end = &(*end)->next_field;
	*end = more->fields;
	all->uses |= more->uses;
	all->expr = both(a, all->expr, more->expr);
	return all->expr ? KW_OK : a->ctx->status;
}

static kw_status take_where(struct assembly *a, const struct kw_clause *clause)
{
	struct kw_binding binding;
	struct kw_op *op;
	kw_status status;
	uint32_t column;

	if (a->fused) {
		status = kw_bind_condition(&a->binder, clause->condition, &binding);
		return status ? status : add_condition(a, &binding);
	}
	status = bind_hidden(a, clause->condition, true, &column);
	if (status)
		return status;
	op = add_op(a, KW_OP_FILTER);
	if (!op)
		return a->ctx->status;
	op->column = column;
	return KW_OK;
}

/* An order replaces the one before it, which goes on to decide between equal rows. */
static kw_status sort_scan(struct assembly *a, const struct kw_clause *clause)
{
	struct sort_keys before = a->q->sort;
	kw_status status = KW_OK;

	a->q->sort = (struct sort_keys){ 0 };
	for (const struct kw_item *item = clause->items; item && !status; item = item->next) {
		struct sort_key key = { .descending = item->descending };

		status = kw_bind_binding(&a->binder, item->node, NULL, false, &key.binding);
		if (!status && !kw_array_push(&a->q->sort, key))
			status = kw_fail_nomem(a->ctx);
	}
	for (size_t i = 0; i < before.nr && !status; i++)
		if (!kw_array_push(&a->q->sort, before.item[i]))
			status = kw_fail_nomem(a->ctx);
	free(before.item);
	return status;
}

static kw_status take_sort(struct assembly *a, const struct kw_clause *clause)
{
	kw_status status = KW_OK;
	uint32_t nr = 0;
	struct kw_op *op;

	if (a->fused && !a->options->keeps_rows)
		return sort_scan(a, clause);
	a->fused = false;
	for (const struct kw_item *item = clause->items; item; item = item->next)
		nr++;
	op = add_op(a, KW_OP_SORT);
	if (!op)
		return a->ctx->status;
	op->keys = kw_arena_alloc(&a->program->arena, nr * sizeof(*op->keys));
	if (!op->keys)
		return kw_fail_nomem(a->ctx);
	for (const struct kw_item *item = clause->items; item && !status; item = item->next) {
		struct kw_op_key *key = &op->keys[op->nr_keys++];

		key->descending = item->descending;
		status = bind_hidden(a, item->node, false, &key->column);
	}
	return status;
}

static kw_status find_limit(struct assembly *a, const struct kw_clause *clause, uint64_t *ret)
{
	struct kw_binder binder = a->binder;
	struct kw_expr *e;

	*ret = clause->limit;
	if (!clause->condition)
		return KW_OK;
	binder.aliases = NULL;
	e = kw_bind_node(&binder, clause->condition);
	if (!e)
		return a->ctx->status;
	if (e->op != KW_EXPR_CONST || e->type != KW_VAL_UINT || e->unit || !e->value.u)
		return kw_program_fail(a->ctx, &a->program->text, clause->condition->at, KW_INVALID,
				       "expected a number of rows above 0, or the name of one");
	*ret = e->value.u;
	return KW_OK;
}

static kw_status take_limit(struct assembly *a, const struct kw_clause *clause)
{
	struct kw_op *op;
	uint64_t limit;
	kw_status status = find_limit(a, clause, &limit);

	if (status)
		return status;

	if (a->fused && !a->options->keeps_rows) {
		a->q->limit = limit;
		a->fused = false;
		return KW_OK;
	}
	a->fused = false;
	op = add_op(a, KW_OP_LIMIT);
	if (!op)
		return a->ctx->status;
	op->limit = limit;
	return KW_OK;
}

static kw_status take_distinct(struct assembly *a)
{
	struct kw_op *op = add_op(a, KW_OP_DISTINCT);

	a->fused = false;
	if (!op)
		return a->ctx->status;
	op->nr_keys = a->program->nr_columns;
	return KW_OK;
}

static kw_status take_group(struct assembly *a)
{
	struct kw_op *op = add_op(a, KW_OP_GROUP);

	a->fused = false;
	a->grouped = true;
	a->binder.grouping = &a->grouping;
	if (!op)
		return a->ctx->status;
	op->grouping = kw_arena_alloc(&a->program->arena, sizeof(*op->grouping));
	op->nr_keys = a->grouping.nr_keys;
	return op->grouping ? KW_OK : kw_fail_nomem(a->ctx);
}

static kw_status take_clause(struct assembly *a, const struct kw_clause *clause)
{
	kw_status status = clause == a->group ? take_group(a) : KW_OK;

	if (status)
		return status;
	switch (clause->kind) {
	case KW_CLAUSE_WHERE: return take_where(a, clause);
	case KW_CLAUSE_SORT: return take_sort(a, clause);
	case KW_CLAUSE_LIMIT: return take_limit(a, clause);
	case KW_CLAUSE_DISTINCT: return take_distinct(a);
	case KW_CLAUSE_SELECT: return take_aliases(a, clause) ? KW_OK : a->ctx->status;
	default: return KW_OK;
	}
}

/* Every aggregate has been met: what they are of becomes columns of the scan. */
static kw_status add_arguments(struct assembly *a)
{
	kw_status status = KW_OK;

	for (struct kw_aggregate *g = a->grouping.aggregates; g && !status; g = g->next)
		if (g->node->a)
			status = add_column(a, &g->argument, &g->column);
	return status;
}

/* Operators need to know how wide rows are, which is known when all is bound. */
static kw_status finish_ops(struct assembly *a)
{
	struct kw_program *p = a->program;
	uint32_t width = (uint32_t)a->q->columns.nr;
	size_t size = a->outputs.nr * sizeof(struct kw_binding);
	struct kw_binding *outputs = kw_arena_alloc(&p->arena, size);

	if (!outputs)
		return kw_fail_nomem(a->ctx);
	if (size)
		memcpy(outputs, a->outputs.item, size);
	for (struct kw_op *op = p->ops; op; op = op->next) {
		op->width = width;
		if (op->kind != KW_OP_GROUP)
			continue;
		*op->grouping = a->grouping;
		op->outputs = outputs;
		op->nr_outputs = width = (uint32_t)a->outputs.nr;
		op->output = kw_arena_alloc(&p->arena, (width + 1) * sizeof(*op->output));
		if (!op->output)
			return kw_fail_nomem(a->ctx);
	}
	return KW_OK;
}

static kw_status name_columns(struct assembly *a)
{
	const struct kw_binding *shown = a->group ? a->outputs.item : a->q->columns.item;
	struct kw_program *p = a->program;

	p->columns = kw_arena_alloc(&p->arena, p->nr_columns * sizeof(*p->columns));
	if (!p->columns)
		return kw_fail_nomem(a->ctx);
	for (uint32_t i = 0; i < p->nr_columns; i++)
		p->columns[i] = shown[i].column;
	return KW_OK;
}

/* The ID and the start of a task, by raw paths. */
static struct kw_node *identity_node(struct assembly *a, bool start)
{
	const char *path = start ? "task.start_boottime" : "task.pid";

	return default_node(a, KW_NODE_NAME, path, strlen(path));
}

static kw_status add_identity(struct assembly *a)
{
	kw_status status = KW_OK;

	a->binder.grouping = NULL;
	for (int start = 0; start < 2 && !status; start++) {
		struct kw_node *node = identity_node(a, start);
		struct kw_binding binding;
		uint32_t unused;

		status = node ? kw_bind_binding(&a->binder, node, NULL, false, &binding)
			      : kw_fail_nomem(a->ctx);
		if (!status)
			status = add_column(a, &binding, &unused);
	}
	return status;
}

static kw_status take_only_new(struct assembly *a)
{
	struct kw_node *id = identity_node(a, false), *start = identity_node(a, true);
	struct kw_expr *e = kw_bind_new(&a->binder, KW_EXPR_IS_NEW);
	struct kw_binding binding = { 0 };

	if (!id || !start || !e)
		return kw_fail_nomem(a->ctx);
	a->binder.grouping = NULL;
	a->binder.fields = NULL;
	e->type = KW_VAL_BOOL;
	e->watch = a->options->only_new;
	e->a = kw_bind_node(&a->binder, id);
	e->b = e->a ? kw_bind_node(&a->binder, start) : NULL;
	if (!e->b)
		return a->ctx->status;
	binding.expr = e;
	binding.fields = a->binder.fields;
	return add_condition(a, &binding);
}

static kw_status take_clauses(struct assembly *a)
{
	kw_status status = KW_OK;

	for (const struct kw_clause *c = a->syntax->clauses; c && !status; c = c->next)
		status = take_clause(a, c);
	return status;
}

/* Its columns are what was asked for behind the join. */
static kw_status finish_outer(struct assembly *a)
{
	kw_status status = a->outer ? finish_outer(a->outer) : KW_OK;

	a->program->nr_columns = (uint32_t)a->q->columns.nr;
	if (!status && !a->q->columns.nr)
		status = show_default_columns(a);
	if (!status)
		status = take_clauses(a);
	if (!status)
		status = finish_ops(a);
	if (!status)
		status = name_columns(a);
	return status ? status : kw_query_build(a->q);
}

static kw_status assemble(struct assembly *a)
{
	kw_status status = survey(a);

	if (!status && a->group)
		status = bind_keys(a);
	if (!status)
		status = show_columns(a);
	if (!status)
		status = take_clauses(a);
	if (!status)
		status = add_arguments(a);
	if (!status && a->options->only_new)
		status = take_only_new(a);
	if (!status && a->options->keeps_rows)
		status = add_identity(a);
	if (!status && a->outer)
		status = finish_outer(a->outer);
	if (!status)
		status = finish_ops(a);
	if (!status)
		status = name_columns(a);
	return status ? status : kw_query_build(a->q);
}

/* A walker's source is known when its arguments are bound: until then it is one that has nothing. */
static kw_status begin(kw_ctx *ctx, const struct kw_query_syntax *syntax, kw_query **ret)
{
	return kw_query_begin(ctx, kw_walker_is(syntax->source) ? "cpus" : syntax->source, ret);
}

/* What the walk begins at is a value of the rows in front of it. */
static kw_status take_head(struct assembly *a, struct kw_walker *walker)
{
	const struct kw_expr *head = walker->head;
	struct kw_binding binding = {
		.expr = head,
		.fields = a->outer->binder.fields,
		.uses = a->outer->binder.uses,
		.column = { "head", "HEAD", head->type, KW_UNIT_NONE, KW_SHOW_HEX },
	};

	walker->head = kw_bind_outer_value(&a->binder, &binding);
	return walker->head ? KW_OK : a->ctx->status;
}

static kw_status set_walker(struct assembly *a)
{
	struct kw_binder none = a->binder, *rows = a->outer ? &a->outer->binder : &none;
	struct kw_walker *walker;
	kw_status status;

	none.root = NULL;
	rows->fields = NULL;
	rows->uses = 0;
	status = kw_walker_bind(&a->binder, rows, a->syntax, &walker);
	if (!status && a->outer)
		status = take_head(a, walker);
	if (status)
		return status;
	a->q->walker = walker;
	return kw_query_set_source(a->q, &walker->def);
}

static kw_status check_outer(struct assembly *a)
{
	const struct kw_query_syntax *outer = a->syntax->outer;

	if (!kw_walker_is(a->syntax->source) && strcmp(outer->source, "tasks") != 0)
		return kw_program_fail(a->ctx, &a->program->text, a->syntax->at, KW_INVALID,
				       "%s%s have no %s: these are of tasks",
				       kw_walker_is(outer->source) ? "rows of " : "", outer->source,
				       a->syntax->source);
	for (const struct kw_clause *c = outer->clauses; c; c = c->next)
		if (c->kind == KW_CLAUSE_SELECT || c->kind == KW_CLAUSE_GROUP ||
		    c->kind == KW_CLAUSE_DISTINCT)
			return kw_program_fail(a->ctx, &a->program->text, c->at, KW_INVALID,
					       "in front of %s only where, sort and limit can stand",
					       a->syntax->source);
	return KW_OK;
}

static kw_status begin_assembly(struct assembly *a);

static kw_status add_outer_column(struct kw_outer *scope, const struct kw_binding *binding, uint32_t *ret)
{
	struct assembly *a = (struct assembly *)((char *)scope - offsetof(struct assembly, scope));

	return add_column(a, binding, ret);
}

static kw_status set_outer(struct assembly *a)
{
	struct assembly *outer = kw_arena_alloc(&a->program->arena, sizeof(*outer));
	struct kw_assembly_options *options = kw_arena_alloc(&a->program->arena, sizeof(*options));
	kw_status status = check_outer(a);

	if (status)
		return status;
	if (!outer || !options)
		return kw_fail_nomem(a->ctx);
	options->lets = a->options->lets;
	options->no_rates = a->options->no_rates;
	*outer = (struct assembly){ .ctx = a->ctx, .syntax = a->syntax->outer, .options = options };
	outer->program = calloc(1, sizeof(*outer->program));
	if (!outer->program)
		return kw_fail_nomem(a->ctx);
	outer->program->text = a->program->text;
	outer->program->depth = a->program->depth;
	status = begin_assembly(outer);
	a->q->outer = outer->q;
	if (status)
		return status;
	a->outer = outer;
	outer->scope = (struct kw_outer){
		.binder = &outer->binder,
		.add = add_outer_column,
		.values = &a->q->outer_values,
	};
	a->binder.outer = &outer->scope;
	return KW_OK;
}

static kw_status set_rows(struct assembly *a)
{
	kw_status status = a->syntax->outer ? set_outer(a) : KW_OK;

	if (status)
		return status;
	if (kw_walker_is(a->syntax->source))
		return set_walker(a);
	if (a->syntax->has_arguments)
		return kw_program_fail(a->ctx, &a->program->text, a->syntax->at, KW_INVALID,
				       "%s takes no arguments", a->syntax->source);
	return KW_OK;
}

/* The query exists behind this even if it fails, unless a->q is NULL. */
static kw_status begin_assembly(struct assembly *a)
{
	struct kw_program *program = a->program;
	kw_status status = begin(a->ctx, a->syntax, &a->q);

	a->fused = true;
	if (status) {
		kw_program_fail_at(a->ctx, &program->text, a->syntax->at);
		kw_program_free(program);
		return status;
	}
	a->q->program = program;
	program->end = &program->ops;
	a->binder = (struct kw_binder){ .ctx = a->ctx,
					.arena = &program->arena,
					.text = &program->text,
					.patterns = &program->patterns,
					.root = &a->q->root,
					.lets = a->options->lets,
					.rates = a->options->no_rates ? NULL : &program->rates,
					.scalars = &program->scalars,
					.places = &program->places,
					.nesting = program->depth };
	return set_rows(a);
}

kw_status kw_query_assemble(kw_ctx *ctx, struct kw_program *program, const struct kw_query_syntax *syntax,
			    const struct kw_assembly_options *options, kw_query **ret)
{
	struct assembly a = { .ctx = ctx, .program = program, .syntax = syntax, .options = options };
	kw_status status = begin_assembly(&a);

	if (!status)
		status = assemble(&a);
	free(a.outputs.item);
	if (status) {
		kw_query_free(a.q);
		return status;
	}
	*ret = a.q;
	return KW_OK;
}
