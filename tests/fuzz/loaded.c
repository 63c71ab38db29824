/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of modules, for which debug files are looked for, in memory that is changed where the input says. It may not crash,
 * nor go on for ever; what is found fits.
 *
 * Input: a byte, whose lowest bit chooses how the notes of a module are kept, then changes (fixtures/changes.h).
 */
#include <kwalk/kwalk.h>

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/c_types.h"
#include "fixtures/changes.h"
#include "type/loaded.h"
#include "util/context.h"

#define MODULES 3
#define AREA	8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
	"struct bin_attribute { unsigned long name, size, private; };"
	"struct module_notes_attrs { unsigned long dir; unsigned int notes; struct bin_attribute attrs[2]; };"
	"struct module { unsigned int state; struct list_head list; char name[56]; unsigned int btf_data_size;"
	" struct module_notes_attrs *notes_attrs; };",
	/* since 6.14 */
	"struct bin_attribute { unsigned long name, size, private; };"
	"struct attribute_group { unsigned long name, attrs; struct bin_attribute **bin_attrs; };"
	"struct module_notes_attrs { unsigned long dir; struct attribute_group grp; struct bin_attribute attrs[2]; };"
	"struct module { unsigned int state; struct list_head list; char name[56]; unsigned int btf_data_size;"
	" struct module_notes_attrs *notes_attrs; };",
};

static struct fuzzed {
	struct kernel_image *kernel;
	struct changed part;
	kw_ctx *ctx;
} kernels[2];

static void require(bool truth)
{
	if (!truth)
		abort();
}

static uint64_t size_of(const struct kernel_image *k, const char *type)
{
	return c_type_size(c_types_find(kernel_types(k), type));
}

struct notes {
	Elf64_Nhdr other;
	char xen[4];
	uint32_t nothing;
	Elf64_Nhdr build_id;
	char gnu[4];
	uint8_t id[20];
};

/* A note with a build ID behind one without. */
static uint64_t make_notes(struct kernel_image *k, uint8_t id)
{
	struct notes notes = { { 4, 4, 7 }, "Xen", 1, { 4, 20, NT_GNU_BUILD_ID }, "GNU", { id } };
	uint64_t at = kernel_alloc(k, sizeof(notes), 8);

	kernel_write(k, at, &notes, sizeof(notes));
	return at;
}

static uint64_t make_attrs(struct kernel_image *k, bool is_new, uint8_t id)
{
	uint64_t attrs = kernel_alloc(k, size_of(k, "module_notes_attrs"), 8);
	uint64_t attr = kernel_at(k, attrs, "module_notes_attrs.attrs");

	kernel_set(k, attr, "bin_attribute.size", sizeof(struct notes));
	kernel_set(k, attr, "bin_attribute.private", make_notes(k, id));
	if (is_new) {
		uint64_t pointers[2] = { attr, 0 }, at = kernel_alloc(k, sizeof(pointers), 8);

		kernel_write(k, at, pointers, sizeof(pointers));
		kernel_set(k, attrs, "module_notes_attrs.grp.bin_attrs", at);
	} else {
		kernel_set(k, attrs, "module_notes_attrs.notes", 1);
	}
	return attrs;
}

static void make_modules(struct kernel_image *k, bool is_new)
{
	uint64_t head = kernel_symbol(k, "modules"), before = head;

	for (uint8_t i = 0; i < MODULES; i++) {
		uint64_t module = kernel_alloc(k, size_of(k, "module"), 8);
		char name[] = { 'm', (char)('0' + i) };

		kernel_write(k, kernel_at(k, module, "module.name"), name, sizeof(name));
		kernel_set(k, module, "module.btf_data_size", i);
		kernel_set(k, module, "module.notes_attrs", make_attrs(k, is_new, i));
		module = kernel_at(k, module, "module.list");
		kernel_write(k, before, &module, sizeof(module));
		before = module;
	}
	kernel_write(k, before, &head, sizeof(head));
}

static void prepare(struct fuzzed *f, bool is_new)
{
	const struct kw_type *type;
	uint64_t area;

	f->kernel = kernel_new(&(struct kernel_config){
		.types = types[is_new], .variables = "modules 16\n", .tasks = "1 a\n" });
	area = kernel_alloc(f->kernel, 8, 4096);
	make_modules(f->kernel, is_new);
	require(kernel_alloc(f->kernel, 8, 8) < area + AREA);
	kernel_alloc(f->kernel, AREA, 4096);
	f->part = changed_part(f->kernel, area, area + AREA);
	require(kernel_open(f->kernel, KERNEL_RAM_LIVE, &f->ctx) == KW_OK);
	/* The first that is asked for opens them. */
	require(kw_type_find(f->ctx, "struct module", &type) == KW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kw_loaded_list list;
	struct fuzzed *f;

	if (!size || size > 1 + CHANGE_BYTES * CHANGES_MAX)
		return 0;
	f = &kernels[data[0] & 1];
	if (!f->kernel)
		prepare(f, data[0] & 1);
	changed_make(&f->part, data + 1, size - 1);
	require(kw_loaded_read(f->ctx, f->ctx->target->types, &list));
	/* A list that goes round is noticed within twice the length of the round. */
	require(list.nr <= AREA / 8 * 3 && (size > CHANGE_BYTES || list.nr == MODULES));
	for (size_t i = 0; i < list.nr; i++) {
		const struct kw_loaded *loaded = &list.item[i];

		require(*loaded->name && strnlen(loaded->name, KW_LOADED_NAME) < KW_LOADED_NAME);
		require(loaded->id_len <= KW_LOADED_BUILD_ID &&
			(size > CHANGE_BYTES || loaded->id_len == 20));
	}
	kw_loaded_free(&list);
	changed_undo(&f->part);
	return 0;
}
