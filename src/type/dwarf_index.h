/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An index of the names at the top of all units, for files in which names can't be found by their bytes: clang's DWARF 5
 * has them as numbers of a table, each unit its own, and DWARF 4 can keep types in a section apart.
 */
#ifndef TYPE_DWARF_INDEX_H
#define TYPE_DWARF_INDEX_H

#include "type/btf.h"
#include "type/libdw.h"

struct kw_dwarf_index;

/** True when a file needs an index; looks at its first units. */
bool kw_dwarf_index_needed(const struct kw_libdw *dw, Dwarf *dwarf);

/** Index a file: 0.4 s for a vmlinux. NULL when memory runs out. */
struct kw_dwarf_index *kw_dwarf_index_new(const struct kw_libdw *dw, Dwarf *dwarf);
void kw_dwarf_index_free(struct kw_dwarf_index *index);

/**
 * Find the first definition of a name.
 *
 * @param class  not KW_BTF_ANY
 * @param ret  the entry
 */
bool kw_dwarf_index_find(const struct kw_dwarf_index *index, const char *name, enum kw_btf_class class,
			 Dwarf_Die *ret);

/** What an entry with that tag is looked up as; KW_BTF_ANY for typedefs and base types. False: as nothing. */
bool kw_dwarf_class_of(int tag, enum kw_btf_class *ret);

#endif
