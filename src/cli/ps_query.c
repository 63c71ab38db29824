/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of kwalk ps as a query in the query language. */
#include "cli/ps_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_quoted(FILE *out, const char *text, size_t len)
{
	fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* NAME=HEADER: a heading is no name, which JSON would show. */
static void put_column(FILE *out, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t name = equals ? (size_t)(equals - text) : len;

	fprintf(out, "%.*s", (int)name, text);
	if (!equals)
		return;
	fputs(" as ", out);
	put_quoted(out, equals + 1, len - name - 1);
}

static void put_plain(FILE *out, const char *text, size_t len)
{
	fprintf(out, "%.*s", (int)len, text);
}

static void put_list(FILE *out, const char *list, void (*put)(FILE *out, const char *text, size_t len))
{
	for (const char *at = list;;) {
		size_t len = strcspn(at, ",");

		put(out, at, len);
		if (!at[len])
			break;
		fputs(", ", out);
		at += len + 1;
	}
}

static bool are_numbers(const char *list)
{
	return strspn(list, "0123456789,") == strlen(list);
}

/* Selectors add to each other, as in ps. */
static void put_selectors(FILE *out, const struct kw_query_options *q)
{
	const char *next = " where ";

	if (q->pids) {
		fprintf(out, "%spid in (", next);
		put_list(out, q->pids, put_plain);
		fputc(')', out);
		next = " or ";
	}
	if (q->users) {
		fprintf(out, "%s%s in (", next, are_numbers(q->users) ? "euid" : "user");
		put_list(out, q->users, are_numbers(q->users) ? put_plain : put_quoted);
		fputc(')', out);
		next = " or ";
	}
	if (q->names) {
		fprintf(out, "%scomm in (", next);
		put_list(out, q->names, put_quoted);
		fputc(')', out);
	}
}

char *ps_query_text(const struct kw_query_options *q, const char *where)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(q->source ? q->source : "tasks", out);
	put_selectors(out, q);
	if (where)
		fprintf(out, " where %s", where);
	fputs(" select ", out);
	put_list(out, q->columns, put_column);
	if (q->sort) {
		fputs(" sort ", out);
		put_list(out, q->sort, put_plain);
	}
	if (q->limit)
		fprintf(out, " limit %llu", (unsigned long long)q->limit);
	fclose(out);
	return text;
}
