/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbols of loaded modules, which the kernel's own table does not have. */
#ifndef KERNEL_MODULE_SYMBOL_H
#define KERNEL_MODULE_SYMBOL_H

#include "kernel/kernel.h"

#define KW_MODULE_NAME_SIZE 56

/**
 * Find a symbol in the modules' tables; that of the module loaded last is taken where several have it.
 *
 * @param ret_module  KW_MODULE_NAME_SIZE bytes: the module's name
 * @return KW_OK; KW_NOTFOUND without a message
 */
kw_status kw_module_symbol(kw_ctx *ctx, const char *name, uint64_t *ret_addr, char *ret_module);

#endif
