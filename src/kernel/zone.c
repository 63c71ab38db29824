/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sources zones, zone_items, node_items and buddies: /proc/zoneinfo and /proc/buddyinfo.
 *
 *     pglist_data.node_zones[]         zones of a node, some without memory
 *     zone.vm_stat[], pglist_data.vm_stat[]    counters, as vm_zone_stat[] and vm_node_stat[] have them for all
 *     zone.free_area[order].nr_free    free blocks of 2^order pages
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/vmstat.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ORDERS   32 /* there are 11 */

struct zone_layout {
	const struct kw_vm_layout *vm;
	uint64_t zone_stat, node_stat; /* zone.vm_stat, pglist_data.vm_stat */
	uint64_t pgdat, node_id;
	uint64_t reserve, failures; /* zone.lowmem_reserve, pglist_data.kswapd_failures */
	uint32_t nr_reserves;
	uint64_t free_area, area_size, nr_free;
	uint32_t nr_orders;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct zone_layout *l = layout;
	struct kw_member area;

	l->vm = kw_layout_get(ctx, kernel, &kw_vm_subject);
	if (!l->vm)
		return ctx->status;
	l->zone_stat = kw_offset_or_none(ctx, "zone", "vm_stat");
	l->node_stat = kw_offset_or_none(ctx, "pglist_data", "vm_stat");
	l->pgdat = kw_offset_or_none(ctx, "zone", "zone_pgdat");
	l->node_id = kw_offset_or_none(ctx, "pglist_data", "node_id");
	l->failures = kw_offset_or_none(ctx, "pglist_data", "kswapd_failures");
	l->reserve = KW_NO_ADDR;
	if (kw_type_offset(ctx, "zone", "lowmem_reserve", &area) == KW_OK) {
		uint32_t count = kw_type_strip(ctx, area.type)->count;

		l->reserve = area.bit_offset / 8;
		l->nr_reserves = count < KW_MAX_ZONES ? count : KW_MAX_ZONES;
	}
	l->nr_free = kw_offset_or_none(ctx, "free_area", "nr_free");
	l->free_area = KW_NO_ADDR;
	if (kw_type_offset(ctx, "zone", "free_area", &area) == KW_OK) {
		const struct kw_type *type = kw_type_strip(ctx, area.type);

		l->free_area = area.bit_offset / 8;
		l->nr_orders = type->count < MAX_ORDERS ? type->count : MAX_ORDERS;
		l->area_size = kw_type_size(ctx, kw_type_target(ctx, type));
	}
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct zone_layout), resolve };

static void set(struct kw_value *out, kw_status status, uint64_t value)
{
	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_uint(out, value);
}

/* What all these rows have: the node and the zone */

static void pages(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, in[0].u * KW_PAGE_SIZE);
}

/* The watermark is raised by a boost for a while. */
static void watermark(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, (in[0].u + (in[1].type == KW_VAL_UINT ? in[1].u : 0)) * KW_PAGE_SIZE);
}

static const struct kw_field_def id_fields[] = {
	KW_PATH_FIELD("node", "NODE", INT, NONE, PLAIN, POINTER, "number of the node",
		      "zone.zone_pgdat->node_id", "zone_pgdat.node_id", NULL),
	KW_PATH_FIELD("zone", "ZONE", STRING, NONE, PLAIN, POINTER, "DMA, DMA32, Normal, ...", "zone.name",
		      "name", NULL),
};

const struct kw_field_table kw_zone_id_fields = { id_fields, COUNT(id_fields) };

#define BOOSTED(name, header, which, help)                                                           \
	{                                                                                            \
		{ name,                                                                              \
		  header,                                                                            \
		  "",                                                                                \
		  KW_VAL_UINT,                                                                       \
		  KW_UNIT_BYTES,                                                                     \
		  KW_SHOW_KIB,                                                                       \
		  KW_SCOPE_ROW,                                                                      \
		  KW_COST_OBJECT,                                                                    \
		  help,                                                                              \
		  "zone._watermark[], watermark_boost" },                                            \
			{ "_watermark[zone_watermarks." which "]", "watermark_boost" }, watermark, 0 \
	}

static const struct kw_field_def size_fields[] = {
	KW_PATH_FIELD("spanned", "SPANNED", UINT, BYTES, KIB, OBJECT,
		      "from its first page to its last, holes included", "zone.spanned_pages",
		      "spanned_pages", pages),
	KW_PATH_FIELD("present", "PRESENT", UINT, BYTES, KIB, OBJECT, "memory there is", "zone.present_pages",
		      "present_pages", pages),
	KW_PATH_FIELD("managed", "MANAGED", UINT, BYTES, KIB, OBJECT, "of that, given to the allocator",
		      "zone.managed_pages", "managed_pages", pages),
	KW_PATH_FIELD("start_pfn", "STARTPFN", UINT, NONE, PLAIN, OBJECT, "number of its first page",
		      "zone.zone_start_pfn", "zone_start_pfn", NULL),
	KW_PATH_FIELD("boost", "BOOST", UINT, BYTES, KIB, OBJECT, "how much the watermarks are raised",
		      "zone.watermark_boost", "watermark_boost", pages),
	BOOSTED("min", "MIN", "WMARK_MIN", "below this only the kernel itself gets memory"),
	BOOSTED("low", "LOW", "WMARK_LOW", "below this memory is reclaimed in the background"),
	BOOSTED("high", "HIGH", "WMARK_HIGH", "up to this"),
	BOOSTED("promo", "PROMO", "WMARK_PROMO",
		"up to this when pages are moved to this node for being used much"),
	KW_PATH_FIELD("cma", "CMA", UINT, BYTES, KIB, OBJECT, "set aside for contiguous blocks",
		      "zone.cma_pages", "cma_pages", pages),
	KW_PATH_FIELD("reserved_highatomic", "ATOMIC", UINT, BYTES, KIB, OBJECT,
		      "set aside for allocations that can't wait", "zone.nr_reserved_highatomic",
		      "nr_reserved_highatomic", pages),
	KW_PATH_FIELD("free_highatomic", "FREEATOMIC", UINT, BYTES, KIB, OBJECT, "of that, free",
		      "zone.nr_free_highatomic", "nr_free_highatomic", pages),
};

static const struct kw_field_table size_table = { size_fields, COUNT(size_fields) };

/* Items */

/* An item of a zone or node, as /proc/zoneinfo has it. */
static kw_status read_item(kw_ctx *ctx, uint64_t object, uint64_t offset, uint32_t index, int64_t *ret)
{
	if (offset == KW_NO_ADDR)
		return KW_NOTFOUND;
	return kw_read_u64(ctx, object + offset + 8ULL * index, (uint64_t *)ret);
}

static kw_status add_parts(struct kw_row *row, uint64_t pointer, uint64_t offset, uint32_t index,
			   int64_t *sum)
{
	uint64_t area;
	kw_status status = kw_read_u64(row->ctx, pointer, &area);

	for (unsigned int cpu = 0; !status && area && cpu < row->kernel->nr_cpus; cpu++) {
		uint64_t addr = kw_percpu(row->kernel, area, cpu);
		int8_t diff = 0;

		if (addr != KW_NO_ADDR)
			status = kw_read(row->ctx, addr + offset + index, &diff, 1);
		*sum += diff;
	}
	return status;
}

static uint64_t not_below_zero(int64_t value)
{
	return value < 0 ? 0 : (uint64_t)value;
}

static void set_item(struct kw_row *row, uint64_t stat, uint64_t pointer, uint64_t diff, uint32_t index,
		     struct kw_value *value, struct kw_value *exact)
{
	int64_t sum;
	kw_status status = read_item(row->ctx, row->task, stat, index, &sum);

	set(value, status, status ? 0 : not_below_zero(sum));
	if (!status)
		status = pointer == KW_NO_ADDR || diff == KW_NO_ADDR
				 ? KW_NOTFOUND
				 : add_parts(row, row->task + pointer, diff, index, &sum);
	set(exact, status, status ? 0 : not_below_zero(sum));
}

static const struct kw_field_def free_fields[] = {
	KW_READ_FIELD("free", "FREE", "", UINT, BYTES, KIB, OBJECT, "memory that is used for nothing",
		      "zone.vm_stat[NR_FREE_PAGES]"),
	KW_READ_FIELD("free_exact", "EXACT", "", UINT, BYTES, KIB, PERCPU,
		      "the same with what the CPUs have not handed in yet",
		      "per_cpu_zonestat.vm_stat_diff[]"),
};

static void to_bytes(struct kw_value *value)
{
	if (value->type == KW_VAL_UINT)
		value->u *= KW_PAGE_SIZE;
}

static void read_free(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct zone_layout *l = layout;

	if (l->vm->free.kind != KW_VM_ZONE) {
		kw_set_all_absent(values, COUNT(free_fields), KW_ABSENT_NO_MEMBER);
		return;
	}
	set_item(row, l->zone_stat, l->vm->percpu_zone, l->vm->zone_diff, l->vm->free.index, &values[0],
		 &values[1]);
	to_bytes(&values[0]);
	to_bytes(&values[1]);
}

static const struct kw_field_table free_table = { free_fields, COUNT(free_fields) };

#define MAX_FAILURES 16 /* MAX_RECLAIM_RETRIES */

static const struct kw_field_def reclaim_fields[] = {
	KW_READ_FIELD("protection", "PROTECTION", "", STRING, NONE, PLAIN, OBJECT,
		      "pages kept from allocations that could take those of each higher zone",
		      "zone.lowmem_reserve[]"),
	KW_READ_FIELD("unreclaimable", "HOPELESS", "", BOOL, NONE, PLAIN, POINTER,
		      "reclaiming in the background has been given up on this node",
		      "pglist_data.kswapd_failures"),
};

static void set_protection(struct kw_row *row, const struct zone_layout *l, struct kw_value *out)
{
	char text[24 * KW_MAX_ZONES];
	size_t used = 0;

	if (l->reserve == KW_NO_ADDR || !l->nr_reserves) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	for (uint32_t i = 0; i < l->nr_reserves; i++) {
		int64_t pages;
		kw_status status = kw_read(row->ctx, row->task + l->reserve + 8ULL * i, &pages, 8);

		if (status) {
			kw_set_absent(out, kw_absent_of_status(status));
			return;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, i ? ", %" PRId64 : "%" PRId64,
					 pages);
	}
	kw_row_put(row, out, text, used);
}

static void read_reclaim(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct zone_layout *l = layout;
	uint64_t pgdat;
	uint32_t failures = 0;
	kw_status status = KW_NOTFOUND;

	if (kw_row_wants(row, 0))
		set_protection(row, l, &values[0]);
	if (l->pgdat != KW_NO_ADDR && l->failures != KW_NO_ADDR)
		status = kw_read_u64(row->ctx, row->task + l->pgdat, &pgdat);
	if (!status)
		status = kw_read_u32(row->ctx, pgdat + l->failures, &failures);
	if (status)
		kw_set_absent(&values[1],
			      status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER : kw_absent_of_status(status));
	else
		kw_set_bool(&values[1], failures >= MAX_FAILURES);
}

static const struct kw_field_table reclaim_table = { reclaim_fields, COUNT(reclaim_fields) };

static const struct kw_field_group zone_groups[] = {
	{ .table = &kw_zone_id_fields },
	{ .table = &free_table, .subject = &subject, .read = read_free },
	{ .table = &size_table },
	{ .table = &reclaim_table, .subject = &subject, .read = read_reclaim },
};

static const struct kw_field_def item_fields[] = {
	KW_READ_FIELD("name", "NAME", "", STRING, NONE, PLAIN, OBJECT, "name of the counter",
		      "vmstat_text[]"),
	KW_READ_FIELD("value", "VALUE", "", UINT, COUNT, PLAIN, OBJECT,
		      "pages or events, as /proc/zoneinfo has it", "zone.vm_stat[], pglist_data.vm_stat[]"),
	KW_READ_FIELD("exact", "EXACT", "", UINT, COUNT, PLAIN, PERCPU,
		      "the same with what the CPUs have not handed in yet",
		      "per_cpu_zonestat, per_cpu_nodestat"),
};

static void read_zone_item(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct zone_layout *l = layout;

	kw_vm_set_name(row, l->vm, (struct kw_vm_item){ KW_VM_ZONE, row->index }, &values[0]);
	set_item(row, l->zone_stat, l->vm->percpu_zone, l->vm->zone_diff, row->index, &values[1], &values[2]);
}

static void read_node_item(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct zone_layout *l = layout;
	struct kw_vm_item item = { KW_VM_NODE, row->index };

	kw_vm_set_name(row, l->vm, item, &values[0]);
	set_item(row, l->node_stat, l->vm->percpu_node, l->vm->node_diff, row->index, &values[1], &values[2]);
	for (int i = 1; i < 3; i++)
		if (values[i].type == KW_VAL_UINT && kw_vm_is_huge(l->vm, item))
			values[i].u /= KW_HUGE_PAGES;
}

static const struct kw_field_table item_table = { item_fields, COUNT(item_fields) };

static const struct kw_field_group zone_item_groups[] = {
	{ .table = &kw_zone_id_fields },
	{ .table = &item_table, .subject = &subject, .read = read_zone_item },
};

static const struct kw_field_def node_id_fields[] = {
	KW_PATH_FIELD("node", "NODE", INT, NONE, PLAIN, OBJECT, "number of the node", "pglist_data.node_id",
		      "node_id", NULL),
};

static const struct kw_field_table node_id_table = { node_id_fields, COUNT(node_id_fields) };

static const struct kw_field_group node_item_groups[] = {
	{ .table = &node_id_table },
	{ .table = &item_table, .subject = &subject, .read = read_node_item },
};

/* Free blocks */

static const struct kw_field_def buddy_fields[] = {
	KW_READ_FIELD("order", "ORDER", "", UINT, NONE, PLAIN, OBJECT, "a block has 2^order pages",
		      "index in zone.free_area[]"),
	KW_READ_FIELD("blocks", "BLOCKS", "", UINT, COUNT, PLAIN, OBJECT, "free blocks",
		      "zone.free_area[].nr_free"),
};

static void read_buddy(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct zone_layout *l = layout;
	uint64_t blocks = 0;
	kw_status status =
		l->nr_free == KW_NO_ADDR
			? KW_NOTFOUND
			: kw_read_u64(row->ctx,
				      row->task + l->free_area + row->index * l->area_size + l->nr_free,
				      &blocks);

	kw_set_uint(&values[0], row->index);
	set(&values[1], status, blocks);
}

static const struct kw_field_table buddy_table = { buddy_fields, COUNT(buddy_fields) };

static const struct kw_field_group buddy_groups[] = {
	{ .table = &kw_zone_id_fields },
	{ .table = &buddy_table, .subject = &subject, .read = read_buddy },
};

/* Walking */

struct zone_walk {
	kw_ctx *ctx;
	const struct zone_layout *layout;
	kw_take_rows take;
	void *arg;
	uint32_t rows; /* for each zone, counted by row->index */
	bool stopped;
};

static bool take_zone(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	struct zone_walk *w = arg;

	(void)node;
	(void)number;
	for (uint32_t i = 0; i < w->rows && !w->stopped; i++)
		w->stopped = !kw_take_row(w->take, zone, i, 0, w->arg);
	return !w->stopped;
}

bool kw_zone_is_populated(kw_ctx *ctx, const struct kw_vm_layout *l, uint64_t zone)
{
	uint64_t present = 0;

	return l->present == KW_NO_ADDR || kw_read_u64(ctx, zone + l->present, &present) != KW_OK || present;
}

/* Zones without memory have no free blocks, and no counters in /proc/zoneinfo. */
static bool take_populated(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	struct zone_walk *w = arg;

	return !kw_zone_is_populated(w->ctx, w->layout->vm, zone) || take_zone(zone, node, number, arg);
}

static bool take_node(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	struct zone_walk *w = arg;
	uint64_t pgdat;

	if (number || w->layout->pgdat == KW_NO_ADDR ||
	    kw_read_u64(w->ctx, zone + w->layout->pgdat, &pgdat) != KW_OK)
		return true;
	return take_zone(pgdat, node, number, arg);
}

static kw_status walk_zones(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			    kw_take_rows take, void *arg)
{
	struct zone_walk w = { ctx, layout, take, arg, 1, false };

	(void)kernel;
	return kw_zones_each(ctx, w.layout->vm, take_zone, &w);
}

static kw_status walk_zone_items(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
				 kw_take_rows take, void *arg)
{
	struct zone_walk w = { ctx, layout, take, arg, 0, false };

	(void)kernel;
	w.rows = w.layout->vm->nr_zone;
	return w.rows ? kw_zones_each(ctx, w.layout->vm, take_populated, &w) : KW_NOTFOUND;
}

static kw_status walk_node_items(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
				 kw_take_rows take, void *arg)
{
	struct zone_walk w = { ctx, layout, take, arg, 0, false };

	(void)kernel;
	w.rows = w.layout->vm->nr_node;
	return w.rows ? kw_zones_each(ctx, w.layout->vm, take_node, &w) : KW_NOTFOUND;
}

static kw_status walk_buddies(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			      kw_take_rows take, void *arg)
{
	struct zone_walk w = { ctx, layout, take, arg, 0, false };

	(void)kernel;
	w.rows = w.layout->nr_orders;
	return w.rows ? kw_zones_each(ctx, w.layout->vm, take_populated, &w) : KW_NOTFOUND;
}

const struct kw_source_def kw_zone_source = {
	.pub = { "zones", "a zone of a node", "node,zone,managed,free,min,low,high" },
	.type = "struct zone",
	.groups = zone_groups,
	.nr_groups = COUNT(zone_groups),
	.subject = &subject,
	.walk = walk_zones,
};

const struct kw_source_def kw_zone_item_source = {
	.pub = { "zone_items", "a counter of a zone", "node,zone,name,value,exact" },
	.type = "struct zone",
	.groups = zone_item_groups,
	.nr_groups = COUNT(zone_item_groups),
	.subject = &subject,
	.walk = walk_zone_items,
};

const struct kw_source_def kw_node_item_source = {
	.pub = { "node_items", "a counter of a node", "node,name,value,exact" },
	.type = "struct pglist_data",
	.groups = node_item_groups,
	.nr_groups = COUNT(node_item_groups),
	.subject = &subject,
	.walk = walk_node_items,
};

const struct kw_source_def kw_buddy_source = {
	.pub = { "buddies", "free blocks of one size in a zone", "node,zone,order,blocks" },
	.type = "struct zone",
	.groups = buddy_groups,
	.nr_groups = COUNT(buddy_groups),
	.subject = &subject,
	.walk = walk_buddies,
};
