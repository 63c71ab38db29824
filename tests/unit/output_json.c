/* JSON and JSON lines: always well-formed, exact, and no byte of a name lost. */
#include "unit/output_capture.h"

#include <float.h>

static const struct kw_column pair[] = { NUMBER_COLUMN("pid", "PID"), STRING_COLUMN("comm", "CMD") };
static const struct kw_value pair_values[] = { UINT(1), STRING("init"), UINT(2), ABSENT };

/* One value, as the only one of a JSON line. */
static void expect_value(struct kw_value value, const char *want)
{
	static const struct kw_column columns[] = { STRING_COLUMN("v", "V") };
	char line[200];

	snprintf(line, sizeof(line), "{\"v\":%s}\n", want);
	expect_rows(OPTIONS(.format = KW_FORMAT_JSONL), columns, 1, &value, NULL, 1, line);
}

static void expect_string(const char *bytes, size_t len, const char *want)
{
	expect_value((struct kw_value){ .type = KW_VAL_STRING, .str = bytes, .len = (uint32_t)len }, want);
}

#define EXPECT_STRING(bytes, want) expect_string(bytes, sizeof(bytes) - 1, want)

Test(output_json, no_rows_are_an_empty_array)
{
	expect_rows(OPTIONS(.format = KW_FORMAT_JSON), pair, 2, NULL, NULL, 0, "[]\n");
	expect_rows(OPTIONS(.format = KW_FORMAT_JSONL), pair, 2, NULL, NULL, 0, "");
}

Test(output_json, one_row_a_line)
{
	expect_rows(OPTIONS(.format = KW_FORMAT_JSON), pair, 2, pair_values, NULL, 1,
		    "[\n{\"pid\":1,\"comm\":\"init\"}\n]\n");
	expect_rows(OPTIONS(.format = KW_FORMAT_JSON, .no_headers = true, .colour = true, .width = 3,
			    .tree = true),
		    pair, 2, pair_values, NULL, 2,
		    "[\n{\"pid\":1,\"comm\":\"init\"},\n{\"pid\":2,\"comm\":null}\n]\n");
	expect_rows(OPTIONS(.format = KW_FORMAT_JSONL), pair, 2, pair_values, NULL, 2,
		    "{\"pid\":1,\"comm\":\"init\"}\n{\"pid\":2,\"comm\":null}\n");
}

Test(output_json, bytes_that_are_not_utf8_can_be_had_back)
{
	EXPECT_STRING("\xff", "\"\\udcff\"");
	EXPECT_STRING("a\x80z", "\"a\\udc80z\"");
	EXPECT_STRING("\xc0\xaf", "\"\\udcc0\\udcaf\"");		       /* overlong */
	EXPECT_STRING("\xed\xb3\xbf", "\"\\udced\\udcb3\\udcbf\"");	       /* a surrogate in UTF-8 */
	EXPECT_STRING("\xf4\x90\x80\x80", "\"\\udcf4\\udc90\\udc80\\udc80\""); /* U+110000 */
	EXPECT_STRING("\xe4\xb8", "\"\\udce4\\udcb8\"");		       /* cut short */
}

Test(output_json, strings_escape_what_is_not_printable)
{
	EXPECT_STRING("", "\"\"");
	EXPECT_STRING("\"\\/", "\"\\\"\\\\/\"");
	EXPECT_STRING("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
	EXPECT_STRING("\0\x1f\033\x7f", "\"\\u0000\\u001f\\u001b\\u007f\"");
	EXPECT_STRING("\xc2\x9b", "\"\\u009b\"");
	EXPECT_STRING("\xe2\x80\xae\xe2\x80\xa8", "\"\\u202e\\u2028\"");
	EXPECT_STRING("\xf3\xa0\x80\x81", "\"\\udb40\\udc01\"");
	EXPECT_STRING("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x90\xa7", "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x90\xa7\"");
}

Test(output_json, integers_are_exact)
{
	expect_value((struct kw_value)UINT(0), "0");
	expect_value((struct kw_value)UINT(UINT64_MAX), "18446744073709551615");
	expect_value((struct kw_value)INT(INT64_MIN), "-9223372036854775808");
	expect_value((struct kw_value)INT(INT64_MAX), "9223372036854775807");
	expect_value((struct kw_value)ENUM(3), "3");
	expect_value((struct kw_value)BOOL(1), "true");
	expect_value((struct kw_value)BOOL(0), "false");
}

Test(output_json, floats_have_the_digits_they_need)
{
	expect_value((struct kw_value)FLOAT(0.1), "0.1");
	expect_value((struct kw_value)FLOAT(-2.5), "-2.5");
	expect_value((struct kw_value)FLOAT(100), "100");
	expect_value((struct kw_value)FLOAT(0.1 + 0.2), "0.30000000000000004");
	expect_value((struct kw_value)FLOAT(DBL_MAX), "1.7976931348623157e+308");
	expect_value((struct kw_value)FLOAT(5e-324), "4.94065645841247e-324");
	expect_value((struct kw_value)FLOAT(__builtin_nan("")), "null");
	expect_value((struct kw_value)FLOAT(__builtin_inf()), "null");
	expect_value((struct kw_value)FLOAT(-__builtin_inf()), "null");
}

Test(output_json, addresses_and_bytes_are_strings)
{
	expect_value((struct kw_value)ADDRESS(0xffffffff81000000), "\"0xffffffff81000000\"");
	expect_value((struct kw_value)ADDRESS(0), "\"0x0\"");
	expect_value((struct kw_value)BYTES("\x00\x1f\xff"), "\"001fff\"");
	expect_value((struct kw_value)BYTES(""), "\"\"");
}

Test(output_json, absent_and_unknown_types_are_null)
{
	expect_value((struct kw_value)ABSENT, "null");
	expect_value((struct kw_value){ .type = 200 }, "null");
}

Test(output_json, display_is_for_tables_only)
{
	static const struct kw_column columns[] = {
		{ .name = "time", .header = "TIME", .type = KW_VAL_UINT, .display = KW_SHOW_CPUTIME },
		{ .name = "rss", .header = "RSS", .type = KW_VAL_UINT, .display = KW_SHOW_KIB },
	};
	static const struct kw_value values[] = { UINT(3000000000), UINT(4096) };

	expect_rows(OPTIONS(.format = KW_FORMAT_JSONL), columns, 2, values, NULL, 1,
		    "{\"time\":3000000000,\"rss\":4096}\n");
}

Test(output_json, keys_are_escaped)
{
	static const struct kw_column columns[] = { NUMBER_COLUMN("a\"\n\xff", "A") };
	static const struct kw_value values[] = { UINT(1) };

	expect_rows(OPTIONS(.format = KW_FORMAT_JSONL), columns, 1, values, NULL, 1,
		    "{\"a\\\"\\n\\udcff\":1}\n");
}
