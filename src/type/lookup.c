/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types by name, members by name and path, enumerators by name: what <kwalk/type.h> offers, over whichever BTF blob a
 * type comes from. Types that were made once are found without touching the blob.
 */
#include "type/btf.h"
#include "type/dwarf.h"
#include "type/module_debug.h"
#include "type/origin.h"
#include "type/types.h"
#include "util/error.h"
#include "util/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE  256	    /* longest name of a type or member that is looked for */
#define INDEX_MAX  1000000u /* element of a flexible array */
#define NEAR_STEPS 4000	    /* members offered to a search for near names */

const struct kw_type kw_type_void = { .kind = KW_TYPE_VOID, .name = "void" };

static const struct kw_btf *btf_of(const struct kw_type *type)
{
	return type->origin;
}

/* Names of types */

/* "struct ", "union " or "enum " and the class it stands for. */
static const struct prefix {
	const char *word;
	enum kw_btf_class class;
} prefixes[] = {
	{ "struct", KW_BTF_STRUCT },
	{ "union", KW_BTF_UNION },
	{ "enum", KW_BTF_ENUM },
};

/* Base types as C programs write them, as GCC's and as Clang's debug information names them. */
static const char *const spellings[][3] = {
	{ "short", "short int", "short" },
	{ "unsigned short", "short unsigned int", "unsigned short" },
	{ "unsigned", "unsigned int", "unsigned int" },
	{ "long", "long int", "long" },
	{ "unsigned long", "long unsigned int", "unsigned long" },
	{ "long long", "long long int", "long long" },
	{ "unsigned long long", "long long unsigned int", "unsigned long long" },
	{ "bool", "_Bool", "_Bool" },
};

/* Copy a name with each run of blanks made one; false when it is too long or no name. */
static bool squeeze_name(const char *text, char *buf, size_t size)
{
	size_t len = 0;

	for (; *text; text++) {
		bool blank = isspace((unsigned char)*text);

		if (blank && (!len || buf[len - 1] == ' '))
			continue;
		if (len + 1 >= size)
			return false;
		buf[len++] = blank ? ' ' : *text;
	}
	if (len && buf[len - 1] == ' ')
		len--;
	buf[len] = '\0';
	return len;
}

static const char *take_prefix(const char *name, enum kw_btf_class *ret_class)
{
	*ret_class = KW_BTF_ANY;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i].word);

		if (strncmp(name, prefixes[i].word, len) == 0 && name[len] == ' ') {
			*ret_class = prefixes[i].class;
			return name + len + 1;
		}
	}
	return name;
}

/* Where a name is looked up: in a blob, in the kernel's DWARF or in that of modules. */
struct place {
	const struct kw_btf *btf;
	struct kw_dwarf *dwarf;
	struct kw_module_debug *modules;
};

static const struct kw_btf *find_name(kw_ctx *ctx, const struct place *place, const char *name,
				      enum kw_btf_class class, uint32_t *ret_id)
{
	if (place->modules)
		return kw_module_debug_find(ctx, place->modules, name, class, ret_id);
	if (place->dwarf)
		return kw_dwarf_find(ctx, place->dwarf, name, class, ret_id);
	return kw_btf_find(place->btf, name, class, ret_id) ? place->btf : NULL;
}

/* Find a name, or a base type by another spelling of it. */
static const struct kw_btf *find_in(kw_ctx *ctx, const struct place *place, const char *name,
				    enum kw_btf_class class, uint32_t *ret_id)
{
	const struct kw_btf *btf = find_name(ctx, place, name, class, ret_id);

	for (size_t i = 0; !btf && class == KW_BTF_ANY && i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const char *const *same = spellings[i];

		if (strcmp(name, same[0]) && strcmp(name, same[1]) && strcmp(name, same[2]))
			continue;
		btf = find_name(ctx, place, same[1], class, ret_id);
		return btf ? btf : find_name(ctx, place, same[2], class, ret_id);
	}
	return btf;
}

static kw_status not_found(kw_ctx *ctx, struct kw_types *types, const char *name, const char *bare,
			   enum kw_btf_class class)
{
	struct kw_module_debug *debug = kw_types_module_debug(ctx, types);
	struct kw_nearest nearest = { .want = bare };
	char text[3 * NAME_SIZE], remark[1024] = "";
	const struct kw_btf *const *modules;
	size_t nr;

	if (kw_types_kernel(types))
		kw_btf_offer_names(kw_types_kernel(types), class, &nearest);
	else
		kw_dwarf_offer_names(kw_types_from_dwarf(types), class, &nearest);
	modules = kw_types_modules(ctx, types, &nr);
	for (size_t i = 0; i < nr; i++)
		kw_btf_offer_names(modules[i], class, &nearest);
	if (debug)
		kw_module_debug_offer_names(debug, class, &nearest);
	return kw_fail(ctx, KW_NOTFOUND, "%s: the kernel has no such type%s%s", name,
		       kw_nearest_text(&nearest, text, sizeof(text)),
		       debug ? kw_module_debug_remark(debug, remark, sizeof(remark)) : "");
}

/* Find a name in the kernel's own types, then in the modules' BTF, then in their DWARF. */
static const struct kw_btf *find_anywhere(kw_ctx *ctx, struct kw_types *types, const char *name,
					  enum kw_btf_class class, uint32_t *ret_id)
{
	struct place place = { kw_types_kernel(types), kw_types_from_dwarf(types), NULL };
	const struct kw_btf *btf = find_in(ctx, &place, name, class, ret_id);
	const struct kw_btf *const *modules;
	size_t nr;

	if (btf)
		return btf;
	modules = kw_types_modules(ctx, types, &nr);
	for (size_t i = 0; i < nr && !btf; i++)
		btf = find_in(ctx, &(struct place){ .btf = modules[i] }, name, class, ret_id);
	if (!btf && (place.modules = kw_types_module_debug(ctx, types)))
		btf = find_in(ctx, &place, name, class, ret_id);
	return btf;
}

static kw_status find_type(kw_ctx *ctx, struct kw_types *types, const char *name, const struct kw_type **ret)
{
	enum kw_btf_class class;
	const char *bare = take_prefix(name, &class);
	const struct kw_type *type;
	const struct kw_btf *btf;
	uint32_t id;

	if (class == KW_BTF_ANY && strcmp(bare, "void") == 0) {
		*ret = &kw_type_void;
		return KW_OK;
	}
	kw_clear_error(ctx);
	btf = find_anywhere(ctx, types, bare, class, &id);
	if (!btf)
		return ctx->status ? ctx->status : not_found(ctx, types, name, bare, class);
	type = kw_btf_type(ctx, btf, id);
	if (!type)
		return ctx->status;
	*ret = type;
	return KW_OK;
}

kw_status kw_type_find(kw_ctx *ctx, const char *name, const struct kw_type **ret)
{
	char squeezed[NAME_SIZE];
	struct kw_types *types;
	kw_status status;

	if (strpbrk(name, "*[](){}.,;->"))
		return kw_fail(ctx, KW_INVALID, "%s: give the name of a type, without *, [] or members",
			       name);
	if (!squeeze_name(name, squeezed, sizeof(squeezed)))
		return kw_fail(ctx, KW_INVALID, "\"%.80s\" is no name of a type", name);
	types = kw_types_get(ctx);
	if (!types)
		return ctx->status;
	kw_pass_begin(ctx);
	status = find_type(ctx, types, squeezed, ret);
	kw_pass_end(ctx);
	return status;
}

bool kw_type_exists(kw_ctx *ctx, const char *name)
{
	struct kw_types *types = kw_types_get(ctx);
	enum kw_btf_class class;
	bool exists;
	uint32_t id;

	if (!types)
		return false;
	name = take_prefix(name, &class);
	kw_pass_begin(ctx);
	exists = find_anywhere(ctx, types, name, class, &id);
	kw_pass_end(ctx);
	return exists;
}

kw_status kw_structs_each(kw_ctx *ctx, void (*fn)(const char *name, void *arg), void *arg)
{
	struct kw_types *types = kw_types_get(ctx);
	const struct kw_btf *const *modules;
	size_t nr;

	if (!types)
		return ctx->status;
	kw_pass_begin(ctx);
	if (kw_types_kernel(types))
		kw_btf_each_name(kw_types_kernel(types), KW_BTF_STRUCT, fn, arg);
	modules = kw_types_modules(ctx, types, &nr);
	for (size_t i = 0; i < nr; i++)
		kw_btf_each_name(modules[i], KW_BTF_STRUCT, fn, arg);
	kw_pass_end(ctx);
	return KW_OK;
}

/* From type to type */

/* Find what a unit of DWARF only declares: first in the module that the unit is of, if it is of one. */
static const struct kw_btf *find_definition(kw_ctx *ctx, struct kw_types *types,
					    const struct kw_type *declared, uint32_t *ret_id)
{
	bool is_union = kw_btf_forward_is_union(btf_of(declared), declared->id);
	enum kw_btf_class class = is_union ? KW_BTF_UNION : KW_BTF_STRUCT;
	struct kw_dwarf *own = kw_types_module_origin(types, btf_of(declared));
	struct place place = { kw_types_kernel(types), kw_types_from_dwarf(types), NULL };
	const struct kw_btf *btf = NULL;

	if (!declared->name[0] || (!own && !place.dwarf))
		return NULL;
	if (own)
		btf = kw_dwarf_find(ctx, own, declared->name, class, ret_id);
	if (!btf)
		btf = find_name(ctx, &place, declared->name, class, ret_id);
	if (!btf && (place.modules = kw_types_module_debug(ctx, types)))
		btf = find_name(ctx, &place, declared->name, class, ret_id);
	return btf;
}

/* What one unit of DWARF only declares, another one defines; in the kernel's BTF the two are one. */
static const struct kw_type *definition_of(kw_ctx *ctx, const struct kw_type *declared)
{
	struct kw_types *types = ctx->target->types; /* open: what is declared came out of them */
	const struct kw_type *type = NULL;
	const struct kw_btf *btf;
	uint32_t id;

	kw_pass_begin(ctx);
	btf = types ? find_definition(ctx, types, declared, &id) : NULL;
	if (btf)
		type = kw_btf_type(ctx, btf, id);
	kw_pass_end(ctx);
	return type ? type : declared;
}

const struct kw_type *kw_type_target(kw_ctx *ctx, const struct kw_type *type)
{
	const struct kw_type *target;

	switch (type->kind) {
	case KW_TYPE_POINTER:
	case KW_TYPE_ARRAY:
	case KW_TYPE_TYPEDEF:
	case KW_TYPE_QUALIFIER:
	case KW_TYPE_FUNCTION: target = kw_btf_type(ctx, btf_of(type), type->target); break;
	default: return &kw_type_void;
	}
	return target ? target : &kw_type_void;
}

const struct kw_type *kw_type_strip(kw_ctx *ctx, const struct kw_type *type)
{
	for (int depth = 0; depth < KW_TYPE_DEPTH; depth++) {
		if (type->kind == KW_TYPE_FORWARD)
			return definition_of(ctx, type);
		if (type->kind != KW_TYPE_TYPEDEF && type->kind != KW_TYPE_QUALIFIER)
			return type;
		type = kw_type_target(ctx, type);
	}
	kw_fail(ctx, KW_FORMAT, "BTF: more than %d typedefs behind one another", KW_TYPE_DEPTH);
	return &kw_type_void;
}

uint64_t kw_type_size(kw_ctx *ctx, const struct kw_type *type)
{
	uint64_t size;

	if (type->kind == KW_TYPE_FORWARD)
		return kw_type_strip(ctx, type)->size;
	if (type->kind != KW_TYPE_TYPEDEF && type->kind != KW_TYPE_QUALIFIER)
		return type->size;
	kw_pass_begin(ctx);
	size = kw_btf_size(btf_of(type), type->id);
	kw_pass_end(ctx);
	/* What is only declared there may be defined elsewhere. */
	return size ? size : kw_type_strip(ctx, type)->size;
}

/* Members */

static kw_status fill_member(kw_ctx *ctx, const struct kw_btf *btf, const struct kw_btf_member *raw,
			     uint32_t owner, uint64_t bit_offset, struct kw_member *ret)
{
	struct kw_member member = {
		.name = raw->name,
		.type = kw_btf_type(ctx, btf, raw->type),
		.owner = kw_btf_type(ctx, btf, owner),
		.bit_offset = bit_offset,
		.bit_size = raw->bit_size,
	};

	if (!member.type || !member.owner)
		return kw_fail_in(ctx, "member %s", raw->name);
	*ret = member;
	return KW_OK;
}

static bool is_compound(const struct kw_type *type)
{
	return type->kind == KW_TYPE_STRUCT || type->kind == KW_TYPE_UNION;
}

static kw_status no_compound(kw_ctx *ctx, const struct kw_type *type)
{
	char name[NAME_SIZE];

	kw_type_name(ctx, type, name, sizeof(name));
	return kw_fail(ctx, KW_INVALID, "%s is no structure or union: it has no members", name);
}

kw_status kw_type_member_at(kw_ctx *ctx, const struct kw_type *type, uint32_t i, struct kw_member *ret)
{
	struct kw_btf_member raw;
	kw_status status;

	type = kw_type_strip(ctx, type);
	if (!is_compound(type))
		return no_compound(ctx, type);
	kw_pass_begin(ctx);
	status = kw_btf_member(ctx, btf_of(type), type->id, i, &raw);
	if (!status)
		status = fill_member(ctx, btf_of(type), &raw, type->id, raw.bit_offset, ret);
	kw_pass_end(ctx);
	return status;
}

/* Offer the names of a structure's members, also of anonymous ones. */
static void offer_members(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, struct kw_nearest *nearest,
			  unsigned int depth, unsigned int *steps)
{
	uint32_t count;

	if (!kw_btf_compound(btf, id, &id, &count))
		return;
	for (uint32_t i = 0; i < count && *steps; i++) {
		struct kw_btf_member raw;

		--*steps;
		if (kw_btf_member(ctx, btf, id, i, &raw))
			return;
		if (raw.name[0])
			kw_nearest_offer(nearest, raw.name);
		else if (depth)
			offer_members(ctx, btf, raw.type, nearest, depth - 1, steps);
	}
}

static kw_status no_member(kw_ctx *ctx, const struct kw_type *type, const char *name)
{
	struct kw_nearest nearest = { .want = name };
	unsigned int steps = NEAR_STEPS;
	char type_name[NAME_SIZE], text[3 * NAME_SIZE];

	offer_members(ctx, btf_of(type), type->id, &nearest, KW_TYPE_NESTING, &steps);
	kw_type_name(ctx, type, type_name, sizeof(type_name));
	return kw_fail(ctx, KW_NOTFOUND, "%s has no member %s%s", type_name, name,
		       kw_nearest_text(&nearest, text, sizeof(text)));
}

kw_status kw_type_member(kw_ctx *ctx, const struct kw_type *type, const char *name, struct kw_member *ret)
{
	struct kw_btf_found found;
	kw_status status;

	type = kw_type_strip(ctx, type);
	if (!is_compound(type))
		return no_compound(ctx, type);
	kw_pass_begin(ctx);
	if (kw_btf_find_member(btf_of(type), type->id, name, &found))
		status = fill_member(ctx, btf_of(type), &found.member, found.owner, found.bit_offset, ret);
	else
		status = no_member(ctx, type, name);
	kw_pass_end(ctx);
	return status;
}

/* Paths of members */

/* Move a member to element `index` of it. */
static kw_status enter_element(kw_ctx *ctx, struct kw_member *member, uint64_t index)
{
	const struct kw_type *array = kw_type_strip(ctx, member->type);
	uint64_t bits;

	if (array->kind != KW_TYPE_ARRAY)
		return kw_fail(ctx, KW_INVALID, "%s is no array", member->name);
	if (array->count ? index >= array->count : index > INDEX_MAX)
		return kw_fail(ctx, KW_INVALID, "%s has %u elements: there is no [%llu]", member->name,
			       array->count, (unsigned long long)index);
	member->type = kw_type_target(ctx, array);
	if (__builtin_mul_overflow(kw_type_size(ctx, member->type), index, &bits) ||
	    __builtin_mul_overflow(bits, 8, &bits) ||
	    __builtin_add_overflow(member->bit_offset, bits, &member->bit_offset))
		return kw_fail(ctx, KW_FORMAT, "%s[%llu] lies beyond all memory", member->name,
			       (unsigned long long)index);
	return KW_OK;
}

/* Move a member to the member `name` of it. */
static kw_status enter_member(kw_ctx *ctx, struct kw_member *member, const char *name)
{
	struct kw_member inner;
	kw_status status;

	if (kw_type_strip(ctx, member->type)->kind == KW_TYPE_POINTER)
		return kw_fail(ctx, KW_INVALID, "%s is a pointer, and an offset goes through none",
			       member->name);
	status = kw_type_member(ctx, member->type, name, &inner);
	if (status)
		return status;
	if (__builtin_add_overflow(inner.bit_offset, member->bit_offset, &inner.bit_offset))
		return kw_fail(ctx, KW_FORMAT, "%s lies beyond all memory", name);
	*member = inner;
	return KW_OK;
}

/* Take "[12]" or a name, with the dot before it, from *path; KW_INVALID when it is neither. */
static kw_status enter_step(kw_ctx *ctx, struct kw_member *member, const char **path, bool first)
{
	char name[NAME_SIZE], *end;
	size_t len;

	if (**path == '[') {
		uint64_t index = strtoull(*path + 1, &end, 0);

		if (!isdigit((unsigned char)(*path)[1]) || *end != ']')
			return kw_fail(ctx, KW_INVALID, "expected [NUMBER] at \"%s\"", *path);
		*path = end + 1;
		return enter_element(ctx, member, index);
	}
	if (!first && *(*path)++ != '.')
		return kw_fail(ctx, KW_INVALID, "expected . or [ at \"%s\"", *path - 1);
	len = strcspn(*path, ".[");
	if (!len || len >= sizeof(name))
		return kw_fail(ctx, KW_INVALID, "expected the name of a member at \"%s\"", *path);
	memcpy(name, *path, len);
	name[len] = '\0';
	*path += len;
	return enter_member(ctx, member, name);
}

kw_status kw_type_offset(kw_ctx *ctx, const char *type, const char *path, struct kw_member *ret)
{
	struct kw_member member = { .name = type };
	const char *rest = path;
	kw_status status = kw_type_find(ctx, type, &member.type);

	if (status)
		return status;
	member.owner = member.type;
	do {
		status = enter_step(ctx, &member, &rest, rest == path);
	} while (!status && *rest);
	if (status)
		return kw_fail_in(ctx, "%s, %s", type, path);
	*ret = member;
	return KW_OK;
}

/* Enumerators */

kw_status kw_enumerator_at(kw_ctx *ctx, const struct kw_type *type, uint32_t i, const char **ret_name,
			   int64_t *ret_value)
{
	kw_status status;

	type = kw_type_strip(ctx, type);
	if (type->kind != KW_TYPE_ENUM)
		return kw_fail(ctx, KW_INVALID, "%s is no enum", type->name);
	kw_pass_begin(ctx);
	status = kw_btf_enumerator(ctx, btf_of(type), type->id, i, ret_name, ret_value);
	kw_pass_end(ctx);
	return status;
}

static kw_status find_value(kw_ctx *ctx, const struct kw_type *type, const char *enum_name, const char *name,
			    int64_t *ret)
{
	struct kw_nearest nearest = { .want = name };
	char text[3 * NAME_SIZE];
	const char *found;
	int64_t value;

	for (uint32_t i = 0; i < type->count; i++) {
		kw_status status = kw_btf_enumerator(ctx, btf_of(type), type->id, i, &found, &value);

		if (status)
			return status;
		if (strcmp(found, name) == 0) {
			*ret = value;
			return KW_OK;
		}
		kw_nearest_offer(&nearest, found);
	}
	return kw_fail(ctx, KW_NOTFOUND, "%s has no %s%s", enum_name, name,
		       kw_nearest_text(&nearest, text, sizeof(text)));
}

/* A bare name is most often that of an enum of the kernel, which is found sooner as such than among all kinds. */
static kw_status find_enum(kw_ctx *ctx, const char *name, const struct kw_type **ret)
{
	struct kw_types *types = kw_types_get(ctx);
	const struct kw_btf *kernel = types ? kw_types_kernel(types) : NULL;
	const struct kw_type *type = NULL;
	uint32_t id;

	kw_pass_begin(ctx);
	if (kernel && kw_btf_find(kernel, name, KW_BTF_ENUM, &id))
		type = kw_btf_type(ctx, kernel, id);
	kw_pass_end(ctx);
	if (!type)
		return kw_type_find(ctx, name, ret);
	*ret = type;
	return KW_OK;
}

kw_status kw_enum_value(kw_ctx *ctx, const char *enum_name, const char *name, int64_t *ret)
{
	const struct kw_type *type;
	kw_status status = find_enum(ctx, enum_name, &type);

	if (status)
		return status;
	type = kw_type_strip(ctx, type);
	if (type->kind != KW_TYPE_ENUM)
		return kw_fail(ctx, KW_INVALID, "%s is no enum", enum_name);
	kw_pass_begin(ctx);
	status = find_value(ctx, type, enum_name, name, ret);
	kw_pass_end(ctx);
	return status;
}
