/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where bytes come from.
 *
 * A struct kw_memory is an opened source (kcore, ELF core, RAM file, QEMU) with two sorted segment maps, by virtual
 * and by physical address, and, once the kernel has been found in it, the root of the kernel's page table. A struct
 * kw_reader is one context's private part: cache of the pass, translation cache, failed pages.
 *
 * A read of a virtual address goes: virtual segment -> bytes; else page-table walk -> physical segment -> bytes.
 *
 * May be used by every room above; uses util only.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include <kwalk/memory.h>
#include <kwalk/target.h>

#include "util/context.h"

/** What kind of source a memory is, for kwalk info and for deciding about races. */
enum kw_source_kind {
	KW_SOURCE_LIVE, /* /proc/kcore */
	KW_SOURCE_ELF,	/* ELF core, /proc/vmcore */
	KW_SOURCE_RAM,	/* raw guest RAM file */
	KW_SOURCE_QEMU, /* a running QEMU's RAM */
	KW_SOURCE_DUMP, /* a dump whose pages are decoded */
};

/** What the symbol room has found out about where the kernel lies (x86-64). */
struct kw_kernel_map {
	uint64_t phys_base; /* physical address of __START_KERNEL_map (0xffffffff80000000); signed arithmetic wraps */
	uint64_t image_start; /* first virtual address of the image (_text), page-aligned */
	uint64_t image_size; /* bytes from image_start that are surely mapped linearly; 0: only by page table */
	uint64_t pgd;	     /* physical address of swapper_pg_dir */
	unsigned int levels; /* 4 or 5 */
	uint64_t sme_mask;   /* memory-encryption bit to clear from page-table entries, or 0 */
};

/**
 * Probe a target's kind from its content and open it into ctx->target->memory and ctx->reader.
 *
 * @param spec  as in kw_open()
 * @return KW_OK, or a failure with its message set ("/proc/kcore: ...")
 */
kw_status kw_memory_open(kw_ctx *ctx, const char *spec, const struct kw_open_options *opts);

/** Close a memory and unmap it. NULL is accepted. */
void kw_memory_close(struct kw_memory *memory);

/** Make the private part of a context for its target's memory; NULL when memory runs out. */
struct kw_reader *kw_reader_new(kw_ctx *ctx);

/** Free a reader. NULL is accepted. */
void kw_reader_free(struct kw_reader *reader);

enum kw_source_kind kw_memory_kind(const struct kw_memory *memory);

/** True when the memory may change while it is read (live kernel, running QEMU, RAM file that somebody has open). */
bool kw_memory_is_live(const struct kw_memory *memory);

/**
 * Tell why the kernel module's device is not used for the live kernel: an errno; 0 when it is, or there was no need to
 * try.
 */
int kw_memory_device_why(const struct kw_memory *memory);

/** True when objects are to be copied, best many at once with kw_gather(): RAM is not mapped, or not to be looked at. */
bool kw_memory_is_copied(const struct kw_memory *memory);

/** How many bytes the file's headers promise and the file does not have: it was cut short. */
uint64_t kw_memory_cut_off(const struct kw_memory *memory);

/** One line for people: "ELF core, 4 segments, physical addresses only". Lives as long as the memory. */
const char *kw_memory_description(const struct kw_memory *memory);

/** What is wrong with all of it, though it could be opened ("the file is cut short: ..."); NULL: nothing. */
const char *kw_memory_trouble(const struct kw_memory *memory);

/** What the user called it, for messages. */
const char *kw_memory_name(const struct kw_memory *memory);

/**
 * The VMCOREINFO text that the file itself carries (ELF note), or NULL.
 *
 * Not NUL-terminated; lives as long as the memory.
 */
const char *kw_memory_vmcoreinfo(const struct kw_memory *memory, size_t *ret_len);

/** The virtual address in the NT_TASKSTRUCT note of /proc/kcore is not stored; QEMU's note gives CR3. 0 if unknown. */
uint64_t kw_memory_cr3(const struct kw_memory *memory);

/** True when the source itself knows virtual addresses (kcore, /proc/vmcore, paging:true). */
bool kw_memory_has_virtual(const struct kw_memory *memory);

/**
 * Tell the memory where the kernel lies: adds the linear virtual segments and enables page-table walks.
 *
 * Called while opening, before the target is shared.
 */
kw_status kw_memory_set_kernel(kw_ctx *ctx, const struct kw_kernel_map *map);

/**
 * Add the direct map (page_offset_base): all physical segments become virtual ones at base + physical address.
 *
 * Called while opening. Does nothing where the source's own virtual segments already cover it.
 */
kw_status kw_memory_set_direct_map(kw_ctx *ctx, uint64_t base);

/*
 * The hole of a raw RAM image. A PC keeps the addresses below 4 GiB for devices: of a big RAM, what lies past the
 * first `split` bytes of the file is at 4 GiB and up. The file does not say where, so that a guess is made when it
 * is opened, and the kernel's page table tells whether it was right: kw_memory_fit_hole() after kw_memory_set_kernel()
 * is all that is needed when the kernel lies low. To look for a kernel that may lie above 4 GiB, set each candidate.
 */

/**
 * Return the i-th possible split of a RAM image, the most probable first, 0 meaning no hole.
 *
 * @return KW_NOTFOUND when there are no more; a source that is no RAM image has none
 */
kw_status kw_memory_hole_candidate(const struct kw_memory *memory, size_t i, uint64_t *ret_split);

/**
 * Lay the RAM image out with a hole from split to 4 GiB (0: none), while opening.
 *
 * All segments are made anew: what kw_memory_set_kernel() and kw_memory_set_direct_map() have added is gone.
 */
kw_status kw_memory_set_hole(kw_ctx *ctx, uint64_t split);

/**
 * Try each layout, and keep the one in which the kernel's page table agrees best with what is known.
 *
 * Takes sample addresses of the image (image_start + i) and, unless base is KW_NO_ADDR, of the direct map (base +
 * physical address), walks them, and compares. Sets the kernel map, as kw_memory_set_kernel(), in the layout that it
 * keeps; the direct map is not added.
 *
 * @return KW_OK; KW_FORMAT when in no layout anything agrees: the map is wrong, or this is no RAM of that kernel
 */
kw_status kw_memory_fit_hole(kw_ctx *ctx, const struct kw_kernel_map *map, uint64_t base);

/** The physical segments, sorted: for scanning memory. */
const struct kw_segment *kw_memory_physical(const struct kw_memory *memory, size_t *ret_nr);

/**
 * Return how many bytes of a physical segment, from its beginning, are worth looking through: what the headers of a
 * damaged file promise may be more than anybody could read.
 *
 * @param budget  lowered by that; set it to KW_SCAN_BUDGET before the first segment
 */
uint64_t kw_memory_scannable(const struct kw_memory *memory, const struct kw_segment *segment,
			     uint64_t *budget);

/** For kw_memory_scannable(): at the first segment, twice the size of the file. */
#define KW_SCAN_BUDGET UINT64_MAX

/**
 * As kw_read_phys(), but read from the file even where it is mapped: for looking once through much memory.
 *
 * The first touch of each mapped page is a fault, which costs more than copying the page (in a virtual machine 30 times
 * as much).
 */
kw_status kw_scan_phys(kw_ctx *ctx, uint64_t paddr, void *buf, size_t len);

/** What stands in place of a page that kw_scan_around() could not have: begins neither a text nor a table of anything. */
#define KW_SCAN_GAP 0xff

/**
 * As kw_scan_phys(), but go around pages that a dump has left out or lost: their bytes are KW_SCAN_GAP. For searches
 * alone, whose finds are read again.
 *
 * @return how many bytes could not be had
 */
size_t kw_scan_around(kw_ctx *ctx, uint64_t paddr, void *buf, size_t len);

/** Pointer into a mapping by physical address, or NULL. */
const void *kw_view_phys(kw_ctx *ctx, uint64_t paddr, size_t len);

/**
 * Walk a page table (for user addresses: the mm's pgd).
 *
 * @param pgd  physical address of the top table
 * @param ret_paddr  set to the physical address of addr
 * @return KW_OK; KW_ABSENT when there is no page, with *ret_entry (if not NULL) set to the non-present entry that
 *         ended the walk (a swap entry, or 0); KW_FAILED or KW_EXCLUDED when a table can't be read
 */
kw_status kw_walk_page_table(kw_ctx *ctx, uint64_t pgd, uint64_t addr, uint64_t *ret_paddr,
			     uint64_t *ret_entry);

/**
 * Get memory for reading now: a pointer into a mapping, or a copy in scratch (len bytes).
 *
 * @param ret_status  set when NULL is returned: KW_ABSENT, KW_EXCLUDED or KW_FAILED
 */
const void *kw_fetch(kw_ctx *ctx, uint64_t addr, size_t len, void *scratch, kw_status *ret_status);

/** One of several ranges to be copied. */
struct kw_range {
	uint64_t addr;
	uint32_t len;
	kw_status status; /* set: as of kw_read() */
	void *buf;	  /* len bytes */
};

/**
 * Copy many ranges in as few calls as pay, afresh: nothing comes from the cache of the pass. In any order; they may
 * overlap.
 */
void kw_gather(kw_ctx *ctx, struct kw_range *ranges, size_t nr);

/**
 * Number of mapped pages of this memory that have failed, in any context: a row whose reading raised it is redone or
 * marked, for a page that fails while it is looked at through kw_view() reads as zeros.
 */
uint64_t kw_fault_count(const kw_ctx *ctx);

/**
 * Forget what the pass has cached of a range, so that the next read is a fresh one: for the second reading of a
 * sequence count and for the test that an object is still alive, made after it was copied.
 */
void kw_forget(kw_ctx *ctx, uint64_t addr, size_t len);

/** Read a scalar; as kw_read(). */
static inline kw_status kw_read_u64(kw_ctx *ctx, uint64_t addr, uint64_t *ret)
{
	return kw_read(ctx, addr, ret, sizeof(*ret));
}

static inline kw_status kw_read_u32(kw_ctx *ctx, uint64_t addr, uint32_t *ret)
{
	return kw_read(ctx, addr, ret, sizeof(*ret));
}

#endif
