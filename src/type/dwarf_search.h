/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a name stands in .debug_info, found by its bytes.
 *
 * Debian's vmlinux has 2,172 units and no index of their names; walking the entries at the top of all units takes more
 * than a second. But an entry refers to its name by an offset in .debug_str, or has it inline when it is short: so the
 * places that can be entries of a name are found by looking for these bytes, at the speed of memory, and most names
 * that anybody asks for are found in the first units. What a find is, is for the caller to see.
 *
 * Linkers store a string that ends another one within that: a name may have many offsets that refer to it.
 */
#ifndef TYPE_DWARF_SEARCH_H
#define TYPE_DWARF_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of a section. */
struct kw_section {
	const uint8_t *data;
	size_t size;
};

/** What is looked for. Free with kw_dwarf_needle_deinit(). */
struct kw_dwarf_needle {
	uint32_t *item; /* offsets in the section of strings, ascending */
	size_t nr, cap;
	uint32_t last;	     /* the highest */
	uint8_t *filter;     /* a bit for the low bits of each offset */
	const char *inlined; /* the name, when it may stand in the entry itself; else NULL */
	size_t len;	     /* of it, with its NUL */
	size_t inlined_at;   /* where it was seen last; SIZE_MAX: nowhere any more */
};

/**
 * Prepare a search for a name; false when memory runs out.
 *
 * @param offset_size  bytes of an offset: compilers put a name that takes no more into the entry itself
 */
bool kw_dwarf_needle_init(struct kw_dwarf_needle *needle, const char *name, const struct kw_section *strings,
			  unsigned int offset_size);
void kw_dwarf_needle_deinit(struct kw_dwarf_needle *needle);

/** Find the next place at or after *pos where an offset of the name stands, or the name; false when there is none. */
bool kw_dwarf_search(struct kw_dwarf_needle *needle, const struct kw_section *info, size_t *pos);

/** Find the place of a variable's location: the expression "at this address"; false when there is none. */
bool kw_dwarf_search_address(const struct kw_section *info, uint64_t addr, size_t *pos);

#endif
