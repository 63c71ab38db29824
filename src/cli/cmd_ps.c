/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk ps: a table of processes or threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ps_query.h"

#define DEFAULT_COLUMNS	       "pid,ppid,user,stat,nlwp,rss,time,comm"
#define DEFAULT_THREAD_COLUMNS "pid,tid,user,stat,psr,time,comm"
#define FULL_COLUMNS	       "user,pid,ppid,pcpu,start,tty,time,args"		     /* as ps -f */
#define FULL_THREAD_COLUMNS    "user,pid,ppid,tid,pcpu,nlwp,start,tty,time,args"     /* as ps -Lf */
#define USER_COLUMNS	       "user,pid,pcpu,pmem,vsz,rss,tty,stat,start,time,args" /* as ps aux */

enum {
	OPT_SORT = OPT_COMMAND,
	OPT_TOP,
	OPT_FOREST,
	OPT_CROSS_CHECK,
	OPT_EXPLAIN,
	OPT_PIDNS,
	OPT_WHERE,
	OPT_SHOW_QUERY
};

struct ps_options {
	struct kw_query_options query;
	const char *where;
	bool cross_check, explain, show_query, full, user_oriented;
};

/* The letters of BSD's ps that people type, without a dash: every process is the default. */
static bool take_bsd_letters(struct ps_options *ps, const char *word)
{
	if (!*word || word[strspn(word, "aux")])
		return false;
	ps->user_oriented = strchr(word, 'u') != NULL;
	return true;
}

static const char *default_columns(const struct ps_options *ps)
{
	bool threads = ps->query.source != NULL;

	if (ps->user_oriented)
		return USER_COLUMNS;
	if (ps->full)
		return threads ? FULL_THREAD_COLUMNS : FULL_COLUMNS;
	return threads ? DEFAULT_THREAD_COLUMNS : DEFAULT_COLUMNS;
}

static bool parse(struct cli *cli, int argc, char **argv, struct ps_options *ps, int *code)
{
	static const struct option options[] = {
		GLOBAL_LONG,
		{ "columns", required_argument, NULL, 'o' },
		{ "threads", no_argument, NULL, 'L' },
		{ "pid", required_argument, NULL, 'p' },
		{ "user", required_argument, NULL, 'u' },
		{ "command", required_argument, NULL, 'C' },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "top", required_argument, NULL, OPT_TOP },
		{ "forest", no_argument, NULL, OPT_FOREST },
		{ "cross-check", no_argument, NULL, OPT_CROSS_CHECK },
		{ "explain", no_argument, NULL, OPT_EXPLAIN },
		{ "pidns", required_argument, NULL, OPT_PIDNS },
		{ "where", required_argument, NULL, OPT_WHERE },
		{ "show-query", no_argument, NULL, OPT_SHOW_QUERY },
		{ 0 },
	};
	struct kw_query_options *q = &ps->query;
	uint64_t pid;
	int option;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "o:Lp:u:C:efA", options, NULL)) != -1) {
		switch (option) {
		case 'o': q->columns = optarg; break;
		case 'L': q->source = "threads"; break;
		case 'p': q->pids = optarg; break;
		case 'u': q->users = optarg; break;
		case 'C': q->names = optarg; break;
		case 'e':
		case 'A': break; /* every process is the default; people type -e all the same */
		case 'f': ps->full = true; break;
		case OPT_SORT: q->sort = optarg; break;
		case OPT_TOP:
			if (!cli_number(optarg, &q->limit)) {
				*code = cli_usage(&cmd_ps, "--top %s: expected a number above 0", optarg);
				return false;
			}
			break;
		case OPT_FOREST: q->forest = true; break;
		case OPT_CROSS_CHECK: ps->cross_check = true; break;
		case OPT_EXPLAIN: ps->explain = true; break;
		case OPT_WHERE: ps->where = optarg; break;
		case OPT_SHOW_QUERY: ps->show_query = true; break;
		case OPT_PIDNS:
			if (!cli_number(optarg, &pid) || pid > INT32_MAX) {
				*code = cli_usage(&cmd_ps, "--pidns %s: expected a process ID", optarg);
				return false;
			}
			q->pidns = (int32_t)pid;
			break;
		default:
			if (!cli_option(cli, &cmd_ps, option, code))
				return false;
		}
	}
	if (optind < argc && take_bsd_letters(ps, argv[optind]))
		optind++;
	if (optind < argc) {
		*code = cli_usage(&cmd_ps, "unexpected argument \"%s\"", argv[optind]);
		return false;
	}
	if ((ps->where || ps->show_query) && (q->forest || q->pidns)) {
		*code = cli_usage(&cmd_ps, "%s does not go together with --forest and --pidns",
				  ps->where ? "--where" : "--show-query");
		return false;
	}
	if (q->limit && !q->sort && !q->forest)
		q->sort = "-time";
	if (!q->columns)
		q->columns = default_columns(ps);
	return true;
}

static int cross_check(struct cli *cli)
{
	static const struct kw_column columns[] = {
		{ "pid", "PID", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "task", "TASK", KW_VAL_ADDRESS, KW_UNIT_NONE, KW_SHOW_HEX },
		{ "only_in", "ONLY IN", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "comm", "COMMAND", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	};
	struct kw_cross_difference *found;
	size_t nr, pids, listed;
	kw_status status = kw_cross_check(cli->ctx, &found, &nr, &pids, &listed);
	kw_writer *writer;
	int code;

	if (status)
		return cli_fail(cli, status);
	code = cli_writer(cli, columns, 4, false, &writer);
	for (size_t i = 0; !code && i < nr; i++) {
		struct kw_value row[] = {
			{ .type = KW_VAL_INT, .i = found[i].pid },
			{ .type = KW_VAL_ADDRESS, .u = found[i].address },
			cli_text(found[i].in_list ? "process list" : "PID table"),
			{ .type = KW_VAL_STRING,
			  .len = (uint32_t)strnlen(found[i].comm, sizeof(found[i].comm)),
			  .str = found[i].comm },
		};

		kw_writer_row(writer, row, 0);
	}
	if (!code)
		code = cli_writer_end(cli, writer, EXIT_OK);
	fprintf(stderr, "kwalk: %zu processes in the PID table, %zu in the process list, %zu only in one\n",
		pids, listed, nr);
	free(found);
	return code;
}

static bool count_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)values;
	(void)row;
	++*(int *)arg;
	return true;
}

/* A process that is not there is no wrong usage. What else may be the matter with it, the query itself will tell. */
static bool is_missing(struct cli *cli, int32_t pid)
{
	char text[16];
	struct kw_query_options options = { .size = sizeof(options), .columns = "pid", .pids = text };
	kw_query *query;
	kw_status status;
	int nr = 0;

	snprintf(text, sizeof(text), "%d", (int)pid);
	if (kw_query_new(cli->ctx, &options, &query) != KW_OK)
		return false;
	status = kw_query_run(query, count_row, &nr);
	kw_query_free(query);
	return !status && !nr;
}

static int run_query(struct cli *cli, const struct ps_options *ps)
{
	char *text = ps_query_text(&ps->query, ps->where);
	kw_query *query;
	kw_status status;

	if (!text) {
		fprintf(stderr, "kwalk: out of memory\n");
		return EXIT_UNREADABLE;
	}
	status = kw_query_compile(cli->ctx, text, &query);
	free(text);
	return status ? cli_fail(cli, status) : cli_query(cli, query, false, ps->explain);
}

static int show_query(const struct ps_options *ps)
{
	char *text = ps_query_text(&ps->query, ps->where);

	if (text)
		puts(text);
	free(text);
	return text ? EXIT_OK : EXIT_UNREADABLE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct ps_options ps = { .query = { .size = sizeof(ps.query) } };
	int code;

	if (!parse(cli, argc, argv, &ps, &code))
		return code;
	if (ps.show_query)
		return show_query(&ps);
	code = cli_open(cli);
	if (code)
		return code;
	if (ps.where)
		return run_query(cli, &ps);
	if (ps.query.pidns && is_missing(cli, ps.query.pidns)) {
		fprintf(stderr, "kwalk: --pidns %d: there is no such process\n", (int)ps.query.pidns);
		return EXIT_NO_MATCH;
	}
	return ps.cross_check ? cross_check(cli) : cli_rows(cli, &ps.query, ps.explain);
}

const struct command cmd_ps = {
	"ps",
	run,
	"list processes or threads",
	"Usage: kwalk ps [OPTIONS]\n"
	"\n"
	"Lists processes, or threads with -L, from kernel memory.\n"
	"\n"
	"  -o, --columns LIST    columns, separated by commas: names of `kwalk fields`, or\n"
	"                        raw paths such as task.signal.oom_score_adj or\n"
	"                        mm.map_count; NAME=HEADER gives a heading\n"
	"  -L, --threads         a row for each thread\n"
	"  -p, --pid PIDS        only these processes\n"
	"  -u, --user USERS      only processes of these effective users, by number; by\n"
	"                        name on the live kernel alone\n"
	"  -C, --command NAMES   only processes with these names; -p, -u and -C add up\n"
	"      --sort KEYS       order by these fields or paths; - before one: descending\n"
	"      --top N           the first N rows (of --sort -time, where no order is given)\n"
	"      --forest          children below their parents\n"
	"      --pidns PID       what the PID namespace sees that this process is in, with\n"
	"                        the numbers it has for it; -p takes these, too\n"
	"      --cross-check     compare the PID table with the process list and show what\n"
	"                        only one of them has\n"
	"      --where EXPR      only those for which a condition of the query language holds\n"
	"      --show-query      print the query that this is, and run none\n"
	"      --explain         print how the values would be fetched, and fetch none\n"
	"  -f                    the columns of ps -f; kwalk ps aux has those of ps aux\n"
	"  -e, -A                accepted: all processes are the default\n",
};
