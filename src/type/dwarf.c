/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types and variables by name out of DWARF: see the header.
 *
 * A name is looked for in the units that were read before; then by its bytes (dwarf_search.h). What stands where
 * these are found is taken for the name of an entry when an entry of the wanted kind begins a little before. That is
 * a guess, which only chooses units: the answer comes from the unit as a whole. Names that are not found are kept, for
 * they are asked for again with each layout.
 *
 * Invariant: everything below `lock` is only used with it held, as libdw knows no threads; blobs stay until the end.
 */
#include "type/dwarf.h"
#include "type/dwarf_die.h"
#include "type/dwarf_index.h"
#include "type/dwarf_names.h"
#include "type/dwarf_reloc.h"
#include "type/dwarf_unit.h"
#include "type/types.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/error.h"

#define NAME_REACH \
	8 /* bytes from the beginning of an entry to its name: its code and what stands before the name */
#define ABSENT_MAX 4096 /* names kept */

struct unit {
	const void *at;	    /* the unit's entry */
	struct kw_btf *btf; /* NULL: it can't be read */
};

struct absent {
	char *name;
	enum kw_btf_class class;
};

struct kw_dwarf {
	const struct kw_libdw *dw;
	struct kw_dwarf_file main, alt; /* alt: without path when there is none */
	bool ready; /* relocated, and `needs_index` known: before that, libdw looks at no unit */
	bool needs_index;
	pthread_mutex_t lock;
	struct kw_dwarf_index *index; /* NULL until it is needed */
	struct {
		struct unit *item;
		size_t nr, cap;
	} units;
	struct {
		struct absent *item;
		size_t nr, cap;
	} absent;
};

kw_status kw_dwarf_open(kw_ctx *ctx, const char *path, kw_dwarf_check *check, void *arg,
			struct kw_dwarf **ret)
{
	struct kw_dwarf *dwarf = calloc(1, sizeof(*dwarf));
	kw_status status;

	if (!dwarf)
		return kw_fail_nomem(ctx);
	pthread_mutex_init(&dwarf->lock, NULL);
	status = kw_dwarf_file_open(ctx, path, check, arg, &dwarf->main);
	if (!status)
		status = kw_dwarf_file_open_alt(ctx, &dwarf->main, &dwarf->alt);
	if (status) {
		kw_dwarf_free(dwarf);
		return status;
	}
	dwarf->dw = dwarf->main.dw;
	*ret = dwarf;
	return KW_OK;
}

const char *kw_dwarf_path(const struct kw_dwarf *dwarf)
{
	return dwarf->main.path;
}

void kw_dwarf_free(struct kw_dwarf *dwarf)
{
	if (!dwarf)
		return;
	for (size_t i = 0; i < dwarf->units.nr; i++)
		kw_btf_free(dwarf->units.item[i].btf);
	for (size_t i = 0; i < dwarf->absent.nr; i++)
		free(dwarf->absent.item[i].name);
	kw_dwarf_index_free(dwarf->index);
	free(dwarf->units.item);
	free(dwarf->absent.item);
	kw_dwarf_file_close(&dwarf->main);
	kw_dwarf_file_close(&dwarf->alt);
	pthread_mutex_destroy(&dwarf->lock);
	free(dwarf);
}

/* Units */

/* The types of a unit or of a single entry, made the first time; NULL when it can't be read, with the error set when
 * memory ran out. */
static const struct kw_btf *entry_types(kw_ctx *ctx, struct kw_dwarf *dwarf, const Dwarf_Die *entry)
{
	struct unit unit = { .at = entry->addr };

	for (size_t i = 0; i < dwarf->units.nr; i++)
		if (dwarf->units.item[i].at == unit.at)
			return dwarf->units.item[i].btf;
	if (kw_dwarf_unit(ctx, dwarf->dw, entry, &unit.btf) == KW_NOMEM)
		return NULL;
	if (!kw_array_push(&dwarf->units, unit)) {
		kw_btf_free(unit.btf);
		kw_fail_nomem(ctx);
		return NULL;
	}
	return unit.btf;
}

/* True when a blob has a definition: an enum without values is only declared. */
static bool has_name(kw_ctx *ctx, const struct kw_btf *btf, const char *name, enum kw_btf_class class,
		     uint32_t *ret_id)
{
	const struct kw_type *type;
	uint32_t id;

	if (!btf || !kw_btf_find(btf, name, class, &id))
		return false;
	type = class == KW_BTF_VARIABLE ? &kw_type_void : kw_btf_type(ctx, btf, id);
	if (!type || (type->kind == KW_TYPE_ENUM && !type->count))
		return false;
	*ret_id = id;
	return true;
}

/* Find a name in the unit that an entry belongs to; a type that a function declares for itself is read alone. */
static const struct kw_btf *find_at(kw_ctx *ctx, struct kw_dwarf *dwarf, Dwarf_Die *entry, const char *name,
				    enum kw_btf_class class, uint32_t *ret_id)
{
	const struct kw_btf *btf;
	Dwarf_Die top;

	if (!dwarf->dw->dwarf_diecu(entry, &top, NULL, NULL))
		return NULL;
	btf = entry_types(ctx, dwarf, &top);
	if (!has_name(ctx, btf, name, class, ret_id) && class != KW_BTF_VARIABLE &&
	    kw_die_is_entry(dwarf->dw, &top, entry))
		btf = entry_types(ctx, dwarf, entry);
	return has_name(ctx, btf, name, class, ret_id) ? btf : NULL;
}

/* True when an entry may be what is looked for: "any" are all types. */
static bool has_class(int tag, enum kw_btf_class class)
{
	enum kw_btf_class own;

	if (!kw_dwarf_class_of(tag, &own))
		return false;
	return class == KW_BTF_ANY ? own != KW_BTF_VARIABLE : own == class;
}

/* True when an entry of the class begins at an offset and has its name at `pos`. */
static bool is_named_at(struct kw_dwarf *dwarf, struct kw_dwarf_file *file, size_t off, size_t pos,
			enum kw_btf_class class, Dwarf_Die *ret)
{
	struct kw_die die;

	if (!dwarf->dw->dwarf_offdie(file->dwarf, off, ret) || !has_class(dwarf->dw->dwarf_tag(ret), class))
		return false;
	kw_die_read(dwarf->dw, ret, &die);
	return kw_die_has(&die, DIE_NAME) && die.attr[DIE_NAME].valp == file->info.data + pos &&
	       (class == KW_BTF_VARIABLE || !kw_die_is_declaration(&die));
}

/* Find the entry that has its name at a place. */
static bool entry_at(struct kw_dwarf *dwarf, struct kw_dwarf_file *file, size_t pos, enum kw_btf_class class,
		     Dwarf_Die *ret)
{
	for (size_t back = 1; back <= NAME_REACH && back <= pos; back++)
		if (is_named_at(dwarf, file, pos - back, pos, class, ret))
			return true;
	return false;
}

/* Names */

static const struct kw_btf *find_in_units(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					  enum kw_btf_class class, uint32_t *ret_id)
{
	for (size_t i = 0; i < dwarf->units.nr; i++) {
		const struct kw_btf *btf = dwarf->units.item[i].btf;

		if (has_name(ctx, btf, name, class, ret_id))
			return btf;
	}
	return NULL;
}

static const struct kw_btf *search_file(kw_ctx *ctx, struct kw_dwarf *dwarf, struct kw_dwarf_file *file,
					struct kw_dwarf_needle *needle, const char *name,
					enum kw_btf_class class, uint32_t *ret_id)
{
	for (size_t pos = 0; kw_dwarf_search(needle, &file->info, &pos); pos++) {
		const struct kw_btf *btf;
		Dwarf_Die die;

		if (!entry_at(dwarf, file, pos, class, &die))
			continue;
		btf = find_at(ctx, dwarf, &die, name, class, ret_id);
		if (btf)
			return btf;
	}
	return NULL;
}

/* Search a file for references to a section of strings, its own or another's. */
static const struct kw_btf *search(kw_ctx *ctx, struct kw_dwarf *dwarf, struct kw_dwarf_file *file,
				   const struct kw_section *strings, const char *name,
				   enum kw_btf_class class, uint32_t *ret_id)
{
	const struct kw_btf *btf;
	struct kw_dwarf_needle needle;

	if (!kw_dwarf_needle_init(&needle, name, strings, file->offset_size)) {
		kw_fail_nomem(ctx);
		return NULL;
	}
	btf = search_file(ctx, dwarf, file, &needle, name, class, ret_id);
	kw_dwarf_needle_deinit(&needle);
	return btf;
}

/* Find a name by its bytes, in either file. */
static const struct kw_btf *find_by_search(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					   enum kw_btf_class class, uint32_t *ret_id)
{
	struct kw_dwarf_file *main = &dwarf->main, *alt = &dwarf->alt;
	const struct kw_btf *btf = search(ctx, dwarf, main, &main->strings, name, class, ret_id);

	if (!btf && alt->path)
		btf = search(ctx, dwarf, main, &alt->strings, name, class, ret_id);
	if (!btf && alt->path)
		btf = search(ctx, dwarf, alt, &alt->strings, name, class, ret_id);
	return btf;
}

static const struct kw_btf *find_by_index(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					  enum kw_btf_class class, uint32_t *ret_id)
{
	/* The order in which a bare name is looked for. */
	static const enum kw_btf_class any[] = { KW_BTF_STRUCT, KW_BTF_UNION, KW_BTF_ANY, KW_BTF_ENUM };
	const struct kw_btf *btf = NULL;
	Dwarf_Die die;

	if (!dwarf->index && !(dwarf->index = kw_dwarf_index_new(dwarf->dw, dwarf->main.dwarf))) {
		kw_fail_nomem(ctx);
		return NULL;
	}
	for (size_t i = 0; !btf && i < (class == KW_BTF_ANY ? 4 : 1); i++)
		if (kw_dwarf_index_find(dwarf->index, name, class == KW_BTF_ANY ? any[i] : class, &die))
			btf = find_at(ctx, dwarf, &die, name, class, ret_id);
	return btf;
}

/* A name that is looked up in the file's own index. */
struct listed {
	kw_ctx *ctx;
	struct kw_dwarf *dwarf;
	const char *name;
	enum kw_btf_class class;
	const struct kw_btf *btf;
	uint32_t id;
};

/* The index may be wrong: the entry must have the name, and the unit as a whole tells what it is. */
static bool take_listed(uint64_t offset, void *arg)
{
	struct listed *l = arg;
	struct kw_dwarf *dwarf = l->dwarf;
	struct kw_die die;
	const char *name;
	Dwarf_Die at;

	if (!dwarf->dw->dwarf_offdie(dwarf->main.dwarf, offset, &at) ||
	    !has_class(dwarf->dw->dwarf_tag(&at), l->class))
		return false;
	kw_die_read(dwarf->dw, &at, &die);
	name = kw_die_name(&die);
	if (!name || strcmp(name, l->name) || (l->class != KW_BTF_VARIABLE && kw_die_is_declaration(&die)))
		return false;
	l->btf = find_at(l->ctx, dwarf, &at, l->name, l->class, &l->id);
	return l->btf;
}

static const struct kw_btf *find_listed(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					enum kw_btf_class class, uint32_t *ret_id)
{
	struct listed listed = { ctx, dwarf, name, class, NULL, 0 };

	if (!dwarf->main.names.size ||
	    !kw_dwarf_names_find(&dwarf->main.names, &dwarf->main.strings, name, take_listed, &listed))
		return NULL;
	*ret_id = listed.id;
	return listed.btf;
}

static bool is_absent(const struct kw_dwarf *dwarf, const char *name, enum kw_btf_class class)
{
	for (size_t i = 0; i < dwarf->absent.nr; i++)
		if (dwarf->absent.item[i].class == class && strcmp(dwarf->absent.item[i].name, name) == 0)
			return true;
	return false;
}

static void remember_absent(struct kw_dwarf *dwarf, const char *name, enum kw_btf_class class)
{
	struct absent absent = { .class = class };

	if (dwarf->absent.nr == ABSENT_MAX || !(absent.name = strdup(name)))
		return;
	if (!kw_array_push(&dwarf->absent, absent))
		free(absent.name);
}

static bool has_string(const struct kw_section *strings, const char *name, size_t len)
{
	return strings->size && memmem(strings->data, strings->size, name, len);
}

/* False when a name can't be there: what files that are looked through for one name after the other are spared much by. */
static bool may_have(const struct kw_dwarf *dwarf, const char *name)
{
	size_t len = strlen(name) + 1;

	return len <= dwarf->main.offset_size || !dwarf->main.strings.size ||
	       has_string(&dwarf->main.strings, name, len) || has_string(&dwarf->alt.strings, name, len);
}

static void get_ready(struct kw_dwarf *dwarf)
{
	if (dwarf->ready)
		return;
	if (dwarf->main.is_relocatable)
		kw_dwarf_relocate(dwarf->main.elf);
	dwarf->needs_index = kw_dwarf_index_needed(dwarf->dw, dwarf->main.dwarf);
	dwarf->ready = true;
}

/* True when the first search would have to prepare something, which takes longer than a look at the strings. */
static bool is_untouched(const struct kw_dwarf *dwarf)
{
	return dwarf->ready ? dwarf->needs_index && !dwarf->index : dwarf->main.is_relocatable;
}

static const struct kw_btf *find(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
				 enum kw_btf_class class, uint32_t *ret_id)
{
	const struct kw_btf *btf = find_in_units(ctx, dwarf, name, class, ret_id);

	if (btf || is_absent(dwarf, name, class) || (is_untouched(dwarf) && !may_have(dwarf, name)))
		return btf;
	get_ready(dwarf);
	btf = find_listed(ctx, dwarf, name, class, ret_id);
	if (!btf)
		btf = (dwarf->needs_index ? find_by_index : find_by_search)(ctx, dwarf, name, class, ret_id);
	if (!btf)
		remember_absent(dwarf, name, class);
	return btf;
}

static void begin(struct kw_dwarf *dwarf)
{
	pthread_mutex_lock(&dwarf->lock);
	guard_enter();
}

/* What was made while the file was cut short is not to be believed. */
static const struct kw_btf *end(kw_ctx *ctx, struct kw_dwarf *dwarf, const struct kw_btf *btf)
{
	guard_leave();
	if (guard_faults(&dwarf->main.guard) || guard_faults(&dwarf->alt.guard)) {
		kw_fail(ctx, KW_UNREADABLE, "%s: was cut short while it was read", dwarf->main.path);
		btf = NULL;
	}
	pthread_mutex_unlock(&dwarf->lock);
	return btf;
}

const struct kw_btf *kw_dwarf_find(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
				   enum kw_btf_class class, uint32_t *ret_id)
{
	begin(dwarf);
	return end(ctx, dwarf, find(ctx, dwarf, name, class, ret_id));
}

/* Find the unit that says where the variable lies. */
static const struct kw_btf *find_by_address(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					    uint64_t addr, uint32_t *ret_id)
{
	for (size_t pos = 0; kw_dwarf_search_address(&dwarf->main.info, addr, &pos); pos++) {
		const struct kw_btf *btf;
		Dwarf_Die die;
		uint32_t id;

		if (!dwarf->dw->dwarf_offdie(dwarf->main.dwarf, pos, &die))
			continue;
		btf = find_at(ctx, dwarf, &die, name, KW_BTF_VARIABLE, &id);
		if (btf && kw_btf_find_variable(btf, name, ret_id))
			return btf;
	}
	return NULL;
}

static const struct kw_btf *find_variable(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					  uint64_t addr, uint32_t *ret_id)
{
	const struct kw_btf *btf;

	get_ready(dwarf);
	btf = find_by_address(ctx, dwarf, name, addr, ret_id);
	if (!btf)
		btf = find(ctx, dwarf, name, KW_BTF_VARIABLE, ret_id);
	return btf && kw_btf_find_variable(btf, name, ret_id) ? btf : NULL;
}

const struct kw_btf *kw_dwarf_find_variable(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					    uint64_t addr, uint32_t *ret_id)
{
	const struct kw_btf *btf = NULL;

	begin(dwarf);
	if (!dwarf->main.is_relocatable || kw_dwarf_variable_place(dwarf->main.elf, name, &addr))
		btf = find_variable(ctx, dwarf, name, addr, ret_id);
	return end(ctx, dwarf, btf);
}

bool kw_dwarf_made(struct kw_dwarf *dwarf, const struct kw_btf *btf)
{
	bool made = false;

	pthread_mutex_lock(&dwarf->lock);
	for (size_t i = 0; i < dwarf->units.nr && !made; i++)
		made = dwarf->units.item[i].btf == btf;
	pthread_mutex_unlock(&dwarf->lock);
	return made;
}

void kw_dwarf_offer_names(struct kw_dwarf *dwarf, enum kw_btf_class class, struct kw_nearest *nearest)
{
	begin(dwarf);
	for (size_t i = 0; i < dwarf->units.nr; i++)
		if (dwarf->units.item[i].btf)
			kw_btf_offer_names(dwarf->units.item[i].btf, class, nearest);
	guard_leave();
	pthread_mutex_unlock(&dwarf->lock);
}

void kw_dwarf_describe(struct kw_dwarf *dwarf, char *buf, size_t size)
{
	struct kw_dwarf_units units;

	begin(dwarf);
	units = kw_dwarf_file_units(&dwarf->main, SIZE_MAX);
	snprintf(buf, size, "DWARF %u of %.160s: %zu of %zu units read so far", units.version,
		 dwarf->main.path, dwarf->units.nr, units.nr);
	guard_leave();
	pthread_mutex_unlock(&dwarf->lock);
}
