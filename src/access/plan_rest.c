/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects of which a dump has only a part: a task_struct lies on three pages, each of which may have been left out. What
 * is on the others is taken value by value, each with its own reason when it is not there.
 *
 * Not for the live kernel, which gives zeros for pages that it does not show: an object of zeros is no part of one.
 */
#include "access/plan_inner.h"

static bool may_have_rest(const struct kw_plan *plan, const struct kw_plan_object *object)
{
	return object->address && object->status && !plan->doubts_zeros;
}

bool kw_plan_find_by_rest(kw_ctx *ctx, const struct kw_plan *plan, uint32_t i, struct kw_plan_object *row)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];
	const struct kw_plan_object *parent = &row[n->parent];
	struct kw_plan_object *object = &row[i];
	kw_status status;

	object->address = 0;
	object->reason = parent->reason;
	if (!may_have_rest(plan, parent))
		return false;
	status =
		kw_read_u64(ctx, parent->address + plan->nodes.item[n->parent].lo + n->hop, &object->address);
	if (status)
		object->address = 0;
	object->reason = (uint8_t)(status ? kw_absent_of_status(status) : n->null_reason);
	return object->address != 0;
}

/* Read the bytes of a value into their place among the copies; NULL, with the status, when they are not there. */
static const uint8_t *read_rest(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_plan_load *load,
				kw_status *ret_status)
{
	const struct kw_plan_node *n = &plan->nodes.item[load->node];
	const struct kw_plan_object *object = &plan->row[load->node];
	size_t row = (size_t)(plan->row - plan->objects) / plan->nodes.nr;
	uint8_t *place = plan->scratch + row * plan->row_size + n->scratch + load->offset;

	*ret_status = object->status;
	if (may_have_rest(plan, object))
		*ret_status = kw_read(ctx, object->address + n->lo + load->offset, place, load->size);
	return *ret_status ? NULL : place;
}

void kw_plan_load_rest(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_plan_load *load,
		       const struct kw_plan_load *end, struct kw_value *values)
{
	for (; load < end; load++) {
		kw_status status;
		const uint8_t *from = read_rest(ctx, plan, load, &status);

		if (from)
			run_load(ctx, load, from, &values[load->slot]);
		else
			set_absent(&values[load->slot], kw_absent_of_status(status));
	}
}
