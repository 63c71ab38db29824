/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UTF-8 and the widths of characters in a terminal, whatever the locale of the program is: the C library's own
 * functions know nothing beyond ASCII in the C locale, and a library must not change its host's locale.
 */
#ifndef OUTPUT_UTF8_H
#define OUTPUT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/**
 * Decode the character at the start of bytes.
 *
 * @param len  bytes there are, at least 1
 * @param ret  the code point; untouched on failure
 * @return how many bytes it has, 0 when they are not UTF-8 (overlong forms, surrogates, above U+10FFFF, cut short)
 */
size_t kw_utf8_decode(const char *bytes, size_t len, uint32_t *ret);

/**
 * Return how many cells of a terminal a code point takes: 0 to 2, or -1 when it must not reach one: controls (C0,
 * C1), invisible format characters (bidirectional overrides among them), line and paragraph separators.
 */
int kw_utf8_width(uint32_t code);

#endif
