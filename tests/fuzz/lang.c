/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts in the query language: lexer, parser and binder. Each is compiled against a small kernel, as a query, which is
 * explained, and as a script, or refused with a message.
 */
#include <kwalk/kwalk.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/queried.h"

#define TEXT_MAX 4096

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

static void compile_script(const char *text)
{
	const char *const args[] = { "a=5", "b=1M", "7s" };
	kw_script *script;

	if (kw_script_new(ctx, "fuzz", text, args, 3, &script) == KW_OK)
		kw_script_free(script);
	else
		require(*kw_error(ctx));
	/* With arguments that are not wanted nothing compiles. */
	if (kw_script_new(ctx, "fuzz", text, NULL, 0, &script) == KW_OK)
		kw_script_free(script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kw_column *columns;
	char text[TEXT_MAX + 1];
	kw_query *query;
	size_t nr;

	if (!ctx)
		prepare();
	if (size > TEXT_MAX)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	compile_script(text);
	if (kw_query_compile(ctx, text, &query)) {
		require(*kw_error(ctx));
		return 0;
	}
	columns = kw_query_columns(query, &nr);
	require(nr > 0);
	for (size_t i = 0; i < nr; i++)
		require(columns[i].name && columns[i].header && columns[i].type != KW_VAL_ABSENT);
	kw_query_explain(query, nowhere);
	kw_query_free(query);
	return 0;
}
