/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as text. printf() takes most of the time of a table of numbers, hence the decimal of our own. */
#include "output/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

#define MAX_DECIMAL 20 /* digits of 64 bits */

/* Two digits at a time, down from end. */
static char *decimal(char *end, uint64_t u)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";

	for (; u >= 100; u /= 100)
		memcpy(end -= 2, &pairs[u % 100 * 2], 2);
	if (u >= 10)
		memcpy(end -= 2, &pairs[u * 2], 2);
	else
		*--end = (char)('0' + u);
	return end;
}

void kw_put_uint(struct kw_strbuf *sb, uint64_t u)
{
	char text[MAX_DECIMAL], *end = text + sizeof(text), *start;

	if (u < 10) {
		kw_strbuf_putc(sb, (char)('0' + u));
		return;
	}
	start = decimal(end, u);
	kw_strbuf_add(sb, start, (size_t)(end - start));
}

void kw_put_int(struct kw_strbuf *sb, int64_t i)
{
	if (i < 0)
		kw_strbuf_putc(sb, '-');
	kw_put_uint(sb, i < 0 ? -(uint64_t)i : (uint64_t)i);
}

void kw_put_hex(struct kw_strbuf *sb, uint64_t u)
{
	char text[18], *end = text + sizeof(text), *start = end;

	do
		*--start = hex_digits[u & 15];
	while (u >>= 4);
	*--start = 'x';
	*--start = '0';
	kw_strbuf_add(sb, start, (size_t)(end - start));
}

/* The decimal point is the locale's and may be several bytes: all that belongs to no number becomes one dot. */
static void put_with_dot(struct kw_strbuf *sb, const char *text)
{
	size_t number;

	for (; *text; text += strcspn(text, "0123456789+-e")) {
		number = strspn(text, "0123456789+-e");
		kw_strbuf_add(sb, text, number);
		text += number;
		if (*text)
			kw_strbuf_putc(sb, '.');
	}
}

void kw_put_double(struct kw_strbuf *sb, double f)
{
	char text[64];

	/* 17 digits are always enough, 15 are always in the text that the number came from. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, f);
		if (strtod(text, NULL) == f)
			break;
	}
	put_with_dot(sb, text);
}

void kw_put_bytes(struct kw_strbuf *sb, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char pair[] = { hex_digits[(unsigned char)bytes[i] >> 4], hex_digits[bytes[i] & 15] };

		kw_strbuf_add(sb, pair, sizeof(pair));
	}
}

bool kw_put_base(struct kw_strbuf *sb, const struct kw_value *value)
{
	switch (value->type) {
	case KW_VAL_UINT:
	case KW_VAL_ENUM: kw_put_uint(sb, value->u); return true;
	case KW_VAL_INT: kw_put_int(sb, value->i); return true;
	case KW_VAL_FLOAT:
		if (!isfinite(value->f))
			return false;
		kw_put_double(sb, value->f);
		return true;
	case KW_VAL_BOOL: kw_strbuf_puts(sb, value->u ? "true" : "false"); return true;
	case KW_VAL_BYTES: kw_put_bytes(sb, value->str, value->len); return true;
	case KW_VAL_ADDRESS: kw_put_hex(sb, value->u); return true;
	default: return false;
	}
}
