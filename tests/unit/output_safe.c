/* Text that a terminal may see. */
#include "unit/output_capture.h"

#include "output/safe.h"
#include "output/utf8.h"

static void expect_safe(const char *bytes, size_t len, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	kw_put_safe(out, bytes, len);
	fclose(out);
	cr_expect_str_eq(text, want);
	free(text);
}

#define EXPECT_SAFE(bytes, want) expect_safe(bytes, sizeof(bytes) - 1, want)
#define EXPECT_KEPT(bytes)	 EXPECT_SAFE(bytes, bytes)

Test(output_safe, printable_text_stays)
{
	EXPECT_KEPT("");
	EXPECT_KEPT("kworker/0:1-events (x) [y]");
	EXPECT_KEPT("\xc2\xa0\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x90\xa7 e\xcc\x81");
	EXPECT_KEPT("\xf4\x8f\xbf\xbf"); /* the last code point */
}

Test(output_safe, controls)
{
	EXPECT_SAFE("\n\t\033\\\r\0\x07\x7f", "\\n\\t\\e\\\\\\x0d\\x00\\x07\\x7f");
	EXPECT_SAFE("\033]0;title\007", "\\e]0;title\\x07");
	EXPECT_SAFE("\xc2\x80\xc2\x9b\xc2\x9f", "\\u{80}\\u{9b}\\u{9f}");
}

Test(output_safe, what_steers_or_hides)
{
	EXPECT_SAFE("\xe2\x80\x8b\xe2\x80\x8e\xe2\x80\x8f", "\\u{200b}\\u{200e}\\u{200f}");
	EXPECT_SAFE("\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}");
	EXPECT_SAFE("\xe2\x80\xaa\xe2\x80\xae", "\\u{202a}\\u{202e}");
	EXPECT_SAFE("\xe2\x81\xa6\xe2\x81\xa9", "\\u{2066}\\u{2069}");
	EXPECT_SAFE("\xef\xbb\xbf", "\\u{feff}");
	EXPECT_SAFE("\xc2\xad\xd8\x9c", "\\u{ad}\\u{61c}");
	EXPECT_SAFE("\xf3\xa0\x81\x81", "\\u{e0041}");
}

Test(output_safe, bytes_that_are_not_utf8)
{
	EXPECT_SAFE("\x80", "\\x80");
	EXPECT_SAFE("\xff\xfe", "\\xff\\xfe");
	EXPECT_SAFE("\xc0\x80", "\\xc0\\x80");			 /* overlong NUL */
	EXPECT_SAFE("\xc1\xbf", "\\xc1\\xbf");			 /* overlong DEL */
	EXPECT_SAFE("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf");		 /* overlong */
	EXPECT_SAFE("\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf"); /* overlong */
	EXPECT_SAFE("\xed\xa0\x80", "\\xed\\xa0\\x80");		 /* surrogate */
	EXPECT_SAFE("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	EXPECT_SAFE("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
	EXPECT_SAFE("\xe4\xb8", "\\xe4\\xb8"); /* cut short */
	EXPECT_SAFE("\xe4\xb8z\xc3", "\\xe4\\xb8z\\xc3");
	EXPECT_SAFE("\xe4\xe4\xb8\xad", "\\xe4\xe4\xb8\xad"); /* takes up again at the next character */
}

Test(output_safe, decoding_does_not_read_past_the_end)
{
	for (size_t len = 1; len < 4; len++) {
		char *bytes = malloc(len);
		uint32_t code;

		memcpy(bytes, "\xf0\x9f\x90\xa7", len);
		cr_expect_eq(kw_utf8_decode(bytes, len, &code), 0);
		free(bytes);
	}
}

Test(output_safe, every_code_point_decodes_to_itself)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		char bytes[4];
		size_t len = 0;
		uint32_t got = ~code;
		bool surrogate = code >= 0xd800 && code <= 0xdfff;

		if (code < 0x80) {
			bytes[len++] = (char)code;
		} else if (code < 0x800) {
			bytes[len++] = (char)(0xc0 | code >> 6);
			bytes[len++] = (char)(0x80 | (code & 0x3f));
		} else if (code < 0x10000) {
			bytes[len++] = (char)(0xe0 | code >> 12);
			bytes[len++] = (char)(0x80 | (code >> 6 & 0x3f));
			bytes[len++] = (char)(0x80 | (code & 0x3f));
		} else {
			bytes[len++] = (char)(0xf0 | code >> 18);
			bytes[len++] = (char)(0x80 | (code >> 12 & 0x3f));
			bytes[len++] = (char)(0x80 | (code >> 6 & 0x3f));
			bytes[len++] = (char)(0x80 | (code & 0x3f));
		}
		cr_assert_eq(kw_utf8_decode(bytes, len, &got), surrogate ? 0 : len, "U+%04X", code);
		if (!surrogate)
			cr_assert_eq(got, code, "U+%04X", code);
	}
}

Test(output_safe, widths)
{
	static const struct {
		uint32_t code;
		int width;
	} cases[] = {
		{ 0, -1 },	 { 0x1f, -1 },	 { ' ', 1 },	 { '~', 1 },	 { 0x7f, -1 },
		{ 0x9f, -1 },	 { 0xa0, 1 },	 { 0xad, -1 },	 { 0xe9, 1 },	 { 0x300, 0 },
		{ 0x36f, 0 },	 { 0x370, 1 },	 { 0x1100, 2 },	 { 0x1160, 0 },	 { 0x200b, -1 },
		{ 0x2010, 1 },	 { 0x2027, 1 },	 { 0x20dd, 0 },	 { 0x3000, 2 },	 { 0x302a, 0 },
		{ 0x4e00, 2 },	 { 0x9fff, 2 },	 { 0xac00, 2 },	 { 0xe000, 1 },	 { 0xfe0f, 0 },
		{ 0xfeff, -1 },	 { 0xff01, 2 },	 { 0xff61, 1 },	 { 0x1f427, 2 }, { 0x20000, 2 },
		{ 0xe0001, -1 }, { 0xe0100, 0 }, { 0xe01ef, 0 }, { 0xe01f0, 1 }, { 0x10ffff, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_eq(kw_utf8_width(cases[i].code), cases[i].width, "U+%04X: %d", cases[i].code,
			     kw_utf8_width(cases[i].code));
}

Test(output_safe, width_counts_escapes)
{
	struct kw_strbuf sb = { 0 };

	cr_expect_eq(kw_safe_add(&sb, KW_SAFE_TEXT, "a\n\xff\xe4\xb8\xad\xe2\x80\xae", 9), 1 + 2 + 4 + 2 + 8);
	cr_expect_eq(kw_safe_add(&sb, KW_SAFE_TEXT, NULL, 0), 0);
	kw_strbuf_free(&sb);
}

Test(output_safe, fit_ends_before_what_does_not)
{
	static const char text[] = "a\\n\\xff\xe4\xb8\xad\\u{202e}z";
	static const size_t ends[] = { 0, 1, 1, 3, 3, 3, 3, 7, 7, 10, 10, 10, 10, 10, 10, 10, 10, 18, 19, 19 };

	for (size_t width = 0; width < ARRAY_SIZE(ends); width++)
		cr_expect_eq(kw_safe_fit(text, sizeof(text) - 1, width), ends[width], "width %zu: %zu", width,
			     kw_safe_fit(text, sizeof(text) - 1, width));
}
