/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of the kernel as text that harms neither a terminal nor a file format. What a process calls itself is
 * chosen by the process: it may hold escape sequences, newlines and anything else but NUL.
 */
#ifndef OUTPUT_SAFE_H
#define OUTPUT_SAFE_H

#include "util/strbuf.h"

#include <stddef.h>

/** What becomes of a character that may not stay as it is. Printable UTF-8 stays in every style. */
enum kw_safe_style {
	KW_SAFE_TEXT, /**< for people: \n \t \e \\, \xNN for other controls and invalid bytes, else \u{NNNN} */
	KW_SAFE_TSV,  /**< \n \t \\, and every byte of anything else as \xNN */
	KW_SAFE_CSV,  /**< newline, tab and backslash stay; every byte of anything else as \xNN */
};

/** A stretch of safe text. */
struct kw_safe_piece {
	const char *text; /**< in the bytes given, or own */
	size_t len;
	size_t width; /**< cells in a terminal */
	char own[20];
};

/**
 * Make the beginning of bytes safe.
 *
 * @param len  bytes there are, at least 1
 * @param piece  points into itself or into bytes: valid until either goes
 * @return how many of the bytes it stands for, at least 1
 */
size_t kw_safe_next(enum kw_safe_style style, const char *bytes, size_t len, struct kw_safe_piece *piece);

/** Append bytes as safe text; return its width in cells. bytes may be NULL when len is 0. */
size_t kw_safe_add(struct kw_strbuf *sb, enum kw_safe_style style, const char *bytes, size_t len);

/** Return how many bytes of KW_SAFE_TEXT fit into width cells, cutting neither a character nor an escape in two. */
size_t kw_safe_fit(const char *text, size_t len, size_t width);

#endif
