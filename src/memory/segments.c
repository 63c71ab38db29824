/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorted maps of segments: see the header for what overlaps mean. */
#include "memory/segments.h"

#include <stdlib.h>

#include "util/array.h"

bool segments_add(struct segment_map *map, enum address_space space, const struct kw_segment *segment)
{
	struct kw_segment copy = *segment;
	uint64_t room = UINT64_MAX - segment_start(segment, space);

	if (copy.size > room)
		copy.size = room;
	if (!copy.size)
		return true;
	return kw_array_push(map, copy);
}

struct kw_segment segment_part(const struct kw_segment *segment, uint64_t skip, uint64_t size)
{
	struct kw_segment part = *segment;

	if (part.vaddr != KW_NO_ADDR)
		part.vaddr += skip;
	if (part.paddr != KW_NO_ADDR)
		part.paddr += skip;
	if (part.offset != KW_NO_ADDR)
		part.offset += skip;
	if (part.map)
		part.map += skip;
	part.size = size;
	return part;
}

static int compare(const struct kw_segment *a, const struct kw_segment *b, enum address_space space)
{
	uint64_t start_a = segment_start(a, space), start_b = segment_start(b, space);

	if (start_a != start_b)
		return start_a < start_b ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return 0;
}

static int compare_virtual(const void *a, const void *b)
{
	return compare(a, b, VIRTUAL);
}

static int compare_physical(const void *a, const void *b)
{
	return compare(a, b, PHYSICAL);
}

/* True when an address or offset either continues in b where a ends, or is in neither. */
static bool continues(uint64_t a, uint64_t size, uint64_t b)
{
	return a == KW_NO_ADDR ? b == KW_NO_ADDR : b == a + size;
}

static bool joins(const struct kw_segment *a, const struct kw_segment *b)
{
	return a->kind == b->kind && a->why == b->why && continues(a->vaddr, a->size, b->vaddr) &&
	       continues(a->paddr, a->size, b->paddr) && continues(a->offset, a->size, b->offset) &&
	       (a->map ? b->map == a->map + a->size : !b->map);
}

/* Append to a list that is in order already. */
static size_t append_joined(struct kw_segment *list, size_t nr, const struct kw_segment *segment)
{
	if (nr && joins(&list[nr - 1], segment))
		list[nr - 1].size += segment->size;
	else
		list[nr++] = *segment;
	return nr;
}

void segments_finish(struct segment_map *map, enum address_space space)
{
	uint64_t end = 0;
	size_t nr = 0;

	if (map->nr)
		qsort(map->item, map->nr, sizeof(*map->item),
		      space == VIRTUAL ? compare_virtual : compare_physical);
	for (size_t i = 0; i < map->nr; i++) {
		struct kw_segment segment = map->item[i];
		uint64_t start = segment_start(&segment, space);

		if (start < end) {
			if (end - start >= segment.size)
				continue;
			segment = segment_part(&segment, end - start, segment.size - (end - start));
		}
		end = segment_start(&segment, space) + segment.size;
		nr = append_joined(map->item, nr, &segment);
	}
	map->nr = nr;
}

/* Append the parts of segment that lie between the `over` segments from *next on. */
static size_t append_gaps(struct kw_segment *list, size_t nr, const struct kw_segment *segment,
			  const struct segment_map *over, size_t *next, enum address_space space)
{
	uint64_t start = segment_start(segment, space), at = start, end = start + segment->size;

	while (at < end) {
		uint64_t stop = end;
		struct kw_segment part;

		if (*next < over->nr && segment_start(&over->item[*next], space) < end)
			stop = segment_start(&over->item[*next], space);
		if (at < stop) {
			part = segment_part(segment, at - start, stop - at);
			nr = append_joined(list, nr, &part);
		}
		if (stop == end)
			break;
		at = stop + over->item[*next].size;
		if (at > end)
			break;
		nr = append_joined(list, nr, &over->item[(*next)++]);
	}
	return nr;
}

bool segments_lay_under(struct segment_map *map, const struct segment_map *under, enum address_space space)
{
	/* Each segment of the upper map ends at most one more part of a lower one. */
	size_t cap = 2 * map->nr + under->nr, nr = 0, next = 0;
	struct kw_segment *list;

	if (!under->nr)
		return true;
	list = reallocarray(NULL, cap, sizeof(*list));
	if (!list)
		return false;
	for (size_t i = 0; i < under->nr; i++) {
		struct kw_segment segment = under->item[i];
		uint64_t start = segment_start(&segment, space);

		while (next < map->nr && segment_start(&map->item[next], space) <= start)
			nr = append_joined(list, nr, &map->item[next++]);
		if (next) {
			const struct kw_segment *before = &map->item[next - 1];
			uint64_t end = segment_start(before, space) + before->size;

			if (end > start) {
				if (end - start >= segment.size)
					continue;
				segment = segment_part(&segment, end - start, segment.size - (end - start));
			}
		}
		nr = append_gaps(list, nr, &segment, map, &next, space);
	}
	while (next < map->nr)
		nr = append_joined(list, nr, &map->item[next++]);
	free(map->item);
	*map = (struct segment_map){ .item = list, .nr = nr, .cap = cap };
	return true;
}

/* Return how many segments begin at or below addr. */
static size_t count_from_below(const struct segment_map *map, enum address_space space, uint64_t addr)
{
	size_t low = 0, high = map->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (segment_start(&map->item[mid], space) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct kw_segment *segments_find(const struct segment_map *map, enum address_space space, uint64_t addr)
{
	size_t nr = count_from_below(map, space, addr);
	const struct kw_segment *segment;

	if (!nr)
		return NULL;
	segment = &map->item[nr - 1];
	return addr - segment_start(segment, space) < segment->size ? segment : NULL;
}

uint64_t segments_next_start(const struct segment_map *map, enum address_space space, uint64_t addr)
{
	size_t nr = count_from_below(map, space, addr);

	return nr < map->nr ? segment_start(&map->item[nr], space) : UINT64_MAX;
}

void segments_free(struct segment_map *map)
{
	free(map->item);
	*map = (struct segment_map){ 0 };
}
