/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a target's DWARF comes from: see the header.
 *
 * What the user names may be of another build when that is forced; what is found must be of this one. A file that is
 * named and stripped stands for its debug file, which has the same build ID as the kernel.
 */
#include "type/debug_origin.h"
#include "type/debug_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbols.h"
#include "util/error.h"

/* One attempt to open a file. */
struct attempt {
	struct kw_dwarf *dwarf;
	const char *path;
	bool force;
};

static kw_status check(kw_ctx *ctx, Elf *elf, void *arg)
{
	const struct attempt *attempt = arg;
	GElf_Ehdr header;
	kw_status status;

	if (gelf_getehdr(elf, &header) && header.e_type == ET_REL)
		return kw_fail(ctx, KW_UNSUPPORTED,
			       "%s: not linked, as modules are; give the kernel's vmlinux", attempt->path);
	status = kw_check_build(ctx, attempt->path, elf, attempt->force);

	return status ? kw_fail_in(ctx, "%s", attempt->path) : KW_OK;
}

static kw_status try_file(kw_ctx *ctx, const char *path, void *arg)
{
	struct attempt *attempt = arg;

	attempt->path = path;
	return kw_dwarf_open(ctx, path, check, attempt, &attempt->dwarf);
}

/* What is installed, else what the servers have. */
static kw_status find_file(kw_ctx *ctx, struct attempt *attempt)
{
	kw_status status;

	attempt->force = false;
	kw_clear_error(ctx);
	status = kw_debug_file_find(ctx, try_file, attempt);
	if (status != KW_OK && status != KW_NOMEM && ctx->target->debuginfod)
		status = kw_debug_file_fetch(ctx, try_file, attempt);
	return status;
}

static kw_status no_dwarf(kw_ctx *ctx, kw_status status)
{
	size_t len = 0;
	const char *release = kw_vmcoreinfo(ctx, "OSRELEASE", &len);

	if (status == KW_NOMEM)
		return status;
	if (status == KW_NOTFOUND && !*kw_error(ctx))
		kw_fail(ctx, status, "there is no debug file of this kernel under %s", kw_debug_folder());
	return kw_fail(
		ctx, status == KW_NOTFOUND ? KW_UNREADABLE : status,
		"types: no DWARF can be found (%s); give the vmlinux with debug information of %.*s with "
		"--types (Debian: package linux-image-%.*s-dbg)",
		kw_error(ctx), release ? (int)len : 12, release ? release : "its kernel",
		release ? (int)len : 7, release ? release : "RELEASE");
}

kw_status kw_debug_origin(kw_ctx *ctx, const char *path, struct kw_dwarf **ret)
{
	struct attempt attempt = { .force = ctx->target->force };
	const char *named = path ? path : kw_symbols_vmlinux(ctx);
	kw_status status = named ? try_file(ctx, named, &attempt) : KW_NOTFOUND;
	char *stripped = NULL;

	if (status == KW_NOTFOUND) {
		stripped = named ? strdup(kw_error(ctx)) : NULL;
		status = find_file(ctx, &attempt);
		if (status == KW_NOTFOUND && stripped)
			kw_fail(ctx, status, "%s", stripped);
	}
	free(stripped);
	if (status)
		return path && status != KW_NOTFOUND ? kw_fail_in(ctx, "types") : no_dwarf(ctx, status);
	*ret = attempt.dwarf;
	return KW_OK;
}
