/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types of the kernel's variables. */
#ifndef KERNEL_GLOBAL_H
#define KERNEL_GLOBAL_H

#include <kwalk/type.h>

/**
 * Find the type of a variable by its symbol.
 *
 * @return KW_OK; KW_INVALID when it is not known; as kw_type_find() when this kernel has no such type
 */
kw_status kw_global_type(kw_ctx *ctx, const char *symbol, const struct kw_type **ret);

#endif
