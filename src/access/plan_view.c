/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of mapped memory: beginning to fetch what many rows need, and loading flat rows a value at a time. */
#include "access/plan_inner.h"
#include "memory/view.h"
#include "util/error.h"

/* The first of a node's lines. */
static inline const uint32_t *first_line(const struct kw_plan *plan, uint32_t node)
{
	return plan->line + (node ? plan->nodes.item[node - 1].end_line : 0);
}

/* Begin to fetch what will be loaded from the object of a node; the node's lines begin with `line`. */
static inline void prefetch_lines(const struct kw_plan *plan, const struct kw_plan_node *n,
				  const uint32_t *line, const uint8_t *data)
{
	for (const uint32_t *end = plan->line + n->end_line; line < end; line++)
		__builtin_prefetch(data + *line);
}

void kw_plan_view(kw_ctx *ctx, const struct kw_plan *plan, const uint64_t *addrs, size_t nr)
{
	const struct kw_plan_node *root = &plan->nodes.item[0];
	struct kw_window window;

	if (!nr)
		return;
	window = kw_window_open(ctx, addrs[0] + root->lo, root->hi - root->lo);
	for (size_t i = 0; i < nr; i++) {
		const uint8_t *span = kw_window_view(ctx, &window, addrs[i] + root->lo);

		if (span)
			prefetch_lines(plan, root, plan->line, span);
	}
}

/* Objects of one node mostly lie in the same segment. NULL where none is mapped. */
static inline const uint8_t *view_object(kw_ctx *ctx, struct kw_window *window, uint64_t addr, size_t len)
{
	if (__builtin_expect(addr - window->start >= window->nr, 0))
		*window = kw_window_open(ctx, addr, len);
	return window->nr ? kw_window_view(ctx, window, addr) : NULL;
}

/* Find one node's object in all rows. */
static void view_node(kw_ctx *ctx, struct kw_plan *plan, uint32_t i, const uint64_t *addrs, size_t nr,
		      struct kw_window *window)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];
	const uint32_t *line = first_line(plan, i);
	struct kw_plan_object *row = plan->objects;

	kw_window_resize(window, n->hi - n->lo);
	for (size_t r = 0; r < nr; r++, row += plan->nodes.nr) {
		if (!find_object(ctx, plan, n, i, addrs[r], row))
			continue;
		if (!kw_views_are_copies(ctx))
			row[i].data = view_object(ctx, window, row[i].address + n->lo, n->hi - n->lo);
		if (!row[i].data) {
			kw_plan_fetch_object(ctx, plan, i, r);
			*window = (struct kw_window){ 0 };
		}
		if (row[i].data)
			prefetch_lines(plan, n, line, row[i].data);
	}
}

kw_status kw_plan_view_objects(kw_ctx *ctx, struct kw_plan *plan, const uint64_t *addrs, size_t nr)
{
	struct kw_window window = { 0 };

	if (plan->rows < plan->view_rows && !kw_plan_make_rows(plan, plan->view_rows))
		return kw_fail_nomem(ctx);
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		view_node(ctx, plan, i, addrs, nr, &window);
	return KW_OK;
}

void kw_plan_load_begin(const struct kw_plan *plan, struct kw_value *values, size_t stride, uint32_t nr_slots)
{
	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *load = &plan->loads.item[i];
		struct kw_value *value = values + load->slot;
		char *text = load->text;

		for (size_t r = 0; r < KW_PLAN_ROWS && load->slot < nr_slots; r++, value += stride) {
			set_value(load, value, (uint64_t)(uintptr_t)text);
			text += text ? plan->text_size : 0;
		}
	}
}

/*
 * Load one value of all rows. The kinds that most rows have are loaded without asking again which they are, and without
 * what stands there already. The load is a copy, which the values that are written can't be a part of.
 */
static void load_column(const struct kw_plan_load *of, const uint8_t *const *spans, size_t nr,
			size_t text_size, struct kw_value *value, size_t stride)
{
	const struct kw_plan_load load = *of;
	const uint8_t *const *end = spans + nr;
	char *text = load.text;

	if (load.op == OP_S32)
		for (; spans < end; spans++, value += stride)
			value->i = (int32_t)kw_load_u32(*spans + load.offset);
	else if (load.op == OP_U64)
		for (; spans < end; spans++, value += stride)
			value->u = load_unsigned(*spans + load.offset, 8);
	else if (load.op == OP_CHARS16)
		for (; spans < end; spans++, value += stride, text += text_size)
			value->len = copy_chars16(*spans + load.offset, text);
	else
		for (; spans < end; spans++, value += stride, text += text_size)
			load_fixed(&load, *spans + load.offset, text, value);
}

void kw_plan_load(struct kw_plan *plan, const uint8_t *const *spans, size_t nr, struct kw_value *values,
		  size_t stride, uint32_t nr_slots)
{
	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *load = &plan->loads.item[i];

		if (load->slot < nr_slots)
			load_column(load, spans, nr, plan->text_size, values + load->slot, stride);
	}
}
