/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Images of memory in ranges, each behind a header of 32 bytes: LiME's, whose bytes follow as they are, and AVML's,
 * whose bytes follow as a snappy stream. Shared by lime.c (ranges) and avml.c (streams).
 */
#ifndef MEMORY_LIME_H
#define MEMORY_LIME_H

#include "memory/source.h"

#define AVML_CHUNK 65536 /* bytes that a chunk of a snappy stream unpacks to, at most */

struct lime_header {
	char magic[4];
	uint32_t version;
	uint64_t start, last; /* physical addresses, the last one included */
	uint64_t reserved;
};

/** What is packed in the image: nothing yet. NULL when memory runs out. */
struct avml *avml_new(int fd, uint64_t file_size);

/**
 * Index the stream of a range and add its segments to the memory.
 *
 * @param at  where the stream begins
 * @param ret_end  set to where the next range's header is, or to the file's size when the stream is cut short
 * @return KW_FORMAT, without a message, when the stream is damaged
 */
kw_status avml_add(kw_ctx *ctx, struct avml *avml, struct kw_memory *memory, const struct lime_header *header,
		   uint64_t at, uint64_t *ret_end);

/** Free the index. */
void avml_free(void *avml);

/** Decode a chunk: see struct decoded. */
kw_status avml_decode(kw_ctx *ctx, const void *source, uint64_t nr, struct unpacker *unpacker, uint8_t *room,
		      uint8_t *ret);

#endif
