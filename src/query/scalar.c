/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of other queries: each is a query of its own, made as if it had been written so. */
#include "query/scalar.h"

#include <stdlib.h>
#include <string.h>

#include "query/program.h"
#include "util/error.h"

#define MAX_NESTING 8

static bool keep_first(const struct kw_value *values, const struct kw_row_identity *id, void *arg)
{
	struct kw_scalar *scalar = arg;

	(void)id;
	scalar->value = values[0];
	if (values[0].type == KW_VAL_STRING || values[0].type == KW_VAL_BYTES) {
		scalar->value.str = kw_arena_copy(&scalar->text, values[0].str, values[0].len);
		if (!scalar->value.str)
			kw_set_absent(&scalar->value, KW_ABSENT_NOT_APPLICABLE);
	}
	return false;
}

kw_status kw_scalars_read(struct kw_scalar *scalars)
{
	kw_status worst = KW_OK;

	for (; scalars; scalars = scalars->next) {
		kw_status status;

		kw_arena_reset(&scalars->text);
		kw_set_absent(&scalars->value, KW_ABSENT_NOT_APPLICABLE);
		status = kw_query_run(scalars->query, keep_first, scalars);
		if (status && status != KW_INCOMPLETE)
			return status;
		worst = worst ? worst : status;
	}
	return worst;
}

void kw_scalars_deinit(struct kw_scalar *scalars)
{
	for (; scalars; scalars = scalars->next) {
		kw_query_free(scalars->query);
		kw_arena_free(&scalars->text);
	}
}

static struct kw_expr *bind_query(struct kw_binder *b, const struct kw_query_syntax *syntax)
{
	struct kw_program *program = calloc(1, sizeof(*program));
	const struct kw_assembly_options options = { .lets = b->lets, .no_rates = true };
	struct kw_scalar *scalar = kw_arena_alloc(b->arena, sizeof(*scalar));
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_SCALAR);
	const struct kw_column *column;
	size_t nr;

	if (!program || !scalar || !e) {
		free(program);
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	program->text = *b->text;
	program->depth = b->nesting + 1;
	if (b->nesting == MAX_NESTING) {
		kw_program_free(program);
		return kw_bind_fail(b, syntax->at, "queries are nested more than %d deep", MAX_NESTING);
	}
	if (kw_query_assemble(b->ctx, program, syntax, &options, &scalar->query))
		return NULL;
	scalar->next = *b->scalars;
	*b->scalars = scalar;
	column = kw_query_columns(scalar->query, &nr);
	e->scalar = scalar;
	e->type = column->type;
	e->unit = column->unit;
	e->display = column->display;
	return e;
}

static struct kw_node *new_node(struct kw_binder *b, enum kw_node_kind kind, const struct kw_node *from,
				const char *text)
{
	struct kw_node *node = kw_arena_alloc(b->arena, sizeof(*node));

	if (node) {
		*node = (struct kw_node){
			.kind = kind, .at = from->at, .first = from->first, .len = from->len
		};
		node->text = text;
		node->text_len = strlen(text);
	}
	return node;
}

/* The clauses of a query, and a select behind them. */
static struct kw_query_syntax *with_select(struct kw_binder *b, const struct kw_query_syntax *from,
					   struct kw_node *column)
{
	struct kw_query_syntax *syntax = kw_arena_alloc(b->arena, sizeof(*syntax));
	struct kw_clause *select = kw_arena_alloc(b->arena, sizeof(*select)), **end;
	struct kw_item *item = kw_arena_alloc(b->arena, sizeof(*item));

	if (!syntax || !select || !item || !column)
		return NULL;
	*syntax = *from;
	item->node = column;
	select->kind = KW_CLAUSE_SELECT;
	select->at = column->at;
	select->items = item;
	end = &syntax->clauses;
	for (const struct kw_clause *c = from->clauses; c; c = c->next) {
		*end = kw_arena_alloc(b->arena, sizeof(**end));
		if (!*end)
			return NULL;
		**end = *c;
		end = &(*end)->next;
	}
	*end = select;
	return syntax;
}

static struct kw_expr *bind_select(struct kw_binder *b, const struct kw_query_syntax *from,
				   struct kw_node *column)
{
	const struct kw_query_syntax *syntax = with_select(b, from, column);

	if (syntax)
		return bind_query(b, syntax);
	kw_fail_nomem(b->ctx);
	return NULL;
}

struct kw_expr *kw_bind_system(struct kw_binder *b, const struct kw_node *node, const char *field)
{
	struct kw_query_syntax syntax = { .source = "system", .at = node->at };

	return bind_select(b, &syntax, new_node(b, KW_NODE_NAME, node, field));
}

/* What the aggregate is of is the column that the query selects. */
static const struct kw_item *selected(const struct kw_query_syntax *syntax)
{
	const struct kw_item *items = NULL;

	for (const struct kw_clause *c = syntax->clauses; c; c = c->next)
		if (c->kind == KW_CLAUSE_SELECT)
			items = c->items;
	return items;
}

struct kw_expr *kw_bind_subquery(struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_item *item = selected(node->query);
	struct kw_node *column = new_node(b, KW_NODE_CALL, node, node->text), *argument;
	enum kw_aggregate_kind kind;

	kw_aggregate_find(node->text, &kind);
	if (!column) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	if (kind == KW_COUNT)
		return bind_select(b, node->query, column);
	if (!item || item->next)
		return kw_bind_fail(b, node->at, "%s() of a query needs one column: %s(%s ... select COLUMN)",
				    node->text, node->text, node->query->source);
	argument = kw_arena_alloc(b->arena, sizeof(*argument));
	if (!argument) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	*argument = *item->node;
	argument->next = NULL;
	column->a = argument;
	return bind_select(b, node->query, column);
}
