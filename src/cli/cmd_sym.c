/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk sym: names to addresses and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const struct kw_column columns[] = {
	{ "address", "ADDRESS", KW_VAL_ADDRESS, KW_UNIT_NONE, KW_SHOW_HEX },
	{ "symbol", "SYMBOL", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN },
	{ "offset", "OFFSET", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_HEX },
};

static void put(kw_writer *writer, uint64_t addr, const char *name, uint64_t offset)
{
	struct kw_value row[] = {
		{ .type = KW_VAL_ADDRESS, .u = addr },
		cli_text(name),
		{ .type = KW_VAL_UINT, .u = offset },
	};

	kw_writer_row(writer, row, 0);
}

static bool parse_address(const char *text, uint64_t *ret)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0 && strncmp(text, "0X", 2) != 0 && strncmp(text, "ffff", 4) != 0)
		return false;
	*ret = strtoull(text, &end, 16);
	return !*end;
}

static kw_status look_up(struct cli *cli, const char *text, kw_writer *writer)
{
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t addr, offset = 0;
	kw_status status;

	if (parse_address(text, &addr)) {
		status = kw_symbol_at(cli->ctx, addr, name, &offset);
		if (!status)
			put(writer, addr, name, offset);
		return status;
	}
	status = kw_symbol_address(cli->ctx, text, &addr);
	if (!status)
		put(writer, addr, text, 0);
	return status;
}

static bool put_each(const char *name, uint64_t addr, char letter, void *arg)
{
	(void)letter;
	put(arg, addr, name, 0);
	return true;
}

static int print_symbols(struct cli *cli, int nr, char **names, bool all)
{
	kw_writer *writer;
	int code = cli_writer(cli, columns, 3, false, &writer);

	if (code)
		return code;
	if (all) {
		kw_status status = kw_symbols_each(cli->ctx, put_each, writer);

		if (status)
			code = cli_fail(cli, status);
	}
	for (int i = 0; i < nr; i++) {
		kw_status status = look_up(cli, names[i], writer);

		if (status) {
			int worse = cli_fail(cli, status);

			code = status == KW_NOTFOUND ? EXIT_NO_MATCH : worse;
		}
	}
	return cli_writer_end(cli, writer, code);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { GLOBAL_LONG, { "all", no_argument, NULL, 'a' }, { 0 } };
	bool all = false;
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "a", options, NULL)) != -1) {
		if (option == 'a')
			all = true;
		else if (!cli_option(cli, &cmd_sym, option, &code))
			return code;
	}
	if (optind == argc && !all)
		return cli_usage(&cmd_sym, "no symbol or address given");
	code = cli_open(cli);
	return code ? code : print_symbols(cli, argc - optind, argv + optind, all);
}

const struct command cmd_sym = {
	"sym",
	run,
	"look up symbols by name or address",
	"Usage: kwalk sym NAME|ADDRESS...\n"
	"       kwalk sym --all\n"
	"\n"
	"Shows the address of a symbol, or the symbol that holds an address (0x..., or\n"
	"ffff... without it).\n"
	"\n"
	"  -a, --all             all symbols, in the order of the kernel's table\n",
};
