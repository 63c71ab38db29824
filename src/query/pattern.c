/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regular expressions through PCRE2, and like.
 *
 * Both the pattern's author and the texts may be careless or worse, and a backtracking matcher can take for ever: steps
 * and memory of a match are limited, and texts are bytes, not necessarily UTF-8, which \C and the like need not know.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "query/pattern.h"

#include <pcre2.h>
#include <stdlib.h>

#include "util/error.h"

#define MATCH_LIMIT 20000 /* steps of one match: names take some tens */
#define DEPTH_LIMIT 1000  /* backtracking points in each other */
#define HEAP_LIMIT  1024  /* KiB */

struct kw_pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

void kw_pattern_free(struct kw_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->context);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern);
}

static kw_status compile(kw_ctx *ctx, struct kw_pattern *pattern, const char *text, size_t len,
			 size_t *ret_offset)
{
	unsigned char reason[256];
	int error;

	pattern->code = pcre2_compile((PCRE2_SPTR)text, len, PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C,
				      &error, ret_offset, NULL);
	if (!pattern->code) {
		pcre2_get_error_message(error, reason, sizeof(reason));
		return kw_fail(ctx, KW_INVALID, "the regular expression does not compile: %s",
			       (char *)reason);
	}
	pattern->data = pcre2_match_data_create(1, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	if (!pattern->data || !pattern->context)
		return kw_fail_nomem(ctx);
	pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
	pcre2_set_depth_limit(pattern->context, DEPTH_LIMIT);
	pcre2_set_heap_limit(pattern->context, HEAP_LIMIT);
	return KW_OK;
}

kw_status kw_pattern_new(kw_ctx *ctx, const char *text, size_t len, struct kw_pattern **ret,
			 size_t *ret_offset)
{
	struct kw_pattern *pattern;
	kw_status status;

	*ret_offset = 0;
	if (len > KW_PATTERN_MAX)
		return kw_fail(ctx, KW_INVALID, "the regular expression is longer than %d bytes",
			       KW_PATTERN_MAX);
	pattern = calloc(1, sizeof(*pattern));
	if (!pattern)
		return kw_fail_nomem(ctx);
	status = compile(ctx, pattern, text, len, ret_offset);
	if (status) {
		kw_pattern_free(pattern);
		return status;
	}
	*ret = pattern;
	return KW_OK;
}

int kw_pattern_match(struct kw_pattern *pattern, const char *text, size_t len)
{
	int found = pcre2_match(pattern->code, (PCRE2_SPTR)(text ? text : ""), len, 0, 0, pattern->data,
				pattern->context);

	/* 0: a match with more groups than there is room for. */
	return found >= 0 ? 1 : found == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

bool kw_like(const char *text, size_t len, const char *like, size_t like_len)
{
	size_t i = 0, k = 0, star = SIZE_MAX, from = 0;

	/* On a mismatch the last % takes a byte more: no other needs to. */
	while (i < len) {
		if (k < like_len && like[k] == '%') {
			star = k++;
			from = i;
		} else if (k < like_len && (like[k] == '_' || like[k] == text[i])) {
			i++;
			k++;
		} else if (star != SIZE_MAX) {
			k = star + 1;
			i = ++from;
		} else {
			return false;
		}
	}
	while (k < like_len && like[k] == '%')
		k++;
	return k == like_len;
}
