/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source slabs: /proc/slabinfo, of the allocator SLUB.
 *
 *     slab_caches -> struct kmem_cache -> of each node: struct kmem_cache_node
 *                                         .nr_slabs, .total_objects
 *                                         .partial -> struct slab (until 5.16 struct page): inuse of objects
 *
 * Objects that are not known to be free count as active: also those that CPUs keep at hand.
 */
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "kernel/list.h"
#include "kernel/vmstat.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define MAX_CACHES     100000
#define MAX_PARTIAL    10000000
#define OBJECTS_MASK   0xffff /* of kmem_cache_order_objects.x; the order is above */
#define OBJECTS_BITS   16
#define MAX_SLAB_ORDER 20
#define MAX_TRIES      16

struct bits {
	uint64_t offset; /* of the 4 bytes that hold them, KW_NO_ADDR for none */
	uint32_t shift, width;
};

struct slab_layout {
	const struct kw_vm_layout *vm;
	uint64_t caches; /* struct list_head */
	uint64_t list, oo;
	uint64_t nodes, node_stride, node_pointer; /* kmem_cache.node[], since 7.0 or so per_node[].node */
	uint32_t max_nodes;
	uint64_t nr_slabs, total_objects, partial; /* struct kmem_cache_node */
	uint64_t slab_list;
	struct bits inuse, objects;
};

static struct bits find_bits(kw_ctx *ctx, const char *type, const char *name)
{
	struct kw_member member;
	kw_status status = kw_type_offset(ctx, type, name, &member);

	kw_clear_error(ctx);
	if (status || !member.bit_size || member.bit_size > 31 ||
	    member.bit_offset % 32 + member.bit_size > 32)
		return (struct bits){ KW_NO_ADDR, 0, 0 };
	return (struct bits){ member.bit_offset / 32 * 4, member.bit_offset % 32, member.bit_size };
}

static void resolve_nodes(kw_ctx *ctx, struct slab_layout *l)
{
	struct kw_member member;
	bool per_node = kw_type_offset(ctx, "kmem_cache", "per_node", &member) == KW_OK;
	const struct kw_type *array;

	l->nodes = KW_NO_ADDR;
	if (!per_node && kw_type_offset(ctx, "kmem_cache", "node", &member) != KW_OK)
		return;
	array = kw_type_strip(ctx, member.type);
	l->nodes = member.bit_offset / 8;
	l->node_stride = kw_type_size(ctx, kw_type_target(ctx, array));
	l->node_pointer = per_node ? kw_offset_or_none(ctx, "kmem_cache_per_node_ptrs", "node") : 0;
	l->max_nodes = array->count;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct slab_layout *l = layout;
	struct kw_symbol_query q = { "slab_caches", KW_NO_ADDR };
	const char *slab = "slab";
	const struct kw_type *type;

	l->vm = kw_layout_get(ctx, kernel, &kw_vm_subject);
	if (!l->vm)
		return ctx->status;
	kw_symbol_addresses(ctx, &q, 1);
	l->caches = q.addr;
	/* What was part of struct page has a type of its own since 5.17. */
	if (kw_type_find(ctx, "struct slab", &type) != KW_OK)
		slab = "page";
	l->list = kw_offset_or_none(ctx, "kmem_cache", "list");
	l->oo = kw_offset_or_none(ctx, "kmem_cache", "oo");
	l->nr_slabs = kw_offset_or_none(ctx, "kmem_cache_node", "nr_slabs");
	l->total_objects = kw_offset_or_none(ctx, "kmem_cache_node", "total_objects");
	l->partial = kw_offset_or_none(ctx, "kmem_cache_node", "partial");
	l->slab_list = kw_offset_or_none(ctx, slab, "slab_list");
	l->inuse = find_bits(ctx, slab, "inuse");
	l->objects = find_bits(ctx, slab, "objects");
	resolve_nodes(ctx, l);
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct slab_layout), resolve };

static const struct kw_field_def path_fields[] = {
	KW_PATH_FIELD("name", "NAME", STRING, NONE, PLAIN, POINTER, "name", "kmem_cache.name", "name", NULL),
	KW_PATH_FIELD("object_size", "OBJSIZE", UINT, BYTES, PLAIN, OBJECT, "size of an object as asked for",
		      "kmem_cache.object_size", "object_size", NULL),
	KW_PATH_FIELD("slot_size", "SLOTSIZE", UINT, BYTES, PLAIN, OBJECT, "what an object takes",
		      "kmem_cache.size", "size", NULL),
};

enum { ACTIVE, OBJECTS, SLABS, PER_SLAB, PAGES, SIZE };

static const struct kw_field_def count_fields[] = {
	[ACTIVE] = KW_READ_FIELD("active", "ACTIVE", "", UINT, COUNT, PLAIN, POINTER, "objects in use",
				 "kmem_cache_node.total_objects, partial"),
	[OBJECTS] = KW_READ_FIELD("objects", "OBJECTS", "", UINT, COUNT, PLAIN, POINTER,
				  "objects there is room for", "kmem_cache_node.total_objects"),
	[SLABS] = KW_READ_FIELD("slabs", "SLABS", "", UINT, COUNT, PLAIN, POINTER, "slabs",
				"kmem_cache_node.nr_slabs"),
	[PER_SLAB] = KW_READ_FIELD("per_slab", "PERSLAB", "", UINT, COUNT, PLAIN, OBJECT, "objects of a slab",
				   "kmem_cache.oo"),
	[PAGES] = KW_READ_FIELD("pages", "PAGES", "", UINT, COUNT, PLAIN, OBJECT, "pages of a slab",
				"kmem_cache.oo"),
	[SIZE] = KW_READ_FIELD("size", "SIZE", "", UINT, BYTES, KIB, POINTER, "memory of all slabs",
			       "slabs * pages: the newest slabs may be smaller"),
};

struct counting {
	const struct slab_layout *layout;
	uint64_t slabs, objects, free;
	kw_status status;
};

static bool read_bits(kw_ctx *ctx, uint64_t object, struct bits bits, uint32_t *ret)
{
	uint32_t word;

	if (kw_read_u32(ctx, object + bits.offset, &word) != KW_OK)
		return false;
	*ret = word >> bits.shift & ((1U << bits.width) - 1);
	return true;
}

static bool add_partial(kw_ctx *ctx, uint64_t slab, void *arg)
{
	struct counting *c = arg;
	uint32_t inuse, objects;

	if (!read_bits(ctx, slab, c->layout->inuse, &inuse) ||
	    !read_bits(ctx, slab, c->layout->objects, &objects))
		c->status = KW_ABSENT;
	else if (inuse <= objects)
		c->free += objects - inuse;
	return !c->status;
}

static kw_status count_node(kw_ctx *ctx, const struct slab_layout *l, uint64_t node, struct counting *c)
{
	uint64_t slabs, objects;
	kw_status status = kw_read_u64(ctx, node + l->nr_slabs, &slabs);

	if (!status)
		status = kw_read_u64(ctx, node + l->total_objects, &objects);
	if (!status)
		status = kw_list_each(ctx, node + l->partial, l->slab_list, MAX_PARTIAL, add_partial, c);
	status = status ? status : c->status;
	if (!status) {
		c->slabs += slabs;
		c->objects += objects;
	}
	return status;
}

/* The array of nodes is only as long as there are nodes: no other places are looked at. */
static bool has_node(kw_ctx *ctx, const struct slab_layout *l, uint32_t node)
{
	uint64_t data;

	if (l->vm->node_data == KW_NO_ADDR)
		return node == 0;
	return kw_read_u64(ctx, l->vm->node_data + 8ULL * node, &data) == KW_OK && data;
}

static kw_status count(kw_ctx *ctx, const struct slab_layout *l, uint64_t cache, struct counting *c)
{
	kw_status status = KW_OK;

	if (l->nodes == KW_NO_ADDR || l->node_pointer == KW_NO_ADDR || l->nr_slabs == KW_NO_ADDR ||
	    l->total_objects == KW_NO_ADDR || l->partial == KW_NO_ADDR || l->slab_list == KW_NO_ADDR ||
	    l->inuse.offset == KW_NO_ADDR || l->objects.offset == KW_NO_ADDR)
		return KW_NOTFOUND;
	for (uint32_t i = 0; !status && i < l->max_nodes && i < l->vm->max_nodes; i++) {
		uint64_t node;

		if (!has_node(ctx, l, i))
			continue;
		status = kw_read_u64(ctx, cache + l->nodes + i * l->node_stride + l->node_pointer, &node);
		if (!status && node)
			status = count_node(ctx, l, node, c);
	}
	return status;
}

/* On a changing target a list that is followed while slabs leave it may lead elsewhere: then it is followed again. */
static kw_status count_anew(struct kw_row *row, const struct slab_layout *l, struct counting *c)
{
	kw_status status = KW_OK;

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		*c = (struct counting){ .layout = l };
		status = count(row->ctx, l, row->task, c);
		if (!status || status == KW_NOTFOUND || !row->kernel->is_live)
			break;
		kw_pass_renew(row->ctx);
	}
	return status;
}

static void read_counts(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct slab_layout *l = layout;
	struct counting c;
	uint32_t oo = 0;
	kw_status status = l->oo == KW_NO_ADDR ? KW_NOTFOUND : kw_read_u32(row->ctx, row->task + l->oo, &oo);

	if (!status && oo >> OBJECTS_BITS > MAX_SLAB_ORDER)
		status = KW_FORMAT;
	if (!status)
		status = count_anew(row, l, &c);
	if (status) {
		kw_set_all_absent(values, COUNT(count_fields),
				  status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER : kw_absent_of_status(status));
		return;
	}
	kw_set_uint(&values[ACTIVE], c.objects < c.free ? 0 : c.objects - c.free);
	kw_set_uint(&values[OBJECTS], c.objects);
	kw_set_uint(&values[SLABS], c.slabs);
	kw_set_uint(&values[PER_SLAB], oo & OBJECTS_MASK);
	kw_set_uint(&values[PAGES], 1ULL << (oo >> OBJECTS_BITS));
	kw_set_uint(&values[SIZE], c.slabs * KW_PAGE_SIZE << (oo >> OBJECTS_BITS));
}

static const struct kw_field_table path_table = { path_fields, COUNT(path_fields) };
static const struct kw_field_table count_table = { count_fields, COUNT(count_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &path_table },
	{ .table = &count_table, .subject = &subject, .read = read_counts },
};

struct slab_walk {
	kw_take_rows take;
	void *arg;
};

static bool take_cache(kw_ctx *ctx, uint64_t cache, void *arg)
{
	struct slab_walk *w = arg;

	(void)ctx;
	return kw_take_row(w->take, cache, 0, 0, w->arg);
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	const struct slab_layout *l = layout;
	struct slab_walk w = { take, arg };

	(void)kernel;
	if (l->caches == KW_NO_ADDR || l->list == KW_NO_ADDR)
		return KW_NOTFOUND;
	return kw_list_each(ctx, l->caches, l->list, MAX_CACHES, take_cache, &w);
}

const struct kw_source_def kw_slab_source = {
	.pub = { "slabs", "a cache of kernel objects", "name,active,objects,object_size,slabs,size" },
	.type = "struct kmem_cache",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
