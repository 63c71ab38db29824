/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading kernel memory.
 *
 * Every byte is present, excluded (filtered from the dump), absent (no such memory) or failed (I/O error, truncated
 * file); zeros are never invented. Addresses are kernel virtual addresses unless a function says physical.
 */
#ifndef KWALK_MEMORY_H
#define KWALK_MEMORY_H

#include <kwalk/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KW_NO_ADDR UINT64_MAX

enum kw_segment_kind {
	KW_SEG_TEXT,	/**< the kernel image */
	KW_SEG_RAM,	/**< the direct map, or physical memory as such */
	KW_SEG_VMALLOC, /**< changes while one looks: never mapped */
	KW_SEG_MODULES,
	KW_SEG_VMEMMAP,
	KW_SEG_OTHER,
};

/** One range of memory and how it is read. */
struct kw_segment {
	uint64_t vaddr;	    /**< first virtual address, KW_NO_ADDR when known by physical address only */
	uint64_t paddr;	    /**< first physical address, KW_NO_ADDR when there is none */
	uint64_t size;	    /**< bytes */
	uint64_t offset;    /**< where it begins in the file */
	const uint8_t *map; /**< its first byte in a mapping, or NULL: read with pread */
	enum kw_segment_kind kind; /**< what it holds */
	int why;		   /**< errno of the refused mapping, 0 when mapped or never tried */
	const char *device;	   /**< the device that it is mapped through; NULL: the target itself */
};

/** Counters of one context since it was made. */
struct kw_counters {
	uint64_t preads;      /**< read system calls on the target */
	uint64_t pread_bytes; /**< bytes they returned */
	uint64_t walks;	      /**< page-table walks */
	uint64_t faults;      /**< mapped pages that could not be had */
	uint64_t cache_hits;  /**< pages answered by the cache of this pass */
};

/**
 * Return a pointer straight into a mapping, or NULL when the range does not lie in one.
 *
 * Cheap enough for inner loops. Of no certain alignment: an ELF core puts its bytes anywhere in the file, so copy values
 * out with memcpy(). Valid as long as the context. On a target whose file may be cut short while it is
 * read, dereference it only between kw_pass_begin() and kw_pass_end().
 */
KW_API const void *kw_view(kw_ctx *ctx, uint64_t addr, size_t len);

/**
 * Copy memory, wherever it lies.
 *
 * @return KW_OK, KW_ABSENT, KW_EXCLUDED or KW_FAILED; buf is undefined unless KW_OK
 */
KW_API kw_status kw_read(kw_ctx *ctx, uint64_t addr, void *buf, size_t len);

/** As kw_read(), by physical address. */
KW_API kw_status kw_read_phys(kw_ctx *ctx, uint64_t paddr, void *buf, size_t len);

/**
 * Copy a NUL-terminated string of at most size - 1 bytes; always terminates buf.
 *
 * A page that can't be read after at least one byte ends the string there.
 */
KW_API kw_status kw_read_string(kw_ctx *ctx, uint64_t addr, char *buf, size_t size);

/** Translate a kernel virtual address to a physical one. KW_ABSENT when it is not mapped in the kernel. */
KW_API kw_status kw_translate(kw_ctx *ctx, uint64_t addr, uint64_t *ret_paddr);

/**
 * Begin a pass: what is read until kw_pass_end() may be cached, and faults in mappings are caught.
 *
 * Passes nest. A library call that reads makes one of its own where the caller made none.
 */
KW_API void kw_pass_begin(kw_ctx *ctx);

/**
 * Forget what was cached, and go on: what is read from here on is as new as in another pass.
 *
 * For a program that looks again and again: the process's handler of SIGBUS stays kwalk's (which hands on what is not its
 * own), while each pass of its own sets it and puts it back, which costs four system calls. Does nothing outside of a pass.
 */
KW_API void kw_pass_renew(kw_ctx *ctx);

/** End a pass; the outermost end forgets what was cached. */
KW_API void kw_pass_end(kw_ctx *ctx);

/** How much of a range of physical memory a target has, in bytes. What is in none of these is absent: no memory. */
struct kw_memory_counts {
	uint64_t present;
	uint64_t excluded; /**< left out when the dump was made */
	uint64_t failed;   /**< lost: the file is cut short, or can't be read there */
};

/**
 * Count what a target has of a range of physical memory.
 *
 * @param end  first address behind the range; UINT64_MAX: all from start on
 * @param read  read, and unpack, every page; else the file's own tables are taken at their word, which costs little
 */
KW_API kw_status kw_count_memory(kw_ctx *ctx, uint64_t start, uint64_t end, bool read,
				 struct kw_memory_counts *ret);

/** Which pages were left out on purpose, as the dump says ("pages of zeros, free pages"); NULL: it does not say. */
KW_API const char *kw_left_out(kw_ctx *ctx);

/** Return the segments, sorted by virtual address, then those known by physical address only, sorted by it. */
KW_API const struct kw_segment *kw_segments(kw_ctx *ctx, size_t *ret_nr);

/** Return the counters of this context; valid as long as it. */
KW_API const struct kw_counters *kw_counters(kw_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
