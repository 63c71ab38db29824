/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking a maple tree (since 6.1), entry by entry.
 *
 * ma_root is an entry for index 0, or (bits 0 and 1 are 10) the encoded address of a node: nodes are aligned to 256 bytes,
 * and bits 3 to 6 tell the kind. A node divides the range that it is given among its slots; pivot[i] is the last index of slot i,
 * and what is left is the last one's. In a leaf slots are entries, elsewhere nodes.
 *
 *     arange_64 [0..max]  --slot 0-->  leaf_64 [0..15]    --> entry of [0..0], [1..1], ...
 *                         --slot 1-->  leaf_64 [16..max]
 *
 * Depth is limited, and since children get parts of their parent's range, which do not overlap, so is the number of
 * nodes by the indices that are asked for.
 */
#ifndef KERNEL_MAPLE_H
#define KERNEL_MAPLE_H

#include "kernel/source.h"
#include "kernel/tree_watch.h"

/** Called with each entry that is a pointer and the range of indices that it stands for. False stops. */
typedef bool (*kw_maple_fn)(uint64_t first, uint64_t last, uint64_t entry, void *arg);

/**
 * Visit the entries of a tree in the order of their indices.
 *
 * @param tree  address of the struct maple_tree
 * @param limit  indices from here on are not visited
 * @return KW_OK; KW_NOTFOUND when this kernel has no maple trees; a read's state, or KW_FORMAT, for the first node that is
 *         damaged: the entries of all others were visited. No message
 */
kw_status kw_maple_each(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t tree, uint64_t limit,
			kw_maple_fn fn, void *arg);

/** As kw_maple_each(), adding what is read on the way, the root included, to a watch. */
kw_status kw_maple_each_watched(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t tree, uint64_t limit,
				kw_maple_fn fn, void *arg, struct kw_tree_watch *watch);

#endif
