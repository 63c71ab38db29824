/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values in a printed text: rounded, sizes and times with a unit that fits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "query/script.h"
#include "util/strbuf.h"

static void put_scaled(struct kw_strbuf *sb, double number, const char *unit)
{
	kw_strbuf_printf(sb, fabs(number) < 10 && number != floor(number) ? "%.2f%s" : "%.1f%s", number,
			 unit);
}

static void put_size(struct kw_strbuf *sb, double bytes)
{
	static const char *const units[] = { "B", "K", "M", "G", "T" };
	size_t unit = 0;

	while (fabs(bytes) >= 1024 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	if (unit)
		put_scaled(sb, bytes, units[unit]);
	else
		kw_strbuf_printf(sb, "%.0fB", bytes);
}

static void put_time(struct kw_strbuf *sb, double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 86400e9, "d" }, { 3600e9, "h" }, { 60e9, "m" },
		      { 1e9, "s" },	{ 1e6, "ms" },	 { 1e3, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		/* Minutes, hours and days from two on: 90s rather than 1.5m. */
		if (fabs(ns) >= units[i].ns * (i < 3 ? 2 : 1)) {
			put_scaled(sb, ns / units[i].ns, units[i].name);
			return;
		}
	}
	kw_strbuf_printf(sb, "%.0fns", ns);
}

static void put_number(struct kw_strbuf *sb, const struct kw_value *value)
{
	if (value->type == KW_VAL_INT)
		kw_strbuf_printf(sb, "%" PRId64, value->i);
	else if (value->type != KW_VAL_FLOAT)
		kw_strbuf_printf(sb, "%" PRIu64, value->u);
	else if (value->f == floor(value->f) && fabs(value->f) < 1e15)
		kw_strbuf_printf(sb, "%.0f", value->f);
	else
		kw_strbuf_printf(sb, "%.3g", value->f);
}

void kw_put_piece(struct kw_strbuf *sb, const struct kw_expr *expr, const struct kw_value *value)
{
	switch (value->type) {
	case KW_VAL_ABSENT: kw_strbuf_putc(sb, '-'); return;
	case KW_VAL_STRING: kw_strbuf_add(sb, value->str, value->len); return;
	case KW_VAL_BYTES:
		for (uint32_t i = 0; i < value->len; i++)
			kw_strbuf_printf(sb, "%02x", (unsigned char)value->str[i]);
		return;
	case KW_VAL_BOOL: kw_strbuf_puts(sb, value->u ? "true" : "false"); return;
	case KW_VAL_ADDRESS: kw_strbuf_printf(sb, "0x%" PRIx64, value->u); return;
	default: break;
	}
	switch (expr->unit) {
	case KW_UNIT_BYTES: put_size(sb, kw_value_float(value)); break;
	case KW_UNIT_NANOSECONDS: put_time(sb, kw_value_float(value)); break;
	case KW_UNIT_PERCENT: kw_strbuf_printf(sb, "%.1f%%", kw_value_float(value)); break;
	default: put_number(sb, value); break;
	}
}
