/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decompressing blocks whose size is known: the pages of a dump, the chunks of an AVML image.
 *
 * Invariant: a block is unpacked whole and exactly, or not at all: what would come out shorter or longer is damaged.
 */
#ifndef MEMORY_UNPACK_H
#define MEMORY_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packing { PACKED_ZLIB, PACKED_LZO, PACKED_SNAPPY, PACKED_ZSTD };

/** What decompressing keeps between two blocks; of one thread. */
struct unpacker;

/** Make one; NULL when memory runs out. */
struct unpacker *unpacker_new(void);

/** Free it. NULL is accepted. */
void unpacker_free(struct unpacker *unpacker);

/**
 * Unpack a block.
 *
 * @param size  how much must come out
 * @return false when the block is damaged, or what it takes is not installed; ret is undefined then
 */
bool unpack(struct unpacker *unpacker, enum packing packing, const uint8_t *packed, size_t len, uint8_t *ret,
	    size_t size);

/** True when libzstd, which is loaded when it is first needed, can be had. */
bool unpack_has_zstd(void);

/** Unpack a block of LZO1X; as unpack(). */
bool unpack_lzo(const uint8_t *packed, size_t len, uint8_t *ret, size_t size);

/** Unpack a block of snappy, without framing; as unpack(). */
bool unpack_snappy(const uint8_t *packed, size_t len, uint8_t *ret, size_t size);

#endif
