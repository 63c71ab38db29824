/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find_symbol TARGET NAME|0xADDRESS...: symbols to addresses, addresses to symbols.
 *
 * The names are looked up together: the kernel's table is compressed, so each call is a pass over it.
 */
#include <kwalk/kwalk.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_address(const char *word)
{
	return strncmp(word, "0x", 2) == 0;
}

/* What is in no symbol is no error of the program: it is said, and the next one is looked up. */
static bool print_symbol_at(kw_ctx *ctx, const char *word)
{
	uint64_t address = strtoull(word, NULL, 16), offset;
	char name[KW_SYMBOL_NAME_SIZE];

	if (kw_symbol_at(ctx, address, name, &offset) != KW_OK) {
		fprintf(stderr, "find_symbol: %s\n", kw_error(ctx));
		return false;
	}
	printf("0x%016" PRIx64 " %s+0x%" PRIx64 "\n", address, name, offset);
	return true;
}

static bool print_address(const struct kw_symbol_query *query)
{
	if (query->addr == KW_NO_ADDR) {
		fprintf(stderr, "find_symbol: %s: no such symbol\n", query->name);
		return false;
	}
	printf("0x%016" PRIx64 " %s\n", query->addr, query->name);
	return true;
}

static bool look_up(kw_ctx *ctx, char **words, size_t nr)
{
	struct kw_symbol_query *queries = calloc(nr, sizeof(*queries));
	bool found_all = true;
	size_t names = 0;

	if (!queries)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!is_address(words[i]))
			queries[names++].name = words[i];
	if (kw_symbol_addresses(ctx, queries, names) != KW_OK) {
		fprintf(stderr, "find_symbol: %s\n", kw_error(ctx));
		free(queries);
		return false;
	}
	for (size_t i = 0; i < names; i++)
		found_all &= print_address(&queries[i]);
	for (size_t i = 0; i < nr; i++)
		if (is_address(words[i]))
			found_all &= print_symbol_at(ctx, words[i]);
	free(queries);
	return found_all;
}

int main(int argc, char **argv)
{
	bool found_all = false;
	kw_ctx *ctx;

	if (argc < 3) {
		fprintf(stderr, "usage: find_symbol TARGET NAME|0xADDRESS...\n");
		return 2;
	}
	ctx = kw_new();
	if (!ctx)
		return 1;
	if (kw_open(ctx, argv[1], NULL) != KW_OK)
		fprintf(stderr, "find_symbol: %s\n", kw_error(ctx));
	else
		found_all = look_up(ctx, argv + 2, (size_t)argc - 2);
	kw_free(ctx);
	return found_all ? 0 : 1;
}
