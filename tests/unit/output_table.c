/* Tables: alignment, trees, cutting, and names that try to break them. */
#include "unit/output_capture.h"

static const struct kw_column ps_columns[] = {
	NUMBER_COLUMN("pid", "PID"),
	STRING_COLUMN("state", "S"),
	{ .name = "rss", .header = "RSS", .type = KW_VAL_UINT, .unit = KW_UNIT_BYTES, .display = KW_SHOW_KIB },
	STRING_COLUMN("comm", "CMD"),
};

static void expect_ps(const struct kw_writer_options *opts, const struct kw_value (*values)[4], size_t rows,
		      const char *want)
{
	expect_rows(opts, ps_columns, 4, values ? values[0] : NULL, NULL, rows, want);
}

/* A row of one column, its last: what a name looks like. */
static void expect_name(const struct kw_writer_options *opts, struct kw_value name, const char *want)
{
	static const struct kw_column columns[] = { NUMBER_COLUMN("pid", "PID"),
						    STRING_COLUMN("comm", "CMD") };
	const struct kw_value values[] = { UINT(1), name };

	expect_rows(opts, columns, 2, values, NULL, 1, want);
}

Test(output_table, hostile_names_stay_in_their_line)
{
	static const struct kw_value values[][4] = {
		{ UINT(1), STRING("S"), UINT(4096), STRING("\033[2Jevil\n999 R 1 init") },
		{ UINT(22), STRING("\r\r"), ABSENT, STRING("\xff\xc3 a\\b\t\302\233") },
		{ UINT(333), STRING(""), UINT(1023),
		  STRING("\xe2\x80\xae"
			 "gnp.exe") },
	};

	expect_ps(NULL, values, 3,
		  "PID S        RSS CMD\n"
		  "  1 S          4 \\e[2Jevil\\n999 R 1 init\n"
		  " 22 \\x0d\\x0d   - \\xff\\xc3 a\\\\b\\t\\u{9b}\n"
		  "333            0 \\u{202e}gnp.exe\n");
}

Test(output_table, numbers_right_strings_left_nothing_behind)
{
	static const struct kw_value values[][4] = {
		{ UINT(1), STRING("S"), UINT(12 << 20), STRING("systemd") },
		{ UINT(4194304), STRING("Ssl+"), ABSENT, STRING("kworker/0:1") },
	};

	expect_ps(NULL, values, 2,
		  "    PID S      RSS CMD\n"
		  "      1 S    12288 systemd\n"
		  "4194304 Ssl+     - kworker/0:1\n");
}

Test(output_table, no_rows_is_the_heading_alone)
{
	expect_ps(NULL, NULL, 0, "PID S RSS CMD\n");
	expect_ps(OPTIONS(.no_headers = true), NULL, 0, "");
}

Test(output_table, without_heading_its_width_does_not_count)
{
	static const struct kw_value values[][4] = { { UINT(1), STRING("S"), UINT(0), STRING("init") } };

	expect_ps(OPTIONS(.no_headers = true, .colour = true), values, 1, "1 S 0 init\n");
}

Test(output_table, colour_is_around_the_heading_only)
{
	static const struct kw_value values[][4] = { { UINT(1), STRING("S"), UINT(0), STRING("init") } };

	expect_ps(OPTIONS(.colour = true), values, 1, "\033[1mPID S RSS CMD\033[0m\n  1 S   0 init\n");
}

Test(output_table, wide_and_combining_characters_align)
{
	static const struct kw_column columns[] = { STRING_COLUMN("comm", "COMM"),
						    NUMBER_COLUMN("pid", "PID") };
	static const struct kw_value values[] = {
		STRING("\xe4\xb8\xad\xe6\x96\x87"),
		UINT(1), /* two characters of two cells */
		STRING("e\xcc\x81t\xc3\xa9"),
		UINT(22), /* a combining accent, a composed one */
		STRING("\xf0\x9f\x90\xa7x"),
		UINT(333), /* a penguin */
		STRING("ascii"),
		UINT(4444),
	};

	expect_rows(NULL, columns, 2, values, NULL, 4,
		    "COMM   PID\n"
		    "\xe4\xb8\xad\xe6\x96\x87     1\n"
		    "e\xcc\x81t\xc3\xa9     22\n"
		    "\xf0\x9f\x90\xa7x    333\n"
		    "ascii 4444\n");
}

Test(output_table, headings_are_made_safe)
{
	static const struct kw_column columns[] = { STRING_COLUMN("a", "\033[31mA\n"),
						    STRING_COLUMN("b", "B") };
	static const struct kw_value values[] = { STRING("x"), STRING("y") };

	expect_rows(NULL, columns, 2, values, NULL, 1, "\\e[31mA\\n B\nx         y\n");
}

Test(output_table, each_type_has_its_look)
{
	static const struct kw_column columns[] = {
		{ .name = "a", .header = "ADDR", .type = KW_VAL_ADDRESS },
		{ .name = "b", .header = "B", .type = KW_VAL_BOOL },
		{ .name = "c", .header = "BYTES", .type = KW_VAL_BYTES },
		{ .name = "d", .header = "E", .type = KW_VAL_ENUM },
		{ .name = "e", .header = "F", .type = KW_VAL_FLOAT },
		{ .name = "f", .header = "I", .type = KW_VAL_INT },
	};
	static const struct kw_value values[] = {
		ADDRESS(0xffff888000000000),
		BOOL(1),
		BYTES("\x01\xff"),
		ENUM(7),
		FLOAT(0.1),
		INT(-5),
		ADDRESS(0),
		BOOL(0),
		ABSENT,
		ENUM(12),
		FLOAT(__builtin_nan("")),
		ABSENT,
	};

	expect_rows(NULL, columns, 6, values, NULL, 2,
		    "              ADDR B     BYTES  E   F  I\n"
		    "0xffff888000000000 true  01ff   7 0.1 -5\n"
		    "               0x0 false -     12   -  -\n");
}

Test(output_table, width_cuts_the_last_column_only)
{
	static const struct kw_value values[][4] = {
		{ UINT(1), STRING("long-state"), UINT(0), STRING("0123456789") },
	};

	expect_ps(OPTIONS(.width = 23), values, 1,
		  "PID S          RSS CMD\n"
		  "  1 long-state   0 0123\n");
	expect_ps(OPTIONS(.width = 20), values, 1,
		  "PID S          RSS C\n"
		  "  1 long-state   0 0\n");
	expect_ps(OPTIONS(.width = 5), values, 1,
		  "PID S          RSS \n"
		  "  1 long-state   0 \n");
	expect_ps(OPTIONS(.width = 29), values, 1,
		  "PID S          RSS CMD\n"
		  "  1 long-state   0 0123456789\n");
}

Test(output_table, width_cuts_no_character_and_no_escape_in_two)
{
	expect_name(OPTIONS(.width = 7, .no_headers = true),
		    (struct kw_value)STRING("ab\xe4\xb8\xad\xe6\x96\x87x"), "1 ab\xe4\xb8\xad\n");
	expect_name(OPTIONS(.width = 5, .no_headers = true), (struct kw_value)STRING("ab\xe4\xb8\xad"),
		    "1 ab\n");
	expect_name(OPTIONS(.width = 7, .no_headers = true), (struct kw_value)STRING("ab\x01\x02"), "1 ab\n");
	expect_name(OPTIONS(.width = 8, .no_headers = true), (struct kw_value)STRING("ab\x01\x02"),
		    "1 ab\\x01\n");
	expect_name(OPTIONS(.width = 9, .no_headers = true), (struct kw_value)STRING("\xe2\x80\xaez"),
		    "1 \n");
	expect_name(OPTIONS(.width = 10, .no_headers = true), (struct kw_value)STRING("\xe2\x80\xaez"),
		    "1 \\u{202e}\n");
	expect_name(OPTIONS(.width = 3, .no_headers = true), (struct kw_value)STRING("\\\\"), "1 \n");
	expect_name(OPTIONS(.width = 3, .no_headers = true), (struct kw_value)STRING("e\xcc\x81z"),
		    "1 e\xcc\x81\n");
}

Test(output_table, a_number_is_never_cut)
{
	static const struct kw_column columns[] = { STRING_COLUMN("comm", "CMD"),
						    NUMBER_COLUMN("pid", "PID") };
	static const struct kw_value values[] = { STRING("init"), UINT(123456) };

	expect_rows(OPTIONS(.width = 8), columns, 2, values, NULL, 1, "CMD     PID\ninit 123456\n");
}

static void expect_tree(const unsigned int *depths, size_t rows, unsigned int width, const char *want)
{
	static const struct kw_column columns[] = { NUMBER_COLUMN("pid", "PID"),
						    STRING_COLUMN("comm", "CMD") };
	static const struct kw_value values[] = {
		UINT(1), STRING("a"), UINT(2), STRING("b"), UINT(3), STRING("c"), UINT(4), STRING("d"),
		UINT(5), STRING("e"), UINT(6), STRING("f"), UINT(7), STRING("g"), UINT(8), STRING("h"),
	};

	cr_assert_leq(rows * 2, ARRAY_SIZE(values));
	expect_rows(OPTIONS(.tree = true, .width = width), columns, 2, values, depths, rows, want);
}

Test(output_table, tree_as_ps_draws_it)
{
	static const unsigned int depths[] = { 0, 1, 2, 2, 1, 2, 3, 0 };

	expect_tree(depths, 8, 0,
		    "PID CMD\n"
		    "  1 a\n"
		    "  2  \\_ b\n"
		    "  3  |   \\_ c\n"
		    "  4  |   \\_ d\n"
		    "  5  \\_ e\n"
		    "  6      \\_ f\n"
		    "  7          \\_ g\n"
		    "  8 h\n");
}

Test(output_table, tree_bars_end_with_their_own_family)
{
	static const unsigned int depths[] = { 0, 1, 2, 3, 2, 0, 1, 1 };

	expect_tree(depths, 8, 0,
		    "PID CMD\n"
		    "  1 a\n"
		    "  2  \\_ b\n"
		    "  3      \\_ c\n"
		    "  4      |   \\_ d\n"
		    "  5      \\_ e\n"
		    "  6 f\n"
		    "  7  \\_ g\n"
		    "  8  \\_ h\n");
}

Test(output_table, tree_row_without_a_parent_moves_up)
{
	static const unsigned int depths[] = { 5, 9, 4000000000u, 1 };

	expect_tree(depths, 4, 0,
		    "PID CMD\n"
		    "  1 a\n"
		    "  2  \\_ b\n"
		    "  3  |   \\_ c\n"
		    "  4  \\_ d\n");
}

Test(output_table, tree_is_cut_with_its_name)
{
	static const unsigned int depths[] = { 0, 1, 2 };

	expect_tree(depths, 3, 10, "PID CMD\n  1 a\n  2  \\_ b\n  3      \\\n");
}

Test(output_table, tree_of_numbers_keeps_to_the_left)
{
	static const struct kw_column columns[] = { NUMBER_COLUMN("pid", "PID") };
	static const struct kw_value values[] = { UINT(1), UINT(22) };
	static const unsigned int depths[] = { 0, 1 };

	expect_rows(OPTIONS(.tree = true), columns, 1, values, depths, 2, "PID\n1\n \\_ 22\n");
}

Test(output_table, tree_deeper_than_is_drawn)
{
	static const struct kw_column columns[] = { STRING_COLUMN("comm", "CMD") };
	enum { ROWS = 300 };
	struct kw_value values[ROWS];
	unsigned int depths[ROWS];
	char *text, *line;

	for (unsigned int i = 0; i < ROWS; i++) {
		values[i] = (struct kw_value)STRING("x");
		depths[i] = i;
	}
	text = capture(OPTIONS(.tree = true, .no_headers = true), columns, 1, values, depths, ROWS);
	line = text;
	for (size_t i = 0; i < ROWS; i++) {
		char *end = strchr(line, '\n');

		cr_assert(end);
		cr_assert_eq((size_t)(end - line), 1 + 4 * (i < 64 ? i : 64), "row %zu", i);
		line = end + 1;
	}
	cr_expect_eq(*line, '\0');
	free(text);
}

Test(output_table, more_rows_than_are_kept)
{
	static const struct kw_column columns[] = { NUMBER_COLUMN("pid", "PID"),
						    STRING_COLUMN("comm", "CMD") };
	static char name[1000];
	struct kw_ctx ctx = { 0 };
	kw_writer *writer;
	char *text = NULL, *at;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	memset(name, 'n', sizeof(name));
	cr_assert_eq(kw_writer_begin(&ctx, out, NULL, columns, 2, &writer), KW_OK);
	for (size_t i = 0; i < 20000; i++) {
		struct kw_value values[] = { UINT(i),
					     { .type = KW_VAL_STRING, .str = name, .len = sizeof(name) } };

		cr_assert_eq(kw_writer_row(writer, values, 0), KW_OK);
	}
	cr_assert_eq(kw_writer_end(writer), KW_OK);
	fclose(out);
	at = strchr(text, '\n') + 1;
	for (size_t i = 0; i < 20000; i++) {
		char *end;

		cr_assert_eq(strtoul(at, &end, 10), i);
		cr_assert_eq(strspn(end + 1, "n"), sizeof(name));
		at = end + 1 + sizeof(name);
		cr_assert_eq(*at++, '\n');
	}
	cr_expect_eq(*at, '\0');
	free(text);
}
