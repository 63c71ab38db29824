/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kwalk check: what a file is, what it holds and lacks, whether a kernel is in it, and what would work.
 *
 * Nothing is concluded that can be tried: each source is walked, and each of its fields is fetched from some rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define PAGE	    4096
#define SAMPLE	    200 /* rows of which all fields are fetched */
#define MAX_FIELDS  512 /* of a source */
#define MAX_NAMES   12	/* that are told of those that can't be had */
#define DETAIL_SIZE 2048

enum result { NONE, GOOD, PARTLY, BAD };

struct check {
	struct cli *cli;
	kw_writer *writer;
	bool read;
	bool incomplete; /* something is missing that should be there */
	bool no_tasks;
};

static struct kw_value text_or_none(const char *text)
{
	return text && *text ? cli_text(text)
			     : (struct kw_value){ .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
}

static void put(struct check *c, const char *topic, const char *name, enum result result, uint64_t count,
		const char *detail)
{
	static const char *const results[] = { NULL, "ok", "partly", "no" };
	struct kw_value row[] = {
		cli_text(topic),
		cli_text(name),
		text_or_none(results[result]),
		{ .type = KW_VAL_UINT, .u = count },
		text_or_none(detail),
	};

	if (count == UINT64_MAX)
		row[3] = text_or_none(NULL);
	kw_writer_row(c->writer, row, 0);
}

/* The file */

static void put_file(struct check *c)
{
	const char *trouble = kw_trouble(c->cli->ctx);
	struct kw_fact *facts;
	size_t nr;

	if (kw_facts(c->cli->ctx, &facts, &nr) != KW_OK)
		return;
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(facts[i].topic, "target") && !strcmp(facts[i].name, "kind"))
			put(c, "file", "kind", GOOD, UINT64_MAX, facts[i].value);
	free(facts);
	put(c, "file", "whole", trouble ? PARTLY : GOOD, UINT64_MAX, trouble);
	if (kw_left_out(c->cli->ctx))
		put(c, "file", "left_out", NONE, UINT64_MAX, kw_left_out(c->cli->ctx));
	c->incomplete |= trouble != NULL;
}

static void put_counts(struct check *c, const char *topic, uint64_t start, uint64_t end)
{
	struct kw_memory_counts counts;

	if (kw_count_memory(c->cli->ctx, start, end, c->read, &counts) != KW_OK)
		return;
	put(c, topic, "present", NONE, counts.present / PAGE, "pages that are there");
	put(c, topic, "excluded", NONE, counts.excluded / PAGE, "pages left out when the dump was made");
	put(c, topic, "failed", counts.failed ? BAD : GOOD, counts.failed / PAGE, "pages that are lost");
	c->incomplete |= counts.failed != 0;
}

/* All memory, and of it the kernel's image, without which there is no beginning. */
static void put_memory(struct check *c)
{
	uint64_t start = UINT64_MAX, end = 0;
	size_t nr;
	const struct kw_segment *segments = kw_segments(c->cli->ctx, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct kw_segment *s = &segments[i];

		if (s->kind != KW_SEG_TEXT || s->paddr == KW_NO_ADDR)
			continue;
		start = s->paddr < start ? s->paddr : start;
		end = s->paddr + s->size > end ? s->paddr + s->size : end;
	}
	put_counts(c, "memory", 0, UINT64_MAX);
	if (start < end)
		put_counts(c, "image", start, end);
}

/* The kernel */

static void put_kernel(struct check *c)
{
	struct kw_fact *facts;
	size_t nr;

	if (kw_facts(c->cli->ctx, &facts, &nr) != KW_OK)
		return;
	for (size_t i = 0; i < nr; i++) {
		bool is_kernel = !strcmp(facts[i].topic, "kernel"),
		     is_origin = !strcmp(facts[i].name, "origin");

		if (is_kernel && (!strcmp(facts[i].name, "release") || !strcmp(facts[i].name, "vmcoreinfo")))
			put(c, "kernel", facts[i].name, GOOD, UINT64_MAX, facts[i].value);
		else if (is_kernel && !strcmp(facts[i].name, "layouts"))
			put(c, "kernel", "layouts", BAD, UINT64_MAX, facts[i].value);
		else if (is_origin)
			put(c, facts[i].topic, "found", facts[i].found ? GOOD : BAD, UINT64_MAX,
			    facts[i].value);
	}
	free(facts);
}

/* What would work */

/* One source: its fields that this kernel has, and in how many rows of the sample each could not be had. */
struct trial {
	const struct kw_field *field[MAX_FIELDS];
	uint64_t missing[MAX_FIELDS];
	enum kw_absent why[MAX_FIELDS];
	size_t nr;
	uint64_t rows;
};

static bool is_missing(const struct kw_value *value)
{
	return value->type == KW_VAL_ABSENT &&
	       (value->absent == KW_ABSENT_NOT_IN_DUMP || value->absent == KW_ABSENT_UNREADABLE ||
		value->absent == KW_ABSENT_UNMAPPED);
}

static bool look_at_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct trial *t = arg;

	(void)row;
	t->rows++;
	for (size_t i = 0; i < t->nr; i++) {
		if (!is_missing(&values[i]))
			continue;
		t->missing[i]++;
		t->why[i] = values[i].absent;
	}
	return true;
}

static bool count_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)values;
	(void)row;
	++*(uint64_t *)arg;
	return true;
}

/* The names of all fields that this kernel has, separated by commas; to be freed. */
static char *choose_fields(struct check *c, const struct kw_source *source, struct trial *t)
{
	enum kw_scope other = strcmp(source->name, "threads") == 0 ? KW_SCOPE_TASK : KW_SCOPE_THREAD;
	char *names = calloc(MAX_FIELDS, 64), *at = names;
	const struct kw_field *f;

	for (size_t i = 0; names && (f = kw_field_at(source->name, i)) && t->nr < MAX_FIELDS; i++) {
		if (f->scope == other || strlen(f->name) > 60 ||
		    kw_field_available(c->cli->ctx, source->name, f) != KW_OK)
			continue;
		at += sprintf(at, "%s%s", t->nr ? "," : "", f->name);
		t->field[t->nr++] = f;
	}
	return names;
}

static kw_status run_query(struct check *c, const struct kw_query_options *options, kw_row_fn fn, void *arg,
			   uint64_t *ret_listed)
{
	kw_query *query;
	kw_status status = kw_query_new(c->cli->ctx, options, &query);

	if (status != KW_OK)
		return status;
	status = kw_query_run(query, fn, arg);
	*ret_listed = kw_query_counts(query)->listed;
	kw_query_free(query);
	return status;
}

/* Fields of which some values could not be had, and why that of the first was. */
static void tell_missing(const struct trial *t, char *detail)
{
	size_t len = strlen(detail), nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		if (!t->missing[i] || nr++ >= MAX_NAMES)
			continue;
		if (nr == 1)
			len += (size_t)sprintf(detail + len, "%s%s:", len ? "; " : "",
					       kw_absent_text(t->why[i]));
		len += (size_t)sprintf(detail + len, "%s %s%s", nr > 1 ? "," : "", t->field[i]->name,
				       t->missing[i] == t->rows ? "" : " (some rows)");
	}
	if (nr > MAX_NAMES)
		sprintf(detail + len, ", and %zu more", nr - MAX_NAMES);
}

static void try_source(struct check *c, const struct kw_source *source)
{
	struct trial *t = calloc(1, sizeof(*t));
	char *names = t ? choose_fields(c, source, t) : NULL, detail[DETAIL_SIZE] = "";
	struct kw_query_options options = { .size = sizeof(options),
					    .source = source->name,
					    .columns = source->columns };
	enum result result = GOOD;
	uint64_t rows = 0, listed = 0;
	kw_status status = names && t->nr ? run_query(c, &options, count_row, &rows, &listed) : KW_NOTFOUND;

	if (status != KW_OK && status != KW_INCOMPLETE) {
		result = BAD;
		snprintf(detail, sizeof(detail), "%s",
			 status == KW_NOTFOUND ? "this kernel has none of its fields"
					       : kw_error(c->cli->ctx));
	} else {
		if (listed)
			strcpy(detail, "the PID table is not whole: by the list of processes");
		else if (status == KW_INCOMPLETE)
			strcpy(detail, "some rows can't be read");
		options.columns = names;
		options.limit = SAMPLE;
		run_query(c, &options, look_at_row, t, &listed);
		tell_missing(t, detail);
		result = *detail ? PARTLY : GOOD;
	}
	put(c, "source", source->name, result, rows, detail);
	/* A source that this kernel does not have is not missing. */
	c->incomplete |= status == KW_INCOMPLETE;
	c->no_tasks |= result == BAD && !strcmp(source->name, "tasks");
	free(names);
	free(t);
}

static void put_sources(struct check *c)
{
	const struct kw_source *source;

	for (size_t i = 0; (source = kw_source_at(i)); i++)
		try_source(c, source);
}

static int begin(struct check *c)
{
	static const struct kw_column columns[] = {
		{ "topic", "TOPIC", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "name", "NAME", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "result", "RESULT", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "count", "COUNT", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN },
		{ "detail", "DETAIL", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	};

	return cli_writer(c->cli, columns, 5, false, &c->writer);
}

/* No kernel can be found in it: tell what it is, and why. The message has been printed. */
static int check_memory(struct check *c)
{
	char *why = strdup(kw_error(c->cli->ctx));
	int code = EXIT_UNREADABLE;

	if (why && cli_open_memory(c->cli) && !begin(c)) {
		put_file(c);
		put_memory(c);
		put(c, "kernel", "found", BAD, UINT64_MAX, why);
		code = cli_writer_end(c->cli, c->writer, EXIT_UNREADABLE);
	}
	free(why);
	return code;
}

static int check(struct check *c)
{
	int code = cli_open(c->cli);

	if (code)
		return check_memory(c);
	code = begin(c);
	if (code)
		return code;
	put_file(c);
	put_memory(c);
	put_kernel(c);
	put_sources(c);
	return cli_writer_end(c->cli, c->writer,
			      c->no_tasks     ? EXIT_UNREADABLE
			      : c->incomplete ? EXIT_INCOMPLETE
					      : EXIT_OK);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { GLOBAL_LONG, { "read", no_argument, NULL, 'r' }, { 0 } };
	struct check c = { .cli = cli };
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "r", options, NULL)) != -1) {
		if (option == 'r')
			c.read = true;
		else if (!cli_option(cli, &cmd_check, option, &code))
			return code;
	}
	if (optind + 1 < argc || (optind < argc && cli->target))
		return cli_usage(&cmd_check, "unexpected argument \"%s\"", argv[argc - 1]);
	if (optind < argc)
		cli->target = argv[optind];
	return check(&c);
}

const struct command cmd_check = {
	"check",
	run,
	"tell what a dump holds and what would work",
	"Usage: kwalk check [-r] [TARGET]\n"
	"\n"
	"Tells what a dump, or any other target, is; how many of its pages are present,\n"
	"excluded and lost; whether a kernel is in it, with symbols and types; and which\n"
	"sources of rows can be read from it, with the fields that can't. Ends with 0 when\n"
	"nothing is missing that should be there, 4 when something is, 3 when no\n"
	"processes can be listed.\n"
	"\n"
	"  -r, --read            read and unpack every page, instead of believing the\n"
	"                        file's own tables\n",
};
