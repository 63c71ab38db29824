/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source vmstat: a row for each line of /proc/vmstat, whose names are the kernel's own. */
#include "kernel/vmstat.h"

#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_NAME     64

static uint32_t enum_count(kw_ctx *ctx, const char *enumeration, const char *last)
{
	int64_t count = kw_enumerator_or_none(ctx, enumeration, last);

	return count < 0 || count > KW_MAX_VM_ITEMS ? 0 : (uint32_t)count;
}

struct kw_vm_item kw_vm_find(kw_ctx *ctx, const char *enumerator)
{
	int64_t index = kw_enumerator_or_none(ctx, "enum node_stat_item", enumerator);

	if (index >= 0 && index < KW_MAX_VM_ITEMS)
		return (struct kw_vm_item){ KW_VM_NODE, (uint32_t)index };
	index = kw_enumerator_or_none(ctx, "enum zone_stat_item", enumerator);
	if (index >= 0 && index < KW_MAX_VM_ITEMS)
		return (struct kw_vm_item){ KW_VM_ZONE, (uint32_t)index };
	return (struct kw_vm_item){ KW_VM_NONE, 0 };
}

static void resolve_counts(kw_ctx *ctx, struct kw_vm_layout *l)
{
	l->nr_zone = enum_count(ctx, "enum zone_stat_item", "NR_VM_ZONE_STAT_ITEMS");
	l->nr_node = enum_count(ctx, "enum node_stat_item", "NR_VM_NODE_STAT_ITEMS");
	l->nr_event = enum_count(ctx, "enum vm_event_item", "NR_VM_EVENT_ITEMS");
	/* Renamed when they became events (5.14). */
	l->nr_numa = enum_count(ctx, "enum numa_stat_item", "NR_VM_NUMA_EVENT_ITEMS");
	if (!l->nr_numa)
		l->nr_numa = enum_count(ctx, "enum numa_stat_item", "NR_VM_NUMA_STAT_ITEMS");
	/* vm_stat_item since 6.11 */
	l->nr_writeback = enum_count(ctx, "enum writeback_stat_item", "NR_VM_WRITEBACK_STAT_ITEMS");
	if (!l->nr_writeback)
		l->nr_writeback = enum_count(ctx, "enum vm_stat_item", "NR_VM_STAT_ITEMS");
}

static void resolve_symbols(kw_ctx *ctx, struct kw_vm_layout *l)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} wanted[] = {
		{ "vm_zone_stat", &l->zone_stat },
		{ "vm_node_stat", &l->node_stat },
		{ "vm_event_states", &l->event_states },
		{ "vmstat_text", &l->text },
		{ "__cpu_online_mask", &l->online_mask },
		{ "node_data", &l->node_data },
		{ "contig_page_data", &l->contig_page_data },
		{ "nr_node_ids", &l->node_ids },
		{ "totalreserve_pages", &l->reserve },
		{ "vm_dirty_ratio", &l->dirty_ratio },
		{ "dirty_background_ratio", &l->dirty_background_ratio },
		{ "vm_dirty_bytes", &l->dirty_bytes },
		{ "dirty_background_bytes", &l->dirty_background_bytes },
		{ "nr_memmap_pages", &l->memmap },
		{ "nr_memmap_boot_pages", &l->memmap_boot },
		{ "vm_numa_event", &l->numa_stat },
		{ "vm_numa_stat", NULL }, /* until 5.13 */
	};
	struct kw_symbol_query q[COUNT(wanted)];

	for (size_t i = 0; i < COUNT(wanted); i++)
		q[i] = (struct kw_symbol_query){ wanted[i].name, KW_NO_ADDR };
	kw_symbol_addresses(ctx, q, COUNT(q));
	for (size_t i = 0; i < COUNT(wanted); i++)
		if (wanted[i].addr)
			*wanted[i].addr = q[i].addr;
	if (l->numa_stat == KW_NO_ADDR)
		l->numa_stat = q[COUNT(q) - 1].addr;
}

/* One pointer to per-CPU counters until 5.13 (pageset), since then one of their own (per_cpu_zonestats). */
static void resolve_zone(kw_ctx *ctx, struct kw_vm_layout *l)
{
	const struct kw_type *zone;
	struct kw_member member;
	uint32_t nr_ids = 0;

	l->percpu_zone = kw_offset_or_none(ctx, "zone", "per_cpu_zonestats");
	if (l->percpu_zone != KW_NO_ADDR) {
		l->zone_diff = kw_offset_or_none(ctx, "per_cpu_zonestat", "vm_stat_diff");
		l->zone_numa = kw_offset_or_none(ctx, "per_cpu_zonestat", "vm_numa_event");
	} else {
		l->percpu_zone = kw_offset_or_none(ctx, "zone", "pageset");
		l->zone_diff = kw_offset_or_none(ctx, "per_cpu_pageset", "vm_stat_diff");
		l->zone_numa = KW_NO_ADDR;
	}
	l->present = kw_offset_or_none(ctx, "zone", "present_pages");
	l->managed = kw_offset_or_none(ctx, "zone", "managed_pages");
	l->watermark = kw_offset_or_none(ctx, "zone", "_watermark");
	l->boost = kw_offset_or_none(ctx, "zone", "watermark_boost");
	if (kw_type_find(ctx, "struct zone", &zone) == KW_OK)
		l->zone_size = zone->size;
	l->node_zones = kw_offset_or_none(ctx, "pglist_data", "node_zones");
	if (kw_type_offset(ctx, "pglist_data", "node_zones", &member) == KW_OK)
		l->max_zones = kw_type_strip(ctx, member.type)->count;
	if (l->max_zones > KW_MAX_ZONES)
		l->max_zones = 0;
	l->percpu_node = kw_offset_or_none(ctx, "pglist_data", "per_cpu_nodestats");
	l->node_diff = kw_offset_or_none(ctx, "per_cpu_nodestat", "vm_node_stat_diff");
	l->max_nodes = 1;
	if (l->node_data != KW_NO_ADDR && kw_type_offset(ctx, "nodemask_t", "bits", &member) == KW_OK)
		l->max_nodes = (uint32_t)(kw_type_size(ctx, member.type) * 8);
	/* Of the 1024 places of a distribution's kernel only the first nr_node_ids can ever be taken. */
	if (l->node_ids != KW_NO_ADDR && kw_read_u32(ctx, l->node_ids, &nr_ids) == KW_OK && nr_ids &&
	    nr_ids < l->max_nodes)
		l->max_nodes = nr_ids;
	if (l->max_nodes > KW_MAX_NODES)
		l->max_nodes = KW_MAX_NODES;
	kw_clear_error(ctx);
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct kw_vm_layout *l = layout;

	(void)kernel;
	resolve_symbols(ctx, l);
	resolve_counts(ctx, l);
	resolve_zone(ctx, l);
	l->pgpgin = kw_enumerator_or_none(ctx, "enum vm_event_item", "PGPGIN");
	l->pgpgout = kw_enumerator_or_none(ctx, "enum vm_event_item", "PGPGOUT");
	l->free = kw_vm_find(ctx, "NR_FREE_PAGES");
	l->active_file = kw_vm_find(ctx, "NR_ACTIVE_FILE");
	l->inactive_file = kw_vm_find(ctx, "NR_INACTIVE_FILE");
	l->anon_thps = kw_vm_find(ctx, "NR_ANON_THPS");
	l->file_thps = kw_vm_find(ctx, "NR_FILE_THPS");
	l->shmem_thps = kw_vm_find(ctx, "NR_SHMEM_THPS");
	l->shmem_mapped = kw_vm_find(ctx, "NR_SHMEM_PMDMAPPED");
	l->file_mapped = kw_vm_find(ctx, "NR_FILE_PMDMAPPED");
	/* Since 5.12, whose series for control groups brought NR_SWAPCACHE as well; before in huge pages. */
	l->thps_in_pages = kw_vm_find(ctx, "NR_SWAPCACHE").kind != KW_VM_NONE;
	return KW_OK;
}

const struct kw_subject kw_vm_subject = { sizeof(struct kw_vm_layout), resolve };

/* Nodes and zones */

static kw_status node_at(kw_ctx *ctx, const struct kw_vm_layout *l, uint32_t node, uint64_t *ret)
{
	if (l->node_data != KW_NO_ADDR)
		return kw_read_near_u64(ctx, l->node_data + 8ULL * node, ret);
	*ret = l->contig_page_data;
	return l->contig_page_data == KW_NO_ADDR ? KW_NOTFOUND : KW_OK;
}

kw_status kw_zones_each(kw_ctx *ctx, const struct kw_vm_layout *l, kw_zone_fn fn, void *arg)
{
	if (!l->zone_size || l->node_zones == KW_NO_ADDR || !l->max_zones)
		return KW_NOTFOUND;
	for (uint32_t node = 0; node < l->max_nodes; node++) {
		uint64_t data;
		kw_status status = node_at(ctx, l, node, &data);

		if (status)
			return status;
		for (uint32_t i = 0; data && i < l->max_zones; i++)
			if (!fn(data + l->node_zones + i * l->zone_size, node, i, arg))
				return KW_OK;
	}
	return KW_OK;
}

struct summing {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	const struct kw_vm_layout *layout;
	uint32_t index;
	bool numa;
	int64_t sum;
	kw_status status;
};

/* Add the signed bytes, or the hits and misses, that CPUs keep for a zone or node. */
static kw_status add_percpu(struct summing *s, uint64_t pointer, uint64_t offset)
{
	uint64_t area;
	kw_status status = kw_read_near_u64(s->ctx, pointer, &area);

	for (unsigned int cpu = 0; !status && area && cpu < s->kernel->nr_cpus; cpu++) {
		uint64_t addr = kw_percpu(s->kernel, area, cpu);
		int8_t diff = 0;
		uint64_t events = 0;

		if (addr == KW_NO_ADDR)
			continue;
		if (s->numa)
			status = kw_read_near_u64(s->ctx, addr + offset + 8ULL * s->index, &events);
		else
			status = kw_read(s->ctx, addr + offset + s->index, &diff, 1);
		s->sum += s->numa ? (int64_t)events : diff;
	}
	return status;
}

static bool add_zone(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	struct summing *s = arg;
	uint64_t present = 1;

	(void)node;
	(void)number;
	/* A zone without memory has no counters of its own. */
	if (s->layout->present != KW_NO_ADDR)
		s->status = kw_read_near_u64(s->ctx, zone + s->layout->present, &present);
	if (s->status || !present)
		return !s->status;
	s->status = add_percpu(s, zone + s->layout->percpu_zone,
			       s->numa ? s->layout->zone_numa : s->layout->zone_diff);
	return !s->status;
}

static kw_status add_zones(struct summing *s)
{
	kw_status status;

	if (s->layout->percpu_zone == KW_NO_ADDR ||
	    (s->numa ? s->layout->zone_numa : s->layout->zone_diff) == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_zones_each(s->ctx, s->layout, add_zone, s);
	return status ? status : s->status;
}

static kw_status add_nodes(struct summing *s)
{
	const struct kw_vm_layout *l = s->layout;
	kw_status status = l->percpu_node == KW_NO_ADDR || l->node_diff == KW_NO_ADDR ? KW_NOTFOUND : KW_OK;

	for (uint32_t node = 0; !status && node < l->max_nodes; node++) {
		uint64_t data;

		status = node_at(s->ctx, l, node, &data);
		if (!status && data)
			status = add_percpu(s, data + l->percpu_node, l->node_diff);
	}
	return status;
}

static kw_status read_global(kw_ctx *ctx, const struct kw_vm_layout *l, struct kw_vm_item item, int64_t *ret)
{
	const uint64_t arrays[] = {
		[KW_VM_ZONE] = l->zone_stat, [KW_VM_NUMA] = l->numa_stat, [KW_VM_NODE] = l->node_stat
	};
	const uint32_t counts[] = {
		[KW_VM_ZONE] = l->nr_zone, [KW_VM_NUMA] = l->nr_numa, [KW_VM_NODE] = l->nr_node
	};

	if (item.kind == KW_VM_NONE || item.kind > KW_VM_NODE || arrays[item.kind] == KW_NO_ADDR ||
	    item.index >= counts[item.kind])
		return KW_NOTFOUND;
	return kw_read_near_u64(ctx, arrays[item.kind] + 8ULL * item.index, (uint64_t *)ret);
}

static uint64_t not_below_zero(int64_t value)
{
	return value < 0 ? 0 : (uint64_t)value;
}

kw_status kw_vm_read(kw_ctx *ctx, const struct kw_vm_layout *l, struct kw_vm_item item, uint64_t *ret)
{
	int64_t value;
	kw_status status = read_global(ctx, l, item, &value);

	if (!status)
		*ret = not_below_zero(value);
	return status;
}

kw_status kw_vm_exact(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_vm_layout *l,
		      struct kw_vm_item item, uint64_t *ret)
{
	struct summing s = { .ctx = ctx, .kernel = kernel, .layout = l, .index = item.index };
	kw_status status = read_global(ctx, l, item, &s.sum);

	s.numa = item.kind == KW_VM_NUMA;
	if (!status)
		status = item.kind == KW_VM_NODE ? add_nodes(&s) : add_zones(&s);
	if (!status)
		*ret = not_below_zero(s.sum);
	return status;
}

static bool add_watermark(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	struct summing *s = arg;
	uint64_t low, boost = 0;

	(void)node;
	(void)number;
	/* enum zone_watermarks: min, low, high */
	s->status = kw_read_near_u64(s->ctx, zone + s->layout->watermark + 8, &low);
	if (!s->status && s->layout->boost != KW_NO_ADDR)
		s->status = kw_read_near_u64(s->ctx, zone + s->layout->boost, &boost);
	s->sum += s->status ? 0 : (int64_t)(low + boost);
	return !s->status;
}

kw_status kw_vm_low_watermarks(kw_ctx *ctx, const struct kw_vm_layout *l, uint64_t *ret)
{
	struct summing s = { .ctx = ctx, .layout = l };
	kw_status status = l->watermark == KW_NO_ADDR ? KW_NOTFOUND
						      : kw_zones_each(ctx, l, add_watermark, &s);

	status = status ? status : s.status;
	if (!status)
		*ret = not_below_zero(s.sum);
	return status;
}

/* Events, thresholds */

static kw_status read_event(struct kw_row *row, const struct kw_vm_layout *l, uint32_t index, uint64_t *ret)
{
	kw_status status = l->event_states == KW_NO_ADDR || !row->kernel->nr_cpus ? KW_NOTFOUND : KW_OK;

	*ret = 0;
	for (unsigned int cpu = 0; !status && cpu < row->kernel->nr_cpus; cpu++) {
		uint64_t count = 0, word = 0;

		if (!kw_cpu_is_possible(row->kernel, cpu))
			continue;
		/* The events of a CPU that went offline have been handed on. */
		if (l->online_mask != KW_NO_ADDR)
			status = kw_read_near_u64(row->ctx, l->online_mask + cpu / 64 * 8, &word);
		if (!status && word >> (cpu % 64) & 1)
			status = kw_read_near_u64(row->ctx,
						  kw_percpu(row->kernel, l->event_states, cpu) + 8ULL * index,
						  &count);
		*ret += count;
	}
	return status;
}

static kw_status read_word(kw_ctx *ctx, uint64_t addr, size_t size, uint64_t *ret)
{
	*ret = 0;
	return addr == KW_NO_ADDR ? KW_NOTFOUND : kw_read(ctx, addr, ret, size);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? 0 : a - b;
}

/* Pages that may be dirty at all: free ones beyond the reserve, and file pages. */
static kw_status dirtyable(kw_ctx *ctx, const struct kw_vm_layout *l, uint64_t *ret)
{
	uint64_t free, reserve, active, inactive;
	kw_status status = kw_vm_read(ctx, l, l->free, &free);

	if (!status)
		status = read_word(ctx, l->reserve, 8, &reserve);
	if (!status)
		status = kw_vm_read(ctx, l, l->active_file, &active);
	if (!status)
		status = kw_vm_read(ctx, l, l->inactive_file, &inactive);
	if (!status)
		*ret = less(free, reserve) + active + inactive + 1;
	return status;
}

static kw_status one_threshold(kw_ctx *ctx, uint64_t bytes_addr, uint64_t ratio_addr, uint64_t pages,
			       uint64_t *ret)
{
	uint64_t bytes, ratio;
	kw_status status = read_word(ctx, bytes_addr, 8, &bytes);

	if (!status)
		status = read_word(ctx, ratio_addr, 4, &ratio);
	if (!status)
		*ret = bytes ? bytes / KW_PAGE_SIZE + !!(bytes % KW_PAGE_SIZE)
			     : (uint64_t)((unsigned __int128)(ratio * KW_PAGE_SIZE / 100) * pages /
					  KW_PAGE_SIZE);
	return status;
}

static kw_status read_threshold(kw_ctx *ctx, const struct kw_vm_layout *l, bool background, uint64_t *ret)
{
	uint64_t pages = 0, limit, low;
	kw_status status = dirtyable(ctx, l, &pages);

	if (!status)
		status = one_threshold(ctx, l->dirty_bytes, l->dirty_ratio, pages, &limit);
	if (!status)
		status =
			one_threshold(ctx, l->dirty_background_bytes, l->dirty_background_ratio, pages, &low);
	if (!status)
		*ret = !background ? limit : low >= limit ? limit / 2 : low;
	return status;
}

static kw_status read_writeback(kw_ctx *ctx, const struct kw_vm_layout *l, const char *name, uint64_t *ret)
{
	if (strcmp(name, "nr_dirty_threshold") == 0 || strcmp(name, "nr_dirty_background_threshold") == 0)
		return read_threshold(ctx, l, strstr(name, "background"), ret);
	if (strcmp(name, "nr_memmap_pages") == 0)
		return read_word(ctx, l->memmap, 8, ret);
	if (strcmp(name, "nr_memmap_boot_pages") == 0)
		return read_word(ctx, l->memmap_boot, 8, ret);
	return KW_NOTFOUND;
}

/* Rows */

static struct kw_vm_item item_of(const struct kw_vm_layout *l, uint32_t line)
{
	const uint32_t counts[] = { l->nr_zone, l->nr_numa, l->nr_node, l->nr_writeback, l->nr_event };

	for (uint32_t i = 0; i < COUNT(counts); i++) {
		if (line < counts[i])
			return (struct kw_vm_item){ (enum kw_vm_kind)(KW_VM_ZONE + i), line };
		line -= counts[i];
	}
	return (struct kw_vm_item){ KW_VM_NONE, 0 };
}

static bool same(struct kw_vm_item a, struct kw_vm_item b)
{
	return a.kind == b.kind && a.index == b.index;
}

bool kw_vm_is_huge(const struct kw_vm_layout *l, struct kw_vm_item item)
{
	return l->thps_in_pages &&
	       (same(item, l->anon_thps) || same(item, l->file_thps) || same(item, l->shmem_thps) ||
		same(item, l->shmem_mapped) || same(item, l->file_mapped));
}

/* /proc/vmstat has huge pages in units of their own, and what was read and written in KiB. */
static uint64_t divisor(const struct kw_vm_layout *l, struct kw_vm_item item)
{
	if (kw_vm_is_huge(l, item))
		return KW_HUGE_PAGES;
	return item.kind == KW_VM_EVENT && (item.index == l->pgpgin || item.index == l->pgpgout) ? 2 : 1;
}

static const struct kw_field_def name_fields[] = {
	KW_READ_FIELD("name", "NAME", "", STRING, NONE, PLAIN, OBJECT, "name of the line", "vmstat_text[]"),
};

static const struct kw_field_def value_fields[] = {
	KW_READ_FIELD("value", "VALUE", "", UINT, COUNT, PLAIN, OBJECT,
		      "pages or events, as /proc/vmstat has it",
		      "vm_zone_stat[], vm_node_stat[], vm_event_states"),
};

static const struct kw_field_def exact_fields[] = {
	KW_READ_FIELD("exact", "EXACT", "", UINT, COUNT, PLAIN, PERCPU,
		      "the same with what the CPUs have not handed in yet",
		      "per_cpu_zonestat, per_cpu_nodestat"),
};

static void set(struct kw_value *out, kw_status status, uint64_t value)
{
	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_uint(out, value);
}

static kw_status read_name(kw_ctx *ctx, const struct kw_vm_layout *l, uint32_t line, char *name)
{
	uint64_t text;
	kw_status status = l->text == KW_NO_ADDR ? KW_NOTFOUND
						 : kw_read_near_u64(ctx, l->text + 8ULL * line, &text);

	return status ? status : kw_read_string(ctx, text, name, MAX_NAME);
}

/* What needs no sum over zones or nodes. */
static kw_status read_plain(struct kw_row *row, const struct kw_vm_layout *l, struct kw_vm_item item,
			    uint64_t *ret)
{
	char name[MAX_NAME];
	kw_status status;

	if (item.kind == KW_VM_EVENT)
		return read_event(row, l, item.index, ret);
	if (item.kind != KW_VM_WRITEBACK)
		return kw_vm_read(row->ctx, l, item, ret);
	status = read_name(row->ctx, l, row->index, name);
	return status ? status : read_writeback(row->ctx, l, name, ret);
}

/* Reading /proc/vmstat hands in hits and misses first, since 5.14: value and exact are the same then. */
static kw_status read_exact(struct kw_row *row, const struct kw_vm_layout *l, struct kw_vm_item item,
			    uint64_t *ret)
{
	if (item.kind == KW_VM_EVENT || item.kind == KW_VM_WRITEBACK)
		return read_plain(row, l, item, ret);
	if (item.kind == KW_VM_NUMA && l->zone_numa == KW_NO_ADDR)
		return KW_NOTFOUND;
	return kw_vm_exact(row->ctx, row->kernel, l, item, ret);
}

static void read_value_field(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct kw_vm_layout *l = layout;
	struct kw_vm_item item = item_of(l, row->index);
	bool handed_in = item.kind == KW_VM_NUMA && l->zone_numa != KW_NO_ADDR;
	uint64_t value = 0;
	kw_status status = handed_in ? read_exact(row, l, item, &value) : read_plain(row, l, item, &value);

	set(&values[0], status, value / divisor(l, item));
}

static void read_exact_field(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct kw_vm_layout *l = layout;
	struct kw_vm_item item = item_of(l, row->index);
	uint64_t value = 0;
	kw_status status = read_exact(row, l, item, &value);

	set(&values[0], status, value / divisor(l, item));
}

void kw_vm_set_name(struct kw_row *row, const struct kw_vm_layout *l, struct kw_vm_item item,
		    struct kw_value *out)
{
	uint32_t first = item.kind == KW_VM_NODE   ? l->nr_zone + l->nr_numa
			 : item.kind == KW_VM_NUMA ? l->nr_zone
						   : 0;
	char name[MAX_NAME];
	kw_status status = read_name(row->ctx, l, first + item.index, name);

	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_row_text(row, out, name);
}

static void read_name_field(struct kw_row *row, const void *layout, struct kw_value *values)
{
	char name[MAX_NAME] = "";
	kw_status status = read_name(row->ctx, layout, row->index, name);

	if (status)
		kw_set_absent(&values[0], kw_absent_of_counter(status));
	else
		kw_set_row_text(row, &values[0], name);
}

static const struct kw_field_table name_table = { name_fields, COUNT(name_fields) };
static const struct kw_field_table value_table = { value_fields, COUNT(value_fields) };
static const struct kw_field_table exact_table = { exact_fields, COUNT(exact_fields) };
static const struct kw_field_group groups[] = {
	{ .table = &name_table, .subject = &kw_vm_subject, .read = read_name_field },
	{ .table = &value_table, .subject = &kw_vm_subject, .read = read_value_field },
	{ .table = &exact_table, .subject = &kw_vm_subject, .read = read_exact_field },
};

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	const struct kw_vm_layout *l = layout;
	uint32_t nr = l->nr_zone + l->nr_numa + l->nr_node + l->nr_writeback + l->nr_event;

	(void)ctx;
	(void)kernel;
	if (!l->nr_zone || !l->nr_node || l->zone_stat == KW_NO_ADDR || l->text == KW_NO_ADDR)
		return KW_NOTFOUND;
	for (uint32_t i = 0; i < nr && kw_take_row(take, 0, i, 0, arg); i++)
		;
	return KW_OK;
}

const struct kw_source_def kw_vmstat_source = {
	.pub = { "vmstat", "a counter of the memory manager", "name,value,exact" },
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &kw_vm_subject,
	.walk = walk,
};
