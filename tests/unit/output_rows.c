/* Packed rows come out as they went in. */
#include "unit/output_capture.h"

#include "output/rows.h"

static char text[200000];

/* Cells of very different lengths, so that rows end at, before and beyond a block's end. */
static void set_cells(struct kw_cell *cells, size_t row)
{
	cells[0] = (struct kw_cell){ .len = row % 200, .width = row };
	cells[1] = (struct kw_cell){ .len = row % 97 ? 3 : 40000 + row, .width = SIZE_MAX - row };
}

Test(output_rows, come_out_as_they_went_in)
{
	struct kw_rows rows = { 0 };
	struct kw_rows_cursor cursor;
	struct kw_cell cells[2], want[2];
	const char *got;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	for (size_t row = 0; row < 1000; row++) {
		set_cells(cells, row);
		cr_assert(kw_rows_add(&rows, cells, 2, text + row));
	}
	cursor = kw_rows_start(&rows);
	for (size_t row = 0; row < 1000; row++) {
		got = kw_rows_next(&cursor, cells, 2);
		set_cells(want, row);
		cr_assert(got);
		cr_assert_arr_eq(cells, want, sizeof(want), "row %zu", row);
		cr_assert_arr_eq(got, text + row, want[0].len + want[1].len, "row %zu", row);
	}
	cr_expect_null(kw_rows_next(&cursor, cells, 2));
	kw_rows_clear(&rows);
	cursor = kw_rows_start(&rows);
	cr_expect_null(kw_rows_next(&cursor, cells, 2));
}

Test(output_rows, an_empty_row_is_a_row)
{
	struct kw_rows rows = { 0 };
	struct kw_rows_cursor cursor;
	struct kw_cell cell = { 0 };

	cr_assert(kw_rows_add(&rows, &cell, 1, NULL));
	cr_assert(kw_rows_add(&rows, &cell, 1, NULL));
	cursor = kw_rows_start(&rows);
	cr_expect_not_null(kw_rows_next(&cursor, &cell, 1));
	cr_expect_not_null(kw_rows_next(&cursor, &cell, 1));
	cr_expect_null(kw_rows_next(&cursor, &cell, 1));
	kw_rows_clear(&rows);
}
