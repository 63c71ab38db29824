/* The walk of x86-64 page tables, in images of a few pages. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "fixtures/image.h"

#define PGD   0x1000ULL
#define VADDR 0xffffc90000123000ULL
#define MIB   0x100000ULL

static const struct kw_open_options with_pread = { .size = sizeof(with_pread), .no_mmap = true };

struct walk {
	struct image ram;
	struct image_tables tables;
	struct image_target target;
};

static void begin(struct walk *walk, unsigned int levels)
{
	walk->ram = image_new(2 * MIB);
	walk->tables =
		(struct image_tables){ .ram = &walk->ram, .pgd = PGD, .levels = levels, .next = 0x2000 };
}

static void open_walk(struct walk *walk, const struct kw_open_options *opts, uint64_t sme_mask)
{
	struct kw_kernel_map map = { .pgd = PGD, .levels = walk->tables.levels, .sme_mask = sme_mask };

	cr_assert_eq(image_open(&walk->target, &walk->ram, opts), KW_OK);
	cr_assert_eq(kw_memory_set_kernel(&walk->target.ctx, &map), KW_OK);
}

static void end(struct walk *walk)
{
	image_close(&walk->target);
	image_free(&walk->ram);
}

static void expect(struct walk *walk, uint64_t vaddr, uint64_t want)
{
	uint64_t paddr = 0;
	kw_status status = kw_walk_page_table(&walk->target.ctx, PGD, vaddr, &paddr, NULL);

	cr_assert_eq(status, KW_OK, "%#lx: status %d", vaddr, status);
	cr_assert_eq(paddr, want, "%#lx: %#lx", vaddr, paddr);
	cr_assert_eq(kw_translate(&walk->target.ctx, vaddr, &paddr), KW_OK);
	cr_assert_eq(paddr, want);
}

static void expect_absent(struct walk *walk, uint64_t vaddr, uint64_t want)
{
	uint64_t paddr, entry = 12345;

	cr_assert_eq(kw_walk_page_table(&walk->target.ctx, PGD, vaddr, &paddr, &entry), KW_ABSENT, "%#lx",
		     vaddr);
	cr_assert_eq(entry, want, "%#lx: entry %#lx", vaddr, entry);
}

/* Reading it never ended. */
Test(memory_pagetable, the_last_byte_of_all)
{
	struct walk walk;
	uint8_t byte = 0;

	begin(&walk, 4);
	image_map(&walk.tables, UINT64_MAX - 4095, 1, 0x80000 | IMAGE_PRESENT);
	image_put(&walk.ram, 0x80fff, "x", 1);
	open_walk(&walk, NULL, 0);
	cr_assert_eq(kw_read(&walk.target.ctx, UINT64_MAX, &byte, 1), KW_OK);
	cr_assert_eq(byte, 'x');
	cr_assert_eq(kw_read(&walk.target.ctx, UINT64_MAX, &byte, 2), KW_ABSENT);
	end(&walk);
}

Test(memory_pagetable, a_table_that_leads_to_itself_ends)
{
	for (unsigned int levels = 4; levels <= 5; levels++) {
		struct walk walk;

		begin(&walk, levels);
		for (unsigned int i = 0; i < 512; i++)
			image_put_u64(&walk.ram, PGD + 8 * i, PGD | IMAGE_PRESENT);
		open_walk(&walk, NULL, 0);
		/* After all levels, the table itself is the page. */
		expect(&walk, VADDR + 0x56, PGD + 0x56);
		end(&walk);
	}
}

Test(memory_pagetable, pages_of_every_size)
{
	for (unsigned int levels = 4; levels <= 5; levels++) {
		struct walk walk;

		begin(&walk, levels);
		image_map(&walk.tables, VADDR, 1, 0x80000 | IMAGE_PRESENT | (1ULL << 63));
		image_map(&walk.tables, VADDR + 0x200000 - 0x123000, 2,
			  0x40000000 | IMAGE_PRESENT | IMAGE_BIG);
		image_map(&walk.tables, 0xffffc90040000000, 3, 0x80000000 | IMAGE_PRESENT | IMAGE_BIG);
		/* The same bit in a 4 KiB entry, and bit 12 of a big one, say how to cache. */
		image_map(&walk.tables, VADDR + 0x1000, 1, 0x81000 | IMAGE_PRESENT | IMAGE_BIG);
		image_map(&walk.tables, VADDR + 0x400000 - 0x123000, 2,
			  0x40401000 | IMAGE_PRESENT | IMAGE_BIG);
		open_walk(&walk, levels == 4 ? NULL : &with_pread, 0);
		expect(&walk, VADDR + 0xfff, 0x80fff);
		expect(&walk, VADDR + 0x1008, 0x81008);
		expect(&walk, VADDR + 0x200000 - 0x123000 + 0x12345, 0x40012345);
		expect(&walk, VADDR + 0x400000 - 0x123000, 0x40400000);
		expect(&walk, 0xffffc90040000000 + 0x3456789, 0x83456789);
		expect_absent(&walk, VADDR + 0x2000, 0);
		expect_absent(&walk, 0xffffc98000000000, 0);
		end(&walk);
	}
}

Test(memory_pagetable, addresses_that_are_not_canonical)
{
	struct walk walk;

	begin(&walk, 4);
	image_map(&walk.tables, VADDR, 1, 0x80000 | IMAGE_PRESENT);
	open_walk(&walk, NULL, 0);
	expect_absent(&walk, VADDR & 0x0000ffffffffffff, 0);
	expect_absent(&walk, VADDR ^ (1ULL << 60), 0);
	end(&walk);
	begin(&walk, 5);
	image_map(&walk.tables, 0x00ff123456789000, 1, 0x80000 | IMAGE_PRESENT);
	open_walk(&walk, NULL, 0);
	expect_absent(&walk, 0x01ff123456789000, 0);
	cr_assert_eq(kw_walk_page_table(&walk.target.ctx, PGD, 0x00ff123456789abc, &(uint64_t){ 0 }, NULL),
		     KW_OK);
	end(&walk);
}

Test(memory_pagetable, entries_that_are_not_present)
{
	const uint64_t swap = 0x1234567800000002, inverted = ~0x90000ULL & 0x000ffffffffff000;
	struct walk walk;

	begin(&walk, 4);
	image_map(&walk.tables, VADDR, 1, swap);
	image_map(&walk.tables, VADDR + 0x1000, 1, inverted | IMAGE_PROT_NONE);
	image_map(&walk.tables, VADDR + 0x200000 - 0x123000, 2,
		  (~0x40000000ULL & 0x000ffffffffff000) | IMAGE_PROT_NONE | IMAGE_BIG);
	image_map(&walk.tables, VADDR + 0x400000 - 0x123000, 2, swap);
	open_walk(&walk, NULL, 0);
	expect_absent(&walk, VADDR, swap);
	expect_absent(&walk, VADDR + 0x400000 - 0x123000, swap);
	expect(&walk, VADDR + 0x1010, 0x90010);
	expect(&walk, VADDR + 0x200000 - 0x123000 + 0x777, 0x40000777);
	end(&walk);
}

Test(memory_pagetable, the_encryption_bit_is_no_address)
{
	const uint64_t c_bit = 1ULL << 47;
	struct walk walk;

	begin(&walk, 4);
	image_map(&walk.tables, VADDR, 1, 0x80000 | c_bit | IMAGE_PRESENT);
	for (uint64_t table = PGD; table < walk.tables.next; table += 4096)
		for (uint64_t at = table; at < table + 4096; at += 8) {
			uint64_t entry;

			memcpy(&entry, walk.ram.bytes + at, 8);
			if (entry)
				image_put_u64(&walk.ram, at, entry | c_bit);
		}
	open_walk(&walk, NULL, c_bit);
	expect(&walk, VADDR + 1, 0x80001);
	end(&walk);
}

Test(memory_pagetable, tables_outside_of_memory)
{
	struct walk walk;
	uint64_t paddr, value;

	begin(&walk, 4);
	image_put_u64(&walk.ram, PGD + 8 * (VADDR >> 39 & 511), 0x7ffffff000 | IMAGE_PRESENT);
	open_walk(&walk, NULL, 0);
	cr_assert_eq(kw_walk_page_table(&walk.target.ctx, PGD, VADDR, &paddr, NULL), KW_FAILED);
	cr_assert_eq(kw_walk_page_table(&walk.target.ctx, 1ULL << 50, VADDR, &paddr, NULL), KW_FAILED);
	cr_assert_eq(kw_read_u64(&walk.target.ctx, VADDR, &value), KW_FAILED);
	end(&walk);
}

Test(memory_pagetable, reads_go_through_the_table)
{
	static const struct kw_open_options *ways[] = { NULL, &with_pread };

	for (int way = 0; way < 2; way++) {
		struct walk walk;
		uint8_t bytes[0x2000];
		uint64_t value, walks;

		begin(&walk, 4);
		/* Two pages, the second before the first in memory; a third one that has no memory. */
		image_map(&walk.tables, VADDR, 1, 0x90000 | IMAGE_PRESENT);
		image_map(&walk.tables, VADDR + 0x1000, 1, 0x80000 | IMAGE_PRESENT);
		image_map(&walk.tables, VADDR + 0x2000, 1, 0x80000000 | IMAGE_PRESENT);
		image_put_pattern(&walk.ram, 0x90000, 0x1000, 0x90000);
		image_put_pattern(&walk.ram, 0x80000, 0x1000, 0x80000);
		open_walk(&walk, ways[way], 0);
		kw_pass_begin(&walk.target.ctx);
		cr_assert_eq(kw_read_u64(&walk.target.ctx, VADDR + 0x10, &value), KW_OK);
		cr_assert_eq(value, 0x90010);
		cr_assert_eq(kw_read(&walk.target.ctx, VADDR + 0xff8, bytes, 16), KW_OK);
		memcpy(&value, bytes, 8);
		cr_assert_eq(value, 0x90ff8);
		memcpy(&value, bytes + 8, 8);
		cr_assert_eq(value, 0x80000);
		walks = walk.target.ctx.counters.walks;
		cr_assert_eq(kw_read(&walk.target.ctx, VADDR, bytes, 0x2000), KW_OK);
		cr_assert_eq(walk.target.ctx.counters.walks, walks, "translations are remembered");
		cr_assert_eq(kw_read(&walk.target.ctx, VADDR + 0x1ff0, bytes, 0x20), KW_ABSENT);
		cr_assert_eq(kw_read(&walk.target.ctx, VADDR + 0x3000, bytes, 1), KW_ABSENT);
		cr_assert_eq(!!kw_view(&walk.target.ctx, VADDR + 0x1000, 0x1000), way == 0);
		cr_assert_null(kw_view(&walk.target.ctx, VADDR + 0xff8, 16));
		kw_pass_end(&walk.target.ctx);
		end(&walk);
	}
}

/* vmalloc of a live kernel may change between passes, and then the next pass has to see it. */
Test(memory_pagetable, a_live_target_is_translated_anew_in_each_pass)
{
	struct walk walk;
	uint64_t entry = 0x91000 | IMAGE_PRESENT, value;

	begin(&walk, 4);
	image_map(&walk.tables, VADDR, 1, 0x90000 | IMAGE_PRESENT);
	image_put_u64(&walk.ram, 0x90000, 1);
	image_put_u64(&walk.ram, 0x91000, 2);
	open_walk(&walk, NULL, 0);
	cr_assert(kw_memory_is_live(walk.target.target.memory), "the fixture has it open for writing");
	cr_assert_eq(kw_read_u64(&walk.target.ctx, VADDR, &value), KW_OK);
	cr_assert_eq(value, 1);
	cr_assert_eq(pwrite(walk.target.fd, &entry, 8,
			    (off_t)(walk.tables.next - 4096 + 8 * (VADDR >> 12 & 511))),
		     8);
	cr_assert_eq(kw_read_u64(&walk.target.ctx, VADDR, &value), KW_OK);
	cr_assert_eq(value, 2);
	end(&walk);
}
