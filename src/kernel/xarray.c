/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking an XArray. */
#include "kernel/xarray.h"

#include <string.h>

#include "memory/memory.h"
#include "util/error.h"

#define MAX_TRIES 3

static bool is_node(uint64_t entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

static kw_status read_entry(kw_ctx *ctx, uint64_t at, bool again, uint64_t *ret_entry)
{
	if (again)
		kw_forget(ctx, at, sizeof(*ret_entry));
	return kw_read_u64(ctx, at, ret_entry);
}

static kw_status read_node(kw_ctx *ctx, const struct kw_xa_walk *walk, uint64_t entry, uint64_t base,
			   struct kw_xa_level *level)
{
	const struct kw_task_layout *layout = walk->layout;
	uint64_t node = entry - 2;
	uint8_t shift;
	kw_status status = kw_read(ctx, node + layout->node_shift, &shift, sizeof(shift));

	if (!status)
		status = kw_read(ctx, node + layout->node_slots, level->slots, 8ULL << layout->chunk_shift);
	level->shift = shift;
	level->base = base;
	level->place = node + layout->node_slots;
	level->next = 0;
	if (!status)
		kw_tree_watch_add(walk->watch, level->place, level->slots, 8ULL << layout->chunk_shift);
	return status;
}

static bool is_root_shift(const struct kw_task_layout *layout, unsigned int shift)
{
	return shift % layout->chunk_shift == 0 && shift / layout->chunk_shift < KW_XA_MAX_LEVELS;
}

static kw_status check_root(kw_ctx *ctx, const struct kw_xa_walk *walk)
{
	unsigned int shift = walk->level[0].shift;

	if (!is_root_shift(walk->layout, shift))
		return kw_fail(ctx, KW_FORMAT, "the root of the XArray has shift %u: not a node", shift);
	return KW_OK;
}

static void note_damage(struct kw_xa_walk *walk, kw_status status)
{
	if (!walk->damaged++)
		walk->damage = status;
	walk->lacking += kw_is_lacking(status);
}

kw_status kw_xa_begin(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t limit,
		      struct kw_xa_walk *walk)
{
	return kw_xa_begin_watched(ctx, kernel, head, limit, walk, NULL);
}

kw_status kw_xa_begin_watched(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t limit,
			      struct kw_xa_walk *walk, struct kw_tree_watch *watch)
{
	uint64_t entry;
	kw_status status = kw_read_u64(ctx, head, &entry);

	if (!status)
		kw_tree_watch_add(watch, head, &entry, sizeof(entry));
	walk->watch = watch;
	walk->layout = &kernel->task;
	walk->limit = limit;
	walk->depth = 0;
	walk->damaged = walk->lacking = 0;
	walk->damage = KW_OK;
	walk->single = 0;
	if (1U << walk->layout->chunk_shift > KW_XA_MAX_SLOTS)
		return kw_fail(ctx, KW_UNSUPPORTED, "an XArray node has more than %d slots", KW_XA_MAX_SLOTS);
	if (!status && is_node(entry)) {
		status = read_node(ctx, walk, entry, 0, &walk->level[0]);
		if (!status)
			status = check_root(ctx, walk);
		walk->depth = 1;
	} else if (!status && kw_xa_is_pointer(entry)) {
		walk->single = entry;
	}
	if (status && status != KW_FORMAT)
		return kw_fail(ctx, status, "the XArray at 0x%llx can't be read", (unsigned long long)head);
	return status;
}

/* A node among the entries: this is no leaf, whatever it says. */
void kw_xa_check_leaf(struct kw_xa_walk *walk, const struct kw_xa_leaf *leaf)
{
	for (unsigned int i = 0; i < leaf->nr; i++)
		if (is_node(leaf->slots[i]))
			note_damage(walk, KW_FORMAT);
}

static bool give_leaf(struct kw_xa_walk *walk, struct kw_xa_leaf *leaf)
{
	const struct kw_xa_level *level = &walk->level[--walk->depth];

	leaf->place = level->place;
	leaf->base = level->base;
	leaf->slots = level->slots;
	leaf->nr = 1U << walk->layout->chunk_shift;
	return true;
}

/* The entry of an array that has no nodes stands in a leaf of its own. */
static bool give_single(struct kw_xa_walk *walk, struct kw_xa_leaf *leaf)
{
	uint64_t *slots = walk->level[0].slots;

	memset(slots, 0, sizeof(walk->level[0].slots));
	slots[0] = walk->single;
	walk->single = 0;
	*leaf = (struct kw_xa_leaf){ .slots = slots, .nr = 1 };
	return true;
}

/* Read the node behind a slot; a child that is not exactly one chunk lower is damage, not a node. */
static kw_status read_child(kw_ctx *ctx, struct kw_xa_walk *walk, const struct kw_xa_level *level,
			    uint64_t entry, uint64_t base)
{
	struct kw_xa_level *child = &walk->level[walk->depth];
	kw_status status = read_node(ctx, walk, entry, base, child);

	if (!status && child->shift != level->shift - walk->layout->chunk_shift)
		status = KW_FORMAT;
	return status;
}

/* Go down into one slot. While it was on its way, the node may have been freed and be another tree's now. */
static void descend(kw_ctx *ctx, struct kw_xa_walk *walk, struct kw_xa_level *level, unsigned int slot,
		    uint64_t base)
{
	uint64_t entry = level->slots[slot], now;
	kw_status status = KW_FORMAT;

	if (walk->depth == KW_XA_MAX_LEVELS)
		return;
	for (unsigned int tries = 0; tries < MAX_TRIES && is_node(entry); tries++) {
		status = read_child(ctx, walk, level, entry, base);
		if (!status) {
			walk->depth++;
			return;
		}
		if (read_entry(ctx, level->place + 8ULL * slot, true, &now) || now == entry)
			break;
		entry = now;
	}
	/* What has become empty has ended. */
	if (entry)
		note_damage(walk, status);
}

uint64_t kw_xa_peek_leaf(kw_ctx *ctx, struct kw_xa_walk *walk, uint64_t *ret_base)
{
	while (walk->depth) {
		struct kw_xa_level *level = &walk->level[walk->depth - 1];
		uint64_t entry, base = level->base + ((uint64_t)level->next << level->shift);

		if (level->shift == 0)
			return 0;
		if (level->next == 1U << walk->layout->chunk_shift || base >= walk->limit) {
			walk->depth--;
			continue;
		}
		entry = level->slots[level->next];
		if (is_node(entry) && level->shift == walk->layout->chunk_shift) {
			*ret_base = base;
			return entry - 2 + walk->layout->node_slots;
		}
		level->next++;
		if (is_node(entry))
			descend(ctx, walk, level, level->next - 1, base);
		else if (kw_xa_is_pointer(entry))
			/* No table of IDs has entries that stand for many. */
			note_damage(walk, KW_FORMAT);
	}
	return 0;
}

void kw_xa_pass_leaf(struct kw_xa_walk *walk)
{
	walk->level[walk->depth - 1].next++;
}

bool kw_xa_find_leaf(kw_ctx *ctx, struct kw_xa_walk *walk, struct kw_xa_leaf *leaf)
{
	if (walk->single)
		return give_single(walk, leaf);
	while (walk->depth) {
		struct kw_xa_level *level = &walk->level[walk->depth - 1];
		uint64_t base;

		if (level->shift == 0)
			return give_leaf(walk, leaf);
		if (!kw_xa_peek_leaf(ctx, walk, &base))
			continue;
		level = &walk->level[walk->depth - 1];
		level->next++;
		descend(ctx, walk, level, level->next - 1, base);
	}
	return false;
}

unsigned int kw_xa_next_leaf(kw_ctx *ctx, struct kw_xa_walk *walk, uint64_t *entries, uint64_t *ret_base)
{
	struct kw_xa_leaf leaf;

	if (!kw_xa_find_leaf(ctx, walk, &leaf))
		return 0;
	kw_xa_check_leaf(walk, &leaf);
	memcpy(entries, leaf.slots, leaf.nr * sizeof(*entries));
	*ret_base = leaf.base;
	return leaf.nr;
}

static kw_status load(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t index, bool again,
		      uint64_t *ret_entry)
{
	const struct kw_task_layout *t = &kernel->task;
	unsigned int mask = (1U << t->chunk_shift) - 1, expected = 0;
	uint64_t entry;
	kw_status status = read_entry(ctx, head, again, &entry);

	*ret_entry = 0;
	for (unsigned int depth = 0; !status && is_node(entry); depth++) {
		uint64_t node = entry - 2;
		uint8_t shift;

		if (again)
			kw_forget(ctx, node + t->node_shift, sizeof(shift));
		status = kw_read(ctx, node + t->node_shift, &shift, sizeof(shift));
		if (status)
			break;
		if (depth ? shift != expected : !is_root_shift(t, shift))
			return KW_FORMAT;
		if (!depth && shift + t->chunk_shift < 64 && index >> (shift + t->chunk_shift))
			return KW_OK;
		status = read_entry(ctx, node + t->node_slots + 8 * (index >> shift & mask), again, &entry);
		if (!status && (shift ? kw_xa_is_pointer(entry) : is_node(entry)))
			status = KW_FORMAT;
		if (status || shift == 0) {
			if (!status)
				*ret_entry = entry;
			return status;
		}
		expected = shift - t->chunk_shift;
	}
	if (!status && index == 0)
		*ret_entry = entry;
	return status;
}

kw_status kw_xa_load(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t index,
		     uint64_t *ret_entry)
{
	return load(ctx, kernel, head, index, false, ret_entry);
}

kw_status kw_xa_load_again(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t index,
			   uint64_t *ret_entry)
{
	return load(ctx, kernel, head, index, true, ret_entry);
}
