/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing BTF: records, one after the other, and their strings; the format is told in btf.c.
 *
 * Running out of memory or of what BTF can hold is remembered in `failed` and checked once at the end.
 */
#ifndef TYPE_BTF_WRITER_H
#define TYPE_BTF_WRITER_H

#include "type/btf_record.h"

struct kw_btf_bytes {
	uint8_t *item;
	size_t nr, cap;
};

/** A zeroed writer is an empty blob. */
struct kw_btf_writer {
	struct kw_btf_bytes types, strings;
	uint32_t nr; /* records begun */
	bool failed;
};

/** A member, value or parameter. */
struct kw_btf_part {
	const char *name; /* NULL: none */
	uint32_t type;
	uint64_t value; /* of an enumerator */
	uint64_t bit_offset;
	uint32_t bit_size; /* of a bitfield, else 0 */
};

/** Begin a record; `flag` is its kind flag. What its kind adds must follow. */
void kw_btf_put_record(struct kw_btf_writer *w, enum kw_btf_kind kind, const char *name, uint32_t vlen,
		       bool flag, uint32_t size_or_type);

/** Append a word to the record that was begun. */
void kw_btf_put_u32(struct kw_btf_writer *w, uint32_t word);

/** Append the offset of a name; NULL and "" are 0. */
void kw_btf_put_name(struct kw_btf_writer *w, const char *name);

/** Write a structure or union; members that BTF can't place are left out. */
void kw_btf_put_compound(struct kw_btf_writer *w, bool is_union, const char *name, uint32_t size,
			 const struct kw_btf_part *part, size_t nr);

/** Write an enum with 64-bit values, which tells each value and its sign for certain. */
void kw_btf_put_enum(struct kw_btf_writer *w, const char *name, uint32_t size, bool is_signed,
		     const struct kw_btf_part *part, size_t nr);

/** Put the sections together behind a header; the caller frees it. NULL when the writer has failed. */
uint8_t *kw_btf_writer_finish(struct kw_btf_writer *w, size_t *ret_size);

/** Free what the writer holds. */
void kw_btf_writer_deinit(struct kw_btf_writer *w);

#endif
