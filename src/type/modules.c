/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BTF of loaded modules: see the header. On the running kernel they are the files in /sys/kernel/btf.
 */
#include "type/modules.h"
#include "type/blob.h"

#include "memory/memory.h"
#include "util/array.h"
#include "util/error.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/kernel/btf"

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

struct kw_modules *kw_modules_load(kw_ctx *ctx, const struct kw_btf *kernel)
{
	struct kw_modules *modules = calloc(1, sizeof(*modules));

	if (!modules || !ctx->target->memory)
		return modules;
	if (kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE)
		load_files(ctx, modules, kernel);
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
