/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparing the nodes of a tree with what they were. */
#include "kernel/tree_watch.h"

#include <stdlib.h>
#include <string.h>

#include "memory/view.h"
#include "util/array.h"

#define MAX_NODES \
	4096 /* enough for a quarter of a million of entries; more may be damage, and takes memory */

struct kw_watched_node {
	uint64_t addr;
	struct kw_pin pin;
	size_t len;
	uint8_t bytes[KW_WATCHED_SIZE];
};

void kw_tree_watch_clear(struct kw_tree_watch *watch)
{
	watch->nr = 0;
	watch->is_lacking = false;
}

void kw_tree_watch_deinit(struct kw_tree_watch *watch)
{
	free(watch->item);
	*watch = (struct kw_tree_watch){ 0 };
}

void kw_tree_watch_add(struct kw_tree_watch *watch, uint64_t addr, const void *bytes, size_t len)
{
	struct kw_watched_node node = { .addr = addr, .len = len };

	if (!watch || watch->is_lacking)
		return;
	watch->is_lacking = len > KW_WATCHED_SIZE || watch->nr == MAX_NODES;
	if (watch->is_lacking)
		return;
	memcpy(node.bytes, bytes, len);
	watch->is_lacking = !kw_array_push(watch, node);
}

bool kw_tree_watch_same(kw_ctx *ctx, struct kw_tree_watch *watch)
{
	uint8_t copy[KW_WATCHED_SIZE];

	for (size_t i = 0; i < watch->nr; i++) {
		struct kw_watched_node *node = &watch->item[i];
		kw_status status;
		const uint8_t *at = kw_look_pinned(ctx, &node->pin, node->addr, node->len, copy, &status);

		if (!at || memcmp(at, node->bytes, node->len) != 0 || kw_look_failed(ctx, at, copy))
			return false;
	}
	return watch->nr && !watch->is_lacking;
}
