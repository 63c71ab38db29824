/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pushing rows through the operators. */
#include "query/operator.h"

#include <stdlib.h>

#include "util/error.h"

static bool pass_distinct(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *values,
			  const struct kw_row_identity *id)
{
	size_t index;

	if (kw_store_find(&op->store, values, op->nr_keys, &index))
		return true;
	if (!kw_store_add(pipe, &op->store, values, op->nr_keys, id))
		return false;
	if (!kw_store_index(&op->store, op->nr_keys)) {
		pipe->status = kw_fail_nomem(pipe->ctx);
		return false;
	}
	return kw_op_push(pipe, op->next, values, id);
}

static bool pass_limit(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *values,
		       const struct kw_row_identity *id)
{
	if (op->taken == op->limit)
		return false;
	return kw_op_push(pipe, op->next, values, id) && ++op->taken < op->limit;
}

bool kw_op_push(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *values,
		const struct kw_row_identity *id)
{
	if (pipe->status)
		return false;
	if (!op) {
		pipe->rows++;
		return pipe->fn(values, id, pipe->arg);
	}
	switch (op->kind) {
	case KW_OP_FILTER:
		if (values[op->column].type == KW_VAL_BOOL && values[op->column].u)
			return kw_op_push(pipe, op->next, values, id);
		return true;
	case KW_OP_LIMIT: return pass_limit(pipe, op, values, id);
	case KW_OP_DISTINCT: return pass_distinct(pipe, op, values, id);
	case KW_OP_SORT: return kw_store_add(pipe, &op->store, values, op->width, id);
	default: return kw_group_push(pipe, op, values);
	}
}

static int by_keys(const void *a, const void *b, void *arg)
{
	const struct kw_op *op = arg;
	const size_t *x = a, *y = b;
	const struct kw_value *first = op->store.rows.item[*x], *second = op->store.rows.item[*y];

	for (uint32_t i = 0; i < op->nr_keys; i++) {
		uint32_t column = op->keys[i].column;
		int order = kw_value_compare(&first[column], &second[column]);

		if (order)
			return op->keys[i].descending ? -order : order;
	}
	return *x < *y ? -1 : *x > *y;
}

static void finish_sort(struct kw_pipe *pipe, struct kw_op *op)
{
	size_t nr = op->store.rows.nr, *order = calloc(nr + 1, sizeof(*order));

	if (!order) {
		pipe->status = kw_fail_nomem(pipe->ctx);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), by_keys, op);
	for (size_t i = 0; i < nr; i++)
		if (!kw_op_push(pipe, op->next, op->store.rows.item[order[i]], &op->store.ids.item[order[i]]))
			break;
	free(order);
}

void kw_op_finish(struct kw_pipe *pipe, struct kw_op *op)
{
	for (; op && !pipe->status; op = op->next) {
		if (op->kind == KW_OP_SORT)
			finish_sort(pipe, op);
		else if (op->kind == KW_OP_GROUP)
			kw_group_finish(pipe, op);
	}
}

void kw_op_reset(struct kw_op *op)
{
	for (; op; op = op->next) {
		op->taken = 0;
		kw_group_reset(op);
		kw_store_reset(&op->store);
	}
}

void kw_op_deinit(struct kw_op *op)
{
	kw_op_reset(op);
	for (; op; op = op->next) {
		kw_store_deinit(&op->store);
		kw_arena_free(&op->scratch);
		free(op->groups.item);
	}
}
