/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a BTF blob, shared by btf.c (opening), btf_names.c (names to types) and decode.c (records to types).
 *
 * Invariant: the blob lies within [types, types + types_len) and [strings, strings + strings_len), and every access
 * is checked against these, even where the index was built from the same bytes: they may be in somebody else's
 * mapping.
 */
#ifndef TYPE_BTF_RECORD_H
#define TYPE_BTF_RECORD_H

#include "type/btf.h"
#include "type/btf_names.h"
#include "util/bytes.h"

#include <pthread.h>
#include <stdatomic.h>

#define KW_BTF_RECORD_SIZE 12
#define KW_BTF_LAYOUT_SIZE 4
#define KW_BTF_MARK_EVERY  16
#define KW_BTF_PARTS	   4
#define KW_BTF_NR_MAX	   ((1u << 24) - 2) /* types: what a slot of the hash can hold */

enum kw_btf_kind {
	BTF_VOID,
	BTF_INT,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_NR_KINDS
};

/** What follows a record: bytes, and bytes for each member, value or parameter. */
extern const struct kw_btf_kind_layout {
	uint8_t fixed, each;
	bool named; /* is looked up by name */
} kw_btf_kind_layout[BTF_NR_KINDS];

struct kw_btf_chunk;
struct kw_btf_nodes;
struct kw_btf_names;

struct kw_btf {
	const uint8_t *types;
	const char *strings;
	const uint8_t *layout; /* NULL: it has none */
	uint32_t types_len, strings_len, layout_len;
	const struct kw_btf *base;
	uint32_t first_id;     /* of its own types: 1, or after the base's last */
	uint32_t first_string; /* offset at which its own strings begin */
	uint32_t nr;
	uint32_t *marks; /* where every KW_BTF_MARK_EVERY-th record of a part begins */
	struct kw_btf_span {
		uint32_t first; /* number of its first own record; what is behind the last part begins at nr */
		uint32_t *marks;
	} parts[KW_BTF_PARTS + 1];
	uint32_t first_named; /* the first own record with a name, where they are sorted */
	struct kw_btf_index index;
	bool is_sorted;	      /* by name, from first_named on, as it seems */
	bool enums_have_sign; /* some enum has the kind flag: its producer knows that flag */

	struct kw_btf_nodes *_Atomic nodes; /* types made so far */
	struct kw_btf_chunk *chunks;	    /* under lock */
	struct kw_btf_names *names; /* under lock: copies of names that were asked for, of a blob in place */
	pthread_mutex_t lock;	    /* for making types */

	void *storage;
	size_t storage_size;
	enum kw_btf_storage storage_kind;
};

/* A record with its bounds checked. */
struct kw_btf_record {
	const struct kw_btf *btf; /* the blob it lies in, perhaps the base of the one asked */
	uint32_t name, kind, vlen;
	uint32_t size; /* or the type it refers to */
	bool flag;
	const uint8_t *extra; /* what the kind adds */
};

static inline uint32_t kw_btf_info_vlen(uint32_t info)
{
	return info & 0xffffff;
}

static inline uint32_t kw_btf_info_kind(uint32_t info)
{
	return info >> 24 & 0x7f;
}

/** True for the kinds that are looked up by name: structures, unions, enums, typedefs, base types and variables. */
static inline bool kw_btf_is_named(uint32_t kind)
{
	return kind < BTF_NR_KINDS && kw_btf_kind_layout[kind].named;
}

/** The size of a record by its info word; 0 when its kind is not known and the blob does not tell either. */
static inline uint64_t kw_btf_record_size(const struct kw_btf *btf, uint32_t info)
{
	uint32_t kind = kw_btf_info_kind(info);
	uint64_t vlen = kw_btf_info_vlen(info);
	const uint8_t *layout;

	if (kind != BTF_VOID && kind < BTF_NR_KINDS)
		return KW_BTF_RECORD_SIZE + kw_btf_kind_layout[kind].fixed +
		       kw_btf_kind_layout[kind].each * vlen;
	if (kind == BTF_VOID || !btf->layout || kind >= btf->layout_len / KW_BTF_LAYOUT_SIZE)
		return 0;
	layout = btf->layout + kind * KW_BTF_LAYOUT_SIZE;
	return KW_BTF_RECORD_SIZE + layout[0] + layout[1] * vlen;
}

/** The size of the record at pos, which is in the section; 0 when it is not known or leaves the section. */
static inline uint32_t kw_btf_checked_size(const struct kw_btf *btf, uint32_t pos)
{
	uint64_t size;

	if (btf->types_len - pos < KW_BTF_RECORD_SIZE)
		return 0;
	size = kw_btf_record_size(btf, kw_load_u32(btf->types + pos + 4));
	return size <= btf->types_len - pos ? (uint32_t)size : 0;
}

/** Check all records, find out where they begin, and gather their names. */
kw_status kw_btf_walk(kw_ctx *ctx, struct kw_btf *btf);

/** The string at an offset and the bytes up to the end of its section; NULL when it lies in none. */
const char *kw_btf_string_at(const struct kw_btf *btf, uint32_t off, size_t *ret_room);

/** Fill *ret with a record; false when there is no such number or its record leaves the section. */
bool kw_btf_record_at(const struct kw_btf *btf, uint32_t id, struct kw_btf_record *ret);

/**
 * The name at an offset, or a text in angle brackets where there is none that can be shown.
 *
 * It lives as long as the blob, and does not change when the memory does that the blob lies in.
 */
const char *kw_btf_name_at(const struct kw_btf *btf, uint32_t off);

/** True when the string at an offset is `want`, of len bytes and a NUL. */
bool kw_btf_string_is(const struct kw_btf *btf, uint32_t off, const char *want, size_t len);

/** Copy a name of len bytes once and keep it; NULL when memory runs out. */
const char *kw_btf_keep_name(struct kw_btf *btf, uint32_t off, const char *name, size_t len);

/** Free the kept names. */
void kw_btf_free_names(struct kw_btf *btf);

/** Free the types made from a blob. */
void kw_btf_free_nodes(struct kw_btf *btf);

#endif
