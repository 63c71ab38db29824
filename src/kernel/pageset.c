/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sources pagesets and numa_items: what each CPU has in hand of a zone, and hits and misses of allocations there.
 *
 *     zone.per_cpu_pageset -> struct per_cpu_pages         pages in hand; since 5.14
 *     zone.per_cpu_zonestats -> struct per_cpu_zonestat    its threshold, hits and misses not handed in yet
 *     zone.pageset -> struct per_cpu_pageset               both, until 5.13
 */
#include "kernel/cpu.h"
#include "kernel/vmstat.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { PAGES_COUNT, PAGES_HIGH, PAGES_BATCH, PAGES_HIGH_MIN, PAGES_HIGH_MAX, NR_PAGES };

struct pageset_layout {
	const struct kw_vm_layout *vm;
	const struct kw_cpu_layout *cpu;
	uint64_t pages, stats; /* struct zone: per-CPU pointers */
	uint64_t of_pages[NR_PAGES];
	uint64_t threshold, events; /* in what stats points to */
	uint32_t event_size;
	uint64_t numa; /* zone.vm_numa_event[], vm_numa_stat[] until 5.13 */
};

static uint64_t either(uint64_t one, uint64_t other)
{
	return one == KW_NO_ADDR ? other : one;
}

static void resolve_old(kw_ctx *ctx, struct pageset_layout *l)
{
	uint64_t pcp = kw_offset_or_none(ctx, "per_cpu_pageset", "pcp");

	for (size_t i = 0; i < NR_PAGES; i++)
		l->of_pages[i] = pcp == KW_NO_ADDR || l->of_pages[i] == KW_NO_ADDR ? KW_NO_ADDR
										   : pcp + l->of_pages[i];
	l->stats = l->pages = kw_offset_or_none(ctx, "zone", "pageset");
	l->threshold = kw_offset_or_none(ctx, "per_cpu_pageset", "stat_threshold");
	l->events = kw_offset_or_none(ctx, "per_cpu_pageset", "vm_numa_stat_diff");
	l->event_size = 2;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	static const char *const names[NR_PAGES] = { "count", "high", "batch", "high_min", "high_max" };
	struct pageset_layout *l = layout;

	l->vm = kw_layout_get(ctx, kernel, &kw_vm_subject);
	l->cpu = l->vm ? kw_layout_get(ctx, kernel, &kw_cpu_subject) : NULL;
	if (!l->cpu)
		return ctx->status;
	for (size_t i = 0; i < NR_PAGES; i++)
		l->of_pages[i] = kw_offset_or_none(ctx, "per_cpu_pages", names[i]);
	l->pages = kw_offset_or_none(ctx, "zone", "per_cpu_pageset");
	l->stats = kw_offset_or_none(ctx, "zone", "per_cpu_zonestats");
	l->threshold = kw_offset_or_none(ctx, "per_cpu_zonestat", "stat_threshold");
	l->events = kw_offset_or_none(ctx, "per_cpu_zonestat", "vm_numa_event");
	l->event_size = 8;
	if (l->pages == KW_NO_ADDR)
		resolve_old(ctx, l);
	l->numa = either(kw_offset_or_none(ctx, "zone", "vm_numa_event"),
			 kw_offset_or_none(ctx, "zone", "vm_numa_stat"));
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct pageset_layout), resolve };

/* Read a number out of what a per-CPU pointer of a zone leads to on a CPU. */
static kw_status read_part(const struct kw_row *row, uint64_t pointer, unsigned int cpu, uint64_t offset,
			   void *ret, size_t size)
{
	uint64_t area;
	kw_status status;

	if (pointer == KW_NO_ADDR || offset == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_u64(row->ctx, row->task + pointer, &area);
	if (status)
		return status;
	area = area ? kw_percpu(row->kernel, area, cpu) : KW_NO_ADDR;
	return area == KW_NO_ADDR ? KW_ABSENT : kw_read(row->ctx, area + offset, ret, size);
}

static enum kw_absent reason(kw_status status)
{
	return status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER : kw_absent_of_status(status);
}

static const struct kw_field_def pageset_fields[] = {
	KW_READ_FIELD("count", "COUNT", "", UINT, COUNT, PLAIN, PERCPU, "pages that the CPU has in hand",
		      "per_cpu_pages.count"),
	KW_READ_FIELD("high", "HIGH", "", UINT, COUNT, PLAIN, PERCPU, "as many as it keeps",
		      "per_cpu_pages.high"),
	KW_READ_FIELD("batch", "BATCH", "", UINT, COUNT, PLAIN, PERCPU,
		      "how many it takes or gives back at once", "per_cpu_pages.batch"),
	KW_READ_FIELD("high_min", "HIGHMIN", "", UINT, COUNT, PLAIN, PERCPU,
		      "the least that high is tuned to", "per_cpu_pages.high_min"),
	KW_READ_FIELD("high_max", "HIGHMAX", "", UINT, COUNT, PLAIN, PERCPU, "the most that high is tuned to",
		      "per_cpu_pages.high_max"),
	KW_READ_FIELD("threshold", "THRESHOLD", "", INT, COUNT, PLAIN, PERCPU,
		      "changes of a counter that the CPU collects before it hands them in",
		      "per_cpu_zonestat.stat_threshold"),
	KW_READ_FIELD("cpu", "CPU", "", UINT, NONE, PLAIN, OBJECT, "number of the CPU", "__cpu_online_mask"),
};

static void read_pageset(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct pageset_layout *l = layout;
	int8_t threshold = 0;
	kw_status status;

	for (size_t i = 0; i < NR_PAGES; i++) {
		uint32_t number;

		status = read_part(row, l->pages, row->cpu, l->of_pages[i], &number, sizeof(number));
		if (status)
			kw_set_absent(&values[i], reason(status));
		else
			kw_set_uint(&values[i], number);
	}
	status = read_part(row, l->stats, row->cpu, l->threshold, &threshold, 1);
	if (status)
		kw_set_absent(&values[NR_PAGES], reason(status));
	else
		kw_set_int(&values[NR_PAGES], threshold);
	kw_set_uint(&values[NR_PAGES + 1], row->cpu);
}

static const struct kw_field_def numa_fields[] = {
	KW_READ_FIELD("name", "NAME", "", STRING, NONE, PLAIN, OBJECT, "name of the counter",
		      "vmstat_text[]"),
	KW_READ_FIELD("value", "VALUE", "", UINT, COUNT, PLAIN, PERCPU,
		      "events, those that CPUs have not handed in yet included: as /proc/zoneinfo has it",
		      "zone.vm_numa_event[], per_cpu_zonestat.vm_numa_event[]"),
};

static kw_status sum_events(const struct kw_row *row, const struct pageset_layout *l, uint64_t *ret)
{
	kw_status status = KW_NOTFOUND;

	if (l->numa != KW_NO_ADDR)
		status = kw_read_u64(row->ctx, row->task + l->numa + 8 * row->index, ret);
	for (unsigned int cpu = 0; !status && cpu < row->kernel->nr_cpus; cpu++) {
		uint64_t events = 0;

		if (!kw_cpu_is_online(row->ctx, row->kernel, l->cpu, cpu))
			continue;
		status = read_part(row, l->stats, cpu, l->events + l->event_size * row->index, &events,
				   l->event_size);
		*ret += events;
	}
	return status;
}

static void read_numa(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct pageset_layout *l = layout;
	struct kw_vm_item item = { KW_VM_NUMA, (uint32_t)row->index };
	uint64_t sum = 0;
	kw_status status;

	if (kw_row_wants(row, 0))
		kw_vm_set_name(row, l->vm, item, &values[0]);
	if (!kw_row_wants(row, 1))
		return;
	status = sum_events(row, l, &sum);
	if (status)
		kw_set_absent(&values[1], reason(status));
	else
		kw_set_uint(&values[1], sum);
}

static const struct kw_field_table pageset_table = { pageset_fields, COUNT(pageset_fields) };
static const struct kw_field_table numa_table = { numa_fields, COUNT(numa_fields) };

static const struct kw_field_group pageset_groups[] = {
	{ .table = &kw_zone_id_fields },
	{ .table = &pageset_table, .subject = &subject, .read = read_pageset },
};

static const struct kw_field_group numa_groups[] = {
	{ .table = &kw_zone_id_fields },
	{ .table = &numa_table, .subject = &subject, .read = read_numa },
};

/* Walking */

struct walk {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	const struct pageset_layout *layout;
	kw_take_rows take;
	void *arg;
};

static bool take_cpus(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	const struct walk *w = arg;
	bool go_on = true;

	(void)node;
	(void)number;
	if (!kw_zone_is_populated(w->ctx, w->layout->vm, zone))
		return true;
	for (unsigned int cpu = 0; go_on && cpu < w->kernel->nr_cpus; cpu++)
		if (kw_cpu_is_online(w->ctx, w->kernel, w->layout->cpu, cpu))
			go_on = kw_take_row(w->take, zone, cpu, cpu, w->arg);
	return go_on;
}

static bool take_items(uint64_t zone, uint32_t node, uint32_t number, void *arg)
{
	const struct walk *w = arg;
	bool go_on = true;

	(void)node;
	(void)number;
	if (!kw_zone_is_populated(w->ctx, w->layout->vm, zone))
		return true;
	for (uint32_t i = 0; go_on && i < w->layout->vm->nr_numa; i++)
		go_on = kw_take_row(w->take, zone, i, 0, w->arg);
	return go_on;
}

static kw_status walk_pagesets(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			       kw_take_rows take, void *arg)
{
	struct walk w = { ctx, kernel, layout, take, arg };

	return kernel->nr_cpus ? kw_zones_each(ctx, w.layout->vm, take_cpus, &w) : KW_NOTFOUND;
}

static kw_status walk_numa(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
			   void *arg)
{
	struct walk w = { ctx, kernel, layout, take, arg };

	return w.layout->vm->nr_numa ? kw_zones_each(ctx, w.layout->vm, take_items, &w) : KW_NOTFOUND;
}

const struct kw_source_def kw_pageset_source = {
	.pub = { "pagesets", "a CPU's pages of a zone", "node,zone,cpu,count,high,batch" },
	.type = "struct zone",
	.groups = pageset_groups,
	.nr_groups = COUNT(pageset_groups),
	.subject = &subject,
	.walk = walk_pagesets,
};

const struct kw_source_def kw_numa_item_source = {
	.pub = { "numa_items", "a counter of hits and misses in a zone", "node,zone,name,value" },
	.type = "struct zone",
	.groups = numa_groups,
	.nr_groups = COUNT(numa_groups),
	.subject = &subject,
	.walk = walk_numa,
};
