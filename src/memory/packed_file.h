/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacking a file as a whole into a temporary one: what the ways of packing share.
 *
 * The bytes go by pieces from packed_read() through a way's unpack() to packed_write().
 */
#ifndef MEMORY_PACKED_FILE_H
#define MEMORY_PACKED_FILE_H

#include "memory/source.h"

#define PACKED_PIECE (256U << 10)

/** One unpacking: a piece of the file after the other, and what comes of it. */
struct unpacking {
	kw_ctx *ctx;
	const struct kw_memory *memory;
	const struct kw_open_options *opts;
	int out;
	const char *folder;
	uint64_t done, written; /* bytes of the file, bytes of what it unpacks to */
	uint64_t put, checked;	/* bytes put on the disk, and when the room there was last looked at */
	size_t len;		/* of in */
	uint8_t in[PACKED_PIECE], piece[PACKED_PIECE];
};

/** A way of packing. */
struct file_packing {
	const char *name, *magic;
	size_t magic_len;
	const char *what; /* such a file is called */
	/** Unpack all of a file whose first piece has been read. */
	kw_status (*unpack)(struct unpacking *u);
};

extern const struct file_packing kw_packing_gzip, kw_packing_libvirt, kw_packing_qemu, kw_packing_xz,
	kw_packing_zstd;

/** Read the next piece of the file into u->in, which is full but at the end; u->len is 0 after it. */
kw_status packed_read(struct unpacking *u);

/** Write a piece, all of it or an error. */
kw_status packed_write(struct unpacking *u, const uint8_t *bytes, size_t len);

/** Write bytes at a place; again: others may be there already, so that zeros are written, too. */
kw_status packed_write_at(struct unpacking *u, uint64_t at, const uint8_t *bytes, size_t len, bool again);

/** Fail: what is packed is damaged, was cut short, or the library that unpacks it is not there. */
kw_status packed_damaged(struct unpacking *u, const struct file_packing *packing);
kw_status packed_cut_short(struct unpacking *u, const struct file_packing *packing);
kw_status packed_without(struct unpacking *u, const struct file_packing *packing, const char *library,
			 const char *package);

#endif
