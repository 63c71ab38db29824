/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binding: what the names of an expression mean, and of which type and unit each part is. All mistakes are found here,
 * before anything is read.
 *
 * A name is, in this order: a word where the other side of a comparison has words (state == D); a column that an earlier
 * select named; what let or param gave it; a field of the source; a path; behind a join, what it is in front of that.
 */
#ifndef QUERY_BIND_H
#define QUERY_BIND_H

#include "query/stage.h"
#include "query/syntax.h"

/** A name for an expression; those that were given before it are behind it. */
struct kw_alias {
	const char *name;
	const struct kw_node *node;
	const struct kw_alias *before;
};

enum kw_aggregate_kind { KW_COUNT, KW_SUM_OF, KW_MIN, KW_MAX, KW_AVG, KW_P50, KW_P99 };

/** An aggregate that a grouped query asks for. */
struct kw_aggregate {
	enum kw_aggregate_kind kind;
	const struct kw_node *node;
	struct kw_binding argument; /* of rows; none in count() */
	uint32_t column;	    /* where the argument is among the columns of a row */
	struct kw_expr type;	    /* of the result: type, unit and display are used */
	struct kw_aggregate *next;
};

/** The keys of a grouped query and its aggregates: a group's row holds the ones, then the others. */
struct kw_grouping {
	struct kw_item *keys;
	struct kw_binding *key_bindings;
	uint32_t nr_keys;
	struct kw_aggregate *aggregates, **end;
	uint32_t nr_aggregates;
};

/** Regular expressions, to be freed with the program. */
struct kw_patterns {
	struct kw_pattern **item;
	size_t nr, cap;
};

/** A value of the rows in front of a join that those behind it use. */
struct kw_outer_use {
	const struct kw_node *node;
	struct kw_expr as; /* what it is behind the join */
	struct kw_outer_use *next;
};

/** What stands in front of a join, while names behind it are bound. */
struct kw_outer {
	struct kw_binder *binder;
	/* Make a value one that these rows have, at *ret. */
	kw_status (*add)(struct kw_outer *outer, const struct kw_binding *binding, uint32_t *ret);
	const struct kw_value *const *values; /* where they will be */
	struct kw_outer_use *uses;
};

struct kw_binder {
	kw_ctx *ctx;
	struct kw_arena *arena;
	const struct kw_program_text *text;
	struct kw_patterns *patterns;
	const struct kw_root *root;
	struct kw_outer *outer;		/* NULL: this is no join */
	const struct kw_alias *aliases; /* of columns */
	const struct kw_alias *lets;
	struct kw_grouping *grouping; /* NULL: names are those of rows */
	struct kw_rate **rates;	      /* NULL: there is no sample before */
	struct kw_scalar **scalars;
	struct kw_place **places;
	unsigned int nesting;	    /* how many queries this one is inside of */
	const struct kw_expr *hint; /* the other side of the comparison */
	struct kw_expr *fields;	    /* of the expression under way */
	uint32_t uses;
	unsigned int depth, steps;
};

/** Bind an expression. NULL with the error set. */
struct kw_expr *kw_bind_node(struct kw_binder *b, const struct kw_node *node);

/**
 * Bind a column, a key or a condition. What is nothing but a field or a path becomes one, and costs no more than one.
 *
 * @param alias  its name, or NULL
 * @param keep_expr  make an expression of it in any case
 */
kw_status kw_bind_binding(struct kw_binder *b, const struct kw_node *node, const char *alias, bool keep_expr,
			  struct kw_binding *ret);

/** As kw_bind_binding(), and what it gives must be true or false. */
kw_status kw_bind_condition(struct kw_binder *b, const struct kw_node *node, struct kw_binding *ret);

/** Find the aggregate of this name. */
bool kw_aggregate_find(const char *name, enum kw_aggregate_kind *ret);

/** Tell whether there is an aggregate in an expression, names that were given to one included. */
bool kw_has_aggregate(const struct kw_binder *b, const struct kw_node *node);

/** Return the words that values of a field are, or NULL. */
const char *kw_words_of(const struct kw_field *field);

/** What top calls %CPU is the rate of a task's time. */
bool kw_is_cpu_time(const struct kw_root *root, const char *name);

/** Say of which kind an expression is, for messages: "a number", "a size", ... */
const char *kw_expr_kind(const struct kw_expr *e);

/* Between bind.c and the files beside it. All return NULL with the error set. */

struct kw_expr *kw_bind_new(struct kw_binder *b, enum kw_expr_op op);
struct kw_expr *kw_bind_fail(struct kw_binder *b, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct kw_expr *kw_bind_call(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_operator(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_in(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_aggregate(struct kw_binder *b, const struct kw_node *node,
				  enum kw_aggregate_kind kind);

/* bind_outer.c */

/** Tell whether a name means something of the rows in front of the join, and nothing of those behind it. */
bool kw_is_outer(struct kw_binder *b, const struct kw_node *node);

/** Tell whether a name begins with "outer." and there is no join. */
bool kw_lacks_outer(const struct kw_binder *b, const struct kw_node *node);

/** Bind what it means; without "outer.", which the name may begin with. */
struct kw_expr *kw_bind_outer(struct kw_binder *b, const struct kw_node *node);

/** Make an expression that has been bound in front of the join one of those behind it. */
struct kw_expr *kw_bind_outer_value(struct kw_binder *b, const struct kw_binding *binding);

/* bind_place.c and bind_cast.c */

#define KW_MAX_STARS 8 /* of a pointer's type */

struct kw_expr *kw_bind_symbol(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_member(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_deref(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_cast(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_per_cpu(struct kw_binder *b, const struct kw_node *node);
struct kw_expr *kw_bind_new_address(struct kw_binder *b, enum kw_expr_op op);
struct kw_expr *kw_bind_plain_symbol(struct kw_binder *b, const struct kw_node *node, const char *name);

/** Bind the row's own object; kw_is_row() tells whether this is its name. */
struct kw_expr *kw_bind_row(struct kw_binder *b, const struct kw_node *node);
bool kw_is_row(const struct kw_binder *b, const char *name);

/** Bind what a path behind a pointer leads to: ".member", "->member", "[N]". */
struct kw_expr *kw_bind_behind(struct kw_binder *b, const struct kw_node *node, struct kw_expr *pointer,
			       const char *path);

/** Bind an address: a pointer's value, or where a structure lies that is named. */
struct kw_expr *kw_bind_address(struct kw_binder *b, const struct kw_node *node);

/** Take over what a pointer's type tells of what it leads to. */
void kw_set_pointee(kw_ctx *ctx, struct kw_expr *e, const struct kw_type *pointer);

bool kw_type_is_char(const struct kw_type *type);

/** Tell whether this is an address of chars. */
bool kw_is_string_pointer(kw_ctx *ctx, const struct kw_expr *e);

/** Tell whether select, let or param gave this name to something. */
bool kw_has_name(const struct kw_binder *b, const char *name);

/* Classes of types: what may be used where. */

static inline bool kw_is_number(const struct kw_expr *e)
{
	return e->type == KW_VAL_UINT || e->type == KW_VAL_INT || e->type == KW_VAL_FLOAT ||
	       e->type == KW_VAL_ADDRESS || e->type == KW_VAL_ENUM;
}

static inline bool kw_is_absent(const struct kw_expr *e)
{
	return e->type == KW_VAL_ABSENT;
}

#endif
