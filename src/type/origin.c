/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the types come from: see the header.
 *
 * For the running kernel the order is its own file, then its memory; for all others memory first (by symbol), then
 * the -k vmlinux, then memory again, searched for what looks like BTF. Without any BTF it is DWARF (debug_origin.c).
 *
 * Invariant: target->types is set once, under a lock, after everything in it but the modules is final. That no types
 * could be found is kept too, so that not every lookup searches again.
 */
#include "type/origin.h"
#include "type/blob.h"
#include "type/debug_origin.h"
#include "type/module_debug.h"
#include "type/modules.h"

#include "memory/memory.h"
#include "symbol/symbols.h"
#include "util/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL_FILE "/sys/kernel/btf/vmlinux"

struct kw_types {
	struct kw_btf *kernel;	    /* NULL: none was found, or DWARF is used */
	struct kw_dwarf *dwarf;	    /* without `kernel` the origin of types, else of what it lacks; atomic */
	bool looked_for_dwarf;	    /* atomic */
	struct kw_modules *modules; /* atomic; NULL: not looked for yet */
	struct kw_module_debug *module_debug;
	bool looked_for_module_debug; /* atomic */
	kw_status status;	      /* why there is none */
	char *message;
	char description[256];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* What a way of finding the kernel's blob has come to. */
struct found {
	struct kw_btf *btf;
	const char *use; /* how its bytes are used */
	char how[160];	 /* where they lie */
};

static kw_status open_blob(kw_ctx *ctx, const struct kw_blob *blob, struct found *ret)
{
	static const char *const uses[] = {
		[KW_BTF_IN_PLACE] = "used in place",
		[KW_BTF_MALLOCED] = "copied",
		[KW_BTF_MAPPED] = "copied or mapped",
	};

	ret->use = uses[blob->storage];
	return kw_btf_open(ctx, blob->data, blob->size, blob->storage, NULL, &ret->btf);
}

static kw_status from_file(kw_ctx *ctx, struct found *ret)
{
	struct kw_blob blob;
	kw_status status;

	if (kw_memory_kind(ctx->target->memory) != KW_SOURCE_LIVE)
		return KW_NOTFOUND;
	snprintf(ret->how, sizeof(ret->how), "%s", KERNEL_FILE);
	status = kw_blob_from_file(ctx, KERNEL_FILE, &blob);
	return status ? status : open_blob(ctx, &blob, ret);
}

static kw_status from_symbols(kw_ctx *ctx, struct found *ret)
{
	struct kw_symbol_query query[] = { { "__start_BTF", KW_NO_ADDR }, { "__stop_BTF", KW_NO_ADDR } };
	kw_status status = kw_symbol_addresses(ctx, query, 2);
	struct kw_blob blob;

	if (status) {
		snprintf(ret->how, sizeof(ret->how), "symbols");
		return status == KW_NOMEM ? status : KW_UNREADABLE;
	}
	if (query[0].addr == KW_NO_ADDR || query[1].addr == KW_NO_ADDR || query[1].addr < query[0].addr)
		return KW_NOTFOUND;
	snprintf(ret->how, sizeof(ret->how), "memory at __start_BTF");
	status = kw_blob_from_memory(ctx, query[0].addr, query[1].addr - query[0].addr, &blob);
	return status ? status : open_blob(ctx, &blob, ret);
}

static kw_status from_vmlinux(kw_ctx *ctx, struct found *ret)
{
	const char *path = kw_symbols_vmlinux(ctx);
	struct kw_blob blob;
	kw_status status;

	if (!path)
		return KW_NOTFOUND;
	snprintf(ret->how, sizeof(ret->how), "section .BTF of %s", path);
	status = kw_blob_from_elf(ctx, path, &blob);
	return status ? status : open_blob(ctx, &blob, ret);
}

/* Programs have BTF, too; only a kernel's knows tasks. */
static bool accept_kernel(kw_ctx *ctx, const struct kw_blob *blob, uint64_t addr, void *arg)
{
	struct found *found = arg;
	uint32_t id;

	snprintf(found->how, sizeof(found->how), "memory at 0x%llx, found by its shape",
		 (unsigned long long)addr);
	if (open_blob(ctx, blob, found))
		return false;
	if (kw_btf_find(found->btf, "task_struct", KW_BTF_STRUCT, &id))
		return true;
	kw_btf_free(found->btf);
	found->btf = NULL;
	return false;
}

static kw_status from_search(kw_ctx *ctx, struct found *ret)
{
	kw_status status = kw_blob_search(ctx, accept_kernel, ret);

	/* That nothing was found where nothing need be is no damage to speak of. */
	if (status)
		ret->how[0] = '\0';
	return status;
}

static kw_status find_kernel(kw_ctx *ctx, struct kw_types *types)
{
	static kw_status (*const ways[])(kw_ctx *, struct found *) = { from_file, from_symbols, from_vmlinux,
								       from_search };
	double begun = milliseconds();
	kw_status worst = KW_UNREADABLE;
	char damage[512] = "";

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct found found = { 0 };
		kw_status status = ways[i](ctx, &found);

		if (!status) {
			types->kernel = found.btf;
			snprintf(types->description, sizeof(types->description),
				 "BTF from %s: %u types, %s, %.1f ms", found.how, kw_btf_nr(found.btf),
				 found.use, milliseconds() - begun);
			kw_clear_error(ctx);
			return KW_OK;
		}
		if (status == KW_NOMEM)
			return status;
		if (!found.how[0] || damage[0])
			continue;
		worst = status;
		snprintf(damage, sizeof(damage), " (%s: %s)", found.how, kw_error(ctx));
	}
	return kw_fail(
		ctx, worst,
		"types: no BTF can be found%s; pass the kernel's vmlinux, with its .BTF section or debug "
		"information, with -k",
		damage);
}

static kw_status find_any(kw_ctx *ctx, struct kw_types *types)
{
	kw_status status = find_kernel(ctx, types);
	char *message;

	if (status == KW_OK || status == KW_NOMEM)
		return status;
	message = strdup(kw_error(ctx));
	if (!message)
		return kw_fail_nomem(ctx);
	types->looked_for_dwarf = true;
	if (kw_debug_origin(ctx, NULL, &types->dwarf) == KW_OK) {
		kw_clear_error(ctx);
		status = KW_OK;
	} else {
		kw_fail(ctx, status, "%s", message);
	}
	free(message);
	return status;
}

static struct kw_types *open_types(kw_ctx *ctx)
{
	struct kw_types *types = calloc(1, sizeof(*types));

	if (!types) {
		kw_fail_nomem(ctx);
		return NULL;
	}
	kw_pass_begin(ctx);
	types->status = find_any(ctx, types);
	kw_pass_end(ctx);
	if (types->status)
		types->message = strdup(kw_error(ctx));
	return types;
}

struct kw_types *kw_types_get(kw_ctx *ctx)
{
	struct kw_types *types;

	if (!ctx->target) {
		kw_fail(ctx, KW_INVALID, "types: nothing is open");
		return NULL;
	}
	types = __atomic_load_n(&ctx->target->types, __ATOMIC_ACQUIRE);
	if (!types) {
		pthread_mutex_lock(&lock);
		types = ctx->target->types;
		if (!types) {
			types = open_types(ctx);
			__atomic_store_n(&ctx->target->types, types, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&lock);
	}
	if (types && types->status) {
		kw_fail(ctx, types->status, "%s", types->message ? types->message : "types: none");
		return NULL;
	}
	return types;
}

const struct kw_btf *kw_types_kernel(const struct kw_types *types)
{
	return types->kernel;
}

struct kw_dwarf *kw_types_from_dwarf(const struct kw_types *types)
{
	return types->kernel ? NULL : types->dwarf;
}

struct kw_dwarf *kw_types_dwarf(kw_ctx *ctx, struct kw_types *types)
{
	if (__atomic_load_n(&types->looked_for_dwarf, __ATOMIC_ACQUIRE))
		return types->dwarf;
	pthread_mutex_lock(&lock);
	if (!types->looked_for_dwarf) {
		if (kw_debug_origin(ctx, NULL, &types->dwarf))
			kw_clear_error(ctx);
		__atomic_store_n(&types->looked_for_dwarf, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return types->dwarf;
}

kw_status kw_types_open(kw_ctx *ctx, const char *from)
{
	struct kw_types *types = calloc(1, sizeof(*types));
	kw_status status;

	if (!types)
		return kw_fail_nomem(ctx);
	types->looked_for_dwarf = true;
	types->looked_for_module_debug = strcmp(from, "btf") == 0;
	kw_pass_begin(ctx);
	if (strcmp(from, "btf") == 0)
		status = find_kernel(ctx, types);
	else
		status = kw_debug_origin(ctx, strcmp(from, "dwarf") ? from : NULL, &types->dwarf);
	kw_pass_end(ctx);
	if (status) {
		kw_types_free(types);
		return status;
	}
	ctx->target->types = types;
	return KW_OK;
}

const struct kw_btf *const *kw_types_modules(kw_ctx *ctx, struct kw_types *types, size_t *ret_nr)
{
	struct kw_modules *modules = __atomic_load_n(&types->modules, __ATOMIC_ACQUIRE);

	if (!modules && types->kernel) {
		pthread_mutex_lock(&lock);
		modules = types->modules;
		if (!modules) {
			modules = kw_modules_load(ctx, types->kernel);
			__atomic_store_n(&types->modules, modules, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&lock);
	}
	*ret_nr = modules ? modules->nr : 0;
	return modules ? (const struct kw_btf *const *)modules->item : NULL;
}

/* The kernel's file with debug information, where one is given or in use. */
static const char *vmlinux_of(kw_ctx *ctx, const struct kw_types *types)
{
	return types->dwarf ? kw_dwarf_path(types->dwarf) : kw_symbols_vmlinux(ctx);
}

struct kw_module_debug *kw_types_module_debug(kw_ctx *ctx, struct kw_types *types)
{
	if (__atomic_load_n(&types->looked_for_module_debug, __ATOMIC_ACQUIRE) || !ctx->target->memory)
		return types->module_debug;
	pthread_mutex_lock(&lock);
	if (!types->looked_for_module_debug) {
		types->module_debug = kw_module_debug_new(ctx, types, vmlinux_of(ctx, types));
		__atomic_store_n(&types->looked_for_module_debug, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return types->module_debug;
}

struct kw_dwarf *kw_types_module_origin(struct kw_types *types, const struct kw_btf *btf)
{
	bool known = __atomic_load_n(&types->looked_for_module_debug, __ATOMIC_ACQUIRE);

	return known && types->module_debug ? kw_module_debug_origin(types->module_debug, btf) : NULL;
}

void kw_types_free(struct kw_types *types)
{
	if (!types)
		return;
	kw_module_debug_free(types->module_debug);
	kw_modules_free(types->modules);
	kw_btf_free(types->kernel);
	kw_dwarf_free(types->dwarf);
	free(types->message);
	free(types);
}

const char *kw_types_description(kw_ctx *ctx)
{
	struct kw_types *types = kw_types_get(ctx);

	if (!types)
		return NULL;
	if (!types->kernel)
		kw_dwarf_describe(types->dwarf, types->description, sizeof(types->description));
	return types->description;
}

kw_status kw_types_take_dwarf(kw_ctx *ctx, const char *path)
{
	struct kw_types *types = calloc(1, sizeof(*types));
	kw_status status;

	if (!types)
		return kw_fail_nomem(ctx);
	types->looked_for_dwarf = types->looked_for_module_debug = true;
	status = kw_dwarf_open(ctx, path, NULL, NULL, &types->dwarf);
	if (status)
		free(types);
	else
		ctx->target->types = types;
	return status;
}

kw_status kw_types_take(kw_ctx *ctx, const void *data, size_t size)
{
	struct kw_types *types = calloc(1, sizeof(*types));
	void *copy = malloc(size ? size : 1);
	kw_status status;

	if (!types || !copy) {
		free(types);
		free(copy);
		return kw_fail_nomem(ctx);
	}
	memcpy(copy, data, size);
	status = kw_btf_open(ctx, copy, size, KW_BTF_MALLOCED, NULL, &types->kernel);
	if (status) {
		free(types);
		return status;
	}
	snprintf(types->description, sizeof(types->description), "BTF given: %u types",
		 kw_btf_nr(types->kernel));
	ctx->target->types = types;
	return KW_OK;
}
