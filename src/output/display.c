/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers the way ps(1) shows them. It cuts where others round: 1023 bytes are 0 KiB, 0.19 % are 0.1 %. */
#include "output/display.h"

#include "output/number.h"
#include "output/safe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define SECOND 1000000000u

static bool local_time(int64_t seconds, struct tm *tm)
{
	time_t t = (time_t)seconds;

	return localtime_r(&t, tm) != NULL;
}

struct kw_today kw_today_of(uint64_t now)
{
	struct tm tm;
	int64_t seconds = now ? (int64_t)(now / SECOND) : (int64_t)time(NULL);

	tzset();
	if (!local_time(seconds, &tm))
		return (struct kw_today){ 0 };
	return (struct kw_today){ .year = tm.tm_year, .day = tm.tm_yday };
}

/* Split a number into sign and magnitude; fraction is cut. False for what is no number. */
static bool whole_number(const struct kw_value *value, bool *ret_negative, uint64_t *ret_size)
{
	double f;

	switch (value->type) {
	case KW_VAL_UINT:
	case KW_VAL_ENUM:
		*ret_negative = false;
		*ret_size = value->u;
		return true;
	case KW_VAL_INT:
		*ret_negative = value->i < 0;
		*ret_size = value->i < 0 ? -(uint64_t)value->i : (uint64_t)value->i;
		return true;
	case KW_VAL_FLOAT:
		f = fabs(value->f);
		if (!(f < 0x1p64))
			return false;
		*ret_negative = value->f < 0;
		*ret_size = (uint64_t)f;
		return true;
	default: return false;
	}
}

static void put_two(struct kw_strbuf *sb, uint64_t number, char after)
{
	char text[] = { (char)('0' + number / 10), (char)('0' + number % 10), after };

	kw_strbuf_add(sb, text, after ? 3 : 2);
}

static void put_duration(struct kw_strbuf *sb, uint64_t ns, bool always_hours)
{
	uint64_t seconds = ns / SECOND, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (days) {
		kw_put_uint(sb, days);
		kw_strbuf_putc(sb, '-');
	}
	if (always_hours || hours)
		put_two(sb, hours % 24, ':');
	put_two(sb, minutes % 60, ':');
	put_two(sb, seconds % 60, 0);
}

/* Month names are not the locale's: a table is read by scripts too. */
static bool put_start(struct kw_strbuf *sb, bool negative, uint64_t ns, const struct kw_today *today)
{
	static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int64_t seconds = (int64_t)(ns / SECOND);
	struct tm tm;

	if (negative)
		seconds = -seconds - (ns % SECOND != 0);
	if (!local_time(seconds, &tm))
		return false;
	if (tm.tm_year != today->year) {
		kw_put_int(sb, (int64_t)tm.tm_year + 1900);
	} else if (tm.tm_yday != today->day) {
		kw_strbuf_puts(sb, months[tm.tm_mon]);
		put_two(sb, (uint64_t)tm.tm_mday, 0);
	} else {
		put_two(sb, (uint64_t)tm.tm_hour, ':');
		put_two(sb, (uint64_t)tm.tm_min, 0);
	}
	return true;
}

/* ps drops the decimal from 100 on. The small addition is because 100 * 0.29 is 28.999999999999996. */
static bool put_percent(struct kw_strbuf *sb, const struct kw_value *value)
{
	double f = value->type == KW_VAL_FLOAT ? value->f
		   : value->type == KW_VAL_INT ? (double)value->i
					       : (double)value->u;
	double exact = fabs(f) * 10 + 1e-6;
	uint64_t tenths;

	if (!(exact < 0x1p64))
		return false;
	tenths = (uint64_t)exact;
	if (f < 0 && tenths > 0)
		kw_strbuf_putc(sb, '-');
	kw_put_uint(sb, tenths / 10);
	if (tenths < 1000) {
		kw_strbuf_putc(sb, '.');
		kw_strbuf_putc(sb, (char)('0' + tenths % 10));
	}
	return true;
}

/* Three decimals, those that are zeros left out; what is that small is shown in full. */
static bool put_rounded(struct kw_strbuf *sb, const struct kw_value *value)
{
	double thousandths = value->type == KW_VAL_FLOAT ? round(fabs(value->f) * 1000) : 0;
	uint64_t number;
	char digits[8];

	if (!(thousandths >= 1) || thousandths >= 0x1p53)
		return false;
	number = (uint64_t)thousandths;
	if (value->f < 0)
		kw_strbuf_putc(sb, '-');
	kw_put_uint(sb, number / 1000);
	if (number % 1000) {
		snprintf(digits, sizeof(digits), ".%03u", (unsigned int)(number % 1000));
		for (size_t i = 3; digits[i] == '0'; i--)
			digits[i] = '\0';
		kw_strbuf_puts(sb, digits);
	}
	return true;
}

/* False, and nothing is appended, when the value has to be shown plain. */
static bool put_as(struct kw_strbuf *sb, enum kw_display how, const struct kw_value *value,
		   const struct kw_today *today)
{
	bool negative;
	uint64_t size;

	if (how == KW_SHOW_ROUNDED)
		return put_rounded(sb, value);
	if (how == KW_SHOW_PLAIN || how > KW_SHOW_OCTAL || !whole_number(value, &negative, &size))
		return false;
	if (how == KW_SHOW_PERCENT)
		return put_percent(sb, value);
	if (how == KW_SHOW_START)
		return put_start(sb, negative, size, today);
	if (negative && how != KW_SHOW_HEX)
		kw_strbuf_putc(sb, '-');
	switch (how) {
	case KW_SHOW_KIB: kw_put_uint(sb, size / 1024); return true;
	case KW_SHOW_CPUTIME: put_duration(sb, size, true); return true;
	case KW_SHOW_ELAPSED: put_duration(sb, size, false); return true;
	case KW_SHOW_HEX: kw_put_hex(sb, negative ? -size : size); return true;
	case KW_SHOW_OCTAL: kw_strbuf_printf(sb, "0%03" PRIo64, size); return true;
	default: return false;
	}
}

size_t kw_display(struct kw_strbuf *sb, enum kw_display how, const struct kw_value *value,
		  const struct kw_today *today)
{
	size_t start = sb->len;

	if (value->type == KW_VAL_STRING)
		return kw_safe_add(sb, KW_SAFE_TEXT, value->str, value->len);
	if (!put_as(sb, how, value, today) && !kw_put_base(sb, value))
		kw_strbuf_putc(sb, '-');
	return sb->len - start; /* all of it ASCII */
}
