/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of globals that have a plain type. */
#ifndef KERNEL_SYMBOL_VALUE_H
#define KERNEL_SYMBOL_VALUE_H

#include "kernel/kernel.h"

/**
 * Read a global of 1, 2, 4 or 8 bytes by its name.
 *
 * @return KW_NOTFOUND when the kernel has no such symbol; a read's state; errors are set
 */
kw_status kw_symbol_value(kw_ctx *ctx, const char *symbol, size_t size, uint64_t *ret);

#endif
