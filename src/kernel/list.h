/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking a struct list_head: poison, cycles that miss the head, and lists without an end are damage. */
#ifndef KERNEL_LIST_H
#define KERNEL_LIST_H

#include "kernel/kernel.h"

/** Called with the address of each object. False stops. */
typedef bool (*kw_list_fn)(kw_ctx *ctx, uint64_t object, void *arg);

/**
 * Visit the objects on a list.
 *
 * @param head  address of the list_head that is no part of an object
 * @param node  offset of the list_head in each object
 * @param limit  of objects
 * @return KW_OK; a read's state, or KW_FORMAT, without a message: objects before the damage were visited
 */
kw_status kw_list_each(kw_ctx *ctx, uint64_t head, uint64_t node, uint64_t limit, kw_list_fn fn, void *arg);

#endif
