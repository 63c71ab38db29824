/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making a script: parsing, parameters, and binding its statements in order. */
#include "query/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/pattern.h"
#include "query/place.h"
#include "util/error.h"
#include "util/nearest.h"
#include "util/strbuf.h"

struct binding {
	struct kw_script *s;
	struct kw_binder binder;
	const char *const *args;
	size_t nr_args, next_arg; /* the next that has no name */
	unsigned int depth;
	struct kw_statement *loop; /* the one that is bound */
};

static kw_status bind_list(struct binding *b, struct kw_statement *list);

static kw_status fail_at(struct binding *b, const char *at, const char *message)
{
	return kw_program_fail(b->s->ctx, &b->s->text, at, KW_INVALID, "%s", message);
}

/* Parameters */

static bool is_named(const char *arg, const char *name)
{
	size_t len = strlen(name);

	return strncmp(arg, name, len) == 0 && arg[len] == '=';
}

static bool has_name(const char *arg)
{
	size_t len = strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return len && arg[len] == '=' && (arg[0] < '0' || arg[0] > '9');
}

/* The value for a parameter, or NULL: by its name, else the next one without a name. */
static const char *find_arg(struct binding *b, const char *name)
{
	for (size_t i = 0; i < b->nr_args; i++)
		if (is_named(b->args[i], name))
			return b->args[i] + strlen(name) + 1;
	while (b->next_arg < b->nr_args && has_name(b->args[b->next_arg]))
		b->next_arg++;
	return b->next_arg < b->nr_args ? b->args[b->next_arg++] : NULL;
}

/* Where a text is due, what was given is one, without quotes. */
static kw_status text_arg(struct binding *b, const struct kw_statement *s, const char *arg,
			  struct kw_node **ret)
{
	struct kw_node *node = kw_arena_alloc(&b->s->arena, sizeof(*node));

	if (!node)
		return kw_fail_nomem(b->s->ctx);
	*node = (struct kw_node){ .kind = KW_NODE_STRING,
				  .text = kw_arena_copy(&b->s->arena, arg, strlen(arg)) };
	node->text_len = strlen(arg);
	node->at = node->first = s->at;
	*ret = node;
	return node->text ? KW_OK : kw_fail_nomem(b->s->ctx);
}

static kw_status parse_arg(struct binding *b, const struct kw_statement *s, const char *arg,
			   struct kw_node **ret)
{
	struct kw_program_text text = { s->name, kw_arena_copy(&b->s->arena, arg, strlen(arg)), strlen(arg) };
	struct kw_parser parser;
	struct kw_node *node;

	if (!text.text)
		return kw_fail_nomem(b->s->ctx);
	kw_parser_begin(&parser, b->s->ctx, &text, &b->s->arena);
	node = kw_parse_value(&parser);
	if (node && parser.token.kind != KW_TOKEN_END)
		kw_parser_expected(&parser, "the end of the value");
	if (parser.failed)
		return b->s->ctx->status;
	/* Messages about its use show where the parameter is declared. */
	for (struct kw_node *n = node; n; n = n->a) {
		n->at = n->first = s->at;
		n->len = 5;
	}
	*ret = node;
	return KW_OK;
}

static kw_status bind_param(struct binding *b, struct kw_statement *s)
{
	const char *arg = find_arg(b, s->name);
	bool is_text = s->node && s->node->kind == KW_NODE_STRING;

	if (!arg && !s->node)
		return kw_program_fail(b->s->ctx, &b->s->text, s->at, KW_INVALID,
				       "parameter %s needs a value: give %s=VALUE behind the file", s->name,
				       s->name);
	if (!arg)
		return KW_OK;
	return is_text ? text_arg(b, s, arg, &s->node) : parse_arg(b, s, arg, &s->node);
}

static kw_status unused_arg(struct binding *b)
{
	while (b->next_arg < b->nr_args && has_name(b->args[b->next_arg]))
		b->next_arg++;
	if (b->next_arg < b->nr_args)
		return kw_fail(b->s->ctx, KW_INVALID, "%s: there is no parameter for \"%s\"", b->s->text.name,
			       b->args[b->next_arg]);
	return KW_OK;
}

static bool is_param(const struct kw_statement *s, const char *arg)
{
	for (; s; s = s->next)
		if (s->kind == KW_STATEMENT_PARAM && is_named(arg, s->name))
			return true;
	return false;
}

static kw_status unknown_args(struct binding *b)
{
	for (size_t i = 0; i < b->nr_args; i++) {
		char name[64], near[256];
		struct kw_nearest nearest = { .want = name };

		if (!has_name(b->args[i]) || is_param(b->s->first, b->args[i]))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(b->args[i], "="), b->args[i]);
		for (const struct kw_statement *s = b->s->first; s; s = s->next)
			if (s->kind == KW_STATEMENT_PARAM)
				kw_nearest_offer(&nearest, s->name);
		return kw_fail(b->s->ctx, KW_INVALID, "%s: there is no parameter \"%s\"%s", b->s->text.name,
			       name, kw_nearest_text(&nearest, near, sizeof(near)));
	}
	return KW_OK;
}

/* Statements */

static kw_status give_name(struct binding *b, const struct kw_statement *s)
{
	struct kw_alias *alias = kw_arena_alloc(&b->s->arena, sizeof(*alias));

	if (!alias)
		return kw_fail_nomem(b->s->ctx);
	*alias = (struct kw_alias){ s->name, s->node, b->binder.lets };
	b->binder.lets = alias;
	return KW_OK;
}

static kw_status bind_expr(struct binding *b, const struct kw_node *node, bool is_condition,
			   struct kw_expr **ret)
{
	struct kw_binding bound;
	kw_status status;

	b->binder.rates = b->s->is_loop_bound ? &b->s->rates : NULL;
	status = is_condition ? kw_bind_condition(&b->binder, node, &bound)
			      : kw_bind_binding(&b->binder, node, NULL, true, &bound);
	if (!status)
		*ret = (struct kw_expr *)bound.expr;
	return status;
}

static kw_status watch_source(struct binding *b, const struct kw_statement *s, struct kw_watch **ret)
{
	bool threads = strcmp(s->query->source, "threads") == 0;
	struct kw_watch *watch = threads ? &b->s->threads : &b->s->processes;
	struct kw_query_options options = { .size = sizeof(options),
					    .source = s->query->source,
					    .columns = "task.pid,task.start_boottime" };

	if (!threads && strcmp(s->query->source, "tasks") != 0)
		return fail_at(b, s->query->at, "on new and on exit watch tasks or threads");
	*ret = watch;
	return watch->scan ? KW_OK : kw_query_new(b->s->ctx, &options, &watch->scan);
}

static kw_status bind_query(struct binding *b, struct kw_statement *s)
{
	struct kw_assembly_options options = { .lets = b->binder.lets, .no_rates = !b->s->is_loop_bound };
	struct kw_program *program = calloc(1, sizeof(*program));
	kw_status status = KW_OK;

	if (!program)
		return kw_fail_nomem(b->s->ctx);
	program->text = b->s->text;
	if (s->kind == KW_STATEMENT_NEW)
		options.only_new = s->bound.watch;
	options.keeps_rows = s->kind == KW_STATEMENT_EXITED;
	status = kw_query_assemble(b->s->ctx, program, s->query, &options, &s->bound.query);
	if (status)
		return status;
	s->bound.block.columns = kw_query_columns(s->bound.query, &s->bound.block.nr_columns);
	for (const char *at = b->s->text.text; at < s->at; at++)
		s->bound.block.line += *at == '\n';
	s->bound.block.line++;
	if (s->kind == KW_STATEMENT_EXITED)
		s->bound.last = kw_arena_alloc(&b->s->arena, sizeof(*s->bound.last));
	return s->kind != KW_STATEMENT_EXITED || s->bound.last ? KW_OK : kw_fail_nomem(b->s->ctx);
}

static kw_status bind_watch(struct binding *b, struct kw_statement *s)
{
	kw_status status;

	if (!b->s->is_loop_bound)
		return fail_at(b, s->at,
			       "outside of a loop nothing would ever happen: put this into every T { }");
	status = watch_source(b, s, &s->bound.watch);
	if (!status && s->kind == KW_STATEMENT_EXITED) {
		s->bound.exits = b->loop->bound.exits;
		b->loop->bound.exits = s;
	}
	return status ? status : bind_query(b, s);
}

static kw_status bind_print(struct binding *b, struct kw_statement *s)
{
	kw_status status = KW_OK;

	for (struct kw_piece *piece = s->pieces; piece && !status; piece = piece->next)
		if (piece->node)
			status = bind_expr(b, piece->node, false, &piece->expr);
	return status;
}

/* A number that stands in the script by its name: a time, or a count. */
static kw_status bind_quantity(struct binding *b, const struct kw_node *node, bool is_time, uint64_t *ret)
{
	struct kw_expr *e = node ? kw_bind_node(&b->binder, node) : NULL;
	uint64_t number;

	if (!node)
		return KW_OK;
	if (!e)
		return b->s->ctx->status;
	number = e->value.type == KW_VAL_FLOAT ? (uint64_t)e->value.f : e->value.u;
	if (e->op == KW_EXPR_CONST && is_time && e->unit == KW_UNIT_NANOSECONDS && number >= KW_MIN_PERIOD &&
	    number <= KW_MAX_PERIOD) {
		*ret = number;
		return KW_OK;
	}
	if (e->op == KW_EXPR_CONST && !is_time && e->type == KW_VAL_UINT && !e->unit && number) {
		*ret = number;
		return KW_OK;
	}
	return fail_at(
		b, node->at,
		is_time ? "expected a time of at least 1ms, and less than a century, or the name of one"
			: "expected a number of times above 0, or the name of one");
}

static kw_status bind_every(struct binding *b, struct kw_statement *s)
{
	kw_status status;

	if (b->s->is_loop_bound)
		return fail_at(b, s->at, "a loop can't stand inside of another one");
	if (b->depth)
		return fail_at(b, s->at, "a loop can't stand inside of a block");
	if (!s->body)
		return fail_at(b, s->at, "the loop would do nothing for ever: its block is empty");
	status = bind_quantity(b, s->period_node, true, &s->period);
	if (!status)
		status = bind_quantity(b, s->span_node, true, &s->span);
	if (!status)
		status = bind_quantity(b, s->times_node, false, &s->times);
	if (status)
		return status;
	b->s->is_loop_bound = true;
	b->loop = s;
	status = bind_list(b, s->body);
	b->s->is_loop_bound = false;
	return status;
}

static kw_status bind_when(struct binding *b, struct kw_statement *s)
{
	kw_status status = bind_expr(b, s->node, true, &s->bound.expr);

	if (!status)
		status = bind_quantity(b, s->span_node, true, &s->span);
	if (!status && s->span && !b->s->is_loop_bound)
		return fail_at(b, s->at,
			       "outside of a loop nothing lasts: put \"when ... for\" into every T { }");
	b->depth++;
	if (!status)
		status = bind_list(b, s->body);
	if (!status)
		status = bind_list(b, s->otherwise);
	b->depth--;
	return status;
}

static kw_status bind_change(struct binding *b, struct kw_statement *s)
{
	kw_status status;

	if (!b->s->is_loop_bound)
		return fail_at(b, s->at, "outside of a loop nothing changes: put this into every T { }");
	status = bind_expr(b, s->node, false, &s->bound.expr);
	b->depth++;
	if (!status)
		status = bind_list(b, s->body);
	b->depth--;
	return status;
}

static kw_status bind_statement(struct binding *b, struct kw_statement *s)
{
	bool inner = b->depth || b->s->is_loop_bound;
	kw_status status;

	switch (s->kind) {
	case KW_STATEMENT_PARAM:
		if (inner)
			return fail_at(b, s->at, "parameters belong in front of loops and blocks");
		status = bind_param(b, s);
		return status ? status : give_name(b, s);
	case KW_STATEMENT_LET: return give_name(b, s);
	case KW_STATEMENT_EVERY: return bind_every(b, s);
	case KW_STATEMENT_WHEN: return bind_when(b, s);
	case KW_STATEMENT_NEW:
	case KW_STATEMENT_EXITED: return bind_watch(b, s);
	case KW_STATEMENT_CHANGE: return bind_change(b, s);
	case KW_STATEMENT_PRINT: return bind_print(b, s);
	case KW_STATEMENT_EXIT: return s->node ? bind_expr(b, s->node, true, &s->bound.expr) : KW_OK;
	case KW_STATEMENT_OUTPUT:
		return inner ? fail_at(b, s->at, "output belongs in front of loops and blocks") : KW_OK;
	default: return bind_query(b, s);
	}
}

/* Names that a block gives are gone behind it. */
static kw_status bind_list(struct binding *b, struct kw_statement *list)
{
	const struct kw_alias *lets = b->binder.lets;
	bool outer = list == b->s->first;
	kw_status status = KW_OK;

	for (struct kw_statement *s = list; s && !status; s = s->next) {
		status = bind_statement(b, s);
		if (!status && s->next && s->kind == KW_STATEMENT_EVERY && !s->span && !s->times)
			status = fail_at(
				b, s->next->at,
				"this would never be reached: the loop before it has no end (give it \"for T\" "
				"or \"N times\")");
	}
	if (!outer)
		b->binder.lets = lets;
	return status;
}

kw_status kw_script_bind(struct kw_script *script, const char *const *args, size_t nr_args)
{
	struct binding b = { .s = script, .args = args, .nr_args = nr_args };
	kw_status status;

	b.binder = (struct kw_binder){ .ctx = script->ctx,
				       .arena = &script->arena,
				       .text = &script->text,
				       .patterns = &script->patterns,
				       .scalars = &script->scalars,
				       .places = &script->places };
	status = unknown_args(&b);
	if (!status)
		status = bind_list(&b, script->first);
	return status ? status : unused_arg(&b);
}

static kw_status make(struct kw_script *script, const char *name, const char *text, const char *const *args,
		      size_t nr_args)
{
	struct kw_parser parser;
	size_t len = strlen(text);
	kw_status status;

	if (len > KW_PROGRAM_MAX)
		return kw_fail(script->ctx, KW_INVALID, "%s: a script has at most %d bytes", name,
			       KW_PROGRAM_MAX);
	script->text.name = kw_arena_copy(&script->arena, name, strlen(name));
	script->text.text = kw_arena_copy(&script->arena, text, len);
	script->text.len = len;
	if (!script->text.name || !script->text.text)
		return kw_fail_nomem(script->ctx);
	kw_parser_begin(&parser, script->ctx, &script->text, &script->arena);
	script->first = kw_parse_script(&parser);
	if (parser.failed)
		return script->ctx->status;
	kw_pass_begin(script->ctx);
	status = kw_script_bind(script, args, nr_args);
	kw_pass_end(script->ctx);
	return status;
}

kw_status kw_script_new(kw_ctx *ctx, const char *name, const char *text, const char *const *args,
			size_t nr_args, kw_script **ret)
{
	kw_script *script = calloc(1, sizeof(*script));
	kw_status status;

	if (!script)
		return kw_fail_nomem(ctx);
	script->ctx = ctx;
	status = make(script, name, text, args, nr_args);
	if (status) {
		kw_script_free(script);
		return status;
	}
	*ret = script;
	return KW_OK;
}

void kw_statements_deinit(struct kw_statement *list)
{
	for (; list; list = list->next) {
		kw_statements_deinit(list->body);
		kw_statements_deinit(list->otherwise);
		kw_query_free(list->bound.query);
		kw_arena_free(&list->bound.text);
		if (list->bound.last) {
			kw_store_deinit(&list->bound.last->now);
			kw_store_deinit(&list->bound.last->before);
		}
	}
}

void kw_script_free(kw_script *script)
{
	if (!script)
		return;
	kw_statements_deinit(script->first);
	kw_scalars_deinit(script->scalars);
	kw_places_deinit(script->places);
	for (struct kw_rate *rate = script->rates; rate; rate = rate->next)
		kw_rate_deinit(rate);
	kw_watch_deinit(&script->processes);
	kw_watch_deinit(&script->threads);
	for (size_t i = 0; i < script->patterns.nr; i++)
		kw_pattern_free(script->patterns.item[i]);
	free(script->patterns.item);
	kw_arena_free(&script->scratch);
	kw_arena_free(&script->arena);
	free(script);
}
