/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk show: the rows of any source. */
#include "cli/cli.h"

enum { OPT_SORT = OPT_COMMAND, OPT_TOP, OPT_EXPLAIN };

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		GLOBAL_LONG,
		{ "columns", required_argument, NULL, 'o' },
		{ "pid", required_argument, NULL, 'p' },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "top", required_argument, NULL, OPT_TOP },
		{ "explain", no_argument, NULL, OPT_EXPLAIN },
		{ 0 },
	};
	struct kw_query_options query = { .size = sizeof(query) };
	bool explain = false;
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "o:p:", options, NULL)) != -1) {
		switch (option) {
		case 'o': query.columns = optarg; break;
		case 'p': query.pids = optarg; break;
		case OPT_SORT: query.sort = optarg; break;
		case OPT_TOP:
			if (!cli_number(optarg, &query.limit))
				return cli_usage(&cmd_show, "--top %s: expected a number above 0", optarg);
			break;
		case OPT_EXPLAIN: explain = true; break;
		default:
			if (!cli_option(cli, &cmd_show, option, &code))
				return code;
		}
	}
	if (optind == argc)
		return cli_usage(&cmd_show, "no source given");
	if (optind + 1 < argc)
		return cli_usage(&cmd_show, "unexpected argument \"%s\"", argv[optind + 1]);
	query.source = argv[optind];
	if (!kw_source_find(query.source))
		return cli_unknown_source(&cmd_show, query.source);
	code = cli_open(cli);
	return code ? code : cli_rows(cli, &query, explain);
}

const struct command cmd_show = {
	"show",
	run,
	"list CPUs, interrupts, modules, ...",
	"Usage: kwalk show [OPTIONS] SOURCE\n"
	"\n"
	"Lists the rows of a source: cpus, irqs, modules, ...; `kwalk fields` has all, with\n"
	"their fields.\n"
	"\n"
	"  -o, --columns LIST    columns, separated by commas: fields of the source, or raw\n"
	"                        paths such as irq_desc.depth; NAME=HEADER gives a heading\n"
	"  -p, --pid LIST        of what each process has (vmas, files), only that of these\n"
	"                        processes\n"
	"      --sort KEYS       order by these fields or paths; - before one: descending\n"
	"      --top N           the first N rows\n"
	"      --explain         print how the values would be fetched, and fetch none\n",
};
