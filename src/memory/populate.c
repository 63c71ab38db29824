/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faulting a mapped file in by the chunk. */
#include "memory/populate.h"

#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define CHUNK	   (1ULL << POPULATE_SHIFT)
#define PAGE_BYTES 4096ULL

static bool is_on_disk(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC &&
	       fs.f_type != HUGETLBFS_MAGIC;
}

bool populate_init(struct populate *populate, struct guard *guard, int fd, uint64_t file_size)
{
	populate_free(populate);
	if (file_size > INT64_MAX || (!guard->in_parts && !is_on_disk(fd)))
		return !guard->in_parts;
	populate->nr = (file_size >> POPULATE_SHIFT) + 1;
	populate->asked = calloc(populate->nr, 1);
	populate->in_parts = guard->in_parts ? guard : NULL;
	return populate->asked || !guard->in_parts;
}

void populate_free(struct populate *populate)
{
	free(populate->asked);
	*populate = (struct populate){ 0 };
}

/* A page that can't be had is left to the fault, which tells which it is: the answer does not matter here. */
static void ask(const uint8_t *map, uint64_t map_offset, uint64_t map_size, uint64_t chunk)
{
	uint64_t start = chunk << POPULATE_SHIFT, end = start + CHUNK;
	uintptr_t from, to;

	if (start < map_offset)
		start = map_offset;
	if (end > map_offset + map_size)
		end = map_offset + map_size;
	if (start >= end)
		return;
	from = (uintptr_t)map + (start - map_offset);
	to = (uintptr_t)map + (end - map_offset);
	from &= ~(uintptr_t)(PAGE_BYTES - 1);
	madvise((void *)from, to - from, MADV_POPULATE_READ);
}

void populate_range(const struct populate *populate, const uint8_t *map, uint64_t map_offset,
		    uint64_t map_size, uint64_t offset, uint64_t len)
{
	uint64_t last = (offset + len - 1) >> POPULATE_SHIFT;

	for (uint64_t chunk = offset >> POPULATE_SHIFT; chunk <= last && chunk < populate->nr; chunk++) {
		if (__atomic_load_n(&populate->asked[chunk], __ATOMIC_RELAXED))
			continue;
		if (!populate->in_parts)
			ask(map, map_offset, map_size, chunk);
		else if (!guard_map_part(populate->in_parts, map - map_offset + (chunk << POPULATE_SHIFT),
					 CHUNK))
			continue;
		__atomic_store_n(&populate->asked[chunk], 1, __ATOMIC_RELAXED);
	}
}
