/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions as bound: every part has a type and a unit, and reading is all that is left to do.
 *
 * Absent is passed on: what is made of an absent value is absent for the same reason, but for what can be told without
 * it (false and absent, true or absent, absent is absent).
 */
#ifndef QUERY_EXPR_H
#define QUERY_EXPR_H

#include <kwalk/output.h>

#include "kernel/row.h"
#include "util/arena.h"

struct kw_binding; /* query/stage.h */
struct kw_pattern; /* query/pattern.h */
struct kw_place;   /* query/place.h */
struct kw_watch;   /* query/watch.h */
struct kw_rate;	   /* query/rate.h */
struct kw_scalar;  /* query/scalar.h */

enum kw_expr_op {
	KW_EXPR_CONST,
	KW_EXPR_FIELD, /* of the row: slot, once a stage has taken it */
	KW_EXPR_SLOT,  /* the value at this slot */
	KW_EXPR_NEGATE,
	KW_EXPR_ADD,
	KW_EXPR_SUBTRACT,
	KW_EXPR_MULTIPLY,
	KW_EXPR_DIVIDE,
	KW_EXPR_REMAINDER,
	KW_EXPR_BIT_AND,
	KW_EXPR_BIT_OR,
	KW_EXPR_SHIFT_LEFT,
	KW_EXPR_SHIFT_RIGHT,
	KW_EXPR_EQ,
	KW_EXPR_NE,
	KW_EXPR_LT,
	KW_EXPR_LE,
	KW_EXPR_GT,
	KW_EXPR_GE,
	KW_EXPR_AND,
	KW_EXPR_OR,
	KW_EXPR_NOT,
	KW_EXPR_IN,    /* a in items */
	KW_EXPR_MATCH, /* a matches pattern */
	KW_EXPR_LIKE,
	KW_EXPR_IS_ABSENT,
	KW_EXPR_COND,
	KW_EXPR_HEX,
	KW_EXPR_STR,
	KW_EXPR_LEN,
	KW_EXPR_AGE,
	KW_EXPR_SYM,
	KW_EXPR_ABS,
	KW_EXPR_SCALE, /* a times the constant `value.f` */
	KW_EXPR_DELTA, /* what a has grown by since the sample before; b and c: the row's identity, or NULL */
	KW_EXPR_RATE,  /* the same in a second */
	KW_EXPR_SCALAR, /* of another query, which has run already */
	KW_EXPR_IS_NEW, /* the task of ID a and start b was not there in the sample before */
	KW_EXPR_ROW,	/* the address of the row's object */
	KW_EXPR_OUTER,	/* the value at this slot of the row that a join is of */
	/* Of an address a: query/place.h */
	KW_EXPR_PLACE,	    /* the address that a path leads to */
	KW_EXPR_READ,	    /* the value that lies there */
	KW_EXPR_STRING,	    /* the string at a */
	KW_EXPR_POINTER,    /* a itself, as an address */
	KW_EXPR_TRUNCATE,   /* the lowest `value.u` bits of a */
	KW_EXPR_ENUMERATOR, /* the name that a number has in an enum */
	KW_EXPR_PER_CPU,    /* where CPU a has the per-CPU variable at b, or at the offset `value.u` */
};

struct kw_expr {
	enum kw_expr_op op;
	enum kw_value_type type; /* of its values; KW_VAL_ABSENT: always absent */
	enum kw_unit unit;
	enum kw_display display;
	const char *words; /* a text that is one of these: what a bare name may stand for, or NULL */
	const struct kw_type *enumeration; /* a text that is one of its enumerators, or NULL */
	const struct kw_type *object; /* of an address: what it leads to, or NULL when that is not known */
	unsigned int stars;	      /* and through how many pointers, this one among them; from 1 on */
	struct kw_expr *a, *b, *c;
	struct kw_expr **items;
	size_t nr_items;
	struct kw_value value;
	uint32_t slot;
	struct kw_binding *binding; /* of a field */
	struct kw_pattern *pattern;
	struct kw_rate *rate;
	const struct kw_scalar *scalar;
	const struct kw_watch *watch;
	struct kw_place *place;
	const struct kw_kernel *kernel;
	const struct kw_value *const *outer; /* where the query has the values of the row that its own are of */
	struct kw_expr *next_field;	     /* of all fields in the expression */
};

/** What an evaluation needs. */
struct kw_eval {
	kw_ctx *ctx;
	const struct kw_value *values; /* of the slots */
	const struct kw_clock *clock;  /* NULL: not known */
	struct kw_arena *scratch;      /* for texts that are made: until the next row */
	const struct kw_row *row;      /* NULL: there is none */
};

/** Evaluate an expression. Texts live as long as the row and env->scratch. */
void kw_expr_eval(const struct kw_expr *e, struct kw_eval *env, struct kw_value *out);

/** Evaluate a condition: true, and not false or absent. */
bool kw_expr_holds(const struct kw_expr *e, struct kw_eval *env, struct kw_value *out);

/**
 * Compare two values for an order: absent is below everything, numbers below texts. Of different kinds of numbers, their
 * values are compared.
 */
int kw_value_compare(const struct kw_value *a, const struct kw_value *b);

/** Return a number as a float. Of what is none: 0. */
double kw_value_float(const struct kw_value *value);

#endif
