/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of identities. */
#include "query/watch.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

static uint64_t *place(const struct kw_identities *set, uint64_t id, uint64_t start)
{
	uint64_t hash = (id + 1) * 0x9e3779b97f4a7c15 ^ start * 0xbf58476d1ce4e5b9;
	size_t mask = set->cap - 1, at = (hash ^ hash >> 31) & mask;

	while (set->item[2 * at] && (set->item[2 * at] != id || set->item[2 * at + 1] != start))
		at = (at + 1) & mask;
	return &set->item[2 * at];
}

static bool contains(const struct kw_identities *set, uint64_t id, uint64_t start)
{
	return set->cap && *place(set, id, start);
}

static bool grow(struct kw_identities *set)
{
	struct kw_identities grown = { .nr = set->nr, .cap = set->cap ? set->cap * 2 : 256 };

	grown.item = calloc(grown.cap, 2 * sizeof(*grown.item));
	if (!grown.item)
		return false;
	for (size_t i = 0; i < set->cap; i++)
		if (set->item[2 * i])
			memcpy(place(&grown, set->item[2 * i], set->item[2 * i + 1]), &set->item[2 * i],
			       2 * sizeof(*grown.item));
	free(set->item);
	*set = grown;
	return true;
}

static bool add(struct kw_identities *set, uint64_t id, uint64_t start)
{
	uint64_t *at;

	if (set->nr * 2 >= set->cap && !grow(set))
		return false;
	at = place(set, id, start);
	set->nr += !*at;
	at[0] = id;
	at[1] = start;
	return true;
}

static bool take(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct kw_watch *watch = arg;

	(void)row;
	if (values[0].type != KW_VAL_ABSENT && values[1].type != KW_VAL_ABSENT && values[0].u)
		watch->failed = !add(&watch->now, values[0].u, values[1].u);
	return !watch->failed;
}

kw_status kw_watch_sample(struct kw_watch *watch)
{
	struct kw_identities now = watch->now;
	kw_status status;

	watch->now = watch->before;
	watch->before = now;
	watch->now.nr = 0;
	if (watch->now.cap)
		memset(watch->now.item, 0, watch->now.cap * 2 * sizeof(*watch->now.item));
	status = kw_query_run(watch->scan, take, watch);
	watch->samples++;
	return watch->failed ? KW_NOMEM : status;
}

void kw_watch_deinit(struct kw_watch *watch)
{
	kw_query_free(watch->scan);
	free(watch->now.item);
	free(watch->before.item);
}

bool kw_watch_has_ended(const struct kw_watch *watch, uint64_t id, uint64_t start)
{
	return contains(&watch->before, id, start) && !contains(&watch->now, id, start);
}

bool kw_watch_is_new(const struct kw_watch *watch, uint64_t id, uint64_t start)
{
	return watch->samples > 1 && contains(&watch->now, id, start) && !contains(&watch->before, id, start);
}
