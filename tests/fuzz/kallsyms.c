/*
 * Fuzzes kallsyms: decoding, and finding the tables by their shape.
 *
 * Input: form (1 byte: bit 0 clear with a base, else place-relative; bit 7 with an order of names), number of symbols (4),
 * length of the names (2), of the token table (2); then names, token table, index (512) and offsets; at the end of an
 * input with an order its markers and seqs. The whole input is also searched as if it were an image.
 *
 * Every symbol that is listed must be found by its name, at the address of the first one so called, and its address
 * must lead to a symbol; an order that is none may hide names.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms_search.h"

#define HEADER	9
#define INDEX	512
#define ADDRESS 0xffffffff81000000ULL
#define CHECKED 300 /* symbols looked up again, so that big inputs stay fast */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static uint32_t number(const uint8_t *data, size_t bytes)
{
	uint32_t value = 0;

	memcpy(&value, data, bytes);
	return value;
}

/* Cut the input into tables; false when it is too short. */
static bool cut(const uint8_t *data, size_t size, struct kallsyms_bytes *ret)
{
	size_t names, tokens;

	if (size < HEADER + INDEX)
		return false;
	names = number(data + 5, 2);
	tokens = number(data + 7, 2);
	if (size - HEADER - INDEX < names + tokens)
		return false;
	*ret = (struct kallsyms_bytes){
		.names = data + HEADER,
		.names_len = names,
		.token_table = data + HEADER + names,
		.token_table_len = tokens,
		.token_index = data + HEADER + names + tokens,
		.offsets = data + HEADER + names + tokens + INDEX,
		.num_syms = number(data + 1, 4),
		.offsets_addr = ADDRESS,
		.relative_base = data[0] & 0x7f ? KW_NO_ADDR : ADDRESS,
	};
	if (ret->num_syms > (size - HEADER - INDEX - names - tokens) / 4)
		ret->num_syms = (uint32_t)((size - HEADER - INDEX - names - tokens) / 4);
	return ret->num_syms > 0;
}

/* The markers and seqs at the end of the input, which may be anything. */
static void cut_order(const uint8_t *data, size_t size, struct kallsyms_bytes *bytes)
{
	size_t markers = 4 * (((size_t)bytes->num_syms + 255) / 256), seqs = 3 * (size_t)bytes->num_syms;

	if (!(data[0] & 0x80) || markers + seqs > size)
		return;
	bytes->markers = data + size - markers - seqs;
	bytes->seqs = data + size - seqs;
}

struct check {
	struct kallsyms *kallsyms;
	bool in_order;
	size_t nr;
};

static bool check_symbol(const char *name, uint64_t addr, char letter, void *arg)
{
	struct check *check = arg;
	struct kw_symbol_query queries[] = { { .name = name }, { .name = "init_task" } };
	char found[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;

	(void)letter;
	kallsyms_find(check->kallsyms, queries, 2);
	/* A name as long as it may be was perhaps cut. */
	if (strlen(name) < KW_SYMBOL_NAME_SIZE - 1 && *name && !check->in_order)
		require(queries[0].addr != KW_NO_ADDR || addr == KW_NO_ADDR);
	if (kallsyms_at(check->kallsyms, addr, found, &offset) == KW_OK)
		require(strlen(found) < sizeof(found));
	return ++check->nr < CHECKED;
}

static void check_decoding(kw_ctx *ctx, const uint8_t *data, size_t size)
{
	struct check check = { 0 };
	struct kallsyms_bytes bytes;

	if (!cut(data, size, &bytes))
		return;
	cut_order(data, size, &bytes);
	if (kallsyms_new(ctx, &bytes, &check.kallsyms) != KW_OK)
		return;
	check.in_order = bytes.seqs;
	kallsyms_each(check.kallsyms, check_symbol, &check);
	kallsyms_free(check.kallsyms);
}

static void check_search(const uint8_t *data, size_t size)
{
	struct kallsyms_tables tables = { 0 };

	if (kallsyms_search_tokens(data, size, ADDRESS, &tables))
		require(tables.token_table >= ADDRESS && tables.token_index > tables.token_table &&
			tables.token_index + INDEX <= ADDRESS + size);
	if (kallsyms_search_names(data, size, ADDRESS, &tables))
		require(tables.num_syms >= ADDRESS && tables.names > tables.num_syms &&
			tables.names < ADDRESS + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kw_ctx *ctx = kw_new();

	if (!ctx)
		return 0;
	check_decoding(ctx, data, size);
	check_search(data, size);
	kw_free(ctx);
	return 0;
}
