/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names found by bisection: since 6.2, and in stable 6.1, the kernel has a table of its symbols in the order of their
 * names, three bytes for each with the most significant one first. It is found by what stands beside it:
 *
 *   names, markers, seqs, token_table        until 6.3
 *   offsets, [relative_base,] seqs           since 6.4
 *
 * The markers, which stand behind the names or before the seqs, tell where every 256th name begins. A step of the
 * bisection walks up to 255 names from there: a name takes some 2,000 of them, a search of all has 190,000 in 7.2.
 */
#include "symbol/kallsyms_order.h"

#include "memory/memory.h"
#include "symbol/kallsyms_markers.h"

#define SAMPLES 16
/* With LTO, Clang's names are sorted without their suffix .llvm.N: the bare name may stand a little behind such. */
#define LOOK_BEHIND 8

/* Locating. */

static uint32_t nr_markers(const struct kallsyms_bytes *bytes)
{
	return (bytes->num_syms + KALLSYMS_MARKER_STEP - 1) / KALLSYMS_MARKER_STEP;
}

/* True when there are markers at an offset from the names. */
static bool are_markers(const struct kallsyms_bytes *bytes, uint64_t at)
{
	const uint8_t *markers = bytes->names + at;
	size_t nr = nr_markers(bytes);

	return kallsyms_count_markers(markers, nr) == nr && kw_load_u32(markers + 4 * (nr - 1)) < at;
}

/* The markers stand `behind` bytes before the token table; labels are aligned to 8 or, since 7.0, to 4. */
static const uint8_t *find_markers(const struct kallsyms_bytes *bytes, uint64_t behind)
{
	for (uint64_t align = 8; align >= 4; align /= 2) {
		uint64_t size = kallsyms_align(4 * (uint64_t)nr_markers(bytes), align) +
				kallsyms_align(behind, align);

		if (size < bytes->names_len && are_markers(bytes, bytes->names_len - size))
			return bytes->names + bytes->names_len - size;
	}
	return NULL;
}

static void locate_before_tokens(struct kallsyms_bytes *bytes)
{
	uint64_t size = 3 * (uint64_t)bytes->num_syms;

	bytes->markers = find_markers(bytes, size);
	if (bytes->markers)
		bytes->seqs = bytes->names + bytes->names_len - kallsyms_align(size, 8);
}

static void locate_after_offsets(kw_ctx *ctx, const struct kallsyms_tables *tables,
				 struct kallsyms_bytes *bytes)
{
	uint64_t size = 3 * (uint64_t)bytes->num_syms;
	uint64_t at = tables->relative_base == KW_NO_ADDR ? tables->offsets + 4 * (uint64_t)bytes->num_syms
							  : tables->relative_base + 8;

	bytes->markers = find_markers(bytes, 0);
	if (bytes->markers)
		bytes->seqs = kw_view(ctx, at, size);
}

void kallsyms_order_locate(kw_ctx *ctx, const struct kallsyms_tables *tables, struct kallsyms_bytes *bytes)
{
	bytes->markers = bytes->seqs = NULL;
	if (tables->offsets > tables->token_index)
		locate_after_offsets(ctx, tables, bytes);
	else
		locate_before_tokens(bytes);
}

/* Looking up. */

/* The packed name of the symbol at a place in the order; NULL when the tables are damaged. */
static const uint8_t *entry_at(const struct kallsyms_bytes *bytes, uint32_t place, size_t *ret_len,
			       uint32_t *ret_symbol)
{
	const uint8_t *seq = bytes->seqs + 3 * (size_t)place;
	uint32_t symbol = (uint32_t)seq[0] << 16 | (uint32_t)seq[1] << 8 | seq[2], marker;

	if (symbol >= bytes->num_syms)
		return NULL;
	marker = kw_load_u32(bytes->markers + 4 * (size_t)(symbol / KALLSYMS_MARKER_STEP));
	if (marker >= bytes->names_len)
		return NULL;
	*ret_symbol = symbol;
	return kallsyms_entry_behind(bytes->names + marker, bytes->names + bytes->names_len,
				     symbol % KALLSYMS_MARKER_STEP, ret_len);
}

/* Compare the name at a place in the order with a name; false when the tables are damaged. */
static bool compare(const struct kallsyms *kallsyms, uint32_t place, const char *name, int *ret,
		    uint32_t *ret_symbol)
{
	size_t len;
	const uint8_t *entry = entry_at(kallsyms_bytes_of(kallsyms), place, &len, ret_symbol);

	if (entry)
		*ret = kallsyms_compare(kallsyms, entry, len, name);
	return entry;
}

/* The first place whose name is not less than a name. */
static bool lower_bound(const struct kallsyms *kallsyms, const char *name, uint32_t *ret)
{
	uint32_t low = 0, high = kallsyms_count(kallsyms), symbol;
	int order;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!compare(kallsyms, middle, name, &order, &symbol))
			return false;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return true;
}

bool kallsyms_order_find(const struct kallsyms *kallsyms, const char *name, uint64_t *ret)
{
	uint32_t first, nr = kallsyms_count(kallsyms), symbol;
	int order;

	if (!lower_bound(kallsyms, name, &first))
		return false;
	*ret = KW_NO_ADDR;
	for (uint32_t i = first; i < nr && i - first < LOOK_BEHIND; i++) {
		if (!compare(kallsyms, i, name, &order, &symbol))
			return false;
		if (order)
			continue;
		*ret = kallsyms_address(kallsyms, symbol);
		break;
	}
	return true;
}

bool kallsyms_order_holds(const struct kallsyms *kallsyms)
{
	const struct kallsyms_bytes *bytes = kallsyms_bytes_of(kallsyms);
	char name[KW_SYMBOL_NAME_SIZE] = "", letter;
	uint32_t symbol;

	if (!bytes->seqs)
		return false;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t place = (uint32_t)((uint64_t)(bytes->num_syms - 1) * i / (SAMPLES - 1));
		size_t len;
		const uint8_t *entry = entry_at(bytes, place, &len, &symbol);

		if (!entry || kallsyms_compare(kallsyms, entry, len, name) < 0)
			return false;
		kallsyms_unpack(kallsyms, entry, len, name, &letter);
	}
	return true;
}
