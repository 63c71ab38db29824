/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking an XArray (and IDR), leaf by leaf.
 *
 * An entry whose two lowest bits are 10 and which is above 4096 points to a node (+2). A node's children are exactly
 * one chunk lower than itself, so depth and number of steps are bounded by the root's shift, whatever is read.
 *
 *     xa_head -> xa_node {shift 12} -> xa_node {shift 6} -> xa_node {shift 0} -> entries
 */
#ifndef KERNEL_XARRAY_H
#define KERNEL_XARRAY_H

#include "kernel/tree_watch.h"

#define KW_XA_MAX_SLOTS	 64
#define KW_XA_MAX_LEVELS 11

struct kw_xa_level {
	uint64_t base; /* index of slot 0 */
	unsigned int shift;
	unsigned int next; /* slot to visit next */
	uint64_t place;	   /* address of the slots */
	uint64_t slots[KW_XA_MAX_SLOTS];
};

struct kw_xa_walk {
	const struct kw_task_layout *layout;
	struct kw_tree_watch *watch; /* to which its nodes are added, or NULL */
	uint64_t limit;		     /* indices from here on are not visited */
	unsigned int depth;
	uint64_t damaged; /* nodes that could not be read or are none, and what stands in the place of one */
	uint64_t lacking; /* of these, those that a dump lacks */
	kw_status damage; /* state of the first of them */
	uint64_t single;  /* entry of an array that has no nodes, 0 when none or done */
	struct kw_xa_level level[KW_XA_MAX_LEVELS];
};

/**
 * Begin a walk.
 *
 * @param head  address of the xa_head member
 * @param limit  first index that is out of bounds
 * @return KW_OK; a read's state, or KW_FORMAT when the root is no node, with the error set
 */
kw_status kw_xa_begin(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t limit,
		      struct kw_xa_walk *walk);

/** As kw_xa_begin(), adding what is read on the way, the root included, to a watch. */
kw_status kw_xa_begin_watched(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t limit,
			      struct kw_xa_walk *walk, struct kw_tree_watch *watch);

/**
 * Get the next leaf.
 *
 * @param entries  KW_XA_MAX_SLOTS places; 0, internal and value entries are left in: see kw_xa_is_pointer()
 * @param ret_base  set to the index of entries[0]
 * @return number of entries, 0 at the end
 */
unsigned int kw_xa_next_leaf(kw_ctx *ctx, struct kw_xa_walk *walk, uint64_t *entries, uint64_t *ret_base);

/** A leaf as it was read. */
struct kw_xa_leaf {
	uint64_t place; /* address of the slots; 0: of an array that has no nodes */
	uint64_t base;	/* index of the first */
	const uint64_t
		*slots; /* KW_XA_MAX_SLOTS, of which nr are the leaf's; until the next one is asked for */
	unsigned int nr;
};

/** As kw_xa_next_leaf(), but nothing in the leaf has been looked at. False at the end. */
bool kw_xa_find_leaf(kw_ctx *ctx, struct kw_xa_walk *walk, struct kw_xa_leaf *leaf);

/**
 * Tell where the slots of the next leaf are, before anything of it has been read.
 *
 * @return their address; 0 when there is none, or it is the root, which has been read
 */
uint64_t kw_xa_peek_leaf(kw_ctx *ctx, struct kw_xa_walk *walk, uint64_t *ret_base);

/** Leave out the leaf that kw_xa_peek_leaf() has told of. */
void kw_xa_pass_leaf(struct kw_xa_walk *walk);

/** Note as damage the nodes among the entries of a leaf that kw_xa_find_leaf() has found. */
void kw_xa_check_leaf(struct kw_xa_walk *walk, const struct kw_xa_leaf *leaf);

/** Look up one index. 0 when there is no entry. KW_FORMAT (without a message) for what is no node. */
kw_status kw_xa_load(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t index,
		     uint64_t *ret_entry);

/** As kw_xa_load(), of what is there now, whatever the pass has cached. */
kw_status kw_xa_load_again(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t head, uint64_t index,
			   uint64_t *ret_entry);

/** True for what a read says of memory that a dump lacks: KW_EXCLUDED and KW_FAILED. */
static inline bool kw_is_lacking(kw_status status)
{
	return status == KW_EXCLUDED || status == KW_FAILED;
}

/** True for an entry that is a pointer to an object: neither empty, nor a value, nor internal. */
static inline bool kw_xa_is_pointer(uint64_t entry)
{
	return entry > 4096 && !(entry & 3);
}

#endif
