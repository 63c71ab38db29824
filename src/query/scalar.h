/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Single values of other queries: system.load1, count(tasks where state == D). They are read before the rows of the query
 * that uses them.
 */
#ifndef QUERY_SCALAR_H
#define QUERY_SCALAR_H

#include "query/bind.h"

#include <kwalk/query.h>

struct kw_scalar {
	kw_query *query; /* the first column of its first row is the value */
	struct kw_value value;
	struct kw_arena text;
	struct kw_scalar *next;
};

/** Read the values; the status of the first that could not be read wholly. */
kw_status kw_scalars_read(struct kw_scalar *scalars);

void kw_scalars_deinit(struct kw_scalar *scalars);

/** Bind a field of the system, whose name stands behind "system.". */
struct kw_expr *kw_bind_system(struct kw_binder *b, const struct kw_node *node, const char *field);

/** Bind an aggregate of a query. */
struct kw_expr *kw_bind_subquery(struct kw_binder *b, const struct kw_node *node);

#endif
