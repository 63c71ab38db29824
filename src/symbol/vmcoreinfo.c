/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of VMCOREINFO.
 *
 *   OSRELEASE=6.1.0-57-cloud-amd64         text
 *   PAGESIZE=4096                          decimal
 *   SYMBOL(swapper_pg_dir)=ffffffff8ee10000  an address as it is in the running kernel, hexadecimal without 0x
 *   NUMBER(phys_base)=-599785472           decimal, signed
 *   KERNELOFFSET=c400000                   by how much KASLR has moved the image, hexadecimal without 0x
 *
 * Nothing of it is trusted: a line without '=' is skipped, a number that is none does not exist.
 */
#include "symbol/vmcoreinfo.h"

#include <string.h>

#include "symbol/set.h"

static bool is_text(char c)
{
	return (unsigned char)c >= ' ' || c == '\n' || c == '\t';
}

size_t vmcoreinfo_length(const char *text, size_t size)
{
	size_t len = 0;

	while (len < size && len < VMCOREINFO_MAX && is_text(text[len]))
		len++;
	return len;
}

const char *vmcoreinfo_find(const char *text, size_t len, const char *key, size_t *ret_len)
{
	size_t key_len = strlen(key);
	const char *end = text + len;

	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t line_len = (size_t)((stop ? stop : end) - line);

		if (line_len > key_len && line[key_len] == '=' && !memcmp(line, key, key_len)) {
			*ret_len = line_len - key_len - 1;
			return line + key_len + 1;
		}
		line += line_len + 1;
	}
	return NULL;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static bool parse_digits(const char *text, size_t len, unsigned int base, uint64_t *ret)
{
	uint64_t value = 0;

	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned int digit = (unsigned int)digit_of(text[i]);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret = value;
	return true;
}

static bool parse_decimal(const char *text, size_t len, uint64_t *ret)
{
	bool negative = len && *text == '-';
	uint64_t value;

	if (!parse_digits(text + negative, len - negative, 10, &value))
		return false;
	if (negative && value > (uint64_t)INT64_MAX + 1)
		return false;
	*ret = negative ? 0 - value : value;
	return true;
}

static bool is_hexadecimal(const char *key)
{
	return !strncmp(key, "SYMBOL(", 7) || !strncmp(key, "ADDRESS(", 8) || !strcmp(key, "KERNELOFFSET");
}

bool vmcoreinfo_number(const char *text, size_t len, const char *key, uint64_t *ret)
{
	size_t value_len;
	const char *value = vmcoreinfo_find(text, len, key, &value_len);

	if (!value)
		return false;
	if (is_hexadecimal(key) || (value_len > 2 && !memcmp(value, "0x", 2))) {
		size_t skip = value_len > 2 && !memcmp(value, "0x", 2) ? 2 : 0;

		return parse_digits(value + skip, value_len - skip, 16, ret);
	}
	return parse_decimal(value, value_len, ret);
}

bool vmcoreinfo_is_valid(const char *text, size_t len)
{
	uint64_t page_size, value;

	return len > strlen(VMCOREINFO_MARK) && !memcmp(text, VMCOREINFO_MARK, strlen(VMCOREINFO_MARK)) &&
	       vmcoreinfo_number(text, len, "PAGESIZE", &page_size) && page_size == 4096 &&
	       vmcoreinfo_number(text, len, "SYMBOL(swapper_pg_dir)", &value) && value >= KERNEL_MAP &&
	       vmcoreinfo_number(text, len, "SYMBOL(_stext)", &value) && value >= KERNEL_MAP;
}

static const struct kw_symbols *symbols_of(const kw_ctx *ctx)
{
	const struct kw_symbols *symbols = ctx->target ? ctx->target->symbols : NULL;

	return symbols && symbols->vmcoreinfo ? symbols : NULL;
}

const char *kw_vmcoreinfo(kw_ctx *ctx, const char *key, size_t *ret_len)
{
	const struct kw_symbols *symbols = symbols_of(ctx);

	return symbols ? vmcoreinfo_find(symbols->vmcoreinfo, symbols->vmcoreinfo_len, key, ret_len) : NULL;
}

bool kw_vmcoreinfo_number(kw_ctx *ctx, const char *key, uint64_t *ret)
{
	const struct kw_symbols *symbols = symbols_of(ctx);

	return symbols && vmcoreinfo_number(symbols->vmcoreinfo, symbols->vmcoreinfo_len, key, ret);
}

const char *kw_vmcoreinfo_origin(kw_ctx *ctx)
{
	const struct kw_symbols *symbols = ctx->target ? ctx->target->symbols : NULL;

	return symbols ? symbols->vmcoreinfo_origin : "none";
}
