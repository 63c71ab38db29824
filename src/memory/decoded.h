/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that lies in its file in another form, compressed or scattered: it is had by the unit, a page or more, which
 * the format decodes. A segment's offset is then a place in the row of all units.
 *
 * Decoded units are kept for as long as the context, for what is in a dump does not change; each context has its own.
 */
#ifndef MEMORY_DECODED_H
#define MEMORY_DECODED_H

#include "memory/unpack.h"
#include "util/context.h"

struct decoded_cache;

/** What a format tells of itself. */
struct decoded {
	uint32_t unit; /* bytes; a power of two */
	void *source;  /* the format's own; NULL: this memory is not decoded */
	/**
	 * Decode a unit. The source is not changed: several contexts may do so at once.
	 *
	 * @param room  where packed bytes may be put, 2 * unit bytes
	 * @return KW_OK, KW_ABSENT, KW_EXCLUDED or KW_FAILED; ret is undefined unless KW_OK
	 */
	kw_status (*decode)(kw_ctx *ctx, const void *source, uint64_t nr, struct unpacker *unpacker,
			    uint8_t *room, uint8_t *ret);
	/** Tell, by the format's own tables, what decoding a unit would give; NULL: it is not known beforehand. */
	kw_status (*state)(const void *source, uint64_t nr);
	void (*free)(void *source);
};

/** Copy a range of a decoded memory, which may span units; as kw_read(). */
kw_status decoded_read(kw_ctx *ctx, uint64_t offset, void *buf, size_t len);

/** Free the units that a context has kept. NULL is accepted. */
void decoded_cache_free(struct decoded_cache *cache);

#endif
