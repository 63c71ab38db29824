/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Member paths: text such as "mm->rss_stat.count[0]" or "__state | state" compiled to where a value lies.
 *
 * A path starts in an object of a known structure. `.` and `->` mean the same: both follow a pointer where there is
 * one. `[N]` indexes arrays and pointers; N is a number or `enum_name.ENUMERATOR`. Alternatives are separated by `|`:
 * the first whose members all exist in this kernel is taken. A structure with a single scalar inside (atomic_t,
 * kuid_t, refcount_t) stands for that scalar.
 *
 * Uses util, memory, type.
 */
#ifndef ACCESS_PATH_H
#define ACCESS_PATH_H

#include <kwalk/type.h>
#include <kwalk/value.h>

#include "util/context.h"

#define KW_PATH_MAX_HOPS   16
#define KW_PATH_MAX_TEXT   1024
#define KW_PATH_MAX_STRING 4096 /* bytes of a string behind a char pointer */

/** How the bytes at the end of a path become a value. */
enum kw_load {
	KW_LOAD_UNSIGNED,
	KW_LOAD_SIGNED,
	KW_LOAD_BOOL,
	KW_LOAD_BITS,	     /* unsigned bitfield: shift and bits */
	KW_LOAD_SIGNED_BITS, /* signed bitfield */
	KW_LOAD_ADDRESS,     /* a pointer as such */
	KW_LOAD_CHARS,	     /* char array: string up to its NUL */
	KW_LOAD_BYTES,	     /* array of other bytes */
	KW_LOAD_STRING,	     /* char pointer: the string behind it */
	KW_LOAD_OBJECT,	     /* a structure or array: only its place is meant */
};

/** A compiled path. */
struct kw_path {
	uint64_t hop[KW_PATH_MAX_HOPS];	       /* offset in each object of the pointer that is followed */
	uint8_t null_reason[KW_PATH_MAX_HOPS]; /* enum kw_absent when that pointer is NULL */
	uint32_t nr_hops;
	uint64_t offset; /* of the value in the last object */
	uint64_t size;	 /* bytes to read there: of the scalar (1, 2, 4, 8), the array, the object */
	enum kw_load load;
	uint8_t shift, bits;	    /* of a bitfield inside the `size` bytes */
	const struct kw_type *type; /* declared type of the value, typedefs kept */
};

/**
 * Compile a path that starts in an object of structure `base`.
 *
 * @return KW_OK; KW_NOTFOUND when a member does not exist (nearest names in the error); KW_INVALID when the text is
 *         not a path or goes through something that has no members
 */
kw_status kw_path_compile(kw_ctx *ctx, const struct kw_type *base, const char *text, struct kw_path *ret);

/** Return the type of value that a path gives. KW_VAL_ABSENT for KW_LOAD_OBJECT, which gives none. */
enum kw_value_type kw_path_value_type(kw_ctx *ctx, const struct kw_path *path);

/** Map the state of unreadable memory to the reason of an absent value. */
enum kw_absent kw_absent_of_status(kw_status status);

#endif
