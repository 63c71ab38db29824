/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The supplementary file that dwz moves what several files have in common to. Its path, and what tells it from others, stand in a
 * section: of GNU, .gnu_debugaltlink, with its build ID; or of DWARF 5, .debug_sup, which the supplementary file has as
 * well, with the same checksum but without a path:
 *
 *     version:16 = 5, is_supplementary:8, path with NUL, length of the checksum (ULEB128), checksum
 */
#include "type/debug_file.h"
#include "type/dwarf_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbols.h"
#include "util/error.h"

#define SUP_HEADER   3
#define SUP_VERSION  5
#define CHECKSUM_MAX 64 /* bytes; a length of one byte, therefore */

/* What the link says of the file. */
struct link {
	const char *section, *path;
	const uint8_t *id; /* a build ID or a checksum */
	size_t id_len;
};

/* Read a section .debug_sup; false when it is none that makes sense, or not of the kind wanted. */
static bool read_sup(Elf *elf, bool supplementary, struct link *ret)
{
	struct kw_section sup = kw_dwarf_section(elf, ".debug_sup");
	const uint8_t *end =
		sup.size > SUP_HEADER ? memchr(sup.data + SUP_HEADER, '\0', sup.size - SUP_HEADER) : NULL;
	size_t left;

	if (!end || sup.data[0] != SUP_VERSION || sup.data[1] || sup.data[2] != supplementary)
		return false;
	left = sup.size - (size_t)(end + 1 - sup.data);
	if (!left || end[1] > CHECKSUM_MAX || !end[1] || left - 1 < end[1])
		return false;
	*ret = (struct link){ ".debug_sup", (const char *)sup.data + SUP_HEADER, end + 2, end[1] };
	return true;
}

static bool has_id(Elf *elf, const struct link *link, const uint8_t *id, size_t len)
{
	struct link own;

	if (id && len == link->id_len && !memcmp(id, link->id, len))
		return true;
	return read_sup(elf, true, &own) && own.id_len == link->id_len &&
	       !memcmp(own.id, link->id, own.id_len);
}

static kw_status check_id(kw_ctx *ctx, Elf *elf, void *arg)
{
	size_t len = 0;
	const unsigned char *id = kw_elf_build_id(elf, &len);

	if (has_id(elf, arg, id, len))
		return KW_OK;
	return kw_fail(ctx, KW_INVALID, "another file than the one meant: its build ID or checksum differs");
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

/* False when the file has no link. */
static bool read_link(const struct kw_dwarf_file *file, struct link *ret)
{
	const char *path = NULL;
	const void *id = NULL;
	ssize_t len = file->dw->dwelf_dwarf_gnu_debugaltlink(file->dwarf, &path, &id);

	if (len <= 0 || !path)
		return read_sup(file->elf, false, ret) && *ret->path;
	*ret = (struct link){ ".gnu_debugaltlink", path, id, (size_t)len };
	return true;
}

kw_status kw_dwarf_file_open_alt(kw_ctx *ctx, struct kw_dwarf_file *main, struct kw_dwarf_file *ret)
{
	struct link link;
	kw_status status;

	if (!read_link(main, &link))
		return KW_OK;
	status = try_named(ctx, main, &link, ret);
	if (status != KW_OK && status != KW_NOMEM)
		status = try_installed(ctx, &link, ret);
	if (status)
		return kw_fail(ctx, status == KW_NOMEM ? status : KW_UNREADABLE,
			       "%s: its supplementary file %s (%s) can't be had: install the whole "
			       "of the debug package",
			       main->path, link.path, link.section);
	main->dw->dwarf_setalt(main->dwarf, ret->dwarf);
	return KW_OK;
}
