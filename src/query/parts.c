/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which fields follow from what is loaded for them. */
#include "query/parts.h"

#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "util/array.h"

#define MUCH 512 /* bytes of an input: what is made of it costs no more than comparing it */

/* The load that gives a slot its value, or NULL. */
static const struct kw_plan_load *load_of(const struct kw_plan *plan, uint32_t slot)
{
	for (size_t i = 0; i < plan->loads.nr; i++)
		if (plan->loads.item[i].slot == slot)
			return &plan->loads.item[i];
	return NULL;
}

/* How much of a field's input counts. */
static uint32_t used_of(const kw_query *q, const struct kw_field_def *def, const struct kw_plan_load *load)
{
	uint32_t bits = q->kernel->nr_cpus;

	if (!(def->uses & KW_USES_CPU_BITS) || !bits || bits > load->size * 8)
		return load->size;
	return (bits + 63) / 64 * 8;
}

static bool is_part(const char *need)
{
	static const char end[] = ".counters";
	size_t len = strlen(need);

	return len >= sizeof(end) && strcmp(need + len - (sizeof(end) - 1), end) == 0;
}

/* Whether the value may be another with all inputs the same. */
static bool is_moving(const kw_query *q, const struct kw_stage_item *item)
{
	const struct kw_field_def *def = item->def;

	if (!def)
		return false;
	if (def->uses & (KW_USES_CLOCK | KW_USES_USERS | KW_USES_MORE))
		return true;
	for (uint32_t i = 0; i < KW_FIELD_MAX_NEEDS && def->needs[i]; i++) {
		const struct kw_plan_load *load = load_of(&q->show.plan, item->in + i);

		if (load && (used_of(q, def, load) >= MUCH ||
			     (def->pub.cost == KW_COST_PERCPU && is_part(def->needs[i]))))
			return true;
	}
	return false;
}

static bool add_column(struct kw_parts *p, uint32_t column)
{
	if (p->columns == KW_PARTS_MOVING)
		return false;
	p->column[p->columns++] = column;
	return true;
}

/* Note how much of the values in the slots an item needs. */
static void note_needs(const kw_query *q, const struct kw_stage_item *item, uint32_t *needed)
{
	if (!item->def)
		needed[item->out] = UINT32_MAX;
	for (uint32_t i = 0; item->def && i < KW_FIELD_MAX_NEEDS && item->def->needs[i]; i++) {
		const struct kw_plan_load *load = load_of(&q->show.plan, item->in + i);
		uint32_t used = load ? used_of(q, item->def, load) : 0;

		if (used > needed[item->in + i])
			needed[item->in + i] = used;
	}
}

static bool divide_items(struct kw_parts *p, const kw_query *q, const struct kw_stage_items *items,
			 struct kw_stage_items *still, struct kw_stage_items *moving, uint32_t *needed[2])
{
	for (size_t i = 0; i < items->nr; i++) {
		const struct kw_stage_item *item = &items->item[i];
		bool moves = is_moving(q, item);

		if (!kw_array_push(moves ? moving : still, *item) || (moves && !add_column(p, item->out)))
			return false;
		note_needs(q, item, needed[moves]);
		if (item->def)
			(moves ? &p->moving : &p->still)->uses |= item->def->uses;
	}
	return true;
}

/* What all items of a part need together. */
static void note_common(const struct kw_stage *part, uint32_t *needed)
{
	for (uint32_t i = 0; part->uses & KW_SUMS && i < KW_SUM_INPUTS; i++)
		needed[part->sums_slot + i] = UINT32_MAX;
	if (part->uses & (KW_USES_FLAGS | KW_USES_MM))
		needed[part->flags_slot] = UINT32_MAX;
}

/* Note the object of a load, and those on the way to it. False without memory. */
static bool add_nodes(struct kw_parts *p, const struct kw_plan *plan, uint32_t node)
{
	for (; plan->nodes.item[node].parent != node; node = plan->nodes.item[node].parent) {
		size_t i = 0;

		while (i < p->node.nr && p->node.item[i] != node)
			i++;
		if (i == p->node.nr && !kw_array_push(&p->node, node))
			return false;
	}
	return true;
}

/* Strings at a pointer lie where no word is looked at: they are loaded in every run. */
static bool divide_loads(struct kw_parts *p, const kw_query *q, uint32_t *needed[2])
{
	const struct kw_plan *plan = &q->show.plan;

	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *load = &plan->loads.item[i];
		bool moves = load->load == KW_LOAD_STRING;

		if (moves && load->slot >= q->columns.nr)
			return false; /* some field's: not worth more than this */
		if (moves && !add_column(p, load->slot))
			return false;
		if (!moves && needed[0][load->slot] && !kw_array_push(&p->still_loads, load))
			return false;
		if ((moves || needed[1][load->slot]) &&
		    (!kw_array_push(&p->moving_loads, load) || !add_nodes(p, plan, load->node)))
			return false;
	}
	return true;
}

static bool divide(struct kw_parts *p, const kw_query *q, uint32_t *needed[2])
{
	const struct kw_stage *stage = &q->show;

	p->still.uses = stage->uses & KW_SUMS;
	p->still.flags_slot = p->moving.flags_slot = stage->flags_slot;
	p->still.sums_slot = p->moving.sums_slot = stage->sums_slot;
	for (size_t i = 0; i < stage->sums.nr; i++)
		if (!kw_array_push(&p->still.sums, stage->sums.item[i]))
			return false;
	for (size_t i = 0; i < q->columns.nr; i++)
		needed[0][i] = UINT32_MAX;
	needed[0][q->check_pid] = UINT32_MAX;
	if (!divide_items(p, q, &stage->computed, &p->still.computed, &p->moving.computed, needed) ||
	    !divide_items(p, q, &stage->of_mm, &p->still.of_mm, &p->moving.of_mm, needed))
		return false;
	note_common(&p->still, needed[0]);
	note_common(&p->moving, needed[1]);
	return divide_loads(p, q, needed);
}

static bool choose_words(struct kw_parts *p, kw_query *q, const uint32_t *needed)
{
	struct kw_plan *plan = &q->show.plan;
	uint32_t *wanted = calloc(plan->loads.nr + 1, sizeof(*wanted));
	bool done;

	for (size_t i = 0; wanted && i < p->still_loads.nr; i++)
		wanted[p->still_loads.item[i] - plan->loads.item] = needed[p->still_loads.item[i]->slot];
	done = wanted && kw_plan_choose_words(q->ctx, plan, wanted) == KW_OK;
	free(wanted);
	return done;
}

bool kw_parts_make(kw_query *q, struct kw_parts *ret)
{
	uint32_t *needed[2] = { calloc(q->slots.nr, sizeof(uint32_t)),
				calloc(q->slots.nr, sizeof(uint32_t)) };
	bool done = needed[0] && needed[1] && divide(ret, q, needed) && choose_words(ret, q, needed[0]);

	free(needed[0]);
	free(needed[1]);
	return done;
}

void kw_parts_deinit(struct kw_parts *parts)
{
	kw_stage_deinit(&parts->still);
	kw_stage_deinit(&parts->moving);
	free(parts->still_loads.item);
	free(parts->moving_loads.item);
	free(parts->node.item);
	*parts = (struct kw_parts){ 0 };
}
