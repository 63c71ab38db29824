/* kallsyms tables: every encoding, and damaged ones. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/kallsyms_builder.h"
#include "symbol/kallsyms_order.h"
#include "symbol/kallsyms_search.h"
#include "symbol/set.h"

#define TEXT  0xffffffff8d400000ULL
#define PLACE 0xffffffff8e500000ULL
#define MIB   0x100000ULL

static const struct built_symbol few[] = {
	{ "fixed_percpu_data", 0x0, 'A' },
	{ "runqueues", 0x31980, 'A' },
	{ "_stext", TEXT, 'T' },
	{ "_text", TEXT, 'T' },
	{ "xinit_task", TEXT + 0x10, 'd' },
	{ "init_tas", TEXT + 0x20, 'd' },
	{ "init_task", TEXT + 0x123450, 'D' },
	{ "init_task", TEXT + 0x123460, 'D' },
	{ "init_task2", TEXT + 0x123470, 'd' },
	{ "task", TEXT + 0x123480, 'd' },
	{ "x", TEXT + 0x123490, 'd' },
	{ "_end", TEXT + 0x200000, 'B' },
};

#define NR_FEW (sizeof(few) / sizeof(*few))

/* A symbol table of built tables. */
struct table {
	kw_ctx *ctx;
	struct kallsyms_built built;
	struct kallsyms *kallsyms;
};

static uint64_t base_of(enum kallsyms_form form)
{
	return form == KALLSYMS_PLACE_RELATIVE ? PLACE : TEXT;
}

static struct table make(const struct built_symbol *symbols, size_t nr, enum kallsyms_form form)
{
	struct table table = { .ctx = kw_new(), .built = kallsyms_build(symbols, nr, form, base_of(form)) };
	struct kallsyms_bytes bytes = kallsyms_built_bytes(&table.built, PLACE);

	cr_assert_eq(kallsyms_new(table.ctx, &bytes, &table.kallsyms), KW_OK, "%s", kw_error(table.ctx));
	return table;
}

static void drop(struct table *table)
{
	kallsyms_free(table->kallsyms);
	kallsyms_built_free(&table->built);
	kw_free(table->ctx);
}

static uint64_t find(const struct table *table, const char *name)
{
	struct kw_symbol_query query = { .name = name };

	cr_assert(kallsyms_find(table->kallsyms, &query, 1));
	return query.addr;
}

/* Symbols that kallsyms_each() hands out, compared with those that were built. */
struct comparison {
	const struct built_symbol *symbols;
	size_t nr;
};

static bool compare(const char *name, uint64_t addr, char letter, void *arg)
{
	struct comparison *comparison = arg;
	const struct built_symbol *want = &comparison->symbols[comparison->nr++];

	cr_assert_str_eq(name, want->name);
	cr_assert_eq(addr, want->addr, "%s: %#lx", name, addr);
	cr_assert_eq(letter, want->letter);
	return true;
}

static void expect_all(const struct table *table, const struct built_symbol *symbols, size_t nr)
{
	struct comparison comparison = { .symbols = symbols };

	cr_assert_eq(kallsyms_each(table->kallsyms, compare, &comparison), KW_OK);
	cr_assert_eq(comparison.nr, nr);
}

static const enum kallsyms_form forms[] = { KALLSYMS_BASE_RELATIVE, KALLSYMS_PERCPU_ABSOLUTE,
					    KALLSYMS_PLACE_RELATIVE };

/* Only the per-CPU form has small addresses. */
static size_t first_of(enum kallsyms_form form)
{
	return form == KALLSYMS_PERCPU_ABSOLUTE ? 0 : 2;
}

Test(symbol_kallsyms, every_form_gives_back_what_was_built)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t first = first_of(forms[i]);
		struct table table = make(few + first, NR_FEW - first, forms[i]);

		cr_assert_eq(kallsyms_form(table.kallsyms), forms[i]);
		expect_all(&table, few + first, NR_FEW - first);
		cr_assert_eq(find(&table, "_end"), TEXT + 0x200000);
		cr_assert_eq(find(&table, "_text"), TEXT);
		drop(&table);
	}
}

Test(symbol_kallsyms, per_cpu_symbols_are_offsets)
{
	struct table table = make(few, NR_FEW, KALLSYMS_PERCPU_ABSOLUTE);

	cr_assert_eq(find(&table, "runqueues"), 0x31980);
	cr_assert_eq(find(&table, "fixed_percpu_data"), 0);
	drop(&table);
}

Test(symbol_kallsyms, a_name_is_found_whole_and_its_first_one)
{
	struct table table = make(few, NR_FEW, KALLSYMS_PERCPU_ABSOLUTE);

	cr_assert_eq(find(&table, "init_task"), TEXT + 0x123450);
	cr_assert_eq(find(&table, "init_tas"), TEXT + 0x20);
	cr_assert_eq(find(&table, "xinit_task"), TEXT + 0x10);
	cr_assert_eq(find(&table, "init_task2"), TEXT + 0x123470);
	cr_assert_eq(find(&table, "task"), TEXT + 0x123480);
	cr_assert_eq(find(&table, "x"), TEXT + 0x123490);
	cr_assert_eq(find(&table, "init_"), KW_NO_ADDR);
	cr_assert_eq(find(&table, ""), KW_NO_ADDR);
	cr_assert_eq(find(&table, "Dinit_task"), KW_NO_ADDR);
	cr_assert_eq(find(&table, "init_task\xff"), KW_NO_ADDR);
	drop(&table);
}

static char *long_name(size_t len, char last)
{
	char *name = memset(malloc(len + 1), 'y', len);

	name[len - 1] = last;
	name[len] = '\0';
	return name;
}

Test(symbol_kallsyms, long_names_have_two_bytes_of_length)
{
	char *names[] = { long_name(126, 'a'), long_name(127, 'b'), long_name(128, 'c'),
			  long_name(511, 'd') };
	struct built_symbol symbols[5] = { { "_stext", TEXT, 'T' } };
	struct table table;
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;

	for (size_t i = 0; i < 4; i++)
		symbols[i + 1] = (struct built_symbol){ names[i], TEXT + 16 * (i + 1), 't' };
	table = make(symbols, 5, KALLSYMS_BASE_RELATIVE);
	expect_all(&table, symbols, 5);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(find(&table, names[i]), TEXT + 16 * (i + 1));
	cr_assert_eq(kallsyms_at(table.kallsyms, TEXT + 67, name, &offset), KW_OK);
	cr_assert_str_eq(name, names[3]);
	cr_assert_eq(offset, 3);
	drop(&table);
	for (size_t i = 0; i < 4; i++)
		free(names[i]);
}

Test(symbol_kallsyms, a_name_too_long_for_anybody_is_cut)
{
	char *longest = long_name(2000, 'z');
	struct built_symbol symbol = { longest, TEXT, 't' };
	struct table table = make(&symbol, 1, KALLSYMS_BASE_RELATIVE);
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;

	cr_assert_eq(kallsyms_at(table.kallsyms, TEXT, name, &offset), KW_OK);
	cr_assert_eq(strlen(name), KW_SYMBOL_NAME_SIZE - 1);
	drop(&table);
	free(longest);
}

#define NR_MANY 3000

/* NR_MANY symbols of 16 bytes; the names are freed with free_many(). */
static struct built_symbol *make_many(void)
{
	struct built_symbol *symbols = calloc(NR_MANY, sizeof(*symbols));

	for (size_t i = 0; i < NR_MANY; i++) {
		char *name = NULL;

		if (asprintf(&name, "%s_%zu", i % 3 ? "sys_call" : "init_thing", i) < 0)
			abort();
		symbols[i] = (struct built_symbol){ i ? name : "_stext", TEXT + 16 * i, i % 2 ? 't' : 'D' };
		if (!i)
			free(name);
	}
	return symbols;
}

static void free_many(struct built_symbol *symbols)
{
	for (size_t i = 1; i < NR_MANY; i++)
		free((void *)symbols[i].name);
	free(symbols);
}

Test(symbol_kallsyms, more_names_than_are_looked_for_at_once)
{
	struct built_symbol *symbols = make_many();
	struct table table = make(symbols, NR_MANY, KALLSYMS_BASE_RELATIVE);
	struct kw_symbol_query queries[201];

	for (size_t i = 0; i < 201; i++)
		queries[i].name = i == 100 ? "no_such_thing" : symbols[(i * 37) % NR_MANY].name;
	cr_assert(kallsyms_find(table.kallsyms, queries, 201));
	for (size_t i = 0; i < 201; i++)
		cr_assert_eq(queries[i].addr, i == 100 ? KW_NO_ADDR : TEXT + 16 * ((i * 37) % NR_MANY));
	drop(&table);
	free_many(symbols);
}

Test(symbol_kallsyms, addresses_lead_to_names)
{
	struct built_symbol *symbols = make_many();

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		struct table table = make(symbols, NR_MANY, forms[f]);

		for (size_t i = 0; i < NR_MANY; i++) {
			char name[KW_SYMBOL_NAME_SIZE];
			uint64_t offset;

			cr_assert_eq(kallsyms_at(table.kallsyms, TEXT + 16 * i + 5, name, &offset), KW_OK);
			cr_assert_str_eq(name, symbols[i].name);
			cr_assert_eq(offset, 5);
		}
		drop(&table);
	}
	free_many(symbols);
}

Test(symbol_kallsyms, an_address_outside_of_the_image_has_no_symbol)
{
	static const uint64_t outside[] = { 0,	      0x31980,	       0x7fff12345678,	   0xffff888000000000,
					    TEXT - 1, TEXT + 0x201000, 0xffffffffc0000000, UINT64_MAX };
	struct table table = make(few, NR_FEW, KALLSYMS_PERCPU_ABSOLUTE);
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;

	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++)
		cr_assert_eq(kallsyms_at(table.kallsyms, outside[i], name, &offset), KW_NOTFOUND, "%#lx",
			     outside[i]);
	cr_assert_eq(kallsyms_at(table.kallsyms, TEXT, name, &offset), KW_OK);
	cr_assert_str_eq(name, "_stext", "the first of several");
	cr_assert_eq(kallsyms_at(table.kallsyms, TEXT + 0x200fff, name, &offset), KW_OK);
	cr_assert_str_eq(name, "_end");
	drop(&table);
}

/* The order of names. */

static struct table make_ordered(const struct built_symbol *symbols, size_t nr)
{
	struct table table = { .ctx = kw_new(),
			       .built = kallsyms_build(symbols, nr, KALLSYMS_BASE_RELATIVE, TEXT) };
	struct kallsyms_bytes bytes = kallsyms_built_bytes(&table.built, PLACE);

	bytes.markers = table.built.markers.bytes;
	bytes.seqs = table.built.seqs.bytes;
	cr_assert_eq(kallsyms_new(table.ctx, &bytes, &table.kallsyms), KW_OK);
	return table;
}

Test(symbol_kallsyms, bisection_finds_what_the_search_of_all_finds)
{
	struct built_symbol *symbols = make_many();
	struct table ordered = make_ordered(symbols, NR_MANY), table = make_ordered(few + 2, NR_FEW - 2);

	cr_assert(kallsyms_order_holds(ordered.kallsyms));
	for (size_t i = 0; i < NR_MANY; i++)
		cr_assert_eq(find(&ordered, symbols[i].name), symbols[i].addr);
	cr_assert_eq(find(&table, "init_task"), TEXT + 0x123450, "the first of two");
	cr_assert_eq(find(&table, "_end"), TEXT + 0x200000);
	cr_assert_eq(find(&table, "xinit_task"), TEXT + 0x10);
	cr_assert_eq(find(&table, "init_"), KW_NO_ADDR);
	cr_assert_eq(find(&table, "zzz"), KW_NO_ADDR);
	cr_assert_eq(find(&table, "A"), KW_NO_ADDR);
	cr_assert_eq(find(&table, ""), KW_NO_ADDR);
	cr_assert_eq(find(&table, "init_task\xff"), KW_NO_ADDR);
	drop(&table);
	drop(&ordered);
	free_many(symbols);
}

/* LTO of Clang: sorted as foo, foo, foo_. */
Test(symbol_kallsyms, a_bare_name_behind_one_with_a_suffix_is_found)
{
	static const struct built_symbol symbols[] = { { "foo_", TEXT, 't' },
						       { "foo.llvm.1", TEXT + 16, 't' },
						       { "foo", TEXT + 32, 't' } };
	struct table table = make_ordered(symbols, 3);

	memcpy(table.built.seqs.bytes, "\0\0\1\0\0\2\0\0\0", 9);
	cr_assert_eq(find(&table, "foo"), TEXT + 32);
	cr_assert_eq(find(&table, "foo_"), TEXT);
	drop(&table);
}

Test(symbol_kallsyms, an_order_that_is_none_is_not_used)
{
	struct built_symbol *symbols = make_many();
	struct kallsyms_built built = kallsyms_build(symbols, NR_MANY, KALLSYMS_BASE_RELATIVE, TEXT);

	for (size_t damage = 0; damage < 4; damage++) {
		struct table table = make_ordered(symbols, NR_MANY);
		struct kallsyms_bytes bytes = *kallsyms_bytes_of(table.kallsyms);
		struct image *seqs = &table.built.seqs, *markers = &table.built.markers;

		if (damage == 0)
			memset(seqs->bytes, 0xff, seqs->size);
		else if (damage == 1)
			for (size_t i = 0; i < seqs->size; i++)
				seqs->bytes[i] = built.seqs.bytes[seqs->size - 3 - i / 3 * 3 + i % 3];
		else
			memset(markers->bytes, damage == 2 ? 0xff : 0x01, markers->size);
		/* It changes behind the back of one, and was so from the beginning for the other. */
		cr_assert_not(kallsyms_order_holds(table.kallsyms), "%zu", damage);
		if (damage != 1 && damage != 3)
			cr_assert_eq(find(&table, symbols[99].name), symbols[99].addr);
		kallsyms_free(table.kallsyms);
		bytes.token_table = table.built.tokens.bytes;
		bytes.token_index = table.built.index.bytes;
		cr_assert_eq(kallsyms_new(table.ctx, &bytes, &table.kallsyms), KW_OK);
		for (size_t i = 0; i < NR_MANY; i += 37)
			cr_assert_eq(find(&table, symbols[i].name), symbols[i].addr);
		drop(&table);
	}
	kallsyms_built_free(&built);
	free_many(symbols);
}

/* Damage. */

Test(symbol_kallsyms, names_cut_anywhere_are_noticed)
{
	struct kallsyms_built built = kallsyms_build(few, NR_FEW, KALLSYMS_PERCPU_ABSOLUTE, TEXT);
	kw_ctx *ctx = kw_new();

	for (size_t len = 0; len < built.names.size; len++) {
		struct kallsyms_bytes bytes = kallsyms_built_bytes(&built, PLACE);
		struct kw_symbol_query query = { .name = "no_such_thing" };
		char name[KW_SYMBOL_NAME_SIZE];
		struct kallsyms *kallsyms;
		uint64_t offset;
		/* An exact copy, so that a read one byte too far is seen. */
		uint8_t *cut = memcpy(malloc(len + 1), built.names.bytes, len);

		bytes.names = cut;
		bytes.names_len = len;
		cr_assert_eq(kallsyms_new(ctx, &bytes, &kallsyms), KW_OK);
		cr_assert_not(kallsyms_find(kallsyms, &query, 1), "%zu bytes", len);
		cr_assert_eq(kallsyms_at(kallsyms, TEXT + 5, name, &offset), KW_FORMAT);
		kallsyms_free(kallsyms);
		free(cut);
	}
	kallsyms_built_free(&built);
	kw_free(ctx);
}

/* Expect that names, of which there should be one, are refused. */
static void expect_refused(const uint8_t *names, size_t len)
{
	struct kallsyms_built built = kallsyms_build(few, 1, KALLSYMS_BASE_RELATIVE, 0);
	struct kallsyms_bytes bytes = kallsyms_built_bytes(&built, PLACE);
	struct kw_symbol_query query = { .name = "x" };
	struct kallsyms *kallsyms;
	kw_ctx *ctx = kw_new();

	bytes.names = names;
	bytes.names_len = len;
	cr_assert_eq(kallsyms_new(ctx, &bytes, &kallsyms), KW_OK);
	cr_assert_not(kallsyms_find(kallsyms, &query, 1));
	kallsyms_free(kallsyms);
	kallsyms_built_free(&built);
	kw_free(ctx);
}

Test(symbol_kallsyms, lengths_beyond_the_end_and_empty_names_are_refused)
{
	static const uint8_t half_length[] = { 0x80 }, beyond[] = { 0x83, 0x7f, 't', 'x' },
			     empty[] = { 0, 't' }, short_of_one[] = { 3, 't', 'x' };

	expect_refused(half_length, sizeof(half_length));
	expect_refused(beyond, sizeof(beyond));
	expect_refused(empty, sizeof(empty));
	expect_refused(short_of_one, sizeof(short_of_one));
}

Test(symbol_kallsyms, empty_tokens_are_no_letter)
{
	/* Token 1 is the empty string. */
	static const uint8_t names[] = { 5, 1, 't', 1, 'x', 1 };
	struct kallsyms_built built = kallsyms_build(few, 1, KALLSYMS_BASE_RELATIVE, 0);
	struct kallsyms_bytes bytes = kallsyms_built_bytes(&built, PLACE);
	struct kw_symbol_query query = { .name = "x" };
	struct kallsyms *kallsyms;
	kw_ctx *ctx = kw_new();

	bytes.names = names;
	bytes.names_len = sizeof(names);
	cr_assert_eq(kallsyms_new(ctx, &bytes, &kallsyms), KW_OK);
	cr_assert(kallsyms_find(kallsyms, &query, 1));
	cr_assert_eq(query.addr, 0);
	kallsyms_free(kallsyms);
	kallsyms_built_free(&built);
	kw_free(ctx);
}

Test(symbol_kallsyms, a_token_index_that_does_not_fit_is_refused)
{
	kw_ctx *ctx = kw_new();

	for (size_t i = 0; i < 256; i++) {
		struct kallsyms_built built = kallsyms_build(few, NR_FEW, KALLSYMS_PERCPU_ABSOLUTE, TEXT);
		struct kallsyms_bytes bytes = kallsyms_built_bytes(&built, PLACE);
		struct kallsyms *kallsyms;

		image_put(&built.index, 2 * i, "\xff\xff", 2);
		bytes.token_index = built.index.bytes;
		cr_assert_eq(kallsyms_new(ctx, &bytes, &kallsyms), KW_FORMAT);
		kallsyms_built_free(&built);
	}
	kw_free(ctx);
}

Test(symbol_kallsyms, a_token_table_cut_short_is_refused)
{
	struct kallsyms_built built = kallsyms_build(few, NR_FEW, KALLSYMS_PERCPU_ABSOLUTE, TEXT);
	kw_ctx *ctx = kw_new();

	for (size_t len = 0; len + 1 < built.tokens.size; len++) {
		struct kallsyms_bytes bytes = kallsyms_built_bytes(&built, PLACE);
		struct kallsyms *kallsyms = NULL;
		uint8_t *cut = memcpy(malloc(len + 1), built.tokens.bytes, len);
		kw_status status;

		bytes.token_table = cut;
		bytes.token_table_len = len;
		status = kallsyms_new(ctx, &bytes, &kallsyms);
		kallsyms_free(kallsyms);
		free(cut);
		/* The last string may lose its end, but not begin beyond. */
		cr_assert_eq(status, KW_FORMAT, "%zu bytes", len);
	}
	kallsyms_built_free(&built);
	kw_free(ctx);
}

/* In memory. */

struct memory {
	struct image ram;
	struct image_target target;
	struct built_symbol *symbols;
	struct kallsyms_tables tables;
};

/* RAM of 4 MiB that is the kernel image, mapped from TEXT on, with tables in its third MiB. */
static void build_memory(struct memory *memory, enum kallsyms_form form, enum kallsyms_order order)
{
	memory->symbols = make_many();
	memory->ram = image_new(4 * MIB);
	memory->tables = kallsyms_put(&memory->ram, 2 * MIB + 8, TEXT + 2 * MIB + 8, memory->symbols, NR_MANY,
				      form, order, TEXT);
}

static void open_memory(struct memory *memory, const struct kw_open_options *opts)
{
	struct kw_kernel_map map = {
		.phys_base = 0 - (TEXT - KERNEL_MAP), .image_start = TEXT, .image_size = 4 * MIB, .levels = 4
	};

	cr_assert_eq(image_open(&memory->target, &memory->ram, opts), KW_OK);
	cr_assert_eq(kw_symbols_new(&memory->target.ctx), KW_OK);
	memory->target.target.symbols->map = map;
	cr_assert_eq(kw_memory_set_kernel(&memory->target.ctx, &map), KW_OK);
}

static void close_memory(struct memory *memory)
{
	kw_symbols_free(memory->target.target.symbols);
	image_close(&memory->target);
	image_free(&memory->ram);
	free_many(memory->symbols);
}

static const struct {
	enum kallsyms_form form;
	enum kallsyms_order order;
} releases[] = {
	{ KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_FIRST },
	{ KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_WITH_SEQS },
	{ KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_LAST },
	{ KALLSYMS_BASE_RELATIVE, KALLSYMS_OFFSETS_LAST },
	{ KALLSYMS_PLACE_RELATIVE, KALLSYMS_NO_BASE },
};

#define NR_RELEASES (sizeof(releases) / sizeof(*releases))

static void expect_table(struct memory *memory, const struct kallsyms_tables *tables, bool in_order)
{
	struct table table = { 0 };

	cr_assert_eq(kallsyms_open(&memory->target.ctx, tables, &table.kallsyms), KW_OK, "%s",
		     kw_error(&memory->target.ctx));
	expect_all(&table, memory->symbols, NR_MANY);
	cr_assert_eq(kallsyms_order_holds(table.kallsyms), in_order);
	for (size_t i = 0; i < NR_MANY; i += 7)
		cr_assert_eq(find(&table, memory->symbols[i].name), TEXT + 16 * i);
	cr_assert_eq(find(&table, "no_such_thing"), KW_NO_ADDR);
	kallsyms_free(table.kallsyms);
}

Test(symbol_kallsyms, tables_of_every_release_are_opened_and_found)
{
	static const struct kw_open_options with_pread = { .size = sizeof(with_pread), .no_mmap = true };

	for (size_t i = 0; i < 2 * NR_RELEASES; i++) {
		/* What is not mapped is not copied for the order's sake, but where it stands among the names. */
		bool in_order = releases[i / 2].order == KALLSYMS_WITH_SEQS ||
				(i % 2 == 0 && releases[i / 2].order != KALLSYMS_OFFSETS_FIRST);
		struct memory memory;
		struct kallsyms_tables found;

		build_memory(&memory, releases[i / 2].form, releases[i / 2].order);
		open_memory(&memory, i % 2 ? &with_pread : NULL);
		expect_table(&memory, &memory.tables, in_order);
		cr_assert_eq(kallsyms_search(&memory.target.ctx, TEXT, 4 * MIB, TEXT, &found), KW_OK,
			     "release %zu", i / 2);
		cr_assert(!memcmp(&found, &memory.tables, sizeof(found)), "release %zu", i / 2);
		expect_table(&memory, &found, in_order);
		close_memory(&memory);
	}
}

Test(symbol_kallsyms, nothing_is_found_where_nothing_is)
{
	struct memory memory;
	struct kallsyms_tables found;

	build_memory(&memory, KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_FIRST);
	image_free(&memory.ram);
	memory.ram = image_new(4 * MIB);
	open_memory(&memory, NULL);
	cr_assert_eq(kallsyms_search(&memory.target.ctx, TEXT, 4 * MIB, TEXT, &found), KW_NOTFOUND);
	cr_assert_eq(kallsyms_search(&memory.target.ctx, TEXT, 0, TEXT, &found), KW_NOTFOUND);
	close_memory(&memory);
}

Test(symbol_kallsyms, a_number_that_does_not_fit_is_not_believed)
{
	static const uint32_t numbers[] = { 0, NR_MANY - 1, NR_MANY + 1, 0x7fffffff, UINT32_MAX };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct memory memory;
		struct kallsyms_tables found;
		struct kallsyms *kallsyms = NULL;
		kw_status status;

		build_memory(&memory, KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_LAST);
		image_put(&memory.ram, memory.tables.num_syms - TEXT, &numbers[i], 4);
		open_memory(&memory, NULL);
		cr_assert_eq(kallsyms_search(&memory.target.ctx, TEXT, 4 * MIB, TEXT, &found), KW_NOTFOUND,
			     "%u", numbers[i]);
		status = kallsyms_open(&memory.target.ctx, &memory.tables, &kallsyms);
		if (!numbers[i] || numbers[i] > KALLSYMS_MAX_SYMBOLS)
			cr_assert_eq(status, KW_FORMAT);
		kallsyms_free(kallsyms);
		close_memory(&memory);
	}
}

Test(symbol_kallsyms, tables_that_are_nowhere_or_in_a_strange_order_are_refused)
{
	struct memory memory;
	struct kallsyms_tables tables;
	struct kallsyms *kallsyms;

	build_memory(&memory, KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_LAST);
	open_memory(&memory, NULL);
	for (size_t i = 0; i < 6; i++) {
		tables = memory.tables;
		(&tables.num_syms)[i] = TEXT + 64 * MIB;
		cr_assert_neq(kallsyms_open(&memory.target.ctx, &tables, &kallsyms), KW_OK, "table %zu", i);
	}
	tables = memory.tables;
	tables.token_table = tables.names;
	cr_assert_eq(kallsyms_open(&memory.target.ctx, &tables, &kallsyms), KW_FORMAT);
	close_memory(&memory);
}

Test(symbol_kallsyms, the_bait_of_an_alphabet_is_not_taken)
{
	struct memory memory;
	struct kallsyms_tables found;
	uint8_t bait[52];

	for (size_t i = 0; i < 26; i++) {
		bait[2 * i] = (uint8_t)('a' + i);
		bait[2 * i + 1] = 0;
	}
	build_memory(&memory, KALLSYMS_PERCPU_ABSOLUTE, KALLSYMS_OFFSETS_FIRST);
	for (size_t at = 4096; at < MIB; at += sizeof(bait))
		image_put(&memory.ram, at, bait, sizeof(bait));
	open_memory(&memory, NULL);
	cr_assert_eq(kallsyms_search(&memory.target.ctx, TEXT, 4 * MIB, TEXT, &found), KW_OK);
	cr_assert_eq(found.names, memory.tables.names);
	close_memory(&memory);
}
