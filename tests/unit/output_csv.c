/* CSV and TSV: names that would be formulas, rows or escape sequences. */
#include "unit/output_capture.h"

/* One string between two numbers, as the only row. */
static void expect_cell(enum kw_format format, const char *bytes, size_t len, const char *want)
{
	static const struct kw_column columns[] = { NUMBER_COLUMN("a", "A"), STRING_COLUMN("s", "S"),
						    NUMBER_COLUMN("b", "B") };
	const struct kw_value values[] = { UINT(1),
					   { .type = KW_VAL_STRING, .str = bytes, .len = (uint32_t)len },
					   UINT(2) };
	char separator = format == KW_FORMAT_CSV ? ',' : '\t', line[200];

	snprintf(line, sizeof(line), "1%c%s%c2\n", separator, want, separator);
	expect_rows(OPTIONS(.format = format, .no_headers = true), columns, 3, values, NULL, 1, line);
}

#define EXPECT_CSV(bytes, want) expect_cell(KW_FORMAT_CSV, bytes, sizeof(bytes) - 1, want)
#define EXPECT_TSV(bytes, want) expect_cell(KW_FORMAT_TSV, bytes, sizeof(bytes) - 1, want)

Test(output_csv, formulas_begin_with_an_apostrophe)
{
	EXPECT_CSV("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
	EXPECT_CSV("+1", "'+1");
	EXPECT_CSV("-1", "'-1");
	EXPECT_CSV("@SUM(A1)", "'@SUM(A1)");
	EXPECT_CSV("\t=1", "'\t=1");
	EXPECT_CSV("\r=1", "'\\x0d=1");
	EXPECT_CSV("\n=1", "\"'\n=1\"");
	EXPECT_CSV("=1,\"2\"", "\"'=1,\"\"2\"\"\"");
	EXPECT_CSV("1=1", "1=1");
}

Test(output_csv, quotes_where_they_are_needed)
{
	EXPECT_CSV("plain name", "plain name");
	EXPECT_CSV("a,b", "\"a,b\"");
	EXPECT_CSV("a\"b", "\"a\"\"b\"");
	EXPECT_CSV("\"\"", "\"\"\"\"\"\"");
	EXPECT_CSV("a\nb", "\"a\nb\"");
	EXPECT_CSV(" a", "\" a\"");
	EXPECT_CSV("a ", "\"a \"");
	EXPECT_CSV("", "\"\"");
}

Test(output_csv, controls_are_escaped)
{
	EXPECT_CSV("\033[2J", "\\x1b[2J");
	EXPECT_CSV("a\0b", "a\\x00b");
	EXPECT_CSV("\xff\xc2\x9b", "\\xff\\xc2\\x9b");
	EXPECT_CSV("x\xe2\x80\xaey", "x\\xe2\\x80\\xaey");
	EXPECT_CSV("C:\\x\ty", "C:\\x\ty");
	EXPECT_CSV("\xe4\xb8\xad", "\xe4\xb8\xad");
}

Test(output_csv, tsv_escapes_its_separators)
{
	EXPECT_TSV("a\tb\nc\\d", "a\\tb\\nc\\\\d");
	EXPECT_TSV("\033[2J\r\0", "\\x1b[2J\\x0d\\x00");
	EXPECT_TSV("\xff\xc2\x9b\xe4\xb8\xad", "\\xff\\xc2\\x9b\xe4\xb8\xad");
	EXPECT_TSV("=1, \"2\"", "=1, \"2\"");
	EXPECT_TSV("", "");
}

static const struct kw_column columns[] = {
	NUMBER_COLUMN("pid", "PID"),
	STRING_COLUMN("task.comm, \"x\"\t", "CMD"),
	{ .name = "=rss", .header = "RSS", .type = KW_VAL_UINT, .display = KW_SHOW_KIB },
	{ .name = "addr", .header = "ADDR", .type = KW_VAL_ADDRESS },
	{ .name = "f", .header = "F", .type = KW_VAL_FLOAT },
};
static const struct kw_value values[] = {
	UINT(1), STRING(""), UINT(4096), ADDRESS(0xffff888000000000), FLOAT(0.5), INT(-2),
	ABSENT,	 ABSENT,     ABSENT,	 FLOAT(__builtin_nan("")),
};

Test(output_csv, heading_line_and_absent_values)
{
	expect_rows(OPTIONS(.format = KW_FORMAT_CSV), columns, 5, values, NULL, 2,
		    "pid,\"task.comm, \"\"x\"\"\t\",'=rss,addr,f\n"
		    "1,\"\",4096,0xffff888000000000,0.5\n"
		    "-2,,,,\n");
	expect_rows(OPTIONS(.format = KW_FORMAT_TSV), columns, 5, values, NULL, 2,
		    "pid\ttask.comm, \"x\"\\t\t=rss\taddr\tf\n"
		    "1\t\t4096\t0xffff888000000000\t0.5\n"
		    "-2\t\t\t\t\n");
}

Test(output_csv, no_rows_is_the_heading_alone)
{
	expect_rows(OPTIONS(.format = KW_FORMAT_CSV), columns, 1, NULL, NULL, 0, "pid\n");
	expect_rows(OPTIONS(.format = KW_FORMAT_TSV), columns, 1, NULL, NULL, 0, "pid\n");
	expect_rows(OPTIONS(.format = KW_FORMAT_CSV, .no_headers = true), columns, 1, NULL, NULL, 0, "");
}
