/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types of the kernel's variables. */
#ifndef KERNEL_GLOBAL_H
#define KERNEL_GLOBAL_H

#include <stdbool.h>

#include <kwalk/type.h>

#include "kernel/kernel.h"

/**
 * True for the address of a symbol of which each CPU has its own: nothing lies there itself. Since 6.15 such addresses
 * are in the image, where something else has been since the kernel booted.
 */
static inline bool kw_is_per_cpu(const struct kw_kernel *kernel, uint64_t addr)
{
	const struct kw_globals *g = &kernel->globals;

	return g->percpu_start != KW_NO_ADDR && g->percpu_end != KW_NO_ADDR && addr >= g->percpu_start &&
	       addr < g->percpu_end;
}

/** Find the address of a symbol of the kernel, else of a module; as kw_symbol_address(). */
kw_status kw_global_address(kw_ctx *ctx, const char *symbol, uint64_t *ret);

/**
 * Find the type of a variable by its symbol, of the kernel or a module.
 *
 * @return KW_OK; KW_INVALID when it is not known; as kw_type_find() when this kernel has no such type
 */
kw_status kw_global_type(kw_ctx *ctx, const char *symbol, const struct kw_type **ret);

#endif
