/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding the kernel in a memory of which nothing is known.
 *
 * Where the source carries VMCOREINFO, that tells everything. Else the page table that the kernel keeps in the first
 * MiB leads to the image and to the direct map, and a pointer in the image to VMCOREINFO. Only where that fails every
 * page is looked at. A VMCOREINFO is taken when the page table it names maps the kernel where it says, so that what an
 * earlier kernel has left in memory is passed over.
 *
 * A big RAM image may have to be laid out in several ways until its page tables can be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/image.h"
#include "symbol/origins.h"
#include "symbol/search.h"
#include "symbol/set.h"
#include "symbol/vmcoreinfo.h"
#include "util/error.h"

/* What is known so far. */
struct location {
	struct table_root root;
	struct kernel_image image;
	uint64_t direct_map; /* KW_NO_ADDR: not known */
};

static uint64_t phys_base_of(const struct kernel_image *image)
{
	return image->paddr - (image->vaddr - KERNEL_MAP);
}

static kw_status keep_vmcoreinfo(kw_ctx *ctx, const char *text, size_t len)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	char *copy = malloc(len + 1);

	if (!copy)
		return kw_fail_nomem(ctx);
	memcpy(copy, text, len);
	copy[len] = '\0';
	free(symbols->vmcoreinfo);
	symbols->vmcoreinfo = copy;
	symbols->vmcoreinfo_len = len;
	return KW_OK;
}

/* The page table that a VMCOREINFO names; false when it does not say where. */
static bool root_of(const char *text, size_t len, struct table_root *ret, uint64_t *ret_phys_base)
{
	uint64_t five = 0, mask = 0, table;

	if (!vmcoreinfo_number(text, len, "NUMBER(phys_base)", ret_phys_base) ||
	    !vmcoreinfo_number(text, len, "SYMBOL(swapper_pg_dir)", &table))
		return false;
	vmcoreinfo_number(text, len, "NUMBER(pgtable_l5_enabled)", &five);
	vmcoreinfo_number(text, len, "NUMBER(sme_mask)", &mask);
	ret->pgd = table - KERNEL_MAP + *ret_phys_base;
	ret->levels = five == 1 ? 5 : 4;
	ret->sme_mask = mask;
	return true;
}

/* True when the page table that a text names maps the kernel where it says. */
static bool agrees(kw_ctx *ctx, const char *text, size_t len, struct location *ret)
{
	struct location found = { .direct_map = KW_NO_ADDR };
	uint64_t phys_base, stext;

	if (!root_of(text, len, &found.root, &phys_base) ||
	    image_find(ctx, &found.root, &found.image) != KW_OK || phys_base_of(&found.image) != phys_base ||
	    !vmcoreinfo_number(text, len, "SYMBOL(_stext)", &stext) ||
	    stext - found.image.vaddr >= found.image.size)
		return false;
	*ret = found;
	return true;
}

static bool accept(kw_ctx *ctx, const char *text, size_t len, void *arg)
{
	struct location *location = arg, found;

	if (!agrees(ctx, text, len, &found))
		return false;
	/* The page table in the first MiB is that of the last kernel that was started. */
	if (location->image.size && found.image.paddr != location->image.paddr)
		return false;
	location->root = found.root;
	location->image = found.image;
	return keep_vmcoreinfo(ctx, text, len) == KW_OK;
}

static kw_status search_vmcoreinfo(kw_ctx *ctx, struct location *location)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	const char *how = "found by the kernel's pointer to it";
	uint64_t paddr;
	kw_status status = KW_NOTFOUND;

	if (location->direct_map != KW_NO_ADDR)
		status = search_by_pointer(ctx, &location->image, location->direct_map, accept, location,
					   &paddr);
	if (status == KW_NOTFOUND) {
		how = "found by looking at all pages";
		status = search_everywhere(ctx, accept, location, &paddr);
	}
	if (status == KW_OK)
		snprintf(symbols->vmcoreinfo_origin, sizeof(symbols->vmcoreinfo_origin),
			 "memory, at physical address 0x%llx, %s", (unsigned long long)paddr, how);
	return status;
}

/* Look for the kernel in the layout of the moment; the direct map shows whether that is right. */
static bool look(kw_ctx *ctx, struct location *ret)
{
	ret->direct_map = KW_NO_ADDR;
	if (image_find_trampoline(ctx, &ret->root, &ret->image) != KW_OK)
		return false;
	image_find_direct_map(ctx, &ret->root, &ret->direct_map);
	return true;
}

static struct kw_kernel_map map_of(const struct location *location)
{
	return (struct kw_kernel_map){
		.phys_base = phys_base_of(&location->image),
		.image_start = location->image.vaddr,
		.image_size = location->image.size,
		.pgd = location->root.pgd,
		.levels = location->root.levels,
		.sme_mask = location->root.sme_mask,
	};
}

/* Try the layouts of a RAM image until the kernel's tables can be followed, then let the direct map decide. */
static kw_status look_in_layouts(kw_ctx *ctx, struct location *ret)
{
	struct kw_memory *memory = ctx->target->memory;
	uint64_t splits[8];
	size_t nr = 0;
	bool found = false;
	struct kw_kernel_map map;
	kw_status status = KW_OK;

	/* What is set changes what is a candidate, so that all are asked for first. */
	while (nr < sizeof(splits) / sizeof(*splits) &&
	       kw_memory_hole_candidate(memory, nr, &splits[nr]) == KW_OK)
		nr++;
	if (nr < 2)
		return look(ctx, ret) ? KW_OK : KW_NOTFOUND;
	for (size_t i = 0; i < nr && status == KW_OK && !(found && ret->direct_map != KW_NO_ADDR); i++) {
		status = kw_memory_set_hole(ctx, splits[i]);
		found = status == KW_OK && look(ctx, ret);
	}
	if (status != KW_OK || !found)
		return status == KW_OK ? KW_NOTFOUND : status;
	map = map_of(ret);
	status = kw_memory_fit_hole(ctx, &map, ret->direct_map);
	if (status == KW_OK && !look(ctx, ret))
		status = KW_NOTFOUND;
	return status;
}

/* Without a page table to start from: every text in memory, in every layout. */
static kw_status search_in_layouts(kw_ctx *ctx, struct location *ret)
{
	struct kw_memory *memory = ctx->target->memory;
	uint64_t splits[8];
	size_t nr = 0;
	struct kw_kernel_map map;
	kw_status status = KW_NOTFOUND;

	while (nr < sizeof(splits) / sizeof(*splits) &&
	       kw_memory_hole_candidate(memory, nr, &splits[nr]) == KW_OK)
		nr++;
	if (nr < 2)
		return search_vmcoreinfo(ctx, ret);
	for (size_t i = 0; i < nr && status == KW_NOTFOUND; i++) {
		status = kw_memory_set_hole(ctx, splits[i]);
		if (status == KW_OK)
			status = search_vmcoreinfo(ctx, ret);
	}
	if (status != KW_OK)
		return status;
	image_find_direct_map(ctx, &ret->root, &ret->direct_map);
	map = map_of(ret);
	return kw_memory_fit_hole(ctx, &map, ret->direct_map);
}

static kw_status find_in_memory(kw_ctx *ctx, struct location *ret)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	kw_status status = look_in_layouts(ctx, ret);

	if (status == KW_NOTFOUND) {
		memset(ret, 0, sizeof(*ret));
		ret->direct_map = KW_NO_ADDR;
		status = search_in_layouts(ctx, ret);
	} else if (status == KW_OK) {
		status = search_vmcoreinfo(ctx, ret);
		if (status == KW_NOTFOUND) {
			snprintf(symbols->vmcoreinfo_origin, sizeof(symbols->vmcoreinfo_origin),
				 "none in memory; kernel found by its page table in the first MiB");
			status = KW_OK;
		}
	}
	if (status == KW_NOTFOUND)
		return kw_fail(
			ctx, KW_UNREADABLE,
			"%s: no Linux kernel in this memory: no VMCOREINFO, and no page table of a kernel in "
			"the first MiB; it must be the whole RAM or a dump of an x86-64 Linux, and a dump of a "
			"kernel with encrypted memory can't be read",
			kw_memory_name(ctx->target->memory));
	return status;
}

/* Take the word of the note for it where the page table is not in the file. */
static kw_status use_note(kw_ctx *ctx, const char *text, size_t len, struct location *ret)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	struct kw_memory *memory = ctx->target->memory;
	uint64_t phys_base;

	snprintf(symbols->vmcoreinfo_origin, sizeof(symbols->vmcoreinfo_origin),
		 "the file's VMCOREINFO note");
	if (keep_vmcoreinfo(ctx, text, len) != KW_OK)
		return KW_NOMEM;
	if (agrees(ctx, text, len, ret))
		return KW_OK;
	memset(ret, 0, sizeof(*ret));
	ret->direct_map = KW_NO_ADDR;
	if (!kw_memory_has_virtual(memory))
		return kw_fail(ctx, KW_FORMAT,
			       "%s: the kernel's page table is not where the VMCOREINFO note says; %s",
			       kw_memory_name(memory),
			       kw_memory_trouble(memory) ? kw_memory_trouble(memory)
							 : "the dump is damaged, or cut short");
	root_of(text, len, &ret->root, &phys_base);
	ret->root.pgd = 0;
	ret->image.vaddr = KERNEL_MAP;
	ret->image.paddr = phys_base;
	return KW_OK;
}

static kw_status tell_memory(kw_ctx *ctx, const struct location *location)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	uint64_t base = location->direct_map;
	kw_status status;

	symbols->map = map_of(location);
	symbols->data = location->image.data;
	status = kw_memory_set_kernel(ctx, &symbols->map);
	if (status != KW_OK || !location->root.pgd)
		return status;
	/* The kernel's own table rather than the trampoline's, which may lack what was added later. */
	if (image_find_direct_map(ctx, &location->root, &base) != KW_OK && base == KW_NO_ADDR)
		return kw_memory_has_virtual(ctx->target->memory)
			       ? KW_OK
			       : kw_fail(ctx, KW_FORMAT, "%s: the kernel's page table has no direct map",
					 kw_memory_name(ctx->target->memory));
	return kw_memory_set_direct_map(ctx, base);
}

static kw_status open_file(kw_ctx *ctx, const char *path)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	struct kernel_identity identity = { .stext = symbols->map.image_start, .force = ctx->target->force };
	bool is_elf = is_elf_file(path);
	kw_status status;

	identity.build_id = kw_vmcoreinfo(ctx, "BUILD-ID", &identity.build_id_len);
	identity.release = kw_vmcoreinfo(ctx, "OSRELEASE", &identity.release_len);
	kw_vmcoreinfo_number(ctx, "SYMBOL(_stext)", &identity.stext);
	status = is_elf ? elf_symtab_open(ctx, path, &identity, &symbols->list)
			: system_map_open(ctx, path, &identity, &symbols->list);
	/* What is forced may have all symbols elsewhere: then it has types to give, and no addresses. */
	if (status != KW_OK && !(status == KW_INVALID && ctx->target->forced))
		return status;
	symbols->file = strdup(path);
	if (!symbols->file)
		return kw_fail_nomem(ctx);
	symbols->is_vmlinux = is_elf;
	if (status != KW_OK) {
		kw_clear_error(ctx);
		return KW_OK;
	}
	symbols->origin = is_elf ? KW_SYMBOLS_ELF : KW_SYMBOLS_SYSTEM_MAP;
	symbols->looked = true;
	return KW_OK;
}

kw_status kw_kernel_locate(kw_ctx *ctx, const struct kw_open_options *opts)
{
	struct location location = { .direct_map = KW_NO_ADDR };
	size_t len;
	const char *note = kw_memory_vmcoreinfo(ctx->target->memory, &len);
	kw_status status = kw_symbols_new(ctx);

	if (status != KW_OK || (opts && opts->memory_only))
		return status;
	if (note)
		len = vmcoreinfo_length(note, len);
	kw_pass_begin(ctx);
	if (note && vmcoreinfo_is_valid(note, len))
		status = use_note(ctx, note, len, &location);
	else
		status = find_in_memory(ctx, &location);
	if (status == KW_OK)
		status = tell_memory(ctx, &location);
	if (status == KW_OK && opts && opts->symbols)
		status = open_file(ctx, opts->symbols);
	kw_pass_end(ctx);
	return status;
}
