/* Rows that are kept from run to run: those that a run has not seen are gone when there are many, and their room is used again. */
#include <criterion/criterion.h>

#include "query/row_table.h"

#define ROWS 1000

static uint64_t task(unsigned int i)
{
	return 0xffff888000000000 + i * 9792ULL;
}

static void see_some(struct kw_row_table *t, unsigned int step, uint64_t run)
{
	for (unsigned int i = 0; i < ROWS; i += step) {
		struct kw_kept_row *row = kw_row_table_find(t, task(i));

		if (!row)
			row = kw_row_table_add(t, task(i));
		cr_assert_not_null(row);
		cr_expect_eq(row->task, task(i));
		kw_row_table_see(t, row, run);
		kw_row_table_see(t, row, run);
	}
	kw_row_table_end_run(t, run);
}

static void expect_every(const struct kw_row_table *t, unsigned int step)
{
	for (unsigned int i = 0; i < ROWS; i++)
		cr_expect_eq(kw_row_table_find(t, task(i)) != NULL, i % step == 0, "row %u", i);
	cr_expect_null(kw_row_table_find(t, task(ROWS)));
}

Test(query_row_table, rows_that_are_not_seen)
{
	struct kw_row_table t = { 0 };
	size_t chunks;

	kw_row_table_begin(&t, 3, 5, 7, true);
	cr_expect_null(kw_row_table_find(&t, task(0)));
	see_some(&t, 1, 1);
	expect_every(&t, 1);
	chunks = t.chunks.nr;
	see_some(&t, 10, 2);
	expect_every(&t, 10);
	see_some(&t, 1, 3);
	expect_every(&t, 1);
	cr_expect_eq(t.chunks.nr, chunks);
	kw_row_table_deinit(&t);
}

Test(query_row_table, a_few_stay)
{
	struct kw_row_table t = { 0 };

	kw_row_table_begin(&t, 1, 1, 1, false);
	see_some(&t, 100, 1);
	see_some(&t, 500, 2);
	expect_every(&t, 100);
	kw_row_table_deinit(&t);
}
