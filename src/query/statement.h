/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statements of a script, as parsed and, behind `bound`, as bound.
 *
 *     script    := statement...
 *     statement := "param" NAME ["=" value] | "let" NAME "=" expr
 *                | "every" TIME ["for" TIME | ["for"] N "times"] block
 *                | "when" expr ["for" TIME] block ["else" block]
 *                | "on" ("new" | "exit") query | "on" "change" "of" expr block
 *                | "print" TEXT | "exit" CODE ["if" expr]
 *                | "output" FORMAT ["to" TEXT ["rotate" (SIZE | TIME)] ["keep" N] ["or" "go" "on"]]
 *                | query
 *     block     := "{" statement... "}"
 */
#ifndef QUERY_STATEMENT_H
#define QUERY_STATEMENT_H

#include <kwalk/script.h>

#include "query/parser.h"

/* Times of a script, in ns: no loop is faster than a thousand ticks a second. */
#define KW_MIN_PERIOD 1000000
#define KW_MAX_PERIOD (INT64_MAX / 2)

enum kw_statement_kind {
	KW_STATEMENT_PARAM,
	KW_STATEMENT_LET,
	KW_STATEMENT_EVERY,
	KW_STATEMENT_WHEN,
	KW_STATEMENT_NEW,
	KW_STATEMENT_EXITED,
	KW_STATEMENT_CHANGE,
	KW_STATEMENT_PRINT,
	KW_STATEMENT_EXIT,
	KW_STATEMENT_OUTPUT,
	KW_STATEMENT_QUERY,
};

/** A piece of a printed text: a text, or an expression. */
struct kw_piece {
	const char *text;
	size_t len;
	struct kw_node *node;
	struct kw_expr *expr;
	struct kw_piece *next;
};

struct kw_statement {
	enum kw_statement_kind kind;
	const char *at;
	const char *name;     /* of let and param */
	struct kw_node *node; /* a condition, a value */
	struct kw_query_syntax *query;
	struct kw_piece *pieces;
	struct kw_script_output output;
	uint64_t period, span, times; /* of a loop; span of when: how long it has to hold */
	struct kw_node *period_node, *span_node, *times_node; /* names of such, until they are bound */
	unsigned int code;
	struct kw_statement *body, *otherwise, *next;

	struct {
		kw_query *query;
		struct kw_expr *expr;
		struct kw_watch *watch;	    /* of new and exited */
		struct kw_last_rows *last;  /* of exited */
		struct kw_statement *exits; /* every: those in it; exited: the next of them */
		struct kw_script_block block;
		uint64_t since;		/* when: how long it has held; 0: it does not */
		struct kw_value before; /* of change */
		struct kw_arena text;	/* of `before` */
		bool has_before;
	} bound;
};

/** Parse a script. NULL for an empty one, and with p->failed and the error set for one with a mistake. */
struct kw_statement *kw_parse_script(struct kw_parser *p);

/** Parse a value of a parameter that was given on the command line: a number, a text in quotes, true or false. */
struct kw_node *kw_parse_value(struct kw_parser *p);

#endif
