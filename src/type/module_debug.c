/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The DWARF of loaded modules: see the header.
 *
 * Invariant: `loaded` is final. Everything else is used with `lock` held, but for files that were opened, which have
 * locks of their own and stay until the end.
 */
#include "type/module_debug.h"
#include "type/debug_file.h"
#include "type/loaded.h"
#include "type/module_files.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbols.h"
#include "util/error.h"

#define NR_PLACES 3
#define PATH_SIZE 512

/* A folder; "": there is none. */
struct place {
	char path[PATH_SIZE];
};

struct module {
	struct kw_dwarf *dwarf; /* NULL: not opened yet, or there is none */
	bool tried;
};

struct kw_module_debug {
	struct kw_loaded_list loaded;
	struct module *module; /* of each that is loaded */
	bool has_kernel_btf;   /* then modules' BTF is used as well */
	struct place place[NR_PLACES];
	const char *folder;
	pthread_mutex_t lock;
	struct kw_module_files files;
	bool looked_for_files;
	char *refused; /* why a file was not taken */
};

/* Places */

/* Write a folder's path when there is such a folder; "" else. */
static bool set_place(struct place *place, const char *before, const char *after)
{
	bool fits = snprintf(place->path, sizeof(place->path), "%s%s", before, after) <
		    (int)sizeof(place->path);

	if (!fits || access(place->path, F_OK))
		place->path[0] = '\0';
	return place->path[0];
}

/* True when there is a place where files may lie. */
static bool find_places(kw_ctx *ctx, struct kw_module_debug *m, const char *vmlinux)
{
	const char *slash = vmlinux ? strrchr(vmlinux, '/') : NULL;
	char beside[PATH_SIZE] = "", release[256];
	struct place by_id;
	bool any = set_place(&by_id, m->folder, "/.build-id");

	if (slash)
		snprintf(beside, sizeof(beside), "%.*s", (int)(slash - vmlinux) + 1, vmlinux);
	if (vmlinux)
		any |= set_place(&m->place[0], beside, "kernel");
	if (kw_debug_file_modules(ctx, release, sizeof(release))) {
		any |= set_place(&m->place[1], m->folder, release);
		any |= set_place(&m->place[2], "", release);
	}
	return any;
}

struct kw_module_debug *kw_module_debug_new(kw_ctx *ctx, struct kw_types *types, const char *vmlinux)
{
	struct kw_module_debug *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->folder = kw_debug_folder();
	m->has_kernel_btf = kw_types_kernel(types);
	pthread_mutex_init(&m->lock, NULL);
	if (find_places(ctx, m, vmlinux) && kw_loaded_read(ctx, types, &m->loaded) &&
	    (m->module = calloc(m->loaded.nr + 1, sizeof(*m->module))))
		return m;
	kw_module_debug_free(m);
	return NULL;
}

void kw_module_debug_free(struct kw_module_debug *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->module && i < m->loaded.nr; i++)
		kw_dwarf_free(m->module[i].dwarf);
	kw_loaded_free(&m->loaded);
	kw_module_files_free(&m->files);
	free(m->module);
	free(m->refused);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* Files */

/* One attempt to open a file. */
struct attempt {
	const struct kw_loaded *loaded;
	const char *path;
};

static void put_hex(char *text, const unsigned char *id, size_t len)
{
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

static kw_status check_module(kw_ctx *ctx, Elf *elf, void *arg)
{
	const struct attempt *attempt = arg;
	const struct kw_loaded *loaded = attempt->loaded;
	char text[2 * KW_LOADED_BUILD_ID + 1] = "", wanted[2 * KW_LOADED_BUILD_ID + 1] = "";
	size_t len = 0;
	const unsigned char *id = kw_elf_build_id(elf, &len);

	if (!id || !len || len > KW_LOADED_BUILD_ID || !loaded->id_len ||
	    (len == loaded->id_len && !memcmp(id, loaded->id, len)))
		return KW_OK;
	put_hex(text, id, len);
	put_hex(wanted, loaded->id, loaded->id_len);
	if (ctx->target->force)
		return kw_remember_forced(ctx, attempt->path, loaded->name, text);
	return kw_fail(ctx, KW_INVALID,
		       "%s: belongs to another build of module %s: its build ID is %s, the loaded one's %s",
		       attempt->path, loaded->name, text, wanted);
}

/* True when there is no more to try. Why a file is refused is kept for kw_module_debug_remark(). */
static bool try_file(kw_ctx *ctx, struct kw_module_debug *m, size_t i, const char *path)
{
	struct attempt attempt = { &m->loaded.item[i], path };

	if (access(path, F_OK))
		return false;
	switch (kw_dwarf_open(ctx, path, check_module, &attempt, &m->module[i].dwarf)) {
	case KW_OK: return true;
	case KW_NOTFOUND: break; /* stripped: not worth a word */
	default:
		if (!m->refused)
			m->refused = strdup(kw_error(ctx));
	}
	kw_clear_error(ctx);
	return false;
}

static void open_module(kw_ctx *ctx, struct kw_module_debug *m, size_t i)
{
	const struct kw_loaded *loaded = &m->loaded.item[i];
	char hex[2 * KW_LOADED_BUILD_ID + 1] = "", path[PATH_SIZE];

	put_hex(hex, loaded->id, loaded->id_len);
	if (kw_debug_file_path(m->folder, hex, strlen(hex), path, sizeof(path)) && try_file(ctx, m, i, path))
		return;
	for (size_t p = 0; !m->looked_for_files && p < NR_PLACES; p++)
		if (m->place[p].path[0])
			kw_module_files_add(&m->files, m->place[p].path);
	m->looked_for_files = true;
	for (size_t f = 0; f < m->files.nr; f++)
		if (!strcmp(m->files.item[f].module, loaded->name) &&
		    try_file(ctx, m, i, m->files.item[f].path))
			return;
}

/* The file of a module, opened the first time; NULL when there is none. */
static struct kw_dwarf *file_of(kw_ctx *ctx, struct kw_module_debug *m, size_t i)
{
	struct kw_dwarf *dwarf;

	pthread_mutex_lock(&m->lock);
	if (!m->module[i].tried) {
		open_module(ctx, m, i);
		m->module[i].tried = true;
	}
	dwarf = m->module[i].dwarf;
	pthread_mutex_unlock(&m->lock);
	return dwarf;
}

/* Names */

const struct kw_btf *kw_module_debug_find(kw_ctx *ctx, struct kw_module_debug *m, const char *name,
					  enum kw_btf_class class, uint32_t *ret_id)
{
	const struct kw_btf *btf = NULL;

	for (size_t i = 0; i < m->loaded.nr && !btf; i++) {
		struct kw_dwarf *dwarf;

		if (m->has_kernel_btf && m->loaded.item[i].has_btf)
			continue;
		dwarf = file_of(ctx, m, i);
		if (dwarf)
			btf = kw_dwarf_find(ctx, dwarf, name, class, ret_id);
	}
	return btf;
}

const struct kw_btf *kw_module_debug_variable(kw_ctx *ctx, struct kw_module_debug *m, const char *module,
					      const char *name, uint32_t *ret_id)
{
	for (size_t i = 0; i < m->loaded.nr; i++) {
		struct kw_dwarf *dwarf;

		if (strcmp(m->loaded.item[i].name, module))
			continue;
		dwarf = file_of(ctx, m, i);
		return dwarf ? kw_dwarf_find_variable(ctx, dwarf, name, 0, ret_id) : NULL;
	}
	return NULL;
}

struct kw_dwarf *kw_module_debug_origin(struct kw_module_debug *m, const struct kw_btf *btf)
{
	struct kw_dwarf *dwarf = NULL;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->loaded.nr && !dwarf; i++)
		if (m->module[i].dwarf && kw_dwarf_made(m->module[i].dwarf, btf))
			dwarf = m->module[i].dwarf;
	pthread_mutex_unlock(&m->lock);
	return dwarf;
}

void kw_module_debug_offer_names(struct kw_module_debug *m, enum kw_btf_class class,
				 struct kw_nearest *nearest)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->loaded.nr; i++)
		if (m->module[i].dwarf)
			kw_dwarf_offer_names(m->module[i].dwarf, class, nearest);
	pthread_mutex_unlock(&m->lock);
}

const char *kw_module_debug_remark(struct kw_module_debug *m, char *buf, size_t size)
{
	const char *first = NULL;
	size_t missing = 0;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->loaded.nr; i++) {
		if (!m->module[i].tried || m->module[i].dwarf)
			continue;
		first = first ? first : m->loaded.item[i].name;
		missing++;
	}
	if (m->refused)
		snprintf(buf, size, "; %s", m->refused);
	else if (missing)
		snprintf(buf, size, "; %zu of %zu loaded modules have no debug file (%s%s)", missing,
			 m->loaded.nr, first, missing > 1 ? ", ..." : "");
	else
		*buf = '\0';
	pthread_mutex_unlock(&m->lock);
	return buf;
}
