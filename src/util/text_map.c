/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts by a number. */
#include "util/text_map.h"

#include <stdlib.h>
#include <string.h>

const struct kw_text *kw_text_map_find(const struct kw_text_map *map, uint64_t key)
{
	return kw_key_map_find(&map->map, key);
}

const struct kw_text *kw_text_map_put(struct kw_text_map *map, uint64_t key, const char *bytes, size_t len)
{
	struct kw_text *text;

	if (map->map.nr >= KW_TEXT_MAP_MAX || !kw_key_map_grow(&map->map))
		return NULL;
	text = malloc(sizeof(*text) + len);
	if (!text)
		return NULL;
	text->key = key;
	text->len = len;
	if (len)
		memcpy(text->bytes, bytes, len);
	kw_key_map_put(&map->map, &text->key);
	return text;
}

void kw_text_map_clear(struct kw_text_map *map)
{
	for (size_t i = 0; i < map->map.cap; i++)
		free(map->map.slot[i]);
	kw_key_map_free(&map->map);
}
