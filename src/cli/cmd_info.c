/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk info: what the target is, how each part of it is read, where knowledge came from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *kind_name(enum kw_segment_kind kind)
{
	static const char *const names[] = { "text", "ram", "vmalloc", "modules", "vmemmap", "other" };

	return names[kind];
}

static struct kw_value address(uint64_t addr)
{
	if (addr == KW_NO_ADDR)
		return (struct kw_value){ .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
	return (struct kw_value){ .type = KW_VAL_ADDRESS, .u = addr };
}

static const char *how_read(const struct kw_segment *segment, char *buf, size_t size)
{
	if (segment->map && !segment->device)
		return "mapped";
	if (segment->map)
		snprintf(buf, size, "mapped (%s)", segment->device);
	else if (segment->why)
		snprintf(buf, size, "pread (mmap: %s)", strerror(segment->why));
	else
		snprintf(buf, size, "pread");
	return buf;
}

static int print_segments(struct cli *cli)
{
	static const struct kw_column columns[] = {
		{ "virtual", "VIRTUAL", KW_VAL_ADDRESS, KW_UNIT_NONE, KW_SHOW_HEX },
		{ "physical", "PHYSICAL", KW_VAL_ADDRESS, KW_UNIT_NONE, KW_SHOW_HEX },
		{ "size", "KIB", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB },
		{ "kind", "KIND", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "read", "READ BY", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	};
	size_t nr;
	const struct kw_segment *segments = kw_segments(cli->ctx, &nr);
	kw_writer *writer;
	int code = cli_writer(cli, columns, 5, false, &writer);
	char how[128];

	for (size_t i = 0; !code && i < nr; i++) {
		const struct kw_segment *s = &segments[i];
		struct kw_value row[] = {
			address(s->vaddr),
			address(s->paddr),
			{ .type = KW_VAL_UINT, .u = s->size },
			cli_text(kind_name(s->kind)),
			cli_text(how_read(s, how, sizeof(how))),
		};

		kw_writer_row(writer, row, 0);
	}
	return code ? code : cli_writer_end(cli, writer, EXIT_OK);
}

static int print_facts(struct cli *cli)
{
	static const struct kw_column columns[] = {
		{ "topic", "TOPIC", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "name", "NAME", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "value", "VALUE", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	};
	struct kw_fact *facts;
	size_t nr;
	kw_status status = kw_facts(cli->ctx, &facts, &nr);
	kw_writer *writer;
	int code;

	if (status)
		return cli_fail(cli, status);
	code = cli_writer(cli, columns, 3, false, &writer);
	for (size_t i = 0; !code && i < nr; i++) {
		struct kw_value row[] = { cli_text(facts[i].topic), cli_text(facts[i].name),
					  cli_text(facts[i].value) };

		kw_writer_row(writer, row, 0);
	}
	free(facts);
	return code ? code : cli_writer_end(cli, writer, EXIT_OK);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { GLOBAL_LONG, { "segments", no_argument, NULL, 's' }, { 0 } };
	bool segments = false;
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "s", options, NULL)) != -1) {
		if (option == 's')
			segments = true;
		else if (!cli_option(cli, &cmd_info, option, &code))
			return code;
	}
	if (optind < argc)
		return cli_usage(&cmd_info, "unexpected argument \"%s\"", argv[optind]);
	code = cli_open(cli);
	if (code)
		return code;
	return segments ? print_segments(cli) : print_facts(cli);
}

const struct command cmd_info = {
	"info",
	run,
	"tell what the target is and how it is read",
	"Usage: kwalk info [-s]\n"
	"\n"
	"Tells what the target is, which kernel is in it, where symbols and types came\n"
	"from, and how long finding each took.\n"
	"\n"
	"  -s, --segments        list the segments of memory instead: where each lies and\n"
	"                        whether it is mapped or read with pread, and why\n",
};
