/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binding operators: which types and units go together, and what comes out.
 *
 *     size + size, time + time        the same; a plain number takes the other's unit
 *     stamp - stamp, stamp - time     a time, a stamp
 *     size * number, size / number    a size
 *     size / size                     a number
 *     number compared with 5%         with 0.05
 */
#include <string.h>

#include "query/bind.h"
#include "query/pattern.h"
#include "util/array.h"
#include "util/error.h"

static const struct {
	int op;
	enum kw_expr_op expr;
	const char *verb; /* "they can't be ..." */
} operators[] = {
	{ '+', KW_EXPR_ADD, "added" },
	{ '-', KW_EXPR_SUBTRACT, "subtracted" },
	{ '*', KW_EXPR_MULTIPLY, "multiplied" },
	{ '/', KW_EXPR_DIVIDE, "divided" },
	{ '%', KW_EXPR_REMAINDER, "divided" },
	{ '&', KW_EXPR_BIT_AND, "combined" },
	{ '|', KW_EXPR_BIT_OR, "combined" },
	{ KW_MARK_SHL, KW_EXPR_SHIFT_LEFT, "shifted" },
	{ KW_MARK_SHR, KW_EXPR_SHIFT_RIGHT, "shifted" },
	{ KW_MARK_EQ, KW_EXPR_EQ, "compared" },
	{ KW_MARK_NE, KW_EXPR_NE, "compared" },
	{ '<', KW_EXPR_LT, "compared" },
	{ KW_MARK_LE, KW_EXPR_LE, "compared" },
	{ '>', KW_EXPR_GT, "compared" },
	{ KW_MARK_GE, KW_EXPR_GE, "compared" },
	{ KW_OP_AND, KW_EXPR_AND, "joined" },
	{ KW_OP_OR, KW_EXPR_OR, "joined" },
	{ KW_OP_LIKE, KW_EXPR_LIKE, "compared" },
	{ '~', KW_EXPR_MATCH, "matched" },
};

static const char *find_operator(int op, enum kw_expr_op *ret)
{
	size_t i = 0;

	while (operators[i].op != op)
		i++;
	*ret = operators[i].expr;
	return operators[i].verb;
}

static int width(const struct kw_node *node)
{
	return node->len > 60 ? 60 : (int)node->len;
}

static struct kw_expr *mismatch(struct kw_binder *b, const struct kw_node *node, const struct kw_expr *e)
{
	enum kw_expr_op unused;

	return kw_bind_fail(b, node->at, "%.*s is %s and %.*s %s: they can't be %s", width(node->a),
			    node->a->first, kw_expr_kind(e->a), width(node->b), node->b->first,
			    kw_expr_kind(e->b), find_operator(node->op, &unused));
}

static bool is_plain(const struct kw_expr *e)
{
	return e->unit == KW_UNIT_NONE || e->unit == KW_UNIT_COUNT;
}

/* A plain number beside a share: 5% is 0.05. */
static struct kw_expr *as_fraction(struct kw_binder *b, struct kw_expr *share)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_SCALE);

	if (!e)
		return NULL;
	e->a = share;
	e->type = KW_VAL_FLOAT;
	e->value.f = 0.01;
	return e;
}

static bool settle_shares(struct kw_binder *b, struct kw_expr *e)
{
	if (e->a->unit == KW_UNIT_PERCENT && is_plain(e->b) && e->a->op == KW_EXPR_CONST)
		e->a = as_fraction(b, e->a);
	else if (e->b->unit == KW_UNIT_PERCENT && is_plain(e->a) && e->b->op == KW_EXPR_CONST)
		e->b = as_fraction(b, e->b);
	return e->a && e->b;
}

static bool units_agree(const struct kw_expr *a, const struct kw_expr *b)
{
	return a->unit == b->unit || is_plain(a) || is_plain(b) || kw_is_absent(a) || kw_is_absent(b);
}

/* Of a sum or a difference: that of the side which has one. */
static void take_unit(struct kw_expr *e)
{
	const struct kw_expr *from = is_plain(e->a) && !is_plain(e->b) ? e->b : e->a;

	e->unit = from->unit;
	e->display = from->display;
	if (e->unit == KW_UNIT_NONE && e->display != KW_SHOW_HEX)
		e->display = e->type == KW_VAL_FLOAT ? KW_SHOW_ROUNDED : KW_SHOW_PLAIN;
}

static bool add_units(struct kw_expr *e)
{
	bool stamp_a = e->a->unit == KW_UNIT_TIMESTAMP, stamp_b = e->b->unit == KW_UNIT_TIMESTAMP;

	if (stamp_a && stamp_b && e->op == KW_EXPR_SUBTRACT) {
		e->unit = KW_UNIT_NANOSECONDS;
		e->display = KW_SHOW_ELAPSED;
		return true;
	}
	if (stamp_a != stamp_b) {
		const struct kw_expr *stamp = stamp_a ? e->a : e->b, *other = stamp_a ? e->b : e->a;

		if ((other->unit != KW_UNIT_NANOSECONDS && !is_plain(other)) ||
		    (stamp_b && e->op == KW_EXPR_SUBTRACT))
			return false;
		e->unit = stamp->unit;
		e->display = stamp->display;
		return true;
	}
	if (stamp_a || !units_agree(e->a, e->b))
		return false;
	take_unit(e);
	return true;
}

static bool multiply_units(struct kw_expr *e)
{
	/* 5% of something is something. */
	if (e->op == KW_EXPR_MULTIPLY && (e->a->unit == KW_UNIT_PERCENT) != (e->b->unit == KW_UNIT_PERCENT)) {
		bool first = e->a->unit == KW_UNIT_PERCENT;

		e->unit = first ? e->b->unit : e->a->unit;
		e->display = first ? e->b->display : e->a->display;
		return true;
	}
	if (!is_plain(e->a) && !is_plain(e->b)) {
		if (e->op == KW_EXPR_MULTIPLY || e->a->unit != e->b->unit)
			return false;
		e->display = KW_SHOW_ROUNDED;
		if (e->op == KW_EXPR_REMAINDER)
			take_unit(e);
		return true;
	}
	if (is_plain(e->a) && !is_plain(e->b) && e->op != KW_EXPR_MULTIPLY)
		return false;
	take_unit(e);
	/* A size that was divided by 1024 is not to be shown in KiB once more. */
	if (!is_plain(e->a) || !is_plain(e->b))
		e->display = e->type == KW_VAL_FLOAT ? KW_SHOW_ROUNDED : KW_SHOW_PLAIN;
	return true;
}

static enum kw_value_type number_type(const struct kw_expr *e)
{
	if (e->op == KW_EXPR_DIVIDE || e->a->type == KW_VAL_FLOAT || e->b->type == KW_VAL_FLOAT)
		return KW_VAL_FLOAT;
	if (e->a->type == KW_VAL_ADDRESS || e->b->type == KW_VAL_ADDRESS)
		return e->a->type == e->b->type && e->op == KW_EXPR_SUBTRACT ? KW_VAL_INT : KW_VAL_ADDRESS;
	if (e->op == KW_EXPR_SUBTRACT || e->a->type == KW_VAL_INT || e->b->type == KW_VAL_INT)
		return KW_VAL_INT;
	return KW_VAL_UINT;
}

static bool is_zero(const struct kw_expr *e)
{
	return e->op == KW_EXPR_CONST && kw_is_number(e) && kw_value_float(&e->value) == 0;
}

/* A share in a product: what it is of is multiplied by the hundredth. */
static bool settle_product(struct kw_binder *b, struct kw_expr *e)
{
	if (e->op != KW_EXPR_MULTIPLY)
		return true;
	if (e->a->unit == KW_UNIT_PERCENT && e->b->unit != KW_UNIT_PERCENT) {
		e->a = as_fraction(b, e->a);
		if (e->a)
			e->a->unit = KW_UNIT_NONE;
	} else if (e->b->unit == KW_UNIT_PERCENT && e->a->unit != KW_UNIT_PERCENT) {
		e->b = as_fraction(b, e->b);
	}
	return e->a && e->b;
}

static struct kw_expr *arithmetic(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	bool adds = e->op == KW_EXPR_ADD || e->op == KW_EXPR_SUBTRACT, agree;

	if ((!kw_is_number(e->a) && !kw_is_absent(e->a)) || (!kw_is_number(e->b) && !kw_is_absent(e->b)))
		return mismatch(b, node, e);
	e->type = number_type(e);
	agree = adds ? add_units(e) : multiply_units(e);
	if (!agree)
		return mismatch(b, node, e);
	if ((e->op == KW_EXPR_DIVIDE || e->op == KW_EXPR_REMAINDER) && is_zero(e->b))
		return kw_bind_fail(b, node->b->first, "division by zero");
	if (e->type == KW_VAL_ADDRESS)
		e->display = KW_SHOW_HEX;
	if (e->a->type == KW_VAL_ADDRESS && e->b->type == KW_VAL_ADDRESS)
		e->display = KW_SHOW_PLAIN;
	return settle_product(b, e) ? e : NULL;
}

static struct kw_expr *bits(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	if (!kw_is_number(e->a) || !kw_is_number(e->b) || e->a->type == KW_VAL_FLOAT ||
	    e->b->type == KW_VAL_FLOAT)
		return mismatch(b, node, e);
	e->type = KW_VAL_UINT;
	e->display = e->a->display == KW_SHOW_HEX ? KW_SHOW_HEX : KW_SHOW_PLAIN;
	return e;
}

static bool are_comparable(const struct kw_expr *a, const struct kw_expr *b)
{
	if (kw_is_absent(a) || kw_is_absent(b))
		return true;
	if (kw_is_number(a) && kw_is_number(b))
		return units_agree(a, b);
	return a->type == b->type;
}

/* Nothing is equal to absent, not even absent: this is hardly what was meant. */
static struct kw_expr *compared_with_absent(struct kw_binder *b, const struct kw_node *node)
{
	return kw_bind_fail(
		b, node->at,
		"a comparison with absent is never true; write \"is absent\" or \"is not absent\"");
}

static struct kw_expr *comparison(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	if (kw_is_absent(e->a) || kw_is_absent(e->b))
		return compared_with_absent(b, node);
	if (!settle_shares(b, e))
		return NULL;
	if (!are_comparable(e->a, e->b))
		return mismatch(b, node, e);
	e->type = KW_VAL_BOOL;
	return e;
}

static struct kw_expr *must_be(struct kw_binder *b, const struct kw_node *node, const struct kw_expr *e,
			       enum kw_value_type type, const char *what)
{
	if (e->type != type && !kw_is_absent(e))
		return kw_bind_fail(b, node->first, "expected %s, and %.*s is %s", what, width(node),
				    node->first, kw_expr_kind(e));
	return (struct kw_expr *)e;
}

static struct kw_expr *logic(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	e->type = KW_VAL_BOOL;
	return must_be(b, node->a, e->a, KW_VAL_BOOL, "a condition") &&
			       must_be(b, node->b, e->b, KW_VAL_BOOL, "a condition")
		       ? e
		       : NULL;
}

/* The place of a mistake in the regular expression is that in the text, as long as nothing is escaped before it. */
static struct kw_expr *match(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	struct kw_pattern *pattern;
	size_t offset;

	if (!must_be(b, node->a, e->a, KW_VAL_STRING, "a text to match"))
		return NULL;
	if (e->b->op != KW_EXPR_CONST || e->b->type != KW_VAL_STRING)
		return kw_bind_fail(b, node->b->first, "expected a regular expression in quotes behind ~");
	if (kw_pattern_new(b->ctx, e->b->value.str, e->b->value.len, &pattern, &offset) != KW_OK) {
		bool plain = node->b->kind == KW_NODE_STRING && !memchr(node->b->first, '\\', node->b->len);

		kw_program_fail_at(b->ctx, b->text, node->b->first + (plain ? offset + 1 : 0));
		return NULL;
	}
	if (!kw_array_push(b->patterns, pattern)) {
		kw_pattern_free(pattern);
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	e->type = KW_VAL_BOOL;
	e->pattern = pattern;
	e->b = NULL;
	return e;
}

static struct kw_expr *like(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	e->type = KW_VAL_BOOL;
	return must_be(b, node->a, e->a, KW_VAL_STRING, "a text") &&
			       must_be(b, node->b, e->b, KW_VAL_STRING, "a text")
		       ? e
		       : NULL;
}

static struct kw_expr *with_hint(struct kw_binder *b, const struct kw_node *node, const struct kw_expr *hint)
{
	const struct kw_expr *before = b->hint;
	struct kw_expr *e;

	b->hint = hint;
	e = kw_bind_node(b, node);
	b->hint = before;
	return e;
}

static struct kw_expr *binary(struct kw_binder *b, const struct kw_node *node)
{
	enum kw_expr_op op;
	struct kw_expr *e;

	find_operator(node->op, &op);
	e = kw_bind_new(b, op);
	if (!e)
		return NULL;
	e->a = with_hint(b, node->a, NULL);
	if (!e->a)
		return NULL;
	e->b = with_hint(b, node->b, op >= KW_EXPR_EQ && op <= KW_EXPR_GE ? e->a : NULL);
	if (!e->b)
		return NULL;
	switch (op) {
	case KW_EXPR_AND:
	case KW_EXPR_OR: return logic(b, node, e);
	case KW_EXPR_MATCH: return match(b, node, e);
	case KW_EXPR_LIKE: return like(b, node, e);
	case KW_EXPR_BIT_AND:
	case KW_EXPR_BIT_OR:
	case KW_EXPR_SHIFT_LEFT:
	case KW_EXPR_SHIFT_RIGHT: return bits(b, node, e);
	default: return op >= KW_EXPR_EQ ? comparison(b, node, e) : arithmetic(b, node, e);
	}
}

static struct kw_expr *unary(struct kw_binder *b, const struct kw_node *node)
{
	bool negates = node->op == '-';
	struct kw_expr *e = kw_bind_new(b, negates ? KW_EXPR_NEGATE : KW_EXPR_NOT);

	if (!e)
		return NULL;
	e->a = with_hint(b, node->a, NULL);
	if (!e->a)
		return NULL;
	if (!negates) {
		e->type = KW_VAL_BOOL;
		return must_be(b, node->a, e->a, KW_VAL_BOOL, "a condition behind \"not\"") ? e : NULL;
	}
	if (!kw_is_number(e->a) || e->a->unit == KW_UNIT_TIMESTAMP)
		return kw_bind_fail(b, node->a->first, "expected a number behind -, and this is %s",
				    kw_expr_kind(e->a));
	e->type = e->a->type == KW_VAL_FLOAT ? KW_VAL_FLOAT : KW_VAL_INT;
	e->unit = e->a->unit;
	e->display = e->a->display;
	return e;
}

static struct kw_expr *conditional(struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_expr *hint = b->hint;
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_COND), *from;

	if (!e)
		return NULL;
	e->a = with_hint(b, node->a, NULL);
	if (!e->a || !must_be(b, node->a, e->a, KW_VAL_BOOL, "a condition before ?"))
		return NULL;
	e->b = with_hint(b, node->b, hint);
	e->c = e->b ? with_hint(b, node->c, hint) : NULL;
	if (!e->c)
		return NULL;
	if (!are_comparable(e->b, e->c))
		return kw_bind_fail(b, node->at,
				    "both values have to be of one kind, and %.*s is %s and %.*s %s",
				    width(node->b), node->b->first, kw_expr_kind(e->b), width(node->c),
				    node->c->first, kw_expr_kind(e->c));
	from = kw_is_absent(e->b) || (is_plain(e->b) && !is_plain(e->c)) ? e->c : e->b;
	e->type = e->c->type == KW_VAL_FLOAT && kw_is_number(from) ? KW_VAL_FLOAT : from->type;
	e->unit = from->unit;
	e->display = from->display;
	e->words = from->words;
	return e;
}

struct kw_expr *kw_bind_operator(struct kw_binder *b, const struct kw_node *node)
{
	return node->kind == KW_NODE_BINARY  ? binary(b, node)
	       : node->kind == KW_NODE_UNARY ? unary(b, node)
					     : conditional(b, node);
}

struct kw_expr *kw_bind_in(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_IN);
	size_t nr = 0;

	if (!e)
		return NULL;
	e->type = KW_VAL_BOOL;
	e->a = with_hint(b, node->a, NULL);
	for (const struct kw_node *item = node->b; item; item = item->next)
		nr++;
	e->items = kw_arena_alloc(b->arena, nr * sizeof(struct kw_expr *));
	if (!e->a || !e->items)
		return e->a ? (kw_fail_nomem(b->ctx), NULL) : NULL;
	for (const struct kw_node *item = node->b; item; item = item->next) {
		struct kw_expr *bound = with_hint(b, item, e->a);

		if (!bound)
			return NULL;
		if (!are_comparable(e->a, bound))
			return kw_bind_fail(b, item->first, "%.*s is %s and %.*s %s: they can't be compared",
					    width(node->a), node->a->first, kw_expr_kind(e->a), width(item),
					    item->first, kw_expr_kind(bound));
		e->items[e->nr_items++] = bound;
	}
	return e;
}
