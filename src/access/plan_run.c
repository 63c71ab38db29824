/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running plans: the inner loop of most queries. */
#include <stdlib.h>
#include <string.h>

#include "access/plan_inner.h"
#include "memory/view.h"
#include "util/error.h"

bool kw_plan_make_rows(struct kw_plan *plan, size_t rows)
{
	size_t nr = rows * (plan->nodes.nr ? plan->nodes.nr : 1), size = rows * plan->row_size;
	uint8_t *scratch = malloc(size ? size : 1);
	struct kw_plan_object *objects = calloc(nr, sizeof(*objects));

	if (!scratch || !objects) {
		free(scratch);
		free(objects);
		return false;
	}
	free(plan->scratch);
	free(plan->objects);
	plan->scratch = scratch;
	plan->row = plan->objects = objects;
	plan->rows = rows;
	return true;
}

void kw_plan_load_string(kw_ctx *ctx, const struct kw_plan_load *load, uint64_t addr, struct kw_value *value)
{
	kw_status status;

	if (!addr) {
		set_absent(value, KW_ABSENT_NULL);
		return;
	}
	status = kw_read_string(ctx, addr, load->text, KW_PATH_MAX_STRING);
	if (status) {
		set_absent(value, kw_absent_of_status(status));
		return;
	}
	value->str = load->text;
	value->len = (uint32_t)strlen(load->text);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	return !len || (!*bytes && !memcmp(bytes, bytes + 1, len - 1));
}

/*
 * Tell whether an object whose bytes are all zeros lies on a page that the live kernel does not show: /proc/kcore gives
 * zeros for those and no error. Where an object is that something points to, something else is not zero: the count of its
 * references, its neighbours. (Not so for a plain variable, which is nobody's target.) The page is looked at in pieces,
 * the first of which mostly decides.
 */
static bool is_unshown(kw_ctx *ctx, uint64_t addr, const uint8_t *bytes, size_t len)
{
	uint8_t piece[512];
	uint64_t page = addr & ~4095ULL;

	if (!is_zero(bytes, len))
		return false;
	for (uint64_t at = page; at < page + 4096; at += sizeof(piece))
		if (kw_read(ctx, at, piece, sizeof(piece)) != KW_OK || !is_zero(piece, sizeof(piece)))
			return false;
	return true;
}

/* Note what came of reading an object's span. A mapping has no unshown pages: it refuses those. */
static void set_object(kw_ctx *ctx, const struct kw_plan *plan, uint32_t i, struct kw_plan_object *row,
		       const uint8_t *data, bool copied, kw_status status)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];

	if (data && copied && plan->doubts_zeros && n->parent != i &&
	    is_unshown(ctx, row[i].address + n->lo, data, n->hi - n->lo)) {
		data = NULL;
		status = KW_FAILED;
	}
	row[i].data = data;
	row[i].status = data ? KW_OK : (uint8_t)status;
	row[i].reason = (uint8_t)kw_absent_of_status(row[i].status);
}

/* Where a number's value is put. */
static inline struct kw_value *value_of(const struct kw_plan_number *n, struct kw_value *values)
{
	struct kw_value *value = (void *)((char *)values + n->place);

	memcpy(value, &n->head, sizeof(n->head));
	return value;
}

/* Load what one object has; its numbers begin with n. */
static inline void load_object(kw_ctx *ctx, const struct kw_plan_node *node, const struct kw_plan_number *n,
			       const uint8_t *data, struct kw_value *values)
{
	for (; n < node->end_u64; n++)
		value_of(n, values)->u = load_unsigned(data + n->offset, 8);
	for (; n < node->end_u32; n++)
		value_of(n, values)->u = load_unsigned(data + n->offset, 4);
	for (; n < node->end_s32; n++)
		value_of(n, values)->i = (int32_t)kw_load_u32(data + n->offset);
	for (const struct kw_plan_load *load = node->first_other; load < node->end_load; load++)
		run_load(ctx, load, data + load->offset, &values[load->slot]);
}

static void set_all_absent(const struct kw_plan_load *load, const struct kw_plan_load *end,
			   const struct kw_plan_object *object, struct kw_value *values)
{
	for (; load < end; load++)
		set_absent(&values[load->slot], object->reason);
}

/* The status of a row whose own object could not be had wholly: it is one when it has a value. */
static kw_status status_of_rest(const struct kw_plan *plan, const struct kw_value *values, kw_status status)
{
	for (size_t i = 0; i < plan->loads.nr; i++)
		if (values[plan->loads.item[i].slot].type != KW_VAL_ABSENT)
			return KW_OK;
	return status;
}

static kw_status load_row(kw_ctx *ctx, const struct kw_plan *plan, struct kw_value *values)
{
	const struct kw_plan_node *node = plan->nodes.item, *end = node + plan->nodes.nr;
	const struct kw_plan_object *object = plan->row;
	const struct kw_plan_number *number = plan->number;
	const struct kw_plan_load *load = plan->loads.item;
	kw_status status = KW_OK;

	for (; node < end; node++, object++) {
		if (object->data) {
			load_object(ctx, node, number, object->data, values);
		} else {
			if (__builtin_expect(object->status, 0))
				kw_plan_load_rest(ctx, plan, load, node->end_load, values);
			else
				set_all_absent(load, node->end_load, object, values);
			if (!status && is_root(plan, (uint32_t)(node - plan->nodes.item)))
				status = object->status;
		}
		load = node->end_load;
		number = node->end_s32;
	}
	return __builtin_expect(status != KW_OK, 0) ? status_of_rest(plan, values, status) : KW_OK;
}

void kw_plan_fetch_object(kw_ctx *ctx, struct kw_plan *plan, uint32_t i, size_t row)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];
	struct kw_plan_object *objects = plan->objects + row * plan->nodes.nr;
	uint8_t *scratch = plan->scratch + row * plan->row_size + n->scratch;
	const uint8_t *data = NULL;
	kw_status status = KW_ABSENT;
	uint64_t first;

	if (!__builtin_add_overflow(objects[i].address, n->lo, &first))
		data = kw_fetch(ctx, first, n->hi - n->lo, scratch, &status);
	set_object(ctx, plan, i, objects, data, data == scratch, status);
}

static kw_status run_once(kw_ctx *ctx, struct kw_plan *plan, uint64_t addr, struct kw_value *values)
{
	const struct kw_plan_node *n = plan->nodes.item, *end = n + plan->nodes.nr;
	bool plain = !kw_views_are_copies(ctx);
	struct kw_plan_object *row = plan->row, *object = row;

	for (uint32_t i = 0; n < end; n++, object++, i++) {
		if (!find_object(ctx, plan, n, i, addr, row))
			continue;
		if (plain)
			object->data = kw_view_at_hand(ctx, object->address + n->lo, n->hi - n->lo);
		if (!object->data)
			kw_plan_fetch_object(ctx, plan, i, 0);
	}
	return load_row(ctx, plan, values);
}

kw_status kw_plan_run(kw_ctx *ctx, struct kw_plan *plan, uint64_t addr, struct kw_value *values)
{
	uint64_t faults = kw_fault_count(ctx);
	kw_status status;

	plan->row = plan->objects;
	status = run_once(ctx, plan, addr, values);
	/* A page of a mapping could not be had and reads as zeros now: the second run sees it marked as failed. */
	if (__builtin_expect(kw_fault_count(ctx) != faults, 0))
		status = run_once(ctx, plan, addr, values);
	return status;
}

static bool make_ranges(struct kw_plan *plan)
{
	size_t nr = KW_PLAN_ROWS * plan->nodes.nr;

	if (plan->rows == KW_PLAN_ROWS)
		return true;
	if (!plan->pointers)
		plan->pointers = calloc(nr, sizeof(*plan->pointers));
	if (!plan->ranges)
		plan->ranges = calloc(nr, sizeof(*plan->ranges));
	if (!plan->owners)
		plan->owners = calloc(nr, sizeof(*plan->owners));
	return plan->pointers && plan->ranges && plan->owners && kw_plan_make_rows(plan, KW_PLAN_ROWS);
}

/* Add the range of a row's object, which has an address, to those that will be fetched. */
static void add_range(kw_ctx *ctx, struct kw_plan *plan, uint32_t i, size_t row, size_t *used)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];
	struct kw_plan_object *objects = plan->objects + row * plan->nodes.nr;
	struct kw_range *range = &plan->ranges[*used];

	if (__builtin_add_overflow(objects[i].address, n->lo, &range->addr)) {
		set_object(ctx, plan, i, objects, NULL, true, KW_ABSENT);
		return;
	}
	range->len = (uint32_t)(n->hi - n->lo);
	range->buf = plan->scratch + row * plan->row_size + n->scratch;
	plan->owners[(*used)++] = (uint32_t)(row * plan->nodes.nr + i);
}

static void fetch_ranges(kw_ctx *ctx, struct kw_plan *plan, size_t nr)
{
	kw_gather(ctx, plan->ranges, nr);
	for (size_t k = 0; k < nr; k++) {
		const struct kw_range *range = &plan->ranges[k];
		uint32_t i = plan->owners[k] % (uint32_t)plan->nodes.nr;

		set_object(ctx, plan, i, plan->objects + plan->owners[k] - i,
			   range->status == KW_OK ? range->buf : NULL, true, range->status);
	}
}

kw_status kw_plan_fetch(kw_ctx *ctx, struct kw_plan *plan, const uint64_t *addrs, const size_t *rows,
			size_t nr)
{
	if (!make_ranges(plan))
		return kw_fail_nomem(ctx);
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		size_t used = 0;

		for (size_t k = 0; k < nr; k++) {
			size_t row = rows ? rows[k] : k;

			if (find_object(ctx, plan, &plan->nodes.item[i], i, addrs[k],
					plan->objects + row * plan->nodes.nr))
				add_range(ctx, plan, i, row, &used);
		}
		fetch_ranges(ctx, plan, used);
	}
	return KW_OK;
}

kw_status kw_plan_fetch_known(kw_ctx *ctx, struct kw_plan *plan, const struct kw_plan_object *const *known,
			      const size_t *rows, size_t nr)
{
	if (!make_ranges(plan))
		return kw_fail_nomem(ctx);
	for (size_t k = 0; k < nr; k++)
		memcpy(plan->objects + rows[k] * plan->nodes.nr, known[k], plan->nodes.nr * sizeof(**known));
	for (uint32_t i = (uint32_t)plan->nodes.nr; i-- > 0;) {
		size_t used = 0;

		for (size_t k = 0; k < nr; k++)
			if (known[k][i].data)
				add_range(ctx, plan, i, rows[k], &used);
		fetch_ranges(ctx, plan, used);
	}
	return KW_OK;
}

kw_status kw_plan_take(kw_ctx *ctx, struct kw_plan *plan, size_t row, struct kw_value *values)
{
	plan->row = plan->objects + row * plan->nodes.nr;
	return load_row(ctx, plan, values);
}

/* Where the pointer to a node's object lies in a row; 0 when it has none, or its parent could not be had. */
static uint64_t pointer_place(const struct kw_plan *plan, const struct kw_plan_object *row, uint32_t i)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];

	if (n->parent == i || !row[n->parent].data)
		return 0;
	return row[n->parent].address + plan->nodes.item[n->parent].lo + n->hop;
}

static const struct kw_plan_object *row_objects(const struct kw_plan *plan, const size_t *rows, size_t k)
{
	return plan->objects + (rows ? rows[k] : k) * plan->nodes.nr;
}

void kw_plan_recheck(kw_ctx *ctx, struct kw_plan *plan, const size_t *rows, size_t nr, bool *ret_changed)
{
	size_t used = 0;

	for (size_t k = 0; k < nr; k++)
		for (uint32_t i = 0; i < plan->nodes.nr; i++) {
			uint64_t at = pointer_place(plan, row_objects(plan, rows, k), i);

			if (at) {
				plan->ranges[used] = (struct kw_range){ .addr = at,
									.len = 8,
									.buf = &plan->pointers[used] };
				used++;
			}
		}
	kw_gather(ctx, plan->ranges, used);
	used = 0;
	for (size_t k = 0; k < nr; k++) {
		const struct kw_plan_object *row = row_objects(plan, rows, k);

		ret_changed[k] = false;
		for (uint32_t i = 0; i < plan->nodes.nr; i++) {
			if (!pointer_place(plan, row, i))
				continue;
			ret_changed[k] |= plan->ranges[used].status != KW_OK ||
					  plan->pointers[used] != row[i].address;
			used++;
		}
	}
}

/* A mapping shows what is there now. False when one of the pointers is not mapped, and nothing is known. */
static bool changed_in_mapping(kw_ctx *ctx, const struct kw_plan *plan, bool *ret_changed)
{
	bool changed = false;

	/* All values have been copied before the pointers are looked at again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		uint64_t at = pointer_place(plan, plan->row, i);
		const uint8_t *pointer = at ? kw_view_at_hand(ctx, at, 8) : NULL;

		if (at && !pointer)
			return false;
		changed |= at && load_unsigned(pointer, 8) != plan->row[i].address;
	}
	*ret_changed = changed;
	return true;
}

bool kw_plan_changed(kw_ctx *ctx, const struct kw_plan *plan)
{
	uint64_t at, now;
	bool changed;

	if (!kw_views_are_copies(ctx) && changed_in_mapping(ctx, plan, &changed))
		return changed;
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if ((at = pointer_place(plan, plan->row, i)))
			kw_forget(ctx, at, sizeof(now));
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		at = pointer_place(plan, plan->row, i);
		if (at && (kw_read_u64(ctx, at, &now) != KW_OK || now != plan->row[i].address))
			return true;
	}
	return false;
}

void kw_plan_forget(kw_ctx *ctx, const struct kw_plan *plan)
{
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if (plan->row[i].address)
			kw_forget(ctx, plan->row[i].address + plan->nodes.item[i].lo,
				  plan->nodes.item[i].hi - plan->nodes.item[i].lo);
}

void kw_plan_forget_root(kw_ctx *ctx, const struct kw_plan *plan, uint64_t addr)
{
	const struct kw_plan_node *root = plan->nodes.item;

	if (plan->nodes.nr)
		kw_forget(ctx, addr + root->lo, root->hi - root->lo);
}
