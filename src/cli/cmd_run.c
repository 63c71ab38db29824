/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk run: a script in the query language. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/script_output.h"

#define SCRIPT_MAX (256 * 1024)

static kw_script *running;

static void stop(int number)
{
	(void)number;
	if (running)
		kw_script_stop(running);
}

/* Read a whole file, or standard input for "-". NULL after saying why. */
static char *read_script(const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *text = malloc(SCRIPT_MAX + 2);
	size_t len = 0;
	const char *why = NULL;

	if (in && text) {
		len = fread(text, 1, SCRIPT_MAX + 1, in);
		text[len] = '\0';
	}
	if (!in || !text || ferror(in))
		why = strerror(errno);
	else if (len > SCRIPT_MAX)
		why = "a script has at most 262144 bytes";
	else if (memchr(text, 0, len))
		why = "this is no script: there is a NUL byte in it";
	if (in && in != stdin)
		fclose(in);
	if (!why)
		return text;
	fprintf(stderr, "kwalk: %s: %s\n", path, why);
	free(text);
	return NULL;
}

/* Each message once in a row: a loop would repeat it every tick. */
static void warn(kw_status status, void *arg)
{
	struct script_output *o = arg;
	static char last[512];

	(void)status;
	if (strncmp(last, kw_error(o->cli->ctx), sizeof(last) - 1) == 0)
		return;
	snprintf(last, sizeof(last), "%s", kw_error(o->cli->ctx));
	fprintf(stderr, "kwalk: %s\n", last);
}

int cli_script(struct cli *cli, kw_script *script)
{
	struct script_output output;
	const struct kw_script_sink sink = {
		.size = sizeof(sink),
		.arg = &output,
		.row = script_output_row,
		.end = script_output_end_block,
		.print = script_output_print,
		.output = script_output_change,
		.tick = script_output_tick,
		.warn = warn,
	};
	struct sigaction action = { .sa_handler = stop };
	int wanted = 0, code;
	kw_status status;

	running = script;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	script_output_begin(&output, cli);
	status = kw_script_run(script, &sink, &wanted);
	running = NULL;
	code = script_output_end(&output);
	if (status == KW_INCOMPLETE)
		code = code ? code : EXIT_INCOMPLETE;
	else if (status)
		code = cli_fail(cli, status);
	return wanted ? wanted : code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { GLOBAL_LONG, { 0 } };
	kw_script *script;
	kw_status status;
	int option, code;
	char *text;

	/* What follows the file is for the script. */
	while ((option = getopt_long(argc, argv, "+" GLOBAL_SHORT, options, NULL)) != -1)
		if (!cli_option(cli, &cmd_run, option, &code))
			return code;
	if (optind == argc)
		return cli_usage(&cmd_run, "no script given");
	text = read_script(argv[optind]);
	if (!text)
		return EXIT_USAGE;
	/* A guess, before anything is parsed: a wrong one costs nothing but time. */
	cli->repeats = strstr(text, "every");
	code = cli_open(cli);
	if (code) {
		free(text);
		return code;
	}
	status = kw_script_new(cli->ctx, argv[optind], text, (const char *const *)argv + optind + 1,
			       (size_t)(argc - optind - 1), &script);
	free(text);
	if (status)
		return cli_fail(cli, status);
	code = cli_script(cli, script);
	kw_script_free(script);
	return code;
}

const struct command cmd_run = {
	"run",
	run,
	"run a script that watches",
	"Usage: kwalk run [OPTIONS] FILE [ARGUMENTS]\n"
	"\n"
	"Runs a script in the query language, kwalk-query(7): queries, loops that sample at\n"
	"fixed times, conditions, new and ended tasks, checks with an exit code. FILE may be\n"
	"- for standard input. ARGUMENTS are values of the script's parameters, NAME=VALUE or\n"
	"in their order. SIGINT and SIGTERM end a script after the tick it is at.\n"
	"\n"
	"    examples/top_memory.kw n=5\n"
	"    examples/stuck.kw hold=30s\n",
};
