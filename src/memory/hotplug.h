/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that comes and goes while the live kernel is looked at.
 *
 * /proc/kcore makes its headers up anew for each reader. Memory that is added brings a segment; and when the headers
 * grow past a page, everything behind them moves: then the same offset is other memory. So the headers are compared
 * from time to time. Segments that were not there when the target was opened are found in `later`, and offsets stay
 * those of the opening, with `shift` between them and the file's.
 *
 * Invariant: a later_segments does not change once it can be seen, and lives as long as the memory.
 */
#ifndef MEMORY_HOTPLUG_H
#define MEMORY_HOTPLUG_H

#include <pthread.h>

#include "memory/segments.h"

#define HOTPLUG_HEAD 4096

struct later_segments {
	struct segment_map virt, phys;
	struct segment_map listed; /* all that there is now, for kw_segments() */
	struct later_segments *older;
};

/* Zeroed, but for the lock: nothing is followed. */
struct hotplug {
	uint64_t shift;		      /* atomic, modulo 2^64 */
	struct later_segments *later; /* atomic, NULL: none */
	pthread_mutex_t lock;	      /* of what follows */
	uint8_t head[HOTPLUG_HEAD];   /* the file's first bytes when they were last looked at: headers only */
	size_t head_len;	      /* 0: not followed */
};

static inline uint64_t hotplug_shift(const struct hotplug *hotplug)
{
	return __atomic_load_n(&hotplug->shift, __ATOMIC_RELAXED);
}

/** Find a segment that has come since the opening, or NULL. */
static inline const struct kw_segment *hotplug_find(const struct hotplug *hotplug, enum address_space space,
						    uint64_t addr)
{
	const struct later_segments *later = __atomic_load_n(&hotplug->later, __ATOMIC_ACQUIRE);

	return later ? segments_find(space == VIRTUAL ? &later->virt : &later->phys, space, addr) : NULL;
}

void hotplug_free(struct hotplug *hotplug);

#endif
