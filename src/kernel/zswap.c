/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The size of zswap, the cache of compressed pages before swap.
 *
 *     zswap_pool_total_size        bytes, until 6.8 or so
 *     zswap_pools                  since then: a list of struct zswap_pool, each with
 *         .zpool -> .pool          until 6.17 or so: a pool of the driver named by .driver->type
 *         .zs_pool                 since then: always zsmalloc's
 *     zs_pool.pages_allocated
 */
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/list.h"
#include "kernel/source.h"
#include "memory/memory.h"

#define MAX_POOLS 4096

struct zswap_layout {
	uint64_t total_size, pools;	     /* addresses */
	uint64_t list, zs_pool, zpool;	     /* struct zswap_pool */
	uint64_t driver, driver_type, inner; /* struct zpool: driver, pool; struct zpool_driver: type */
	uint64_t pages;			     /* struct zs_pool */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct zswap_layout *l = layout;
	struct kw_symbol_query q[] = { { "zswap_pool_total_size", KW_NO_ADDR },
				       { "zswap_pools", KW_NO_ADDR } };

	(void)kernel;
	kw_symbol_addresses(ctx, q, 2);
	l->total_size = q[0].addr;
	l->pools = q[1].addr;
	l->list = kw_offset_or_none(ctx, "zswap_pool", "list");
	l->zs_pool = kw_offset_or_none(ctx, "zswap_pool", "zs_pool");
	l->zpool = kw_offset_or_none(ctx, "zswap_pool", "zpool");
	l->driver = kw_offset_or_none(ctx, "zpool", "driver");
	l->driver_type = kw_offset_or_none(ctx, "zpool_driver", "type");
	l->inner = kw_offset_or_none(ctx, "zpool", "pool");
	l->pages = kw_offset_or_none(ctx, "zs_pool", "pages_allocated");
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct zswap_layout), resolve };

static kw_status read_member(kw_ctx *ctx, uint64_t object, uint64_t offset, uint64_t *ret)
{
	return offset == KW_NO_ADDR ? KW_NOTFOUND : kw_read_u64(ctx, object + offset, ret);
}

/* The pool inside a zpool, when zsmalloc's: of no other driver the size is known. */
static kw_status unpack(kw_ctx *ctx, const struct zswap_layout *l, uint64_t zpool, uint64_t *ret)
{
	char type[16] = "";
	uint64_t driver, name;
	kw_status status = read_member(ctx, zpool, l->driver, &driver);

	if (!status)
		status = read_member(ctx, driver, l->driver_type, &name);
	if (!status)
		status = kw_read_string(ctx, name, type, sizeof(type));
	if (!status && strcmp(type, "zsmalloc") != 0)
		status = KW_NOTFOUND;
	return status ? status : read_member(ctx, zpool, l->inner, ret);
}

struct adding {
	const struct zswap_layout *layout;
	uint64_t pages;
	kw_status status;
};

static bool add_pool(kw_ctx *ctx, uint64_t pool, void *arg)
{
	struct adding *a = arg;
	const struct zswap_layout *l = a->layout;
	uint64_t zs_pool, pages;

	if (l->zs_pool != KW_NO_ADDR) {
		a->status = read_member(ctx, pool, l->zs_pool, &zs_pool);
	} else {
		a->status = read_member(ctx, pool, l->zpool, &zs_pool);
		if (!a->status)
			a->status = unpack(ctx, l, zs_pool, &zs_pool);
	}
	if (!a->status)
		a->status = read_member(ctx, zs_pool, l->pages, &pages);
	if (!a->status)
		a->pages += pages;
	return !a->status;
}

kw_status kw_zswap_size(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret)
{
	const struct zswap_layout *l = kw_layout_get(ctx, kernel, &subject);
	struct adding a = { .layout = l };
	kw_status status;

	if (!l)
		return ctx->status;
	if (l->total_size != KW_NO_ADDR)
		return kw_read_u64(ctx, l->total_size, ret);
	if (l->pools == KW_NO_ADDR || l->list == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_list_each(ctx, l->pools, l->list, MAX_POOLS, add_pool, &a);
	status = status ? status : a.status;
	if (!status)
		*ret = a.pages * KW_PAGE_SIZE;
	return status;
}
