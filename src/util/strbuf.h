/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growing string. Running out of memory is remembered in `failed` and checked once at the end, so that code that
 * builds text stays readable.
 */
#ifndef UTIL_STRBUF_H
#define UTIL_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct kw_strbuf {
	char *str; /* NUL-terminated when len > 0; may be NULL when empty */
	size_t len, cap;
	bool failed;
};

void kw_strbuf_free(struct kw_strbuf *sb);
void kw_strbuf_clear(struct kw_strbuf *sb);
void kw_strbuf_puts(struct kw_strbuf *sb, const char *str);
void kw_strbuf_printf(struct kw_strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** kw_strbuf_add() where there is no room yet. */
void kw_strbuf_grow_and_add(struct kw_strbuf *sb, const char *bytes, size_t len);

/** Add bytes: in line, because rows are made of small pieces. */
static inline void kw_strbuf_add(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	if (__builtin_expect(len >= sb->cap - sb->len, 0)) {
		kw_strbuf_grow_and_add(sb, bytes, len);
		return;
	}
	memcpy(sb->str + sb->len, bytes, len);
	sb->len += len;
	sb->str[sb->len] = '\0';
}

static inline void kw_strbuf_putc(struct kw_strbuf *sb, char c)
{
	kw_strbuf_add(sb, &c, 1);
}

/** Take the string out (caller frees it), leaving the buffer empty; NULL when memory ran out. */
char *kw_strbuf_take(struct kw_strbuf *sb);

#endif
