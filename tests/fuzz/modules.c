/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What hangs on each loaded module, as the source modules and the lookups of symbols read it: its table of symbols, the
 * modules that use it, its taints; in memory that is changed where the input says.
 *
 * Input: a byte, whose lowest bit chooses where a module keeps its parts (until 6.3, since 6.4), then changes
 * (fixtures/changes.h).
 *
 * Nothing may crash or go on for ever, and a name that is printed ends.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/changes.h"
#include "kernel/code_symbol.h"
#include "kernel/module_symbol.h"

#define ROWS_MAX   200000
#define NR_MODULES 3
#define NR_SYMBOLS 4
#define CODE	   0xffffffffc0100000ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TYPES(parts)                                                                                      \
	"struct mod_kallsyms { void *symtab; unsigned int num_symtab; char *strtab, *typetab; };"         \
	"struct module_part { void *base; unsigned int size; };"                                          \
	"struct module_use { struct list_head source_list, target_list; void *source, *target; };"        \
	"struct taint_flag { char c_true, c_false; bool module; };"                                       \
	"struct module { int state; struct list_head list; char name[56]; struct module_part " parts "; " \
	"	struct mod_kallsyms *kallsyms; int refcnt; unsigned long taints; void *init, *exit;"            \
	"	struct list_head source_list; };"

static const char *const types[] = { TYPES("core_layout, init_layout"), TYPES("mem[7]") };

static struct fuzzed {
	struct kernel_image *kernel;
	struct changed part;
	kw_ctx *ctx;
	kw_query *query;
} kernels[2];

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void make_symbols(struct kernel_image *k, uint64_t module, uint64_t code)
{
	static const char names[] = "\0first\0second\0third";
	static const uint32_t places[NR_SYMBOLS] = { 0, 1, 7, 14 };
	uint64_t kallsyms = kernel_alloc(k, 64, 8), strtab = kernel_alloc(k, sizeof(names), 8);
	Elf64_Sym symbols[NR_SYMBOLS] = { { 0 } };
	uint64_t symtab = kernel_alloc(k, sizeof(symbols), 8);

	for (size_t i = 1; i < NR_SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){ .st_name = places[i], .st_shndx = 1, .st_value = code + i * 64 };
	kernel_write(k, strtab, names, sizeof(names));
	kernel_write(k, symtab, symbols, sizeof(symbols));
	kernel_set(k, kallsyms, "mod_kallsyms.symtab", symtab);
	kernel_set(k, kallsyms, "mod_kallsyms.num_symtab", NR_SYMBOLS);
	kernel_set(k, kallsyms, "mod_kallsyms.strtab", strtab);
	kernel_set(k, module, "module.kallsyms", kallsyms);
}

/* Link a node behind another one: prev is not followed. */
static void link_behind(struct kernel_image *k, uint64_t node, uint64_t head)
{
	uint64_t next = kernel_get(k, head, "list_head.next");

	kernel_set(k, node, "list_head.next", next);
	kernel_set(k, head, "list_head.next", node);
}

static uint64_t make_module(struct kernel_image *k, unsigned int i)
{
	char name[8] = { 'm', 'o', 'd', (char)('a' + i) };
	uint64_t module = kernel_alloc(k, 512, 64), users = kernel_at(k, module, "module.source_list");
	uint64_t part =
		kernel_at(k, module, kernel_has(k, "module.mem") ? "module.mem" : "module.core_layout");

	kernel_write(k, kernel_at(k, module, "module.name"), name, sizeof(name));
	kernel_set(k, part, "module_part.base", CODE + i * 4096);
	kernel_set(k, part, "module_part.size", 4096);
	kernel_set(k, module, "module.refcnt", 2);
	kernel_set(k, module, "module.taints", 0x3000);
	kernel_set(k, users, "list_head.next", users);
	make_symbols(k, module, CODE + i * 4096);
	link_behind(k, kernel_at(k, module, "module.list"), kernel_symbol(k, "modules"));
	return module;
}

static void make_use(struct kernel_image *k, uint64_t used, uint64_t user)
{
	uint64_t use = kernel_alloc(k, 64, 8);

	kernel_set(k, use, "module_use.source", user);
	link_behind(k, kernel_at(k, use, "module_use.source_list"), kernel_at(k, used, "module.source_list"));
}

static void make_modules(struct kernel_image *k)
{
	uint64_t head = kernel_symbol(k, "modules"), module[NR_MODULES];

	kernel_fill(k, kernel_symbol(k, "taint_flags"), 'P', 48);
	kernel_set(k, head, "list_head.next", head);
	for (unsigned int i = 0; i < NR_MODULES; i++)
		module[i] = make_module(k, i);
	make_use(k, module[0], module[1]);
	make_use(k, module[0], module[2]);
}

/* Everything must be found, as long as nothing has been changed. */
static void require_all(struct fuzzed *f)
{
	char module[KW_MODULE_NAME_SIZE];
	uint64_t addr;

	require(kw_module_symbol(f->ctx, "second", &addr, module) == KW_OK && addr == CODE + 2 * 4096 + 128 &&
		!strcmp(module, "modc"));
}

static void prepare(struct fuzzed *f, const char *declarations)
{
	static const struct kw_query_options options = {
		.size = sizeof(options),
		.source = "modules",
		.columns = "name,size,refcnt,state,address,taints,permanent,users,flags",
	};
	uint64_t first;

	f->kernel = kernel_new(&(struct kernel_config){
		.types = declarations, .variables = "modules 16\ntaint_flags 64\n", .tasks = "1 a\n" });
	first = kernel_alloc(f->kernel, 4096, 4096);
	make_modules(f->kernel);
	f->part = changed_part(f->kernel, first, kernel_alloc(f->kernel, 4096, 4096));
	require(kernel_open(f->kernel, KERNEL_RAM_LIVE, &f->ctx) == KW_OK);
	require(kw_query_new(f->ctx, &options, &f->query) == KW_OK);
	require_all(f);
}

static bool look(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	size_t *rows = arg;

	require(row && values[0].type <= KW_VAL_ENUM);
	return ++*rows < ROWS_MAX;
}

static void use_symbols(struct fuzzed *f)
{
	static const char *const names[] = { "first", "third", "none", "" };
	const struct kw_kernel *kernel;
	char name[KW_SYMBOL_NAME_SIZE], module[KW_MODULE_NAME_SIZE];
	uint64_t addr;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (kw_module_symbol(f->ctx, names[i], &addr, module) == KW_OK)
			require(memchr(module, '\0', sizeof(module)) && addr);
	require(kw_kernel_get(f->ctx, &kernel) == KW_OK);
	for (uint64_t at = CODE; at < CODE + 3 * 4096; at += 96)
		if (kw_module_symbol_at(f->ctx, kernel, at, name) == KW_OK)
			require(memchr(name, '\0', sizeof(name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed *f;
	size_t rows = 0;

	if (!size || size > 1 + CHANGE_BYTES * CHANGES_MAX)
		return 0;
	f = &kernels[data[0] & 1];
	if (!f->kernel)
		prepare(f, types[data[0] & 1]);
	changed_make(&f->part, data + 1, size - 1);
	require(kw_query_run(f->query, look, &rows) == KW_OK || *kw_error(f->ctx));
	use_symbols(f);
	changed_undo(&f->part);
	return 0;
}
