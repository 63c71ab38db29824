/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions by an address in them: the kernel's own, and those of modules. */
#ifndef KERNEL_CODE_SYMBOL_H
#define KERNEL_CODE_SYMBOL_H

#include <kwalk/symbol.h>

#include "kernel/kernel.h"

/**
 * Find the function of a module that holds an address: the nearest symbol at or below it, as the kernel names it.
 *
 * @param name  KW_SYMBOL_NAME_SIZE bytes
 * @return KW_OK; KW_NOTFOUND when the address is in no module, or none of its symbols is before it; a read's state;
 *         without a message
 */
kw_status kw_module_symbol_at(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t addr, char *name);

#endif
