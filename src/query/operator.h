/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators on rows of values, behind the scan: each takes a row and hands rows on to the next one. A filter, a limit and
 * distinct do so at once; an order and groups keep what they need until all rows are there.
 */
#ifndef QUERY_OPERATOR_H
#define QUERY_OPERATOR_H

#include <kwalk/query.h>

#include "query/bind.h"

#define KW_OP_MAX_ROWS	(4u << 20)   /* that one operator keeps */
#define KW_OP_MAX_BYTES (1ull << 31) /* and what these take */

enum kw_op_kind { KW_OP_FILTER, KW_OP_SORT, KW_OP_LIMIT, KW_OP_DISTINCT, KW_OP_GROUP };

struct kw_op_key {
	uint32_t column;
	bool descending;
};

/** Rows that an operator keeps. */
struct kw_store {
	struct kw_arena arena;
	struct {
		struct kw_value **item;
		size_t nr, cap;
	} rows;
	struct {
		struct kw_row_identity *item;
		size_t nr, cap;
	} ids;
	uint32_t *slots; /* indices + 1 by the hash of the first columns; nr_slots is 0 or a power of two */
	size_t nr_slots;
};

struct kw_group;

struct kw_op {
	enum kw_op_kind kind;
	struct kw_op *next;
	uint32_t width;	  /* values of a row that comes in */
	uint32_t column;  /* of a filter */
	uint32_t nr_keys; /* of an order or of groups; columns that distinct looks at */
	struct kw_op_key *keys;
	uint64_t limit, taken;
	struct kw_grouping *grouping;
	const struct kw_binding *outputs; /* of groups: expressions over a group's keys and aggregates */
	uint32_t nr_outputs;
	struct kw_value *output;
	struct kw_store store;
	struct {
		struct kw_group **item;
		size_t nr, cap;
	} groups;
	struct kw_arena scratch;
};

/** The chain while it is run. */
struct kw_pipe {
	kw_ctx *ctx;
	const struct kw_clock *clock;
	kw_row_fn fn;
	void *arg;
	uint64_t rows; /* that came out */
	kw_status status;
};

/** Hand a row to an operator; NULL: to the caller. False when no more rows are wanted. */
bool kw_op_push(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *values,
		const struct kw_row_identity *id);

/** Tell a chain that all rows are there. */
void kw_op_finish(struct kw_pipe *pipe, struct kw_op *op);

/** Forget the rows of the run before. */
void kw_op_reset(struct kw_op *op);

void kw_op_deinit(struct kw_op *op);

/* Between the operators' files */

/** Copy a row and its texts; NULL, with pipe->status set, when memory runs out or there are too many. */
struct kw_value *kw_store_add(struct kw_pipe *pipe, struct kw_store *store, const struct kw_value *values,
			      uint32_t nr, const struct kw_row_identity *id);

/**
 * Find the row whose first nr values are these.
 *
 * @param ret_index  set to its index
 */
bool kw_store_find(const struct kw_store *store, const struct kw_value *values, uint32_t nr,
		   size_t *ret_index);

/** Make the row that was added last be found by its first nr values. False when memory runs out. */
bool kw_store_index(struct kw_store *store, uint32_t nr);

void kw_store_reset(struct kw_store *store);
void kw_store_deinit(struct kw_store *store);

bool kw_group_push(struct kw_pipe *pipe, struct kw_op *op, const struct kw_value *values);
void kw_group_finish(struct kw_pipe *pipe, struct kw_op *op);
void kw_group_reset(struct kw_op *op);

#endif
