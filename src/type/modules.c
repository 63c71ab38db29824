/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BTF of loaded modules: see the header.
 *
 * On the running kernel they are the files in /sys/kernel/btf. Elsewhere they lie in memory: `btf_idr` holds a
 * struct btf for every blob that the kernel knows, programs' too. A module's (since 5.11) has kernel_btf set, a
 * base_btf, and a start_id one above the last number of the kernel's own.
 *
 *     btf_idr.idr_rt.xa_head -> xa_node { shift, slots[64] } -> ... -> struct btf { data, data_size, ... }
 */
#include "type/modules.h"
#include "type/blob.h"

#include "memory/memory.h"
#include "symbol/symbols.h"
#include "util/array.h"
#include "util/error.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER	   "/sys/kernel/btf"
#define NODES_MAX  1024 /* of the XArray; each holds up to 64 blobs */
#define LEVELS_MAX 6	/* numbers have 31 bits, a level has 6 of them */
#define SLOTS_MAX  64	/* 16 in small kernels */

static void add_module(kw_ctx *ctx, struct kw_modules *modules, const struct kw_btf *kernel,
		       const struct kw_blob *blob)
{
	struct kw_btf *btf;

	if (modules->nr == KW_MODULES_MAX) {
		struct kw_blob unused = *blob;

		kw_blob_release(&unused);
		return;
	}
	if (kw_btf_open(ctx, blob->data, blob->size, blob->storage, kernel, &btf) == KW_OK &&
	    !kw_array_push(modules, btf))
		kw_btf_free(btf);
}

static void load_files(kw_ctx *ctx, struct kw_modules *modules, const struct kw_btf *kernel)
{
	DIR *dir = opendir(FOLDER);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[sizeof(FOLDER) + sizeof(entry->d_name) + 1];
		struct kw_blob blob;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "vmlinux") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", FOLDER, entry->d_name);
		if (kw_blob_from_file(ctx, path, &blob) == KW_OK)
			add_module(ctx, modules, kernel, &blob);
	}
	if (dir)
		closedir(dir);
}

/* Where things lie in the structures on the way; from the kernel's own BTF. */
struct layout {
	uint64_t head;						  /* from btf_idr */
	uint64_t shift, slots, nr_slots;			  /* in an xa_node */
	uint64_t data, data_size, base_btf, start_id, kernel_btf; /* in a struct btf */
};

/* One walk through btf_idr. */
struct walk {
	kw_ctx *ctx;
	struct kw_modules *modules;
	const struct kw_btf *kernel;
	struct layout layout;
	unsigned int nodes; /* left */
};

static bool member_at(const struct kw_btf *btf, const char *type, const char *name, uint64_t *ret_offset,
		      uint64_t *ret_size)
{
	struct kw_btf_found found;
	uint32_t id;

	if (!kw_btf_find(btf, type, KW_BTF_STRUCT, &id) || !kw_btf_find_member(btf, id, name, &found))
		return false;
	*ret_offset = found.bit_offset / 8;
	*ret_size = kw_btf_size(btf, found.member.type);
	return true;
}

static bool find_layout(const struct kw_btf *kernel, struct layout *ret)
{
	uint64_t idr_rt, xa_head, size, slots_size;

	if (!member_at(kernel, "idr", "idr_rt", &idr_rt, &size) ||
	    !member_at(kernel, "xarray", "xa_head", &xa_head, &size) ||
	    !member_at(kernel, "xa_node", "shift", &ret->shift, &size) || size != 1 ||
	    !member_at(kernel, "xa_node", "slots", &ret->slots, &slots_size) ||
	    !member_at(kernel, "btf", "data", &ret->data, &size) || size != 8 ||
	    !member_at(kernel, "btf", "data_size", &ret->data_size, &size) || size != 4 ||
	    !member_at(kernel, "btf", "base_btf", &ret->base_btf, &size) || size != 8 ||
	    !member_at(kernel, "btf", "start_id", &ret->start_id, &size) || size != 4 ||
	    !member_at(kernel, "btf", "kernel_btf", &ret->kernel_btf, &size) || size != 1)
		return false;
	ret->head = idr_rt + xa_head;
	ret->nr_slots = slots_size / 8 < SLOTS_MAX ? slots_size / 8 : SLOTS_MAX;
	return true;
}

/* A struct btf: load its blob when it is a module's. */
static void visit_btf(struct walk *w, uint64_t addr)
{
	const struct layout *at = &w->layout;
	uint64_t data, base;
	uint32_t size, start_id;
	uint8_t is_kernel;
	struct kw_blob blob;

	if (kw_read(w->ctx, addr + at->kernel_btf, &is_kernel, 1) || is_kernel != 1 ||
	    kw_read_u64(w->ctx, addr + at->base_btf, &base) || !base ||
	    kw_read_u32(w->ctx, addr + at->start_id, &start_id) || start_id != kw_btf_nr(w->kernel) + 1 ||
	    kw_read_u64(w->ctx, addr + at->data, &data) || kw_read_u32(w->ctx, addr + at->data_size, &size))
		return;
	if (kw_blob_from_memory(w->ctx, data, size, &blob) == KW_OK)
		add_module(w->ctx, w->modules, w->kernel, &blob);
}

static bool is_node(uint64_t entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

/* An entry of the XArray; above: the shift of the node it stands in, which that of a node below is less than. */
static void visit_entry(struct walk *w, uint64_t entry, unsigned int above, unsigned int depth)
{
	uint64_t slots[SLOTS_MAX];
	uint8_t shift;

	if (entry && !(entry & 3))
		visit_btf(w, entry);
	if (!is_node(entry) || !depth || !w->nodes)
		return;
	w->nodes--;
	entry -= 2;
	if (kw_read(w->ctx, entry + w->layout.shift, &shift, 1) || shift >= above ||
	    kw_read(w->ctx, entry + w->layout.slots, slots, w->layout.nr_slots * 8))
		return;
	for (uint64_t i = 0; i < w->layout.nr_slots && w->modules->nr < KW_MODULES_MAX; i++)
		visit_entry(w, slots[i], shift, depth - 1);
}

void kw_modules_walk(kw_ctx *ctx, struct kw_modules *modules, const struct kw_btf *kernel, uint64_t idr)
{
	struct walk walk = { .ctx = ctx, .modules = modules, .kernel = kernel, .nodes = NODES_MAX };
	uint64_t entry;

	if (find_layout(kernel, &walk.layout) && kw_read_u64(ctx, idr + walk.layout.head, &entry) == KW_OK)
		visit_entry(&walk, entry, UINT8_MAX, LEVELS_MAX);
}

static void load_memory(kw_ctx *ctx, struct kw_modules *modules, const struct kw_btf *kernel)
{
	struct kw_symbol_query idr = { "btf_idr", KW_NO_ADDR };

	if (kw_symbol_addresses(ctx, &idr, 1) == KW_OK && idr.addr != KW_NO_ADDR)
		kw_modules_walk(ctx, modules, kernel, idr.addr);
}

struct kw_modules *kw_modules_load(kw_ctx *ctx, const struct kw_btf *kernel)
{
	struct kw_modules *modules = calloc(1, sizeof(*modules));

	if (!modules || !ctx->target->memory)
		return modules;
	kw_pass_begin(ctx);
	if (kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE)
		load_files(ctx, modules, kernel);
	if (!modules->nr)
		load_memory(ctx, modules, kernel);
	kw_pass_end(ctx);
	kw_clear_error(ctx);
	return modules;
}

void kw_modules_free(struct kw_modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->nr; i++)
		kw_btf_free(modules->item[i]);
	free(modules->item);
	free(modules);
}
