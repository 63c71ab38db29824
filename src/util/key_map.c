/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Things by a number. */
#include "util/key_map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 64

bool kw_key_map_grow(struct kw_key_map *map)
{
	struct kw_key_map larger = { .cap = map->cap ? map->cap * 2 : FIRST_CAP };

	if ((map->nr + 1) * 2 <= map->cap)
		return true;
	larger.slot = calloc(larger.cap, sizeof(*larger.slot));
	if (!larger.slot)
		return false;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slot[i])
			kw_key_map_put(&larger, map->slot[i]);
	free(map->slot);
	*map = larger;
	return true;
}

void kw_key_map_put(struct kw_key_map *map, uint64_t *thing)
{
	map->slot[kw_key_map_place(map, *thing)] = thing;
	map->nr++;
}

void kw_key_map_empty(struct kw_key_map *map)
{
	if (map->nr)
		memset(map->slot, 0, map->cap * sizeof(*map->slot));
	map->nr = 0;
}

void kw_key_map_free(struct kw_key_map *map)
{
	free(map->slot);
	*map = (struct kw_key_map){ 0 };
}
