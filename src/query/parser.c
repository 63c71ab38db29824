/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What expressions and queries have in common, and queries with their clauses. */
#include "query/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/source.h"
#include "query/walker.h"
#include "util/error.h"
#include "util/nearest.h"

#define MAX_JOINS 4

static const struct {
	const char *word;
	enum kw_clause_kind kind;
} clause_words[] = {
	{ "where", KW_CLAUSE_WHERE }, { "select", KW_CLAUSE_SELECT }, { "group", KW_CLAUSE_GROUP },
	{ "sort", KW_CLAUSE_SORT },   { "limit", KW_CLAUSE_LIMIT },   { "distinct", KW_CLAUSE_DISTINCT },
};

#define NR_CLAUSE_WORDS (sizeof(clause_words) / sizeof(clause_words[0]))

void kw_parser_begin(struct kw_parser *p, kw_ctx *ctx, const struct kw_program_text *text,
		     struct kw_arena *arena)
{
	*p = (struct kw_parser){ .ctx = ctx, .text = text, .arena = arena, .in_rows = true };
	p->lexer = (struct kw_lexer){ ctx, text, text->text };
	p->end = text->text;
	kw_parser_advance(p);
}

void kw_parser_advance(struct kw_parser *p)
{
	if (p->failed)
		return;
	p->end = p->token.at ? p->token.at + p->token.len : p->text->text;
	kw_lexer_next(&p->lexer, &p->token);
	if (p->token.kind == KW_TOKEN_WRONG)
		p->failed = true;
}

void kw_parser_fail(struct kw_parser *p, const char *at, const char *fmt, ...)
{
	char message[512];
	va_list args;

	if (p->failed)
		return;
	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	p->failed = true;
	kw_program_fail(p->ctx, p->text, at, KW_INVALID, "%s", message);
}

void kw_parser_expected(struct kw_parser *p, const char *what)
{
	int len = p->token.len > 40 ? 40 : (int)p->token.len;

	if (p->token.kind == KW_TOKEN_END)
		kw_parser_fail(p, p->token.at, "expected %s, found the end", what);
	else
		kw_parser_fail(p, p->token.at, "expected %s, found %.*s", what, len, p->token.at);
}

void *kw_parser_new(struct kw_parser *p, size_t size)
{
	void *part = kw_arena_alloc(p->arena, size);

	if (!part && !p->failed) {
		p->failed = true;
		kw_fail_nomem(p->ctx);
	}
	return part;
}

const char *kw_parser_copy(struct kw_parser *p, const char *from, size_t len)
{
	char *copy = kw_parser_new(p, len + 1);

	if (copy)
		memcpy(copy, from, len);
	return copy;
}

bool kw_parser_enter(struct kw_parser *p)
{
	if (p->depth == KW_SYNTAX_MAX_DEPTH) {
		kw_parser_fail(p, p->token.at, "nested more than %d deep", KW_SYNTAX_MAX_DEPTH);
		return false;
	}
	p->depth++;
	return true;
}

void kw_parser_leave(struct kw_parser *p)
{
	p->depth--;
}

bool kw_parser_at_mark(const struct kw_parser *p, int mark)
{
	return !p->failed && p->token.kind == KW_TOKEN_MARK && p->token.mark == mark;
}

bool kw_parser_take_mark(struct kw_parser *p, int mark)
{
	if (!kw_parser_at_mark(p, mark))
		return false;
	kw_parser_advance(p);
	return !p->failed;
}

bool kw_parser_take_word(struct kw_parser *p, const char *word)
{
	if (p->failed || !kw_token_is(&p->token, word))
		return false;
	kw_parser_advance(p);
	return !p->failed;
}

static bool at_clause(const struct kw_parser *p, enum kw_clause_kind *ret)
{
	for (size_t i = 0; i < NR_CLAUSE_WORDS; i++) {
		if (kw_token_is(&p->token, clause_words[i].word)) {
			*ret = clause_words[i].kind;
			return true;
		}
	}
	return false;
}

bool kw_parser_at_end(const struct kw_parser *p)
{
	enum kw_clause_kind unused;

	if (p->failed || p->token.kind == KW_TOKEN_END)
		return true;
	if (kw_parser_at_mark(p, ';') || kw_parser_at_mark(p, '}') || kw_parser_at_mark(p, ')'))
		return true;
	return p->token.first_on_line && !at_clause(p, &unused);
}

/* Clauses */

static bool token_name(const struct kw_parser *p, char name[32])
{
	if (p->failed || p->token.kind != KW_TOKEN_NAME || p->token.first_on_line || p->token.len >= 32)
		return false;
	memcpy(name, p->token.at, p->token.len);
	name[p->token.len] = '\0';
	return true;
}

/* A generic walker, which in a list is no function either. */
static bool at_walk(const struct kw_parser *p)
{
	char name[32];

	return token_name(p, name) && p->token.at[p->token.len] == '(' && kw_walker_is(name);
}

/* The name that a clause's list may not run into, since commas are optional. */
static bool at_item(const struct kw_parser *p)
{
	enum kw_clause_kind unused;

	if (kw_parser_at_end(p) || at_clause(p, &unused) || at_walk(p))
		return false;
	return p->token.kind == KW_TOKEN_NAME || p->token.kind == KW_TOKEN_NUMBER ||
	       p->token.kind == KW_TOKEN_STRING || kw_parser_at_mark(p, '(') || kw_parser_at_mark(p, '&') ||
	       kw_parser_at_mark(p, '-') || kw_parser_at_mark(p, '+');
}

/* A name, or in quotes no more than a heading. */
static void parse_as(struct kw_parser *p, struct kw_item *item)
{
	char *heading;

	if (p->token.kind == KW_TOKEN_STRING) {
		heading = kw_parser_new(p, p->token.len);
		if (heading)
			kw_token_string(&p->token, heading);
		item->heading = heading;
	} else if (p->token.kind == KW_TOKEN_NAME) {
		item->alias = kw_parser_copy(p, p->token.at, p->token.len);
	} else {
		kw_parser_expected(p, "a name or a heading in quotes behind \"as\"");
		return;
	}
	kw_parser_advance(p);
}

static struct kw_item *parse_item(struct kw_parser *p, bool is_key)
{
	struct kw_item *item = kw_parser_new(p, sizeof(*item));

	if (!item)
		return NULL;
	if (is_key) {
		/* The sign belongs to the key: "-a -b" are two keys, and no difference. */
		item->descending = kw_parser_at_mark(p, '-');
		if (item->descending || kw_parser_at_mark(p, '+'))
			kw_parser_advance(p);
	}
	item->node = is_key ? kw_parse_key(p) : kw_parse_expr(p);
	if (!is_key && kw_parser_take_word(p, "as"))
		parse_as(p, item);
	return p->failed ? NULL : item;
}

static struct kw_item *parse_items(struct kw_parser *p, bool is_key)
{
	struct kw_item *first = NULL, **end = &first;

	for (unsigned int nr = 0;; nr++) {
		if (nr == KW_SYNTAX_MAX_ITEMS) {
			kw_parser_fail(p, p->token.at, "more than %d elements in the list",
				       KW_SYNTAX_MAX_ITEMS);
			return NULL;
		}
		*end = parse_item(p, is_key);
		if (!*end)
			return NULL;
		end = &(*end)->next;
		if (!kw_parser_take_mark(p, ',') && !at_item(p))
			return p->failed ? NULL : first;
	}
}

static void parse_limit(struct kw_parser *p, struct kw_clause *clause)
{
	const struct kw_token *t = &p->token;

	/* A name that let or param gave to a number: known when it is bound. */
	if (t->kind == KW_TOKEN_NAME && !kw_parser_at_end(p)) {
		clause->condition = kw_parse_key(p);
		return;
	}
	if (t->kind != KW_TOKEN_NUMBER || t->is_float || t->unit || !t->u) {
		kw_parser_expected(p, "a number of rows above 0");
		return;
	}
	clause->limit = t->u;
	kw_parser_advance(p);
}

static struct kw_clause *parse_clause(struct kw_parser *p, enum kw_clause_kind kind)
{
	struct kw_clause *clause = kw_parser_new(p, sizeof(*clause));

	if (!clause)
		return NULL;
	clause->kind = kind;
	clause->at = p->token.at;
	kw_parser_advance(p);
	switch (kind) {
	case KW_CLAUSE_WHERE: clause->condition = kw_parse_expr(p); break;
	case KW_CLAUSE_GROUP:
		if (!kw_parser_take_word(p, "by")) {
			kw_parser_expected(p, "\"by\" behind \"group\"");
			break;
		}
		clause->items = parse_items(p, false);
		break;
	case KW_CLAUSE_SELECT: clause->items = parse_items(p, false); break;
	case KW_CLAUSE_SORT:
		kw_parser_take_word(p, "by");
		clause->items = parse_items(p, true);
		break;
	case KW_CLAUSE_LIMIT: parse_limit(p, clause); break;
	case KW_CLAUSE_DISTINCT: break;
	}
	return p->failed ? NULL : clause;
}

static void no_clause(struct kw_parser *p)
{
	struct kw_nearest nearest = { 0 };
	char word[64], near[256] = "";

	if (p->token.kind == KW_TOKEN_NAME) {
		snprintf(word, sizeof(word), "%.*s", (int)(p->token.len < 63 ? p->token.len : 63),
			 p->token.at);
		nearest.want = word;
		for (size_t i = 0; i < NR_CLAUSE_WORDS; i++)
			kw_nearest_offer(&nearest, clause_words[i].word);
		kw_nearest_text(&nearest, near, sizeof(near));
	}
	kw_parser_fail(p, p->token.at,
		       "expected where, select, group by, sort, limit, distinct or the end, found %.*s%s",
		       (int)(p->token.len > 40 ? 40 : p->token.len), p->token.at, near);
}

static void parse_arguments(struct kw_parser *p, struct kw_query_syntax *query)
{
	struct kw_node **end = &query->arguments;

	query->has_arguments = true;
	while (!kw_parser_at_mark(p, ')')) {
		*end = kw_parse_argument(p);
		if (!*end)
			return;
		end = &(*end)->next;
		if (!kw_parser_take_mark(p, ','))
			break;
	}
	if (!kw_parser_take_mark(p, ')'))
		kw_parser_expected(p, ", or )");
}

/* Behind a query, what each of its rows has: a source of such, or a walk that begins at it. */
static bool at_join(const struct kw_parser *p)
{
	const struct kw_source_def *source;
	char name[32];

	if (!token_name(p, name))
		return false;
	source = kw_source_def(name);
	return (source && source->walk_task) || at_walk(p);
}

static struct kw_query_syntax *parse_one(struct kw_parser *p)
{
	struct kw_query_syntax *query = kw_parser_new(p, sizeof(*query));
	enum kw_clause_kind kind = KW_CLAUSE_WHERE;
	struct kw_clause **end;

	if (!query)
		return NULL;
	if (p->token.kind != KW_TOKEN_NAME || at_clause(p, &kind)) {
		kw_parser_expected(p, "a source, such as tasks");
		return NULL;
	}
	query->at = p->token.at;
	query->source = kw_parser_copy(p, p->token.at, p->token.len);
	kw_parser_advance(p);
	if (kw_parser_at_mark(p, '(') && p->token.glued) {
		kw_parser_advance(p);
		parse_arguments(p, query);
	}
	for (end = &query->clauses; !p->failed && at_clause(p, &kind); end = &(*end)->next) {
		*end = parse_clause(p, kind);
		if (!*end)
			break;
	}
	return p->failed ? NULL : query;
}

struct kw_query_syntax *kw_parse_query(struct kw_parser *p)
{
	bool in_rows = p->in_rows;
	struct kw_query_syntax *query, *inner;

	p->in_rows = true;
	query = parse_one(p);
	for (unsigned int joins = 0; query && at_join(p); joins++) {
		if (joins == MAX_JOINS)
			kw_parser_fail(p, p->token.at, "more than %d joins", MAX_JOINS);
		inner = p->failed ? NULL : parse_one(p);
		if (inner)
			inner->outer = query;
		query = inner;
	}
	if (query && !kw_parser_at_end(p))
		no_clause(p);
	p->in_rows = in_rows;
	return p->failed ? NULL : query;
}

struct kw_query_syntax *kw_parse_query_alone(struct kw_parser *p)
{
	struct kw_query_syntax *query = p->failed ? NULL : kw_parse_query(p);
	bool ended = kw_parser_take_mark(p, ';');

	if (query && p->token.kind != KW_TOKEN_END) {
		if (ended || p->token.first_on_line)
			kw_parser_fail(p, p->token.at, "expected one query, found a second one");
		else
			no_clause(p);
	}
	return p->failed ? NULL : query;
}

struct kw_node *kw_parse_expr_alone(struct kw_parser *p)
{
	struct kw_node *node = p->failed ? NULL : kw_parse_expr(p);

	if (node && p->token.kind != KW_TOKEN_END)
		kw_parser_expected(p, "an operator or the end");
	return p->failed ? NULL : node;
}
