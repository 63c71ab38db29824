/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Naming an object in kernel memory by an expression: what `kwalk print` takes. */
#ifndef KWALK_OBJECT_H
#define KWALK_OBJECT_H

#include <kwalk/context.h>
#include <kwalk/type.h>
#include <kwalk/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A typed place in kernel memory. */
struct kw_object {
	uint64_t address;
	const struct kw_type *type; /**< as declared */
	bool is_value;	       /**< a number, string or bytes: value holds it; else a structure or array */
	struct kw_value value; /**< strings live until the next kw_object_find() on the context */
};

/**
 * Find an object.
 *
 *     EXPR := [ "(" TYPE ["*"] ")" ] BASE PATH
 *     BASE := SYMBOL | 0xADDRESS | "per_cpu(" SYMBOL "," CPU ")" | "task(" PID ")"
 *
 * PATH is a member path such as ".mm->map_count". A symbol whose type kwalk does not know needs the cast, since BTF has
 * no types for plain variables; `(T *)SYMBOL` says that the variable is a pointer and follows it.
 *
 * @return KW_OK; KW_INVALID for a malformed expression; KW_NOTFOUND for an unknown symbol, type or member; the memory's
 *         state when a pointer on the way can't be read
 */
KW_API kw_status kw_object_find(kw_ctx *ctx, const char *expr, struct kw_object *ret);

#ifdef __cplusplus
}
#endif

#endif
