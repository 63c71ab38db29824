/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * list_tasks [TARGET]: every process of a target, one a line: the smallest whole program on libkwalk.
 *
 * It shows the four steps of most programs: make a context, open a target, bind a query, run it. Each may fail, and
 * then kw_error() says why.
 */
#include <kwalk/kwalk.h>

#include <inttypes.h>
#include <stdio.h>

/* A value is what its type says, or absent with a reason: a kernel thread has no memory, which is not 0 bytes. */
static void print_kib(const struct kw_value *value)
{
	if (value->type == KW_VAL_ABSENT)
		printf("%10s", "-");
	else
		printf("%10" PRIu64, value->u / 1024);
}

/* Strings are not terminated. A process chooses its own name: never give one to a terminal as it is. */
static void print_text(const struct kw_value *value)
{
	if (value->type == KW_VAL_STRING)
		kw_put_safe(stdout, value->str, value->len);
	else
		printf("(%s)", kw_absent_text(value->absent));
}

/* The values come in the order of the columns, and live until this returns. */
static bool print_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	unsigned long *nr = arg;

	printf("%7d ", row->pid);
	print_text(&values[0]);
	print_kib(&values[1]);
	printf("  ");
	print_text(&values[2]);
	putchar('\n');
	++*nr;
	return true;
}

static kw_status list(kw_ctx *ctx, const char *target)
{
	struct kw_query_options options = { .size = sizeof(options), .columns = "state,rss,comm" };
	unsigned long nr = 0;
	kw_query *query;
	kw_status status = kw_open(ctx, target, NULL);

	if (status == KW_OK)
		status = kw_query_new(ctx, &options, &query);
	if (status != KW_OK)
		return status;
	status = kw_query_run(query, print_row, &nr);
	printf("%lu processes\n", nr);
	kw_query_free(query);
	return status;
}

int main(int argc, char **argv)
{
	kw_ctx *ctx = kw_new();
	kw_status status;

	if (!ctx)
		return 1;
	status = list(ctx, argc > 1 ? argv[1] : "live");
	/* KW_INCOMPLETE: some rows could not be read; the others have been printed. */
	if (status != KW_OK)
		fprintf(stderr, "list_tasks: %s\n", kw_error(ctx));
	kw_free(ctx);
	return status == KW_OK ? 0 : 1;
}
