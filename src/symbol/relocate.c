/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols as they were linked, moved to where KASLR has put the running kernel, if they are that kernel's.
 *
 * They are when the symbols that VMCOREINFO names are all moved by the same multiple of 2 MiB, and the banner lies where
 * they say.
 */
#include <string.h>

#include "memory/memory.h"
#include "symbol/origins.h"
#include "symbol/set.h"
#include "util/error.h"

#define KASLR_ALIGN 0x200000
#define BANNER	    "Linux version "

/* True unless something else than the banner is where it should be. */
static bool has_banner(kw_ctx *ctx, const struct symbol_list *list, uint64_t slide)
{
	char text[sizeof(BANNER) - 1];
	uint64_t linked;

	if (!symbol_list_find(list, "linux_banner", &linked) ||
	    kw_read(ctx, linked + slide, text, sizeof(text)) != KW_OK)
		return true;
	return !memcmp(text, BANNER, sizeof(text));
}

/* Compare every symbol that VMCOREINFO tells with the file's. */
static const char *find_difference(kw_ctx *ctx, const struct symbol_list *list, uint64_t slide)
{
	static const char *const names[] = { "swapper_pg_dir", "init_uts_ns", "node_online_map",
					     "vmap_area_list", "mem_section", "prb",
					     "clear_seq",      "node_data" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char key[64] = "SYMBOL(";
		uint64_t running, linked;

		strcat(strcat(key, names[i]), ")");
		/* Some are what a pointer of that name holds: those are not in the image. */
		if (!kw_vmcoreinfo_number(ctx, key, &running) || running < KERNEL_MAP)
			continue;
		if (symbol_list_find(list, names[i], &linked) && linked + slide != running)
			return names[i];
	}
	return has_banner(ctx, list, slide) ? NULL : "linux_banner";
}

kw_status symbol_list_relocate(kw_ctx *ctx, struct symbol_list *list, const struct kernel_identity *identity)
{
	uint64_t linked, slide;
	const char *differs;

	if (!symbol_list_find(list, "_stext", &linked))
		return kw_fail(ctx, KW_INVALID, "has no symbol _stext; is it that of a kernel?");
	slide = identity->stext - linked;
	differs = slide % KASLR_ALIGN == 0 ? find_difference(ctx, list, slide) : "_stext";
	if (differs)
		return kw_fail(
			ctx, KW_INVALID,
			"belongs to another kernel: %s lies elsewhere in the running one, %.*s; give the "
			"System.map or vmlinux of that build",
			differs, (int)identity->release_len, identity->release ? identity->release : "");
	symbol_list_slide(list, KERNEL_MAP, slide);
	return KW_OK;
}
