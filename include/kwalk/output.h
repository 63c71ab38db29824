/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing rows of values: table, JSON, JSON lines, CSV, TSV; and C-like text of types and objects.
 *
 * Machine formats show base units and are never truncated. Everything read from the kernel is sanitised for the
 * format it goes to: terminal escapes, invalid UTF-8, CSV formulas.
 *
 * Strings, column names and headings among them:
 *   table  as kw_put_safe() writes them
 *   JSON   \uNNNN for all that kw_put_safe() escapes; a byte that is not UTF-8 is \udcNN, a lone surrogate, as
 *          Python's surrogateescape has it: no byte is lost
 *   TSV    \t \n \\, and \xNN for each byte of what else kw_put_safe() escapes: no byte is lost
 *   CSV    \xNN likewise, but tab, newline and backslash stay as they are, because readers of CSV know no escapes; '
 *          before a first = + - @ tab newline CR, which a spreadsheet takes for a formula
 *
 * Integers and enums are exact in all formats; floats have 15 to 17 digits, as many as it takes to read the same
 * number again. Addresses are 0x..., in JSON as a string, because many of its readers (jq) keep numbers as doubles,
 * which are exact to 2^53 only. Bytes are pairs of hexadecimal digits.
 *
 * An absent value, and a number that is infinite or none, is - in a table, null in JSON, nothing in CSV and TSV. An
 * empty string is "" in CSV, which tells it from an absent one. Rows of CSV end in a newline alone.
 */
#ifndef KWALK_OUTPUT_H
#define KWALK_OUTPUT_H

#include <kwalk/context.h>
#include <kwalk/type.h>
#include <kwalk/value.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kw_format { KW_FORMAT_TABLE, KW_FORMAT_JSON, KW_FORMAT_JSONL, KW_FORMAT_CSV, KW_FORMAT_TSV };

/** How a table shows a number; machine formats ignore it. */
enum kw_display {
	KW_SHOW_PLAIN,	 /**< decimal; strings as they are */
	KW_SHOW_KIB,	 /**< bytes in KiB, rounded down, as ps does */
	KW_SHOW_CPUTIME, /**< nanoseconds as [DD-]HH:MM:SS, ps's TIME */
	KW_SHOW_ELAPSED, /**< nanoseconds as [[DD-]HH:]MM:SS, ps's ELAPSED */
	KW_SHOW_START,	 /**< time stamp as HH:MM today, else MonDD, else the year: ps's START */
	KW_SHOW_HEX,	 /**< 0x... */
	KW_SHOW_PERCENT, /**< one decimal */
	KW_SHOW_OCTAL,	 /**< with a leading 0 */
	KW_SHOW_ROUNDED, /**< a float with at most three decimals */
};

/** One column of output. Strings are borrowed for as long as the writer lives. */
struct kw_column {
	const char *name;	 /**< key in JSON, heading in CSV and TSV */
	const char *header;	 /**< heading in a table */
	enum kw_value_type type; /**< of its values, for alignment (numbers to the right) */
	enum kw_unit unit;
	enum kw_display display;
};

/** Options of a writer; begins with its own size. */
struct kw_writer_options {
	size_t size;
	enum kw_format format;
	bool no_headers; /**< table, CSV, TSV */
	bool tree; /**< table: the last column is drawn as a tree, to 64 levels, by kw_writer_row()'s depth */
	bool colour; /**< table: colour the heading */
	unsigned int
		width; /**< table: cut the last column so that lines fit, unless it is numeric; 0: never cut */
	uint64_t now;  /**< target's wall clock in ns since the epoch for KW_SHOW_START; 0: the host's */
};

typedef struct kw_writer kw_writer;

/**
 * Begin writing rows to out.
 *
 * JSON, CSV and TSV give each row to out at once, a table when all are there (or many thousands).
 *
 * @param opts  NULL for a table
 * @param ret  a writer that the caller ends with kw_writer_end()
 */
KW_API kw_status kw_writer_begin(kw_ctx *ctx, FILE *out, const struct kw_writer_options *opts,
				 const struct kw_column *columns, size_t nr, kw_writer **ret);

/**
 * Write a row of nr values.
 *
 * A table may keep rows to find the widths; the values are copied as needed. After KW_FAILED (out does not take any
 * more) further rows are useless but harmless.
 *
 * @param depth  how deep the row stands in a tree (0: a root); the parent is the nearest earlier row one less deep
 */
KW_API kw_status kw_writer_row(kw_writer *writer, const struct kw_value *values, unsigned int depth);

/**
 * Finish and free the writer, write what is left and flush out. NULL is accepted.
 *
 * @return KW_FAILED when out could not take everything (disk full, closed pipe; the latter needs SIGPIPE ignored)
 */
KW_API kw_status kw_writer_end(kw_writer *writer);

/** Write a type's layout with offsets, sizes and holes, as pahole does. */
KW_API kw_status kw_print_type(kw_ctx *ctx, FILE *out, const struct kw_type *type);

/** Options of kw_print_object(). */
struct kw_print_options {
	size_t size;
	unsigned int depth;	/**< structures inside structures shown to this depth; 0: 4 */
	unsigned int max_items; /**< elements of an array shown; 0: 32 */
	bool json;		/**< as JSON instead of C-like text */
};

/**
 * Read an object of a type at an address and write it C-like: `{ .pid = 1, .comm = "init", ... }`, one member a line.
 *
 * Pointers are shown as addresses with their symbol; char arrays as strings; what can't be read as <absent: why>.
 */
KW_API kw_status kw_print_object(kw_ctx *ctx, FILE *out, const struct kw_type *type, uint64_t addr,
				 const struct kw_print_options *opts);

/**
 * Write bytes as text safe for a terminal, on one line.
 *
 * Printable UTF-8 stays. \n \t \e \\ stand for newline, tab, escape and backslash, \xNN for other controls and for
 * bytes that are not UTF-8, \u{NNNN} for characters that steer or hide: C1 controls, format characters such as
 * bidirectional overrides, line separators.
 */
KW_API void kw_put_safe(FILE *out, const char *bytes, size_t len);

#ifdef __cplusplus
}
#endif

#endif
