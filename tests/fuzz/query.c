/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queries: the first byte is flags, then come columns, keys of the order, process IDs, users and names, each ended by
 * a newline, and where one is missing it is not given. Bound to a small kernel, explained and run, twice.
 */
#include <kwalk/kwalk.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/queried.h"

#define TEXT_MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static kw_ctx *ctx;
static FILE *nowhere;

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void prepare(void)
{
	queried_kernel(&ctx);
	nowhere = fopen("/dev/null", "w");
	require(nowhere);
}

struct seen {
	size_t rows, columns;
	uint64_t sum;
};

static bool look(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct seen *seen = arg;

	seen->rows++;
	require(row->tid > 0 && row->address && row->depth < 8);
	for (size_t i = 0; i < seen->columns; i++) {
		const struct kw_value *v = &values[i];

		require(v->type != KW_VAL_ABSENT || (v->absent && v->absent < KW_ABSENT_NR));
		seen->sum = seen->sum * 31 + v->type;
		if (v->type != KW_VAL_STRING && v->type != KW_VAL_BYTES)
			seen->sum += v->u;
		else
			for (uint32_t k = 0; k < v->len; k++)
				seen->sum = seen->sum * 31 + (unsigned char)v->str[k];
	}
	return true;
}

static void run(const struct kw_query_options *opts)
{
	struct seen first = { 0 }, second = { 0 };
	kw_query *query;
	kw_status status = kw_query_new(ctx, opts, &query);

	if (status) {
		require(*kw_error(ctx));
		return;
	}
	kw_query_explain(query, nowhere);
	kw_query_columns(query, &first.columns);
	second.columns = first.columns;
	status = kw_query_run(query, look, &first);
	require(status == KW_OK || status == KW_INCOMPLETE);
	require(first.rows == kw_query_counts(query)->rows && first.rows <= QUERIED_TASKS);
	require(!opts->limit || first.rows <= opts->limit);
	require(kw_query_run(query, look, &second) == status);
	require(first.rows == second.rows && first.sum == second.sum);
	kw_query_free(query);
}

/* Cut the next line off; NULL when there is none. */
static const char *take_line(char **at)
{
	char *line = *at, *end = line ? strchr(line, '\n') : NULL;

	if (end)
		*end++ = '\0';
	*at = end;
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX], *at = text;
	struct kw_query_options opts = { .size = sizeof(opts) };

	if (!ctx)
		prepare();
	if (!size || size > sizeof(text))
		return 0;
	opts.source = data[0] & 1 ? "threads" : NULL;
	opts.forest = data[0] & 2;
	opts.limit = data[0] >> 2 & 7;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	opts.columns = take_line(&at);
	opts.sort = take_line(&at);
	opts.pids = take_line(&at);
	opts.users = take_line(&at);
	opts.names = take_line(&at);
	run(&opts);
	return 0;
}
