/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing: recursive descent with one token of look-ahead. The first mistake ends it. */
#ifndef QUERY_PARSER_H
#define QUERY_PARSER_H

#include "query/syntax.h"

struct kw_parser {
	kw_ctx *ctx;
	const struct kw_program_text *text;
	struct kw_arena *arena;
	struct kw_lexer lexer;
	struct kw_token token; /* the one that is looked at */
	const char *end;       /* of the token before it */
	unsigned int depth, nodes;
	bool failed;
	bool in_rows; /* names are those of rows: else the argument of count() is a query */
};

/** Begin to parse a text, which lives as long as what is made of it. */
void kw_parser_begin(struct kw_parser *p, kw_ctx *ctx, const struct kw_program_text *text,
		     struct kw_arena *arena);

/** Parse a query that is all of the text. NULL with the error set when it is none. */
struct kw_query_syntax *kw_parse_query_alone(struct kw_parser *p);

/** Parse an expression that is all of the text. */
struct kw_node *kw_parse_expr_alone(struct kw_parser *p);

/* What statements are made of. All return NULL or false with the error set, and p->failed. */

struct kw_query_syntax *kw_parse_query(struct kw_parser *p);
struct kw_node *kw_parse_expr(struct kw_parser *p);

/** Parse what can be a key of an order without parentheses: a name, a call, ... */
struct kw_node *kw_parse_key(struct kw_parser *p);

/** Parse an argument of a source: an expression, or "struct NAME". */
struct kw_node *kw_parse_argument(struct kw_parser *p);

void kw_parser_advance(struct kw_parser *p);
bool kw_parser_at_mark(const struct kw_parser *p, int mark);
bool kw_parser_take_mark(struct kw_parser *p, int mark);
bool kw_parser_take_word(struct kw_parser *p, const char *word);

/** Allocate a part of the tree. */
void *kw_parser_new(struct kw_parser *p, size_t size);

/** Copy text to the arena. */
const char *kw_parser_copy(struct kw_parser *p, const char *from, size_t len);

/** Say what was expected where the token stands. */
void kw_parser_expected(struct kw_parser *p, const char *what);

/** Fail with a message of one's own. */
void kw_parser_fail(struct kw_parser *p, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Go one level deeper; false when that is too deep. */
bool kw_parser_enter(struct kw_parser *p);
void kw_parser_leave(struct kw_parser *p);

/** True at what ends a query: the end, a new line without a clause, ; or }. */
bool kw_parser_at_end(const struct kw_parser *p);

#endif
