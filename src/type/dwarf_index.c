/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An index of names: see the header. */
#include "type/dwarf_index.h"
#include "type/dwarf_die.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define UNITS_LOOKED_AT 64
#define ENTRIES_MAX	(1u << 23)

struct entry {
	const char *name; /* in the section of strings */
	uint32_t hash;
	enum kw_btf_class class;
	Dwarf_Die die;
};

struct kw_dwarf_index {
	struct entry *item;
	size_t nr, cap;
	uint32_t *slots; /* numbers of entries, from 1; 0: free */
	uint32_t mask;
};

bool kw_dwarf_class_of(int tag, enum kw_btf_class *ret)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type: *ret = KW_BTF_STRUCT; return true;
	case DW_TAG_union_type: *ret = KW_BTF_UNION; return true;
	case DW_TAG_enumeration_type: *ret = KW_BTF_ENUM; return true;
	case DW_TAG_typedef:
	case DW_TAG_base_type: *ret = KW_BTF_ANY; return true;
	case DW_TAG_variable: *ret = KW_BTF_VARIABLE; return true;
	default: return false;
	}
}

static bool is_number_of_table(unsigned int form)
{
	return form == DW_FORM_strx || form == DW_FORM_strx1 || form == DW_FORM_strx2 ||
	       form == DW_FORM_strx3 || form == DW_FORM_strx4 || form == DW_FORM_GNU_str_index;
}

bool kw_dwarf_index_needed(const struct kw_libdw *dw, Dwarf *dwarf)
{
	uint8_t type = DW_UT_compile;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	for (int i = 0; i < UNITS_LOOKED_AT; i++) {
		Dwarf_Attribute name;

		if (dw->dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL))
			break;
		if (type == DW_UT_type || (dw->dwarf_attr(&die, DW_AT_name, &name) &&
					   is_number_of_table(dw->dwarf_whatform(&name))))
			return true;
	}
	return false;
}

static uint32_t hash_name(const char *name, enum kw_btf_class class)
{
	uint32_t hash = 2166136261u ^ (uint32_t) class;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

static uint32_t *find_slot(const struct kw_dwarf_index *index, const char *name, uint32_t hash,
			   enum kw_btf_class class)
{
	uint32_t at = hash & index->mask;

	for (; index->slots[at]; at = (at + 1) & index->mask) {
		const struct entry *entry = &index->item[index->slots[at] - 1];

		if (entry->hash == hash && entry->class == class && strcmp(entry->name, name) == 0)
			break;
	}
	return &index->slots[at];
}

static bool make_room(struct kw_dwarf_index *index)
{
	size_t size = index->slots ? ((size_t)index->mask + 1) * 2 : 4096;
	uint32_t *old = index->slots;

	if (old && index->nr < index->mask / 2)
		return true;
	index->slots = calloc(size, sizeof(*index->slots));
	if (!index->slots) {
		index->slots = old;
		return false;
	}
	free(old);
	index->mask = (uint32_t)size - 1;
	for (size_t i = 0; i < index->nr; i++) {
		const struct entry *entry = &index->item[i];

		*find_slot(index, entry->name, entry->hash, entry->class) = (uint32_t)i + 1;
	}
	return true;
}

static bool add_entry(struct kw_dwarf_index *index, const char *name, enum kw_btf_class class,
		      const Dwarf_Die *die)
{
	uint32_t hash = hash_name(name, class), *slot;

	if (!make_room(index))
		return false;
	slot = find_slot(index, name, hash, class);
	if (*slot || index->nr >= ENTRIES_MAX)
		return true;
	if (!kw_array_push(index, (struct entry){ name, hash, class, *die }))
		return false;
	*slot = (uint32_t)index->nr;
	return true;
}

/* Variables count also where they are only declared, which tells their type. */
static bool add_unit(struct kw_dwarf_index *index, const struct kw_libdw *dw, const Dwarf_Die *unit)
{
	enum kw_btf_class class;
	struct kw_die die;
	Dwarf_Die at;
	bool more;

	for (more = kw_die_first_child(dw, unit, &at); more; more = kw_die_next(dw, &at)) {
		const char *name;

		if (!kw_dwarf_class_of(dw->dwarf_tag(&at), &class))
			continue;
		kw_die_read(dw, &at, &die);
		name = kw_die_name(&die);
		if (name && (class == KW_BTF_VARIABLE || !kw_die_is_declaration(&die)) &&
		    !add_entry(index, name, class, &at))
			return false;
	}
	return true;
}

struct kw_dwarf_index *kw_dwarf_index_new(const struct kw_libdw *dw, Dwarf *dwarf)
{
	struct kw_dwarf_index *index = calloc(1, sizeof(*index));
	bool complete = index && make_room(index);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (complete && !dw->dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		complete = add_unit(index, dw, &die);
	if (complete)
		return index;
	kw_dwarf_index_free(index);
	return NULL;
}

void kw_dwarf_index_free(struct kw_dwarf_index *index)
{
	if (!index)
		return;
	free(index->item);
	free(index->slots);
	free(index);
}

bool kw_dwarf_index_find(const struct kw_dwarf_index *index, const char *name, enum kw_btf_class class,
			 Dwarf_Die *ret)
{
	uint32_t slot = *find_slot(index, name, hash_name(name, class), class);

	if (slot)
		*ret = index->item[slot - 1].die;
	return slot;
}
