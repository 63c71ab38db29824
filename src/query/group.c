/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups: rows with equal keys, and what their aggregates add up to.
 *
 * Absent values are left out of aggregates, and an aggregate of nothing but absent ones is absent, except count(). As
 * keys, absent values make a group of their own. Without keys there is one group, also of no rows.
 */
#include <stdlib.h>

#include "query/operator.h"
#include "util/array.h"
#include "util/error.h"

struct total {
	uint64_t count;
	__int128 sum; /* of whole numbers, as long as it fits */
	double fsum;
	bool is_float;
	struct kw_value best; /* of min and max */
	struct {
		struct kw_value *item;
		size_t nr, cap;
	} samples; /* of percentiles */
};

struct kw_group {
	struct total totals[1];
};

static void add_to_sum(struct total *t, const struct kw_value *v)
{
	t->fsum += kw_value_float(v);
	if (v->type == KW_VAL_FLOAT ||
	    __builtin_add_overflow(t->sum, v->type == KW_VAL_INT ? (__int128)v->i : (__int128)v->u, &t->sum))
		t->is_float = true;
}

static bool keep_best(struct kw_pipe *pipe, struct kw_op *op, struct total *t, const struct kw_value *v,
		      int sign)
{
	if (t->count > 1 && kw_value_compare(v, &t->best) * sign <= 0)
		return true;
	t->best = *v;
	if (v->type != KW_VAL_STRING && v->type != KW_VAL_BYTES)
		return true;
	t->best.str = kw_arena_copy(&op->store.arena, v->str, v->len);
	if (!t->best.str)
		pipe->status = kw_fail_nomem(pipe->ctx);
	return t->best.str;
}

static bool keep_sample(struct kw_pipe *pipe, struct total *t, const struct kw_value *v)
{
	if (t->samples.nr == KW_OP_MAX_ROWS)
		pipe->status =
			kw_fail(pipe->ctx, KW_INVALID, "more than %u values in a percentile", KW_OP_MAX_ROWS);
	else if (!kw_array_push(&t->samples, *v))
		pipe->status = kw_fail_nomem(pipe->ctx);
	return !pipe->status;
}

static bool add(struct kw_pipe *pipe, struct kw_op *op, struct total *t, const struct kw_aggregate *a,
		const struct kw_value *v)
{
	if (v && v->type == KW_VAL_ABSENT)
		return true;
	t->count++;
	switch (a->kind) {
	case KW_COUNT: return true;
	case KW_MIN: return keep_best(pipe, op, t, v, -1);
	case KW_MAX: return keep_best(pipe, op, t, v, 1);
	case KW_P50:
	case KW_P99: return keep_sample(pipe, t, v);
	default: add_to_sum(t, v); return true;
	}
}

static struct kw_group *add_group(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *keys)
{
	static const struct kw_row_identity none;
	size_t size = sizeof(struct kw_group) + op->grouping->nr_aggregates * sizeof(struct total);
	struct kw_group *group = NULL;

	if (!kw_store_add(pipe, &op->store, keys, op->nr_keys, &none))
		return NULL;
	group = kw_arena_alloc(&op->store.arena, size);
	if (!group || !kw_store_index(&op->store, op->nr_keys) || !kw_array_push(&op->groups, group)) {
		pipe->status = kw_fail_nomem(pipe->ctx);
		return NULL;
	}
	return group;
}

/* The keys are the first columns. */
bool kw_group_push(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *values)
{
	struct kw_group *group;
	size_t index, i = 0;

	if (kw_store_find(&op->store, values, op->nr_keys, &index))
		group = op->groups.item[index];
	else
		group = add_group(pipe, op, values);
	if (!group)
		return false;
	for (const struct kw_aggregate *a = op->grouping->aggregates; a; a = a->next, i++) {
		bool has_argument = a->node->a;

		if (!add(pipe, op, &group->totals[i], a, has_argument ? &values[a->column] : NULL))
			return false;
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	return kw_value_compare(a, b);
}

/* The smallest value that at least so many in a hundred are not above. */
static void percentile(struct total *t, size_t percent, struct kw_value *out)
{
	size_t rank = (t->samples.nr * percent + 99) / 100;

	qsort(t->samples.item, t->samples.nr, sizeof(*t->samples.item), by_value);
	*out = t->samples.item[rank ? rank - 1 : 0];
}

static void sum(const struct total *t, struct kw_value *out)
{
	if (t->is_float || t->sum > UINT64_MAX || t->sum < INT64_MIN)
		*out = (struct kw_value){ .type = KW_VAL_FLOAT, .f = t->fsum };
	else if (t->sum < 0)
		kw_set_int(out, (int64_t)t->sum);
	else
		kw_set_uint(out, (uint64_t)t->sum);
}

static void conclude(struct total *t, enum kw_aggregate_kind kind, struct kw_value *out)
{
	if (kind == KW_COUNT) {
		kw_set_uint(out, t->count);
		return;
	}
	if (!t->count) {
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
		return;
	}
	switch (kind) {
	case KW_MIN:
	case KW_MAX: *out = t->best; break;
	case KW_P50: percentile(t, 50, out); break;
	case KW_P99: percentile(t, 99, out); break;
	case KW_AVG: *out = (struct kw_value){ .type = KW_VAL_FLOAT, .f = t->fsum / (double)t->count }; break;
	default: sum(t, out); break;
	}
}

static bool hand_on(struct kw_pipe *pipe, struct kw_op *op, size_t index, struct kw_value *row)
{
	const struct kw_aggregate *a = op->grouping->aggregates;
	struct kw_eval env = { pipe->ctx, row, pipe->clock, &op->scratch, NULL };
	uint32_t nr = op->nr_keys;

	for (uint32_t i = 0; i < nr; i++)
		row[i] = op->store.rows.item[index][i];
	for (; a; a = a->next, nr++)
		conclude(&op->groups.item[index]->totals[nr - op->nr_keys], a->kind, &row[nr]);
	kw_arena_reset(&op->scratch);
	for (uint32_t i = 0; i < op->nr_outputs; i++)
		kw_expr_eval(op->outputs[i].expr, &env, &op->output[i]);
	return kw_op_push(pipe, op->next, op->output, &op->store.ids.item[index]);
}

void kw_group_finish(struct kw_pipe *pipe, struct kw_op *op)
{
	struct kw_value *row = calloc(op->nr_keys + op->grouping->nr_aggregates + 1, sizeof(*row));

	if (!row) {
		pipe->status = kw_fail_nomem(pipe->ctx);
		return;
	}
	if (!op->nr_keys && !op->groups.nr)
		add_group(pipe, op, row);
	for (size_t i = 0; i < op->groups.nr && !pipe->status; i++)
		if (!hand_on(pipe, op, i, row))
			break;
	free(row);
}

void kw_group_reset(struct kw_op *op)
{
	for (size_t i = 0; i < op->groups.nr; i++)
		for (uint32_t k = 0; k < op->grouping->nr_aggregates; k++)
			free(op->groups.item[i]->totals[k].samples.item);
	op->groups.nr = 0;
}
