/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program as parsed: nothing is known yet of what its names mean. All of it lies in one arena, and `at` leads into
 * the program's text.
 *
 *     query   := rows [ query ]
 *     rows    := SOURCE [ "(" ARGUMENTS ")" ] clause...
 *     clause  := "where" expr | "select" item [,] item... | "group" "by" item... | "sort" key... | "limit" N | "distinct"
 *     item    := expr [ "as" ( NAME | TEXT ) ]
 *     key     := [ "-" | "+" ] unary
 *
 * Commas may be left out where what follows can't go on with the expression. A line's end ends a query, unless the next
 * line begins with a clause.
 */
#ifndef QUERY_SYNTAX_H
#define QUERY_SYNTAX_H

#include "query/lexer.h"
#include "util/arena.h"

#define KW_SYNTAX_MAX_DEPTH  64	   /* of expressions and blocks in each other */
#define KW_SYNTAX_MAX_HEIGHT 300   /* of the tree of one expression, chains of operators among it */
#define KW_SYNTAX_MAX_NODES  20000 /* of one program */
#define KW_SYNTAX_MAX_ITEMS  256   /* of one list of columns or keys */

enum kw_node_kind {
	KW_NODE_NUMBER,
	KW_NODE_STRING,
	KW_NODE_BOOL,
	KW_NODE_ABSENT,
	KW_NODE_NAME,	/* a name or a path: text */
	KW_NODE_SYMBOL, /* &text */
	KW_NODE_CALL,	/* text(a, its next, ...), or text(query) */
	KW_NODE_UNARY,	/* op a */
	KW_NODE_BINARY, /* a op b */
	KW_NODE_IN,	/* a in (b, its next, ...) */
	KW_NODE_IS_ABSENT,
	KW_NODE_COND,	/* a ? b : c */
	KW_NODE_CAST,	/* (text) a, a type's name with its stars */
	KW_NODE_MEMBER, /* a, then the path text */
};

struct kw_query_syntax;

struct kw_node {
	enum kw_node_kind kind;
	int op;		/* enum kw_mark or a character; KW_OP_... */
	const char *at; /* where it begins; of operators, where they stand */
	const char *first;
	size_t len; /* bytes of the program from `first` on that it was made of */
	const char *text;
	size_t text_len;
	bool is_float;
	unsigned int height;
	enum kw_unit unit;
	union {
		uint64_t u;
		double f;
	};
	struct kw_node *a, *b, *c;
	struct kw_node *next; /* in a list */
	struct kw_query_syntax *query;
};

/** Operators that are words. */
enum { KW_OP_AND = 512, KW_OP_OR, KW_OP_NOT, KW_OP_LIKE };

/** A column, a key of a group or of an order. */
struct kw_item {
	struct kw_node *node;
	const char *alias;   /* or NULL */
	const char *heading; /* as "TEXT": of the column, and no name; or NULL */
	bool descending;
	struct kw_item *next;
};

enum kw_clause_kind {
	KW_CLAUSE_WHERE,
	KW_CLAUSE_SELECT,
	KW_CLAUSE_GROUP,
	KW_CLAUSE_SORT,
	KW_CLAUSE_LIMIT,
	KW_CLAUSE_DISTINCT,
};

struct kw_clause {
	enum kw_clause_kind kind;
	const char *at;
	struct kw_node *condition;
	struct kw_item *items;
	uint64_t limit;
	struct kw_clause *next;
};

/** Tell whether two expressions are written alike, blanks and parentheses aside. */
bool kw_nodes_equal(const struct kw_node *a, const struct kw_node *b);

struct kw_query_syntax {
	const char *source, *at;
	struct kw_node *arguments; /* of list(), ... */
	bool has_arguments;
	struct kw_clause *clauses;
	struct kw_query_syntax *outer; /* "tasks where ... files": what stands in front of a join, else NULL */
};

#endif
