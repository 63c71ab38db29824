/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module that is loaded keeps its ELF symbol table, sections and all: module.kallsyms. Only what is defined and has a
 * name counts.
 */
#include "kernel/code_symbol.h"

#include <elf.h>
#include <stdlib.h>

#include "kernel/list.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "util/error.h"

#define MAX_MODULES 100000
#define MAX_SYMBOLS (1u << 20)
#define CHUNK	    128 /* symbols read at a time */

struct module_code_layout {
	uint64_t modules;	   /* struct list_head */
	uint64_t list, base, size; /* of struct module: the part with its code */
	uint64_t kallsyms;
	uint64_t symbols, nr, names; /* of struct mod_kallsyms */
	bool is_whole;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct module_code_layout *l = layout;
	const struct {
		const char *type, *path, *old;
		uint64_t *offset;
	} wanted[] = {
		{ "module", "list", "list", &l->list },
		{ "module", "mem[0].base", "core_layout.base", &l->base }, /* since 6.4 */
		{ "module", "mem[0].size", "core_layout.size", &l->size },
		{ "module", "kallsyms", "kallsyms", &l->kallsyms },
		{ "mod_kallsyms", "symtab", "symtab", &l->symbols },
		{ "mod_kallsyms", "num_symtab", "num_symtab", &l->nr },
		{ "mod_kallsyms", "strtab", "strtab", &l->names },
	};

	(void)kernel;
	l->is_whole = kw_symbol_address(ctx, "modules", &l->modules) == KW_OK;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		*wanted[i].offset = kw_offset_or_none(ctx, wanted[i].type, wanted[i].path);
		if (*wanted[i].offset == KW_NO_ADDR)
			*wanted[i].offset = kw_offset_or_none(ctx, wanted[i].type, wanted[i].old);
		l->is_whole = l->is_whole && *wanted[i].offset != KW_NO_ADDR;
	}
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct module_code_layout), resolve };

struct module_search {
	const struct module_code_layout *layout;
	uint64_t addr, module; /* found: not 0 */
};

static bool is_module_of(kw_ctx *ctx, uint64_t module, void *arg)
{
	struct module_search *s = arg;
	uint64_t base;
	uint32_t size;

	if (kw_read_u64(ctx, module + s->layout->base, &base) == KW_OK &&
	    kw_read_u32(ctx, module + s->layout->size, &size) == KW_OK && s->addr - base < size)
		s->module = module;
	return !s->module;
}

struct symbol_table {
	uint64_t symbols, names;
	uint32_t nr;
};

static kw_status read_table(kw_ctx *ctx, const struct module_code_layout *l, uint64_t module,
			    struct symbol_table *ret)
{
	uint64_t at;
	kw_status status = kw_read_u64(ctx, module + l->kallsyms, &at);

	if (!status)
		status = kw_read_u64(ctx, at + l->symbols, &ret->symbols);
	if (!status)
		status = kw_read_u64(ctx, at + l->names, &ret->names);
	if (!status)
		status = kw_read_u32(ctx, at + l->nr, &ret->nr);
	return !status && ret->nr > MAX_SYMBOLS ? KW_FORMAT : status;
}

/* The kernel takes the first of those with the same address. */
static bool is_better(kw_ctx *ctx, const struct symbol_table *t, const Elf64_Sym *sym, uint64_t addr,
		      uint64_t best)
{
	char first;

	return sym->st_shndx != SHN_UNDEF && sym->st_value <= addr && sym->st_value > best &&
	       kw_read(ctx, t->names + sym->st_name, &first, 1) == KW_OK && first;
}

static kw_status find_symbol(kw_ctx *ctx, const struct symbol_table *t, uint64_t addr, char *name)
{
	uint64_t best = 0, best_name = 0;
	Elf64_Sym sym[CHUNK];

	for (uint32_t at = 0, some; at < t->nr; at += some) {
		kw_status status;

		some = t->nr - at < CHUNK ? t->nr - at : CHUNK;
		status = kw_read(ctx, t->symbols + at * sizeof(sym[0]), sym, some * sizeof(sym[0]));
		if (status)
			return status;
		for (uint32_t i = 0; i < some; i++) {
			if (is_better(ctx, t, &sym[i], addr, best)) {
				best = sym[i].st_value;
				best_name = t->names + sym[i].st_name;
			}
		}
	}
	return best ? kw_read_string(ctx, best_name, name, KW_SYMBOL_NAME_SIZE) : KW_NOTFOUND;
}

kw_status kw_module_symbol_at(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t addr, char *name)
{
	const struct module_code_layout *l = kw_layout_get(ctx, kernel, &subject);
	struct module_search s = { .layout = l, .addr = addr };
	struct symbol_table table;
	kw_status status;

	if (!l || !l->is_whole)
		return KW_NOTFOUND;
	status = kw_list_each(ctx, l->modules, l->list, MAX_MODULES, is_module_of, &s);
	if (!s.module)
		return status ? status : KW_NOTFOUND;
	status = read_table(ctx, l, s.module, &table);
	return status ? status : find_symbol(ctx, &table, addr, name);
}
