/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields of the system: /proc/meminfo.
 *
 * Most lines are items of the memory manager's counters, or variables of their own, in pages; the rest are computed as
 * the kernel does. Items that this kernel does not keep are absent, also where its /proc goes on printing a 0.
 */
#include "kernel/source.h"

#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "kernel/list.h"
#include "kernel/meminfo_sums.h"
#include "kernel/vmstat.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define MAX_INODES	1000000 /* of block devices */
#define MAX_HSTATES	16
#define MAX_SWAP_FILES	32
#define MAX_SWAP_SPACES 65536 /* of a swap file: one for each 64 MiB */

enum {
	MEM_TOTAL,
	MEM_FREE,
	MEM_AVAILABLE,
	BUFFERS,
	CACHED,
	SWAP_CACHED,
	ACTIVE,
	INACTIVE,
	ACTIVE_ANON,
	INACTIVE_ANON,
	ACTIVE_FILE,
	INACTIVE_FILE,
	UNEVICTABLE,
	MLOCKED,
	SWAP_TOTAL,
	SWAP_FREE,
	ZSWAP,
	ZSWAPPED,
	DIRTY,
	WRITEBACK,
	ANON_PAGES,
	MAPPED,
	SHMEM,
	KRECLAIMABLE,
	SLAB,
	SRECLAIMABLE,
	SUNRECLAIM,
	KERNEL_STACK,
	PAGE_TABLES,
	SEC_PAGE_TABLES,
	NFS_UNSTABLE,
	BOUNCE,
	WRITEBACK_TMP,
	COMMIT_LIMIT,
	COMMITTED,
	VMALLOC_TOTAL,
	VMALLOC_USED,
	PERCPU,
	HARDWARE_CORRUPTED,
	ANON_HUGE,
	SHMEM_HUGE,
	SHMEM_PMD,
	FILE_HUGE,
	FILE_PMD,
	CMA_TOTAL,
	CMA_FREE,
	UNACCEPTED,
	BALLOON,
	GPU_ACTIVE,
	GPU_RECLAIM,
	HUGEPAGES_TOTAL,
	HUGEPAGES_FREE,
	HUGEPAGES_RSVD,
	HUGEPAGES_SURP,
	HUGEPAGE_SIZE,
	HUGETLB,
	DIRECT_MAP_4K,
	DIRECT_MAP_2M,
	DIRECT_MAP_1G,
	NR_FIELDS
};

#define MEM(name, header, aliases, help, origin) \
	KW_READ_FIELD(name, header, aliases, UINT, BYTES, KIB, OBJECT, help, origin)
#define PAGES(name, header, aliases, help, origin) \
	KW_READ_FIELD(name, header, aliases, UINT, COUNT, PLAIN, OBJECT, help, origin)

static const struct kw_field_def fields[NR_FIELDS] = {
	[MEM_TOTAL] =
		MEM("mem_total", "TOTAL", "MemTotal", "memory that the kernel manages", "_totalram_pages"),
	[MEM_FREE] = MEM("mem_free", "FREE", "MemFree", "memory that is used for nothing", "NR_FREE_PAGES"),
	[MEM_AVAILABLE] = MEM("mem_available", "AVAIL", "MemAvailable",
			      "memory that new programs can have without swapping",
			      "computed: free, less reserves, plus caches that can be given up"),
	[BUFFERS] = MEM("buffers", "BUFFERS", "Buffers", "cached of block devices",
			"blockdev_superblock: inodes' nrpages"),
	[CACHED] = MEM("cached", "CACHED", "Cached", "cached of files, shared memory included",
		       "NR_FILE_PAGES - swap_cached - buffers"),
	[SWAP_CACHED] = MEM("swap_cached", "SWAPCACHED", "SwapCached", "in memory and in swap as well",
			    "NR_SWAPCACHE, until 5.11 swapper_spaces[]"),
	[ACTIVE] = MEM("active", "ACTIVE", "Active", "used lately", "NR_ACTIVE_ANON + NR_ACTIVE_FILE"),
	[INACTIVE] = MEM("inactive", "INACTIVE", "Inactive", "not used lately",
			 "NR_INACTIVE_ANON + NR_INACTIVE_FILE"),
	[ACTIVE_ANON] =
		MEM("active_anon", "ACTANON", "Active(anon)", "used lately, of no file", "NR_ACTIVE_ANON"),
	[INACTIVE_ANON] = MEM("inactive_anon", "INACTANON", "Inactive(anon)", "not used lately, of no file",
			      "NR_INACTIVE_ANON"),
	[ACTIVE_FILE] =
		MEM("active_file", "ACTFILE", "Active(file)", "used lately, of files", "NR_ACTIVE_FILE"),
	[INACTIVE_FILE] = MEM("inactive_file", "INACTFILE", "Inactive(file)", "not used lately, of files",
			      "NR_INACTIVE_FILE"),
	[UNEVICTABLE] = MEM("unevictable", "UNEVICT", "Unevictable", "can't be given up", "NR_UNEVICTABLE"),
	[MLOCKED] = MEM("mlocked", "MLOCKED", "Mlocked", "locked by programs", "NR_MLOCK"),
	[SWAP_TOTAL] = MEM("swap_total", "SWAP", "SwapTotal", "swap there is", "total_swap_pages"),
	[SWAP_FREE] = MEM("swap_free", "SWAPFREE", "SwapFree", "swap that is not in use", "nr_swap_pages"),
	[ZSWAP] = MEM("zswap", "ZSWAP", "Zswap", "what zswap takes for that",
		      "zswap_pool_total_size, zswap_pools"),
	[ZSWAPPED] = MEM("zswapped", "ZSWAPPED", "Zswapped", "swapped out into compressed memory",
			 "zswap_stored_pages"),
	[DIRTY] = MEM("dirty", "DIRTY", "Dirty,nr_dirty", "waits to be written", "NR_FILE_DIRTY"),
	[WRITEBACK] =
		MEM("writeback", "WRITEBACK", "Writeback,nr_writeback", "is being written", "NR_WRITEBACK"),
	[ANON_PAGES] =
		MEM("anon_pages", "ANON", "AnonPages", "mapped by programs, of no file", "NR_ANON_MAPPED"),
	[MAPPED] =
		MEM("mapped", "MAPPED", "Mapped,nr_mapped", "of files, mapped by programs", "NR_FILE_MAPPED"),
	[SHMEM] = MEM("shmem", "SHMEM", "Shmem", "shared memory and tmpfs", "NR_SHMEM"),
	[KRECLAIMABLE] = MEM("kreclaimable", "KRECLAIM", "KReclaimable", "of the kernel, can be given up",
			     "NR_SLAB_RECLAIMABLE_B + NR_KERNEL_MISC_RECLAIMABLE"),
	[SLAB] = MEM("slab", "SLAB", "Slab,nr_slab", "in the kernel's caches of objects",
		     "NR_SLAB_RECLAIMABLE_B + NR_SLAB_UNRECLAIMABLE_B"),
	[SRECLAIMABLE] = MEM("sreclaimable", "SRECLAIM", "SReclaimable", "of that, can be given up",
			     "NR_SLAB_RECLAIMABLE_B"),
	[SUNRECLAIM] = MEM("sunreclaim", "SUNRECLAIM", "SUnreclaim", "of that, can't be given up",
			   "NR_SLAB_UNRECLAIMABLE_B"),
	[KERNEL_STACK] =
		MEM("kernel_stack", "KSTACK", "KernelStack", "kernel stacks of tasks", "NR_KERNEL_STACK_KB"),
	[PAGE_TABLES] = MEM("page_tables", "PAGETABLES", "PageTables,nr_page_table_pages",
			    "page tables of programs", "NR_PAGETABLE"),
	[SEC_PAGE_TABLES] = MEM("sec_page_tables", "SECPAGETABLES", "SecPageTables",
				"page tables of guests and devices", "NR_SECONDARY_PAGETABLE"),
	[NFS_UNSTABLE] = MEM("nfs_unstable", "UNSTABLE", "NFS_Unstable,nr_unstable",
			     "written and not yet safe on an NFS server", "NR_UNSTABLE_NFS"),
	[BOUNCE] = MEM("bounce", "BOUNCE", "Bounce", "copies for devices that can't reach all memory",
		       "NR_BOUNCE"),
	[WRITEBACK_TMP] =
		MEM("writeback_tmp", "WRITEBACKTMP", "WritebackTmp", "copies for FUSE", "NR_WRITEBACK_TEMP"),
	[COMMIT_LIMIT] = MEM("commit_limit", "COMMITLIMIT", "CommitLimit",
			     "how much may be promised, where that is strict",
			     "computed from sysctl_overcommit_ratio or _kbytes"),
	[COMMITTED] =
		MEM("committed", "COMMITTED", "Committed_AS", "how much is promised", "vm_committed_as"),
	[VMALLOC_TOTAL] = MEM("vmalloc_total", "VMALLOCTOTAL", "VmallocTotal", "addresses that vmalloc has",
			      "constant of the paging mode: pgdir_shift"),
	[VMALLOC_USED] = MEM("vmalloc_used", "VMALLOC", "VmallocUsed", "mapped by vmalloc",
			     "nr_vmalloc_pages, NR_VMALLOC"),
	[PERCPU] = MEM("percpu", "PERCPU", "Percpu", "per-CPU memory", "pcpu_nr_populated * pcpu_nr_units"),
	[HARDWARE_CORRUPTED] = MEM("hardware_corrupted", "CORRUPTED", "HardwareCorrupted",
				   "given up as broken", "num_poisoned_pages"),
	[ANON_HUGE] =
		MEM("anon_huge", "ANONHUGE", "AnonHugePages", "anon_pages in huge pages", "NR_ANON_THPS"),
	[SHMEM_HUGE] =
		MEM("shmem_huge", "SHMEMHUGE", "ShmemHugePages", "shmem in huge pages", "NR_SHMEM_THPS"),
	[SHMEM_PMD] = MEM("shmem_pmd_mapped", "SHMEMPMD", "ShmemPmdMapped", "of that, mapped as such",
			  "NR_SHMEM_PMDMAPPED"),
	[FILE_HUGE] =
		MEM("file_huge", "FILEHUGE", "FileHugePages", "of files, in huge pages", "NR_FILE_THPS"),
	[FILE_PMD] = MEM("file_pmd_mapped", "FILEPMD", "FilePmdMapped", "of that, mapped as such",
			 "NR_FILE_PMDMAPPED"),
	[CMA_TOTAL] = MEM("cma_total", "CMA", "CmaTotal", "for devices that need contiguous memory",
			  "totalcma_pages"),
	[CMA_FREE] = MEM("cma_free", "CMAFREE", "CmaFree", "of that, free", "NR_FREE_CMA_PAGES"),
	[UNACCEPTED] = MEM("unaccepted", "UNACCEPTED", "Unaccepted", "not yet accepted from the hypervisor",
			   "NR_UNACCEPTED"),
	[BALLOON] = MEM("balloon", "BALLOON", "Balloon", "given back to the hypervisor", "NR_BALLOON_PAGES"),
	[GPU_ACTIVE] =
		MEM("gpu_active", "GPUACTIVE", "GPUActive", "in use by graphics drivers", "NR_GPU_ACTIVE"),
	[GPU_RECLAIM] =
		MEM("gpu_reclaim", "GPURECLAIM", "GPUReclaim", "theirs, can be given up", "NR_GPU_RECLAIM"),
	[HUGEPAGES_TOTAL] = PAGES("hugepages_total", "HUGE", "HugePages_Total",
				  "huge pages of the default size", "hstate.nr_huge_pages"),
	[HUGEPAGES_FREE] = PAGES("hugepages_free", "HUGEFREE", "HugePages_Free", "of these, free",
				 "hstate.free_huge_pages"),
	[HUGEPAGES_RSVD] = PAGES("hugepages_rsvd", "HUGERSVD", "HugePages_Rsvd", "of these, promised",
				 "hstate.resv_huge_pages"),
	[HUGEPAGES_SURP] = PAGES("hugepages_surp", "HUGESURP", "HugePages_Surp",
				 "above the number that was set", "hstate.surplus_huge_pages"),
	[HUGEPAGE_SIZE] =
		MEM("hugepage_size", "HUGESIZE", "Hugepagesize", "the default size", "hstate.order"),
	[HUGETLB] = MEM("hugetlb", "HUGETLB", "Hugetlb", "in huge pages of all sizes", "hstates[]"),
	[DIRECT_MAP_4K] = MEM("direct_map_4k", "DIRECT4K", "DirectMap4k",
			      "mapped by the kernel in pages of 4 KiB", "direct_pages_count[]"),
	[DIRECT_MAP_2M] =
		MEM("direct_map_2m", "DIRECT2M", "DirectMap2M", "in pages of 2 MiB", "direct_pages_count[]"),
	[DIRECT_MAP_1G] =
		MEM("direct_map_1g", "DIRECT1G", "DirectMap1G", "in pages of 1 GiB", "direct_pages_count[]"),
};

/* Fields that are sums of items, in the order of these. */
#define SUM(field, name, header, unit, first, second) field,
static const uint8_t sum_fields[] = { KW_MEM_SUMS(SUM) };

/* Fields that are a variable of 8 bytes, and its unit. */
static const struct {
	uint8_t field;
	const char *symbol;
	uint32_t index, unit;
} variables[] = {
	{ MEM_TOTAL, "_totalram_pages", 0, KW_PAGE_SIZE },
	{ SWAP_TOTAL, "total_swap_pages", 0, KW_PAGE_SIZE },
	{ SWAP_FREE, "nr_swap_pages", 0, KW_PAGE_SIZE },
	{ ZSWAPPED, "zswap_stored_pages", 0, KW_PAGE_SIZE },
	{ VMALLOC_USED, "nr_vmalloc_pages", 0, KW_PAGE_SIZE },
	{ HARDWARE_CORRUPTED, "num_poisoned_pages", 0, KW_PAGE_SIZE },
	{ CMA_TOTAL, "totalcma_pages", 0, KW_PAGE_SIZE },
	/* enum pg_level: none, 4K, 2M, 1G */
	{ DIRECT_MAP_4K, "direct_pages_count", 1, 4096 },
	{ DIRECT_MAP_2M, "direct_pages_count", 2, 2 << 20 },
	{ DIRECT_MAP_1G, "direct_pages_count", 3, 1 << 30 },
};

enum {
	RESERVE,
	BLOCKDEV,
	OVERCOMMIT_KBYTES,
	OVERCOMMIT_RATIO,
	COMMITTED_AS,
	PCPU_POPULATED,
	PCPU_UNITS,
	HSTATES,
	HSTATE_DEFAULT,
	HSTATE_COUNT,
	SWAPPER_SPACES,
	SWAPPER_COUNTS,
	PGDIR_SHIFT,
	NR_SYMBOLS
};

static const char *const symbol_names[NR_SYMBOLS] = {
	[RESERVE] = "totalreserve_pages",
	[BLOCKDEV] = "blockdev_superblock",
	[OVERCOMMIT_KBYTES] = "sysctl_overcommit_kbytes",
	[OVERCOMMIT_RATIO] = "sysctl_overcommit_ratio",
	[COMMITTED_AS] = "vm_committed_as",
	[PCPU_POPULATED] = "pcpu_nr_populated",
	[PCPU_UNITS] = "pcpu_nr_units",
	[HSTATES] = "hstates",
	[HSTATE_DEFAULT] = "default_hstate_idx",
	[HSTATE_COUNT] = "hugetlb_max_hstate",
	[SWAPPER_SPACES] = "swapper_spaces",
	[SWAPPER_COUNTS] = "nr_swapper_spaces",
	[PGDIR_SHIFT] = "pgdir_shift",
};

struct mem_layout {
	const struct kw_vm_layout *vm;
	struct kw_mem_sums sums;
	struct kw_vm_item file_pages, misc_reclaimable, slab_reclaimable, swap_cache;
	uint64_t variable[COUNT(variables)];
	uint64_t symbol[NR_SYMBOLS];
	uint64_t s_inodes, i_sb_list, i_mapping, nrpages;
	uint64_t percpu_count, percpu_counters; /* struct percpu_counter */
	uint64_t space_size;			/* struct address_space */
	uint64_t hstate_size, order, hstate_count[4];
};

static void resolve_symbols(kw_ctx *ctx, struct mem_layout *l)
{
	struct kw_symbol_query q[COUNT(variables) + NR_SYMBOLS];

	for (size_t i = 0; i < COUNT(variables); i++)
		q[i] = (struct kw_symbol_query){ variables[i].symbol, KW_NO_ADDR };
	for (size_t i = 0; i < NR_SYMBOLS; i++)
		q[COUNT(variables) + i] = (struct kw_symbol_query){ symbol_names[i], KW_NO_ADDR };
	kw_symbol_addresses(ctx, q, COUNT(q));
	for (size_t i = 0; i < COUNT(variables); i++)
		l->variable[i] = q[i].addr == KW_NO_ADDR ? KW_NO_ADDR : q[i].addr + 8ULL * variables[i].index;
	for (size_t i = 0; i < NR_SYMBOLS; i++)
		l->symbol[i] = q[COUNT(variables) + i].addr;
}

static void resolve_offsets(kw_ctx *ctx, struct mem_layout *l)
{
	static const char *const counts[] = { "nr_huge_pages", "free_huge_pages", "resv_huge_pages",
					      "surplus_huge_pages" };
	const struct kw_type *type;

	l->s_inodes = kw_offset_or_none(ctx, "super_block", "s_inodes");
	l->i_sb_list = kw_offset_or_none(ctx, "inode", "i_sb_list");
	l->i_mapping = kw_offset_or_none(ctx, "inode", "i_mapping");
	l->nrpages = kw_offset_or_none(ctx, "address_space", "nrpages");
	l->percpu_count = kw_offset_or_none(ctx, "percpu_counter", "count");
	l->percpu_counters = kw_offset_or_none(ctx, "percpu_counter", "counters");
	if (kw_type_find(ctx, "struct address_space", &type) == KW_OK)
		l->space_size = type->size;
	if (l->symbol[HSTATES] != KW_NO_ADDR && kw_type_find(ctx, "struct hstate", &type) == KW_OK)
		l->hstate_size = type->size;
	l->order = kw_offset_or_none(ctx, "hstate", "order");
	for (size_t i = 0; i < COUNT(counts); i++)
		l->hstate_count[i] = kw_offset_or_none(ctx, "hstate", counts[i]);
	kw_clear_error(ctx);
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct mem_layout *l = layout;
	kw_status status = kw_mem_sums_find(ctx, kernel, &l->sums);

	if (status)
		return status;
	l->vm = l->sums.vm;
	l->file_pages = kw_vm_find(ctx, "NR_FILE_PAGES");
	l->swap_cache = kw_vm_find(ctx, "NR_SWAPCACHE"); /* since 5.12 */
	l->misc_reclaimable = kw_vm_find(ctx, "NR_KERNEL_MISC_RECLAIMABLE");
	l->slab_reclaimable = kw_vm_find(ctx, "NR_SLAB_RECLAIMABLE_B");
	resolve_symbols(ctx, l);
	resolve_offsets(ctx, l);
	return KW_OK;
}

static void set(struct kw_value *out, kw_status status, uint64_t value)
{
	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_uint(out, value);
}

static kw_status read_symbol(kw_ctx *ctx, const struct mem_layout *l, int which, size_t size, uint64_t *ret)
{
	*ret = 0;
	return l->symbol[which] == KW_NO_ADDR ? KW_NOTFOUND : kw_read(ctx, l->symbol[which], ret, size);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? 0 : a - b;
}

static void set_sums(struct kw_row *row, const struct mem_layout *l, struct kw_value *values)
{
	for (size_t i = 0; i < COUNT(sum_fields); i++) {
		struct kw_value *out = &values[sum_fields[i]];
		uint64_t sum = 0;
		kw_status status = kw_mem_sum(row->ctx, row->kernel, &l->sums, i, false, &sum);

		if (status == KW_NOTFOUND)
			kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		else
			set(out, status, sum);
	}
}

static void set_variables(struct kw_row *row, const struct mem_layout *l, struct kw_value *values)
{
	for (size_t i = 0; i < COUNT(variables); i++) {
		struct kw_value *out = &values[variables[i].field];

		/* One that was an item in this kernel is there already. */
		if (out->type == KW_VAL_UINT)
			continue;
		kw_read_global(row->ctx, l->variable[i], 8, out);
		if (out->type == KW_VAL_UINT)
			out->u = (int64_t)out->u < 0 ? 0 : out->u * variables[i].unit;
	}
}

struct inode_sum {
	const struct mem_layout *layout;
	uint64_t pages;
	kw_status status;
};

static bool add_inode(kw_ctx *ctx, uint64_t inode, void *arg)
{
	struct inode_sum *sum = arg;
	uint64_t mapping, pages = 0;

	sum->status = kw_read_u64(ctx, inode + sum->layout->i_mapping, &mapping);
	if (!sum->status)
		sum->status = kw_read_u64(ctx, mapping + sum->layout->nrpages, &pages);
	sum->pages += pages;
	return !sum->status;
}

/* Pages of block devices: the inodes of their file system. */
static kw_status read_buffers(kw_ctx *ctx, const struct mem_layout *l, uint64_t *ret)
{
	struct inode_sum sum = { l, 0, KW_OK };
	uint64_t super;
	kw_status status = read_symbol(ctx, l, BLOCKDEV, 8, &super);

	if (status)
		return status;
	if (l->s_inodes == KW_NO_ADDR || l->i_sb_list == KW_NO_ADDR || l->i_mapping == KW_NO_ADDR ||
	    l->nrpages == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_list_each(ctx, super + l->s_inodes, l->i_sb_list, MAX_INODES, add_inode, &sum);
	*ret = sum.pages;
	return status ? status : sum.status;
}

/* Before there was a counter: the address spaces of all swap files. */
static kw_status read_swap_cache(kw_ctx *ctx, const struct mem_layout *l, uint64_t *ret)
{
	kw_status status = KW_OK;

	*ret = 0;
	if (l->symbol[SWAPPER_SPACES] == KW_NO_ADDR || l->symbol[SWAPPER_COUNTS] == KW_NO_ADDR ||
	    l->nrpages == KW_NO_ADDR || !l->space_size)
		return KW_NOTFOUND;
	for (uint32_t i = 0; !status && i < MAX_SWAP_FILES; i++) {
		uint32_t nr = 0;
		uint64_t spaces = 0, pages;

		status = kw_read_u32(ctx, l->symbol[SWAPPER_COUNTS] + 4ULL * i, &nr);
		if (!status && nr)
			status = kw_read_u64(ctx, l->symbol[SWAPPER_SPACES] + 8ULL * i, &spaces);
		if (nr > MAX_SWAP_SPACES)
			status = KW_FORMAT;
		for (uint32_t k = 0; !status && spaces && k < nr; k++) {
			status = kw_read_u64(ctx, spaces + k * l->space_size + l->nrpages, &pages);
			*ret += status ? 0 : pages;
		}
	}
	return status;
}

/* How an item is read: as the kernel prints it, or with what the CPUs have not handed in yet. */
static kw_status read_item(const struct kw_row *row, const struct mem_layout *l, struct kw_vm_item item,
			   bool exact, uint64_t *ret)
{
	return exact ? kw_vm_exact(row->ctx, row->kernel, l->vm, item, ret)
		     : kw_vm_read(row->ctx, l->vm, item, ret);
}

/* Pages of files that are neither of block devices nor in swap as well. */
static kw_status read_cached(const struct kw_row *row, const struct mem_layout *l, bool exact,
			     uint64_t buffers, uint64_t *ret)
{
	uint64_t swap_cached = 0, file = 0;
	kw_status status = l->swap_cache.kind == KW_VM_NONE
				   ? read_swap_cache(row->ctx, l, &swap_cached)
				   : read_item(row, l, l->swap_cache, exact, &swap_cached);

	if (!status)
		status = read_item(row, l, l->file_pages, exact, &file);
	*ret = less(file, swap_cached + buffers);
	return status;
}

static void set_cached(struct kw_row *row, const struct mem_layout *l, struct kw_value *values)
{
	uint64_t buffers = 0, pages = 0;
	kw_status status = read_buffers(row->ctx, l, &buffers), swap_status;

	set(&values[BUFFERS], status, buffers * KW_PAGE_SIZE);
	if (values[SWAP_CACHED].type != KW_VAL_UINT) {
		swap_status = read_swap_cache(row->ctx, l, &pages);
		set(&values[SWAP_CACHED], swap_status, pages * KW_PAGE_SIZE);
	}
	if (!status)
		status = read_cached(row, l, false, buffers, &pages);
	set(&values[CACHED], status, pages * KW_PAGE_SIZE);
}

static uint64_t half_or(uint64_t pages, uint64_t low)
{
	return pages - (pages / 2 < low ? pages / 2 : low);
}

/* Free pages beyond the reserves, and caches but for half of them or what the low watermarks keep, whichever is less. */
static kw_status read_available(const struct kw_row *row, const struct mem_layout *l, bool exact,
				uint64_t *ret)
{
	enum { FREE, ACTIVE_PAGES, INACTIVE_PAGES, SLAB_PAGES, MISC_PAGES, NR_PARTS };
	const struct kw_vm_item items[NR_PARTS] = { l->vm->free, l->vm->active_file, l->vm->inactive_file,
						    l->slab_reclaimable, l->misc_reclaimable };
	uint64_t reserve, low = 0, part[NR_PARTS];
	kw_status status = read_symbol(row->ctx, l, RESERVE, 8, &reserve);
	int64_t sum;

	if (!status)
		status = kw_vm_low_watermarks(row->ctx, l->vm, &low);
	for (size_t i = 0; !status && i < NR_PARTS; i++)
		status = read_item(row, l, items[i], exact, &part[i]);
	if (status)
		return status;
	sum = (int64_t)(part[FREE] - reserve + half_or(part[ACTIVE_PAGES] + part[INACTIVE_PAGES], low) +
			half_or(part[SLAB_PAGES] + part[MISC_PAGES], low));
	*ret = sum < 0 ? 0 : (uint64_t)sum;
	return KW_OK;
}

/* Huge pages */

static kw_status read_hstate(kw_ctx *ctx, const struct mem_layout *l, uint64_t i, uint64_t offset,
			     size_t size, uint64_t *ret)
{
	*ret = 0;
	if (l->symbol[HSTATES] == KW_NO_ADDR || !l->hstate_size || offset == KW_NO_ADDR || i >= MAX_HSTATES)
		return KW_NOTFOUND;
	return kw_read(ctx, l->symbol[HSTATES] + i * l->hstate_size + offset, ret, size);
}

/* All of them, in bytes. */
static kw_status read_hugetlb(kw_ctx *ctx, const struct mem_layout *l, uint64_t *ret)
{
	uint64_t nr, pages = 0, order = 0;
	kw_status status = read_symbol(ctx, l, HSTATE_COUNT, 4, &nr);

	*ret = 0;
	if (!status && nr > MAX_HSTATES)
		status = KW_FORMAT;
	for (uint64_t i = 0; !status && i < nr; i++) {
		status = read_hstate(ctx, l, i, l->hstate_count[0], 8, &pages);
		if (!status)
			status = read_hstate(ctx, l, i, l->order, 4, &order);
		if (!status && order > 40)
			status = KW_FORMAT;
		*ret += status ? 0 : pages * KW_PAGE_SIZE << order;
	}
	return status;
}

static void set_huge(struct kw_row *row, const struct mem_layout *l, struct kw_value *values)
{
	uint64_t which = 0, number, order = 0;
	kw_status status = read_symbol(row->ctx, l, HSTATE_DEFAULT, 4, &which), found;

	for (uint32_t i = 0; i < 4; i++) {
		found = status ? status : read_hstate(row->ctx, l, which, l->hstate_count[i], 8, &number);
		set(&values[HUGEPAGES_TOTAL + i], found, number);
	}
	found = status ? status : read_hstate(row->ctx, l, which, l->order, 4, &order);
	if (!found && order > 40)
		found = KW_FORMAT;
	set(&values[HUGEPAGE_SIZE], found, found ? 0 : KW_PAGE_SIZE << order);
	status = read_hugetlb(row->ctx, l, &number);
	set(&values[HUGETLB], status, number);
}

/* Promises */

/* The kernel adds the parts of all CPUs here. */
static kw_status read_committed(struct kw_row *row, const struct mem_layout *l, uint64_t *ret)
{
	uint64_t at = l->symbol[COMMITTED_AS], sum, parts;
	kw_status status;

	if (at == KW_NO_ADDR || l->percpu_count == KW_NO_ADDR || l->percpu_counters == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_u64(row->ctx, at + l->percpu_count, &sum);
	if (!status)
		status = kw_read_u64(row->ctx, at + l->percpu_counters, &parts);
	for (unsigned int cpu = 0; !status && cpu < row->kernel->nr_cpus; cpu++) {
		uint32_t part = 0;

		if (kw_cpu_is_possible(row->kernel, cpu))
			status = kw_read_u32(row->ctx, kw_percpu(row->kernel, parts, cpu), &part);
		sum += (uint64_t)(int64_t)(int32_t)part;
	}
	*ret = (int64_t)sum < 0 ? 0 : sum;
	return status;
}

static kw_status read_commit_limit(kw_ctx *ctx, const struct mem_layout *l, const struct kw_value *values,
				   uint64_t *ret)
{
	uint64_t kbytes, ratio;
	kw_status status = read_symbol(ctx, l, OVERCOMMIT_KBYTES, 8, &kbytes);

	if (!status)
		status = read_symbol(ctx, l, OVERCOMMIT_RATIO, 4, &ratio);
	if (!status && (values[MEM_TOTAL].type != KW_VAL_UINT || values[SWAP_TOTAL].type != KW_VAL_UINT))
		status = KW_NOTFOUND;
	if (status)
		return status;
	if (kbytes)
		*ret = kbytes / 4;
	else
		*ret = less(values[MEM_TOTAL].u,
			    values[HUGETLB].type == KW_VAL_UINT ? values[HUGETLB].u : 0) /
		       KW_PAGE_SIZE * ratio / 100;
	*ret += values[SWAP_TOTAL].u / KW_PAGE_SIZE;
	return KW_OK;
}

/* The kernel's last byte is one less. Without the variable there are four levels of page tables. */
static uint64_t vmalloc_size(kw_ctx *ctx, const struct mem_layout *l)
{
	uint64_t shift = 0;
	bool five_levels = read_symbol(ctx, l, PGDIR_SHIFT, 4, &shift) == KW_OK && shift == 48;

	return ((five_levels ? 12800ULL : 32ULL) << 40) - 1;
}

void kw_meminfo_read(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct mem_layout *l = layout;
	uint64_t pages = 0, units = 0;
	kw_status status;

	kw_set_all_absent(values, NR_FIELDS, KW_ABSENT_NO_SYMBOL);
	set_sums(row, l, values);
	set_variables(row, l, values);
	if (kw_row_wants(row, BUFFERS) || kw_row_wants(row, CACHED) || kw_row_wants(row, SWAP_CACHED))
		set_cached(row, l, values);
	set_huge(row, l, values);
	if (kw_row_wants(row, MEM_AVAILABLE)) {
		status = read_available(row, l, false, &pages);
		set(&values[MEM_AVAILABLE], status, pages * KW_PAGE_SIZE);
	}
	status = read_committed(row, l, &pages);
	set(&values[COMMITTED], status, pages * KW_PAGE_SIZE);
	status = read_commit_limit(row->ctx, l, values, &pages);
	set(&values[COMMIT_LIMIT], status, pages * KW_PAGE_SIZE);
	status = read_symbol(row->ctx, l, PCPU_POPULATED, 8, &pages);
	if (!status)
		status = read_symbol(row->ctx, l, PCPU_UNITS, 4, &units);
	set(&values[PERCPU], status, pages * units * KW_PAGE_SIZE);
	if (values[VMALLOC_USED].type == KW_VAL_UINT)
		kw_set_uint(&values[VMALLOC_TOTAL], vmalloc_size(row->ctx, l));
	status = kw_zswap_size(row->ctx, row->kernel, &pages);
	set(&values[ZSWAP], status, pages);
}

static kw_status in_bytes(kw_status status, uint64_t pages, uint64_t *ret)
{
	*ret = pages * KW_PAGE_SIZE;
	return status;
}

kw_status kw_meminfo_cached_exact(const struct kw_row *row, const void *layout, uint64_t *ret)
{
	const struct mem_layout *l = layout;
	uint64_t buffers = 0, pages = 0;
	kw_status status = read_buffers(row->ctx, l, &buffers);

	if (!status)
		status = read_cached(row, l, true, buffers, &pages);
	return in_bytes(status, pages, ret);
}

kw_status kw_meminfo_available_exact(const struct kw_row *row, const void *layout, uint64_t *ret)
{
	uint64_t pages = 0;
	kw_status status = read_available(row, layout, true, &pages);

	return in_bytes(status, pages, ret);
}

const struct kw_field_table kw_meminfo_fields = { fields, NR_FIELDS };
const struct kw_subject kw_meminfo_subject = { sizeof(struct mem_layout), resolve };
