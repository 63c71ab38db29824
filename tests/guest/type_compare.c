/*
 * Compares the types of a target from its BTF with those from its vmlinux's DWARF, member by member:
 *
 *     type_compare TARGET VMLINUX all|NUMBER [NAME...]
 *     type_compare --modules VMLINUX MODULE.ko...
 *
 * of all named structures, unions, enums and typedefs in the BTF of the kernel and its modules, or of the named ones and
 * then the first NUMBER of each; or those of files of modules, which have both; "?NAME" is one that there need not be. Prints a line for each that differs, and at the end "N types, N members, N differ; ...".
 *
 * A name may have several definitions, in files that do not know of each other; DWARF's must be one of those in BTF.
 */
#include <kwalk/kwalk.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "type/blob.h"
#include "type/btf.h"
#include "type/origin.h"
#include "type/types.h"
#include "util/context.h"

#define NESTING 16

static struct {
	unsigned long types, members, several, flattened, differ;
} sum;

/* One side of the comparison. */
struct side {
	kw_ctx *ctx;
	const struct kw_type *type;
};

/* What differs first; the name of the type is put before it. */
static char difference[1024];

static bool __attribute__((format(printf, 1, 2))) differs(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(difference, sizeof(difference), fmt, args);
	va_end(args);
	return false;
}

/* Make one dimension of those in a name: "int[4][2]" becomes "int[8]", "int[][2]" "int[]", as pahole writes arrays of arrays in BTF. */
static bool flatten(char *name)
{
	char *begin = strchr(name, '['), *at = begin, rest[256], number[32] = "";
	unsigned long product = 1;
	int nr = 0;

	for (; at && *at == '['; at = strchr(at, ']') + 1, nr++)
		product *= strtoul(at + 1, NULL, 10);
	if (nr < 2)
		return false;
	snprintf(rest, sizeof(rest), "%s", at);
	if (product)
		snprintf(number, sizeof(number), "%lu", product);
	snprintf(begin, 256 - (size_t)(begin - name), "[%s]%s", number, rest);
	return true;
}

static bool same_name(const struct side *a, const struct side *b, const char *of)
{
	char name_a[256], name_b[256];

	kw_type_name(a->ctx, a->type, name_a, sizeof(name_a));
	kw_type_name(b->ctx, b->type, name_b, sizeof(name_b));
	if (!strcmp(name_a, name_b))
		return true;
	if (flatten(name_b) && !strcmp(name_a, name_b)) {
		sum.flattened++;
		return true;
	}
	return differs("%s: \"%s\" in BTF, \"%s\" in DWARF", of, name_a, name_b);
}

/* What a member's type is made of, down to where a name stands for it. */
static struct side core_of(const struct side *side)
{
	struct side at = *side;

	for (int steps = 0; steps < 64; steps++) {
		if (at.type->kind != KW_TYPE_ARRAY && at.type->kind != KW_TYPE_POINTER &&
		    at.type->kind != KW_TYPE_QUALIFIER)
			break;
		at.type = kw_type_target(at.ctx, at.type);
	}
	return at;
}

static bool same(const struct side *a, const struct side *b, int depth);

static bool same_member(const struct side *a, const struct side *b, uint32_t i, int depth)
{
	struct kw_member member_a, member_b;
	struct side type_a, type_b;

	if (kw_type_member_at(a->ctx, a->type, i, &member_a) ||
	    kw_type_member_at(b->ctx, b->type, i, &member_b))
		return differs("member %u can't be had: %s / %s", i, kw_error(a->ctx), kw_error(b->ctx));
	sum.members++;
	if (strcmp(member_a.name, member_b.name))
		return differs("member %u: %s in BTF, %s in DWARF", i, member_a.name, member_b.name);
	if (member_a.bit_offset != member_b.bit_offset || member_a.bit_size != member_b.bit_size)
		return differs("%s: bit %llu, %u bits in BTF; %llu, %u in DWARF", member_a.name,
			       (unsigned long long)member_a.bit_offset, member_a.bit_size,
			       (unsigned long long)member_b.bit_offset, member_b.bit_size);
	type_a = (struct side){ a->ctx, member_a.type };
	type_b = (struct side){ b->ctx, member_b.type };
	if (kw_type_size(a->ctx, member_a.type) != kw_type_size(b->ctx, member_b.type))
		return differs("%s: %llu bytes in BTF, %llu in DWARF", member_a.name,
			       (unsigned long long)kw_type_size(a->ctx, member_a.type),
			       (unsigned long long)kw_type_size(b->ctx, member_b.type));
	if (!same_name(&type_a, &type_b, member_a.name))
		return false;
	type_a = core_of(&type_a);
	type_b = core_of(&type_b);
	/* What has no name of its own is part of this one. */
	return type_a.type->name[0] || depth == 0 || same(&type_a, &type_b, depth - 1);
}

static bool same_enumerator(const struct side *a, const struct side *b, uint32_t i)
{
	const char *name_a, *name_b;
	int64_t value_a, value_b;

	if (kw_enumerator_at(a->ctx, a->type, i, &name_a, &value_a) ||
	    kw_enumerator_at(b->ctx, b->type, i, &name_b, &value_b))
		return differs("enumerator %u can't be had", i);
	sum.members++;
	return (!strcmp(name_a, name_b) && value_a == value_b) ||
	       differs("%s = %lld in BTF, %s = %lld in DWARF", name_a, (long long)value_a, name_b,
		       (long long)value_b);
}

static bool same(const struct side *a, const struct side *b, int depth)
{
	bool is_enum = a->type->kind == KW_TYPE_ENUM;

	if (a->type->kind != b->type->kind ||
	    kw_type_size(a->ctx, a->type) != kw_type_size(b->ctx, b->type) ||
	    a->type->count != b->type->count)
		return differs("kind %d, %llu bytes, %u parts in BTF; kind %d, %llu, %u in DWARF",
			       a->type->kind, (unsigned long long)kw_type_size(a->ctx, a->type),
			       a->type->count, b->type->kind,
			       (unsigned long long)kw_type_size(b->ctx, b->type), b->type->count);
	if (a->type->kind == KW_TYPE_TYPEDEF) {
		struct side target_a = { a->ctx, kw_type_target(a->ctx, a->type) };
		struct side target_b = { b->ctx, kw_type_target(b->ctx, b->type) };

		return same_name(&target_a, &target_b, "typedef") &&
		       (target_a.type->name[0] || !depth || same(&target_a, &target_b, depth - 1));
	}
	if (!is_enum && a->type->kind != KW_TYPE_STRUCT && a->type->kind != KW_TYPE_UNION)
		return true;
	for (uint32_t i = 0; i < a->type->count; i++)
		if (is_enum ? !same_enumerator(a, b, i) : !same_member(a, b, i, depth))
			return false;
	return true;
}

static enum kw_btf_class class_of(const struct kw_type *type)
{
	switch (type->kind) {
	case KW_TYPE_STRUCT: return KW_BTF_STRUCT;
	case KW_TYPE_UNION: return KW_BTF_UNION;
	case KW_TYPE_ENUM: return KW_BTF_ENUM;
	default: return KW_BTF_ANY;
	}
}

static const char *prefix_of(const struct kw_type *type)
{
	switch (type->kind) {
	case KW_TYPE_STRUCT: return "struct ";
	case KW_TYPE_UNION: return "union ";
	case KW_TYPE_ENUM: return "enum ";
	default: return "";
	}
}

/* Compare DWARF's type with the others of that name in the kernel's BTF, and in the blob that the type is from. */
static bool is_another(const struct side *btf, const struct side *dwarf)
{
	const struct kw_btf *kernel = kw_types_kernel(kw_types_get(btf->ctx)), *own = btf->type->origin;
	uint32_t nr = kw_btf_nr(kernel) + (own == kernel ? 0 : kw_btf_nr(own));

	for (uint32_t id = 1; id <= nr; id++) {
		struct side other = { btf->ctx, kw_btf_type(btf->ctx, own, id) };

		if (other.type && other.type != btf->type && other.type->kind == btf->type->kind &&
		    !strcmp(other.type->name, btf->type->name) && same(&other, dwarf, NESTING))
			return true;
	}
	return false;
}

static void compare_with(const struct side *btf, kw_ctx *dwarf, const char *name)
{
	struct side a = *btf, b = { dwarf, NULL };
	char first[sizeof(difference)];

	sum.types++;
	if (kw_type_find(dwarf, name, &b.type)) {
		/* An enum that no file defines is known by its name alone. */
		if (a.type->kind == KW_TYPE_ENUM && !a.type->count)
			return;
		printf("%s: not in DWARF: %s\n", name, kw_error(dwarf));
	} else if (same(&a, &b, NESTING)) {
		return;
	} else {
		memcpy(first, difference, sizeof(first));
		if (is_another(&a, &b)) {
			sum.several++;
			return;
		}
		printf("%s: %s\n", name, first);
	}
	sum.differ++;
}

static void compare(kw_ctx *btf, kw_ctx *dwarf, const char *name)
{
	struct side a = { btf, NULL };
	bool optional = *name == '?';

	name += optional;
	if (optional && !kw_type_exists(btf, name))
		return;
	if (kw_type_find(btf, name, &a.type) == KW_OK) {
		compare_with(&a, dwarf, name);
		return;
	}
	printf("%s: not in BTF: %s\n", name, kw_error(btf));
	sum.types++;
	sum.differ++;
}

/* Compare a blob's own types, whose numbers begin behind those of its base. */
static void compare_blob(kw_ctx *btf, kw_ctx *dwarf, const struct kw_btf *blob, uint32_t base,
			 unsigned long most)
{
	unsigned long done = 0;

	for (uint32_t i = 1; i <= kw_btf_nr(blob) && done < most; i++) {
		const struct kw_type *type = kw_btf_type(btf, blob, base + i);
		char name[300];
		uint32_t first;

		if (!type || !type->name[0] || (!*prefix_of(type) && type->kind != KW_TYPE_TYPEDEF))
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix_of(type), type->name);
		/* What another of that name hides is not asked for. */
		if (!kw_btf_find(blob, type->name, class_of(type), &first) || first != base + i)
			continue;
		compare_with(&(struct side){ btf, type }, dwarf, name);
		done++;
	}
}

static void compare_first(kw_ctx *btf, kw_ctx *dwarf, unsigned long most)
{
	struct kw_types *types = kw_types_get(btf);
	const struct kw_btf *kernel = kw_types_kernel(types), *const * modules;
	size_t nr;

	compare_blob(btf, dwarf, kernel, 0, most);
	modules = kw_types_modules(btf, types, &nr);
	for (size_t i = 0; i < nr; i++)
		compare_blob(btf, dwarf, modules[i], kw_btf_nr(kernel), most);
}

/* Files of modules */

static bool compare_module(kw_ctx *btf, const char *path)
{
	const struct kw_btf *kernel = kw_types_kernel(kw_types_get(btf));
	struct kw_target target = { 0 };
	kw_ctx dwarf = { .target = &target };
	struct kw_blob blob;
	struct kw_btf *own;

	if (kw_blob_from_elf(btf, path, &blob) ||
	    kw_btf_open(btf, blob.data, blob.size, blob.storage, kernel, &own)) {
		printf("%s\n", kw_error(btf));
		return false;
	}
	if (kw_types_take_dwarf(&dwarf, path)) {
		printf("%s\n", kw_error(&dwarf));
		return false;
	}
	compare_blob(btf, &dwarf, own, kw_btf_nr(kernel), -1ul);
	kw_types_free(target.types);
	kw_btf_free(own);
	free(dwarf.message);
	return true;
}

static int compare_modules(const char *vmlinux, int nr, char **paths)
{
	struct kw_target target = { 0 };
	kw_ctx btf = { .target = &target };
	struct kw_blob blob;
	bool complete = true;

	if (kw_blob_from_elf(&btf, vmlinux, &blob) || kw_types_take(&btf, blob.data, blob.size)) {
		fprintf(stderr, "type_compare: %s\n", kw_error(&btf));
		return 2;
	}
	kw_blob_release(&blob);
	for (int i = 0; i < nr; i++)
		complete &= compare_module(&btf, paths[i]);
	kw_types_free(target.types);
	free(btf.message);
	return !complete;
}

static kw_ctx *open_target(const char *target, const char *types)
{
	struct kw_open_options opts = { .size = sizeof(opts), .types = types };
	kw_ctx *ctx = kw_new();

	if (!ctx || kw_open(ctx, target, &opts)) {
		fprintf(stderr, "type_compare: %s\n", ctx ? kw_error(ctx) : "out of memory");
		exit(2);
	}
	return ctx;
}

static int finish(int code)
{
	printf("%lu types, %lu members, %lu differ; %lu are another of their name, %lu arrays have one dimension in BTF\n",
	       sum.types, sum.members, sum.differ, sum.several, sum.flattened);
	return code ? code : sum.differ != 0;
}

int main(int argc, char **argv)
{
	kw_ctx *btf, *dwarf;

	if (argc < 4) {
		fprintf(stderr, "usage: type_compare TARGET VMLINUX all|NUMBER [NAME...]\n"
				"       type_compare --modules VMLINUX MODULE.ko...\n");
		return 2;
	}
	if (!strcmp(argv[1], "--modules"))
		return finish(compare_modules(argv[2], argc - 3, argv + 3));
	btf = open_target(argv[1], "btf");
	dwarf = open_target(argv[1], argv[2]);
	for (int i = 4; i < argc; i++)
		compare(btf, dwarf, argv[i]);
	compare_first(btf, dwarf, strcmp(argv[3], "all") ? strtoul(argv[3], NULL, 10) : -1ul);
	kw_free(btf);
	kw_free(dwarf);
	return finish(0);
}
