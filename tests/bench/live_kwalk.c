/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kwalk on the live kernel, mapped or by pread alone, or on a file: queries run again and again.
 *
 * ARG is, for a file, its path and a colon; then the columns to ask for, of processes or after SOURCE/ of another source;
 * anew/ in front of them: of processes, and each pass makes all rows anew. Several such queries with + between them make
 * one pass.
 */
#include "live.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <kwalk/kwalk.h>

enum { MAX_QUERIES = 4 };

struct live_kwalk {
	kw_ctx *ctx;
	kw_query *query[MAX_QUERIES];
	size_t queries;
	size_t columns; /* of the query that runs */
	struct totals totals;
	FILE *out;
};

/* Of a context that is kept for the message's sake: a program that could not open it ends soon. */
static const char *complaint(const struct live_kwalk *k)
{
	return k->ctx ? kw_error(k->ctx) : "out of memory";
}

static kw_status add_query(struct live_kwalk *k, char *text)
{
	struct kw_query_options query = { .size = sizeof(query), .columns = text };
	char *slash = strchr(text, '/');

	if (slash) {
		*slash = 0;
		query.anew = strcmp(text, "anew") == 0;
		query.source = query.anew ? NULL : text;
		query.columns = slash + 1;
	}
	return kw_query_new(k->ctx, &query, &k->query[k->queries++]);
}

static kw_status add_queries(struct live_kwalk *k, const char *arg)
{
	kw_status status = KW_OK;
	char *text = strdup(arg);

	if (!text)
		die("out of memory");
	for (char *one = strtok(text, "+"); one && !status && k->queries < MAX_QUERIES;
	     one = strtok(NULL, "+"))
		status = add_query(k, one);
	free(text);
	return status;
}

static const char *open_kwalk(struct way *way, const char *target, const char *queries, bool no_mmap)
{
	struct kw_open_options options = { .size = sizeof(options), .no_mmap = no_mmap };
	struct live_kwalk *k = calloc(1, sizeof(*k));

	if (!k)
		die("out of memory");
	k->ctx = kw_new();
	if (!k->ctx || kw_open(k->ctx, target, &options) || add_queries(k, queries))
		return complaint(k);
	kw_pass_begin(k->ctx); /* of which each of the program's passes renews what was read */
	way->state = k;
	return NULL;
}

/* Whether all RAM is mapped; else why the first part of it that isn't could not be. */
static const char *why_not_mapped(kw_ctx *ctx)
{
	static char text[128];
	size_t nr;
	const struct kw_segment *segments = kw_segments(ctx, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (segments[i].kind != KW_SEG_RAM || segments[i].map)
			continue;
		snprintf(text, sizeof(text), "RAM is not mapped: %s",
			 segments[i].why ? strerror(segments[i].why) : "kwalk did not try");
		return text;
	}
	return NULL;
}

static const char *open_mapped(struct way *way)
{
	const char *why = open_kwalk(way, "live", way->arg, false);

	return why ? why : why_not_mapped(((struct live_kwalk *)way->state)->ctx);
}

static const char *open_pread(struct way *way)
{
	return open_kwalk(way, "live", way->arg, true);
}

static const char *open_file(struct way *way)
{
	char *path = strdup(way->arg), *colon = path ? strchr(path, ':') : NULL;

	if (!colon)
		die("%s: a file needs PATH:COLUMNS", way->label);
	*colon = 0;
	return open_kwalk(way, path, colon + 1, false); /* path stays: so may the error's text */
}

static bool add_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct live_kwalk *k = arg;
	uint64_t sum = 0;

	(void)row;
	k->totals.rows++;
	for (const struct kw_value *v = values, *end = values + k->columns; v < end; v++)
		if (v->type == KW_VAL_STRING)
			sum += v->len ? (unsigned char)v->str[0] : 0;
		else if (v->type != KW_VAL_ABSENT)
			sum += v->u;
	k->totals.values += sum;
	return true;
}

static void run(struct live_kwalk *k, kw_row_fn fn)
{
	k->totals = (struct totals){ 0 };
	kw_pass_renew(k->ctx);
	for (size_t i = 0; i < k->queries; i++) {
		kw_status status;

		kw_query_columns(k->query[i], &k->columns);
		status = kw_query_run(k->query[i], fn, k);
		if (status != KW_OK && status != KW_INCOMPLETE)
			die("kwalk: %s", kw_error(k->ctx));
	}
}

static struct totals pass(struct way *way)
{
	struct live_kwalk *k = way->state;

	run(k, add_row);
	return k->totals;
}

static void write_value(FILE *out, const struct kw_value *value)
{
	switch (value->type) {
	case KW_VAL_ABSENT: fputs("-", out); break;
	case KW_VAL_STRING: write_text(out, value->str, value->len); break;
	case KW_VAL_INT: fprintf(out, "%" PRId64, value->i); break;
	case KW_VAL_FLOAT: fprintf(out, "%.17g", value->f); break;
	default: fprintf(out, "%" PRIu64, value->u); break;
	}
}

static bool write_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct live_kwalk *k = arg;

	fprintf(k->out, "%d", row->pid);
	for (size_t i = 0; i < k->columns; i++) {
		fputc('\t', k->out);
		write_value(k->out, &values[i]);
	}
	fputc('\n', k->out);
	return true;
}

/* With a line that says how a pass reads. What is remembered from pass to pass is what is compared. */
static void list(struct way *way, FILE *out)
{
	struct live_kwalk *k = way->state;
	struct kw_counters before, after;

	run(k, add_row);
	run(k, add_row);
	before = *kw_counters(k->ctx);
	k->out = out;
	run(k, write_row);
	after = *kw_counters(k->ctx);
	fprintf(out, "note %s %" PRIu64 " read calls with %" PRIu64 " bytes, %" PRIu64 " faults in a pass\n",
		way->label, after.preads - before.preads, after.pread_bytes - before.pread_bytes,
		after.faults - before.faults);
}

const struct kind kwalk_mapped = { "kwalk-mapped", open_mapped, pass, list };
const struct kind kwalk_file = { "kwalk-file", open_file, pass, list };
const struct kind kwalk_pread = { "kwalk-pread", open_pread, pass, list };
