/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's own symbol table, as it lies in its read-only data: searched where it is, never unpacked.
 */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include <kwalk/symbol.h>

#include "util/context.h"

/** No kernel has more symbols than this. */
#define KALLSYMS_MAX_SYMBOLS (4u << 20)

/** How the table of offsets is to be understood. */
enum kallsyms_form {
	KALLSYMS_BASE_RELATIVE,	  /* unsigned, from relative_base (6.15 to 6.19) */
	KALLSYMS_PERCPU_ABSOLUTE, /* negative: relative_base - 1 - offset; else the value itself (until 6.14) */
	KALLSYMS_PLACE_RELATIVE, /* signed, from the entry's own address (since 7.0) */
};

/** Where the tables are in kernel memory. */
struct kallsyms_tables {
	uint64_t num_syms, names, token_table, token_index, offsets;
	uint64_t relative_base; /* KW_NO_ADDR when there is none: place-relative */
};

/** The tables as bytes. They may be torn or hostile: every access is checked. */
struct kallsyms_bytes {
	const uint8_t *names; /* num_syms entries, then other things */
	size_t names_len;
	const uint8_t *offsets; /* num_syms values of 4 bytes */
	uint32_t num_syms;
	const uint8_t *token_table; /* 256 strings */
	size_t token_table_len;
	const uint8_t *token_index; /* 256 values of 2 bytes */
	uint64_t offsets_addr;	    /* where the offsets are in kernel memory */
	uint64_t relative_base;	    /* or KW_NO_ADDR */
	/* Both or none, NULL: the offset in names of every 256th one, and numbers of symbols in the order of names. */
	const uint8_t *markers, *seqs;
};

struct kallsyms;

/**
 * Make a symbol table of bytes, which are borrowed.
 *
 * @return KW_OK; KW_FORMAT when the tokens make no sense; KW_NOMEM
 */
kw_status kallsyms_new(kw_ctx *ctx, const struct kallsyms_bytes *bytes, struct kallsyms **ret);

/**
 * Make a symbol table of kernel memory: views where it is mapped, else a copy of the packed tables.
 *
 * @return KW_OK; KW_FORMAT; or why the memory can't be read
 */
kw_status kallsyms_open(kw_ctx *ctx, const struct kallsyms_tables *tables, struct kallsyms **ret);

/** Free a symbol table. NULL is accepted. */
void kallsyms_free(struct kallsyms *kallsyms);

/** The tables as they were given, without those of the tokens. */
const struct kallsyms_bytes *kallsyms_bytes_of(const struct kallsyms *kallsyms);

uint32_t kallsyms_count(const struct kallsyms *kallsyms);
enum kallsyms_form kallsyms_form(const struct kallsyms *kallsyms);

/** The address of a symbol by its number, which is in the table. */
uint64_t kallsyms_address(const struct kallsyms *kallsyms, uint32_t i);

/** Unpack a name without its type letter, which goes to *ret_letter; too long a name is cut. */
void kallsyms_unpack(const struct kallsyms *kallsyms, const uint8_t *entry, size_t len, char *name,
		     char *ret_letter);

/** Compare a packed name without its type letter with another one, as strcmp() does. */
int kallsyms_compare(const struct kallsyms *kallsyms, const uint8_t *entry, size_t len, const char *name);

/**
 * Find names, by bisection where there is an order of names, else in one pass over all. Of several symbols with a name
 * the first in the table, the lowest, is taken, as the kernel does.
 *
 * Sets addr of each query, KW_NO_ADDR when there is none.
 *
 * @return false when the names are damaged, so that "there is none" means nothing
 */
bool kallsyms_find(const struct kallsyms *kallsyms, struct kw_symbol_query *queries, size_t nr);

/**
 * Find the symbol at or below an address, the first of several at the same one.
 *
 * @return KW_OK; KW_NOTFOUND when the address is not in the image; KW_FORMAT
 */
kw_status kallsyms_at(struct kallsyms *kallsyms, uint64_t addr, char *name, uint64_t *ret_offset);

/** Call fn for every symbol; KW_FORMAT when the names are damaged. */
kw_status kallsyms_each(const struct kallsyms *kallsyms,
			bool (*fn)(const char *name, uint64_t addr, char letter, void *arg), void *arg);

/**
 * Find the tables by their shape in the kernel image, where nothing says where they are (before 6.0, or a kernel
 * without VMCOREINFO).
 *
 * @param from  an address in the image where to begin: the tables are behind the text
 * @return KW_OK; KW_NOTFOUND
 */
kw_status kallsyms_search(kw_ctx *ctx, uint64_t image_start, uint64_t image_size, uint64_t from,
			  struct kallsyms_tables *ret);

/** Read the length in front of a packed name; NULL when the name would reach beyond end. */
static inline const uint8_t *kallsyms_entry(const uint8_t *p, const uint8_t *end, size_t *ret_len)
{
	size_t len;

	if (p >= end)
		return NULL;
	len = *p++;
	/* Since 6.1 a set top bit means that seven more bits follow. Before, no packed name was that long. */
	if (__builtin_expect(len & 0x80, 0)) {
		if (p >= end)
			return NULL;
		len = (len & 0x7f) | (size_t)*p++ << 7;
	}
	if (!len || len > (size_t)(end - p))
		return NULL;
	*ret_len = len;
	return p;
}

#endif
