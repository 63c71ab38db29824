/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names to types.
 *
 * The names of structures, unions, enums, typedefs, base types and variables, a ninth of all types, go into a hash, in
 * the order of their numbers, but only as far as is needed to find what is asked for: in a kernel before 7.0 what a
 * command wants is among the first sixth.
 *
 * Since 7.0 types are sorted: those without a name first, then the others by name. There a name is found by bisection.
 * Whether a blob is sorted is only guessed by samples: what is not found so is looked for in the hash.
 *
 * Fresh memory costs more here than arithmetic does: hence four bytes for a name.
 */
#include "type/btf_names.h"
#include "type/btf_record.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

#define ORDER_SAMPLES 32
#define AHEAD	      16 /* names fetched before they are hashed */
/* Bytes of records for each slot: a vmlinux has a name every 216 to 231 bytes (5.10 to 7.3). */
#define BYTES_A_SLOT 200

void kw_btf_index_deinit(struct kw_btf_index *index)
{
	free(index->slots);
	free(index->item);
	pthread_mutex_destroy(&index->lock);
}

/* Hashing */

static uint32_t hash_name(const char *name, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15ull, word;

	for (; len >= 8; name += 8, len -= 8) {
		memcpy(&word, name, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, name, len);
	h = (h ^ word) * 0xff51afd7ed558ccdull;
	return (uint32_t)(h >> 32);
}

static uint32_t slot_own(uint32_t slot)
{
	return (slot & 0xffffff) - 1;
}

static bool slot_may_be(uint32_t slot, uint32_t hash)
{
	return slot >> 24 == hash >> 24;
}

static void put_slot(struct kw_btf_index *index, uint32_t own, uint32_t hash)
{
	uint32_t at;

	for (at = hash & index->slot_mask; index->slots[at]; at = (at + 1) & index->slot_mask)
		;
	index->slots[at] = (own + 1) | (hash >> 24 << 24);
}

/* Hash further names until one has a hash; true when one has. The lock is held. */
static bool hash_until(struct kw_btf *btf, uint32_t want)
{
	struct kw_btf_index *index = &btf->index;
	bool found = false;

	while (index->hashed < index->nr && !found) {
		const struct kw_btf_named *named = &index->item[index->hashed++];
		size_t room;
		const char *name;
		uint32_t hash;

		/* Their cache misses are most of the work. */
		if (index->nr - index->hashed > AHEAD)
			__builtin_prefetch(kw_btf_string_at(btf, named[AHEAD].name, &room));
		name = kw_btf_string_at(btf, named->name, &room);
		hash = hash_name(name, strnlen(name, room));
		put_slot(index, named->own, hash);
		found = hash == want;
	}
	return found;
}

/* Looking up */

static enum kw_btf_class class_of(uint32_t kind)
{
	switch (kind) {
	case BTF_STRUCT: return KW_BTF_STRUCT;
	case BTF_UNION: return KW_BTF_UNION;
	case BTF_ENUM:
	case BTF_ENUM64: return KW_BTF_ENUM;
	case BTF_VAR: return KW_BTF_VARIABLE;
	default: return KW_BTF_ANY;
	}
}

static bool is_of_class(uint32_t kind, enum kw_btf_class class)
{
	enum kw_btf_class own = class_of(kind);

	return class == KW_BTF_ANY ? own != KW_BTF_VARIABLE : own == class;
}

/* The order in which a bare name is looked for. */
static unsigned int preference(uint32_t kind)
{
	switch (kind) {
	case BTF_STRUCT: return 0;
	case BTF_UNION: return 1;
	case BTF_TYPEDEF: return 2;
	case BTF_ENUM:
	case BTF_ENUM64: return 3;
	default: return 4;
	}
}

/* A name that is looked for, and the best type of that name so far. */
struct lookup {
	const char *name;
	size_t len;
	uint32_t hash;
	enum kw_btf_class class;
	uint32_t found; /* 0: none */
	unsigned int best;
};

static void offer(struct lookup *lookup, const struct kw_btf_record *rec, uint32_t id)
{
	if (!kw_btf_is_named(rec->kind) || !is_of_class(rec->kind, lookup->class) ||
	    (lookup->found && preference(rec->kind) >= lookup->best))
		return;
	lookup->best = preference(rec->kind);
	lookup->found = id;
}

/* True when no type with a higher number can be better. */
static bool is_settled(const struct lookup *lookup)
{
	return lookup->found && (lookup->class != KW_BTF_ANY || !lookup->best);
}

static void find_hashed(const struct kw_btf *btf, struct lookup *lookup)
{
	const struct kw_btf_index *index = &btf->index;
	uint32_t at = lookup->hash & index->slot_mask;

	for (; index->slots[at]; at = (at + 1) & index->slot_mask) {
		uint32_t id = btf->first_id + slot_own(index->slots[at]);
		struct kw_btf_record rec;

		if (slot_may_be(index->slots[at], lookup->hash) && kw_btf_record_at(btf, id, &rec) &&
		    kw_btf_string_is(btf, rec.name, lookup->name, lookup->len))
			offer(lookup, &rec, id);
	}
}

static void find_in_hash(struct kw_btf *btf, struct lookup *lookup)
{
	lookup->hash = hash_name(lookup->name, lookup->len);
	pthread_mutex_lock(&btf->index.lock);
	find_hashed(btf, lookup);
	while (!is_settled(lookup) && hash_until(btf, lookup->hash))
		find_hashed(btf, lookup);
	pthread_mutex_unlock(&btf->index.lock);
}

/* Sorted types */

/* The name of an own record, and the bytes up to the end of its section; NULL when it can't be read. */
static const char *own_name(const struct kw_btf *btf, uint32_t own, size_t *ret_room)
{
	struct kw_btf_record rec;

	return kw_btf_record_at(btf, btf->first_id + own, &rec) ? kw_btf_string_at(btf, rec.name, ret_room)
								: NULL;
}

/* Compare the name of an own record with another; a name that can't be read is the least. */
static int compare_name(const struct kw_btf *btf, uint32_t own, const char *name)
{
	size_t room;
	const char *str = own_name(btf, own, &room);

	/* The strings end with a NUL, or did when they were checked. */
	return str ? strncmp(str, name, room) : -1;
}

/* The first record with a name, if those without one are all before it. */
static uint32_t find_first_named(const struct kw_btf *btf)
{
	uint32_t low = 0, high = btf->nr;
	struct kw_btf_record rec;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (kw_btf_record_at(btf, btf->first_id + middle, &rec) && rec.name)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* True when samples of the names, evenly spread from `first` on, ascend. */
static bool samples_ascend(const struct kw_btf *btf, uint32_t first)
{
	uint32_t step = (btf->nr - first) / ORDER_SAMPLES;
	const char *last = "", *name;
	size_t last_room = 1, room;

	for (uint32_t i = 0; step && i < ORDER_SAMPLES; i++, last = name, last_room = room) {
		name = own_name(btf, first + i * step, &room);
		/* Either may have lost its end since the strings were checked. */
		if (!name || strncmp(name, last, room < last_room ? room : last_room) <= 0)
			return false;
	}
	return step;
}

/* Find the first of the sorted names that is not less, and take the best of those that are equal. */
static void find_sorted(const struct kw_btf *btf, struct lookup *lookup)
{
	uint32_t low = btf->first_named, high = btf->nr;
	struct kw_btf_record rec;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_name(btf, middle, lookup->name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < btf->nr && kw_btf_record_at(btf, btf->first_id + low, &rec) &&
	       kw_btf_string_is(btf, rec.name, lookup->name, lookup->len);
	     low++)
		offer(lookup, &rec, btf->first_id + low);
}

kw_status kw_btf_index_init(kw_ctx *ctx, struct kw_btf *btf)
{
	size_t slots = 16;

	/* Full is cheap: all but one in 256 of the slots that are passed by differ in the bits of the hash they hold. */
	while (slots < btf->types_len / BYTES_A_SLOT || btf->index.nr > (slots - 1) - (slots - 1) / 16)
		slots *= 2;
	btf->first_named = find_first_named(btf);
	btf->is_sorted = samples_ascend(btf, btf->first_named);
	btf->index.slots = calloc(slots, sizeof(*btf->index.slots));
	btf->index.slot_mask = (uint32_t)slots - 1;
	return btf->index.slots ? KW_OK : kw_fail_nomem(ctx);
}

bool kw_btf_find(const struct kw_btf *btf, const char *name, enum kw_btf_class class, uint32_t *ret_id)
{
	struct lookup lookup = { .name = name, .len = strlen(name), .class = class };

	if (btf->is_sorted)
		find_sorted(btf, &lookup);
	if (!lookup.found)
		find_in_hash((struct kw_btf *)btf, &lookup);
	if (lookup.found)
		*ret_id = lookup.found;
	return lookup.found;
}

bool kw_btf_find_variable(const struct kw_btf *btf, const char *name, uint32_t *ret_type)
{
	struct kw_btf_record rec;
	uint32_t id;

	if (!kw_btf_find(btf, name, KW_BTF_VARIABLE, &id) || !kw_btf_record_at(btf, id, &rec))
		return false;
	*ret_type = rec.size;
	return true;
}

static void hash_all(struct kw_btf *btf)
{
	pthread_mutex_lock(&btf->index.lock);
	while (btf->index.hashed < btf->index.nr)
		hash_until(btf, 0);
	pthread_mutex_unlock(&btf->index.lock);
}

void kw_btf_each_name(const struct kw_btf *btf, enum kw_btf_class class,
		      void (*fn)(const char *name, void *arg), void *arg)
{
	const struct kw_btf_index *index = &btf->index;

	/* After that it does not change any more. */
	hash_all((struct kw_btf *)btf);
	for (uint32_t at = 0; at <= index->slot_mask; at++) {
		struct kw_btf_record rec;

		if (!index->slots[at] ||
		    !kw_btf_record_at(btf, btf->first_id + slot_own(index->slots[at]), &rec))
			continue;
		if (is_of_class(rec.kind, class))
			fn(kw_btf_name_at(btf, rec.name), arg);
	}
}

static void offer_name(const char *name, void *arg)
{
	kw_nearest_offer(arg, name);
}

void kw_btf_offer_names(const struct kw_btf *btf, enum kw_btf_class class, struct kw_nearest *nearest)
{
	kw_btf_each_name(btf, class, offer_name, nearest);
}
