/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The private part of a context: where it last looked, what it has read in this pass, what it has translated.
 *
 * Invariant: virt_hit, virt_before and phys_hit are never NULL; they are segments of the memory's maps or an empty one.
 */
#ifndef MEMORY_READER_H
#define MEMORY_READER_H

#include "memory/source.h"

#define FOLLOW_MS	100 /* between two looks at the headers of /proc/kcore */
#define NR_TRANSLATIONS 512
#define NR_CACHED_PAGES 512 /* 2 MiB: a huge page */
#define CLUSTER		4 /* pages read at once where everything is looked at once; divides NR_CACHED_PAGES */

/* A page that was translated. The pages of one big page have an entry each. */
struct translation {
	uint64_t vaddr; /* of the page; KW_NO_ADDR: no entry */
	uint64_t paddr;
	uint64_t page_size; /* of the page it is part of */
};

/* A page of the file, read in this pass. */
struct cached_page {
	uint64_t offset;
	uint64_t epoch; /* of which pass; other than the reader's: no entry */
	uint32_t len;	/* bytes that the file had there */
};

struct kw_reader {
	const struct kw_memory *memory;
	const struct kw_segment *virt_hit, *phys_hit;
	const struct kw_segment
		*virt_before;	/* the hit before: objects lie in the kernel's image and in RAM by turns */
	unsigned int depth;	/* of passes */
	bool brief;		/* the pass is for one read: what is read along with it is of no use */
	uint64_t epoch;		/* number of the pass, never 0 */
	uint64_t followed_ms;	/* when kw_kcore_follow() was last asked */
	uint64_t faults_before; /* the memory's count when this reader was made */
	uint8_t *page_bytes;	/* NR_CACHED_PAGES pages, made when first needed */
	void *page_mapping;	/* in which they lie */
	size_t page_mapping_size;
	uint8_t *run;		       /* room for a run of kw_gather(), made when first needed */
	struct decoded_cache *decoded; /* made when first needed */
	struct cached_page pages[NR_CACHED_PAGES];
	struct translation translations[NR_TRANSLATIONS];
	bool has_translated; /* there may be entries in it */
};

/** Forget where the reader last looked and all translations: the maps have changed. */
void kw_reader_reset(struct kw_reader *reader);

/** Read from the file, past the cache of the pass; KW_OK or KW_FAILED, of what is decoded as decoded_read(). */
kw_status kw_read_straight(kw_ctx *ctx, uint64_t offset, void *buf, size_t len);

/** As kw_read_straight(), through the cache of the pass. */
kw_status kw_read_cached(kw_ctx *ctx, uint64_t offset, void *buf, size_t len);

/**
 * Translate a kernel address by the kernel's page table, remembering it.
 *
 * @param ret_left  set to the number of bytes from paddr to the end of its page
 */
kw_status kw_translate_page(kw_ctx *ctx, uint64_t addr, uint64_t *ret_paddr, uint64_t *ret_left);

/** As kw_walk_page_table(), also giving the size of the page. */
kw_status kw_walk(kw_ctx *ctx, uint64_t pgd, uint64_t addr, uint64_t *ret_paddr, uint64_t *ret_size,
		  uint64_t *ret_entry);

#endif
