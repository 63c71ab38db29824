/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols as text, the form of nm, System.map and /proc/kallsyms:
 *
 *   ffffffff81000000 T _text
 *   ffffffffc0123000 t some_function	[module]
 */
#include <string.h>

#include "symbol/origins.h"
#include "util/error.h"

static bool parse_address(const char **p, const char *end, uint64_t *ret)
{
	const char *start = *p;
	uint64_t addr = 0;

	for (; *p < end && *p - start < 16; (*p)++) {
		char c = **p;

		if (c >= '0' && c <= '9')
			addr = addr << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			addr = addr << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*ret = addr;
	return *p > start;
}

/* Add a line's symbol; *ret_fits tells whether the line has the form. False when memory runs out. */
static bool add_line(struct symbol_list *list, const char *line, const char *end, bool *ret_fits)
{
	const char *p = line, *name_end;
	uint64_t addr;
	char letter;

	*ret_fits = parse_address(&p, end, &addr) && end - p > 3 && p[0] == ' ' && p[2] == ' ' && p[1] > ' ';
	if (!*ret_fits)
		return true;
	letter = p[1];
	p += 3;
	name_end = memchr(p, '\t', (size_t)(end - p));
	*ret_fits = !memchr(p, '\0', (size_t)(end - p));
	/* What comes behind a tabulator is a module. */
	if (name_end || !*ret_fits)
		return true;
	return symbol_list_add(list, p, (size_t)(end - p), addr, letter);
}

kw_status symbol_text_parse(kw_ctx *ctx, const char *text, size_t len, struct symbol_list **ret)
{
	struct symbol_list *list = symbol_list_new();
	const char *end = text + len;
	size_t number = 0;
	bool fits = true;

	if (!list)
		return kw_fail_nomem(ctx);
	for (const char *line = text; line < end && fits;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		number++;
		if (stop > line && !add_line(list, line, stop, &fits)) {
			symbol_list_free(list);
			return kw_fail_nomem(ctx);
		}
		line = stop + 1;
	}
	if (!fits) {
		symbol_list_free(list);
		return kw_fail(ctx, KW_FORMAT, "line %zu: is not \"ADDRESS LETTER NAME\"", number);
	}
	*ret = list;
	return KW_OK;
}
