/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BTF of loaded modules, each split from the kernel's. */
#ifndef TYPE_MODULES_H
#define TYPE_MODULES_H

#include "type/btf.h"

#define KW_MODULES_MAX 4096

/** The blobs of the modules. */
struct kw_modules {
	struct kw_btf **item;
	size_t nr, cap;
};

/**
 * Load the BTF of every module that has some.
 *
 * @param kernel  the base; must outlive the result
 * @return never NULL but when memory runs out; modules that can't be read are missing
 */
struct kw_modules *kw_modules_load(kw_ctx *ctx, const struct kw_btf *kernel);

/** Add the modules' blobs that an IDR of struct btf (btf_idr) in memory leads to. Apart for tests. */
void kw_modules_walk(kw_ctx *ctx, struct kw_modules *modules, const struct kw_btf *kernel, uint64_t idr);

/** Free the blobs. NULL is accepted. */
void kw_modules_free(struct kw_modules *modules);

#endif
