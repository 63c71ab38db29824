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
 * Invariant: `asked` only ever changes from 0 to 1; two threads asking for the same chunk do no harm.
 */
#ifndef MEMORY_POPULATE_H
#define MEMORY_POPULATE_H

#include <stddef.h>
#include <stdint.h>

#define POPULATE_SHIFT 18 /* chunks of 256 KiB */

/* Zeroed: off. */
struct populate {
	uint8_t *asked; /* one byte for each chunk of the file */
	uint64_t nr;
};

/** Turn it on for an open file of a size, where that does good; stays off without memory for it. */
void populate_init(struct populate *populate, int fd, uint64_t file_size);

void populate_free(struct populate *populate);

/**
 * Ask for the chunks of a range.
 *
 * @param map  address of the byte at `map_offset` of the file; `map_size` bytes are mapped there
 * @param offset, len  range of the file, inside what is mapped
 */
void populate_range(const struct populate *populate, const uint8_t *map, uint64_t map_offset,
		    uint64_t map_size, uint64_t offset, uint64_t len);

/** True when the chunks of the first and the last byte of a range have been asked for, or it is off. */
static inline int populate_done(const struct populate *populate, uint64_t offset, uint64_t len)
{
	const uint8_t *asked = populate->asked;

	return !asked || (asked[offset >> POPULATE_SHIFT] & asked[(offset + len - 1) >> POPULATE_SHIFT]);
}

#endif
