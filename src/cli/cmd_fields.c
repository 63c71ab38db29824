/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk fields: the catalogue of fields. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct kw_column columns[] = {
	{ "name", "NAME", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "aliases", "ALIASES", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "type", "TYPE", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "unit", "UNIT", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "scope", "SCOPE", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "cost", "COST", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "available", "HERE", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "origin", "ORIGIN", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "help", "MEANING", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
};

static const char *scope_name(enum kw_scope scope)
{
	return scope == KW_SCOPE_BOTH ? "tasks,threads" : scope == KW_SCOPE_TASK ? "tasks" : "threads";
}

static const char *cost_name(enum kw_cost cost)
{
	static const char *const names[] = { "object", "pointer", "threads", "per-cpu", "walk" };

	return names[cost];
}

static struct kw_value text_or_absent(const char *text)
{
	if (!*text)
		return (struct kw_value){ .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
	return cli_text(text);
}

static struct kw_value availability(struct cli *cli, bool open, const char *source,
				    const struct kw_field *field)
{
	if (!open)
		return text_or_absent("");
	return cli_text(kw_field_available(cli->ctx, source, field) == KW_OK ? "yes" : kw_error(cli->ctx));
}

static void print_source(struct cli *cli, bool open, const char *source, kw_writer *writer)
{
	enum kw_scope scope = strcmp(source, "threads") == 0 ? KW_SCOPE_THREAD : KW_SCOPE_TASK | KW_SCOPE_ROW;
	const struct kw_field *f;

	for (size_t i = 0; (f = kw_field_at(source, i)); i++) {
		struct kw_value row[] = {
			cli_text(f->name),
			text_or_absent(f->aliases),
			cli_text(kw_value_type_name(f->type)),
			text_or_absent(kw_unit_name(f->unit)),
			cli_text(f->scope == KW_SCOPE_ROW ? source : scope_name(f->scope)),
			cli_text(cost_name(f->cost)),
			availability(cli, open, source, f),
			cli_text(f->origin),
			cli_text(f->help),
		};

		if (f->scope & scope)
			kw_writer_row(writer, row, 0);
	}
}

static int print_fields(struct cli *cli, bool open, const char *wanted)
{
	const struct kw_source *source;
	kw_writer *writer;
	int code = cli_writer(cli, columns, sizeof(columns) / sizeof(columns[0]), false, &writer);

	if (code)
		return code;
	for (size_t i = 0; (source = kw_source_at(i)); i++)
		/* Fields that tasks and threads share are told once. */
		if (wanted ? strcmp(source->name, wanted) == 0 : strcmp(source->name, "threads") != 0)
			print_source(cli, open, source->name, writer);
	return code ? code : cli_writer_end(cli, writer, EXIT_OK);
}

/* The catalogue itself needs no target: where none was named and the live kernel can't be read, HERE stays empty. */
static int run(struct cli *cli, int argc, char **argv)
{
	const char *source = NULL;
	bool open = false;
	int code;

	if (!cli_options_only(cli, &cmd_fields, argc, argv, &code))
		return code;
	if (optind < argc) {
		source = argv[optind];
		if (!kw_source_find(source))
			return cli_unknown_source(&cmd_fields, source);
		if (optind + 1 < argc)
			return cli_usage(&cmd_fields, "unexpected argument \"%s\"", argv[optind + 1]);
	}
	if (cli->target) {
		code = cli_open(cli);
		if (code)
			return code;
		open = true;
	} else {
		struct kw_open_options opts = { .size = sizeof(opts),
						.symbols = cli->symbols,
						.no_mmap = cli->no_mmap };

		cli->ctx = kw_new();
		open = cli->ctx && kw_open(cli->ctx, NULL, &opts) == KW_OK;
	}
	return print_fields(cli, open, source);
}

const struct command cmd_fields = {
	"fields",
	run,
	"list the fields that can be asked for",
	"Usage: kwalk fields [SOURCE]\n"
	"\n"
	"Lists every field with its aliases, type, unit (as JSON shows it), cost, whether\n"
	"the target's kernel has it or what is missing, origin in the kernel, meaning.\n"
	"The list itself needs no target.\n",
};
