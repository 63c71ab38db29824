/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's markers: the offset in the names of every 256th one. */
#ifndef SYMBOL_KALLSYMS_MARKERS_H
#define SYMBOL_KALLSYMS_MARKERS_H

#include "symbol/kallsyms.h"
#include "util/bytes.h"

#define KALLSYMS_MARKER_STEP  256
#define KALLSYMS_MIN_PER_NAME 2	  /* bytes of a packed name, on an average of 256 */
#define KALLSYMS_MAX_PER_NAME 256 /* 70 seen, where 7.2 has names of Rust */

static inline uint64_t kallsyms_align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static inline bool kallsyms_is_step(uint32_t from, uint32_t to)
{
	uint32_t step = to - from;

	return to > from && step >= KALLSYMS_MARKER_STEP * KALLSYMS_MIN_PER_NAME &&
	       step <= KALLSYMS_MARKER_STEP * KALLSYMS_MAX_PER_NAME;
}

/**
 * Count the markers at p: they begin with 0 and grow by as much as 256 names can be long.
 *
 * @param most  of them that there is room for, at least one
 */
static inline size_t kallsyms_count_markers(const uint8_t *p, size_t most)
{
	size_t nr = 1;

	if (kw_load_u32(p))
		return 0;
	while (nr < most && kallsyms_is_step(kw_load_u32(p + 4 * (nr - 1)), kw_load_u32(p + 4 * nr)))
		nr++;
	return nr;
}

/** As kallsyms_entry(), of the name that is `skip` names behind the one at p. */
static inline const uint8_t *kallsyms_entry_behind(const uint8_t *p, const uint8_t *end, uint32_t skip,
						   size_t *ret_len)
{
	size_t len = 0;

	p = kallsyms_entry(p, end, &len);
	for (; p && skip; skip--)
		p = kallsyms_entry(p + len, end, &len);
	if (p)
		*ret_len = len;
	return p;
}

#endif
