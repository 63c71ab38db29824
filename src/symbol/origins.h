/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other places symbols come from: text as nm prints it, and the symbol tables of ELF files. */
#ifndef SYMBOL_ORIGINS_H
#define SYMBOL_ORIGINS_H

#include "symbol/list.h"
#include "util/context.h"

/** What is known of the running kernel, for telling whether a file belongs to it. NULL and 0: not known. */
struct kernel_identity {
	const char *build_id; /* hexadecimal, build_id_len digits */
	size_t build_id_len;
	const char *release;
	size_t release_len;
	bool force;	/* a vmlinux of another build is to be taken all the same */
	uint64_t stext; /* address of _stext in the running kernel */
};

/**
 * Move symbols, as they were linked, to where the running kernel is.
 *
 * @return KW_OK; KW_INVALID when they are those of another kernel, and then they are not moved
 */
kw_status symbol_list_relocate(kw_ctx *ctx, struct symbol_list *list, const struct kernel_identity *identity);

/**
 * Parse text in the form of /proc/kallsyms and System.map: "ADDRESS LETTER NAME", one a line; lines that name a module
 * are left out.
 *
 * @param ret  the list, unfinished; the caller frees it
 * @return KW_OK; KW_FORMAT with the number of the line; KW_NOMEM
 */
kw_status symbol_text_parse(kw_ctx *ctx, const char *text, size_t len, struct symbol_list **ret);

/**
 * Read /proc/kallsyms of this machine.
 *
 * @return KW_OK; KW_DENIED when the kernel shows no addresses (kptr_restrict); KW_UNREADABLE
 */
kw_status proc_kallsyms_open(kw_ctx *ctx, struct symbol_list **ret);

/** Read a System.map and move it to where the running kernel is. KW_INVALID when it belongs to another kernel. */
kw_status system_map_open(kw_ctx *ctx, const char *path, const struct kernel_identity *identity,
			  struct symbol_list **ret);

/** As system_map_open(), for a vmlinux with a symbol table. */
kw_status elf_symtab_open(kw_ctx *ctx, const char *path, const struct kernel_identity *identity,
			  struct symbol_list **ret);

/** True when a file is an ELF file; false also when it can't be read. */
bool is_elf_file(const char *path);

#endif
