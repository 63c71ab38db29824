/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cache of decoded units.
 *
 * It is made of sets of four, the one that was used longest ago giving way. Its size is measured: of a dump of 3,710
 * threads kwalk ps -L decodes 9,056 pages with a cache that holds all, 9,063 with 8 MiB, 9,078 with 4, 9,133 with 1.
 */
#include "memory/decoded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/reader.h"

#define CACHE_BYTES (8ULL << 20)
#define WAYS	    4

struct slot {
	uint64_t nr; /* of the unit, plus 1; 0: none */
	uint32_t used;
	kw_status status;
};

struct decoded_cache {
	uint8_t *bytes; /* of all slots; only those that were used take memory */
	uint8_t *room;	/* for packed bytes: two units */
	struct unpacker *unpacker;
	struct slot *slot;
	size_t nr_sets;
	uint32_t clock;
};

static void *map_bytes(size_t size)
{
	void *bytes =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return bytes == MAP_FAILED ? NULL : bytes;
}

static struct decoded_cache *make_cache(uint32_t unit)
{
	struct decoded_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->nr_sets = CACHE_BYTES / unit / WAYS;
	cache->slot = calloc(cache->nr_sets * WAYS, sizeof(*cache->slot));
	cache->bytes = map_bytes(CACHE_BYTES);
	cache->room = malloc(2 * (size_t)unit);
	cache->unpacker = unpacker_new();
	if (cache->slot && cache->bytes && cache->room && cache->unpacker)
		return cache;
	decoded_cache_free(cache);
	return NULL;
}

void decoded_cache_free(struct decoded_cache *cache)
{
	if (!cache)
		return;
	if (cache->bytes)
		munmap(cache->bytes, CACHE_BYTES);
	unpacker_free(cache->unpacker);
	free(cache->room);
	free(cache->slot);
	free(cache);
}

/* Find the slot of a unit, or the one that it may have: *ret_found tells. */
static struct slot *find_slot(struct decoded_cache *cache, uint64_t nr, bool *ret_found)
{
	struct slot *set = &cache->slot[nr % cache->nr_sets * WAYS], *oldest = set;

	*ret_found = true;
	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].nr == nr + 1)
			return &set[i];
		if (cache->clock - set[i].used > cache->clock - oldest->used)
			oldest = &set[i];
	}
	*ret_found = false;
	return oldest;
}

static uint8_t *bytes_of(const struct decoded_cache *cache, const struct slot *slot, uint32_t unit)
{
	return cache->bytes + (size_t)(slot - cache->slot) * unit;
}

static kw_status decode(kw_ctx *ctx, const struct decoded *decoded, uint64_t nr, uint8_t *ret)
{
	struct decoded_cache *cache = ctx->reader->decoded;

	return decoded->decode(ctx, decoded->source, nr, cache->unpacker, cache->room, ret);
}

static kw_status read_unit(kw_ctx *ctx, const struct decoded *decoded, uint64_t nr, size_t skip, uint8_t *buf,
			   size_t len)
{
	struct decoded_cache *cache = ctx->reader->decoded;
	bool found;
	struct slot *slot = find_slot(cache, nr, &found);

	/* A whole unit is most often part of a table that is copied once: it need not drive out others. */
	if (!found && len == decoded->unit)
		return decode(ctx, decoded, nr, buf);
	if (found) {
		ctx->counters.cache_hits++;
	} else {
		slot->nr = 0;
		slot->status = decode(ctx, decoded, nr, bytes_of(cache, slot, decoded->unit));
		slot->nr = nr + 1;
	}
	slot->used = ++cache->clock;
	if (slot->status == KW_OK)
		memcpy(buf, bytes_of(cache, slot, decoded->unit) + skip, len);
	return slot->status;
}

kw_status decoded_read(kw_ctx *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct decoded *decoded = &ctx->reader->memory->decoded;
	uint8_t *to = buf;

	if (!ctx->reader->decoded)
		ctx->reader->decoded = make_cache(decoded->unit);
	if (!ctx->reader->decoded)
		return KW_FAILED;
	while (len) {
		size_t skip = offset & (decoded->unit - 1);
		size_t part = len < decoded->unit - skip ? len : decoded->unit - skip;
		kw_status status = read_unit(ctx, decoded, offset / decoded->unit, skip, to, part);

		if (status != KW_OK)
			return status;
		offset += part;
		to += part;
		len -= part;
	}
	return KW_OK;
}
