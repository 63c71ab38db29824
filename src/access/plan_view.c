/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of mapped memory: beginning to fetch what many rows need, and loading flat rows a value at a time. */
#include "access/plan_inner.h"
#include "memory/view.h"

bool kw_plan_view(kw_ctx *ctx, const struct kw_plan *plan, const uint64_t *addrs, size_t nr,
		  const uint8_t **ret_spans)
{
	const struct kw_plan_node *root = &plan->nodes.item[0];
	const struct kw_plan_line *line, *end = plan->line + plan->nr_root_lines;
	struct kw_window window;
	bool all = true;

	if (!nr)
		return true;
	window = kw_window_open(ctx, addrs[0] + root->lo, root->hi - root->lo);
	for (size_t i = 0; i < nr; i++) {
		const uint8_t *span = kw_window_view(ctx, &window, addrs[i] + root->lo);

		for (line = plan->line; span && line < end; line++)
			__builtin_prefetch(span + line->offset);
		ret_spans[i] = span;
		all &= span != NULL;
	}
	return all;
}

void kw_plan_prefetch(kw_ctx *ctx, const struct kw_plan *plan, const uint8_t *span)
{
	const struct kw_plan_line *line = plan->line + plan->nr_root_lines,
				  *end = plan->line + plan->nr_lines;
	const uint8_t *object = NULL;
	uint32_t node = 0;

	for (; line < end; line++) {
		if (line->node != node) {
			const struct kw_plan_node *n = &plan->nodes.item[node = line->node];
			uint64_t addr = load_unsigned(span + n->hop, 8);

			object = addr ? kw_view_near(ctx, addr + n->lo, n->hi - n->lo) : NULL;
		}
		if (object)
			__builtin_prefetch(object + line->offset);
	}
}

/* Load one value of all rows. The two kinds that most rows have are loaded without asking again which they are. */
static void load_column(const struct kw_plan_load *load, const uint8_t *const *spans, size_t nr,
			size_t text_size, struct kw_value *value, size_t stride)
{
	char *text = load->text;
	int32_t s32;

	if (load->op == OP_S32)
		for (size_t r = 0; r < nr; r++, value += stride) {
			memcpy(&s32, spans[r] + load->offset, sizeof(s32));
			set_value(load, value, (uint64_t)(int64_t)s32);
		}
	else if (load->op == OP_U64)
		for (size_t r = 0; r < nr; r++, value += stride)
			set_value(load, value, load_unsigned(spans[r] + load->offset, 8));
	else if (load->op == OP_CHARS16)
		for (size_t r = 0; r < nr; r++, value += stride, text += text_size)
			load_chars16(load, spans[r] + load->offset, text, value);
	else
		for (size_t r = 0; r < nr; r++, value += stride, text += text_size)
			load_fixed(load, spans[r] + load->offset, text, value);
}

void kw_plan_load(struct kw_plan *plan, const uint8_t *const *spans, size_t nr, struct kw_value *values,
		  size_t stride)
{
	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *load = &plan->loads.item[i];

		load_column(load, spans, nr, plan->text_size, values + load->slot, stride);
	}
}
