/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The headers of an ELF core: shared by dumps and /proc/kcore. */
#ifndef MEMORY_ELF_CORE_H
#define MEMORY_ELF_CORE_H

#include <elf.h>

#include "memory/source.h"

/* The program headers of an ELF core. */
struct elf_core {
	Elf64_Phdr *phdr;
	size_t nr;
};

/**
 * Read the file's ELF header, say what is wrong with it for us, and read its program headers.
 *
 * @param ret  on success the caller frees ret->phdr
 */
kw_status kw_elf_read_core(kw_ctx *ctx, const struct kw_memory *memory, struct elf_core *ret);

/**
 * Take from the core's notes what we need: VMCOREINFO, and CR3 of QEMU's first processor. A damaged note ends the
 * search without an error: notes are a convenience, and the rest of the dump may be whole.
 */
kw_status kw_elf_read_notes(kw_ctx *ctx, struct kw_memory *memory, const struct elf_core *core);

/** Return the kind that an x86-64 kernel address tells by itself; KW_SEG_OTHER below the kernel image. */
enum kw_segment_kind kw_kind_of_address(uint64_t vaddr);

#endif
