/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and declarations as C writes them. */
#ifndef TYPE_DECLARE_H
#define TYPE_DECLARE_H

#include <kwalk/type.h>

#include "util/strbuf.h"

/**
 * Append the declaration of `name` with a type: "struct page *pages[16]", "int (*fn)(struct foo *)".
 *
 * @param name  "" for the type alone
 * @param body  what stands for the type at the core of the declaration ("struct { ... }"), or NULL for its name
 */
void kw_type_declare(kw_ctx *ctx, const struct kw_type *type, const char *name, const char *body,
		     struct kw_strbuf *out);

/** Return the type at the core of a declaration: behind pointers, arrays, functions and qualifiers, not typedefs. */
const struct kw_type *kw_type_core(kw_ctx *ctx, const struct kw_type *type);

#endif
