/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * .debug_names, DWARF 5's index of names, where a file has one, as clang writes it with -gpubnames. In files in which names can't be
 * found by their bytes, which clang's are, it spares making an index (dwarf_index.h): 0.4 s for a vmlinux.
 *
 * What it says only chooses entries to look at. It may be wrong, or of another build: what it does not have is looked for without it.
 *
 * .gdb_index, and what gdb 13 writes as .debug_names, are not used: they name units, not entries, and are added to gcc's files. In those
 * names are found by their bytes, and an index could spare at most 13 of the 37 ms that `kwalk ps` takes with Debian's vmlinux.
 */
#ifndef TYPE_DWARF_NAMES_H
#define TYPE_DWARF_NAMES_H

#include <stdint.h>

#include "type/dwarf_search.h"

/** What to do with the offset in .debug_info of what may be an entry of that name: true ends the search. */
typedef bool kw_dwarf_names_take(uint64_t offset, void *arg);

/** Look a name up in all indexes of the section; true when `take` was. */
bool kw_dwarf_names_find(const struct kw_section *names, const struct kw_section *strings, const char *name,
			 kw_dwarf_names_take *take, void *arg);

#endif
