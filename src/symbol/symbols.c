/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols, wherever they come from. The table is found when the first one is asked for; names once asked for are
 * remembered, found or not.
 *
 * Threads: a symbol set is shared by contexts; its lock is held for the whole of each call here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* By itself uthash ends the program when memory runs out. What is not remembered is looked up again. */
#define HASH_NONFATAL_OOM	   1
#define uthash_nonfatal_oom(known) free(known)
#include <uthash.h>

#include "symbol/kallsyms.h"
#include "symbol/origins.h"
#include "symbol/set.h"
#include "util/error.h"

/* Names remembered; beyond that they are looked up again. */
#define MAX_KNOWN 65536
/* The kernel can't be configured for more processors. */
#define MAX_CPUS 8192

struct known_symbol {
	uint64_t addr; /* KW_NO_ADDR: there is none */
	UT_hash_handle hh;
	char name[];
};

kw_status kw_symbols_new(kw_ctx *ctx)
{
	struct kw_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return kw_fail_nomem(ctx);
	pthread_mutex_init(&symbols->lock, NULL);
	symbols->trust_tables = true;
	kw_symbols_free(ctx->target->symbols);
	ctx->target->symbols = symbols;
	return KW_OK;
}

void kw_symbols_free(struct kw_symbols *symbols)
{
	struct known_symbol *known, *next;

	if (!symbols)
		return;
	HASH_ITER(hh, symbols->known, known, next) {
		HASH_DEL(symbols->known, known);
		free(known);
	}
	kallsyms_free(symbols->kallsyms);
	symbol_list_free(symbols->list);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols->vmcoreinfo);
	free(symbols->failure);
	free(symbols->file);
	free(symbols);
}

/* Finding the table. */

/* The tables can't be those of this kernel when they have its first symbol elsewhere. */
static bool is_of_kernel(kw_ctx *ctx, const struct kallsyms *kallsyms)
{
	const struct kw_symbols *symbols = ctx->target->symbols;
	struct kw_symbol_query query = { .name = "_stext" };
	uint64_t stext = symbols->map.image_start;

	kw_vmcoreinfo_number(ctx, "SYMBOL(_stext)", &stext);
	return kallsyms_find(kallsyms, &query, 1) && query.addr == stext;
}

static kw_status try_tables(kw_ctx *ctx, const struct kallsyms_tables *tables)
{
	struct kallsyms *kallsyms;
	kw_status status = kallsyms_open(ctx, tables, &kallsyms);

	if (status != KW_OK)
		return status;
	if (!is_of_kernel(ctx, kallsyms)) {
		kallsyms_free(kallsyms);
		return kw_fail(ctx, KW_FORMAT,
			       "kallsyms: the tables do not have _stext where the kernel begins");
	}
	ctx->target->symbols->kallsyms = kallsyms;
	ctx->target->symbols->origin = KW_SYMBOLS_KALLSYMS_MEMORY;
	return KW_OK;
}

static kw_status from_vmcoreinfo(kw_ctx *ctx)
{
	struct kallsyms_tables tables;

	if (!ctx->target->symbols->trust_tables ||
	    !kw_vmcoreinfo_number(ctx, "SYMBOL(kallsyms_num_syms)", &tables.num_syms) ||
	    !kw_vmcoreinfo_number(ctx, "SYMBOL(kallsyms_names)", &tables.names) ||
	    !kw_vmcoreinfo_number(ctx, "SYMBOL(kallsyms_token_table)", &tables.token_table) ||
	    !kw_vmcoreinfo_number(ctx, "SYMBOL(kallsyms_token_index)", &tables.token_index) ||
	    !kw_vmcoreinfo_number(ctx, "SYMBOL(kallsyms_offsets)", &tables.offsets))
		return KW_NOTFOUND;
	if (!kw_vmcoreinfo_number(ctx, "SYMBOL(kallsyms_relative_base)", &tables.relative_base))
		tables.relative_base = KW_NO_ADDR;
	return try_tables(ctx, &tables);
}

static kw_status from_proc(kw_ctx *ctx)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	kw_status status;

	if (kw_memory_kind(ctx->target->memory) != KW_SOURCE_LIVE)
		return KW_NOTFOUND;
	status = proc_kallsyms_open(ctx, &symbols->list);
	if (status == KW_OK)
		symbols->origin = KW_SYMBOLS_PROC_KALLSYMS;
	return status;
}

static kw_status from_search(kw_ctx *ctx)
{
	const struct kw_symbols *symbols = ctx->target->symbols;
	uint64_t start = symbols->map.image_start, size = symbols->map.image_size;
	struct kallsyms_tables tables;
	kw_status status = KW_NOTFOUND;

	if (symbols->data > start)
		status = kallsyms_search(ctx, start, size, symbols->data, &tables);
	if (status == KW_NOTFOUND && size)
		status = kallsyms_search(ctx, start, size, start, &tables);
	return status == KW_OK ? try_tables(ctx, &tables) : status;
}

static kw_status find_table(kw_ctx *ctx)
{
	kw_status status;

	kw_clear_error(ctx);
	status = from_vmcoreinfo(ctx);
	if (status != KW_OK && status != KW_NOMEM)
		status = from_proc(ctx);
	if (status != KW_OK && status != KW_NOMEM)
		status = from_search(ctx);
	return status;
}

static const char *form_name(enum kallsyms_form form)
{
	switch (form) {
	case KALLSYMS_PLACE_RELATIVE: return "place-relative";
	case KALLSYMS_PERCPU_ABSOLUTE: return "base-relative, per-CPU absolute";
	default: return "base-relative";
	}
}

static void describe(struct kw_symbols *symbols)
{
	size_t size = sizeof(symbols->description);
	size_t nr = symbols->list ? symbol_list_count(symbols->list) : 0;

	switch (symbols->origin) {
	case KW_SYMBOLS_KALLSYMS_MEMORY:
		snprintf(symbols->description, size, "%" PRIu32 " from kallsyms in memory (%s)",
			 kallsyms_count(symbols->kallsyms), form_name(kallsyms_form(symbols->kallsyms)));
		break;
	case KW_SYMBOLS_PROC_KALLSYMS:
		snprintf(symbols->description, size, "%zu from /proc/kallsyms", nr);
		break;
	case KW_SYMBOLS_SYSTEM_MAP:
		snprintf(symbols->description, size, "%zu from the System.map %.120s", nr, symbols->file);
		break;
	case KW_SYMBOLS_ELF:
		snprintf(symbols->description, size, "%zu from the vmlinux %.120s", nr, symbols->file);
		break;
	default: snprintf(symbols->description, size, "none"); break;
	}
}

static kw_status remember_failure(kw_ctx *ctx)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	size_t len = 0;
	const char *release = kw_vmcoreinfo(ctx, "OSRELEASE", &len);
	uint64_t cut_off = kw_memory_cut_off(ctx->target->memory);
	char cut[64] = "";

	if (cut_off)
		snprintf(cut, sizeof(cut), "the file is cut short by %llu MiB; ",
			 (unsigned long long)((cut_off >> 20) + 1));
	if (asprintf(&symbols->failure,
		     "%s: no symbols: %s%s; give the vmlinux or System.map of %.*s with -k",
		     kw_memory_name(ctx->target->memory), cut,
		     ctx->message ? ctx->message : "the kernel image is not in this memory",
		     release ? (int)len : 12, release ? release : "its kernel") < 0)
		symbols->failure = NULL;
	symbols->status = KW_UNSUPPORTED;
	symbols->looked = true;
	return KW_UNSUPPORTED;
}

/* Have the table; the lock is held. */
static kw_status load(kw_ctx *ctx)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	kw_status status;

	if (!symbols->looked) {
		status = find_table(ctx);
		if (status == KW_NOMEM)
			return status;
		if (status != KW_OK)
			remember_failure(ctx);
		else
			kw_clear_error(ctx);
		symbols->looked = true;
	}
	if (symbols->status != KW_OK)
		return kw_fail(ctx, symbols->status, "%s",
			       symbols->failure ? symbols->failure : "no symbols");
	return KW_OK;
}

/* Begin a call: lock, pass, table. When it fails, nothing is held. */
static kw_status begin(kw_ctx *ctx)
{
	kw_status status;

	if (!ctx->target || !ctx->target->symbols)
		return kw_fail(ctx, KW_INVALID, "nothing is open");
	pthread_mutex_lock(&ctx->target->symbols->lock);
	kw_pass_begin(ctx);
	status = load(ctx);
	if (status != KW_OK) {
		kw_pass_end(ctx);
		pthread_mutex_unlock(&ctx->target->symbols->lock);
	}
	return status;
}

static kw_status end(kw_ctx *ctx, kw_status status)
{
	kw_pass_end(ctx);
	pthread_mutex_unlock(&ctx->target->symbols->lock);
	return status;
}

/* Looking up. */

static const struct known_symbol *find_known(const struct kw_symbols *symbols, const char *name)
{
	struct known_symbol *known;

	HASH_FIND_STR(symbols->known, name, known);
	return known;
}

/* Forgetting is no error. */
static void remember(struct kw_symbols *symbols, const char *name, uint64_t addr)
{
	size_t len = strlen(name);
	struct known_symbol *known;

	if (HASH_COUNT(symbols->known) >= MAX_KNOWN || len >= KW_SYMBOL_NAME_SIZE ||
	    find_known(symbols, name))
		return;
	known = malloc(sizeof(*known) + len + 1);
	if (!known)
		return;
	known->addr = addr;
	memcpy(known->name, name, len + 1);
	HASH_ADD_STR(symbols->known, name, known);
}

static kw_status find_in_kallsyms(kw_ctx *ctx, struct kw_symbol_query *queries, size_t nr)
{
	const struct kw_symbols *symbols = ctx->target->symbols;
	uint64_t faults = kw_fault_count(ctx);

	if (!kallsyms_find(symbols->kallsyms, queries, nr))
		return kw_fail(ctx, KW_FORMAT, "kallsyms: the table of names is damaged");
	return kw_fault_count(ctx) == faults ? KW_OK
					     : kw_fail(ctx, KW_FAILED, "kallsyms: its memory can't be read");
}

static void find_in_list(const struct symbol_list *list, struct kw_symbol_query *queries, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!symbol_list_find(list, queries[i].name, &queries[i].addr))
			queries[i].addr = KW_NO_ADDR;
}

/* Answer the queries that are known; copy the others to `unknown`, in order, and return their number. */
static size_t answer_known(const struct kw_symbols *symbols, struct kw_symbol_query *queries, size_t nr,
			   struct kw_symbol_query *unknown)
{
	size_t nr_unknown = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct known_symbol *known = find_known(symbols, queries[i].name);

		if (known)
			queries[i].addr = known->addr;
		else
			unknown[nr_unknown++] = queries[i];
	}
	return nr_unknown;
}

static kw_status find(kw_ctx *ctx, struct kw_symbol_query *queries, size_t nr)
{
	struct kw_symbols *symbols = ctx->target->symbols;
	struct kw_symbol_query *unknown = calloc(nr ? nr : 1, sizeof(*unknown));
	size_t nr_unknown;
	kw_status status = KW_OK;

	if (!unknown)
		return kw_fail_nomem(ctx);
	nr_unknown = answer_known(symbols, queries, nr, unknown);
	if (symbols->kallsyms)
		status = find_in_kallsyms(ctx, unknown, nr_unknown);
	else
		find_in_list(symbols->list, unknown, nr_unknown);
	for (size_t i = 0; i < nr_unknown && status == KW_OK; i++)
		remember(symbols, unknown[i].name, unknown[i].addr);
	for (size_t i = 0, k = 0; i < nr && status == KW_OK; i++)
		if (k < nr_unknown && unknown[k].name == queries[i].name)
			queries[i].addr = unknown[k++].addr;
	free(unknown);
	return status;
}

kw_status kw_symbol_addresses(kw_ctx *ctx, struct kw_symbol_query *queries, size_t nr)
{
	kw_status status = begin(ctx);

	return status == KW_OK ? end(ctx, find(ctx, queries, nr)) : status;
}

kw_status kw_symbol_address(kw_ctx *ctx, const char *name, uint64_t *ret_addr)
{
	struct kw_symbol_query query = { .name = name };
	kw_status status = kw_symbol_addresses(ctx, &query, 1);

	if (status != KW_OK)
		return status;
	if (query.addr == KW_NO_ADDR)
		return kw_fail(ctx, KW_NOTFOUND, "%s: no such symbol in this kernel", name);
	*ret_addr = query.addr;
	return KW_OK;
}

static kw_status find_at(kw_ctx *ctx, uint64_t addr, char *name, uint64_t *ret_offset)
{
	const struct kw_symbols *symbols = ctx->target->symbols;
	kw_status status;

	if (symbols->kallsyms)
		status = kallsyms_at(symbols->kallsyms, addr, name, ret_offset);
	else
		status = symbol_list_at(symbols->list, addr, name, ret_offset) ? KW_OK : KW_NOTFOUND;
	switch (status) {
	case KW_OK: return KW_OK;
	case KW_NOMEM: return kw_fail_nomem(ctx);
	case KW_NOTFOUND: return kw_fail(ctx, KW_NOTFOUND, "0x%" PRIx64 ": not in the kernel image", addr);
	default: return kw_fail(ctx, status, "kallsyms: the table of names is damaged");
	}
}

kw_status kw_symbol_at(kw_ctx *ctx, uint64_t addr, char *name, uint64_t *ret_offset)
{
	kw_status status = begin(ctx);

	return status == KW_OK ? end(ctx, find_at(ctx, addr, name, ret_offset)) : status;
}

/* What kw_symbols_each() hands out must not be handed out with the lock held: fn may ask for symbols itself. */
kw_status kw_symbols_each(kw_ctx *ctx, bool (*fn)(const char *name, uint64_t addr, char letter, void *arg),
			  void *arg)
{
	const struct kw_symbols *symbols;
	kw_status status = begin(ctx);

	if (status != KW_OK)
		return status;
	symbols = ctx->target->symbols;
	/* The table itself does not change any more. */
	pthread_mutex_unlock(&ctx->target->symbols->lock);
	if (symbols->kallsyms)
		status = kallsyms_each(symbols->kallsyms, fn, arg);
	else
		symbol_list_each(symbols->list, fn, arg);
	kw_pass_end(ctx);
	return status == KW_OK ? KW_OK : kw_fail(ctx, status, "kallsyms: the table of names is damaged");
}

/* How many CPU numbers the kernel has: the table of offsets has an entry for each that it could be built for. */
static kw_status count_cpus(kw_ctx *ctx, uint64_t offsets, uint64_t nr_cpu_ids, uint32_t *ret)
{
	/* A kernel built for one processor has no such table, and plain variables. */
	*ret = offsets == KW_NO_ADDR ? 1 : MAX_CPUS;
	if (nr_cpu_ids == KW_NO_ADDR || offsets == KW_NO_ADDR)
		return KW_OK;
	return kw_read_u32(ctx, nr_cpu_ids, ret);
}

kw_status kw_percpu_address(kw_ctx *ctx, const char *name, unsigned int cpu, uint64_t *ret_addr)
{
	struct kw_symbol_query queries[] = { { .name = name },
					     { .name = "__per_cpu_offset" },
					     { .name = "nr_cpu_ids" } };
	kw_status status = kw_symbol_addresses(ctx, queries, 3);
	uint64_t offset = 0;
	uint32_t nr_cpus;

	if (status != KW_OK)
		return status;
	if (queries[0].addr == KW_NO_ADDR)
		return kw_fail(ctx, KW_NOTFOUND, "%s: no such symbol in this kernel", name);
	status = count_cpus(ctx, queries[1].addr, queries[2].addr, &nr_cpus);
	if (status != KW_OK)
		return kw_fail(ctx, status, "%s: the number of CPUs can't be read", name);
	if (cpu >= nr_cpus || cpu >= MAX_CPUS)
		return kw_fail(ctx, KW_NOTFOUND, "%s: there is no CPU %u", name, cpu);
	if (queries[1].addr != KW_NO_ADDR)
		status = kw_read_u64(ctx, queries[1].addr + 8 * (uint64_t)cpu, &offset);
	if (status != KW_OK)
		return kw_fail(ctx, status, "%s: the per-CPU offset of CPU %u can't be read", name, cpu);
	*ret_addr = queries[0].addr + offset;
	return KW_OK;
}

enum kw_symbol_origin kw_symbols_origin(kw_ctx *ctx)
{
	if (begin(ctx) != KW_OK)
		return KW_SYMBOLS_NONE;
	end(ctx, KW_OK);
	return ctx->target->symbols->origin;
}

const char *kw_symbols_description(kw_ctx *ctx)
{
	struct kw_symbols *symbols = ctx->target ? ctx->target->symbols : NULL;

	if (!symbols || begin(ctx) != KW_OK)
		return symbols && symbols->failure ? symbols->failure : "none";
	if (!*symbols->description)
		describe(symbols);
	end(ctx, KW_OK);
	return symbols->description;
}

const char *kw_symbols_vmlinux(kw_ctx *ctx)
{
	const struct kw_symbols *symbols = ctx->target ? ctx->target->symbols : NULL;

	return symbols && symbols->is_vmlinux ? symbols->file : NULL;
}
