/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Generic walkers: rows that are any structure of the kernel, found by where they hang.
 *
 *     list(HEAD, struct T, MEMBER)      on a list_head
 *     hlist(HEAD, struct T, MEMBER)     on a hlist_head
 *     rbtree(ROOT, struct T, MEMBER)    in a red-black tree, in its order: rb_root or rb_root_cached
 *     xarray(XA, struct T)              in an XArray or the one of an IDR: rows have an index
 *     maple(TREE, struct T)             in a maple tree: rows have the first index that they stand for
 *     array(ADDRESS, struct T, N)       one behind the other
 *     percpu(SYMBOL, struct T)          of each possible CPU
 */
#ifndef QUERY_WALKER_H
#define QUERY_WALKER_H

#include "kernel/source.h"
#include "query/bind.h"

#define KW_WALKER_MAX_ROWS   1000000
#define KW_WALKER_MAX_JOINED (4u << 20) /* of all walks behind a join */

struct kw_walker {
	struct kw_source_def def; /* the source that the walker is for its query */
	const struct kw_walker_kind *kind;
	const struct kw_expr *head; /* gives its address; of percpu: offset of the symbol */
	uint64_t node;		    /* offset of MEMBER in T */
	uint64_t size;		    /* of T */
	uint64_t nr;		    /* of an array */
	uint64_t next, left, right; /* offsets in hlist_node and rb_node */
	uint64_t xa_head;	    /* offset in xarray */
};

/** Tell whether a source's name is that of a walker. */
bool kw_walker_is(const char *name);

/**
 * Make a walker of its arguments.
 *
 * @param rows  what the walk begins at is bound there: the rows in front of a join, or none
 * @param ret  lives in the binder's arena
 */
kw_status kw_walker_bind(struct kw_binder *b, struct kw_binder *rows, const struct kw_query_syntax *syntax,
			 struct kw_walker **ret);

/**
 * Find the rows. As the walk() of a source.
 *
 * @param head  the value of walker->head; there are no rows where it is absent
 * @param owner  what goes to row->cpu
 */
kw_status kw_walker_run(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *walker,
			const struct kw_value *head, uint32_t owner, kw_take_rows take, void *arg);

#endif
