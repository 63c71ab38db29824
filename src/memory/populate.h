/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faulting a mapped file in by the chunk, before it is looked at.
 *
 * The first look at a page of a mapping costs a fault, which brings 16 pages with it at most. Asking for a chunk at
 * once (MADV_POPULATE_READ, Linux 5.14) costs about as much as one fault: measured on a virtual machine, 128 MiB
 * that are in the page cache took 46 to 100 ms by faults and 6 by chunks. On kernels without it nothing changes.
 *
 * Only files on a disk: in memory files (tmpfs, memfd) a hole would be filled, which takes the host's memory.
 *
 * A file that is mapped in parts (guard_reserve(), from its beginning) is mapped by the chunk here, when it is first
 * looked at.
 *
 * Invariant: `asked` only ever changes from 0 to 1; two threads asking for the same chunk do no harm. A chunk that could
 * not be mapped stays 0: its pages have failed, as guard_range_failed() says, and are never touched.
 */
#ifndef MEMORY_POPULATE_H
#define MEMORY_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/guard.h"

#define POPULATE_SHIFT 18 /* chunks of 256 KiB */

/* Zeroed: off. */
struct populate {
	uint8_t *asked; /* one byte for each chunk of the file */
	uint64_t nr;
	struct guard *in_parts; /* whose parts the chunks are; NULL: all is mapped */
};

/**
 * Turn it on for an open file of a size that guard maps, where that does good; stays off without memory for it.
 *
 * @return false when it is off, and the file can't be looked at without it
 */
bool populate_init(struct populate *populate, struct guard *guard, int fd, uint64_t file_size);

void populate_free(struct populate *populate);

/**
 * Ask for the chunks of a range.
 *
 * @param map  address of the byte at `map_offset` of the file; `map_size` bytes are mapped there
 * @param offset, len  range of the file, inside what is mapped
 */
void populate_range(const struct populate *populate, const uint8_t *map, uint64_t map_offset,
		    uint64_t map_size, uint64_t offset, uint64_t len);

/** True when the chunks of a range, of which there are no more than two, have been asked for, or it is off. */
static inline int populate_done(const struct populate *populate, uint64_t offset, uint64_t len)
{
	const uint8_t *asked = populate->asked;

	return !asked || (len <= 1ULL << POPULATE_SHIFT &&
			  (asked[offset >> POPULATE_SHIFT] & asked[(offset + len - 1) >> POPULATE_SHIFT]));
}

#endif
