/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growing string. */
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

void kw_strbuf_free(struct kw_strbuf *sb)
{
	free(sb->str);
	*sb = (struct kw_strbuf){ 0 };
}

void kw_strbuf_clear(struct kw_strbuf *sb)
{
	sb->len = 0;
	sb->failed = false;
	if (sb->str)
		sb->str[0] = '\0';
}

static bool reserve(struct kw_strbuf *sb, size_t more)
{
	size_t need, cap = sb->cap ? sb->cap : 64;
	char *grown;

	if (sb->failed || __builtin_add_overflow(sb->len, more, &need) ||
	    __builtin_add_overflow(need, 1, &need))
		goto fail;
	if (need <= sb->cap)
		return true;
	while (cap < need)
		if (__builtin_mul_overflow(cap, 2, &cap))
			goto fail;
	grown = realloc(sb->str, cap);
	if (!grown)
		goto fail;
	sb->str = grown;
	sb->cap = cap;
	return true;
fail:
	sb->failed = true;
	return false;
}

void kw_strbuf_grow_and_add(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	if (!reserve(sb, len))
		return;
	if (len)
		memcpy(sb->str + sb->len, bytes, len);
	sb->len += len;
	sb->str[sb->len] = '\0';
}

void kw_strbuf_puts(struct kw_strbuf *sb, const char *str)
{
	kw_strbuf_add(sb, str, strlen(str));
}

void kw_strbuf_printf(struct kw_strbuf *sb, const char *fmt, ...)
{
	va_list args, again;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	if (len < 0)
		sb->failed = true;
	else if (reserve(sb, (size_t)len)) {
		vsnprintf(sb->str + sb->len, (size_t)len + 1, fmt, again);
		sb->len += (size_t)len;
	}
	va_end(again);
	va_end(args);
}

char *kw_strbuf_take(struct kw_strbuf *sb)
{
	char *str = sb->failed ? NULL : sb->str ? sb->str : calloc(1, 1);

	if (sb->failed)
		free(sb->str);
	*sb = (struct kw_strbuf){ 0 };
	return str;
}
