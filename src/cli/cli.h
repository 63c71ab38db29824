/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the commands share: global options, opening the target, exit codes. The commands are built on the public API
 * alone.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <signal.h>

#include <kwalk/kwalk.h>

/** Exit codes, as kwalk(1) documents them. */
enum { EXIT_OK, EXIT_NO_MATCH, EXIT_USAGE, EXIT_UNREADABLE, EXIT_INCOMPLETE };

/** The program's state: global options, and the context once opened. */
struct cli {
	const char *target;  /* NULL: live */
	const char *symbols; /* -k */
	const char *types;   /* NULL: where they are found */
	enum kw_format format;
	bool no_headers, no_mmap, verbose, debuginfod, force;
	bool told_forced; /* what kw_forced() says */
	bool repeats; /* what is read will be read again and again: map it, at whatever the first time costs */
	kw_ctx *ctx;
};

/** A command: `run` gets its own name as argv[0] and returns the exit code. */
struct command {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *summary; /* one line */
	const char *help;    /* the whole text of --help */
};

extern const struct command cmd_ps, cmd_info, cmd_fields, cmd_type, cmd_sym, cmd_print, cmd_show, cmd_stat,
	cmd_irq, cmd_mem, cmd_cat, cmd_query, cmd_run, cmd_check;

/* Options that may stand before the command and behind it; 256 and up have no letter. */
enum {
	OPT_FORMAT = 256,
	OPT_NO_HEADERS,
	OPT_NO_MMAP,
	OPT_TYPES,
	OPT_DEBUGINFOD,
	OPT_FORCE,
	OPT_HELP,
	OPT_VERSION,
	OPT_COMMAND, /* first value for a command's own options */
};

#define GLOBAL_SHORT "t:k:vh"
#define GLOBAL_LONG                                                                                       \
	{ "target", required_argument, NULL, 't' }, { "symbols", required_argument, NULL, 'k' },          \
		{ "verbose", no_argument, NULL, 'v' }, { "format", required_argument, NULL, OPT_FORMAT }, \
		{ "no-headers", no_argument, NULL, OPT_NO_HEADERS },                                      \
		{ "no-mmap", no_argument, NULL, OPT_NO_MMAP },                                            \
		{ "types", required_argument, NULL, OPT_TYPES },                                          \
		{ "debuginfod", no_argument, NULL, OPT_DEBUGINFOD },                                      \
		{ "force", no_argument, NULL, OPT_FORCE }, { "help", no_argument, NULL, OPT_HELP },       \
	{                                                                                                 \
		"version", no_argument, NULL, OPT_VERSION                                                 \
	}

/**
 * Take one option that getopt_long() returned and the command does not know.
 *
 * @return true when it was taken; false when the program must end now with *ret_exit
 */
bool cli_option(struct cli *cli, const struct command *command, int option, int *ret_exit);

/** Parse the options of a command that has none of its own. Returns as cli_option(). */
bool cli_options_only(struct cli *cli, const struct command *command, int argc, char **argv, int *ret_exit);

/** Open the target, then give up privileges. On failure says why and returns the exit code; 0 on success. */
int cli_open(struct cli *cli);

/** After cli_open() has failed: open the target's memory alone, then give up privileges. False when that fails, too. */
bool cli_open_memory(struct cli *cli);

/** Give up all capabilities for good. What is open stays readable. */
void cli_drop_privileges(void);

/** Print "kwalk: MESSAGE" for the context's last failure and return its exit code. */
int cli_fail(struct cli *cli, kw_status status);

/** Print "kwalk: TEXT" and a hint at --help; returns EXIT_USAGE. */
int cli_usage(const struct command *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Begin a writer on standard output with the global options. On failure says why and returns the exit code. */
int cli_writer(struct cli *cli, const struct kw_column *columns, size_t nr, bool tree, kw_writer **ret);

/** End a writer; keeps a worse exit code. */
int cli_writer_end(struct cli *cli, kw_writer *writer, int code);

/**
 * Run a query once and print its rows, or with `explain` only how they would be fetched. Returns the exit code: 1 for no
 * rows.
 */
int cli_rows(struct cli *cli, const struct kw_query_options *options, bool explain);

/** As cli_rows(), of a query that was made already; frees it. */
int cli_query(struct cli *cli, kw_query *query, bool forest, bool explain);

/** Set by a signal: the rows of the query under way end. */
extern volatile sig_atomic_t cli_interrupted;

/** Run a script; SIGINT and SIGTERM end it after the tick it is at. Returns the exit code. */
int cli_script(struct cli *cli, kw_script *script);

/** Take a format by its name. False when there is none of it. */
bool cli_format(struct cli *cli, const char *name);

/** Say that there is no such source, and which there are; returns EXIT_USAGE. */
int cli_unknown_source(const struct command *command, const char *name);

/** Parse a number above 0. False when the text is none. */
bool cli_number(const char *text, uint64_t *ret);

/** Make a string value. */
struct kw_value cli_text(const char *text);

#endif
