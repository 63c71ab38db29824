/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relocatable files, which modules are: what their sections of DWARF refer to is filled in when they are linked, and the
 * kernel links all but these sections. Until then an entry's name, say, is not in .debug_info but in .rela.debug_info.
 *
 * libdwfl would do this, for all sections of all that it opens; here it is done for the few sections that types
 * are read from, when a file is found to have a name that is looked for.
 */
#ifndef TYPE_DWARF_RELOC_H
#define TYPE_DWARF_RELOC_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/** True when a file's DWARF is still to be relocated. */
bool kw_dwarf_is_relocatable(Elf *elf);

/**
 * Fill in what the sections of DWARF refer to, in the bytes that elf_getdata() gives, which must be writable. What can't be
 * filled in stays as it is.
 *
 * Sections that are loaded lie nowhere yet; each is given addresses of its own (kw_dwarf_section_place()).
 */
void kw_dwarf_relocate(Elf *elf);

/** Where a byte of a section of a relocatable file lies, as far as its DWARF is concerned. */
uint64_t kw_dwarf_section_place(uint32_t section, uint64_t offset);

/** Where the one variable of a name lies in a relocatable file; false when there is none or several are called that. */
bool kw_dwarf_variable_place(Elf *elf, const char *name, uint64_t *ret);

#endif
