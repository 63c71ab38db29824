/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The supplementary file that dwz moves what several files have in common to. Its path and build ID stand in the section
 * .gnu_debugaltlink.
 */
#include "type/debug_file.h"
#include "type/dwarf_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbols.h"
#include "util/error.h"

/* What the link says of the file. */
struct link {
	const char *path;
	const uint8_t *id;
	size_t id_len;
};

static kw_status check_id(kw_ctx *ctx, Elf *elf, void *arg)
{
	const struct link *link = arg;
	size_t len = 0;
	const unsigned char *id = kw_elf_build_id(elf, &len);

	if (len == link->id_len && id && !memcmp(id, link->id, len))
		return KW_OK;
	return kw_fail(ctx, KW_INVALID, "another file than the one meant: its build ID differs");
}

/* Open the file at a path, when there is one; else *ret stays closed. */
static kw_status try_path(kw_ctx *ctx, const char *path, struct link *link, struct kw_dwarf_file *ret)
{
	kw_status status;

	if (access(path, F_OK))
		return KW_NOTFOUND;
	status = kw_dwarf_file_open(ctx, path, check_id, link, ret);
	if (status)
		kw_dwarf_file_close(ret);
	return status;
}

/* A relative path counts from where the file with the link lies. */
static kw_status try_named(kw_ctx *ctx, const struct kw_dwarf_file *main, struct link *link,
			   struct kw_dwarf_file *ret)
{
	const char *slash = strrchr(main->path, '/');
	char path[4096];

	if (link->path[0] == '/' || !slash)
		return try_path(ctx, link->path, link, ret);
	if (snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - main->path), main->path, link->path) >=
	    (int)sizeof(path))
		return KW_NOTFOUND;
	return try_path(ctx, path, link, ret);
}

static kw_status try_installed(kw_ctx *ctx, struct link *link, struct kw_dwarf_file *ret)
{
	char hex[129] = "", path[512];

	for (size_t i = 0; i < link->id_len && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", link->id[i]);
	if (!kw_debug_file_path(kw_debug_folder(), hex, strlen(hex), path, sizeof(path)))
		return KW_NOTFOUND;
	return try_path(ctx, path, link, ret);
}

kw_status kw_dwarf_file_open_alt(kw_ctx *ctx, struct kw_dwarf_file *main, struct kw_dwarf_file *ret)
{
	struct link link = { 0 };
	const void *id = NULL;
	ssize_t len = main->dw->dwelf_dwarf_gnu_debugaltlink(main->dwarf, &link.path, &id);
	kw_status status;

	if (len <= 0 || !link.path)
		return KW_OK;
	link.id = id;
	link.id_len = (size_t)len;
	status = try_named(ctx, main, &link, ret);
	if (status != KW_OK && status != KW_NOMEM)
		status = try_installed(ctx, &link, ret);
	if (status)
		return kw_fail(
			ctx, status == KW_NOMEM ? status : KW_UNREADABLE,
			"%s: its supplementary file %s (.gnu_debugaltlink) can't be had: install the whole "
			"of the debug package",
			main->path, link.path);
	main->dw->dwarf_setalt(main->dwarf, ret->dwarf);
	return KW_OK;
}
