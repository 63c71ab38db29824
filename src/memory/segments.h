/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorted maps of segments.
 *
 * A map is filled in any order and with any overlaps, then finished, which makes it sorted and free of them. Other
 * maps can be laid *under* it: they show only where it has nothing. That is how bytes in the file win over bytes cut
 * off from it, and those over ranges that a dump left out.
 *
 *   segment->offset == KW_NO_ADDR    memory that exists, but has been left out of the dump: excluded
 *   segment->map == NULL             read with pread; past the end of the file: failed
 *   in no segment                    absent
 *
 * Invariant of every segment: size > 0 and start + size does not wrap.
 */
#ifndef MEMORY_SEGMENTS_H
#define MEMORY_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kwalk/memory.h>

struct segment_map {
	struct kw_segment *item;
	size_t nr, cap;
};

/* By which of its two addresses a map is sorted. */
enum address_space { VIRTUAL, PHYSICAL };

static inline uint64_t segment_start(const struct kw_segment *segment, enum address_space space)
{
	return space == VIRTUAL ? segment->vaddr : segment->paddr;
}

/**
 * Append a segment; one of no size is left out, one that wraps is shortened.
 *
 * @return false when memory runs out
 */
bool segments_add(struct segment_map *map, enum address_space space, const struct kw_segment *segment);

/** Sort, cut away overlaps (where two overlap, the one that begins first wins, then the longer), join neighbours. */
void segments_finish(struct segment_map *map, enum address_space space);

/**
 * Show `under` where `map` has nothing. Both are finished before and after; `under` is left as it is.
 *
 * @return false when memory runs out, and then map is unchanged
 */
bool segments_lay_under(struct segment_map *map, const struct segment_map *under, enum address_space space);

/** Return the segment that contains addr, or NULL. */
const struct kw_segment *segments_find(const struct segment_map *map, enum address_space space,
				       uint64_t addr);

/** Return where the next segment above addr begins, or UINT64_MAX. addr itself is in none. */
uint64_t segments_next_start(const struct segment_map *map, enum address_space space, uint64_t addr);

/** Return the part of segment that begins `skip` bytes into it and is `size` bytes long. */
struct kw_segment segment_part(const struct kw_segment *segment, uint64_t skip, uint64_t size);

void segments_free(struct segment_map *map);

#endif
