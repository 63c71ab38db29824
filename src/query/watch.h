/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks that are new, and tasks that have ended: the identities of all of them, compared from one sample to the next. An
 * ID that another task has got is an end and a new one.
 */
#ifndef QUERY_WATCH_H
#define QUERY_WATCH_H

#include <kwalk/query.h>

#include "query/operator.h"

struct kw_identities {
	uint64_t *item; /* pairs of ID and start; ID 0: nothing is here */
	size_t nr, cap; /* of pairs: cap is 0 or a power of two */
};

struct kw_watch {
	kw_query *scan; /* of all tasks, or threads: ID and start */
	struct kw_identities now, before;
	uint64_t samples;
	bool failed; /* memory ran out */
};

/** Find all that are there now. */
kw_status kw_watch_sample(struct kw_watch *watch);

void kw_watch_deinit(struct kw_watch *watch);

/** Tell whether one is there now and was not in the sample before. In the first sample nothing is new. */
bool kw_watch_is_new(const struct kw_watch *watch, uint64_t id, uint64_t start);

/** Tell whether one was there in the sample before, and is no longer. */
bool kw_watch_has_ended(const struct kw_watch *watch, uint64_t id, uint64_t start);

#endif
