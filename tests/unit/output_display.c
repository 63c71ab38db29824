/* Numbers as ps shows them. */
#include "unit/output_capture.h"

#include "output/display.h"

#include <time.h>

#define NS(seconds) ((seconds)*1000000000ull)

static void expect_today(enum kw_display how, struct kw_value value, uint64_t now, const char *want)
{
	struct kw_strbuf sb = { 0 };
	struct kw_today today = kw_today_of(now);
	size_t width = kw_display(&sb, how, &value, &today);

	cr_expect_str_eq(sb.str, want);
	cr_expect_eq(width, strlen(want), "width of %s", want);
	kw_strbuf_free(&sb);
}

static void expect(enum kw_display how, struct kw_value value, const char *want)
{
	expect_today(how, value, 0, want);
}

static void utc(void)
{
	setenv("TZ", "UTC", 1);
}

TestSuite(output_display, .init = utc);

Test(output_display, cputime)
{
	expect(KW_SHOW_CPUTIME, (struct kw_value)UINT(0), "00:00:00");
	expect(KW_SHOW_CPUTIME, (struct kw_value)UINT(NS(4) - 1), "00:00:03");
	expect(KW_SHOW_CPUTIME, (struct kw_value)UINT(NS(86399)), "23:59:59");
	expect(KW_SHOW_CPUTIME, (struct kw_value)UINT(NS(86400 + 2 * 3600 + 3 * 60 + 4)), "1-02:03:04");
	expect(KW_SHOW_CPUTIME, (struct kw_value)UINT(UINT64_MAX), "213503-23:34:33");
	expect(KW_SHOW_CPUTIME, (struct kw_value)FLOAT(3.5e9), "00:00:03");
	expect(KW_SHOW_CPUTIME, (struct kw_value)INT(-3000000000), "-00:00:03");
}

Test(output_display, elapsed)
{
	expect(KW_SHOW_ELAPSED, (struct kw_value)UINT(0), "00:00");
	expect(KW_SHOW_ELAPSED, (struct kw_value)UINT(NS(5)), "00:05");
	expect(KW_SHOW_ELAPSED, (struct kw_value)UINT(NS(3599)), "59:59");
	expect(KW_SHOW_ELAPSED, (struct kw_value)UINT(NS(3600 + 2 * 60 + 3)), "01:02:03");
	expect(KW_SHOW_ELAPSED, (struct kw_value)UINT(NS(2 * 86400 + 3600 + 2 * 60 + 3)), "2-01:02:03");
	expect(KW_SHOW_ELAPSED, (struct kw_value)UINT(NS(86400)), "1-00:00:00");
}

Test(output_display, kib_is_rounded_down)
{
	expect(KW_SHOW_KIB, (struct kw_value)UINT(0), "0");
	expect(KW_SHOW_KIB, (struct kw_value)UINT(1023), "0");
	expect(KW_SHOW_KIB, (struct kw_value)UINT(1024), "1");
	expect(KW_SHOW_KIB, (struct kw_value)UINT(UINT64_MAX), "18014398509481983");
	expect(KW_SHOW_KIB, (struct kw_value)INT(-2048), "-2");
	expect(KW_SHOW_KIB, (struct kw_value)INT(INT64_MIN), "-9007199254740992");
}

Test(output_display, hex)
{
	expect(KW_SHOW_HEX, (struct kw_value)UINT(0), "0x0");
	expect(KW_SHOW_HEX, (struct kw_value)UINT(0x40012100), "0x40012100");
	expect(KW_SHOW_HEX, (struct kw_value)INT(-1), "0xffffffffffffffff");
	expect(KW_SHOW_HEX, (struct kw_value)ENUM(0x1f), "0x1f");
}

Test(output_display, percent_is_cut_and_loses_its_decimal_at_100)
{
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(0), "0.0");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(0.19), "0.1");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(12.3), "12.3");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(100 * 0.29), "29.0"); /* 28.999999999999996 */
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(99.99), "99.9");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(100), "100");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(799.6), "799");
	expect(KW_SHOW_PERCENT, (struct kw_value)UINT(7), "7.0");
	expect(KW_SHOW_PERCENT, (struct kw_value)INT(-7), "-7.0");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(-0.01), "0.0");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(1e300), "1e+300");
	expect(KW_SHOW_PERCENT, (struct kw_value)FLOAT(__builtin_nan("")), "-");
}

Test(output_display, start_by_the_target_clock)
{
	uint64_t now = NS(1700000000); /* 2023-11-14 22:13:20 UTC */

	expect_today(KW_SHOW_START, (struct kw_value)UINT(now), now, "22:13");
	expect_today(KW_SHOW_START, (struct kw_value)UINT(NS(1699920000)), now, "00:00");
	expect_today(KW_SHOW_START, (struct kw_value)UINT(NS(1699919999)), now, "Nov13");
	expect_today(KW_SHOW_START, (struct kw_value)UINT(NS(1672531200)), now, "Jan01");
	expect_today(KW_SHOW_START, (struct kw_value)UINT(NS(1672531199)), now, "2022");
	expect_today(KW_SHOW_START, (struct kw_value)INT(-1), now, "1969");
	expect_today(KW_SHOW_START, (struct kw_value)UINT(UINT64_MAX), now, "2554");
}

Test(output_display, start_in_the_local_zone)
{
	uint64_t now = NS(1700000000);

	setenv("TZ", "XXX-2", 1);
	expect_today(KW_SHOW_START, (struct kw_value)UINT(now), now, "00:13");
}

Test(output_display, start_by_the_clock_of_the_host)
{
	uint64_t now = NS((uint64_t)time(NULL));
	struct kw_strbuf sb = { 0 };
	struct kw_today today = kw_today_of(0);

	kw_display(&sb, KW_SHOW_START, &(struct kw_value)UINT(now - NS(400 * 86400)), &today);
	cr_expect_eq(sb.len, 4, "a year, not %s", sb.str);
	kw_strbuf_free(&sb);
}

Test(output_display, what_does_not_suit_is_plain)
{
	expect(KW_SHOW_KIB, (struct kw_value)STRING("4096"), "4096");
	expect(KW_SHOW_CPUTIME, (struct kw_value)ABSENT, "-");
	expect(KW_SHOW_ELAPSED, (struct kw_value)BOOL(1), "true");
	expect(KW_SHOW_KIB, (struct kw_value)FLOAT(1e30), "1e+30");
	expect(KW_SHOW_PERCENT, (struct kw_value)ADDRESS(16), "0x10");
	expect((enum kw_display)99, (struct kw_value)INT(-5), "-5");
	expect(KW_SHOW_PLAIN, (struct kw_value){ .type = 77 }, "-");
}
