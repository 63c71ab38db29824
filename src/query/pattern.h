/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns that texts are matched with: regular expressions of PCRE2, and like's with % and _.
 */
#ifndef QUERY_PATTERN_H
#define QUERY_PATTERN_H

#include <kwalk/value.h>

#include "util/context.h"

#define KW_PATTERN_MAX 1024 /* bytes of a regular expression */

struct kw_pattern;

/**
 * Compile a regular expression.
 *
 * @param ret_offset  set to where a mistake is in it
 * @return KW_INVALID with the reason in the error
 */
kw_status kw_pattern_new(kw_ctx *ctx, const char *text, size_t len, struct kw_pattern **ret,
			 size_t *ret_offset);

/** Free a pattern. NULL is accepted. */
void kw_pattern_free(struct kw_pattern *pattern);

/**
 * Tell whether a text has a match in it. The steps of one match are limited: -1 when it takes more, for a text that
 * makes the expression explode.
 */
int kw_pattern_match(struct kw_pattern *pattern, const char *text, size_t len);

/** Tell whether all of a text is like a pattern: % stands for any bytes, _ for one. */
bool kw_like(const char *text, size_t len, const char *like, size_t like_len);

#endif
