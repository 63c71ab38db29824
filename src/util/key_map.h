/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Things by a number, which is their first member: a hash table with open addressing, of pointers to them. */
#ifndef UTIL_KEY_MAP_H
#define UTIL_KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zeroed: an empty one. */
struct kw_key_map {
	uint64_t **slot; /* cap is 0 or a power of two, of which at most half are used */
	size_t nr, cap;
};

/* Where a key is, or could be put. Keys are mostly addresses: their low bits alone are all the same. */
static inline size_t kw_key_map_place(const struct kw_key_map *map, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & (map->cap - 1);

	while (map->slot[at] && *map->slot[at] != key)
		at = (at + 1) & (map->cap - 1);
	return at;
}

/** Return the thing that has a key, or NULL. */
static inline void *kw_key_map_find(const struct kw_key_map *map, uint64_t key)
{
	return map->cap ? map->slot[kw_key_map_place(map, key)] : NULL;
}

/** Make room for one more thing; false when memory runs out, and nothing is done. */
bool kw_key_map_grow(struct kw_key_map *map);

/** Put a thing whose key is not there yet; there is room for it. */
void kw_key_map_put(struct kw_key_map *map, uint64_t *thing);

/** Take all things out; the room for them stays. */
void kw_key_map_empty(struct kw_key_map *map);

/** Take all things out, and free the room. */
void kw_key_map_free(struct kw_key_map *map);

#endif
