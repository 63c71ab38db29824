/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts of kernel types: one neutral model, filled from BTF (or DWARF).
 *
 * A struct kw_type is owned by the target and lives as long as it. Nothing is decoded before it is asked for.
 */
#ifndef KWALK_TYPE_H
#define KWALK_TYPE_H

#include <kwalk/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kw_type_kind {
	KW_TYPE_VOID,
	KW_TYPE_INT, /**< also char and bool: see encoding */
	KW_TYPE_FLOAT,
	KW_TYPE_ENUM,
	KW_TYPE_POINTER,
	KW_TYPE_ARRAY,
	KW_TYPE_STRUCT,
	KW_TYPE_UNION,
	KW_TYPE_TYPEDEF,
	KW_TYPE_QUALIFIER, /**< const, volatile, restrict, type tag */
	KW_TYPE_FUNCTION,
	KW_TYPE_FORWARD, /**< declared, not defined */
};

enum kw_int_encoding { KW_INT_UNSIGNED, KW_INT_SIGNED, KW_INT_CHAR, KW_INT_BOOL };

/** A type. Read-only; size is in bytes. */
struct kw_type {
	enum kw_type_kind kind;
	enum kw_int_encoding encoding; /**< of KW_TYPE_INT; for KW_TYPE_ENUM signed or unsigned */
	const char *name;	       /**< without "struct "; "" for an anonymous type */
	uint64_t size;	 /**< of the type itself; 0 for void, functions, forwards, typedefs, qualifiers */
	uint32_t count;	 /**< members, enumerators, or elements of the array (0: flexible) */
	uint32_t id;	 /**< the origin's own number */
	uint32_t target; /**< the origin's number of the type pointed to, of elements, or behind the name */
	const void *origin; /**< what decoded it; private */
};

/** A member of a structure or union. */
struct kw_member {
	const char *name;	     /**< "" when anonymous */
	const struct kw_type *type;  /**< its declared type */
	const struct kw_type *owner; /**< the structure that declares it */
	uint64_t bit_offset;	     /**< from the beginning of the structure that was asked */
	uint32_t bit_size;	     /**< of a bitfield, else 0 */
};

/**
 * Find a type by name: "struct task_struct", "union u", "enum pid_type", "pid_t", or a bare "task_struct".
 *
 * A bare name is looked for as structure, union, typedef, enum and base type, in this order. "T *" gives KW_INVALID.
 *
 * @return KW_NOTFOUND with the nearest names in kw_error()
 */
KW_API kw_status kw_type_find(kw_ctx *ctx, const char *name, const struct kw_type **ret);

/** Call fn with the name of each structure that BTF has, without "struct" and in no order. */
KW_API kw_status kw_structs_each(kw_ctx *ctx, void (*fn)(const char *name, void *arg), void *arg);

/** Return the type behind a pointer, array, typedef or qualifier (void type at the end of a void pointer). */
KW_API const struct kw_type *kw_type_target(kw_ctx *ctx, const struct kw_type *type);

/** Return the type with its typedefs and qualifiers taken off; depth is bounded. */
KW_API const struct kw_type *kw_type_strip(kw_ctx *ctx, const struct kw_type *type);

/** Return the size in bytes of a value of the type, through typedefs and arrays; 0 when it has none. */
KW_API uint64_t kw_type_size(kw_ctx *ctx, const struct kw_type *type);

/** Get the i-th member of a structure or union as declared. KW_INVALID when there is none. */
KW_API kw_status kw_type_member_at(kw_ctx *ctx, const struct kw_type *type, uint32_t i,
				   struct kw_member *ret);

/**
 * Find a member by name, also inside anonymous structures and unions.
 *
 * @return KW_NOTFOUND with the nearest names in kw_error()
 */
KW_API kw_status kw_type_member(kw_ctx *ctx, const struct kw_type *type, const char *name,
				struct kw_member *ret);

/** Get the i-th enumerator. */
KW_API kw_status kw_enumerator_at(kw_ctx *ctx, const struct kw_type *type, uint32_t i, const char **ret_name,
				  int64_t *ret_value);

/** Find an enumerator's value by name in an enum type ("enum pid_type", "PIDTYPE_TGID"). */
KW_API kw_status kw_enum_value(kw_ctx *ctx, const char *enum_name, const char *name, int64_t *ret);

/** Write the C name of a type ("struct task_struct *", "char[16]") to buf, cut to size. */
KW_API void kw_type_name(kw_ctx *ctx, const struct kw_type *type, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
