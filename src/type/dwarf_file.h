/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file with DWARF: mapped, checked, its sections found.
 */
#ifndef TYPE_DWARF_FILE_H
#define TYPE_DWARF_FILE_H

#include <libelf.h>

#include "memory/guard.h"
#include "type/dwarf_search.h"
#include "type/libdw.h"
#include "util/context.h"

/** An open file. The mapping is guarded: where it is cut short meanwhile, it reads as zeros and `guard` tells. */
struct kw_dwarf_file {
	const struct kw_libdw *dw;
	char *path;
	int fd;
	struct guard guard;
	Elf *elf;
	Dwarf *dwarf;
	struct kw_section info, strings; /* as libdw sees them: uncompressed */
	struct kw_section names;	 /* dwarf_names.h; none in most files */
	unsigned int offset_size;	 /* 8 when a unit is of 64-bit DWARF, else 4 */
	bool is_relocatable;		 /* as modules are: see dwarf_reloc.h */
};

/** How a file is checked before its DWARF is opened. */
typedef kw_status kw_dwarf_check(kw_ctx *ctx, Elf *elf, void *arg);

/**
 * Open a file that has DWARF.
 *
 * @param check  called with the ELF file; what it fails with is the result
 * @return KW_OK; KW_NOTFOUND when the file has no debug information; KW_FORMAT, KW_DENIED, KW_UNREADABLE,
 *         KW_UNSUPPORTED without libdw. *ret is to be closed in any case.
 */
kw_status kw_dwarf_file_open(kw_ctx *ctx, const char *path, kw_dwarf_check *check, void *arg,
			     struct kw_dwarf_file *ret);

/**
 * Open the supplementary file that a file shares with others, and tell libdw of it.
 *
 * @param ret  untouched when it has none; to be closed after `main`
 */
kw_status kw_dwarf_file_open_alt(kw_ctx *ctx, struct kw_dwarf_file *main, struct kw_dwarf_file *ret);

/** The bytes of a section, unpacked; none when there is no such section. */
struct kw_section kw_dwarf_section(Elf *elf, const char *name);

/** What the headers of units say. */
struct kw_dwarf_units {
	size_t nr;
	unsigned int version;	  /* of DWARF, the highest */
	unsigned int offset_size; /* the largest */
};

/** Look at the headers of the first `most` units of a file. */
struct kw_dwarf_units kw_dwarf_file_units(const struct kw_dwarf_file *file, size_t most);

/** Close a file; one that is zeroed, or was closed, is accepted. */
void kw_dwarf_file_close(struct kw_dwarf_file *file);

#endif
