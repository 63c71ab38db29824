/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts in the query language, run on a small kernel, twice: what comes out is the same, and values are what their
 * columns promise.
 */
#include <kwalk/kwalk.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/queried.h"

#define TEXT_MAX 1024
#define ROWS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static kw_ctx *ctx;

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void prepare(void)
{
	queried_kernel(&ctx);
}

struct seen {
	size_t rows, columns;
	uint64_t sum;
};

static bool look(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct seen *seen = arg;

	(void)row;
	seen->rows++;
	for (size_t i = 0; i < seen->columns; i++) {
		const struct kw_value *v = &values[i];

		require(v->type <= KW_VAL_ENUM);
		require(v->type != KW_VAL_ABSENT || (v->absent && v->absent < KW_ABSENT_NR));
		seen->sum = seen->sum * 31 + v->type;
		if (v->type == KW_VAL_ABSENT)
			seen->sum += v->absent;
		else if (v->type != KW_VAL_STRING && v->type != KW_VAL_BYTES)
			seen->sum += v->u;
		else
			for (uint32_t k = 0; k < v->len; k++)
				seen->sum = seen->sum * 31 + (unsigned char)v->str[k];
	}
	return seen->rows < ROWS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen first = { 0 }, second = { 0 };
	char text[TEXT_MAX + 1];
	kw_query *query;
	kw_status status;

	if (!ctx)
		prepare();
	if (size > TEXT_MAX)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (kw_query_compile(ctx, text, &query))
		return 0;
	kw_query_columns(query, &first.columns);
	second.columns = first.columns;
	status = kw_query_run(query, look, &first);
	require(status == KW_OK || *kw_error(ctx));
	require(first.rows == kw_query_counts(query)->rows);
	require(kw_query_run(query, look, &second) == status);
	/* What compares with the run before has nothing to compare with in the first one. */
	if (!kw_query_compares(query))
		require(first.rows == second.rows && first.sum == second.sum);
	kw_query_free(query);
	return 0;
}
