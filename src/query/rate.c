/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of values in a hash table: open addressing, rebuilt when it is half full and when rows have gone. */
#include "query/rate.h"

#include <stdlib.h>
#include <string.h>

struct kw_past {
	uint64_t key[3];
	uint64_t run; /* of `now`; 0: nothing is here */
	uint64_t now_ns, before_ns;
	struct kw_value now, before; /* before.type is absent when nothing is known of it */
};

static struct kw_past *find(const struct kw_rate *rate, const uint64_t *key)
{
	uint64_t hash = (key[0] * 0x9e3779b97f4a7c15) ^ (key[1] * 0xbf58476d1ce4e5b9) ^ key[2];
	size_t mask = rate->cap - 1, at = (hash ^ hash >> 31) & mask;

	while (rate->past[at].run && memcmp(rate->past[at].key, key, sizeof(rate->past[at].key)) != 0)
		at = (at + 1) & mask;
	return &rate->past[at];
}

/* Keep what is of this sample or the one before. */
static bool rebuild(struct kw_rate *rate, size_t cap)
{
	struct kw_rate grown = *rate;

	grown.past = calloc(cap, sizeof(*grown.past));
	if (!grown.past)
		return false;
	grown.cap = cap;
	grown.nr = 0;
	for (size_t i = 0; i < rate->cap; i++) {
		if (!rate->past[i].run || rate->past[i].run + 1 < rate->run)
			continue;
		*find(&grown, rate->past[i].key) = rate->past[i];
		grown.nr++;
	}
	free(rate->past);
	*rate = grown;
	return true;
}

void kw_rates_next(struct kw_rate *rates)
{
	for (; rates; rates = rates->next)
		rates->run++;
}

void kw_rate_deinit(struct kw_rate *rate)
{
	free(rate->past);
	rate->past = NULL;
	rate->nr = rate->cap = 0;
}

static bool make_room(struct kw_rate *rate)
{
	if (rate->nr * 2 < rate->cap)
		return true;
	/* Where most are of rows that have gone, throwing them out is room enough. */
	if (rate->cap && !rebuild(rate, rate->cap))
		return false;
	return rate->nr * 4 < rate->cap || rebuild(rate, rate->cap ? rate->cap * 2 : 64);
}

bool kw_rate_take(struct kw_rate *rate, const uint64_t *key, uint64_t now, const struct kw_value *value,
		  struct kw_value *ret_before, uint64_t *ret_elapsed)
{
	struct kw_past *past;

	if (!make_room(rate))
		return false;
	past = find(rate, key);
	if (past->run != rate->run) {
		bool known = past->run && past->run + 1 == rate->run;

		rate->nr += !past->run;
		memcpy(past->key, key, sizeof(past->key));
		past->before = past->now;
		past->before_ns = past->now_ns;
		if (!known)
			past->before = (struct kw_value){ .type = KW_VAL_ABSENT };
		past->run = rate->run;
		past->now = *value;
		past->now_ns = now;
	}
	*ret_before = past->before;
	*ret_elapsed = past->now_ns - past->before_ns;
	return past->before.type != KW_VAL_ABSENT;
}
