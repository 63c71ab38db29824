/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing the statements of a script. */
#include <stdio.h>
#include <string.h>

#include "query/statement.h"
#include "util/nearest.h"

static struct kw_statement *block(struct kw_parser *p);

static struct kw_statement *new_statement(struct kw_parser *p, enum kw_statement_kind kind)
{
	struct kw_statement *s = kw_parser_new(p, sizeof(*s));

	if (s) {
		s->kind = kind;
		s->at = p->token.at;
	}
	kw_parser_advance(p);
	return p->failed ? NULL : s;
}

static const char *take_name(struct kw_parser *p, const char *what)
{
	const char *name;

	if (p->token.kind != KW_TOKEN_NAME) {
		kw_parser_expected(p, what);
		return NULL;
	}
	name = kw_parser_copy(p, p->token.at, p->token.len);
	kw_parser_advance(p);
	return p->failed ? NULL : name;
}

/* A name that let or param gave to a number is known when it is bound. */
static bool take_named(struct kw_parser *p, struct kw_node **ret)
{
	if (p->failed || p->token.kind != KW_TOKEN_NAME || !ret)
		return false;
	*ret = kw_parse_key(p);
	return true;
}

static uint64_t take_time(struct kw_parser *p, const char *what, struct kw_node **ret_node)
{
	const struct kw_token *t = &p->token;
	uint64_t ns = t->is_float ? (uint64_t)(t->f < 1e18 ? t->f : 1e18) : t->u;

	if (p->failed || take_named(p, ret_node))
		return 0;
	if (t->kind != KW_TOKEN_NUMBER || t->unit != KW_UNIT_NANOSECONDS) {
		kw_parser_expected(p, what);
		return 0;
	}
	if (ns < KW_MIN_PERIOD || ns > KW_MAX_PERIOD) {
		kw_parser_fail(p, t->at, "the time has to be at least 1ms, and less than a century");
		return 0;
	}
	kw_parser_advance(p);
	return ns;
}

static uint64_t take_count(struct kw_parser *p, uint64_t limit, const char *what)
{
	const struct kw_token *t = &p->token;
	uint64_t number = t->u;

	if (p->failed)
		return 0;
	if (t->kind != KW_TOKEN_NUMBER || t->is_float || t->unit || number > limit) {
		kw_parser_expected(p, what);
		return 0;
	}
	kw_parser_advance(p);
	return number;
}

static struct kw_node *take_expr(struct kw_parser *p)
{
	return p->failed ? NULL : kw_parse_expr(p);
}

static struct kw_statement *definition(struct kw_parser *p, enum kw_statement_kind kind)
{
	struct kw_statement *s = new_statement(p, kind);

	if (!s)
		return NULL;
	s->name = take_name(p, "a name");
	if (kw_parser_take_mark(p, '='))
		s->node = kind == KW_STATEMENT_PARAM ? kw_parse_value(p) : take_expr(p);
	else if (kind == KW_STATEMENT_LET)
		kw_parser_expected(p, "= and what the name stands for");
	return p->failed ? NULL : s;
}

static bool at_count(const struct kw_parser *p)
{
	return !p->failed && p->token.kind == KW_TOKEN_NUMBER && !p->token.unit;
}

static void take_times(struct kw_parser *p, struct kw_statement *s)
{
	s->times = take_count(p, UINT32_MAX, "\"for\" and a time, a number of times, or {");
	if (!p->failed && !s->times)
		kw_parser_fail(p, s->at, "a loop runs at least once");
	if (!kw_parser_take_word(p, "times"))
		kw_parser_expected(p, "\"times\"");
}

/* [for] TIME, or [for] N times; either may be a name. */
static void take_end(struct kw_parser *p, struct kw_statement *s)
{
	bool is_for = kw_parser_take_word(p, "for");
	struct kw_node *node = NULL;

	if (at_count(p)) {
		take_times(p, s);
	} else if (take_named(p, &node)) {
		bool is_times = kw_parser_take_word(p, "times");

		if (!is_for && !is_times)
			kw_parser_expected(p, "\"times\"");
		*(is_times ? &s->times_node : &s->span_node) = node;
	} else if (is_for) {
		s->span = take_time(p, "a time such as 5m, or a number of times, behind \"for\"", NULL);
	} else {
		take_times(p, s);
	}
}

static struct kw_statement *every(struct kw_parser *p)
{
	struct kw_statement *s = new_statement(p, KW_STATEMENT_EVERY);

	if (!s)
		return NULL;
	s->period = take_time(p, "a time such as 1s or 100ms behind \"every\"", &s->period_node);
	if (!p->failed && !kw_parser_at_mark(p, '{'))
		take_end(p, s);
	s->body = block(p);
	return p->failed ? NULL : s;
}

static struct kw_statement *when(struct kw_parser *p)
{
	struct kw_statement *s = new_statement(p, KW_STATEMENT_WHEN);

	if (!s)
		return NULL;
	s->node = take_expr(p);
	if (kw_parser_take_word(p, "for"))
		s->span = take_time(p, "a time such as 10s behind \"for\"", &s->span_node);
	s->body = block(p);
	if (kw_parser_take_word(p, "else"))
		s->otherwise = block(p);
	return p->failed ? NULL : s;
}

static struct kw_statement *on(struct kw_parser *p)
{
	struct kw_statement *s = new_statement(p, KW_STATEMENT_NEW);

	if (!s)
		return NULL;
	if (kw_parser_take_word(p, "change")) {
		s->kind = KW_STATEMENT_CHANGE;
		if (!kw_parser_take_word(p, "of"))
			kw_parser_expected(p, "\"of\" and a value behind \"on change\"");
		s->node = take_expr(p);
		s->body = block(p);
		return p->failed ? NULL : s;
	}
	if (kw_parser_take_word(p, "exit"))
		s->kind = KW_STATEMENT_EXITED;
	else if (!kw_parser_take_word(p, "new"))
		kw_parser_expected(p, "\"new\", \"exit\" or \"change of\" behind \"on\"");
	if (!p->failed)
		s->query = kw_parse_query(p);
	return p->failed ? NULL : s;
}

/* Printed texts */

struct pieces {
	struct kw_parser *p;
	struct kw_piece **end;
};

static struct kw_piece *add_piece(struct pieces *pieces)
{
	struct kw_piece *piece = pieces->p->failed ? NULL : kw_parser_new(pieces->p, sizeof(*piece));

	if (piece) {
		*pieces->end = piece;
		pieces->end = &piece->next;
	}
	return piece;
}

/* The text between two braces, without its escapes. */
static void add_text(struct pieces *pieces, const char *from, const char *to)
{
	struct kw_token part = { .at = from - 1, .len = (size_t)(to - from) + 2 };
	struct kw_piece *piece = from < to ? add_piece(pieces) : NULL;
	char *text = piece ? kw_parser_new(pieces->p, part.len) : NULL;
	size_t len;

	if (!text)
		return;
	len = kw_token_string(&part, text);
	for (size_t i = 0; i < len; i++) {
		text[piece->len++] = text[i];
		if ((text[i] == '{' || text[i] == '}') && i + 1 < len && text[i + 1] == text[i])
			i++;
	}
	piece->text = text;
}

/*
 * Parse the expression behind a brace in the program's text, so that a mistake is shown where it is. Returns what is
 * behind its closing brace.
 */
static const char *add_expr(struct pieces *pieces, const char *at)
{
	struct kw_parser inner = *pieces->p;
	struct kw_piece *piece = add_piece(pieces);

	if (!piece)
		return at;
	inner.lexer.at = at;
	kw_parser_advance(&inner);
	piece->node = inner.failed ? NULL : kw_parse_expr(&inner);
	if (piece->node && !kw_parser_at_mark(&inner, '}'))
		kw_parser_expected(&inner, "} behind the expression");
	pieces->p->nodes = inner.nodes;
	pieces->p->failed = inner.failed;
	return inner.token.at + 1;
}

static void take_pieces(struct kw_parser *p, struct kw_statement *s)
{
	const char *at = p->token.at + 1, *stop = p->token.at + p->token.len - 1, *from = at;
	struct pieces pieces = { p, &s->pieces };

	while (at < stop && !p->failed) {
		bool is_brace = *at == '{' || *at == '}';

		if (is_brace && at + 1 < stop && at[1] == at[0]) {
			at += 2;
		} else if (*at == '{') {
			add_text(&pieces, from, at);
			from = at = add_expr(&pieces, at + 1);
			if (!p->failed && at > stop)
				kw_parser_fail(p, p->token.at,
					       "a { in the text is not closed; {{ is a brace itself");
		} else if (*at == '}') {
			kw_parser_fail(p, at, "a } without a { before it; }} is a brace itself");
		} else {
			at += *at == '\\' ? 2 : 1;
		}
	}
	if (!p->failed)
		add_text(&pieces, from, stop);
}

static struct kw_statement *print(struct kw_parser *p)
{
	struct kw_statement *s = new_statement(p, KW_STATEMENT_PRINT);

	if (!s)
		return NULL;
	if (p->token.kind != KW_TOKEN_STRING)
		kw_parser_expected(p, "a text in quotes behind \"print\"");
	else
		take_pieces(p, s);
	kw_parser_advance(p);
	return p->failed ? NULL : s;
}

static struct kw_statement *leave(struct kw_parser *p)
{
	struct kw_statement *s = new_statement(p, KW_STATEMENT_EXIT);

	if (!s)
		return NULL;
	s->code = (unsigned int)take_count(p, 255, "an exit code from 0 to 255 behind \"exit\"");
	if (kw_parser_take_word(p, "if"))
		s->node = take_expr(p);
	return p->failed ? NULL : s;
}

/* Output */

static void take_format(struct kw_parser *p, struct kw_statement *s)
{
	static const char *const names[] = { "table", "json", "jsonl", "csv", "tsv" };
	struct kw_nearest nearest = { 0 };
	char near[128], want[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (kw_parser_take_word(p, names[i])) {
			s->output.format = (enum kw_format)i;
			return;
		}
	}
	if (p->failed)
		return;
	snprintf(want, sizeof(want), "%.*s", (int)(p->token.len > 60 ? 60 : p->token.len), p->token.at);
	nearest.want = want;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		kw_nearest_offer(&nearest, names[i]);
	kw_parser_fail(p, p->token.at, "expected table, json, jsonl, csv or tsv behind \"output\"%s",
		       kw_nearest_text(&nearest, near, sizeof(near)));
}

static void take_rotation(struct kw_parser *p, struct kw_statement *s)
{
	const struct kw_token *t = &p->token;

	if (t->kind != KW_TOKEN_NUMBER || (t->unit != KW_UNIT_BYTES && t->unit != KW_UNIT_NANOSECONDS)) {
		kw_parser_expected(p, "a size such as 100M or a time such as 1d behind \"rotate\"");
		return;
	}
	if (t->unit == KW_UNIT_BYTES && t->u < 4096)
		kw_parser_fail(p, t->at, "files are rotated at 4K or more");
	if (t->unit == KW_UNIT_BYTES) {
		s->output.rotate_size = t->is_float ? (uint64_t)t->f : t->u;
		kw_parser_advance(p);
	} else {
		s->output.rotate_time = take_time(p, "a time", NULL);
	}
}

static void take_path(struct kw_parser *p, struct kw_statement *s)
{
	char *path;

	if (p->token.kind != KW_TOKEN_STRING) {
		kw_parser_expected(p, "the name of a file in quotes behind \"to\"");
		return;
	}
	path = kw_parser_new(p, p->token.len);
	if (!path)
		return;
	if (!kw_token_string(&p->token, path) || strlen(path) != kw_token_string(&p->token, path))
		kw_parser_fail(p, p->token.at, "this is not the name of a file");
	s->output.path = path;
	kw_parser_advance(p);
	if (kw_parser_take_word(p, "rotate"))
		take_rotation(p, s);
	s->output.keep = 5;
	if (kw_parser_take_word(p, "keep"))
		s->output.keep =
			(unsigned int)take_count(p, 1000, "a number of files up to 1000 behind \"keep\"");
	if (kw_parser_take_word(p, "or")) {
		s->output.go_on = true;
		if (!kw_parser_take_word(p, "go") || !kw_parser_take_word(p, "on"))
			kw_parser_expected(p, "\"go on\" behind \"or\"");
	}
}

static struct kw_statement *output(struct kw_parser *p)
{
	struct kw_statement *s = new_statement(p, KW_STATEMENT_OUTPUT);

	if (!s)
		return NULL;
	take_format(p, s);
	if (kw_parser_take_word(p, "to"))
		take_path(p, s);
	return p->failed ? NULL : s;
}

/* Statements */

static struct kw_statement *query(struct kw_parser *p)
{
	struct kw_statement *s = kw_parser_new(p, sizeof(*s));

	if (!s)
		return NULL;
	s->kind = KW_STATEMENT_QUERY;
	s->at = p->token.at;
	s->query = kw_parse_query(p);
	return p->failed ? NULL : s;
}

static struct kw_statement *statement(struct kw_parser *p)
{
	if (kw_token_is(&p->token, "param"))
		return definition(p, KW_STATEMENT_PARAM);
	if (kw_token_is(&p->token, "let"))
		return definition(p, KW_STATEMENT_LET);
	if (kw_token_is(&p->token, "every"))
		return every(p);
	if (kw_token_is(&p->token, "when"))
		return when(p);
	if (kw_token_is(&p->token, "on"))
		return on(p);
	if (kw_token_is(&p->token, "print"))
		return print(p);
	if (kw_token_is(&p->token, "exit"))
		return leave(p);
	if (kw_token_is(&p->token, "output"))
		return output(p);
	if (p->token.kind != KW_TOKEN_NAME) {
		kw_parser_expected(
			p, "a statement: a query, every, when, on, let, param, print, output or exit");
		return NULL;
	}
	return query(p);
}

/* Statements up to what can't begin one. A line's end or ; stands between two of them. */
static struct kw_statement *statements(struct kw_parser *p)
{
	struct kw_statement *first = NULL, **end = &first;

	for (;;) {
		while (kw_parser_take_mark(p, ';'))
			;
		if (p->failed || p->token.kind == KW_TOKEN_END || kw_parser_at_mark(p, '}'))
			return first;
		*end = statement(p);
		if (!*end)
			return NULL;
		end = &(*end)->next;
		if (!kw_parser_at_end(p) && !kw_parser_at_mark(p, '}') && !p->token.first_on_line)
			kw_parser_expected(p, "the end of the line or ;");
	}
}

static struct kw_statement *block(struct kw_parser *p)
{
	const char *at = p->token.at;
	struct kw_statement *body;

	if (p->failed || !kw_parser_enter(p))
		return NULL;
	if (!kw_parser_take_mark(p, '{')) {
		kw_parser_expected(p, "{ and statements");
		return NULL;
	}
	body = statements(p);
	if (!p->failed && p->token.kind == KW_TOKEN_END)
		kw_parser_fail(p, at, "the block is not closed: expected } before the end");
	kw_parser_take_mark(p, '}');
	kw_parser_leave(p);
	return p->failed ? NULL : body;
}

struct kw_statement *kw_parse_script(struct kw_parser *p)
{
	struct kw_statement *first;

	p->in_rows = false;
	first = statements(p);
	if (!p->failed && p->token.kind != KW_TOKEN_END)
		kw_parser_fail(p, p->token.at, "a } without a { before it");
	if (!p->failed && !first)
		kw_parser_fail(p, p->text->text, "the script is empty");
	return p->failed ? NULL : first;
}

struct kw_node *kw_parse_value(struct kw_parser *p)
{
	struct kw_node *node = p->failed ? NULL : kw_parse_expr(p);
	const struct kw_node *value = node && node->kind == KW_NODE_UNARY && node->op == '-' ? node->a : node;

	if (value && value->kind != KW_NODE_NUMBER && value->kind != KW_NODE_STRING &&
	    value->kind != KW_NODE_BOOL) {
		kw_parser_fail(p, node->first, "expected a number, a text in quotes, true or false");
		return NULL;
	}
	return node;
}
