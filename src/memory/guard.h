/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mappings that may fault.
 *
 * Reading a mapped page that the file no longer has (it was cut short), that the disk can't give or that the kernel
 * refuses raises SIGBUS. While a pass is under way a handler for it is installed. For an address in one of our
 * mappings it records the page as failed, counts it, puts a page of zeros in its place and lets the read go on (past the
 * end of a file that was cut short, it does so for all the rest at once); the
 * reader then finds that the count has risen and discards what it has read. Later reads find the record and do not
 * touch the page. Any other SIGBUS goes to the handler that the host had before.
 *
 * Invariants: the handler takes no lock and allocates nothing; a page is recorded and counted before its zeros can be
 * seen; the record of a page that has failed is never taken back.
 */
#ifndef MEMORY_GUARD_H
#define MEMORY_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping;

/* The mappings of one memory. Zeroed: none. */
struct guard {
	struct mapping *first;
	uint64_t faults; /* atomic: pages that failed, the cut off end of a file counting once */
	bool in_parts;	 /* what is mapped was made by guard_reserve() */
};

/**
 * Map a part of a file for reading.
 *
 * @param offset  a multiple of the page size
 * @param ret_why  set to the errno when NULL is returned
 * @return the address of its first byte; it lives until guard_unmap_all()
 */
const uint8_t *guard_map(struct guard *guard, int fd, uint64_t offset, uint64_t size, int *ret_why);

/**
 * As guard_map(), but map nothing yet: each part must be asked of guard_map_part() before it is touched. Tries one page, so
 * that a file which can't be mapped is known at once.
 */
const uint8_t *guard_reserve(struct guard *guard, int fd, uint64_t offset, uint64_t size, int *ret_why);

/**
 * Map a part of what was reserved.
 *
 * @param start, len  whole pages; what lies past the end of what was reserved is left out
 * @return false when it can't be mapped, or enough is: its pages are then recorded as failed, and not to be touched
 */
bool guard_map_part(struct guard *guard, const void *start, size_t len);

/** Unmap everything that the memory has mapped. */
void guard_unmap_all(struct guard *guard);

/** Begin to catch faults, in the whole process. Calls nest and are counted. */
void guard_enter(void);

/** End what guard_enter() began; the last one gives the host its handler back. */
void guard_leave(void);

/** Return how often a page has failed. */
static inline uint64_t guard_faults(const struct guard *guard)
{
	return __atomic_load_n(&guard->faults, __ATOMIC_RELAXED);
}

/** True when a page of the range, which lies in one mapping, has failed. */
bool guard_range_failed(const struct guard *guard, const void *start, size_t len);

#endif
