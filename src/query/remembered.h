/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remembered rows: a query that is run again and again mostly finds what it found before.
 *
 * From its second run on it keeps of each task the words of memory that the row was made from, and the row. Where the
 * memory still holds the same words the row is handed out as it is; all of them are looked at, in every run. Fields that
 * use more than what their paths lead to (KW_USES_MORE), or the time, are computed in every run.
 *
 * Only of plain queries of processes: those with conditions and orders look at most rows for a few fields only.
 */
#ifndef QUERY_REMEMBERED_H
#define QUERY_REMEMBERED_H

#include "query/leaves.h"

struct kw_remembered;

/** Begin a run: from the second one on rows are remembered, if the query can profit. */
void kw_remembered_begin(struct kw_query *q);

/** End it: forget those that it has not seen. */
void kw_remembered_end(struct kw_query *q);

void kw_remembered_free(struct kw_remembered *r);

/** Show the rows of a leaf, whose tasks are mapped: a kw_leaf_fn. */
bool kw_remembered_show(struct kw_query *q, const struct kw_known_leaf *leaf);

/** Show rows whose tasks have to be copied: as kw_query_take_process() of each. */
void kw_remembered_copy(struct kw_query *q, const struct kw_task_ref *refs, unsigned int nr);

#endif
