/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The headers of an ELF core.
 *
 *   Elf64_Ehdr   e_phoff, e_phnum -> the program headers; from 65535 (PN_XNUM) of them on, their number is in
 *                sh_info of the first section header
 *   Elf64_Phdr   PT_LOAD: p_filesz bytes at p_offset are memory at p_vaddr and p_paddr; PT_NOTE: notes
 *   a note       three 4-byte words (name size, descriptor size, type), then name and descriptor, each padded to 4
 *
 * Every number in it may be wrong: nothing is allocated that the file is not long enough for.
 */
#include "memory/elf_core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define MAX_SEGMENTS (1U << 22)	 /* a quarter of a gigabyte of headers */
#define MAX_NOTES    (16U << 20) /* bytes; a thousand processors need one MiB */

/* QEMU's note of a processor: version, size, 18 registers, 10 segment registers of 24 bytes, then CR0 to CR4. */
#define QEMU_CR3 (2 * 4 + 18 * 8 + 10 * 24 + 3 * 8)

static const char *machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_386: return "x86";
	case EM_AARCH64: return "arm64";
	case EM_ARM: return "ARM";
	case EM_LOONGARCH: return "LoongArch";
	case EM_MIPS: return "MIPS";
	case EM_PPC64: return "POWER";
	case EM_RISCV: return "RISC-V";
	case EM_S390: return "s390";
	default: return "foreign";
	}
}

/* The machine is told in the file's own byte order. */
static unsigned int machine_of(const Elf64_Ehdr *ehdr)
{
	bool swapped = ehdr->e_ident[EI_DATA] == ELFDATA2MSB;

	return swapped ? __builtin_bswap16(ehdr->e_machine) : ehdr->e_machine;
}

static kw_status check_header(kw_ctx *ctx, const struct kw_memory *memory, const Elf64_Ehdr *ehdr)
{
	unsigned int machine = machine_of(ehdr);
	bool is_64 = ehdr->e_ident[EI_CLASS] == ELFCLASS64;

	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB && ehdr->e_ident[EI_DATA] != ELFDATA2MSB)
		return kw_fail(ctx, KW_FORMAT, "%s: the ELF header is damaged", memory->name);
	if (machine != EM_X86_64 || !is_64 || ehdr->e_ident[EI_DATA] != ELFDATA2LSB)
		return kw_fail(ctx, KW_UNSUPPORTED,
			       "%s: is %s %s ELF file; only memory of x86-64 kernels can be read",
			       memory->name, is_64 ? "a 64-bit" : "a 32-bit", machine_name(machine));
	if (ehdr->e_type == ET_EXEC || ehdr->e_type == ET_DYN || ehdr->e_type == ET_REL)
		return kw_fail(ctx, KW_UNREADABLE,
			       "%s: is %s, no dump of memory; to take symbols from it use -k %s",
			       memory->name,
			       ehdr->e_type == ET_REL ? "an object file" : "an executable or a library",
			       memory->name);
	if (ehdr->e_type != ET_CORE || (ehdr->e_phnum && ehdr->e_phentsize != sizeof(Elf64_Phdr)))
		return kw_fail(ctx, KW_FORMAT, "%s: the ELF header is damaged", memory->name);
	return KW_OK;
}

static kw_status fail_reading(kw_ctx *ctx, const struct kw_memory *memory, int err, const char *what)
{
	if (err > 0)
		return kw_fail_errno(ctx, err, "%s: %s", memory->name, what);
	return kw_fail(ctx, KW_FORMAT, "%s: the file ends before its %s: it was cut short", memory->name,
		       what);
}

static kw_status count_headers(kw_ctx *ctx, const struct kw_memory *memory, const Elf64_Ehdr *ehdr,
			       size_t *ret)
{
	Elf64_Shdr first;
	size_t nr = ehdr->e_phnum;
	int err;

	if (nr == PN_XNUM && ehdr->e_shoff) {
		err = kw_read_dump(memory, ehdr->e_shoff, &first, sizeof(first));
		if (err)
			return fail_reading(ctx, memory, err, "section header");
		nr = first.sh_info;
	}
	if (!nr)
		return kw_fail(ctx, KW_FORMAT, "%s: the ELF core has no segments; was the dump finished?",
			       memory->name);
	if (nr > memory->file_size / sizeof(Elf64_Phdr))
		return fail_reading(ctx, memory, -1, "program headers");
	if (nr > MAX_SEGMENTS)
		return kw_fail(ctx, KW_FORMAT, "%s: %zu segments are more than can be real", memory->name,
			       nr);
	*ret = nr;
	return KW_OK;
}

static kw_status read_headers(kw_ctx *ctx, const struct kw_memory *memory, uint64_t offset,
			      struct elf_core *core)
{
	int err;

	core->phdr = reallocarray(NULL, core->nr, sizeof(*core->phdr));
	if (!core->phdr)
		return kw_fail_nomem(ctx);
	err = kw_read_dump(memory, offset, core->phdr, core->nr * sizeof(*core->phdr));
	if (!err)
		return KW_OK;
	free(core->phdr);
	core->phdr = NULL;
	return fail_reading(ctx, memory, err, "program headers");
}

kw_status kw_elf_read_core(kw_ctx *ctx, const struct kw_memory *memory, struct elf_core *ret)
{
	struct elf_core core;
	Elf64_Ehdr ehdr;
	int err = kw_read_dump(memory, 0, &ehdr, sizeof(ehdr));
	kw_status status;

	if (err)
		return fail_reading(ctx, memory, err, "ELF header");
	status = check_header(ctx, memory, &ehdr);
	if (status == KW_OK)
		status = count_headers(ctx, memory, &ehdr, &core.nr);
	if (status == KW_OK)
		status = read_headers(ctx, memory, ehdr.e_phoff, &core);
	if (status == KW_OK)
		*ret = core;
	return status;
}

static bool is_named(const char *name, size_t size, const char *wanted)
{
	return size == strlen(wanted) + 1 && !memcmp(name, wanted, size);
}

static kw_status take_note(kw_ctx *ctx, struct kw_memory *memory, const Elf64_Nhdr *note, const char *name,
			   const uint8_t *desc)
{
	if (is_named(name, note->n_namesz, "VMCOREINFO") && !memory->vmcoreinfo && note->n_descsz) {
		memory->vmcoreinfo = malloc(note->n_descsz);
		if (!memory->vmcoreinfo)
			return kw_fail_nomem(ctx);
		memcpy(memory->vmcoreinfo, desc, note->n_descsz);
		memory->vmcoreinfo_len = note->n_descsz;
	} else if (is_named(name, note->n_namesz, "QEMU") && !memory->cr3 && note->n_descsz >= QEMU_CR3 + 8) {
		memcpy(&memory->cr3, desc + QEMU_CR3, sizeof(memory->cr3));
		/* The low bits are flags, or the number of an address space. */
		memory->cr3 &= 0x000ffffffffff000ULL;
	}
	return KW_OK;
}

static kw_status take_notes(kw_ctx *ctx, struct kw_memory *memory, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t desc, end;
		kw_status status;

		memcpy(&note, bytes + at, sizeof(note));
		desc = at + sizeof(note) + (((uint64_t)note.n_namesz + 3) & ~3ULL);
		end = desc + note.n_descsz;
		if (end > size)
			break;
		status = take_note(ctx, memory, &note, (const char *)bytes + at + sizeof(note), bytes + desc);
		if (status != KW_OK)
			return status;
		/* The padding of the last one may be missing. */
		end = (end + 3) & ~3ULL;
		at = end < size ? end : size;
	}
	return KW_OK;
}

kw_status kw_elf_read_notes(kw_ctx *ctx, struct kw_memory *memory, const struct elf_core *core)
{
	kw_status status = KW_OK;

	for (size_t i = 0; i < core->nr && status == KW_OK; i++) {
		const Elf64_Phdr *phdr = &core->phdr[i];
		uint8_t *bytes;

		if (phdr->p_type != PT_NOTE || phdr->p_filesz > MAX_NOTES ||
		    phdr->p_filesz > memory->file_size)
			continue;
		bytes = malloc(phdr->p_filesz + 1);
		if (!bytes)
			return kw_fail_nomem(ctx);
		if (!kw_read_dump(memory, phdr->p_offset, bytes, phdr->p_filesz))
			status = take_notes(ctx, memory, bytes, phdr->p_filesz);
		free(bytes);
	}
	return status;
}

enum kw_segment_kind kw_kind_of_address(uint64_t vaddr)
{
	if (vaddr < KERNEL_TEXT || vaddr >= 0xffffffffff000000ULL)
		return KW_SEG_OTHER;
	return vaddr < 0xffffffffc0000000ULL ? KW_SEG_TEXT : KW_SEG_MODULES;
}
