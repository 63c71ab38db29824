/* Finding names in DWARF by their bytes: at every position, at the ends, by many offsets, inline. */
#include <criterion/criterion.h>
#include <string.h>

#include "type/dwarf_search.h"

#define SIZE 100

static const char text[] = "\0free_page\0page_table\0\0inner_page";
static const struct kw_section strings = { (const uint8_t *)text, sizeof(text) };

static void put_u32(uint8_t *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* All finds in a section, as a set of positions. */
static unsigned int find_all(struct kw_dwarf_needle *needle, const struct kw_section *info, size_t *ret,
			     size_t most)
{
	unsigned int nr = 0;

	for (size_t pos = 0; nr < most && kw_dwarf_search(needle, info, &pos); pos++)
		ret[nr++] = pos;
	return nr;
}

/* "page" is the end of two other strings: both offsets count, wherever they stand. */
Test(type_dwarf_search, every_position)
{
	const uint32_t offsets[] = { 6, 29 };
	struct kw_dwarf_needle needle;

	cr_assert(kw_dwarf_needle_init(&needle, "page", &strings, 4));
	for (size_t at = 0; at + 4 <= SIZE; at++) {
		uint8_t bytes[SIZE];
		struct kw_section info = { bytes, SIZE };
		size_t found[4];

		memset(bytes, 0xff, sizeof(bytes));
		put_u32(bytes + at, offsets[at % 2]);
		cr_expect_eq(find_all(&needle, &info, found, 4), 1, "at %zu", at);
		cr_expect_eq(found[0], at);
	}
	kw_dwarf_needle_deinit(&needle);
}

Test(type_dwarf_search, nothing_to_find)
{
	uint8_t bytes[SIZE] = { 0 };
	struct kw_dwarf_needle needle;
	size_t pos = 0;

	cr_assert(kw_dwarf_needle_init(&needle, "page", &strings, 4));
	for (size_t size = 0; size < SIZE; size++)
		cr_expect_not(kw_dwarf_search(&needle, &(struct kw_section){ bytes, size }, &pos));
	kw_dwarf_needle_deinit(&needle);
	cr_assert(kw_dwarf_needle_init(&needle, "nosuch", &strings, 4));
	cr_expect_eq(needle.nr, 0);
	cr_expect_not(kw_dwarf_search(&needle, &(struct kw_section){ bytes, SIZE }, &pos));
	kw_dwarf_needle_deinit(&needle);
	cr_assert(kw_dwarf_needle_init(&needle, "page", &(struct kw_section){ 0 }, 4),
		  "no section of strings");
	kw_dwarf_needle_deinit(&needle);
}

/* A short name stands in the entry itself, or is referred to all the same. */
Test(type_dwarf_search, short_names)
{
	static const char with_rq[] = "\0irq";
	struct kw_section names = { (const uint8_t *)with_rq, sizeof(with_rq) };
	uint8_t bytes[SIZE];
	struct kw_section info = { bytes, SIZE };
	struct kw_dwarf_needle needle;
	size_t found[8];

	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes + 20, "rq", 3);
	put_u32(bytes + 40, 2);
	memcpy(bytes + SIZE - 3, "rq", 3);
	cr_assert(kw_dwarf_needle_init(&needle, "rq", &names, 4));
	cr_assert_eq(find_all(&needle, &info, found, 8), 3);
	cr_expect_eq(found[0], 20);
	cr_expect_eq(found[1], 40);
	cr_expect_eq(found[2], SIZE - 3);
	kw_dwarf_needle_deinit(&needle);
}

/* In 64-bit DWARF eight bytes are short. */
Test(type_dwarf_search, offsets_of_64_bits)
{
	uint8_t bytes[SIZE] = { 0 };
	struct kw_section info = { bytes, SIZE };
	struct kw_dwarf_needle needle;
	size_t pos = 0;

	memcpy(bytes + 33, "page", 5);
	cr_assert(kw_dwarf_needle_init(&needle, "page", &strings, 8));
	cr_expect(kw_dwarf_search(&needle, &info, &pos));
	cr_expect_eq(pos, 33);
	kw_dwarf_needle_deinit(&needle);
}

Test(type_dwarf_search, addresses)
{
	uint8_t bytes[SIZE] = { 0 };
	struct kw_section info = { bytes, SIZE };
	uint64_t addr = 0xffffffff82a12340;
	size_t pos = 0;

	memcpy(bytes + 50, &addr, sizeof(addr));
	cr_expect_not(kw_dwarf_search_address(&info, addr, &pos), "no expression");
	bytes[48] = 9;
	bytes[49] = 3; /* DW_OP_addr */
	cr_expect(kw_dwarf_search_address(&info, addr, &pos));
	cr_expect_eq(pos, 48);
	pos++;
	cr_expect_not(kw_dwarf_search_address(&info, addr, &pos));
}
