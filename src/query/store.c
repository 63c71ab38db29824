/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that are kept, and finding one by its first values. */
#include "query/operator.h"

#include <string.h>

#include "util/array.h"
#include "util/error.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t hash_text(uint64_t hash, const char *text, size_t len)
{
	uint64_t word;

	hash = mix(hash, len);
	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, len);
	return mix(hash, word);
}

/* Numbers that are equal have one hash, whatever their sign's type: an int above 0 and a uint are the same bits. */
static uint64_t hash_values(const struct kw_value *values, uint32_t nr)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct kw_value *v = &values[i];

		if (v->type == KW_VAL_ABSENT) {
			hash = mix(hash, 1);
		} else if (v->type == KW_VAL_STRING || v->type == KW_VAL_BYTES) {
			hash = hash_text(hash, v->str, v->len);
		} else {
			hash = mix(hash, v->u);
		}
	}
	return hash;
}

static bool rows_equal(const struct kw_value *a, const struct kw_value *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (kw_value_compare(&a[i], &b[i]) != 0)
			return false;
	return true;
}

bool kw_store_find(const struct kw_store *store, const struct kw_value *values, uint32_t nr,
		   size_t *ret_index)
{
	size_t mask = store->nr_slots - 1;

	if (!store->nr_slots)
		return false;
	for (size_t at = hash_values(values, nr) & mask; store->slots[at]; at = (at + 1) & mask) {
		size_t index = store->slots[at] - 1;

		if (rows_equal(store->rows.item[index], values, nr)) {
			*ret_index = index;
			return true;
		}
	}
	return false;
}

static void put_slot(struct kw_store *store, size_t index, uint32_t nr)
{
	size_t mask = store->nr_slots - 1, at = hash_values(store->rows.item[index], nr) & mask;

	while (store->slots[at])
		at = (at + 1) & mask;
	store->slots[at] = (uint32_t)index + 1;
}

static bool grow(struct kw_store *store, uint32_t nr)
{
	size_t want = store->nr_slots ? store->nr_slots * 2 : 64;
	uint32_t *slots = calloc(want, sizeof(*slots));

	if (!slots)
		return false;
	free(store->slots);
	store->slots = slots;
	store->nr_slots = want;
	for (size_t i = 0; i + 1 < store->rows.nr; i++)
		put_slot(store, i, nr);
	return true;
}

bool kw_store_index(struct kw_store *store, uint32_t nr)
{
	if (store->rows.nr * 2 > store->nr_slots && !grow(store, nr))
		return false;
	put_slot(store, store->rows.nr - 1, nr);
	return true;
}

static kw_status too_many(kw_ctx *ctx)
{
	return kw_fail(
		ctx, KW_INVALID,
		"more than %u rows (or 2 GiB of them) to keep for sort, distinct or group by; select fewer with where",
		KW_OP_MAX_ROWS);
}

struct kw_value *kw_store_add(struct kw_pipe *pipe, struct kw_store *store, const struct kw_value *values,
			      uint32_t nr, const struct kw_row_identity *id)
{
	struct kw_value *row = kw_arena_alloc(&store->arena, nr * sizeof(*row));

	if (store->rows.nr == KW_OP_MAX_ROWS || store->arena.bytes > KW_OP_MAX_BYTES) {
		pipe->status = too_many(pipe->ctx);
		return NULL;
	}
	for (uint32_t i = 0; row && i < nr; i++) {
		row[i] = values[i];
		if (row[i].type != KW_VAL_STRING && row[i].type != KW_VAL_BYTES)
			continue;
		row[i].str = kw_arena_copy(&store->arena, values[i].str, values[i].len);
		if (!row[i].str)
			row = NULL;
	}
	if (!row || !kw_array_push(&store->rows, row) || !kw_array_push(&store->ids, *id)) {
		pipe->status = kw_fail_nomem(pipe->ctx);
		return NULL;
	}
	return row;
}

void kw_store_reset(struct kw_store *store)
{
	kw_arena_reset(&store->arena);
	store->rows.nr = store->ids.nr = 0;
	free(store->slots);
	store->slots = NULL;
	store->nr_slots = 0;
}

void kw_store_deinit(struct kw_store *store)
{
	kw_store_reset(store);
	kw_arena_free(&store->arena);
	free(store->rows.item);
	free(store->ids.item);
}
