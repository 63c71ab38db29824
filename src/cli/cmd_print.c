/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk print: a kernel object, or a value in one. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"

enum { OPT_DEPTH = OPT_COMMAND };

static void print_value(const struct kw_object *object, FILE *out)
{
	const struct kw_value *v = &object->value;

	switch (v->type) {
	case KW_VAL_STRING: kw_put_safe(out, v->str, v->len); break;
	case KW_VAL_BYTES:
		for (uint32_t i = 0; i < v->len; i++)
			fprintf(out, "%02x", (unsigned char)v->str[i]);
		break;
	case KW_VAL_INT: fprintf(out, "%" PRId64, v->i); break;
	case KW_VAL_BOOL: fputs(v->u ? "true" : "false", out); break;
	case KW_VAL_ADDRESS: fprintf(out, "0x%" PRIx64, v->u); break;
	default: fprintf(out, "%" PRIu64, v->u);
	}
	fputc('\n', out);
}

/* Structures, enums and everything in JSON are printed from the type; plain values as such. */
static bool is_plain(const struct cli *cli, const struct kw_object *object)
{
	return object->is_value && cli->format == KW_FORMAT_TABLE && object->value.type != KW_VAL_ENUM &&
	       object->value.type != KW_VAL_ABSENT;
}

static int print_one(struct cli *cli, const char *expr, const struct kw_print_options *opts)
{
	struct kw_object object;
	kw_status status = kw_object_find(cli->ctx, expr, &object);

	if (status == KW_NOTFOUND || status == KW_ABSENT) {
		cli_fail(cli, status);
		return EXIT_NO_MATCH;
	}
	if (status)
		return cli_fail(cli, status);
	if (is_plain(cli, &object)) {
		print_value(&object, stdout);
		return EXIT_OK;
	}
	status = kw_print_object(cli->ctx, stdout, object.type, object.address, opts);
	return status ? cli_fail(cli, status) : EXIT_OK;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { GLOBAL_LONG,
						 { "depth", required_argument, NULL, OPT_DEPTH },
						 { 0 } };
	struct kw_print_options opts = { .size = sizeof(opts) };
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT, options, NULL)) != -1) {
		if (option == OPT_DEPTH) {
			if (sscanf(optarg, "%u", &opts.depth) != 1 || !opts.depth)
				return cli_usage(&cmd_print, "--depth %s: expected a number above 0", optarg);
		} else if (!cli_option(cli, &cmd_print, option, &code)) {
			return code;
		}
	}
	if (optind == argc)
		return cli_usage(&cmd_print, "no expression given");
	opts.json = cli->format == KW_FORMAT_JSON || cli->format == KW_FORMAT_JSONL;
	code = cli_open(cli);
	if (code)
		return code;
	for (int i = optind; i < argc; i++) {
		int one = print_one(cli, argv[i], &opts);

		code = one ? one : code;
	}
	return code;
}

const struct command cmd_print = {
	"print",
	run,
	"print a kernel object or a value in it",
	"Usage: kwalk print EXPR...\n"
	"\n"
	"Prints a structure member by member, or a single value; with --format json as\n"
	"JSON. An expression that fails is told, and the others are printed.\n"
	"\n"
	"  EXPR is a symbol, an address, per_cpu(SYMBOL, CPU) or task(PID), and a path of\n"
	"  members; [0] behind a pointer is what it points to. A cast in front gives the\n"
	"  type where kwalk does not know it:\n"
	"\n"
	"    kwalk print init_task.comm\n"
	"    kwalk print 'task(1).mm->map_count'\n"
	"    kwalk print 'task(1).mm[0]'\n"
	"    kwalk print '(struct list_head)modules'\n"
	"    kwalk print 'per_cpu(runqueues, 0).nr_running'\n"
	"    kwalk print '(struct task_struct)0xffff888003a4c000.pid'\n"
	"\n"
	"      --depth N         structures inside structures to this depth (default 4)\n",
};
