/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words of a row's objects: telling whether what was loaded from them once is still what they hold.
 *
 * They cover the values that were asked for and every pointer to an object, so that equal words mean equal objects and
 * equal values. A word is 8 bytes at a multiple of 8 from an object's beginning.
 */
#include <stdlib.h>

#include "access/plan_inner.h"
#include "util/error.h"

#define WORD 8

static inline uint64_t word_at(const uint8_t *data, uint16_t word)
{
	return load_unsigned(data + (size_t)WORD * word, WORD);
}

static void mark(bool *marked, const struct kw_plan_node *n, uint64_t offset, uint64_t size)
{
	for (uint64_t word = offset / WORD; word * WORD < offset + size && word * WORD < n->hi - n->lo;
	     word++)
		marked[word] = true;
}

static void mark_node(const struct kw_plan *plan, uint32_t node, const uint32_t *wanted, bool *marked)
{
	const struct kw_plan_node *n = &plan->nodes.item[node];

	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *load = &plan->loads.item[i];

		if (load->node == node && wanted[i])
			mark(marked, n, load->offset, wanted[i] < load->size ? wanted[i] : load->size);
	}
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if (!is_root(plan, i) && plan->nodes.item[i].parent == node)
			mark(marked, n, plan->nodes.item[i].hop, 8);
}

static bool take_words(struct kw_plan *plan, struct kw_plan_node *n, const bool *marked)
{
	size_t nr = (n->hi - n->lo) / WORD;
	uint16_t *word = realloc(plan->word, (plan->nr_words + nr + 1) * sizeof(*word));

	if (!word)
		return false;
	plan->word = word;
	for (size_t i = 0; i < nr; i++)
		if (marked[i])
			plan->word[plan->nr_words++] = (uint16_t)i;
	n->end_word = plan->nr_words;
	return true;
}

kw_status kw_plan_choose_words(kw_ctx *ctx, struct kw_plan *plan, const uint32_t *wanted)
{
	plan->image = calloc(1, plan->row_size + 1);
	if (!plan->image)
		return kw_fail_nomem(ctx);
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		bool marked[KW_PLAN_MAX_SPAN / WORD + 2] = { false };

		mark_node(plan, i, wanted, marked);
		if (!take_words(plan, &plan->nodes.item[i], marked))
			return kw_fail_nomem(ctx);
	}
	return KW_OK;
}

/* What differs between so many words of an object and those that are kept: 0 for nothing. */
static inline uint64_t difference(const uint8_t *data, const uint16_t *word, const uint64_t *kept, size_t nr)
{
	uint64_t bits = 0;
	size_t i = 0;

	for (; i + 4 <= nr; i += 4)
		bits |= (word_at(data, word[i]) ^ kept[i]) | (word_at(data, word[i + 1]) ^ kept[i + 1]) |
			(word_at(data, word[i + 2]) ^ kept[i + 2]) |
			(word_at(data, word[i + 3]) ^ kept[i + 3]);
	for (; i < nr; i++)
		bits |= word_at(data, word[i]) ^ kept[i];
	return bits;
}

bool kw_plan_has_words(const struct kw_plan *plan, const struct kw_plan_object *objects,
		       const uint64_t *words)
{
	const struct kw_plan_node *n = plan->nodes.item, *end = n + plan->nodes.nr;
	const uint16_t *word = plan->word;

	for (size_t at = 0, nr; n < end; n++, objects++, at += nr, word += nr, words += nr) {
		nr = n->end_word - at;
		if (!objects->data) {
			if (objects->status)
				return false;
		} else if (nr == 1 ? word_at(objects->data, *word) != *words
				   : difference(objects->data, word, words, nr) != 0) {
			return false;
		}
	}
	return true;
}

void kw_plan_copy_words(const struct kw_plan *plan, struct kw_plan_object *objects, uint64_t *ret_words)
{
	const uint16_t *word = plan->word;

	for (size_t i = 0; i < plan->nodes.nr; i++) {
		const struct kw_plan_node *n = &plan->nodes.item[i];
		const uint8_t *data = objects[i].data;
		uint8_t *image = plan->image + n->scratch;

		for (; word < plan->word + n->end_word; word++, ret_words++) {
			*ret_words = data ? word_at(data, *word) : 0;
			memcpy(image + (size_t)WORD * *word, ret_words, WORD);
		}
		if (data)
			objects[i].data = image;
	}
}

bool kw_plan_points_to(const struct kw_plan *plan, const struct kw_plan_object *objects, const uint32_t *node,
		       size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct kw_plan_node *n = &plan->nodes.item[node[i]];
		const uint8_t *parent = objects[n->parent].data;

		if (parent && load_unsigned(parent + n->hop, 8) != objects[node[i]].address)
			return false;
	}
	return true;
}

void kw_plan_load_some(kw_ctx *ctx, const struct kw_plan_object *objects,
		       const struct kw_plan_load *const *load, size_t nr, struct kw_value *values)
{
	for (size_t i = 0; i < nr; i++) {
		const struct kw_plan_object *object = &objects[load[i]->node];
		const uint8_t *from = object->data ? object->data + load[i]->offset : NULL;
		struct kw_value *value = &values[load[i]->slot];

		if (!from) {
			*value = (struct kw_value){ .type = KW_VAL_ABSENT, .absent = object->reason };
		} else if (load[i]->op == OP_STRING) {
			set_value(load[i], value, 0);
			kw_plan_load_string(ctx, load[i], load_unsigned(from, 8), value);
		} else {
			load_fixed(load[i], from, load[i]->text, value);
		}
	}
}
