/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding VMCOREINFO in physical memory. */
#ifndef SYMBOL_SEARCH_H
#define SYMBOL_SEARCH_H

#include "symbol/image.h"

/** Bytes of a VMCOREINFO text in memory: the kernel gives it a page. */
#define VMCOREINFO_PAGE 4096

/**
 * Decide about a text that was found.
 *
 * @param text  len bytes, not NUL-terminated
 * @return true to take it, false to go on searching
 */
typedef bool (*search_accept)(kw_ctx *ctx, const char *text, size_t len, void *arg);

/**
 * Search for VMCOREINFO by the kernel's own pointer to it, which is among the data of the image.
 *
 * @param direct_map  the address at which the kernel maps physical memory
 * @param ret_paddr  where the accepted text begins
 * @return KW_OK; KW_NOTFOUND
 */
kw_status search_by_pointer(kw_ctx *ctx, const struct kernel_image *image, uint64_t direct_map,
			    search_accept accept, void *arg, uint64_t *ret_paddr);

/** Search all pages of physical memory; as search_by_pointer(). */
kw_status search_everywhere(kw_ctx *ctx, search_accept accept, void *arg, uint64_t *ret_paddr);

#endif
