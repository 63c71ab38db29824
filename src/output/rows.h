/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of finished text, kept until all widths are known.
 *
 * They are packed into blocks that never move, because memory that is touched for the first time is what a table
 * costs most (up to 20 us a page in a virtual machine) and an array that doubles touches it three times.
 */
#ifndef OUTPUT_ROWS_H
#define OUTPUT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct kw_cell {
	size_t len;   /* bytes */
	size_t width; /* columns of a terminal */
};

/** Zero-initialised when empty. */
struct kw_rows {
	struct kw_block *first, *last;
	size_t bytes; /* of memory used */
};

/** Where reading stands. */
struct kw_rows_cursor {
	const struct kw_block *block;
	size_t at;
};

/**
 * Append a row.
 *
 * @param nr  cells of each row, always the same number
 * @param text  the cells' text, one behind the other; copied
 * @return false when memory runs out, and then nothing changes
 */
bool kw_rows_add(struct kw_rows *rows, const struct kw_cell *cells, size_t nr, const char *text);

/** Return a cursor that stands before the first row. */
struct kw_rows_cursor kw_rows_start(const struct kw_rows *rows);

/** Step to the next row, set its cells and return their text; NULL at the end. */
const char *kw_rows_next(struct kw_rows_cursor *cursor, struct kw_cell *cells, size_t nr);

/** Free all rows; the result is empty and may be used again. */
void kw_rows_clear(struct kw_rows *rows);

#endif
