/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table for people, as ps(1) draws it: columns as wide as their widest cell, numbers to the right, one space in
 * between, nothing behind the last column. A tree is drawn in front of the last column with ps's " \_ ", which needs
 * nothing but ASCII.
 *
 * Rows are kept as finished text, cell behind cell in one buffer, because the widths are known only at the end.
 * libsmartcols would do the same work in ten times the time, and in the C locale it cuts off what is not ASCII.
 */
#include "output/writer.h"

#include "output/display.h"
#include "output/safe.h"
#include "util/array.h"

#include <string.h>

#define DEPTH_MAX 64	      /* levels drawn; deeper rows stand at this one: the guest chooses the depth */
#define PIECE	  (64 * 1024) /* handed to the stream at once */
#define KEPT_MAX \
	(8 * 1024 * 1024) /* bytes of cells after which a flat table is written with the widths so far */
#define LEVEL_BYTES 4	  /* of " \_ " */

struct cell {
	size_t len, width;
};

/* How a row stands in the tree. */
struct place {
	unsigned int depth;
	bool last; /* of its parent's children */
};

struct table {
	struct kw_today today;
	struct kw_strbuf text; /* of all cells */
	size_t *width;	       /* of each column */
	struct {
		struct cell *item;
		size_t nr, cap;
	} cells; /* row by row */
	struct {
		struct place *item;
		size_t nr, cap;
	} places;	 /* one for each row of a tree, else none */
	size_t headings; /* bytes of text that are the headings */
	bool begun;	 /* the headings are written */
	bool failed;	 /* a row is only half there: memory ran out */
};

static bool is_right(const struct kw_writer *writer, size_t column)
{
	bool tree = writer->opts.tree && column == writer->nr - 1;

	switch (writer->columns[column].type) {
	case KW_VAL_UINT:
	case KW_VAL_INT:
	case KW_VAL_FLOAT:
	case KW_VAL_ADDRESS:
	case KW_VAL_ENUM: return !tree;
	default: return false;
	}
}

static void widen(struct table *table, size_t column, size_t width)
{
	if (table->width[column] < width)
		table->width[column] = width;
}

/* The headings are the first row of cells. */
static bool add_headings(struct kw_writer *writer)
{
	struct table *table = writer->table;

	for (size_t i = 0; i < writer->nr; i++) {
		const char *header = writer->columns[i].header;
		struct cell cell = { .len = table->text.len };

		cell.width = kw_safe_add(&table->text, KW_SAFE_TEXT, header, strlen(header));
		cell.len = table->text.len - cell.len;
		if (!writer->opts.no_headers)
			widen(table, i, cell.width);
		if (!kw_array_push(&table->cells, cell))
			return false;
	}
	table->headings = table->text.len;
	return !table->text.failed;
}

static bool begin(struct kw_writer *writer)
{
	struct table *table = calloc(1, sizeof(*table));

	writer->table = table;
	if (!table)
		return false;
	table->today = kw_today_of(writer->opts.now);
	table->width = calloc(writer->nr, sizeof(*table->width));
	return table->width && add_headings(writer);
}

static void put_spaces(struct kw_strbuf *sb, size_t nr)
{
	static const char spaces[] = "                                                                ";

	for (; nr >= sizeof(spaces); nr -= sizeof(spaces) - 1)
		kw_strbuf_add(sb, spaces, sizeof(spaces) - 1);
	kw_strbuf_add(sb, spaces, nr);
}

/* The cells of a line that the last column may have. */
static size_t room_for_last(const struct kw_writer *writer)
{
	size_t taken = 0;

	if (!writer->opts.width || is_right(writer, writer->nr - 1))
		return SIZE_MAX;
	for (size_t i = 0; i + 1 < writer->nr; i++)
		taken += writer->table->width[i] + 1;
	return taken < writer->opts.width ? writer->opts.width - taken : 0;
}

/* Write the cells of one row, whose text is at text; returns the text behind them. */
static const char *put_cells(struct kw_writer *writer, const struct cell *cells, const char *text,
			     const char *tree)
{
	struct kw_strbuf *buf = &writer->buf;

	for (size_t i = 0; i < writer->nr; i++) {
		size_t pad = writer->table->width[i] - cells[i].width, len = cells[i].len;
		bool last = i == writer->nr - 1;

		if (is_right(writer, i))
			put_spaces(buf, pad);
		if (last) {
			size_t room = room_for_last(writer), drawn = strnlen(tree, room);

			kw_strbuf_add(buf, tree, drawn);
			if (room - drawn < cells[i].width)
				len = kw_safe_fit(text, len, room - drawn);
		}
		kw_strbuf_add(buf, text, len);
		text += cells[i].len;
		if (!last && !is_right(writer, i))
			put_spaces(buf, pad);
		if (!last)
			kw_strbuf_putc(buf, ' ');
	}
	return text;
}

static void put_heading_line(struct kw_writer *writer)
{
	struct table *table = writer->table;

	if (table->begun || writer->opts.no_headers)
		return;
	table->begun = true;
	if (writer->opts.colour)
		kw_strbuf_puts(&writer->buf, "\033[1m");
	put_cells(writer, table->cells.item, table->text.str ? table->text.str : "", "");
	if (writer->opts.colour)
		kw_strbuf_puts(&writer->buf, "\033[0m");
	kw_strbuf_putc(&writer->buf, '\n');
}

/* The lines that connect a row with its parent, given for each level whether its row is the last of its parent. */
static void draw_branch(char *branch, bool *last, const struct place *place)
{
	char *to = branch;

	last[place->depth] = place->last;
	for (unsigned int level = 1; level <= place->depth; level++, to += LEVEL_BYTES)
		memcpy(to, level == place->depth ? " \\_ " : last[level] ? "    " : " |  ", LEVEL_BYTES);
	*to = '\0';
}

/*
 * From the last row up: more[level] tells whether a row of that level follows before the tree returns to a level
 * above it.
 */
static void find_last_children(struct table *table)
{
	bool more[DEPTH_MAX + 1] = { false };
	unsigned int deepest = 0;

	for (size_t i = table->places.nr; i-- > 0;) {
		struct place *place = &table->places.item[i];

		for (; deepest > place->depth; deepest--)
			more[deepest] = false;
		place->last = !more[place->depth];
		more[place->depth] = true;
		deepest = place->depth;
	}
}

/* Write the rows that are kept and forget them; the headings stay. */
static void write_rows(struct kw_writer *writer)
{
	struct table *table = writer->table;
	size_t rows = table->cells.nr / writer->nr;
	const char *text = table->text.str ? table->text.str + table->headings : "";
	char branch[DEPTH_MAX * LEVEL_BYTES + 1] = "";
	bool last[DEPTH_MAX + 1];

	put_heading_line(writer);
	find_last_children(table);
	for (size_t row = 1; row < rows; row++) {
		if (writer->opts.tree)
			draw_branch(branch, last, &table->places.item[row - 1]);
		text = put_cells(writer, &table->cells.item[row * writer->nr], text, branch);
		kw_strbuf_putc(&writer->buf, '\n');
		if (writer->buf.len >= PIECE)
			kw_writer_drain(writer);
	}
	table->text.len = table->headings;
	table->cells.nr = writer->nr;
}

/* Without a row one less deep above it, a row has no parent to be drawn below: it moves up. */
static bool add_place(struct table *table, unsigned int depth)
{
	unsigned int deepest = table->places.nr ? table->places.item[table->places.nr - 1].depth + 1 : 0;

	if (deepest > DEPTH_MAX)
		deepest = DEPTH_MAX;
	return kw_array_push(&table->places, (struct place){ .depth = depth < deepest ? depth : deepest });
}

static bool add_cells(struct kw_writer *writer, const struct kw_value *values)
{
	struct table *table = writer->table;

	for (size_t i = 0; i < writer->nr; i++) {
		size_t start = table->text.len;
		size_t width =
			kw_display(&table->text, writer->columns[i].display, &values[i], &table->today);

		if (!kw_array_push(&table->cells, (struct cell){ table->text.len - start, width }))
			return false;
		widen(table, i, width);
	}
	return !table->text.failed;
}

static bool add_row(struct kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	struct table *table = writer->table;
	bool tree = writer->opts.tree;

	if (table->failed || !add_cells(writer, values) || (tree && !add_place(table, depth))) {
		table->failed = true;
		return false;
	}
	if (!tree && table->text.len > KEPT_MAX)
		write_rows(writer);
	return true;
}

static bool end(struct kw_writer *writer)
{
	if (writer->table->failed)
		return false;
	write_rows(writer);
	return true;
}

static void free_table(struct kw_writer *writer)
{
	struct table *table = writer->table;

	if (!table)
		return;
	kw_strbuf_free(&table->text);
	free(table->width);
	free(table->cells.item);
	free(table->places.item);
	free(table);
}

const struct writer_ops kw_table_ops = { begin, add_row, end, free_table };
