/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of the kernel as safe text.
 *
 * Invariant of KW_SAFE_TEXT and KW_SAFE_TSV: each backslash in the result begins an escape, so the bytes can be had
 * back.
 */
#include "output/safe.h"

#include "output/utf8.h"

#include <kwalk/output.h>

#include <stdint.h>
#include <string.h>

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '\\';
}

/* The same of eight at once: a bit stays for a byte above 0x7e, below 0x20, or that is a backslash. */
static bool are_plain(const char *bytes)
{
	const uint64_t ones = 0x0101010101010101ULL, highs = 0x8080808080808080ULL;
	uint64_t eight, other;

	memcpy(&eight, bytes, sizeof(eight));
	other = eight ^ ones * '\\';
	return !((eight | (eight + ones) | (eight - ones * 0x20) | (other - ones)) & highs);
}

static size_t plain_length(const char *bytes, size_t len)
{
	size_t plain = 0;

	while (len - plain >= 8 && are_plain(bytes + plain))
		plain += 8;
	while (plain < len && is_plain(bytes[plain]))
		plain++;
	return plain;
}

static void set_escape(struct kw_safe_piece *piece, size_t len)
{
	piece->text = piece->own;
	piece->len = len;
	piece->width = len;
}

static void escape_letter(struct kw_safe_piece *piece, char letter)
{
	piece->own[0] = '\\';
	piece->own[1] = letter;
	set_escape(piece, 2);
}

static void escape_bytes(struct kw_safe_piece *piece, const char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *to = piece->own;

	for (size_t i = 0; i < len; i++) {
		*to++ = '\\';
		*to++ = 'x';
		*to++ = digits[(unsigned char)bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	set_escape(piece, 4 * len);
}

static void escape_code(struct kw_safe_piece *piece, uint32_t code)
{
	static const char digits[] = "0123456789abcdef";
	int shift = 20;
	char *to = piece->own;

	memcpy(to, "\\u{", 3);
	to += 3;
	while (shift && !(code >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*to++ = digits[code >> shift & 15];
	*to++ = '}';
	set_escape(piece, (size_t)(to - piece->own));
}

/* The letter that stands for a character after a backslash, or 0. */
static char letter_of(enum kw_safe_style style, char c)
{
	switch (c) {
	case '\\': return '\\';
	case '\n': return 'n';
	case '\t': return 't';
	case '\033': return style == KW_SAFE_TEXT ? 'e' : 0;
	default: return 0;
	}
}

static void stay(struct kw_safe_piece *piece, const char *bytes, size_t len, size_t width)
{
	piece->text = bytes;
	piece->len = len;
	piece->width = width;
}

/* One character that is not plain ASCII. */
static size_t next_character(enum kw_safe_style style, const char *bytes, size_t len,
			     struct kw_safe_piece *piece)
{
	uint32_t code = 0;
	size_t size = kw_utf8_decode(bytes, len, &code);
	int width = size ? kw_utf8_width(code) : -1;
	char letter = letter_of(style, bytes[0]);

	if (style == KW_SAFE_CSV && (letter || width >= 0))
		stay(piece, bytes, size, width > 0 ? (size_t)width : 0);
	else if (letter)
		escape_letter(piece, letter);
	else if (width >= 0)
		stay(piece, bytes, size, (size_t)width);
	else if (size < 2 || style != KW_SAFE_TEXT)
		escape_bytes(piece, bytes, size ? size : 1);
	else
		escape_code(piece, code);
	return size ? size : 1;
}

size_t kw_safe_next(enum kw_safe_style style, const char *bytes, size_t len, struct kw_safe_piece *piece)
{
	size_t plain = plain_length(bytes, len);

	if (!plain)
		return next_character(style, bytes, len, piece);
	stay(piece, bytes, plain, plain);
	return plain;
}

size_t kw_safe_add(struct kw_strbuf *sb, enum kw_safe_style style, const char *bytes, size_t len)
{
	struct kw_safe_piece piece;
	size_t width = 0;

	for (size_t at = 0; at < len;) {
		at += kw_safe_next(style, bytes + at, len - at, &piece);
		kw_strbuf_add(sb, piece.text, piece.len);
		width += piece.width;
	}
	return width;
}

/* The length and width of the character or escape at the start of safe text. */
static size_t unit_of(const char *text, size_t len, size_t *ret_width)
{
	size_t size;
	uint32_t code = 0;

	if (text[0] == '\\' && len > 1) {
		const char *end = text[1] == 'u' ? memchr(text, '}', len) : NULL;

		size = end ? (size_t)(end - text) + 1 : text[1] == 'x' ? 4 : 2;
		size = size > len ? len : size;
		*ret_width = size;
		return size;
	}
	size = kw_utf8_decode(text, len, &code);
	*ret_width = size && kw_utf8_width(code) >= 0 ? (size_t)kw_utf8_width(code) : 1;
	return size ? size : 1;
}

size_t kw_safe_fit(const char *text, size_t len, size_t width)
{
	size_t at = 0, size, cells;

	for (; at < len; at += size) {
		size = unit_of(text + at, len - at, &cells);
		if (cells > width)
			break;
		width -= cells;
	}
	return at;
}

void kw_put_safe(FILE *out, const char *bytes, size_t len)
{
	struct kw_safe_piece piece;

	for (size_t at = 0; at < len;) {
		at += kw_safe_next(KW_SAFE_TEXT, bytes + at, len - at, &piece);
		fwrite(piece.text, 1, piece.len, out);
	}
}
