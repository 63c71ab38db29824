/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BTF blobs: decoding in place, by number and by name. The rest of the room sees types through <kwalk/type.h>; this
 * is the layer below it, where a type is (blob, id).
 */
#ifndef TYPE_BTF_H
#define TYPE_BTF_H

#include <kwalk/type.h>

#include "util/context.h"
#include "util/nearest.h"

/** Typedefs, qualifiers and arrays followed before a chain is called cyclic. */
#define KW_TYPE_DEPTH 64

/** Anonymous structures within one another that are searched or printed. */
#define KW_TYPE_NESTING 16

#define KW_BTF_MAGIC	   0xeb9f
#define KW_BTF_HEADER_SIZE 24
#define KW_BTF_SIZE_MAX	   (256u << 20) /* a vmlinux has 4 to 10 MB */

struct kw_btf;

/** How a blob is given back. */
enum kw_btf_storage {
	KW_BTF_IN_PLACE, /* in the target's memory, which outlives the kw_btf, may change and may fault */
	KW_BTF_MALLOCED,
	KW_BTF_MAPPED,
};

/** Which kinds a name is looked up among. */
enum kw_btf_class {
	KW_BTF_ANY, /* the first of structure, union, typedef, enum, base type */
	KW_BTF_STRUCT,
	KW_BTF_UNION,
	KW_BTF_ENUM,
	KW_BTF_VARIABLE, /* a name of its own kind: never among "any" */
};

/** A member as it stands in the blob. */
struct kw_btf_member {
	const char *name;
	uint32_t type;
	uint32_t bit_offset; /* in the structure that declares it */
	uint32_t bit_size;   /* of a bitfield, else 0 */
};

/** A member found by name, perhaps inside anonymous members. */
struct kw_btf_found {
	struct kw_btf_member member;
	uint32_t owner;	     /* the structure that declares it */
	uint64_t bit_offset; /* in the structure that was searched */
};

/*
 * Of a blob in place the functions below read the target's memory: call them in a pass. Names they return and types
 * are safe outside of one.
 */

/**
 * Check a blob's header and its records, and note where these begin. Names are hashed as they are asked for.
 *
 * @param data  kept; given back as `storage` says by kw_btf_free(), and at once when this fails
 * @param base  for split BTF the blob that its numbers and strings continue, which must outlive it; else NULL
 */
kw_status kw_btf_open(kw_ctx *ctx, const void *data, size_t size, enum kw_btf_storage storage,
		      const struct kw_btf *base, struct kw_btf **ret);

/** Free a blob and all types decoded from it. NULL is accepted. */
void kw_btf_free(struct kw_btf *btf);

/** The size in bytes that a blob's header claims for the whole of it; 0 when the bytes do not look like a header. */
uint64_t kw_btf_blob_size(const uint8_t *bytes, size_t size);

/** Types in the blob itself, without void and without its base's. */
uint32_t kw_btf_nr(const struct kw_btf *btf);

/** Return the type with a number, made once and kept; NULL with the error set when the number or record is bad. */
const struct kw_type *kw_btf_type(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id);

/** Find a type by name among the blob's own (not its base's); the lowest number wins. */
bool kw_btf_find(const struct kw_btf *btf, const char *name, enum kw_btf_class class, uint32_t *ret_id);

/** Find the type of a variable by name: in the kernel's own BTF there are those of each CPU, in that made from DWARF all. */
bool kw_btf_find_variable(const struct kw_btf *btf, const char *name, uint32_t *ret_type);

/** Call fn with the names of a class, in no order. */
void kw_btf_each_name(const struct kw_btf *btf, enum kw_btf_class class,
		      void (*fn)(const char *name, void *arg), void *arg);

/** Offer the names of a class to a search for the nearest ones. */
void kw_btf_offer_names(const struct kw_btf *btf, enum kw_btf_class class, struct kw_nearest *nearest);

/** The size in bytes of a value of a type, through typedefs and arrays; 0 when it has none or it overflows. */
uint64_t kw_btf_size(const struct kw_btf *btf, uint32_t id);

/** Get the i-th member of a structure or union. KW_INVALID when there is none. */
kw_status kw_btf_member(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, uint32_t i,
			struct kw_btf_member *ret);

/** Find a member by name, also inside anonymous structures and unions; id may be a typedef or qualifier. */
bool kw_btf_find_member(const struct kw_btf *btf, uint32_t id, const char *name, struct kw_btf_found *ret);

/** True, with the members counted, when a type is a structure or union behind typedefs and qualifiers. */
bool kw_btf_compound(const struct kw_btf *btf, uint32_t id, uint32_t *ret_id, uint32_t *ret_count);

/** Get the i-th enumerator of an enum type. */
kw_status kw_btf_enumerator(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, uint32_t i,
			    const char **ret_name, int64_t *ret_value);

/** Get the i-th parameter of a function type; *ret_type is 0 with name "" for "...". */
kw_status kw_btf_parameter(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, uint32_t i,
			   const char **ret_name, uint32_t *ret_type);

/** True when a forward declaration is of a union. */
bool kw_btf_forward_is_union(const struct kw_btf *btf, uint32_t id);

#endif
