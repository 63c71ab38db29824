/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running a query and printing its rows: what kwalk ps and kwalk show have in common. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

/* The writer is begun with the first row: a process list that can't be read makes no table, not even an empty one. */
struct printing {
	struct cli *cli;
	kw_query *query;
	bool forest;
	kw_writer *writer;
	uint64_t rows;
	int code;
};

volatile sig_atomic_t cli_interrupted;

static bool begin(struct printing *p)
{
	const struct kw_column *columns;
	size_t nr;

	if (p->writer)
		return true;
	columns = kw_query_columns(p->query, &nr);
	p->code = cli_writer(p->cli, columns, nr, p->forest, &p->writer);
	return !p->code;
}

static bool print_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct printing *p = arg;

	p->rows++;
	return begin(p) && kw_writer_row(p->writer, values, row->depth) == KW_OK && !cli_interrupted;
}

static bool ignore_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)values;
	(void)row;
	(void)arg;
	return true;
}

/* What rate() and delta() compare with is what was there a second ago. */
static kw_status look_before(kw_query *query)
{
	kw_status status = kw_query_run(query, ignore_row, NULL);

	sleep(1);
	return status;
}

static int print_query(struct cli *cli, bool forest, kw_query *query)
{
	struct printing p = { .cli = cli, .query = query, .forest = forest };
	kw_status status = kw_query_compares(query) ? look_before(query) : KW_OK;
	uint64_t listed;

	if (!status || status == KW_INCOMPLETE)
		status = kw_query_run(query, print_row, &p);

	if (p.code)
		return p.code;
	if ((!status || status == KW_INCOMPLETE) && !begin(&p))
		return p.code;
	p.code = cli_writer_end(cli, p.writer, EXIT_OK);
	listed = kw_query_counts(query)->listed;
	if (listed)
		fprintf(stderr,
			"kwalk: %s: %" PRIu64
			" processes were found in the kernel's list of processes: the dump "
			"lacks their part of the PID table\n",
			cli->target, listed);
	if (status)
		return cli_fail(cli, status);
	return p.code ? p.code : p.rows ? EXIT_OK : EXIT_NO_MATCH;
}

int cli_query(struct cli *cli, kw_query *query, bool forest, bool explain)
{
	int code = EXIT_OK;

	if (explain)
		kw_query_explain(query, stdout);
	else
		code = print_query(cli, forest, query);
	if (cli->verbose) {
		const struct kw_query_counts *c = kw_query_counts(query);

		fprintf(stderr,
			"kwalk: %" PRIu64 " rows; fetched %" PRIu64 " for where, %" PRIu64
			" for their order, %" PRIu64 " for their columns; %" PRIu64 " retried, %" PRIu64
			" gone, %" PRIu64 " torn, %" PRIu64 " damaged\n",
			c->rows, c->conditions, c->keys, c->columns, c->retried, c->gone, c->torn,
			c->damaged);
	}
	kw_query_free(query);
	return code;
}

int cli_rows(struct cli *cli, const struct kw_query_options *options, bool explain)
{
	kw_query *query;
	kw_status status = kw_query_new(cli->ctx, options, &query);

	return status ? cli_fail(cli, status) : cli_query(cli, query, options->forest, explain);
}
