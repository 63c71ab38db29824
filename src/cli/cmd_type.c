/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk type: the layout of a type. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* The words of an unquoted `kwalk type struct task_struct` belong together. */
static void join_words(char *buf, size_t size, int nr, char **words)
{
	buf[0] = '\0';
	for (int i = 0; i < nr; i++) {
		size_t len = strlen(buf);

		snprintf(buf + len, size - len, "%s%s", i ? " " : "", words[i]);
	}
}

static int run(struct cli *cli, int argc, char **argv)
{
	const struct kw_type *type;
	char name[512];
	kw_status status;
	int code;

	if (!cli_options_only(cli, &cmd_type, argc, argv, &code))
		return code;
	if (optind == argc)
		return cli_usage(&cmd_type, "no type given");
	join_words(name, sizeof(name), argc - optind, argv + optind);
	code = cli_open(cli);
	if (code)
		return code;
	status = kw_type_find(cli->ctx, name, &type);
	if (!status)
		status = kw_print_type(cli->ctx, stdout, type);
	if (status == KW_NOTFOUND) {
		cli_fail(cli, status);
		return EXIT_NO_MATCH;
	}
	return status ? cli_fail(cli, status) : EXIT_OK;
}

const struct command cmd_type = {
	"type",
	run,
	"show the layout of a type",
	"Usage: kwalk type NAME\n"
	"\n"
	"Shows a type of the target's kernel with offsets, sizes and holes, as in\n"
	"`kwalk type struct task_struct`, `kwalk type pid_t`, `kwalk type enum pid_type`.\n"
	"The output is C-like text in all formats.\n",
};
