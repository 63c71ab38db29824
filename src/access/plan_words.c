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
	return kw_load_u64(data + (size_t)WORD * word);
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

static void add_look(struct kw_plan *plan, uint32_t node, const uint32_t *wanted)
{
	const struct kw_plan_node *n = &plan->nodes.item[node];
	bool marked[KW_PLAN_MAX_SPAN / WORD + 2] = { false };
	size_t first = plan->nr_words;

	mark_node(plan, node, wanted, marked);
	for (size_t i = 0; i < (n->hi - n->lo) / WORD; i++)
		if (marked[i])
			plan->word[plan->nr_words++] = (uint16_t)i;
	plan->look[node] = (struct kw_plan_look){
		.node = node,
		.nr = (uint32_t)(plan->nr_words - first),
		.first = (uint32_t)first,
		.offset = plan->nr_words > first ? WORD * plan->word[first] : 0,
	};
}

/* Those with many words, with one, with none; of each kind by node. */
static int compare_looks(const void *a, const void *b)
{
	const struct kw_plan_look *one = a, *other = b;
	uint32_t kind = one->nr < 2 ? one->nr : 2, other_kind = other->nr < 2 ? other->nr : 2;

	return kind != other_kind ? (kind < other_kind) - (kind > other_kind)
				  : (one->node > other->node) - (one->node < other->node);
}

static bool make_room(struct kw_plan *plan)
{
	size_t words = 0;

	for (size_t i = 0; i < plan->nodes.nr; i++)
		words += (plan->nodes.item[i].hi - plan->nodes.item[i].lo) / WORD;
	plan->image = calloc(1, plan->row_size + 1);
	plan->look = calloc(plan->nodes.nr + 1, sizeof(*plan->look));
	plan->word = calloc(words + 1, sizeof(*plan->word));
	return plan->image && plan->look && plan->word;
}

kw_status kw_plan_choose_words(kw_ctx *ctx, struct kw_plan *plan, const uint32_t *wanted)
{
	if (!make_room(plan))
		return kw_fail_nomem(ctx);
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		add_look(plan, i, wanted);
		plan->nr_many += plan->look[i].nr > 1;
		plan->nr_single += plan->look[i].nr == 1;
	}
	qsort(plan->look, plan->nodes.nr, sizeof(*plan->look), compare_looks);
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
	const struct kw_plan_look *look = plan->look, *end = look + plan->nr_many;

	for (; look < end; look++) {
		const struct kw_plan_object *o = &objects[look->node];

		if (o->data ? difference(o->data, plan->word + look->first, words + look->first, look->nr) !=
				      0
			    : o->status)
			return false;
	}
	for (end += plan->nr_single; look < end; look++) {
		const struct kw_plan_object *o = &objects[look->node];

		if (o->data ? kw_load_u64(o->data + look->offset) != words[look->first] : o->status)
			return false;
	}
	for (end = plan->look + plan->nodes.nr; look < end; look++)
		if (objects[look->node].status)
			return false;
	return true;
}

void kw_plan_copy_words(const struct kw_plan *plan, struct kw_plan_object *objects, uint64_t *ret_words)
{
	for (const struct kw_plan_look *look = plan->look; look < plan->look + plan->nodes.nr; look++) {
		const uint8_t *data = objects[look->node].data;
		uint8_t *image = plan->image + plan->nodes.item[look->node].scratch;

		for (uint32_t i = look->first; i < look->first + look->nr; i++) {
			ret_words[i] = data ? word_at(data, plan->word[i]) : 0;
			memcpy(image + (size_t)WORD * plan->word[i], &ret_words[i], WORD);
		}
		if (data)
			objects[look->node].data = image;
	}
}

/* The words of all objects, those that begin a cache line in their object or the others. */
static uint32_t add_witnesses(const struct kw_plan *plan, const struct kw_plan_object *objects,
			      const uint64_t *words, bool begin, struct kw_plan_witness *ret)
{
	uint32_t nr = 0;

	for (const struct kw_plan_look *look = plan->look; look < plan->look + plan->nodes.nr; look++) {
		const uint8_t *data = objects[look->node].data;
		uintptr_t line = UINTPTR_MAX;

		for (uint32_t i = look->first; data && i < look->first + look->nr; i++) {
			const uint8_t *at = data + (size_t)WORD * plan->word[i];
			bool begins = (uintptr_t)at / CACHE_LINE != line;

			line = (uintptr_t)at / CACHE_LINE;
			if (begins == begin)
				ret[nr++] = (struct kw_plan_witness){ .at = at, .was = words[i] };
		}
	}
	return nr;
}

uint32_t kw_plan_call_witnesses(const struct kw_plan *plan, const struct kw_plan_object *objects,
				const uint64_t *words, struct kw_plan_witness *ret, uint32_t *ret_lines)
{
	uint32_t lines = add_witnesses(plan, objects, words, true, ret);
	uint32_t nr = lines + add_witnesses(plan, objects, words, false, ret + lines);

	*ret_lines = lines;
	for (; nr % KW_PLAN_WITNESSES; nr++)
		ret[nr] = ret[nr - 1];
	return nr;
}

bool kw_plan_points_to(const struct kw_plan *plan, const struct kw_plan_object *objects, const uint32_t *node,
		       size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct kw_plan_node *n = &plan->nodes.item[node[i]];
		const uint8_t *parent = objects[n->parent].data;

		if (parent && kw_load_u64(parent + n->hop) != objects[node[i]].address)
			return false;
	}
	return true;
}

void kw_plan_load_some(kw_ctx *ctx, const struct kw_plan_object *objects,
		       const struct kw_plan_load *const *load, size_t nr, struct kw_value *values)
{
	for (size_t i = 0; i < nr; i++) {
		const struct kw_plan_object *object = &objects[load[i]->node];

		if (object->data)
			run_load(ctx, load[i], object->data + load[i]->offset, &values[load[i]->slot]);
		else
			set_absent(&values[load[i]->slot], object->reason);
	}
}
