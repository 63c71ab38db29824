/* Symbols as the other rooms ask for them, whatever the table is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixtures/kallsyms_builder.h"
#include "symbol/set.h"

#define MIB	0x100000ULL
#define TEXT	0xffffffff8d400000ULL
#define NR	2600 /* what a search believes in */
#define OFFSETS (TEXT + 0x1000)
#define NR_CPUS (TEXT + 0x2000)

/* A kernel image of 4 MiB with symbols in its third, and what VMCOREINFO says of it. */
struct running {
	struct image ram;
	struct image_target target;
	struct built_symbol symbols[NR];
	struct kallsyms_tables tables;
};

static void name_symbols(struct running *running)
{
	static const struct built_symbol special[] = {
		{ "runqueues", 0x100, 'A' },
		{ "_stext", TEXT, 'T' },
		{ "__per_cpu_offset", OFFSETS, 'D' },
		{ "nr_cpu_ids", NR_CPUS, 'D' },
	};
	static char names[NR][16];

	for (size_t i = 0; i < NR; i++) {
		snprintf(names[i], sizeof(names[i]), "sys_%zu", i);
		running->symbols[i] = (struct built_symbol){ names[i], TEXT + 0x3000 + 16 * i, 't' };
	}
	memcpy(running->symbols, special, sizeof(special));
}

static void say(struct running *running, const char *text)
{
	struct kw_symbols *symbols = running->target.target.symbols;

	free(symbols->vmcoreinfo);
	symbols->vmcoreinfo = strdup(text);
	symbols->vmcoreinfo_len = strlen(text);
}

/* Let VMCOREINFO name the tables, moved by `wrong` bytes. */
static void say_tables(struct running *running, uint64_t wrong)
{
	const struct kallsyms_tables *tables = &running->tables;
	char text[1024];

	snprintf(text, sizeof(text),
		 "OSRELEASE=6.1.0-test\nSYMBOL(_stext)=%llx\nSYMBOL(kallsyms_names)=%llx\n"
		 "SYMBOL(kallsyms_num_syms)=%llx\nSYMBOL(kallsyms_token_table)=%llx\n"
		 "SYMBOL(kallsyms_token_index)=%llx\nSYMBOL(kallsyms_offsets)=%llx\n"
		 "SYMBOL(kallsyms_relative_base)=%llx\n",
		 (unsigned long long)TEXT, (unsigned long long)(tables->names + wrong),
		 (unsigned long long)tables->num_syms, (unsigned long long)tables->token_table,
		 (unsigned long long)tables->token_index, (unsigned long long)tables->offsets,
		 (unsigned long long)tables->relative_base);
	say(running, text);
}

static void start(struct running *running, bool with_table)
{
	struct kw_kernel_map map = {
		.phys_base = 0 - (TEXT - KERNEL_MAP), .image_start = TEXT, .image_size = 4 * MIB, .levels = 4
	};

	running->ram = image_new(4 * MIB);
	name_symbols(running);
	if (with_table)
		running->tables = kallsyms_put(&running->ram, 2 * MIB, TEXT + 2 * MIB, running->symbols, NR,
					       KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_FIRST, TEXT);
	image_put_u64(&running->ram, OFFSETS - TEXT, 0xffff888000000000);
	image_put_u64(&running->ram, OFFSETS - TEXT + 8, 0xffff888000100000);
	image_put(&running->ram, NR_CPUS - TEXT, "\2\0\0\0", 4);
	cr_assert_eq(image_open(&running->target, &running->ram, NULL), KW_OK);
	cr_assert_eq(kw_memory_set_kernel(&running->target.ctx, &map), KW_OK);
	cr_assert_eq(kw_symbols_new(&running->target.ctx), KW_OK);
	running->target.target.symbols->map = map;
}

static void stop(struct running *running)
{
	kw_symbols_free(running->target.target.symbols);
	image_close(&running->target);
	image_free(&running->ram);
	free(running);
}

static struct running *start_with(bool with_table)
{
	struct running *running = calloc(1, sizeof(*running));

	start(running, with_table);
	return running;
}

static uint64_t address(struct running *running, const char *name)
{
	uint64_t addr = KW_NO_ADDR;

	cr_assert_eq(kw_symbol_address(&running->target.ctx, name, &addr), KW_OK, "%s",
		     kw_error(&running->target.ctx));
	return addr;
}

static void expect_symbols(struct running *running)
{
	kw_ctx *ctx = &running->target.ctx;
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;

	cr_assert_eq(kw_symbols_origin(ctx), KW_SYMBOLS_KALLSYMS_MEMORY, "%s", kw_symbols_description(ctx));
	cr_assert(strstr(kw_symbols_description(ctx), "2600 from kallsyms in memory"), "%s",
		  kw_symbols_description(ctx));
	cr_assert_eq(address(running, "_stext"), TEXT);
	cr_assert_eq(address(running, "sys_1000"), TEXT + 0x3000 + 16000);
	cr_assert_eq(kw_symbol_at(ctx, TEXT + 0x3000 + 16003, name, &offset), KW_OK);
	cr_assert_str_eq(name, "sys_1000");
	cr_assert_eq(offset, 3);
}

Test(symbol_symbols, tables_that_vmcoreinfo_names_are_used)
{
	struct running *running = start_with(true);

	say_tables(running, 0);
	expect_symbols(running);
	stop(running);
}

Test(symbol_symbols, without_a_word_of_them_they_are_found)
{
	struct running *running = start_with(true);

	say(running, "OSRELEASE=5.10.0-test\n");
	expect_symbols(running);
	stop(running);
}

Test(symbol_symbols, without_any_vmcoreinfo_they_are_found)
{
	struct running *running = start_with(true);

	expect_symbols(running);
	stop(running);
}

Test(symbol_symbols, tables_that_are_not_where_vmcoreinfo_says_are_searched)
{
	struct running *running = start_with(true);

	say_tables(running, 64 * MIB);
	expect_symbols(running);
	stop(running);
}

Test(symbol_symbols, tables_of_another_kernel_are_not_believed)
{
	struct running *running = start_with(true);
	uint64_t addr;

	say(running, "OSRELEASE=6.1.0-test\nSYMBOL(_stext)=ffffffff8d400040\n");
	cr_assert_eq(kw_symbol_address(&running->target.ctx, "sys_1000", &addr), KW_UNSUPPORTED);
	cr_assert_eq(kw_symbols_origin(&running->target.ctx), KW_SYMBOLS_NONE);
	stop(running);
}

Test(symbol_symbols, without_symbols_the_message_says_what_to_give)
{
	struct running *running = start_with(false);
	kw_ctx *ctx = &running->target.ctx;
	uint64_t addr;

	say(running, "OSRELEASE=5.10.0-test\n");
	/* Twice: the failure is remembered. */
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(kw_symbol_address(ctx, "sys_1000", &addr), KW_UNSUPPORTED);
		cr_assert(strstr(kw_error(ctx), "5.10.0-test with -k"), "%s", kw_error(ctx));
	}
	cr_assert(strstr(kw_symbols_description(ctx), "-k"), "%s", kw_symbols_description(ctx));
	cr_assert_null(kw_symbols_vmlinux(ctx));
	stop(running);
}

Test(symbol_symbols, names_found_and_not_found_are_remembered_as_such)
{
	struct running *running = start_with(true);
	kw_ctx *ctx = &running->target.ctx;
	struct kw_symbol_query queries[] = { { .name = "sys_7" },
					     { .name = "no" },
					     { .name = "sys_7" },
					     { .name = "sys_8" },
					     { .name = "" } };
	uint64_t addr = 5;

	say_tables(running, 0);
	for (int round = 0; round < 3; round++) {
		cr_assert_eq(kw_symbol_addresses(ctx, queries + round, 5 - (size_t)round), KW_OK);
		cr_assert_eq(queries[0].addr, TEXT + 0x3000 + 16 * 7);
		cr_assert_eq(queries[1].addr, KW_NO_ADDR);
		cr_assert_eq(queries[2].addr, queries[0].addr);
		cr_assert_eq(queries[3].addr, TEXT + 0x3000 + 16 * 8);
		cr_assert_eq(queries[4].addr, KW_NO_ADDR);
	}
	cr_assert_eq(kw_symbol_addresses(ctx, queries, 0), KW_OK);
	cr_assert_eq(kw_symbol_address(ctx, "no", &addr), KW_NOTFOUND);
	cr_assert_eq(addr, 5, "untouched");
	cr_assert(strstr(kw_error(ctx), "no: no such symbol"), "%s", kw_error(ctx));
	stop(running);
}

Test(symbol_symbols, per_cpu_addresses_are_those_of_cpus_that_exist)
{
	struct running *running = start_with(true);
	kw_ctx *ctx = &running->target.ctx;
	uint64_t addr = 0;

	cr_assert_eq(kw_percpu_address(ctx, "runqueues", 0, &addr), KW_OK);
	cr_assert_eq(addr, 0xffff888000000100);
	cr_assert_eq(kw_percpu_address(ctx, "runqueues", 1, &addr), KW_OK);
	cr_assert_eq(addr, 0xffff888000100100);
	cr_assert_eq(kw_percpu_address(ctx, "runqueues", 2, &addr), KW_NOTFOUND);
	cr_assert_eq(kw_percpu_address(ctx, "runqueues", UINT32_MAX, &addr), KW_NOTFOUND);
	cr_assert_eq(kw_percpu_address(ctx, "nothing", 0, &addr), KW_NOTFOUND);
	stop(running);
}

static bool ask(const char *name, uint64_t addr, char letter, void *arg)
{
	struct running *running = arg;

	(void)letter;
	cr_assert_eq(address(running, name), addr);
	return strcmp(name, "sys_9") != 0;
}

Test(symbol_symbols, symbols_may_be_asked_for_while_they_are_listed)
{
	struct running *running = start_with(true);

	cr_assert_eq(kw_symbols_each(&running->target.ctx, ask, running), KW_OK);
	stop(running);
}

Test(symbol_symbols, a_damaged_table_is_not_a_missing_symbol)
{
	struct running *running = start_with(true);
	uint64_t addr;

	say_tables(running, 0);
	cr_assert_eq(address(running, "sys_10"), TEXT + 0x3000 + 160);
	/* The memory changes under way: the tenth name claims to be longer than all of them. */
	memset(running->ram.bytes + (running->tables.names - TEXT) + 60, 0xff, 64);
	cr_assert_eq(pwrite(running->target.fd, running->ram.bytes, running->ram.size, 0),
		     (ssize_t)running->ram.size);
	cr_assert_eq(kw_symbol_address(&running->target.ctx, "sys_2000", &addr), KW_FORMAT);
	cr_assert(strstr(kw_error(&running->target.ctx), "damaged"), "%s", kw_error(&running->target.ctx));
	cr_assert_eq(address(running, "sys_10"), TEXT + 0x3000 + 160, "what is known stays known");
	stop(running);
}
