/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/meminfo: a line for each field of the system that has the line's label as an alias.
 *
 * A line that this kernel's configuration has not is left out; one that it goes on printing though nothing is counted any
 * more is 0, as there.
 */
#include <string.h>

#include "cli/proc_maker.h"

/* What the kernel prints where it keeps nothing. */
enum unkept { ALWAYS_THERE, LEFT_OUT, ZERO };

/* Which part of the configuration a line belongs to. */
enum part { EVERY_KERNEL, ZSWAP, HUGE_PAGES, CMA, GIGANTIC_MAPS, NR_PARTS };

static const struct line {
	const char *label;
	const char *column; /* NULL: nothing is counted, it is 0 */
	enum unkept unkept;
	enum part part;
	bool is_count; /* without a unit */
} lines[] = {
	{ "MemTotal", "mem_total", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "MemFree", "mem_free", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "MemAvailable", "mem_available", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Buffers", "buffers", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Cached", "cached", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "SwapCached", "swap_cached", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Active", "active", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Inactive", "inactive", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Active(anon)", "active_anon", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Inactive(anon)", "inactive_anon", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Active(file)", "active_file", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Inactive(file)", "inactive_file", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Unevictable", "unevictable", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Mlocked", "mlocked", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "SwapTotal", "swap_total", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "SwapFree", "swap_free", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Zswap", "zswap", ALWAYS_THERE, ZSWAP, false },
	{ "Zswapped", "zswapped", ALWAYS_THERE, ZSWAP, false },
	{ "Dirty", "dirty", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Writeback", "writeback", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "AnonPages", "anon_pages", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Mapped", "mapped", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Shmem", "shmem", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "KReclaimable", "kreclaimable", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Slab", "slab", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "SReclaimable", "sreclaimable", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "SUnreclaim", "sunreclaim", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "KernelStack", "kernel_stack", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "PageTables", "page_tables", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "SecPageTables", "sec_page_tables", LEFT_OUT, EVERY_KERNEL, false },
	{ "NFS_Unstable", "nfs_unstable", ZERO, EVERY_KERNEL, false },
	{ "Bounce", "bounce", ZERO, EVERY_KERNEL, false },
	{ "WritebackTmp", "writeback_tmp", ZERO, EVERY_KERNEL, false },
	{ "CommitLimit", "commit_limit", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "Committed_AS", "committed", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "VmallocTotal", "vmalloc_total", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "VmallocUsed", "vmalloc_used", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "VmallocChunk", NULL, ZERO, EVERY_KERNEL, false },
	{ "Percpu", "percpu", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "HardwareCorrupted", "hardware_corrupted", LEFT_OUT, EVERY_KERNEL, false },
	{ "AnonHugePages", "anon_huge", ALWAYS_THERE, HUGE_PAGES, false },
	{ "ShmemHugePages", "shmem_huge", ALWAYS_THERE, HUGE_PAGES, false },
	{ "ShmemPmdMapped", "shmem_pmd_mapped", ALWAYS_THERE, HUGE_PAGES, false },
	{ "FileHugePages", "file_huge", ALWAYS_THERE, HUGE_PAGES, false },
	{ "FilePmdMapped", "file_pmd_mapped", ALWAYS_THERE, HUGE_PAGES, false },
	{ "CmaTotal", "cma_total", ALWAYS_THERE, CMA, false },
	{ "CmaFree", "cma_free", ALWAYS_THERE, CMA, false },
	{ "Unaccepted", "unaccepted", LEFT_OUT, EVERY_KERNEL, false },
	{ "Balloon", "balloon", LEFT_OUT, EVERY_KERNEL, false },
	{ "GPUActive", "gpu_active", LEFT_OUT, EVERY_KERNEL, false },
	{ "GPUReclaim", "gpu_reclaim", LEFT_OUT, EVERY_KERNEL, false },
	{ "HugePages_Total", "hugepages_total", LEFT_OUT, EVERY_KERNEL, true },
	{ "HugePages_Free", "hugepages_free", LEFT_OUT, EVERY_KERNEL, true },
	{ "HugePages_Rsvd", "hugepages_rsvd", LEFT_OUT, EVERY_KERNEL, true },
	{ "HugePages_Surp", "hugepages_surp", LEFT_OUT, EVERY_KERNEL, true },
	{ "Hugepagesize", "hugepage_size", LEFT_OUT, EVERY_KERNEL, false },
	{ "Hugetlb", "hugetlb", LEFT_OUT, EVERY_KERNEL, false },
	{ "DirectMap4k", "direct_map_4k", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "DirectMap2M", "direct_map_2m", ALWAYS_THERE, EVERY_KERNEL, false },
	{ "DirectMap1G", "direct_map_1g", ALWAYS_THERE, GIGANTIC_MAPS, false },
};

#define NR_LINES (sizeof(lines) / sizeof(lines[0]))

struct meminfo {
	bool has[NR_PARTS];
	char columns[2048];
	bool whole;
};

static void find_parts(struct proc_maker *m, struct meminfo *info)
{
	uint64_t gigantic = 0;
	int64_t event;

	info->has[EVERY_KERNEL] = true;
	/* The lines came with the event, in 5.19. */
	info->has[ZSWAP] = kw_enum_value(m->ctx, "vm_event_item", "ZSWPIN", &event) == KW_OK;
	info->has[HUGE_PAGES] = proc_has_symbol(m, "transparent_hugepage_flags");
	info->has[CMA] = proc_has_symbol(m, "cma_alloc");
	info->has[GIGANTIC_MAPS] = proc_global(m, "direct_gbpages", 4, &gigantic) && gigantic;
}

/* The first column stands in for those of lines without one. */
static void list_columns(struct meminfo *info)
{
	size_t used = 0;

	for (size_t i = 0; i < NR_LINES; i++)
		used += (size_t)snprintf(info->columns + used, sizeof(info->columns) - used, "%s%s",
					 i ? "," : "", lines[i].column ? lines[i].column : lines[0].column);
}

static void put_line(struct proc_maker *m, const struct line *line, uint64_t number)
{
	int len = (int)strlen(line->label);

	fprintf(m->out, "%s:%*s%*" PRIu64 "%s\n", line->label, len < 15 ? 15 - len : 0, "",
		len < 15 ? 8 : 23 - len, number, line->is_count ? "" : " kB");
}

static bool is_unkept(const struct kw_value *v)
{
	return v->type == KW_VAL_ABSENT &&
	       (v->absent == KW_ABSENT_NO_MEMBER || v->absent == KW_ABSENT_NO_SYMBOL);
}

static void put_lines(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct meminfo *info = arg;

	for (size_t i = 0; i < NR_LINES; i++) {
		const struct line *line = &lines[i];
		const struct kw_value *v = &values[i];

		if (!info->has[line->part] || (line->unkept == LEFT_OUT && is_unkept(v)))
			continue;
		if (!line->column || (line->unkept == ZERO && is_unkept(v))) {
			put_line(m, line, 0);
		} else if (v->type == KW_VAL_ABSENT) {
			info->whole = proc_missing(m, line->column, kw_absent_text(v->absent));
			return;
		} else {
			put_line(m, line, line->is_count ? v->u : v->u >> 10);
		}
	}
}

bool proc_make_meminfo(struct proc_maker *m)
{
	struct meminfo info = { .whole = true };

	find_parts(m, &info);
	list_columns(&info);
	return proc_rows(m, "system", info.columns, UINT64_MAX, put_lines, &info) && info.whole;
}
