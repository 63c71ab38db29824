/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and addresses: VMCOREINFO, kallsyms (from memory or /proc/kallsyms), System.map, ELF symbol tables.
 *
 * Order of opening: kw_kernel_locate() finds VMCOREINFO and tells the memory room where the kernel lies; the symbol
 * table itself is only found and decoded when the first symbol is asked for.
 *
 * Uses util and memory.
 */
#ifndef SYMBOL_SYMBOLS_H
#define SYMBOL_SYMBOLS_H

#include <libelf.h>

#include <kwalk/symbol.h>
#include <kwalk/target.h>

#include "util/context.h"

/** Where the symbols came from. */
enum kw_symbol_origin {
	KW_SYMBOLS_NONE,
	KW_SYMBOLS_KALLSYMS_MEMORY,
	KW_SYMBOLS_PROC_KALLSYMS,
	KW_SYMBOLS_SYSTEM_MAP,
	KW_SYMBOLS_ELF,
};

/**
 * Find the kernel in the target's memory: VMCOREINFO, KASLR offset, physical base, page table, direct map.
 *
 * Fills ctx->target->symbols and calls kw_memory_set_kernel() and kw_memory_set_direct_map().
 *
 * @param opts  its `symbols` file, if given, is checked against the target's build ID or banner
 * @return KW_OK; KW_UNREADABLE when no kernel can be found, the message naming what to pass with -k
 */
kw_status kw_kernel_locate(kw_ctx *ctx, const struct kw_open_options *opts);

/** Free a symbol set. NULL is accepted. */
void kw_symbols_free(struct kw_symbols *symbols);

/**
 * Look up a VMCOREINFO value as text: the part after "KEY=", not NUL-terminated.
 *
 * @param key  e.g. "OSRELEASE", "NUMBER(phys_base)", "SYMBOL(swapper_pg_dir)"
 * @return NULL when there is none
 */
const char *kw_vmcoreinfo(kw_ctx *ctx, const char *key, size_t *ret_len);

/** Look up a VMCOREINFO number: decimal (may be negative), hexadecimal for ADDRESS, SYMBOL, KERNELOFFSET. */
bool kw_vmcoreinfo_number(kw_ctx *ctx, const char *key, uint64_t *ret);

/** Where symbols come from (finds the table when that has not happened yet). */
enum kw_symbol_origin kw_symbols_origin(kw_ctx *ctx);

/** Text for kwalk info: how VMCOREINFO was found; how many symbols, from where. Static or as long as the target. */
const char *kw_vmcoreinfo_origin(kw_ctx *ctx);
const char *kw_symbols_description(kw_ctx *ctx);

/**
 * Check that an ELF file belongs to the target's kernel, by its build ID where both are known.
 *
 * @param force  let a file of another build pass, and remember it for kw_forced()
 * @return KW_OK; KW_INVALID without the path in the message
 */
kw_status kw_check_build(kw_ctx *ctx, const char *path, Elf *elf, bool force);

/** Remember for kw_forced() that a file of another build of something is used since that was wanted, unless one is. */
kw_status kw_remember_forced(kw_ctx *ctx, const char *path, const char *what, const char *build_id);

/** The GNU build ID of an ELF file; NULL when it has none. */
const unsigned char *kw_elf_build_id(Elf *elf, size_t *ret_len);

/** The -k vmlinux when it is an ELF file (for .BTF and DWARF), else NULL. */
const char *kw_symbols_vmlinux(kw_ctx *ctx);

#endif
