/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table for people, as ps(1) draws it: columns as wide as their widest cell, numbers to the right, one space in
 * between, nothing behind the last column. A tree is drawn in front of the last column with ps's " \_ ", which needs
 * nothing but ASCII.
 *
 * Rows are formatted as they come and kept as text, because the widths are known only at the end. (libsmartcols
 * takes five times as long for it, and in the C locale it escapes all that is not ASCII.)
 */
#include "output/writer.h"

#include "output/display.h"
#include "output/rows.h"
#include "output/safe.h"
#include "util/array.h"

#include <string.h>

#define LEVEL_BYTES 4		/* of " \_ " */
#define LEVELS_MAX  64		/* drawn; deeper rows stand at this level: the guest chooses the depth */
#define PIECE	    (16 * 1024) /* bytes handed to the stream at once */
#define KEPT_MAX \
	(8 * 1024 * 1024) /* bytes of rows after which a flat table is written with the widths so far */
#define NO_LIMIT (SIZE_MAX / 2)

/* How a row stands in the tree. */
struct place {
	unsigned char level;
	bool last; /* of its parent's children */
};

struct table {
	struct kw_today today;
	size_t *width;	       /* of each column, of the rows so far */
	struct kw_cell *cells; /* of the row at hand */
	struct kw_strbuf text; /* of these cells */
	struct kw_rows rows;
	struct {
		struct place *item;
		size_t nr, cap;
	} places;    /* one for each row of a tree, else none */
	bool begun;  /* the heading is written */
	bool failed; /* a row is missing: memory ran out */
};

static bool is_right(const struct kw_writer *writer, size_t column)
{
	bool drawn = writer->opts.tree && column == writer->nr - 1;

	switch (writer->columns[column].type) {
	case KW_VAL_UINT:
	case KW_VAL_INT:
	case KW_VAL_FLOAT:
	case KW_VAL_ADDRESS:
	case KW_VAL_ENUM: return !drawn;
	default: return false;
	}
}

static void set_cell(struct table *table, size_t column, size_t start, size_t width)
{
	table->cells[column] = (struct kw_cell){ .len = table->text.len - start, .width = width };
	if (table->width[column] < width)
		table->width[column] = width;
}

static void format_headings(struct kw_writer *writer)
{
	struct table *table = writer->table;

	kw_strbuf_clear(&table->text);
	for (size_t i = 0; i < writer->nr; i++) {
		const char *header = writer->columns[i].header;
		size_t start = table->text.len;

		set_cell(table, i, start, kw_safe_add(&table->text, KW_SAFE_TEXT, header, strlen(header)));
	}
}

static void format_row(struct kw_writer *writer, const struct kw_value *values)
{
	struct table *table = writer->table;

	kw_strbuf_clear(&table->text);
	for (size_t i = 0; i < writer->nr; i++) {
		size_t start = table->text.len;

		set_cell(table, i, start,
			 kw_display(&table->text, writer->columns[i].display, &values[i], &table->today));
	}
}

static bool begin(struct kw_writer *writer)
{
	struct table *table = calloc(1, sizeof(*table));

	writer->table = table;
	if (!table)
		return false;
	table->today = kw_today_of(writer->opts.now);
	table->width = calloc(writer->nr, sizeof(*table->width));
	table->cells = calloc(writer->nr, sizeof(*table->cells));
	if (!table->width || !table->cells)
		return false;
	if (!writer->opts.no_headers)
		format_headings(writer);
	return !table->text.failed;
}

static void put_spaces(struct kw_strbuf *sb, size_t nr)
{
	static const char spaces[] = "                                                                ";

	for (; nr >= sizeof(spaces); nr -= sizeof(spaces) - 1)
		kw_strbuf_add(sb, spaces, sizeof(spaces) - 1);
	kw_strbuf_add(sb, spaces, nr);
}

/* The cells of a line that are left for the last column. */
static size_t room_for_last(const struct kw_writer *writer)
{
	size_t taken = 0;

	if (!writer->opts.width || is_right(writer, writer->nr - 1))
		return NO_LIMIT;
	for (size_t i = 0; i + 1 < writer->nr; i++)
		taken += writer->table->width[i] + 1;
	return taken < writer->opts.width ? writer->opts.width - taken : 0;
}

static void put_last_cell(struct kw_writer *writer, const char *text, const char *branch)
{
	size_t last = writer->nr - 1, room = room_for_last(writer), drawn = strnlen(branch, room);
	const struct kw_cell *cell = &writer->table->cells[last];

	if (is_right(writer, last))
		put_spaces(&writer->buf, writer->table->width[last] - cell->width);
	kw_strbuf_add(&writer->buf, branch, drawn);
	kw_strbuf_add(&writer->buf, text,
		      cell->width <= room - drawn ? cell->len : kw_safe_fit(text, cell->len, room - drawn));
}

/* Write the row at hand, whose text is at text. */
static void put_cells(struct kw_writer *writer, const char *text, const char *branch)
{
	struct kw_strbuf *buf = &writer->buf;

	for (size_t i = 0; i + 1 < writer->nr; i++) {
		const struct kw_cell *cell = &writer->table->cells[i];
		size_t pad = writer->table->width[i] - cell->width;
		bool right = is_right(writer, i);

		if (right)
			put_spaces(buf, pad);
		kw_strbuf_add(buf, text, cell->len);
		put_spaces(buf, right ? 1 : pad + 1);
		text += cell->len;
	}
	put_last_cell(writer, text, branch);
}

static void put_headings(struct kw_writer *writer)
{
	if (writer->table->begun || writer->opts.no_headers)
		return;
	writer->table->begun = true;
	format_headings(writer);
	if (writer->opts.colour)
		kw_strbuf_puts(&writer->buf, "\033[1m");
	put_cells(writer, writer->table->text.str ? writer->table->text.str : "", "");
	if (writer->opts.colour)
		kw_strbuf_puts(&writer->buf, "\033[0m");
	kw_strbuf_putc(&writer->buf, '\n');
}

/*
 * From the last row up: more[level] tells whether a row of that level follows before the tree returns to a level
 * above it.
 */
static void find_last_children(struct table *table)
{
	bool more[LEVELS_MAX + 1] = { false };
	unsigned int deepest = 0;

	for (size_t i = table->places.nr; i-- > 0;) {
		struct place *place = &table->places.item[i];

		for (; deepest > place->level; deepest--)
			more[deepest] = false;
		place->last = !more[place->level];
		more[place->level] = true;
		deepest = place->level;
	}
}

/* Draw what leads to a row. last[] tells for each level whether the nearest row of it, upwards, is a last one. */
static void draw_branch(char *branch, bool *last, const struct place *place)
{
	char *to = branch;

	last[place->level] = place->last;
	for (unsigned int level = 1; level <= place->level; level++, to += LEVEL_BYTES)
		memcpy(to, level == place->level ? " \\_ " : last[level] ? "    " : " |  ", LEVEL_BYTES);
	*to = '\0';
}

/* Write the rows that are kept and forget them. */
static void write_rows(struct kw_writer *writer)
{
	struct table *table = writer->table;
	struct kw_rows_cursor cursor = kw_rows_start(&table->rows);
	char branch[LEVELS_MAX * LEVEL_BYTES + 1] = "";
	bool last[LEVELS_MAX + 1] = { false };
	const char *text;

	put_headings(writer);
	find_last_children(table);
	for (size_t row = 0; (text = kw_rows_next(&cursor, table->cells, writer->nr)); row++) {
		if (writer->opts.tree)
			draw_branch(branch, last, &table->places.item[row]);
		put_cells(writer, text, branch);
		kw_strbuf_putc(&writer->buf, '\n');
		if (writer->buf.len >= PIECE)
			kw_writer_drain(writer);
	}
	kw_rows_clear(&table->rows);
}

/* Without a row one level above it, a row has no parent to be drawn below: it moves up. */
static bool add_place(struct table *table, unsigned int depth)
{
	unsigned int deepest = table->places.nr ? table->places.item[table->places.nr - 1].level + 1 : 0;

	if (deepest > LEVELS_MAX)
		deepest = LEVELS_MAX;
	return kw_array_push(&table->places, (struct place){ .level = depth < deepest ? depth : deepest });
}

static bool keep_row(struct kw_writer *writer, unsigned int depth)
{
	struct table *table = writer->table;

	if (table->text.failed || (writer->opts.tree && !add_place(table, depth)))
		return false;
	return kw_rows_add(&table->rows, table->cells, writer->nr, table->text.str);
}

static bool row(struct kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	struct table *table = writer->table;

	if (table->failed)
		return false;
	format_row(writer, values);
	if (!keep_row(writer, depth)) {
		table->failed = true;
		return false;
	}
	if (!writer->opts.tree && table->rows.bytes > KEPT_MAX)
		write_rows(writer);
	return true;
}

static bool end(struct kw_writer *writer)
{
	if (writer->table->failed)
		return false;
	write_rows(writer);
	return !writer->table->text.failed;
}

static void free_table(struct kw_writer *writer)
{
	struct table *table = writer->table;

	if (!table)
		return;
	free(table->width);
	free(table->cells);
	kw_strbuf_free(&table->text);
	kw_rows_clear(&table->rows);
	free(table->places.item);
	free(table);
}

const struct writer_ops kw_table_ops = { begin, row, end, free_table };
