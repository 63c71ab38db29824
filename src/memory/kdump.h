/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The insides of a kdump-compressed dump, shared by kdump.c (opening) and kdump_page.c (pages).
 *
 *   block 0      header: who, when, size of a block (a page), number of the blocks that follow, pages up to
 *   blocks       sub-header: dump level, which pages are in this part of a split set, where VMCOREINFO lies
 *   blocks       bitmap of the pages that are memory, then, of the same size, that of the pages in this dump
 *   descriptors  of 24 bytes, one for each page in this dump: offset, size, how it is packed
 *   data         packed pages, in the order of the descriptors; all pages of zeros share the first
 */
#ifndef MEMORY_KDUMP_H
#define MEMORY_KDUMP_H

#include "memory/source.h"

#define KDUMP_DESCRIPTOR  24
#define KDUMP_RANK_PAGES  512 /* pages to a rank */
#define KDUMP_INCOMPLETE  8   /* of the header: the disk was full */
#define KDUMP_PACKED_ZSTD 0x20

struct kdump_descriptor {
	uint64_t offset; /* 0: the page was not written */
	uint32_t size;
	uint32_t flags; /* how it is packed; 0: it is not */
	uint64_t page_flags;
};

/* One file of a dump. */
struct kdump_part {
	char *name;
	int fd;		   /* the memory's own, or of this part */
	struct flat *flat; /* the memory's own */
	uint64_t file_size;
	bool is_split;	     /* there are others */
	uint64_t start, end; /* pages that this part is of */
	uint64_t first;	     /* page of the first bit of `dumped`: a multiple of KDUMP_RANK_PAGES */
	uint64_t *dumped;    /* bitmap of pages in this part, none outside of start to end */
	uint64_t *rank; /* pages in this part before every KDUMP_RANK_PAGES-th page of the bitmap, and their number at last */
	uint64_t nr;	/* pages in this part */
	uint64_t table; /* where the descriptors begin */
	uint64_t data;	/* where they end: each part of a split set leaves room for those of all pages */
};

struct kdump {
	struct kdump_part *item;
	size_t nr, cap;
	bool owns;  /* the files: they are not the memory's */
	bool lacks; /* pages that should be there: see kw_kdump_count_lost() */
};

/** Read from the file of a part; as kw_read_file(). */
int kw_kdump_read(const struct kdump_part *part, uint64_t offset, void *buf, size_t len);

/**
 * See whether a part's bitmap and its descriptors agree: with a wrong bit, every page behind it would be another.
 *
 * @param unpacker  for looking at the shared page of zeros
 */
kw_status kw_kdump_check_table(kw_ctx *ctx, const struct kdump_part *part, struct unpacker *unpacker);

/** Count the pages of a part whose bytes are not in its file. Costs little where none is missing. */
kw_status kw_kdump_count_lost(kw_ctx *ctx, const struct kdump_part *part, bool incomplete, uint64_t *ret);

/** Tell what the bitmap, and where pages are lost their descriptors, say of a page: see struct decoded. */
kw_status kw_kdump_state(const void *source, uint64_t pfn);

/** Decode a page: see struct decoded. */
kw_status kw_kdump_decode(kw_ctx *ctx, const void *source, uint64_t pfn, struct unpacker *unpacker,
			  uint8_t *room, uint8_t *ret);

#endif
