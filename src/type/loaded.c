/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The modules that are loaded: see the header.
 *
 * A module's build ID is in one of its sections of notes, whose places and sizes the kernel keeps for sysfs:
 *
 *     module.notes_attrs -> { notes; attrs[notes] }      each a bin_attribute { size; private: the address }
 *                           { grp.bin_attrs -> NULL-terminated pointers to these }      since 6.14
 *
 * The layouts are the kernel's own, from whichever origin its types have.
 */
#include "type/loaded.h"
#include "type/dwarf.h"
#include "type/modules.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "symbol/symbols.h"
#include "util/array.h"
#include "util/error.h"
#include "util/lap.h"

#define ABSENT	   UINT64_MAX
#define NOTES_MAX  32	/* sections; a module has two or three */
#define NOTES_SIZE 1024 /* bytes of one */

/* Offsets in the structures on the way; ABSENT where there is no such member. */
struct layout {
	uint64_t list, name, notes_attrs, btf_data_size; /* in a module */
	uint64_t notes, attrs, bin_attrs;		 /* in module_notes_attrs */
	uint64_t attr_size, size, private;		 /* of a bin_attribute, and in it */
};

struct walk {
	kw_ctx *ctx;
	struct kw_types *types;
	struct layout layout;
	struct kw_loaded_list *list;
};

/* Layouts */

static const struct kw_btf *find_struct(const struct walk *w, const char *name, uint32_t *ret_id)
{
	const struct kw_btf *kernel = kw_types_kernel(w->types);

	if (!kernel)
		return kw_dwarf_find(w->ctx, kw_types_from_dwarf(w->types), name, KW_BTF_STRUCT, ret_id);
	return kw_btf_find(kernel, name, KW_BTF_STRUCT, ret_id) ? kernel : NULL;
}

static uint64_t offset_of(const struct walk *w, const char *type, const char *name)
{
	struct kw_btf_found found;
	uint32_t id;
	const struct kw_btf *btf = find_struct(w, type, &id);

	return btf && kw_btf_find_member(btf, id, name, &found) ? found.bit_offset / 8 : ABSENT;
}

static uint64_t size_of(const struct walk *w, const char *type)
{
	uint32_t id;
	const struct kw_btf *btf = find_struct(w, type, &id);

	return btf ? kw_btf_size(btf, id) : 0;
}

static void find_layout(struct walk *w)
{
	struct layout *l = &w->layout;
	uint64_t group = offset_of(w, "module_notes_attrs", "grp"),
		 bin_attrs = offset_of(w, "attribute_group", "bin_attrs");

	*l = (struct layout){
		.list = offset_of(w, "module", "list"),
		.name = offset_of(w, "module", "name"),
		.notes_attrs = offset_of(w, "module", "notes_attrs"),
		.btf_data_size = offset_of(w, "module", "btf_data_size"),
		.notes = offset_of(w, "module_notes_attrs", "notes"),
		.attrs = offset_of(w, "module_notes_attrs", "attrs"),
		.bin_attrs = group == ABSENT || bin_attrs == ABSENT ? ABSENT : group + bin_attrs,
		.attr_size = size_of(w, "bin_attribute"),
		.size = offset_of(w, "bin_attribute", "size"),
		.private = offset_of(w, "bin_attribute", "private"),
	};
}

/* Build IDs */

/* Find a build ID among notes: { name size, description size, type; name; description }, padded to 4 bytes. */
static bool find_id(const uint8_t *notes, size_t size, struct kw_loaded *ret)
{
	Elf64_Nhdr note;
	size_t at = 0;

	while (at < size && size - at >= sizeof(note)) {
		size_t name = at + sizeof(note), id, next;

		memcpy(&note, notes + at, sizeof(note));
		id = name + (note.n_namesz + 3ull) / 4 * 4;
		next = id + (note.n_descsz + 3ull) / 4 * 4;
		if (next > size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && note.n_descsz &&
		    note.n_descsz <= sizeof(ret->id)) {
			memcpy(ret->id, notes + id, note.n_descsz);
			ret->id_len = note.n_descsz;
			return true;
		}
		at = next;
	}
	return false;
}

static bool read_section(const struct walk *w, uint64_t attr, struct kw_loaded *ret)
{
	const struct layout *l = &w->layout;
	uint8_t notes[NOTES_SIZE];
	uint64_t size, addr;

	return kw_read_u64(w->ctx, attr + l->size, &size) == KW_OK && size <= sizeof(notes) &&
	       kw_read_u64(w->ctx, attr + l->private, &addr) == KW_OK &&
	       kw_read(w->ctx, addr, notes, size) == KW_OK && find_id(notes, size, ret);
}

/* The address of the i-th section's attribute; 0 when there is none. */
static uint64_t section_attr(const struct walk *w, uint64_t attrs, uint32_t i)
{
	const struct layout *l = &w->layout;
	uint64_t pointers, attr;
	uint32_t nr;

	if (l->notes != ABSENT) {
		if (kw_read_u32(w->ctx, attrs + l->notes, &nr) || i >= nr)
			return 0;
		return attrs + l->attrs + i * l->attr_size;
	}
	if (kw_read_u64(w->ctx, attrs + l->bin_attrs, &pointers) ||
	    kw_read_u64(w->ctx, pointers + i * 8ull, &attr))
		return 0;
	return attr;
}

static void read_id(const struct walk *w, uint64_t module, struct kw_loaded *ret)
{
	const struct layout *l = &w->layout;
	uint64_t attrs, attr;

	if (l->notes_attrs == ABSENT || l->attrs == ABSENT || l->size == ABSENT || l->private == ABSENT ||
	    (l->notes == ABSENT && l->bin_attrs == ABSENT) ||
	    kw_read_u64(w->ctx, module + l->notes_attrs, &attrs) || !attrs)
		return;
	for (uint32_t i = 0; i < NOTES_MAX; i++) {
		attr = section_attr(w, attrs, i);
		if (!attr || read_section(w, attr, ret))
			return;
	}
}

/* Modules */

/* False when memory runs out. */
static bool add_module(const struct walk *w, uint64_t module)
{
	const struct layout *l = &w->layout;
	struct kw_loaded loaded = { 0 };
	uint32_t btf_size = 0;

	if (kw_read(w->ctx, module + l->name, loaded.name, sizeof(loaded.name) - 1) || !loaded.name[0])
		return true;
	if (l->btf_data_size != ABSENT && kw_read_u32(w->ctx, module + l->btf_data_size, &btf_size) == KW_OK)
		loaded.has_btf = btf_size;
	read_id(w, module, &loaded);
	return kw_array_push(w->list, loaded);
}

/* A list that goes round without coming to its head ends where that is noticed. */
static bool walk_list(const struct walk *w, uint64_t head)
{
	struct kw_lap lap = { .mark = head };
	uint64_t node;

	if (kw_read_u64(w->ctx, head, &node))
		return true;
	while (lap.steps < KW_MODULES_MAX && node != head && !kw_lap_is_round(&lap, node)) {
		if (!add_module(w, node - w->layout.list))
			return false;
		if (kw_read_u64(w->ctx, node, &node))
			break;
	}
	return true;
}

bool kw_loaded_read(kw_ctx *ctx, struct kw_types *types, struct kw_loaded_list *ret)
{
	struct kw_symbol_query modules = { "modules", KW_NO_ADDR };
	struct kw_loaded_list list = { 0 };
	struct walk walk = { .ctx = ctx, .types = types, .list = &list };
	bool complete = true;

	if (kw_symbol_addresses(ctx, &modules, 1) == KW_OK && modules.addr != KW_NO_ADDR) {
		find_layout(&walk);
		if (walk.layout.list != ABSENT && walk.layout.name != ABSENT)
			complete = walk_list(&walk, modules.addr);
	}
	kw_clear_error(ctx);
	if (!complete) {
		kw_loaded_free(&list);
		return false;
	}
	*ret = list;
	return true;
}

void kw_loaded_free(struct kw_loaded_list *list)
{
	free(list->item);
	*list = (struct kw_loaded_list){ 0 };
}
