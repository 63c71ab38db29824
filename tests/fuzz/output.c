/*
 * Fuzzes the output formats: whatever the values are, a table and TSV keep one line a row, JSON stays well-formed,
 * quotes of CSV are paired, and all of it is UTF-8 without a control character.
 *
 * Input: format and flags, number of columns, width, type and display of each column; then rows of a depth and the
 * values, each a type and 8 bytes or a length and as many bytes.
 */
#include <kwalk/output.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "output/utf8.h"
#include "util/context.h"

#define COLUMNS_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

static uint8_t next_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static struct kw_value next_value(struct input *in)
{
	struct kw_value value = { .type = next_byte(in) % (KW_VAL_ENUM + 2) };
	size_t len = next_byte(in);

	if (value.type == KW_VAL_STRING || value.type == KW_VAL_BYTES) {
		value.len = (uint32_t)(len < in->left ? len : in->left);
		value.str = (const char *)in->at;
	} else {
		value.len = in->left < sizeof(value.u) ? (uint32_t)in->left : sizeof(value.u);
		memcpy(&value.u, in->at, value.len);
	}
	in->at += value.len;
	in->left -= value.len;
	return value;
}

static void require(bool truth)
{
	if (!truth)
		abort();
}

static size_t count(const char *text, size_t len, char c)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += text[i] == c;
	return nr;
}

static void check_characters(const char *text, size_t len, const char *controls)
{
	uint32_t code = 0;

	for (size_t at = 0, size; at < len; at += size) {
		size = kw_utf8_decode(text + at, len - at, &code);
		require(size > 0);
		require(kw_utf8_width(code) >= 0 || (code && code < 0x80 && strchr(controls, (int)code)));
	}
}

static size_t check_escape(const char *text, size_t left)
{
	require(left >= 2);
	if (text[1] != 'u') {
		require(text[1] && strchr("\"\\nrtbf", text[1]));
		return 2;
	}
	require(left >= 6);
	require(strspn(text + 2, "0123456789abcdef") >= 4);
	return 6;
}

/* Strings are closed where their row ends, and outside of them stands nothing but what JSON has there. */
static void check_json(const char *text, size_t len)
{
	bool in_string = false;

	for (size_t at = 0; at < len;) {
		if (in_string && text[at] == '\\') {
			at += check_escape(text + at, len - at);
			continue;
		}
		if (text[at] == '"')
			in_string = !in_string;
		else
			require(in_string ? text[at] != '\n'
					  : strchr("[]{}:,\n0123456789+-.eutrfalsn", text[at]) != NULL);
		at++;
	}
	require(!in_string);
	require(count(text, len, '\n') == 0 || text[len - 1] == '\n');
}

static void check(const struct kw_writer_options *opts, const char *text, size_t len, size_t columns,
		  size_t rows)
{
	static const char *const controls[] = { "\n", "\n", "\n", "\n\t", "\n\t" };
	bool heading = !opts->no_headers;

	check_characters(text, len,
			 opts->colour && opts->format == KW_FORMAT_TABLE ? "\n\033" : controls[opts->format]);
	switch (opts->format) {
	case KW_FORMAT_TABLE: require(count(text, len, '\n') == rows + heading); break;
	case KW_FORMAT_JSON: check_json(text, len); break;
	case KW_FORMAT_JSONL:
		check_json(text, len);
		require(count(text, len, '\n') == rows);
		break;
	case KW_FORMAT_CSV: require(count(text, len, '"') % 2 == 0); break;
	case KW_FORMAT_TSV:
		require(count(text, len, '\n') == rows + heading);
		require(count(text, len, '\t') == (columns - 1) * (rows + heading));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* One stream for all inputs: to make one takes longer than to write a few rows. */
	static FILE *out;
	static char *text;
	static size_t len;
	struct input in = { data, size };
	uint8_t flags = next_byte(&in);
	size_t nr = next_byte(&in) % COLUMNS_MAX + 1, rows = 0;
	struct kw_writer_options opts = {
		.size = sizeof(opts),
		.format = (enum kw_format)(flags % 5),
		.no_headers = flags & 0x10,
		.tree = flags & 0x20,
		.colour = flags & 0x40,
		.width = next_byte(&in),
		.now = 1700000000000000000u,
	};
	struct kw_column columns[COLUMNS_MAX];
	struct kw_ctx ctx = { 0 };
	kw_writer *writer;

	for (size_t i = 0; i < nr; i++) {
		uint8_t kind = next_byte(&in);

		columns[i] = (struct kw_column){
			.name = "a\"\033\xff=,",
			.header = "H\n\\\xe4\xb8\xad",
			.type = (enum kw_value_type)(kind % (KW_VAL_ENUM + 1)),
			.display = (enum kw_display)(kind / 16 % (KW_SHOW_PERCENT + 1)),
		};
	}
	if (!out)
		out = open_memstream(&text, &len);
	require(out);
	rewind(out);
	require(kw_writer_begin(&ctx, out, &opts, columns, nr, &writer) == KW_OK);
	for (; in.left; rows++) {
		struct kw_value values[COLUMNS_MAX];
		unsigned int depth = next_byte(&in);

		for (size_t i = 0; i < nr; i++)
			values[i] = next_value(&in);
		require(kw_writer_row(writer, values, depth) == KW_OK);
	}
	require(kw_writer_end(writer) == KW_OK);
	check(&opts, text, len, nr, rows);
	return 0;
}
