/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON and JSON lines, one row a line in both.
 *
 *   [                                 {"pid":1,"comm":"init"}
 *   {"pid":1,"comm":"init"},          {"pid":2,"comm":"kthreadd"}
 *   {"pid":2,"comm":"kthreadd"}
 *   ]
 */
#include "output/json.h"

#include "output/number.h"
#include "output/utf8.h"
#include "output/writer.h"

#include <stdlib.h>
#include <string.h>

static void put_unit(struct kw_strbuf *sb, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";
	const char text[] = { '\\',
			      'u',
			      digits[unit >> 12 & 15],
			      digits[unit >> 8 & 15],
			      digits[unit >> 4 & 15],
			      digits[unit & 15] };

	kw_strbuf_add(sb, text, sizeof(text));
}

static void put_code(struct kw_strbuf *sb, uint32_t code)
{
	if (code < 0x10000) {
		put_unit(sb, code);
		return;
	}
	put_unit(sb, 0xd800 + ((code - 0x10000) >> 10));
	put_unit(sb, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

static const char *short_escape(char c)
{
	switch (c) {
	case '"': return "\\\"";
	case '\\': return "\\\\";
	case '\n': return "\\n";
	case '\t': return "\\t";
	case '\r': return "\\r";
	case '\b': return "\\b";
	case '\f': return "\\f";
	default: return NULL;
	}
}

/* One character that is not plain ASCII; returns its bytes. */
static size_t put_character(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	const char *escape = short_escape(bytes[0]);
	uint32_t code;
	size_t size = kw_utf8_decode(bytes, len, &code);

	if (escape)
		kw_strbuf_add(sb, escape, 2);
	else if (!size)
		put_unit(sb, 0xdc00 + (unsigned char)bytes[0]);
	else if (kw_utf8_width(code) < 0)
		put_code(sb, code);
	else
		kw_strbuf_add(sb, bytes, size);
	return size ? size : 1;
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void kw_json_string(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	kw_strbuf_putc(sb, '"');
	for (size_t at = 0, plain; at < len;) {
		for (plain = at; plain < len && is_plain(bytes[plain]);)
			plain++;
		kw_strbuf_add(sb, bytes + at, plain - at);
		at = plain;
		if (at < len)
			at += put_character(sb, bytes + at, len - at);
	}
	kw_strbuf_putc(sb, '"');
}

void kw_json_value(struct kw_strbuf *sb, const struct kw_value *value)
{
	bool quoted = value->type == KW_VAL_ADDRESS || value->type == KW_VAL_BYTES;

	if (value->type == KW_VAL_STRING) {
		kw_json_string(sb, value->str, value->len);
		return;
	}
	if (quoted)
		kw_strbuf_putc(sb, '"');
	if (!kw_put_base(sb, value))
		kw_strbuf_add(sb, "null", 4);
	if (quoted)
		kw_strbuf_putc(sb, '"');
}

static bool begin_lines(struct kw_writer *writer)
{
	writer->keys = calloc(writer->nr, sizeof(*writer->keys));
	if (!writer->keys)
		return false;
	for (size_t i = 0; i < writer->nr; i++) {
		struct kw_strbuf *key = &writer->keys[i];

		kw_strbuf_putc(key, i ? ',' : '{');
		kw_json_string(key, writer->columns[i].name, strlen(writer->columns[i].name));
		kw_strbuf_putc(key, ':');
		if (key->failed)
			return false;
	}
	return true;
}

static void put_row(struct kw_writer *writer, const struct kw_value *values)
{
	for (size_t i = 0; i < writer->nr; i++) {
		kw_strbuf_add(&writer->buf, writer->keys[i].str, writer->keys[i].len);
		kw_json_value(&writer->buf, &values[i]);
	}
	kw_strbuf_putc(&writer->buf, '}');
}

static bool row_of_lines(struct kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	(void)depth;
	put_row(writer, values);
	kw_strbuf_putc(&writer->buf, '\n');
	return true;
}

static bool end_lines(struct kw_writer *writer)
{
	(void)writer;
	return true;
}

static bool begin_array(struct kw_writer *writer)
{
	kw_strbuf_putc(&writer->buf, '[');
	return begin_lines(writer);
}

static bool row_of_array(struct kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	(void)depth;
	kw_strbuf_puts(&writer->buf, writer->rows ? ",\n" : "\n");
	put_row(writer, values);
	return true;
}

static bool end_array(struct kw_writer *writer)
{
	kw_strbuf_puts(&writer->buf, writer->rows ? "\n]\n" : "]\n");
	return true;
}

static void free_keys(struct kw_writer *writer)
{
	for (size_t i = 0; writer->keys && i < writer->nr; i++)
		kw_strbuf_free(&writer->keys[i]);
	free(writer->keys);
}

const struct writer_ops kw_json_ops = { begin_array, row_of_array, end_array, free_keys };
const struct writer_ops kw_jsonl_ops = { begin_lines, row_of_lines, end_lines, free_keys };
