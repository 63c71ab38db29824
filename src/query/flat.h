/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flat rows: processes of which nothing is shown but values of the task itself, in mapped memory. */
#ifndef QUERY_FLAT_H
#define QUERY_FLAT_H

#include "query/leaves.h"

/** Show the rows of a leaf: a kw_leaf_fn. */
bool kw_flat_show(struct kw_query *q, const struct kw_known_leaf *leaf);

#endif
