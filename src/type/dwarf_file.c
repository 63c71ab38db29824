/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file with DWARF: see the header. */
#include "type/dwarf_file.h"
#include "type/dwarf_reloc.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define PAGE		4096
#define UNITS_LOOKED_AT 64 /* to see which size offsets have; assemblers' units come among the first */

/* Find a section by name, as it is or in the older of two forms of compression. */
static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) < 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *found;

		if (!gelf_getshdr(scn, ret) || ret->sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, strings, ret->sh_name);
		if (found &&
		    (!strcmp(found, name) || (!strncmp(found, ".z", 2) && !strcmp(found + 2, name + 1))))
			return scn;
	}
	return NULL;
}

/* Have a page for oneself: written to, it is no more the file's. */
static void own_pages(uint8_t *image, size_t size, uint64_t start, uint64_t len)
{
	if (start >= size || len > size - start)
		return;
	for (uint64_t at = start & -(uint64_t)PAGE; at < start + len; at += PAGE)
		*(volatile uint8_t *)(image + at) = image[at];
}

/*
 * libelf changes the headers of sections that it unpacks: the mapping, which is guarded, is made a private one, and
 * the pages of these headers are made its own at once, so that they are not lost with the file.
 */
static bool make_private(struct kw_dwarf_file *file, uint8_t *image, size_t size)
{
	Elf64_Ehdr header;

	if (mmap(image, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file->fd, 0) == MAP_FAILED)
		return false;
	if (size >= sizeof(header)) {
		memcpy(&header, image, sizeof(header));
		own_pages(image, size, 0, sizeof(header));
		own_pages(image, size, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize);
	}
	return true;
}

static kw_status map_file(kw_ctx *ctx, struct kw_dwarf_file *file, uint8_t **ret, size_t *ret_size)
{
	struct stat st;
	int why;

	file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return kw_fail_errno(ctx, errno, "%s", file->path);
	if (!S_ISREG(st.st_mode) || st.st_size < EI_NIDENT)
		return kw_fail(ctx, KW_FORMAT, "%s: no ELF file", file->path);
	*ret = (uint8_t *)guard_map(&file->guard, file->fd, 0, (uint64_t)st.st_size, &why);
	if (!*ret)
		return kw_fail_errno(ctx, why, "%s: can't be mapped", file->path);
	if (!make_private(file, *ret, (size_t)st.st_size))
		return kw_fail_errno(ctx, errno, "%s: can't be mapped", file->path);
	*ret_size = (size_t)st.st_size;
	return KW_OK;
}

static kw_status open_elf(kw_ctx *ctx, struct kw_dwarf_file *file)
{
	uint8_t *image = NULL;
	size_t size = 0;
	kw_status status = map_file(ctx, file, &image, &size);
	GElf_Ehdr header;

	if (status)
		return status;
	elf_version(EV_CURRENT);
	file->elf = elf_memory((char *)image, size);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
		return kw_fail(ctx, KW_FORMAT, "%s: no ELF file", file->path);
	if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return kw_fail(ctx, KW_INVALID,
			       "%s: is not for x86-64; give the vmlinux of the target's kernel", file->path);
	return KW_OK;
}

struct kw_section kw_dwarf_section(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *scn = find_section(elf, name, &header);
	Elf_Data *data;

	/* Those that libdw uses it has unpacked. */
	if (scn && header.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
		scn = NULL;
	data = scn ? elf_getdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || data->d_size > UINT32_MAX)
		return (struct kw_section){ 0 };
	return (struct kw_section){ data->d_buf, data->d_size };
}

/* The headers say how long each unit is: unit_length:32 (or 0xffffffff and 64 bits), version:16, ... */
struct kw_dwarf_units kw_dwarf_file_units(const struct kw_dwarf_file *file, size_t most)
{
	const struct kw_section *info = &file->info;
	struct kw_dwarf_units units = { .offset_size = 4 };
	size_t at = 0;

	while (info->size - at >= 14 && units.nr < most) {
		size_t header = 4;
		uint16_t version;
		uint64_t len = 0;

		memcpy(&len, info->data + at, 4);
		if (len == UINT32_MAX) {
			memcpy(&len, info->data + at + 4, 8);
			header = 12;
			units.offset_size = 8;
		}
		memcpy(&version, info->data + at + header, sizeof(version));
		if (len > info->size - at - header)
			break;
		units.nr++;
		units.version = version > units.version ? version : units.version;
		at += header + len;
	}
	return units;
}

static kw_status open_dwarf(kw_ctx *ctx, struct kw_dwarf_file *file)
{
	GElf_Shdr header;

	if (!find_section(file->elf, ".debug_info", &header))
		return kw_fail(ctx, KW_NOTFOUND,
			       "%s: has no debug information (no section .debug_info: stripped)", file->path);
	file->dw = kw_libdw_load();
	if (!file->dw)
		return kw_fail(ctx, KW_UNSUPPORTED,
			       "%s: DWARF needs libdw.so.1, which is not installed (Debian: libdw1)",
			       file->path);
	file->dwarf = file->dw->dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return kw_fail(ctx, KW_FORMAT, "%s: its debug information can't be read: %s", file->path,
			       file->dw->dwarf_errmsg(-1));
	file->info = kw_dwarf_section(file->elf, ".debug_info");
	file->strings = kw_dwarf_section(file->elf, ".debug_str");
	file->names = kw_dwarf_section(file->elf, ".debug_names");
	if (!file->info.size)
		return kw_fail(ctx, KW_FORMAT, "%s: its section .debug_info can't be read", file->path);
	file->offset_size = kw_dwarf_file_units(file, UNITS_LOOKED_AT).offset_size;
	file->is_relocatable = kw_dwarf_is_relocatable(file->elf);
	return KW_OK;
}

static kw_status open_all(kw_ctx *ctx, kw_dwarf_check *check, void *arg, struct kw_dwarf_file *file)
{
	kw_status status = open_elf(ctx, file);

	if (!status && check)
		status = check(ctx, file->elf, arg);
	return status ? status : open_dwarf(ctx, file);
}

kw_status kw_dwarf_file_open(kw_ctx *ctx, const char *path, kw_dwarf_check *check, void *arg,
			     struct kw_dwarf_file *ret)
{
	kw_status status;

	*ret = (struct kw_dwarf_file){ .path = strdup(path), .fd = -1 };
	if (!ret->path)
		return kw_fail_nomem(ctx);
	guard_enter();
	status = open_all(ctx, check, arg, ret);
	guard_leave();
	if (!status && guard_faults(&ret->guard))
		status = kw_fail(ctx, KW_UNREADABLE, "%s: was cut short while it was read", path);
	return status;
}

void kw_dwarf_file_close(struct kw_dwarf_file *file)
{
	if (!file->path)
		return;
	guard_enter();
	if (file->dwarf)
		file->dw->dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
	guard_leave();
	guard_unmap_all(&file->guard);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	*file = (struct kw_dwarf_file){ .fd = -1 };
}
