/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk query: a question in the query language. */
#include <unistd.h>

#include "cli/prompt.h"

enum { OPT_EXPLAIN = OPT_COMMAND };

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		GLOBAL_LONG,
		{ "explain", no_argument, NULL, OPT_EXPLAIN },
		{ 0 },
	};
	bool explain = false;
	int option, code;
	kw_query *query;
	kw_status status;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT, options, NULL)) != -1) {
		if (option == OPT_EXPLAIN)
			explain = true;
		else if (!cli_option(cli, &cmd_query, option, &code))
			return code;
	}
	if (optind == argc && !explain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return prompt_run(cli);
	if (optind == argc)
		return cli_usage(&cmd_query, "no query given, and no terminal to ask for one");
	if (optind + 1 < argc)
		return cli_usage(&cmd_query,
				 "unexpected argument \"%s\": the query is one argument, in quotes",
				 argv[optind + 1]);
	code = cli_open(cli);
	if (code)
		return code;
	status = kw_query_compile(cli->ctx, argv[optind], &query);
	return status ? cli_fail(cli, status) : cli_query(cli, query, false, explain);
}

const struct command cmd_query = {
	"query",
	run,
	"ask a question in the query language",
	"Usage: kwalk query [OPTIONS] ['TEXT']\n"
	"\n"
	"Prints the rows that a query gives; kwalk-query(7) describes the language.\n"
	"Without one, on a terminal, it asks for queries and statements, one after the other.\n"
	"\n"
	"    kwalk query 'tasks where rss > 1M select pid, comm, rss sort -rss limit 10'\n"
	"    kwalk query 'tasks group by state select state, count(), sum(rss)'\n"
	"\n"
	"      --explain         print how the values would be fetched, and fetch none\n",
};
