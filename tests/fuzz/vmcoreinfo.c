/*
 * Fuzzes the text parsers of the symbol room: VMCOREINFO and the "ADDRESS LETTER NAME" of System.map.
 *
 * Input: the text, taken as both. What is found must lie inside of it; a list must answer for each name it holds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/origins.h"
#include "symbol/vmcoreinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void check_vmcoreinfo(const char *text, size_t size)
{
	static const char *const keys[] = { "OSRELEASE", "PAGESIZE", "NUMBER(phys_base)", "SYMBOL(_stext)",
					    "KERNELOFFSET" };
	size_t len = vmcoreinfo_length(text, size);

	require(len <= size);
	vmcoreinfo_is_valid(text, len);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t value_len;
		uint64_t number;
		const char *value = vmcoreinfo_find(text, len, keys[i], &value_len);

		require(!value || (value > text && value + value_len <= text + len));
		require(value || !vmcoreinfo_number(text, len, keys[i], &number));
		vmcoreinfo_number(text, len, keys[i], &number);
	}
}

static bool check_symbol(const char *name, uint64_t addr, char letter, void *arg)
{
	const struct symbol_list *list = arg;
	char found[KW_SYMBOL_NAME_SIZE];
	uint64_t lowest, offset;

	(void)letter;
	require(symbol_list_find(list, name, &lowest) && lowest <= addr);
	if (symbol_list_at(list, addr, found, &offset))
		require(!offset);
	return true;
}

static void check_list(kw_ctx *ctx, const char *text, size_t size)
{
	struct symbol_list *list;

	if (symbol_text_parse(ctx, text, size, &list) != KW_OK)
		return;
	require(symbol_list_finish(list));
	symbol_list_each(list, check_symbol, list);
	symbol_list_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kw_ctx *ctx = kw_new();

	if (!ctx)
		return 0;
	check_vmcoreinfo((const char *)data, size);
	check_list(ctx, (const char *)data, size);
	kw_free(ctx);
	return 0;
}
