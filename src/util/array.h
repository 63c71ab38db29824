/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Growable arrays as three plain members: `T *item; size_t nr, cap;`.
 */
#ifndef UTIL_ARRAY_H
#define UTIL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/** Make room for one more element of `size` bytes; doubles. False when memory runs out, and then nothing changes. */
static inline bool kw_array_grow(void **item, size_t nr, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *grown;

	if (nr < *cap)
		return true;
	grown = reallocarray(*item, want, size);
	if (!grown)
		return false;
	*item = grown;
	*cap = want;
	return true;
}

/** Append an element to {item, nr, cap}; the expression is false when memory runs out. */
#define kw_array_push(a, ...)                                                          \
	(kw_array_grow((void **)&(a)->item, (a)->nr, &(a)->cap, sizeof(*(a)->item)) && \
	 (((a)->item[(a)->nr++] = (__VA_ARGS__)), true))

#endif
