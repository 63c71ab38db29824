/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nodes of a tree as they were when it was walked. As long as they are still the same, so is what was found: that
 * takes a fraction of walking it again.
 */
#ifndef KERNEL_TREE_WATCH_H
#define KERNEL_TREE_WATCH_H

#include "kernel/kernel.h"

#define KW_WATCHED_SIZE 512 /* of a node */

struct kw_watched_node;

/** Zeroed: no tree. */
struct kw_tree_watch {
	struct kw_watched_node *item;
	size_t nr, cap;
	bool is_lacking; /* a node could not be kept */
};

/** Forget all nodes. */
void kw_tree_watch_clear(struct kw_tree_watch *watch);

/** Free a watch. */
void kw_tree_watch_deinit(struct kw_tree_watch *watch);

/** Add what was read of a node, at most KW_WATCHED_SIZE bytes. A watch that is NULL takes none. */
void kw_tree_watch_add(struct kw_tree_watch *watch, uint64_t addr, const void *bytes, size_t len);

/** Tell whether a tree was walked and is the same. */
bool kw_tree_watch_same(kw_ctx *ctx, struct kw_tree_watch *watch);

#endif
