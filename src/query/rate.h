/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What values were in the sample before, by the identity of their rows: of a task by its ID and start, so that one that
 * got the ID of an ended one is another.
 *
 * All expressions of a query that compare the same value share its samples. Each sample has the value of every row, also of
 * one that a condition leaves out, or where the expression that compares it is not looked at: "rate(a) > 1 or rate(b) > 1".
 */
#ifndef QUERY_RATE_H
#define QUERY_RATE_H

#include "query/stage.h"

struct kw_node;

/** The samples of one value. */
struct kw_rate {
	const struct kw_node *node; /* the value, to find out who may share */
	struct kw_rate *next;
	struct kw_binding
		sample; /* takes the value into the sample; expr is NULL behind a join, where it is done when asked */
	uint64_t run; /* number of the sample; counted by the query or the script */
	struct kw_past *past;
	size_t nr, cap; /* of past: cap is 0 or a power of two */
};

/** Begin another sample: of rows that were not seen in the one before nothing is known any more. */
void kw_rates_next(struct kw_rate *rates);

/** Free the samples. */
void kw_rate_deinit(struct kw_rate *rate);

/**
 * Take a value into the sample under way, and tell what it was in the one before.
 *
 * @param key  the row's identity: 3 numbers
 * @param now  in ns
 * @param ret_elapsed  set to the ns since then
 * @return false when nothing is known of it
 */
bool kw_rate_take(struct kw_rate *rate, const uint64_t *key, uint64_t now, const struct kw_value *value,
		  struct kw_value *ret_before, uint64_t *ret_elapsed);

#endif
