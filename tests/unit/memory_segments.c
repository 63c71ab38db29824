/* Maps of segments: overlaps, layers, look-ups. */
#include <criterion/criterion.h>

#include "memory/segments.h"

static void add(struct segment_map *map, uint64_t paddr, uint64_t size, uint64_t offset)
{
	struct kw_segment segment = { .vaddr = KW_NO_ADDR, .paddr = paddr, .size = size, .offset = offset };

	cr_assert(segments_add(map, PHYSICAL, &segment));
}

/* Compare with {start, size, offset} triples. */
static void expect(const struct segment_map *map, size_t nr, const uint64_t (*want)[3])
{
	cr_assert_eq(map->nr, nr, "%zu segments, not %zu", map->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		cr_assert_eq(map->item[i].paddr, want[i][0], "%zu: start %#lx", i, map->item[i].paddr);
		cr_assert_eq(map->item[i].size, want[i][1], "%zu: size %#lx", i, map->item[i].size);
		cr_assert_eq(map->item[i].offset, want[i][2], "%zu: offset %#lx", i, map->item[i].offset);
	}
}

#define EXPECT(map, ...)                                           \
	do {                                                       \
		static const uint64_t want[][3] = { __VA_ARGS__ }; \
		expect(map, sizeof(want) / sizeof(*want), want);   \
	} while (0)

Test(memory_segments, overlaps_are_cut_from_the_later)
{
	struct segment_map map = { 0 };

	add(&map, 0x5000, 0x1000, 0x90000); /* all inside the first */
	add(&map, 0x9000, 0x4000, 0x20000); /* its beginning inside */
	add(&map, 0x1000, 0x9000, 0x10000);
	add(&map, 0x1000, 0x2000, 0x70000); /* same start, shorter */
	add(&map, 0x20000, 0x1000, 0x30000);
	segments_finish(&map, PHYSICAL);
	EXPECT(&map, { 0x1000, 0x9000, 0x10000 }, { 0xa000, 0x3000, 0x21000 }, { 0x20000, 0x1000, 0x30000 });
	segments_free(&map);
}

Test(memory_segments, neighbours_are_joined_when_all_continues)
{
	struct segment_map map = { 0 };

	add(&map, 0x2000, 0x1000, 0x12000);
	add(&map, 0x1000, 0x1000, 0x11000);
	add(&map, 0x3000, 0x1000, 0x93000); /* goes on elsewhere in the file */
	segments_finish(&map, PHYSICAL);
	EXPECT(&map, { 0x1000, 0x2000, 0x11000 }, { 0x3000, 0x1000, 0x93000 });
	segments_free(&map);
}

Test(memory_segments, no_size_and_the_end_of_the_address_space)
{
	struct segment_map map = { 0 };

	add(&map, 0x1000, 0, 0);
	add(&map, UINT64_MAX - 0x10, UINT64_MAX, 0);
	segments_finish(&map, PHYSICAL);
	EXPECT(&map, { UINT64_MAX - 0x10, 0x10, 0 });
	segments_free(&map);
}

Test(memory_segments, a_layer_shows_in_the_gaps)
{
	struct segment_map map = { 0 }, under = { 0 };

	add(&map, 0x2000, 0x1000, 0x100000);
	add(&map, 0x5000, 0x1000, 0x200000);
	add(&map, 0x9000, 0x3000, 0x300000);
	segments_finish(&map, PHYSICAL);
	add(&under, 0x1000, 0x9000, 0x800000); /* around two, into the third */
	add(&under, 0xb000, 0x0800, 0x900000); /* all hidden */
	add(&under, 0xb800, 0x1000, 0xa00000); /* its beginning hidden */
	segments_finish(&under, PHYSICAL);
	cr_assert(segments_lay_under(&map, &under, PHYSICAL));
	EXPECT(&map, { 0x1000, 0x1000, 0x800000 }, { 0x2000, 0x1000, 0x100000 }, { 0x3000, 0x2000, 0x802000 },
	       { 0x5000, 0x1000, 0x200000 }, { 0x6000, 0x3000, 0x805000 }, { 0x9000, 0x3000, 0x300000 },
	       { 0xc000, 0x0800, 0xa00800 });
	segments_free(&map);
	segments_free(&under);
}

Test(memory_segments, a_layer_under_nothing_and_nothing_under_a_layer)
{
	struct segment_map map = { 0 }, under = { 0 }, none = { 0 };

	add(&under, 0x1000, 0x1000, 0x800000);
	segments_finish(&under, PHYSICAL);
	cr_assert(segments_lay_under(&map, &under, PHYSICAL));
	cr_assert(segments_lay_under(&map, &none, PHYSICAL));
	EXPECT(&map, { 0x1000, 0x1000, 0x800000 });
	segments_free(&map);
	segments_free(&under);
}

/* Every address, asked of a map laid together at random, against a plain table. */
Test(memory_segments, agrees_with_a_plain_table)
{
	srand(1);
	for (int round = 0; round < 300; round++) {
		struct segment_map map = { 0 }, under = { 0 };
		uint8_t upper[256] = { 0 }, lower[256] = { 0 };

		for (int i = 0; i < 20; i++) {
			unsigned int from = rand() % 256, size = rand() % (i < 10 ? 30 : 60);
			bool up = i < 10;

			if (from + size > 256)
				size = 256 - from;
			add(up ? &map : &under, from, size, up ? 0x1000 + from : 0x9000 + from);
			memset((up ? upper : lower) + from, 1, size);
		}
		segments_finish(&map, PHYSICAL);
		segments_finish(&under, PHYSICAL);
		cr_assert(segments_lay_under(&map, &under, PHYSICAL));
		for (uint64_t at = 0; at < 256; at++) {
			const struct kw_segment *found = segments_find(&map, PHYSICAL, at);
			uint64_t next = at + 1, want = upper[at] ? 0x1000 : 0x9000;

			cr_assert_eq(found != NULL, upper[at] || lower[at], "round %d, %lu", round, at);
			if (found) {
				cr_assert_eq(found->offset + at - found->paddr, want + at, "round %d, %lu",
					     round, at);
				continue;
			}
			while (next < 256 && !upper[next] && !lower[next])
				next++;
			cr_assert_eq(segments_next_start(&map, PHYSICAL, at), next < 256 ? next : UINT64_MAX);
		}
		segments_free(&map);
		segments_free(&under);
	}
}
