/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields that a query shows, in two parts: those that follow from the words of memory that its plan loads and nothing
 * else, and those that have to be computed in every run.
 */
#ifndef QUERY_PARTS_H
#define QUERY_PARTS_H

#include "query/stage.h"

#define KW_PARTS_MOVING \
	64 /* columns that are computed in every run, at most: with more of them little is gained */

struct kw_query; /* query/query.h */

struct kw_part_loads {
	const struct kw_plan_load **item;
	size_t nr, cap;
};

struct kw_parts {
	struct kw_stage still,
		moving; /* with fields of the query's stage and slots; their own plans are not used */
	struct kw_part_loads still_loads, moving_loads;
	uint32_t column[KW_PARTS_MOVING]; /* that moving has */
	size_t columns;
	struct {
		uint32_t *item;
		size_t nr, cap;
	} node; /* objects that moving_loads look at, and those on the way there: not the row's own */
};

/**
 * Divide the fields of q->show, and choose the words of its plan that the still ones follow from.
 *
 * @return false without memory, or when it would be of no use; *ret is to be freed in any case
 */
bool kw_parts_make(struct kw_query *q, struct kw_parts *ret);

void kw_parts_deinit(struct kw_parts *parts);

#endif
