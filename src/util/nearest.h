/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "Did you mean": the names nearest to a misspelt one.
 */
#ifndef UTIL_NEAREST_H
#define UTIL_NEAREST_H

#include <stddef.h>

#define KW_NEAREST_MAX 3

/** The best candidates so far, nearest first. Names are borrowed. Zero-initialise all but `want`. */
struct kw_nearest {
	const char *want;
	const char *name[KW_NEAREST_MAX];
	unsigned int distance[KW_NEAREST_MAX];
	size_t nr;
};

/** Offer one candidate. */
void kw_nearest_offer(struct kw_nearest *n, const char *name);

/** Write "; did you mean A, B or C?" to buf, or "" when nothing is near. Returns buf. */
const char *kw_nearest_text(const struct kw_nearest *n, char *buf, size_t size);

#endif
