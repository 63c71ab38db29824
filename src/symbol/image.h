/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the page tables say the kernel lies, before anything else is known (x86-64).
 */
#ifndef SYMBOL_IMAGE_H
#define SYMBOL_IMAGE_H

#include "util/context.h"

/* The root of a kernel page table. */
struct table_root {
	uint64_t pgd; /* physical */
	unsigned int levels;
	uint64_t sme_mask;
};

/* The kernel image as its page table maps it: one linear piece. */
struct kernel_image {
	uint64_t vaddr; /* of _text */
	uint64_t paddr;
	uint64_t size; /* whole pages of 2 MiB */
	uint64_t data; /* virtual address of the first page that can't be executed: read-only data, then data */
};

/**
 * Find the page table that the kernel keeps in the first MiB for starting other processors.
 *
 * @param ret_image  set to the image that it maps
 * @return KW_NOTFOUND when there is none; KW_OK
 */
kw_status image_find_trampoline(kw_ctx *ctx, struct table_root *ret_root, struct kernel_image *ret_image);

/** Find the image in a page table; KW_NOTFOUND when it maps none, KW_FAILED when a table can't be read. */
kw_status image_find(kw_ctx *ctx, const struct table_root *root, struct kernel_image *ret);

/** Find the address at which a page table maps all physical memory; KW_NOTFOUND when it does not. */
kw_status image_find_direct_map(kw_ctx *ctx, const struct table_root *root, uint64_t *ret_base);

#endif
