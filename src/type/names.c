/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies of names in a BTF blob that lies in the target's memory. Callers keep names, print them outside of a pass and
 * take them for strings; in memory that changes, or is cut short, they would not stay that. A name that was seen is
 * copied once, by its offset.
 */
#include "type/btf_record.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE 4000
#define FIRST_SIZE 256 /* slots; a power of two */

struct chunk {
	struct chunk *next;
	size_t used, size;
	char bytes[];
};

struct entry {
	uint32_t off; /* 0: free */
	const char *name;
};

struct kw_btf_names {
	struct chunk *chunks;
	struct entry *slot;
	uint32_t mask, used;
};

static struct entry *find_slot(const struct kw_btf_names *names, uint32_t off)
{
	uint32_t at = (off * 0x9e3779b1u >> 7) & names->mask;

	while (names->slot[at].off && names->slot[at].off != off)
		at = (at + 1) & names->mask;
	return &names->slot[at];
}

static bool make_room(struct kw_btf_names *names)
{
	struct kw_btf_names grown = *names;
	size_t size = names->slot ? ((size_t)names->mask + 1) * 2 : FIRST_SIZE;

	if (names->slot && names->used < names->mask / 4 * 3)
		return true;
	grown.slot = calloc(size, sizeof(*grown.slot));
	if (!grown.slot)
		return false;
	grown.mask = (uint32_t)size - 1;
	for (uint32_t i = 0; names->slot && i <= names->mask; i++)
		if (names->slot[i].off)
			*find_slot(&grown, names->slot[i].off) = names->slot[i];
	free(names->slot);
	*names = grown;
	return true;
}

static char *copy_bytes(struct kw_btf_names *names, const char *bytes, size_t len)
{
	struct chunk *chunk = names->chunks;
	char *copy;

	if (!chunk || chunk->size - chunk->used < len + 1) {
		size_t size = len + 1 > CHUNK_SIZE ? len + 1 : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		*chunk = (struct chunk){ .next = names->chunks, .size = size };
		names->chunks = chunk;
	}
	copy = chunk->bytes + chunk->used;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	chunk->used += len + 1;
	return copy;
}

/* Under lock. */
static const char *keep(struct kw_btf *btf, uint32_t off, const char *name, size_t len)
{
	struct entry *entry;

	if (!btf->names)
		btf->names = calloc(1, sizeof(*btf->names));
	if (!btf->names || !make_room(btf->names))
		return NULL;
	entry = find_slot(btf->names, off);
	if (!entry->off) {
		char *copy = copy_bytes(btf->names, name, len);

		if (!copy)
			return NULL;
		/* Bytes that changed since they were checked. */
		for (size_t i = 0; i < len; i++)
			if (copy[i] < 0x20 || copy[i] > 0x7e)
				copy[i] = '?';
		*entry = (struct entry){ off, copy };
		btf->names->used++;
	}
	return entry->name;
}

const char *kw_btf_keep_name(struct kw_btf *btf, uint32_t off, const char *name, size_t len)
{
	const char *kept;

	pthread_mutex_lock(&btf->lock);
	kept = keep(btf, off, name, len);
	pthread_mutex_unlock(&btf->lock);
	return kept;
}

void kw_btf_free_names(struct kw_btf *btf)
{
	struct chunk *next;

	if (!btf->names)
		return;
	for (struct chunk *chunk = btf->names->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(btf->names->slot);
	free(btf->names);
}
