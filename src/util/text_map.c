/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts by a number. */
#include "util/text_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Keys are mostly addresses: their low bits alone are all the same. */
static size_t place_of(const struct kw_text_map *map, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & (map->cap - 1);

	while (map->slot[at] && map->slot[at]->key != key)
		at = (at + 1) & (map->cap - 1);
	return at;
}

const struct kw_text *kw_text_map_find(const struct kw_text_map *map, uint64_t key)
{
	return map->cap ? map->slot[place_of(map, key)] : NULL;
}

static bool grow(struct kw_text_map *map)
{
	struct kw_text_map larger = { .cap = map->cap ? map->cap * 2 : 64 };

	larger.slot = calloc(larger.cap, sizeof(struct kw_text *));
	if (!larger.slot)
		return false;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slot[i])
			larger.slot[place_of(&larger, map->slot[i]->key)] = map->slot[i];
	larger.nr = map->nr;
	free(map->slot);
	*map = larger;
	return true;
}

const struct kw_text *kw_text_map_put(struct kw_text_map *map, uint64_t key, const char *bytes, size_t len)
{
	struct kw_text *text;

	if (map->nr >= KW_TEXT_MAP_MAX || (map->nr * 2 >= map->cap && !grow(map)))
		return NULL;
	text = malloc(sizeof(*text) + len);
	if (!text)
		return NULL;
	text->key = key;
	text->len = len;
	if (len)
		memcpy(text->bytes, bytes, len);
	map->slot[place_of(map, key)] = text;
	map->nr++;
	return text;
}

void kw_text_map_clear(struct kw_text_map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->slot[i]);
	free(map->slot);
	*map = (struct kw_text_map){ 0 };
}
