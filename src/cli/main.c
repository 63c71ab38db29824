/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: global options, the table of commands, and what the commands share. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct command *const commands[] = { &cmd_ps,     &cmd_query, &cmd_run, &cmd_stat, &cmd_irq,
						  &cmd_mem,    &cmd_show,  &cmd_cat, &cmd_info, &cmd_check,
						  &cmd_fields, &cmd_type,  &cmd_sym, &cmd_print };

#define VMCORE "/proc/vmcore"

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *const format_names[] = { "table", "json", "jsonl", "csv", "tsv" };

static const char global_help[] =
	"Usage: kwalk [OPTIONS] COMMAND [ARGS]\n"
	"       kwalk help [COMMAND]\n"
	"\n"
	"Reads processes and kernel state straight out of kernel memory: the live\n"
	"kernel's, a guest's RAM, a crash dump's. Needs no debug symbols.\n"
	"\n"
	"Options, before or behind the command:\n"
	"  -t, --target TARGET   live (default), the path of a dump or guest RAM file,\n"
	"                        - for standard input, or qemu:PID for a running QEMU\n"
	"  -k, --symbols FILE    take symbols (and types) from this vmlinux or System.map\n"
	"      --types FROM      take types from btf, dwarf (the debug information of -k's\n"
	"                        vmlinux, or else what is installed), or this vmlinux\n"
	"      --debuginfod      fetch the kernel's debug information where it is wanted\n"
	"      --force           take a vmlinux of another build of the kernel, too\n"
	"      --format FORMAT   table (default), json, jsonl, csv or tsv\n"
	"      --no-headers      leave the heading out (table, csv, tsv)\n"
	"      --no-mmap         read with pread, never map\n"
	"  -v, --verbose         after the command, tell on standard error what it cost\n"
	"  -h, --help            this text, or that of a command\n"
	"      --version         print the version\n"
	"\n"
	"Commands:\n";

static const char exit_help[] =
	"\n"
	"Exit codes: 0 done, 1 nothing matched, 2 wrong usage, 3 the target can't be\n"
	"read, 4 done but incomplete.\n";

static void print_help(const struct command *command)
{
	if (command) {
		fputs(command->help, stdout);
		printf("\nOptions for all commands: kwalk --help\n");
		return;
	}
	fputs(global_help, stdout);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs(exit_help, stdout);
}

int cli_usage(const struct command *command, const char *fmt, ...)
{
	va_list args;

	fputs("kwalk: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\nTry 'kwalk %s%s--help'.\n", command ? command->name : "", command ? " " : "");
	return EXIT_USAGE;
}

int cli_unknown_source(const struct command *command, const char *name)
{
	const struct kw_source *source;
	char known[512] = "";
	size_t used = 0;

	for (size_t i = 0; (source = kw_source_at(i)) && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 source->name);
	return cli_usage(command, "unknown source \"%s\": %s", name, known);
}

int cli_fail(struct cli *cli, kw_status status)
{
	fflush(stdout);
	fprintf(stderr, "kwalk: %s\n", kw_error(cli->ctx));
	switch (status) {
	case KW_OK: return EXIT_OK;
	case KW_INVALID:
	case KW_NOTFOUND: return EXIT_USAGE;
	case KW_INCOMPLETE: return EXIT_INCOMPLETE;
	default: return EXIT_UNREADABLE;
	}
}

bool cli_format(struct cli *cli, const char *name)
{
	for (size_t i = 0; i < sizeof(format_names) / sizeof(format_names[0]); i++) {
		if (strcmp(name, format_names[i]) == 0) {
			cli->format = (enum kw_format)i;
			return true;
		}
	}
	return false;
}

bool cli_option(struct cli *cli, const struct command *command, int option, int *ret_exit)
{
	switch (option) {
	case 't': cli->target = optarg; return true;
	case 'k': cli->symbols = optarg; return true;
	case 'v': cli->verbose = true; return true;
	case OPT_NO_HEADERS: cli->no_headers = true; return true;
	case OPT_TYPES: cli->types = optarg; return true;
	case OPT_DEBUGINFOD: cli->debuginfod = true; return true;
	case OPT_FORCE: cli->force = true; return true;
	case OPT_NO_MMAP: cli->no_mmap = true; return true;
	case OPT_FORMAT:
		if (cli_format(cli, optarg))
			return true;
		*ret_exit =
			cli_usage(command, "unknown format \"%s\": table, json, jsonl, csv or tsv", optarg);
		return false;
	case 'h':
	case OPT_HELP:
		print_help(command);
		*ret_exit = EXIT_OK;
		return false;
	case OPT_VERSION:
		printf("kwalk %s\n", kw_version());
		*ret_exit = EXIT_OK;
		return false;
	default:
		/* getopt_long() has said what is wrong. */
		fprintf(stderr, "Try 'kwalk %s%s--help'.\n", command ? command->name : "",
			command ? " " : "");
		*ret_exit = EXIT_USAGE;
		return false;
	}
}

static const struct option global_options[] = { GLOBAL_LONG, { 0 } };

bool cli_options_only(struct cli *cli, const struct command *command, int argc, char **argv, int *ret_exit)
{
	int option;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT, global_options, NULL)) != -1)
		if (!cli_option(cli, command, option, ret_exit))
			return false;
	return true;
}

/* One line on a terminal that is written over. */
struct progress {
	uint64_t shown; /* percents, or, where nobody knows how much will come, MiB */
	bool in_line;
};

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;
	uint64_t now = total ? done * 100 / total : done >> 20;

	if (p->in_line && now == p->shown)
		return;
	p->in_line = true;
	p->shown = now;
	if (total)
		fprintf(stderr, "\rkwalk: unpacking: %" PRIu64 " %%", now);
	else
		fprintf(stderr, "\rkwalk: reading: %" PRIu64 " MiB", now);
}

/* Where there is a /proc/vmcore, who names no target may well mean that, and would take what is shown for it. */
static void tell_of_capture_kernel(const struct cli *cli)
{
	if (!cli->target && access(VMCORE, F_OK) == 0)
		fputs("kwalk: this is a capture kernel, and it is itself what is shown; the one that crashed: "
		      "-t " VMCORE "\n",
		      stderr);
}

/* Once: before all output where a file is opened at the start, else behind it. */
static void tell_forced(struct cli *cli)
{
	if (!cli->ctx || cli->told_forced || !kw_forced(cli->ctx))
		return;
	fprintf(stderr, "kwalk: forced: %s\n", kw_forced(cli->ctx));
	cli->told_forced = true;
}

int cli_open(struct cli *cli)
{
	struct progress progress = { 0 };
	struct kw_open_options opts = {
		.size = sizeof(opts),
		.symbols = cli->symbols,
		.no_mmap = cli->no_mmap,
		.once = !cli->repeats,
		.types = cli->types,
		.debuginfod = cli->debuginfod,
		.force = cli->force,
	};
	kw_status status;

	if (isatty(STDERR_FILENO)) {
		opts.progress = show_progress;
		opts.progress_arg = &progress;
	}
	cli->ctx = kw_new();
	if (!cli->ctx) {
		fputs("kwalk: out of memory\n", stderr);
		return EXIT_UNREADABLE;
	}
	status = kw_open(cli->ctx, cli->target, &opts);
	if (progress.in_line)
		fputc('\n', stderr);
	tell_of_capture_kernel(cli);
	if (!status) {
		const char *trouble = kw_trouble(cli->ctx);
		uint64_t addr;

		if (trouble)
			fprintf(stderr, "kwalk: %s: %s\n", cli->target, trouble);
		tell_forced(cli);
		/* /proc/kallsyms shows addresses to the privileged only: the symbols are loaded before. */
		kw_symbol_address(cli->ctx, "init_task", &addr);
		cli_drop_privileges();
		return EXIT_OK;
	}
	cli_fail(cli, status);
	return EXIT_UNREADABLE;
}

bool cli_open_memory(struct cli *cli)
{
	struct kw_open_options opts = { .size = sizeof(opts), .no_mmap = cli->no_mmap, .memory_only = true };
	kw_status status = kw_open(cli->ctx, cli->target, &opts);

	cli_drop_privileges();
	return status == KW_OK;
}

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

static bool wants_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

int cli_writer(struct cli *cli, const struct kw_column *columns, size_t nr, bool tree, kw_writer **ret)
{
	struct kw_writer_options opts = {
		.size = sizeof(opts),
		.format = cli->format,
		.no_headers = cli->no_headers,
		.tree = tree,
		.colour = wants_colour(),
		.width = terminal_width(),
	};
	kw_status status = kw_writer_begin(cli->ctx, stdout, &opts, columns, nr, ret);

	return status ? cli_fail(cli, status) : EXIT_OK;
}

int cli_writer_end(struct cli *cli, kw_writer *writer, int code)
{
	kw_status status = kw_writer_end(writer);

	if (!status)
		return code;
	cli_fail(cli, status);
	return code ? code : EXIT_INCOMPLETE;
}

struct kw_value cli_text(const char *text)
{
	return (struct kw_value){ .type = KW_VAL_STRING, .len = (uint32_t)strlen(text), .str = text };
}

bool cli_number(const char *text, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *ret > 0;
}

static void print_cost(struct cli *cli)
{
	const struct kw_counters *c = kw_counters(cli->ctx);
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr,
		"kwalk: %llu preads, %llu bytes; %llu page-table walks; %llu cache hits; %llu failed pages; "
		"%ld page faults\n",
		(unsigned long long)c->preads, (unsigned long long)c->pread_bytes,
		(unsigned long long)c->walks, (unsigned long long)c->cache_hits,
		(unsigned long long)c->faults, usage.ru_minflt + usage.ru_majflt);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int run_help(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;

	if (name && !command)
		return cli_usage(NULL, "unknown command \"%s\"", name);
	print_help(command);
	return EXIT_OK;
}

/* Write out what is left. A failure that nobody has told of yet is told, whatever was printed: help as well. */
static int finish(int code)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (code != EXIT_OK)
		return code;
	fprintf(stderr, "kwalk: writing the output: %s\n", errno ? strerror(errno) : "failed");
	return EXIT_INCOMPLETE;
}

static int run(int argc, char **argv)
{
	struct cli cli = { 0 };
	const struct command *command;
	int option, code;

	while ((option = getopt_long(argc, argv, "+" GLOBAL_SHORT, global_options, NULL)) != -1)
		if (!cli_option(&cli, NULL, option, &code))
			return code;
	if (optind == argc)
		return cli_usage(NULL, "no command given");
	if (strcmp(argv[optind], "help") == 0)
		return run_help(argv[optind + 1]);
	command = find_command(argv[optind]);
	if (!command)
		return cli_usage(NULL, "unknown command \"%s\"", argv[optind]);
	argc -= optind;
	argv += optind;
	argv[0] = "kwalk";
	optind = 0;
	code = command->run(&cli, argc, argv);
	tell_forced(&cli);
	if (cli.verbose && cli.ctx && code != EXIT_USAGE && code != EXIT_UNREADABLE)
		print_cost(&cli);
	kw_free(cli.ctx);
	return code;
}

int main(int argc, char **argv)
{
	return finish(run(argc, argv));
}
