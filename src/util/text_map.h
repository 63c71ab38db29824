/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts by a number: what is the same for many rows (the path of a cgroup) and is made once.
 *
 * A text that was found or put stays where it is until the map is cleared.
 */
#ifndef UTIL_TEXT_MAP_H
#define UTIL_TEXT_MAP_H

#include "util/key_map.h"

#define KW_TEXT_MAP_MAX 65536 /* texts in a map: it then takes no more */

struct kw_text {
	uint64_t key;
	size_t len;
	char bytes[];
};

struct kw_text_map {
	struct kw_key_map map; /* of struct kw_text */
};

/** Return the text of a key, or NULL. */
const struct kw_text *kw_text_map_find(const struct kw_text_map *map, uint64_t key);

/** Put a copy of bytes under a key that is not there yet; NULL when memory runs out or the map is full. */
const struct kw_text *kw_text_map_put(struct kw_text_map *map, uint64_t key, const char *bytes, size_t len);

/** Take all texts out. */
void kw_text_map_clear(struct kw_text_map *map);

#endif
