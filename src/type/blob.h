/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Getting hold of BTF blobs: from files, from the kernel's memory, from an ELF section.
 */
#ifndef TYPE_BLOB_H
#define TYPE_BLOB_H

#include "type/btf.h"

/** A blob that was found; give it to kw_btf_open() or kw_blob_release() it. */
struct kw_blob {
	const void *data;
	size_t size;
	enum kw_btf_storage storage;
};

/** Give a blob back that nobody took. */
void kw_blob_release(struct kw_blob *blob);

/** Map or read a file such as /sys/kernel/btf/vmlinux. */
kw_status kw_blob_from_file(kw_ctx *ctx, const char *path, struct kw_blob *ret);

/** View or copy a range of kernel memory. */
kw_status kw_blob_from_memory(kw_ctx *ctx, uint64_t addr, uint64_t size, struct kw_blob *ret);

/** Copy the .BTF section of an ELF file. KW_NOTFOUND when it has none. */
kw_status kw_blob_from_elf(kw_ctx *ctx, const char *path, struct kw_blob *ret);

/** Search the kernel image, or all memory, for what looks like the kernel's BTF. KW_NOTFOUND when nothing does. */
kw_status kw_blob_search(kw_ctx *ctx, struct kw_blob *ret, uint64_t *ret_addr);

#endif
