/* The text of VMCOREINFO. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/vmcoreinfo.h"

static const char good[] = "OSRELEASE=6.1.0-57-cloud-amd64\n"
			   "BUILD-ID=01d2640d3a13145ee314eb05b155f141b7b7058b\n"
			   "PAGESIZE=4096\n"
			   "SYMBOL(swapper_pg_dir)=ffffffff8ee10000\n"
			   "SYMBOL(_stext)=ffffffff8d400000\n"
			   "NUMBER(phys_base)=-599785472\n"
			   "NUMBER(pgtable_l5_enabled)=1\n"
			   "NUMBER(sme_mask)=0x800000000000\n"
			   "KERNELOFFSET=c400000\n";

static bool number(const char *text, const char *key, uint64_t *ret)
{
	return vmcoreinfo_number(text, strlen(text), key, ret);
}

static uint64_t must_number(const char *key)
{
	uint64_t value = 0;

	cr_assert(number(good, key, &value), "%s", key);
	return value;
}

Test(symbol_vmcoreinfo, a_line_without_a_value_is_skipped)
{
	static const char text[] = "OSRELEASE\nPAGESIZE\n=\n\nPAGESIZE=4096";
	size_t len;

	cr_assert_null(vmcoreinfo_find(text, strlen(text), "OSRELEASE", &len));
	cr_assert(vmcoreinfo_find(text, strlen(text), "PAGESIZE", &len));
	cr_assert_eq(len, 4);
}

Test(symbol_vmcoreinfo, a_key_is_not_found_inside_another)
{
	static const char text[] = "XPAGESIZE=1\nPAGESIZES=2\n";
	uint64_t value;

	cr_assert_not(number(text, "PAGESIZE", &value));
	cr_assert_not(number(text, "AGESIZE", &value));
}

Test(symbol_vmcoreinfo, what_is_no_number_does_not_exist)
{
	static const char *const texts[] = {
		"PAGESIZE=",
		"PAGESIZE=-",
		"PAGESIZE=4096x",
		"PAGESIZE= 1",
		"PAGESIZE=99999999999999999999",
		"PAGESIZE=0x",
		"PAGESIZE=--1",
		"PAGESIZE=+1",
		"PAGESIZE=-9223372036854775809",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		uint64_t value = 77;

		cr_assert_not(number(texts[i], "PAGESIZE", &value), "%s", texts[i]);
		cr_assert_eq(value, 77);
	}
}

Test(symbol_vmcoreinfo, numbers_have_the_base_of_their_key)
{
	size_t len;

	cr_assert_eq(must_number("PAGESIZE"), 4096);
	cr_assert_eq((int64_t)must_number("NUMBER(phys_base)"), -599785472);
	cr_assert_eq(must_number("SYMBOL(_stext)"), 0xffffffff8d400000);
	cr_assert_eq(must_number("KERNELOFFSET"), 0xc400000);
	cr_assert_eq(must_number("NUMBER(sme_mask)"), 0x800000000000);
	cr_assert(
		!strncmp(vmcoreinfo_find(good, strlen(good), "OSRELEASE", &len), "6.1.0-57-cloud-amd64", 20));
	cr_assert_eq(len, 20);
}

Test(symbol_vmcoreinfo, the_smallest_number_is_taken)
{
	uint64_t value;

	cr_assert(number("NUMBER(x)=-9223372036854775808", "NUMBER(x)", &value));
	cr_assert_eq((int64_t)value, INT64_MIN);
	cr_assert(number("SYMBOL(x)=ffffffffffffffff", "SYMBOL(x)", &value));
	cr_assert_eq(value, UINT64_MAX);
	cr_assert_not(number("SYMBOL(x)=1ffffffffffffffff", "SYMBOL(x)", &value));
}

Test(symbol_vmcoreinfo, the_text_ends_at_the_first_byte_that_is_none)
{
	char text[64] = "OSRELEASE=6.1\nPAGESIZE=4096\n";
	size_t len = strlen(text);

	memcpy(text + len, "\0garbage", 9);
	cr_assert_eq(vmcoreinfo_length(text, sizeof(text)), len);
	text[14] = '\x01';
	cr_assert_eq(vmcoreinfo_length(text, sizeof(text)), 14);
	cr_assert_eq(vmcoreinfo_length(text, 0), 0);
}

Test(symbol_vmcoreinfo, only_a_whole_text_is_valid)
{
	cr_assert(vmcoreinfo_is_valid(good, strlen(good)));
	for (size_t len = 0; len < strlen(good); len++) {
		/* An exact copy, so that a read one byte too far is seen. */
		char *text = memcpy(malloc(len + 1), good, len);
		bool valid = vmcoreinfo_is_valid(text, len);

		free(text);
		/* What comes after the three that are needed does not matter. */
		cr_assert_eq(valid, len >= (size_t)(strstr(good, "8d400000\n") - good) + 8, "%zu bytes", len);
	}
}

Test(symbol_vmcoreinfo, another_page_size_or_a_user_address_is_refused)
{
	static const char arm[] = "OSRELEASE=6.1\nPAGESIZE=65536\nSYMBOL(swapper_pg_dir)=ffffffff8ee10000\n"
				  "SYMBOL(_stext)=ffffffff8d400000\n";
	static const char low[] = "OSRELEASE=6.1\nPAGESIZE=4096\nSYMBOL(swapper_pg_dir)=7fff8ee10000\n"
				  "SYMBOL(_stext)=ffffffff8d400000\n";

	cr_assert_not(vmcoreinfo_is_valid(arm, strlen(arm)));
	cr_assert_not(vmcoreinfo_is_valid(low, strlen(low)));
}
