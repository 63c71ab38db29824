/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding calls: functions of a row's values, and aggregates of a group's. */
#include <stdio.h>
#include <string.h>

#include "query/bind.h"
#include "query/rate.h"
#include "query/scalar.h"
#include "util/error.h"
#include "util/nearest.h"

enum takes { TAKES_ANY, TAKES_NUMBER, TAKES_INTEGER, TAKES_TEXT, TAKES_STAMP, TAKES_ADDRESS };

static const struct function {
	const char *name;
	enum kw_expr_op op;
	enum takes takes;
	enum kw_value_type type;
	enum kw_unit unit;
	enum kw_display display;
} functions[] = {
	{ "hex", KW_EXPR_HEX, TAKES_INTEGER, KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "str", KW_EXPR_STR, TAKES_ANY, KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "len", KW_EXPR_LEN, TAKES_TEXT, KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "age", KW_EXPR_AGE, TAKES_STAMP, KW_VAL_INT, KW_UNIT_NANOSECONDS, KW_SHOW_ELAPSED },
	{ "sym", KW_EXPR_SYM, TAKES_ADDRESS, KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "abs", KW_EXPR_ABS, TAKES_NUMBER, KW_VAL_ABSENT, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "rate", KW_EXPR_RATE, TAKES_NUMBER, KW_VAL_FLOAT, KW_UNIT_NONE, KW_SHOW_ROUNDED },
	{ "delta", KW_EXPR_DELTA, TAKES_NUMBER, KW_VAL_ABSENT, KW_UNIT_NONE, KW_SHOW_PLAIN },
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static const char *const aggregates[] = { "count", "sum", "min", "max", "avg", "p50", "p99" };

#define NR_AGGREGATES (sizeof(aggregates) / sizeof(aggregates[0]))

bool kw_aggregate_find(const char *name, enum kw_aggregate_kind *ret)
{
	for (size_t i = 0; i < NR_AGGREGATES; i++) {
		if (strcmp(aggregates[i], name) == 0) {
			*ret = (enum kw_aggregate_kind)i;
			return true;
		}
	}
	return false;
}

static const struct kw_node *stands_for(const struct kw_alias *alias, const struct kw_node *node,
					const struct kw_alias **ret_before)
{
	for (; alias; alias = alias->before) {
		if (strcmp(alias->name, node->text) == 0) {
			*ret_before = alias->before;
			return alias->node;
		}
	}
	return NULL;
}

static bool list_has(const struct kw_binder *b, const struct kw_node *list, unsigned int *steps);

static bool has(const struct kw_binder *b, const struct kw_node *node, unsigned int *steps)
{
	enum kw_aggregate_kind kind;
	struct kw_binder inner = *b;
	const struct kw_node *meant;

	if (!node || !*steps)
		return false;
	--*steps;
	if (node->kind == KW_NODE_CALL && !node->query && kw_aggregate_find(node->text, &kind))
		return true;
	if (node->kind == KW_NODE_NAME) {
		meant = stands_for(b->aliases, node, &inner.aliases);
		if (!meant)
			meant = stands_for(b->lets, node, &inner.lets);
		return meant && has(&inner, meant, steps);
	}
	return list_has(b, node->a, steps) || list_has(b, node->b, steps) || has(b, node->c, steps);
}

static bool list_has(const struct kw_binder *b, const struct kw_node *list, unsigned int *steps)
{
	for (; list; list = list->next)
		if (has(b, list, steps))
			return true;
	return false;
}

/* What takes more steps than this can't be bound either. */
bool kw_has_aggregate(const struct kw_binder *b, const struct kw_node *node)
{
	unsigned int steps = 100000;

	return has(b, node, &steps);
}

static struct kw_expr *unknown_function(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_nearest nearest = { .want = node->text };
	char near[256];

	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		kw_nearest_offer(&nearest, functions[i].name);
	for (size_t i = 0; i < NR_AGGREGATES; i++)
		kw_nearest_offer(&nearest, aggregates[i]);
	kw_nearest_offer(&nearest, "per_cpu");
	kw_nearest_text(&nearest, near, sizeof(near));
	return kw_bind_fail(
		b, node->at, "unknown function \"%s\"%s", node->text,
		*near ? near
		      : "; there are hex, str, len, age, sym, abs, rate, delta, per_cpu, and of groups count, sum, min, max, avg, "
			"p50, p99");
}

static bool is_fit(enum takes takes, const struct kw_expr *e)
{
	if (kw_is_absent(e))
		return true;
	switch (takes) {
	case TAKES_ANY: return true;
	case TAKES_NUMBER:
		return kw_is_number(e) && e->type != KW_VAL_ADDRESS && e->unit != KW_UNIT_TIMESTAMP;
	case TAKES_INTEGER: return kw_is_number(e) && e->type != KW_VAL_FLOAT;
	case TAKES_TEXT: return e->type == KW_VAL_STRING || e->type == KW_VAL_BYTES;
	case TAKES_STAMP: return kw_is_number(e) && e->unit == KW_UNIT_TIMESTAMP;
	default: return kw_is_number(e) && e->type != KW_VAL_FLOAT && e->unit == KW_UNIT_NONE;
	}
}

/* Bind the comparison once more, to be looked at for every row. */
static bool bind_sample(struct kw_binder *b, struct kw_rate *rate, const struct kw_node *node)
{
	struct kw_binder rows = *b;
	kw_status status;

	if (b->outer)
		return true;
	status = kw_bind_binding(&rows, node, NULL, true, &rate->sample);
	b->steps = rows.steps;
	return !status;
}

static struct kw_rate *share_rate(struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_node *value = node->a;
	struct kw_rate *rate = *b->rates;

	while (rate && !kw_nodes_equal(rate->node, value))
		rate = rate->next;
	if (rate)
		return rate;
	rate = kw_arena_alloc(b->arena, sizeof(*rate));
	if (!rate) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	rate->node = value;
	rate->next = *b->rates;
	*b->rates = rate;
	return bind_sample(b, rate, node) ? rate : NULL;
}

/* The ID and the start of a task, which the row is known by. */
static struct kw_expr *identity(struct kw_binder *b, const struct kw_node *node, const char *path)
{
	struct kw_node *name = kw_arena_alloc(b->arena, sizeof(*name));

	if (!name) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	*name = (struct kw_node){
		.kind = KW_NODE_NAME, .at = node->at, .first = node->first, .len = node->len
	};
	name->text = path;
	name->text_len = strlen(path);
	return kw_bind_node(b, name);
}

static struct kw_expr *compare_samples(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e)
{
	if (!b->rates)
		return kw_bind_fail(b, node->at, "%s() compares two samples: it belongs inside every T { }",
				    node->text);
	if (b->grouping)
		return kw_bind_fail(b, node->at, "%s() is of rows, and these are groups; write sum(%s(...))",
				    node->text, node->text);
	b->uses |= KW_USES_CLOCK;
	e->rate = share_rate(b, node);
	if (!e->rate)
		return NULL;
	if (e->op == KW_EXPR_DELTA && e->type == KW_VAL_UINT)
		e->type = KW_VAL_INT;
	if (e->op == KW_EXPR_RATE) {
		bool is_time = e->a->unit == KW_UNIT_NANOSECONDS;

		e->unit = is_time ? KW_UNIT_PERCENT : e->a->unit;
		e->display = is_time			      ? KW_SHOW_PERCENT
			     : e->a->display == KW_SHOW_PLAIN ? KW_SHOW_ROUNDED
							      : e->a->display;
	}
	if (b->root && !b->root->source->walk) {
		e->b = identity(b, node, "task.pid");
		e->c = e->b ? identity(b, node, "task.start_boottime") : NULL;
		if (!e->c)
			return NULL;
	}
	return e;
}

static struct kw_expr *function(struct kw_binder *b, const struct kw_node *node, const struct function *f)
{
	static const char *const kinds[] = { "a value", "a number",	"a whole number",
					     "a text",	"a time stamp", "an address" };
	struct kw_expr *e = kw_bind_new(b, f->op);

	if (!e)
		return NULL;
	if (!node->a || node->a->next)
		return kw_bind_fail(b, node->at, "%s() takes one value: %s", f->name, kinds[f->takes]);
	e->a = kw_bind_node(b, node->a);
	if (!e->a)
		return NULL;
	if (!is_fit(f->takes, e->a))
		return kw_bind_fail(b, node->a->first, "%s() takes %s, and this is %s", f->name,
				    kinds[f->takes], kw_expr_kind(e->a));
	e->type = f->type;
	e->unit = f->unit;
	e->display = f->display;
	if (f->type == KW_VAL_ABSENT) {
		e->type = e->a->type;
		e->unit = e->a->unit;
		e->display = e->a->display;
	}
	if (f->op == KW_EXPR_STR && kw_is_string_pointer(b->ctx, e->a))
		e->op = KW_EXPR_STRING;
	if (f->op == KW_EXPR_AGE)
		b->uses |= KW_USES_CLOCK;
	if (f->op == KW_EXPR_RATE || f->op == KW_EXPR_DELTA)
		return compare_samples(b, node, e);
	return e;
}

struct kw_expr *kw_bind_call(struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_expr *hint = b->hint;
	enum kw_aggregate_kind kind;
	struct kw_expr *e = NULL;

	b->hint = NULL;
	if (strcmp(node->text, "per_cpu") == 0) {
		e = kw_bind_per_cpu(b, node);
	} else if (node->query) {
		e = kw_bind_subquery(b, node);
	} else if (kw_aggregate_find(node->text, &kind)) {
		e = kw_bind_aggregate(b, node, kind);
	} else {
		for (size_t i = 0; i < NR_FUNCTIONS; i++) {
			if (strcmp(functions[i].name, node->text) == 0) {
				e = function(b, node, &functions[i]);
				b->hint = hint;
				return e;
			}
		}
		unknown_function(b, node);
	}
	b->hint = hint;
	return e;
}

/* Aggregates */

static bool aggregate_fits(enum kw_aggregate_kind kind, const struct kw_column *c)
{
	bool number = c->type == KW_VAL_UINT || c->type == KW_VAL_INT || c->type == KW_VAL_FLOAT;

	if (kind == KW_COUNT || kind == KW_MIN || kind == KW_MAX)
		return true;
	return number && c->unit != KW_UNIT_TIMESTAMP;
}

static void set_type(struct kw_aggregate *a)
{
	const struct kw_column *c = &a->argument.column;

	a->type = (struct kw_expr){ .type = c->type, .unit = c->unit, .display = c->display };
	if (a->kind == KW_COUNT)
		a->type = (struct kw_expr){ .type = KW_VAL_UINT, .unit = KW_UNIT_COUNT };
	if (a->kind != KW_AVG)
		return;
	a->type.type = KW_VAL_FLOAT;
	if (c->display == KW_SHOW_PLAIN)
		a->type.display = KW_SHOW_ROUNDED;
}

static struct kw_aggregate *find_aggregate(struct kw_binder *b, const struct kw_node *node, uint32_t *ret)
{
	struct kw_aggregate *a = b->grouping->aggregates;

	for (*ret = 0; a && !kw_nodes_equal(a->node, node); a = a->next)
		++*ret;
	return a;
}

/* The argument is of the rows, not of the group. */
static kw_status bind_argument(struct kw_binder *b, struct kw_aggregate *a, const char *name)
{
	struct kw_binder rows = *b;
	const struct kw_node *node = a->node->a;
	kw_status status;

	if (!node && a->kind == KW_COUNT)
		return KW_OK;
	if (!node || node->next)
		return kw_program_fail(b->ctx, b->text, a->node->at, KW_INVALID, "%s() takes one value%s",
				       name, a->kind == KW_COUNT ? ", or none to count rows" : "");
	rows.grouping = NULL;
	status = kw_bind_binding(&rows, node, NULL, false, &a->argument);
	b->steps = rows.steps;
	if (status)
		return status;
	if (!aggregate_fits(a->kind, &a->argument.column)) {
		struct kw_expr as = { .type = a->argument.column.type, .unit = a->argument.column.unit };

		return kw_program_fail(b->ctx, b->text, node->first, KW_INVALID,
				       "%s() takes a number, and this is %s", name, kw_expr_kind(&as));
	}
	return KW_OK;
}

struct kw_expr *kw_bind_aggregate(struct kw_binder *b, const struct kw_node *node,
				  enum kw_aggregate_kind kind)
{
	struct kw_aggregate *a;
	struct kw_expr *e;
	uint32_t i;

	if (!b->grouping)
		return kw_bind_fail(
			b, node->at,
			"%s() is of many rows and can't be used here; it belongs behind select or group by",
			node->text);
	a = find_aggregate(b, node, &i);
	if (!a) {
		a = kw_arena_alloc(b->arena, sizeof(*a));
		if (!a) {
			kw_fail_nomem(b->ctx);
			return NULL;
		}
		a->kind = kind;
		a->node = node;
		if (bind_argument(b, a, aggregates[kind]))
			return NULL;
		set_type(a);
		*b->grouping->end = a;
		b->grouping->end = &a->next;
		b->grouping->nr_aggregates++;
	}
	e = kw_bind_new(b, KW_EXPR_SLOT);
	if (!e)
		return NULL;
	e->type = a->type.type;
	e->unit = a->type.unit;
	e->display = a->type.display;
	e->slot = b->grouping->nr_keys + i;
	return e;
}
