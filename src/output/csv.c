/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CSV (RFC 4180, but with newlines alone between the rows) and TSV.
 *
 * In CSV nothing between the commas is an absent value and "" an empty string; in TSV both are empty. A string of
 * CSV that a spreadsheet would take for a formula begins with an apostrophe. Controls and bytes that are not UTF-8
 * are \xNN in both; a backslash is doubled in TSV only, because readers of CSV know no escapes.
 */
#include "output/number.h"
#include "output/safe.h"
#include "output/writer.h"

#include <string.h>

static bool may_be_formula(const char *bytes, size_t len)
{
	return len && memchr("=+-@\t\r\n", bytes[0], 7);
}

static bool needs_quotes(const char *bytes, size_t len)
{
	if (!len || bytes[0] == ' ' || bytes[len - 1] == ' ')
		return true;
	return memchr(bytes, ',', len) || memchr(bytes, '"', len) || memchr(bytes, '\n', len);
}

static void put_csv_string(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	bool quotes = needs_quotes(bytes, len);

	if (quotes)
		kw_strbuf_putc(sb, '"');
	if (may_be_formula(bytes, len))
		kw_strbuf_putc(sb, '\'');
	for (size_t at = 0; at < len;) {
		const char *quote = memchr(bytes + at, '"', len - at);
		size_t until = quote ? (size_t)(quote - bytes) : len;

		kw_safe_add(sb, KW_SAFE_CSV, bytes + at, until - at);
		if (quote)
			kw_strbuf_add(sb, "\"\"", 2);
		at = until + (quote != NULL);
	}
	if (quotes)
		kw_strbuf_putc(sb, '"');
}

static void put_tsv_string(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	kw_safe_add(sb, KW_SAFE_TSV, bytes, len);
}

typedef void (*put_string_fn)(struct kw_strbuf *sb, const char *bytes, size_t len);

static void put_headings(struct kw_writer *writer, char separator, put_string_fn put_string)
{
	for (size_t i = 0; i < writer->nr; i++) {
		if (i)
			kw_strbuf_putc(&writer->buf, separator);
		put_string(&writer->buf, writer->columns[i].name, strlen(writer->columns[i].name));
	}
	kw_strbuf_putc(&writer->buf, '\n');
}

static void put_row(struct kw_writer *writer, const struct kw_value *values, char separator,
		    put_string_fn put_string)
{
	for (size_t i = 0; i < writer->nr; i++) {
		if (i)
			kw_strbuf_putc(&writer->buf, separator);
		if (values[i].type == KW_VAL_STRING)
			put_string(&writer->buf, values[i].str, values[i].len);
		else
			kw_put_base(&writer->buf, &values[i]);
	}
	kw_strbuf_putc(&writer->buf, '\n');
}

static bool begin_csv(struct kw_writer *writer)
{
	if (!writer->opts.no_headers)
		put_headings(writer, ',', put_csv_string);
	return true;
}

static bool row_of_csv(struct kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	(void)depth;
	put_row(writer, values, ',', put_csv_string);
	return true;
}

static bool begin_tsv(struct kw_writer *writer)
{
	if (!writer->opts.no_headers)
		put_headings(writer, '\t', put_tsv_string);
	return true;
}

static bool row_of_tsv(struct kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	(void)depth;
	put_row(writer, values, '\t', put_tsv_string);
	return true;
}

static bool end(struct kw_writer *writer)
{
	(void)writer;
	return true;
}

const struct writer_ops kw_csv_ops = { begin_csv, row_of_csv, end, NULL };
const struct writer_ops kw_tsv_ops = { begin_tsv, row_of_tsv, end, NULL };
