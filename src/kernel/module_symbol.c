/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of loaded modules: see the header.
 *
 *     module.kallsyms -> mod_kallsyms { symtab: of Elf64_Sym, with addresses; num_symtab; strtab }
 */
#include "kernel/module_symbol.h"

#include <elf.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/list.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "util/error.h"

#define MODULES_MAX 4096
#define SYMBOLS_MAX 1000000u /* of a module */
#define AT_ONCE	    128

struct search {
	const char *name;
	uint64_t module_name, kallsyms;	     /* in a module */
	uint64_t symtab, num_symtab, strtab; /* in a mod_kallsyms */
	bool found;
	uint64_t addr;
	char module[KW_MODULE_NAME_SIZE];
};

static bool is_it(kw_ctx *ctx, const struct search *s, uint64_t strtab, const Elf64_Sym *symbol)
{
	char name[KW_SYMBOL_NAME_SIZE];
	size_t len = strlen(s->name) + 1;

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       kw_read(ctx, strtab + symbol->st_name, name, len) == KW_OK && !memcmp(name, s->name, len);
}

static void search_table(kw_ctx *ctx, struct search *s, uint64_t symtab, uint64_t strtab, uint32_t nr)
{
	Elf64_Sym symbols[AT_ONCE];

	for (uint32_t at = 0; at < nr && at < SYMBOLS_MAX; at += AT_ONCE) {
		uint32_t some = nr - at < AT_ONCE ? nr - at : AT_ONCE;

		if (kw_read(ctx, symtab + at * sizeof(symbols[0]), symbols, some * sizeof(symbols[0])))
			return;
		for (uint32_t i = 0; i < some; i++) {
			if (!is_it(ctx, s, strtab, &symbols[i]))
				continue;
			s->addr = symbols[i].st_value;
			s->found = true;
			return;
		}
	}
}

static bool search_module(kw_ctx *ctx, uint64_t module, void *arg)
{
	struct search *s = arg;
	uint64_t kallsyms, symtab, strtab;
	uint32_t nr;

	if (kw_read_u64(ctx, module + s->kallsyms, &kallsyms) || !kallsyms ||
	    kw_read_u64(ctx, kallsyms + s->symtab, &symtab) ||
	    kw_read_u64(ctx, kallsyms + s->strtab, &strtab) ||
	    kw_read_u32(ctx, kallsyms + s->num_symtab, &nr) ||
	    kw_read(ctx, module + s->module_name, s->module, sizeof(s->module) - 1))
		return true;
	search_table(ctx, s, symtab, strtab, nr);
	return !s->found;
}

kw_status kw_module_symbol(kw_ctx *ctx, const char *name, uint64_t *ret_addr, char *ret_module)
{
	struct search s = {
		.name = name,
		.module_name = kw_offset_or_none(ctx, "module", "name"),
		.kallsyms = kw_offset_or_none(ctx, "module", "kallsyms"),
		.symtab = kw_offset_or_none(ctx, "mod_kallsyms", "symtab"),
		.num_symtab = kw_offset_or_none(ctx, "mod_kallsyms", "num_symtab"),
		.strtab = kw_offset_or_none(ctx, "mod_kallsyms", "strtab"),
	};
	uint64_t list = kw_offset_or_none(ctx, "module", "list"), head;

	if (s.module_name == KW_NO_ADDR || s.kallsyms == KW_NO_ADDR || s.symtab == KW_NO_ADDR ||
	    s.num_symtab == KW_NO_ADDR || s.strtab == KW_NO_ADDR || list == KW_NO_ADDR ||
	    strlen(name) >= KW_SYMBOL_NAME_SIZE || kw_symbol_address(ctx, "modules", &head)) {
		kw_clear_error(ctx);
		return KW_NOTFOUND;
	}
	kw_pass_begin(ctx);
	kw_list_each(ctx, head, list, MODULES_MAX, search_module, &s);
	kw_pass_end(ctx);
	kw_clear_error(ctx);
	if (!s.found)
		return KW_NOTFOUND;
	*ret_addr = s.addr;
	memcpy(ret_module, s.module, sizeof(s.module));
	return KW_OK;
}
