/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merging paths into plans. */
#include "access/plan_inner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "util/array.h"
#include "util/error.h"

#define MIN_VIEWED    4
#define VIEWED_LINES  512 /* of rows that are looked at together; twice and four times as many took as long */
#define MAX_FLAT_TEXT 1024 /* bytes of strings in a row of a flat plan */

void kw_plan_deinit(struct kw_plan *plan)
{
	free(plan->nodes.item);
	free(plan->loads.item);
	free(plan->text);
	free(plan->scratch);
	free(plan->objects);
	free(plan->ranges);
	free(plan->owners);
	free(plan->pointers);
	free(plan->line);
	free(plan->number);
	free(plan->look);
	free(plan->word);
	free(plan->image);
	*plan = (struct kw_plan){ 0 };
}

/* True when the span of a node can take lo..hi without growing too long. */
static bool fits(const struct kw_plan_node *node, uint64_t lo, uint64_t hi)
{
	uint64_t first = node->lo < lo ? node->lo : lo, last = node->hi > hi ? node->hi : hi;

	return last - first <= KW_PLAN_MAX_SPAN;
}

static void widen(struct kw_plan_node *node, uint64_t lo, uint64_t hi)
{
	if (lo < node->lo)
		node->lo = lo;
	if (hi > node->hi)
		node->hi = hi;
}

/* Find or make the node of an object that can hold lo..hi; parent UINT32_MAX stands for the row's own object. */
static kw_status take_node(kw_ctx *ctx, struct kw_plan *plan, uint32_t parent, uint64_t hop,
			   enum kw_absent reason, uint64_t lo, uint64_t hi, uint32_t *ret)
{
	bool root = parent == UINT32_MAX;
	struct kw_plan_node node = { .hop = hop, .null_reason = reason, .lo = lo, .hi = hi };

	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		struct kw_plan_node *n = &plan->nodes.item[i];

		if (root ? !is_root(plan, i) : is_root(plan, i) || n->parent != parent || n->hop != hop)
			continue;
		if (!fits(n, lo, hi))
			continue;
		widen(n, lo, hi);
		*ret = i;
		return KW_OK;
	}
	node.parent = root ? (uint32_t)plan->nodes.nr : parent;
	if (!kw_array_push(&plan->nodes, node))
		return kw_fail_nomem(ctx);
	*ret = (uint32_t)plan->nodes.nr - 1;
	return KW_OK;
}

static struct kw_plan_load load_of(kw_ctx *ctx, const struct kw_path *path, uint32_t node, uint32_t slot)
{
	return (struct kw_plan_load){
		.node = node,
		.slot = slot,
		.size = (uint32_t)path->size,
		.load = (uint8_t)path->load,
		.type = path->load == KW_LOAD_OBJECT ? KW_VAL_BYTES : (uint8_t)kw_path_value_type(ctx, path),
		.shift = path->shift,
		.bits = path->bits,
		.offset = path->offset,
	};
}

kw_status kw_plan_add(kw_ctx *ctx, struct kw_plan *plan, const struct kw_path *path, uint32_t slot)
{
	uint32_t node = UINT32_MAX;
	enum kw_absent reason = KW_ABSENT_NULL;
	uint64_t hop = 0;
	struct kw_plan_load load;

	if (!path->size || path->size > KW_PLAN_MAX_SPAN)
		return kw_fail(ctx, KW_INVALID,
			       "is a structure or an array, not a value: name a member of it");
	for (uint32_t i = 0; i <= path->nr_hops; i++) {
		uint64_t lo = i < path->nr_hops ? path->hop[i] : path->offset;
		uint64_t hi = lo + (i < path->nr_hops ? 8 : path->size);
		kw_status status = take_node(ctx, plan, node, hop, reason, lo, hi, &node);

		if (status)
			return status;
		if (i < path->nr_hops) {
			hop = path->hop[i];
			reason = path->null_reason[i];
		}
	}
	load = load_of(ctx, path, node, slot);
	return kw_array_push(&plan->loads, load) ? KW_OK : kw_fail_nomem(ctx);
}

bool kw_plan_has(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_path *path, uint32_t *ret_slot)
{
	struct kw_plan_load wanted = load_of(ctx, path, 0, 0);

	for (size_t i = 0; !path->nr_hops && i < plan->loads.nr; i++) {
		const struct kw_plan_load *l = &plan->loads.item[i];

		if (is_root(plan, l->node) && l->offset == wanted.offset && l->size == wanted.size &&
		    l->load == wanted.load && l->type == wanted.type && l->shift == wanted.shift &&
		    l->bits == wanted.bits) {
			*ret_slot = l->slot;
			return true;
		}
	}
	return false;
}

static enum op find_op(const struct kw_plan_load *load)
{
	switch (load->load) {
	case KW_LOAD_UNSIGNED:
	case KW_LOAD_ADDRESS:
		return load->size == 8 ? OP_U64 : load->size == 4 ? OP_U32 : load->size == 2 ? OP_U16 : OP_U8;
	case KW_LOAD_SIGNED: return load->size == 8 ? OP_U64 : load->size == 4 ? OP_S32 : OP_SIGNED;
	case KW_LOAD_BOOL: return OP_BOOL;
	case KW_LOAD_BITS: return OP_BITS;
	case KW_LOAD_SIGNED_BITS: return OP_SIGNED_BITS;
	case KW_LOAD_CHARS: return load->size == 16 ? OP_CHARS16 : OP_TEXT;
	case KW_LOAD_STRING: return OP_STRING;
	case KW_LOAD_OBJECT: return OP_IN_PLACE;
	default: return OP_TEXT;
	}
}

static size_t text_size(const struct kw_plan_load *load)
{
	switch (load->load) {
	case KW_LOAD_CHARS:
	case KW_LOAD_BYTES: return load->size;
	case KW_LOAD_STRING: return KW_PATH_MAX_STRING;
	default: return 0;
	}
}

static void add_line(struct kw_plan *plan, size_t first, uint64_t offset)
{
	for (size_t k = first; k < plan->nr_lines; k++)
		if (plan->line[k] / CACHE_LINE == offset / CACHE_LINE)
			return;
	plan->line[plan->nr_lines++] = (uint32_t)offset;
}

/* Note which cache lines of a node's object will be looked at. */
static void add_lines_of(struct kw_plan *plan, uint32_t node)
{
	size_t first = plan->nr_lines;

	for (size_t i = 0; i < plan->loads.nr; i++)
		if (plan->loads.item[i].node == node)
			add_line(plan, first, plan->loads.item[i].offset);
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if (!is_root(plan, i) && plan->nodes.item[i].parent == node)
			add_line(plan, first, plan->nodes.item[i].hop);
	plan->nodes.item[node].end_line = plan->nr_lines;
}

static kw_status find_lines(kw_ctx *ctx, struct kw_plan *plan)
{
	size_t rows;

	plan->line = calloc(plan->loads.nr + plan->nodes.nr + 1, sizeof(*plan->line));
	if (!plan->line)
		return kw_fail_nomem(ctx);
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		add_lines_of(plan, i);
	rows = VIEWED_LINES / (plan->nr_lines + 1);
	plan->view_rows = rows < MIN_VIEWED ? MIN_VIEWED : rows > KW_PLAN_ROWS ? KW_PLAN_ROWS : rows;
	return KW_OK;
}

/* A pointer of a child may lie in a node whose span grew after the child was made: only offsets are kept till here. */
static void settle_nodes(struct kw_plan *plan)
{
	for (size_t i = 0; i < plan->nodes.nr; i++) {
		struct kw_plan_node *n = &plan->nodes.item[i];

		if (plan->in_words) {
			n->lo &= ~7ULL;
			n->hi = (n->hi + 7) & ~7ULL;
		}
		n->scratch = plan->row_size;
		plan->row_size += (n->hi - n->lo + 15) & ~15ULL;
		if (!is_root(plan, (uint32_t)i))
			n->hop -= plan->nodes.item[n->parent].lo;
	}
}

/* By node, by how they are loaded, by place; equal ones by slot, so that the order is always the same. */
static int compare_loads(const void *a, const void *b)
{
	const struct kw_plan_load *one = a, *other = b;

	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	if (one->op != other->op)
		return one->op < other->op ? -1 : 1;
	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	return one->slot < other->slot ? -1 : 1;
}

/* What lies in one object is loaded together, and of that what is loaded alike. */
static void sort_loads(struct kw_plan *plan)
{
	size_t i = 0;

	for (size_t k = 0; k < plan->loads.nr; k++)
		plan->loads.item[k].op = (uint8_t)find_op(&plan->loads.item[k]);

	if (plan->loads.nr)
		qsort(plan->loads.item, plan->loads.nr, sizeof(*plan->loads.item), compare_loads);
	for (uint32_t k = 0; k < plan->nodes.nr; k++) {
		while (i < plan->loads.nr && plan->loads.item[i].node == k)
			i++;
		plan->nodes.item[k].end_load = plan->loads.item + i;
	}
}

/* One object, and few bytes of strings, none behind a pointer. */
static bool is_flat(const struct kw_plan *plan)
{
	bool flat = plan->nodes.nr == 1 && plan->text_size <= MAX_FLAT_TEXT;

	for (size_t i = 0; i < plan->loads.nr; i++)
		flat &= plan->loads.item[i].op != OP_STRING;
	return flat;
}

static const struct kw_plan_load *settle_kind(enum op op, const struct kw_plan_load *load,
					      const struct kw_plan_load *end, struct kw_plan_number **number)
{
	for (; load < end && load->op == op; load++)
		*(*number)++ = (struct kw_plan_number){
			.offset = (uint32_t)load->offset,
			.place = load->slot * (uint32_t)sizeof(struct kw_value),
			.head = load->head,
		};
	return load;
}

/* The numbers of each node, in the order of its loads. */
static bool settle_numbers(struct kw_plan *plan)
{
	const struct kw_plan_load *load = plan->loads.item;
	struct kw_plan_number *number = calloc(plan->loads.nr + 1, sizeof(*number));

	plan->number = number;
	for (size_t k = 0; number && k < plan->nodes.nr; k++) {
		struct kw_plan_node *n = &plan->nodes.item[k];

		load = settle_kind(OP_U64, load, n->end_load, &number);
		n->end_u64 = number;
		load = settle_kind(OP_U32, load, n->end_load, &number);
		n->end_u32 = number;
		load = settle_kind(OP_S32, load, n->end_load, &number);
		n->end_s32 = number;
		n->first_other = load;
		load = n->end_load;
	}
	return plan->number != NULL;
}

static bool settle_loads(struct kw_plan *plan)
{
	size_t at = 0;

	for (size_t i = 0; i < plan->loads.nr; i++)
		plan->text_size += (text_size(&plan->loads.item[i]) + 15) & ~15ULL;
	plan->flat = is_flat(plan);
	plan->text = malloc((plan->flat ? KW_PLAN_ROWS : 1) * plan->text_size + 1);
	for (size_t i = 0; plan->text && i < plan->loads.nr; i++) {
		struct kw_plan_load *l = &plan->loads.item[i];

		l->text = (char *)plan->text + at;
		at += (text_size(l) + 15) & ~15ULL;
		l->offset -= plan->nodes.item[l->node].lo;
		memcpy(&l->head, &(struct kw_value){ .type = l->type }, sizeof(l->head));
	}
	return plan->text && settle_numbers(plan);
}

kw_status kw_plan_finish(kw_ctx *ctx, struct kw_plan *plan)
{
	plan->doubts_zeros = kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE;
	settle_nodes(plan);
	sort_loads(plan);
	if (!settle_loads(plan) || !kw_plan_make_rows(plan, 1))
		return kw_fail_nomem(ctx);
	plan->finished = true;
	return find_lines(ctx, plan);
}

static const char *load_name(const struct kw_plan_load *load)
{
	static const char *const names[] = {
		[KW_LOAD_UNSIGNED] = "unsigned",
		[KW_LOAD_SIGNED] = "signed",
		[KW_LOAD_BOOL] = "bool",
		[KW_LOAD_BITS] = "bits",
		[KW_LOAD_SIGNED_BITS] = "signed bits",
		[KW_LOAD_ADDRESS] = "address",
		[KW_LOAD_CHARS] = "chars",
		[KW_LOAD_BYTES] = "bytes",
		[KW_LOAD_STRING] = "string at pointer",
		[KW_LOAD_OBJECT] = "object",
	};

	return names[load->load];
}

void kw_plan_explain(const struct kw_plan *plan, const char *root, FILE *out)
{
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		const struct kw_plan_node *n = &plan->nodes.item[i];

		if (is_root(plan, i))
			fprintf(out, "node %-3u %s", i, root);
		else
			fprintf(out, "node %-3u *(node %u + 0x%" PRIx64 ")", i, n->parent,
				n->hop + (plan->finished ? plan->nodes.item[n->parent].lo : 0));
		fprintf(out, "  bytes 0x%" PRIx64 "..0x%" PRIx64 "\n", n->lo, n->hi);
	}
	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *l = &plan->loads.item[i];

		fprintf(out, "load     node %u + 0x%" PRIx64 "  %u bytes %s", l->node,
			l->offset + (plan->finished ? plan->nodes.item[l->node].lo : 0), l->size,
			load_name(l));
		if (l->bits)
			fprintf(out, " (%u bits from bit %u)", l->bits, l->shift);
		fprintf(out, " -> slot %u\n", l->slot);
	}
}
