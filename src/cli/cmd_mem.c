/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk mem: what memory is used for, a row for each line of /proc/meminfo. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define MAX_FIELDS 128

struct memory {
	struct cli *cli;
	const struct kw_field *field[MAX_FIELDS];
	size_t nr;
	int code;
};

static bool is_memory(const struct kw_field *field)
{
	return (field->unit == KW_UNIT_BYTES && strcmp(field->name, "page_size") != 0) ||
	       strncmp(field->name, "hugepages_", 10) == 0;
}

/* The label of /proc/meminfo is the first alias. */
static struct kw_value label(const struct kw_field *field)
{
	return (struct kw_value){ .type = KW_VAL_STRING,
				  .len = (uint32_t)strcspn(field->aliases, ","),
				  .str = field->aliases };
}

static bool print_fields(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	static const struct kw_column columns[] = {
		{ "name", "NAME", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "bytes", "KIB", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB },
		{ "pages", "PAGES", KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN },
		{ "help", "MEANING", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	};
	static const struct kw_value none = { .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
	struct memory *memory = arg;
	kw_writer *writer;

	(void)row;
	memory->code = cli_writer(memory->cli, columns, 4, false, &writer);
	if (memory->code)
		return false;
	for (size_t i = 0; i < memory->nr; i++) {
		const struct kw_field *field = memory->field[i];
		bool bytes = field->unit == KW_UNIT_BYTES;
		struct kw_value out[] = { label(field), bytes ? values[i] : none, bytes ? none : values[i],
					  cli_text(field->help) };

		/* Lines that this kernel does not have are left out. */
		if (values[i].type != KW_VAL_ABSENT)
			kw_writer_row(writer, out, 0);
	}
	memory->code = cli_writer_end(memory->cli, writer, EXIT_OK);
	return true;
}

static int list(struct cli *cli)
{
	struct kw_query_options options = { .size = sizeof(options), .source = "system" };
	struct memory memory = { .cli = cli };
	char columns[MAX_FIELDS * 24] = "";
	const struct kw_field *field;
	kw_query *query;
	kw_status status;

	for (size_t i = 0; (field = kw_field_at("system", i)); i++) {
		if (!is_memory(field) || memory.nr == MAX_FIELDS)
			continue;
		snprintf(columns + strlen(columns), sizeof(columns) - strlen(columns), "%s%s",
			 memory.nr ? "," : "", field->name);
		memory.field[memory.nr++] = field;
	}
	options.columns = columns;
	status = kw_query_new(cli->ctx, &options, &query);
	if (status)
		return cli_fail(cli, status);
	status = kw_query_run(query, print_fields, &memory);
	kw_query_free(query);
	return status ? cli_fail(cli, status) : memory.code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		GLOBAL_LONG,
		{ "counters", no_argument, NULL, 'c' },
		{ "zones", no_argument, NULL, 'z' },
		{ "slabs", no_argument, NULL, 's' },
		{ 0 },
	};
	struct kw_query_options query = { .size = sizeof(query) };
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "czs", options, NULL)) != -1) {
		switch (option) {
		case 'c': query.source = "vmstat"; break;
		case 'z': query.source = "zones"; break;
		case 's':
			query.source = "slabs";
			query.sort = "-size";
			break;
		default:
			if (!cli_option(cli, &cmd_mem, option, &code))
				return code;
		}
	}
	if (optind < argc)
		return cli_usage(&cmd_mem, "unexpected argument \"%s\"", argv[optind]);
	code = cli_open(cli);
	if (code)
		return code;
	return query.source ? cli_rows(cli, &query, false) : list(cli);
}

const struct command cmd_mem = {
	"mem",
	run,
	"tell what memory is used for",
	"Usage: kwalk mem [-c | -z | -s]\n"
	"\n"
	"Tells what memory is used for, line by line as /proc/meminfo does.\n"
	"\n"
	"  -c, --counters        the counters of the memory manager, as in /proc/vmstat, and\n"
	"                        with what the CPUs have not handed in yet\n"
	"  -z, --zones           the zones of each node\n"
	"  -s, --slabs           the kernel's caches of objects, the biggest first\n",
};
