/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel/maple.h"

#include "kernel/xarray.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/bytes.h"
#include "util/error.h"

#define NODE_SIZE  256
#define MAX_LEVELS 16	  /* a tree of 10 slots a node holds 10^16 entries */
#define MAX_NODES  200000 /* more indices than there are interrupts or mappings of a process */

/* enum maple_type */
enum { LEAF_64 = 1, RANGE_64 = 2, ARANGE_64 = 3 };

struct node_layout {
	uint64_t pivots, slots; /* offsets */
	uint32_t nr_slots;	/* one more than pivots; 0 when this kernel has no such node */
};

struct maple_layout {
	uint64_t root; /* maple_tree.ma_root */
	struct node_layout range, arange;
};

static void resolve_node(kw_ctx *ctx, const char *type, struct node_layout *node)
{
	struct kw_member slot, pivot;
	uint32_t slots, pivots;

	if (kw_type_offset(ctx, type, "slot", &slot) != KW_OK ||
	    kw_type_offset(ctx, type, "pivot", &pivot) != KW_OK)
		return;
	slots = kw_type_strip(ctx, slot.type)->count;
	pivots = kw_type_strip(ctx, pivot.type)->count;
	if (!slots || pivots + 1 != slots || slot.bit_offset / 8 + 8ULL * slots > NODE_SIZE ||
	    pivot.bit_offset / 8 + 8ULL * pivots > NODE_SIZE)
		return;
	*node = (struct node_layout){ pivot.bit_offset / 8, slot.bit_offset / 8, slots };
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct maple_layout *l = layout;

	(void)kernel;
	l->root = kw_offset_or_none(ctx, "maple_tree", "ma_root");
	if (l->root != KW_NO_ADDR) {
		resolve_node(ctx, "maple_range_64", &l->range);
		resolve_node(ctx, "maple_arange_64", &l->arange);
	}
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct maple_layout), resolve };

struct level {
	const struct node_layout *layout;
	uint64_t max;	     /* last index of the node */
	uint64_t next_first; /* first index of the slot to visit next */
	uint32_t next;
	bool leaf;
	uint8_t bytes[NODE_SIZE];
};

struct walk {
	kw_ctx *ctx;
	const struct maple_layout *layout;
	struct kw_tree_watch *watch;
	uint64_t limit;
	unsigned int depth, nodes;
	struct level level[MAX_LEVELS];
};

static bool is_node(uint64_t entry)
{
	return entry > 4096 && (entry & 3) == 2;
}

static kw_status push(struct walk *w, uint64_t entry, uint64_t first, uint64_t max)
{
	unsigned int kind = entry >> 3 & 15;
	struct level *level;
	kw_status status;

	if (entry <= 4096 || w->depth == MAX_LEVELS || w->nodes++ == MAX_NODES || first > max)
		return KW_FORMAT;
	level = &w->level[w->depth];
	level->leaf = kind == LEAF_64;
	if (kind == LEAF_64 || kind == RANGE_64)
		level->layout = &w->layout->range;
	else if (kind == ARANGE_64)
		level->layout = &w->layout->arange;
	else
		return KW_FORMAT;
	if (!level->layout->nr_slots)
		return KW_FORMAT;
	status = kw_read(w->ctx, entry & ~(uint64_t)(NODE_SIZE - 1), level->bytes, NODE_SIZE);
	if (status)
		return status;
	kw_tree_watch_add(w->watch, entry & ~(uint64_t)(NODE_SIZE - 1), level->bytes, NODE_SIZE);
	level->max = max;
	level->next_first = first;
	level->next = 0;
	w->depth++;
	return KW_OK;
}

static uint64_t word(const struct level *level, uint64_t offset)
{
	return kw_load_u64(level->bytes + offset);
}

/* Take the next slot of a node: false when there is none. A pivot of 0 behind the first ends the node. */
static bool next_slot(struct level *level, uint64_t *first, uint64_t *last, uint64_t *entry)
{
	uint32_t i = level->next;

	if (i == level->layout->nr_slots)
		return false;
	*first = level->next_first;
	*last = i + 1 < level->layout->nr_slots ? word(level, level->layout->pivots + 8ULL * i) : level->max;
	if ((i && !*last) || *last > level->max)
		*last = level->max;
	*entry = word(level, level->layout->slots + 8ULL * i);
	level->next = *last == level->max ? level->layout->nr_slots : i + 1;
	level->next_first = *last + 1;
	return *last >= *first;
}

static kw_status walk_nodes(struct walk *w, kw_maple_fn fn, void *arg)
{
	kw_status damage = KW_OK;

	while (w->depth) {
		struct level *level = &w->level[w->depth - 1];
		uint64_t first, last, entry;

		if (!next_slot(level, &first, &last, &entry) || first >= w->limit) {
			w->depth--;
			continue;
		}
		if (!level->leaf && entry) {
			kw_status status = push(w, entry, first, last);

			damage = damage ? damage : status;
		} else if (kw_xa_is_pointer(entry) && !fn(first, last, entry, arg)) {
			return damage;
		}
	}
	return damage;
}

kw_status kw_maple_each(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t tree, uint64_t limit,
			kw_maple_fn fn, void *arg)
{
	return kw_maple_each_watched(ctx, kernel, tree, limit, fn, arg, NULL);
}

kw_status kw_maple_each_watched(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t tree, uint64_t limit,
				kw_maple_fn fn, void *arg, struct kw_tree_watch *watch)
{
	struct walk w = { .ctx = ctx, .limit = limit, .watch = watch };
	uint64_t root;
	kw_status status;

	w.layout = kw_layout_get(ctx, kernel, &subject);
	if (!w.layout)
		return ctx->status;
	if (w.layout->root == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_u64(ctx, tree + w.layout->root, &root);
	if (!status)
		kw_tree_watch_add(watch, tree + w.layout->root, &root, sizeof(root));
	if (status || !root)
		return status;
	if (!is_node(root)) {
		if (kw_xa_is_pointer(root) && limit)
			fn(0, 0, root, arg);
		return KW_OK;
	}
	status = push(&w, root, 0, UINT64_MAX);
	return status ? status : walk_nodes(&w, fn, arg);
}
