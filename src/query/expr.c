/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Evaluating expressions.
 *
 * Integers are 64 bits wide. What does not fit becomes a float, and so does every quotient: nothing wraps around.
 */
#include "query/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <kwalk/output.h>
#include <kwalk/symbol.h>

#include "kernel/field_table.h"
#include "query/pattern.h"
#include "query/place.h"
#include "query/rate.h"
#include "query/scalar.h"
#include "query/watch.h"
#include "util/error.h"

static bool is_text(const struct kw_value *v)
{
	return v->type == KW_VAL_STRING || v->type == KW_VAL_BYTES;
}

static bool is_signed(const struct kw_value *v)
{
	return v->type == KW_VAL_INT;
}

double kw_value_float(const struct kw_value *v)
{
	switch (v->type) {
	case KW_VAL_FLOAT: return v->f;
	case KW_VAL_INT: return (double)v->i;
	case KW_VAL_ABSENT:
	case KW_VAL_STRING:
	case KW_VAL_BYTES: return 0;
	default: return (double)v->u;
	}
}

/* Comparing */

static int compare_numbers(const struct kw_value *a, const struct kw_value *b)
{
	if (a->type == KW_VAL_FLOAT || b->type == KW_VAL_FLOAT) {
		double x = kw_value_float(a), y = kw_value_float(b);

		return x < y ? -1 : x > y;
	}
	if (is_signed(a) && is_signed(b))
		return a->i < b->i ? -1 : a->i > b->i;
	/* A negative number is below all that have no sign. */
	if (is_signed(a) && a->i < 0)
		return -1;
	if (is_signed(b) && b->i < 0)
		return 1;
	return a->u < b->u ? -1 : a->u > b->u;
}

/* Absent is below everything, and a number below text: an enum's value without a name is one. */
static int rank(const struct kw_value *value)
{
	return value->type == KW_VAL_ABSENT ? 0 : is_text(value) ? 2 : 1;
}

int kw_value_compare(const struct kw_value *a, const struct kw_value *b)
{
	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	if (a->type == KW_VAL_ABSENT)
		return 0;
	if (is_text(a)) {
		size_t len = a->len < b->len ? a->len : b->len;
		int order = len ? memcmp(a->str, b->str, len) : 0;

		return order ? order : a->len < b->len ? -1 : a->len > b->len;
	}
	return compare_numbers(a, b);
}

static bool compare_holds(enum kw_expr_op op, int order)
{
	switch (op) {
	case KW_EXPR_EQ: return order == 0;
	case KW_EXPR_NE: return order != 0;
	case KW_EXPR_LT: return order < 0;
	case KW_EXPR_LE: return order <= 0;
	case KW_EXPR_GT: return order > 0;
	default: return order >= 0;
	}
}

/* Arithmetic */

static void set_float(struct kw_value *out, double f)
{
	*out = (struct kw_value){ .type = KW_VAL_FLOAT, .f = f };
}

static __int128 wide(const struct kw_value *v)
{
	return is_signed(v) ? (__int128)v->i : (__int128)v->u;
}

static void set_wide(struct kw_value *out, __int128 number)
{
	if (number >= 0 && number <= UINT64_MAX)
		kw_set_uint(out, (uint64_t)number);
	else if (number < 0 && number >= INT64_MIN)
		kw_set_int(out, (int64_t)number);
	else
		set_float(out, (double)number);
}

static void calculate_floats(enum kw_expr_op op, double a, double b, struct kw_value *out)
{
	double result = op == KW_EXPR_ADD	 ? a + b
			: op == KW_EXPR_SUBTRACT ? a - b
			: op == KW_EXPR_MULTIPLY ? a * b
			: op == KW_EXPR_DIVIDE	 ? a / b
						 : fmod(a, b);

	set_float(out, result);
}

static void shift(enum kw_expr_op op, const struct kw_value *a, const struct kw_value *b,
		  struct kw_value *out)
{
	uint64_t by = is_signed(b) && b->i < 0 ? 64 : b->u;

	kw_set_uint(out, by > 63 ? 0 : op == KW_EXPR_SHIFT_LEFT ? a->u << by : a->u >> by);
}

static void calculate(enum kw_expr_op op, const struct kw_value *a, const struct kw_value *b,
		      struct kw_value *out)
{
	bool divides = op == KW_EXPR_DIVIDE || op == KW_EXPR_REMAINDER;

	if (divides && kw_value_float(b) == 0) {
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	} else if (a->type == KW_VAL_FLOAT || b->type == KW_VAL_FLOAT || op == KW_EXPR_DIVIDE) {
		calculate_floats(op, kw_value_float(a), kw_value_float(b), out);
	} else {
		__int128 x = wide(a), y = wide(b);

		switch (op) {
		case KW_EXPR_ADD: set_wide(out, x + y); break;
		case KW_EXPR_SUBTRACT: set_wide(out, x - y); break;
		case KW_EXPR_MULTIPLY:
			/* 2^64 times 2^64 is beyond what is looked at below. */
			if (__builtin_mul_overflow(x, y, &x))
				calculate_floats(op, kw_value_float(a), kw_value_float(b), out);
			else
				set_wide(out, x);
			break;
		default: set_wide(out, x % y); break;
		}
	}
}

static void calculate_bits(enum kw_expr_op op, const struct kw_value *a, const struct kw_value *b,
			   struct kw_value *out)
{
	if (op == KW_EXPR_BIT_AND)
		kw_set_uint(out, a->u & b->u);
	else if (op == KW_EXPR_BIT_OR)
		kw_set_uint(out, a->u | b->u);
	else
		shift(op, a, b, out);
}

/* Functions */

static void put_text(struct kw_eval *env, struct kw_value *out, const char *text, size_t len)
{
	char *copy = kw_arena_copy(env->scratch, text, len);

	*out = (struct kw_value){ .type = KW_VAL_STRING,
				  .len = copy ? (uint32_t)len : 0,
				  .str = copy ? copy : "" };
}

static void to_hex(struct kw_eval *env, const struct kw_value *a, struct kw_value *out)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, a->u);
	put_text(env, out, text, strlen(text));
}

static void to_text(struct kw_eval *env, const struct kw_value *a, struct kw_value *out)
{
	char text[64];

	switch (a->type) {
	case KW_VAL_STRING: *out = *a; return;
	case KW_VAL_BYTES:
		*out = *a;
		out->type = KW_VAL_STRING;
		return;
	case KW_VAL_BOOL: snprintf(text, sizeof(text), a->u ? "true" : "false"); break;
	case KW_VAL_INT: snprintf(text, sizeof(text), "%" PRId64, a->i); break;
	case KW_VAL_FLOAT: snprintf(text, sizeof(text), "%.15g", a->f); break;
	case KW_VAL_ADDRESS: snprintf(text, sizeof(text), "0x%" PRIx64, a->u); break;
	default: snprintf(text, sizeof(text), "%" PRIu64, a->u); break;
	}
	put_text(env, out, text, strlen(text));
}

static void to_symbol(struct kw_eval *env, const struct kw_value *a, struct kw_value *out)
{
	char name[KW_SYMBOL_NAME_SIZE], text[KW_SYMBOL_NAME_SIZE + 32];
	uint64_t offset;

	if (kw_symbol_at(env->ctx, a->u, name, &offset) != KW_OK) {
		kw_clear_error(env->ctx);
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
		return;
	}
	if (offset)
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, name, offset);
	else
		snprintf(text, sizeof(text), "%s", name);
	put_text(env, out, text, strlen(text));
}

static void to_age(struct kw_eval *env, const struct kw_value *a, struct kw_value *out)
{
	if (!env->clock)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else
		set_wide(out, (__int128)env->clock->realtime - wide(a));
}

static void call(const struct kw_expr *e, struct kw_eval *env, struct kw_value *a, struct kw_value *out)
{
	switch (e->op) {
	case KW_EXPR_HEX: to_hex(env, a, out); break;
	case KW_EXPR_STR: to_text(env, a, out); break;
	case KW_EXPR_LEN: kw_set_uint(out, a->len); break;
	case KW_EXPR_AGE: to_age(env, a, out); break;
	case KW_EXPR_SYM: to_symbol(env, a, out); break;
	case KW_EXPR_SCALE: set_float(out, kw_value_float(a) * e->value.f); break;
	case KW_EXPR_NEGATE:
		if (a->type == KW_VAL_FLOAT)
			set_float(out, -a->f);
		else
			set_wide(out, -wide(a));
		break;
	default: /* KW_EXPR_ABS */
		if (a->type == KW_VAL_FLOAT)
			set_float(out, fabs(a->f));
		else
			set_wide(out, wide(a) < 0 ? -wide(a) : wide(a));
		break;
	}
}

/* Comparing with the sample before */

/* A task is known by its ID and start; a row of another source by its object and numbers. */
static void identify(const struct kw_expr *e, struct kw_eval *env, uint64_t *key)
{
	struct kw_value id, start;

	memset(key, 0, 3 * sizeof(*key));
	if (e->b) {
		kw_expr_eval(e->b, env, &id);
		kw_expr_eval(e->c, env, &start);
		key[0] = id.type == KW_VAL_ABSENT ? 0 : id.u;
		key[1] = start.type == KW_VAL_ABSENT ? 0 : start.u;
	} else if (env->row) {
		key[0] = env->row->task;
		key[1] = env->row->index;
		key[2] = env->row->cpu;
	}
}

static void grow(const struct kw_expr *e, struct kw_eval *env, const struct kw_value *a, struct kw_value *out)
{
	uint64_t key[3], elapsed, now = env->clock ? env->clock->boottime : 0;
	struct kw_value before;

	identify(e, env, key);
	if (!kw_rate_take(e->rate, key, now, a, &before, &elapsed)) {
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
		return;
	}
	calculate(KW_EXPR_SUBTRACT, a, &before, out);
	if (e->op == KW_EXPR_DELTA)
		return;
	/* A time in a second is a share: of 100 % for each CPU. */
	if (!elapsed)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else if (e->unit == KW_UNIT_PERCENT)
		set_float(out, kw_value_float(out) * 100 / (double)elapsed);
	else
		set_float(out, kw_value_float(out) * 1e9 / (double)elapsed);
}

static void look_for(const struct kw_expr *e, struct kw_eval *env, const struct kw_value *a,
		     struct kw_value *out)
{
	struct kw_value start;

	kw_expr_eval(e->b, env, &start);
	kw_set_bool(out, start.type != KW_VAL_ABSENT && kw_watch_is_new(e->watch, a->u, start.u));
}

/* Logic */

static bool is_false(const struct kw_value *v)
{
	return v->type == KW_VAL_BOOL && !v->u;
}

static bool is_true(const struct kw_value *v)
{
	return v->type == KW_VAL_BOOL && v->u;
}

/* False and anything is false, true or anything true: the other side is not even looked at. */
static void join(const struct kw_expr *e, struct kw_eval *env, struct kw_value *out)
{
	bool decides = e->op == KW_EXPR_OR;
	struct kw_value b;

	kw_expr_eval(e->a, env, out);
	if (decides ? is_true(out) : is_false(out))
		return;
	kw_expr_eval(e->b, env, &b);
	if (out->type != KW_VAL_ABSENT || (decides ? is_true(&b) : is_false(&b)))
		*out = b;
}

/* With an absent value among the items that are not equal, it is not known. */
static void look_among(const struct kw_expr *e, struct kw_eval *env, const struct kw_value *a,
		       struct kw_value *out)
{
	kw_set_bool(out, false);
	for (size_t i = 0; i < e->nr_items; i++) {
		struct kw_value item;

		kw_expr_eval(e->items[i], env, &item);
		if (item.type == KW_VAL_ABSENT)
			*out = item;
		else if (kw_value_compare(a, &item) == 0) {
			kw_set_bool(out, true);
			return;
		}
	}
}

static void match(const struct kw_expr *e, const struct kw_value *a, struct kw_value *out)
{
	int found = kw_pattern_match(e->pattern, a->str, a->len);

	if (found < 0)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_bool(out, found);
}

static bool wants_text(enum kw_expr_op op)
{
	return op == KW_EXPR_MATCH || op == KW_EXPR_LIKE || op == KW_EXPR_LEN;
}

/* An enum's value without a name is a number where a text was due; what is of no use so is absent. */
static bool is_fit(enum kw_expr_op op, const struct kw_value *v)
{
	if ((op >= KW_EXPR_EQ && op <= KW_EXPR_GE) || op == KW_EXPR_STR || op == KW_EXPR_IN)
		return true;
	if (op == KW_EXPR_LEN && v->type == KW_VAL_BYTES)
		return true;
	return wants_text(op) ? v->type == KW_VAL_STRING : !is_text(v);
}

static void with_two(const struct kw_expr *e, struct kw_eval *env, const struct kw_value *a,
		     struct kw_value *out)
{
	struct kw_value b;

	kw_expr_eval(e->b, env, &b);
	if (b.type == KW_VAL_ABSENT)
		*out = b;
	else if (!is_fit(e->op, &b))
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else if (e->op == KW_EXPR_LIKE)
		kw_set_bool(out, kw_like(a->str, a->len, b.str, b.len));
	else if (e->op >= KW_EXPR_EQ)
		kw_set_bool(out, compare_holds(e->op, kw_value_compare(a, &b)));
	else if (e->op >= KW_EXPR_BIT_AND)
		calculate_bits(e->op, a, &b, out);
	else
		calculate(e->op, a, &b, out);
	if (e->type == KW_VAL_ADDRESS && out->type == KW_VAL_UINT)
		out->type = KW_VAL_ADDRESS;
}

static void with_one(const struct kw_expr *e, struct kw_eval *env, struct kw_value *out)
{
	struct kw_value a;

	kw_expr_eval(e->a, env, &a);
	switch (e->op) {
	case KW_EXPR_IS_ABSENT: kw_set_bool(out, a.type == KW_VAL_ABSENT); return;
	case KW_EXPR_COND:
		if (a.type != KW_VAL_ABSENT) {
			kw_expr_eval(is_true(&a) ? e->b : e->c, env, out);
			return;
		}
		break;
	default: break;
	}
	if (a.type == KW_VAL_ABSENT) {
		*out = a;
		return;
	}
	if (!is_fit(e->op, &a)) {
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
		return;
	}
	switch (e->op) {
	case KW_EXPR_NOT: kw_set_bool(out, !a.u); break;
	case KW_EXPR_IN: look_among(e, env, &a, out); break;
	case KW_EXPR_MATCH: match(e, &a, out); break;
	case KW_EXPR_DELTA:
	case KW_EXPR_RATE: grow(e, env, &a, out); break;
	case KW_EXPR_IS_NEW: look_for(e, env, &a, out); break;
	case KW_EXPR_PLACE:
	case KW_EXPR_READ:
	case KW_EXPR_STRING:
	case KW_EXPR_POINTER:
	case KW_EXPR_TRUNCATE:
	case KW_EXPR_ENUMERATOR:
	case KW_EXPR_PER_CPU: kw_place_eval(e, env, &a, out); break;
	default:
		if (e->b)
			with_two(e, env, &a, out);
		else
			call(e, env, &a, out);
	}
}

static void give_object(const struct kw_row *row, struct kw_value *out)
{
	if (row && row->task)
		*out = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = row->task };
	else
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
}

void kw_expr_eval(const struct kw_expr *e, struct kw_eval *env, struct kw_value *out)
{
	switch (e->op) {
	case KW_EXPR_CONST: *out = e->value; break;
	case KW_EXPR_SCALAR: *out = e->scalar->value; break;
	case KW_EXPR_ROW: give_object(env->row, out); break;
	case KW_EXPR_OUTER: *out = (*e->outer)[e->slot]; break;
	case KW_EXPR_FIELD:
	case KW_EXPR_SLOT: *out = env->values[e->slot]; break;
	case KW_EXPR_AND:
	case KW_EXPR_OR: join(e, env, out); break;
	default: with_one(e, env, out); break;
	}
}

bool kw_expr_holds(const struct kw_expr *e, struct kw_eval *env, struct kw_value *out)
{
	kw_expr_eval(e, env, out);
	return is_true(out);
}
