/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places in memory that an expression leads to: what members of pointers, * and & come to.
 *
 *     ((struct rq *)per_cpu(runqueues, 0)).curr.comm
 *       base: an address ---------------- path from the object that is there
 */
#ifndef QUERY_PLACE_H
#define QUERY_PLACE_H

#include "access/plan.h"
#include "query/expr.h"

struct kw_place {
	struct kw_path path;
	struct kw_plan plan; /* reads what lies at the path's end; empty where only the address is wanted */
	const struct kw_type *enumeration; /* of that value, or NULL */
	bool is_live;
	struct kw_place *next; /* of all in the program */
};

/** Free what places hold; they themselves lie in the program's arena. */
void kw_places_deinit(struct kw_place *places);

/**
 * Evaluate what is done with an address: KW_EXPR_PLACE to KW_EXPR_PER_CPU.
 *
 * @param a  the value of e->a, which is not absent
 */
void kw_place_eval(const struct kw_expr *e, struct kw_eval *env, const struct kw_value *a,
		   struct kw_value *out);

#endif
