/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields of /proc/meminfo that are sums of the memory manager's items: as the kernel prints them (meminfo.c), and with what
 * the CPUs have not handed in yet (meminfo_exact.c).
 *
 *     X(enumerator in meminfo.c, name of the field, header, unit, item, another item or NULL)
 *
 * The unit is what one of the item is: a page, a KiB, or a huge page in kernels that keep those in huge pages.
 */
#ifndef KERNEL_MEMINFO_SUMS_H
#define KERNEL_MEMINFO_SUMS_H

#include "kernel/vmstat.h"

enum kw_mem_unit { KW_MEM_PAGES, KW_MEM_KIB, KW_MEM_HUGE };

#define KW_MEM_SUMS(X)                                                                              \
	X(MEM_FREE, mem_free, "FREE", PAGES, "NR_FREE_PAGES", NULL)                                 \
	X(ACTIVE, active, "ACTIVE", PAGES, "NR_ACTIVE_ANON", "NR_ACTIVE_FILE")                      \
	X(INACTIVE, inactive, "INACTIVE", PAGES, "NR_INACTIVE_ANON", "NR_INACTIVE_FILE")            \
	X(ACTIVE_ANON, active_anon, "ACTANON", PAGES, "NR_ACTIVE_ANON", NULL)                       \
	X(INACTIVE_ANON, inactive_anon, "INACTANON", PAGES, "NR_INACTIVE_ANON", NULL)               \
	X(ACTIVE_FILE, active_file, "ACTFILE", PAGES, "NR_ACTIVE_FILE", NULL)                       \
	X(INACTIVE_FILE, inactive_file, "INACTFILE", PAGES, "NR_INACTIVE_FILE", NULL)               \
	X(UNEVICTABLE, unevictable, "UNEVICT", PAGES, "NR_UNEVICTABLE", NULL)                       \
	X(MLOCKED, mlocked, "MLOCKED", PAGES, "NR_MLOCK", NULL)                                     \
	X(DIRTY, dirty, "DIRTY", PAGES, "NR_FILE_DIRTY", NULL)                                      \
	X(WRITEBACK, writeback, "WRITEBACK", PAGES, "NR_WRITEBACK", NULL)                           \
	X(ANON_PAGES, anon_pages, "ANON", PAGES, "NR_ANON_MAPPED", NULL)                            \
	X(MAPPED, mapped, "MAPPED", PAGES, "NR_FILE_MAPPED", NULL)                                  \
	X(SHMEM, shmem, "SHMEM", PAGES, "NR_SHMEM", NULL)                                           \
	X(KRECLAIMABLE, kreclaimable, "KRECLAIM", PAGES, "NR_SLAB_RECLAIMABLE_B",                   \
	  "NR_KERNEL_MISC_RECLAIMABLE")                                                             \
	X(SLAB, slab, "SLAB", PAGES, "NR_SLAB_RECLAIMABLE_B", "NR_SLAB_UNRECLAIMABLE_B")            \
	X(SRECLAIMABLE, sreclaimable, "SRECLAIM", PAGES, "NR_SLAB_RECLAIMABLE_B", NULL)             \
	X(SUNRECLAIM, sunreclaim, "SUNRECLAIM", PAGES, "NR_SLAB_UNRECLAIMABLE_B", NULL)             \
	X(KERNEL_STACK, kernel_stack, "KSTACK", KIB, "NR_KERNEL_STACK_KB", NULL)                    \
	X(PAGE_TABLES, page_tables, "PAGETABLES", PAGES, "NR_PAGETABLE", NULL)                      \
	X(SEC_PAGE_TABLES, sec_page_tables, "SECPAGETABLES", PAGES, "NR_SECONDARY_PAGETABLE", NULL) \
	X(NFS_UNSTABLE, nfs_unstable, "UNSTABLE", PAGES, "NR_UNSTABLE_NFS", NULL)                   \
	X(BOUNCE, bounce, "BOUNCE", PAGES, "NR_BOUNCE", NULL)                                       \
	X(WRITEBACK_TMP, writeback_tmp, "WRITEBACKTMP", PAGES, "NR_WRITEBACK_TEMP", NULL)           \
	X(VMALLOC_USED, vmalloc_used, "VMALLOC", PAGES, "NR_VMALLOC", NULL)                         \
	X(SWAP_CACHED, swap_cached, "SWAPCACHED", PAGES, "NR_SWAPCACHE", NULL)                      \
	X(ANON_HUGE, anon_huge, "ANONHUGE", HUGE, "NR_ANON_THPS", NULL)                             \
	X(SHMEM_HUGE, shmem_huge, "SHMEMHUGE", HUGE, "NR_SHMEM_THPS", NULL)                         \
	X(SHMEM_PMD, shmem_pmd_mapped, "SHMEMPMD", HUGE, "NR_SHMEM_PMDMAPPED", NULL)                \
	X(FILE_HUGE, file_huge, "FILEHUGE", HUGE, "NR_FILE_THPS", NULL)                             \
	X(FILE_PMD, file_pmd_mapped, "FILEPMD", HUGE, "NR_FILE_PMDMAPPED", NULL)                    \
	X(CMA_FREE, cma_free, "CMAFREE", PAGES, "NR_FREE_CMA_PAGES", NULL)                          \
	X(UNACCEPTED, unaccepted, "UNACCEPTED", PAGES, "NR_UNACCEPTED", NULL)                       \
	X(BALLOON, balloon, "BALLOON", PAGES, "NR_BALLOON_PAGES", NULL)                             \
	X(GPU_ACTIVE, gpu_active, "GPUACTIVE", PAGES, "NR_GPU_ACTIVE", NULL)                        \
	X(GPU_RECLAIM, gpu_reclaim, "GPURECLAIM", PAGES, "NR_GPU_RECLAIM", NULL)

#define KW_MEM_SUM_ONE(field, name, header, unit, first, second) +1
#define KW_MEM_SUM_NR						 (0 KW_MEM_SUMS(KW_MEM_SUM_ONE))
#define KW_MEM_SUM_ITEMS					 2

/** Where the items of the sums lie. */
struct kw_mem_sums {
	const struct kw_vm_layout *vm;
	struct kw_vm_item items[KW_MEM_SUM_NR][KW_MEM_SUM_ITEMS];
};

/** Find the items of the sums. */
kw_status kw_mem_sums_find(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_mem_sums *sums);

/**
 * Add up the items of the i-th of KW_MEM_SUMS.
 *
 * @param exact  with what the CPUs have not handed in yet
 * @param ret  set to bytes
 * @return KW_OK; KW_NOTFOUND when this kernel lacks an item; a read's state
 */
kw_status kw_mem_sum(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_mem_sums *sums, size_t i,
		     bool exact, uint64_t *ret);

/*
 * Fields that are more than a sum: meminfo.c's, with what the CPUs have not handed in yet. `layout` is that of
 * kw_meminfo_subject, *ret is set to bytes; they return as kw_mem_sum().
 */

/** Pages of files that are neither of block devices nor in swap as well. */
kw_status kw_meminfo_cached_exact(const struct kw_row *row, const void *layout, uint64_t *ret);

/** What programs may get without swapping: an estimate. */
kw_status kw_meminfo_available_exact(const struct kw_row *row, const void *layout, uint64_t *ret);

#endif
