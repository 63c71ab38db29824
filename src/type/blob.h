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

/** Decide about a blob that a search has found: take it and return true, or give it back and return false. */
typedef bool kw_blob_accept(kw_ctx *ctx, const struct kw_blob *blob, uint64_t addr, void *arg);

/**
 * Search the kernel image, else all memory, for what looks like a kernel's BTF.
 *
 * Memory often holds damaged copies, left over from when the kernel was unpacked: accept must look closely.
 *
 * @return KW_OK when accept has taken a blob; KW_NOTFOUND
 */
kw_status kw_blob_search(kw_ctx *ctx, kw_blob_accept *accept, void *arg);

#endif
