/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BTF blobs: open one, then name, size and print each type in it, look for members and enumerators. The first byte
 * says where to split the input into a base and a blob that goes on after it; 0: it is one blob.
 */
#include <kwalk/output.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "type/btf.h"
#include "type/origin.h"
#include "type/types.h"

#define TYPES_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct kw_btf *open_blob(kw_ctx *ctx, const uint8_t *data, size_t size, const struct kw_btf *base)
{
	struct kw_btf *btf;
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	return kw_btf_open(ctx, copy, size, KW_BTF_MALLOCED, base, &btf) ? NULL : btf;
}

static void use_type(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, FILE *out)
{
	const struct kw_type *type = kw_btf_type(ctx, btf, id);
	struct kw_member member;
	char name[256];

	kw_btf_size(btf, id);
	if (!type)
		return;
	kw_type_name(ctx, type, name, sizeof(name));
	kw_type_strip(ctx, type);
	kw_type_target(ctx, type);
	kw_type_member(ctx, type, "next", &member);
	if (out)
		kw_print_type(ctx, out, type);
}

static void use_blob(kw_ctx *ctx, const struct kw_btf *btf, uint32_t first, FILE *out)
{
	uint32_t id;

	for (id = 0; id <= kw_btf_nr(btf) && id < TYPES_MAX; id++)
		use_type(ctx, btf, first + id, id == kw_btf_nr(btf) / 2 ? out : NULL);
	kw_btf_find(btf, "a", KW_BTF_ANY, &id);
	kw_btf_find(btf, "task_struct", KW_BTF_STRUCT, &id);
}

/* By name, as users do. */
static void use_names(kw_ctx *ctx, const uint8_t *data, size_t size)
{
	const struct kw_type *type;
	struct kw_member member;
	int64_t value;

	if (kw_types_take(ctx, data, size))
		return;
	kw_type_find(ctx, "tsak_struct", &type);
	kw_type_offset(ctx, "task_struct", "a[1].b.next", &member);
	kw_enum_value(ctx, "enum e", "A", &value);
	kw_types_free(ctx->target->types);
	ctx->target->types = NULL;
}

/*
 * Printing a type takes a hundred times as long as all else, so one input in sixteen does it: chosen by all of its bytes,
 * for what is made from one that prints should rarely print again.
 */
static bool is_for_printing(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619;
	return (hash ^ hash >> 16) % 16 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kw_target target = { 0 };
	kw_ctx ctx = { .target = &target };
	struct kw_btf *base, *split = NULL;
	static FILE *out;
	bool prints;
	size_t cut;

	if (!size)
		return 0;
	prints = is_for_printing(data, size);
	if (!out)
		out = fopen("/dev/null", "w");
	cut = data[0] && data[0] < size ? (size_t)data[0] * (size - 1) / 255 : size - 1;
	base = open_blob(&ctx, data + 1, cut, NULL);
	if (base && cut < size - 1)
		split = open_blob(&ctx, data + 1 + cut, size - 1 - cut, base);
	if (base)
		use_blob(&ctx, base, 0, prints ? out : NULL);
	if (split)
		use_blob(&ctx, split, kw_btf_nr(base), prints ? out : NULL);
	use_names(&ctx, data + 1, size - 1);
	kw_btf_free(split);
	kw_btf_free(base);
	free(ctx.message);
	return 0;
}
