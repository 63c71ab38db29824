/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a BTF blob, shared by btf.c (opening, names) and decode.c (records to types).
 *
 * Invariant: the blob lies within [types, types + types_len) and [strings, strings + strings_len), and every access
 * is checked against these, even where the index was built from the same bytes: they may be in somebody else's
 * mapping.
 */
#ifndef TYPE_BTF_RECORD_H
#define TYPE_BTF_RECORD_H

#include "type/btf.h"

#include <pthread.h>
#include <stdatomic.h>

#define KW_BTF_RECORD_SIZE 12
#define KW_BTF_LAYOUT_SIZE 4
#define KW_BTF_MARK_EVERY  16

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
	uint32_t *marks; /* where every KW_BTF_MARK_EVERY-th of its own records begins */
	uint32_t *slots; /* name hash: the own number plus 1, and 8 bits of the hash above; 0 is free */
	uint32_t slot_mask, nr_slots_used;
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
