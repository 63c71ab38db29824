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

static const struct kw_column member_columns[] = {
	{ "offset", "OFFSET", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_PLAIN },
	{ "size", "SIZE", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_PLAIN },
	{ "bit_offset", "BIT", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "bit_size", "BITS", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "type", "TYPE", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "name", "NAME", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
};

static const struct kw_column enumerator_columns[] = {
	{ "value", "VALUE", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "name", "NAME", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
};

static struct kw_value number(uint64_t u)
{
	return (struct kw_value){ .type = KW_VAL_UINT, .u = u };
}

static struct kw_value not_applicable(void)
{
	return (struct kw_value){ .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
}

/* A row for each member as declared; an anonymous one has no name. */
static void put_member(struct cli *cli, const struct kw_member *m, kw_writer *writer)
{
	char type[256];
	struct kw_value row[] = {
		number(m->bit_offset / 8),
		number(kw_type_size(cli->ctx, m->type)),
		m->bit_size ? number(m->bit_offset % 8) : not_applicable(),
		m->bit_size ? number(m->bit_size) : not_applicable(),
		not_applicable(),
		m->name[0] ? cli_text(m->name) : not_applicable(),
	};

	kw_type_name(cli->ctx, m->type, type, sizeof(type));
	row[4] = cli_text(type);
	kw_writer_row(writer, row, 0);
}

static void put_enumerator(const char *name, int64_t value, kw_writer *writer)
{
	struct kw_value row[] = { { .type = KW_VAL_INT, .i = value }, cli_text(name) };

	kw_writer_row(writer, row, 0);
}

/* The machine formats: the members of a structure or the enumerators of an enum, typedefs followed. */
static int print_rows(struct cli *cli, const struct kw_type *named)
{
	const struct kw_type *type = kw_type_strip(cli->ctx, named);
	bool is_enum = type->kind == KW_TYPE_ENUM;
	struct kw_member member;
	const char *name;
	kw_writer *writer;
	int64_t value;
	int code;

	if (!is_enum && type->kind != KW_TYPE_STRUCT && type->kind != KW_TYPE_UNION)
		return cli_usage(&cmd_type,
				 "%s: only structures, unions and enums have rows; leave --format out",
				 named->name);
	code = cli_writer(cli, is_enum ? enumerator_columns : member_columns, is_enum ? 2 : 6, false,
			  &writer);
	for (uint32_t i = 0; !code && i < type->count; i++) {
		if (is_enum && kw_enumerator_at(cli->ctx, type, i, &name, &value) == KW_OK)
			put_enumerator(name, value, writer);
		else if (!is_enum && kw_type_member_at(cli->ctx, type, i, &member) == KW_OK)
			put_member(cli, &member, writer);
	}
	return code ? code : cli_writer_end(cli, writer, EXIT_OK);
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
	if (!status && cli->format != KW_FORMAT_TABLE)
		return print_rows(cli, type);
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
	"In other formats than table: a row for each member, or for each enumerator.\n",
};
