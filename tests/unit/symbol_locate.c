/* Finding a kernel in a memory: by its page tables, by VMCOREINFO, by both; and what only looks like one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fixtures/image.h"
#include "symbol/set.h"

#define MIB	 0x100000ULL
#define TEXT	 0xffffffff8d400000ULL
#define IMAGE	 (2 * MIB) /* physical */
#define RAM	 (8 * MIB)
#define IMAGE_2M 3
#define TABLE	 (IMAGE + 2 * MIB) /* swapper_pg_dir */
#define BSS	 (IMAGE + 5 * MIB)
#define LOW_ROOT 0x9c000ULL
#define INFO	 (MIB + 0x80000) /* the page of VMCOREINFO */
#define DIRECT_4 0xffff9a4d40000000ULL
#define DIRECT_5 0xff1d1dd980000000ULL

/* A memory with a kernel in it, which tests then damage. */
struct guest {
	struct image ram;
	struct image_target target;
	unsigned int levels;
	uint64_t direct_map;
};

static uint64_t phys_base(void)
{
	return IMAGE - (TEXT - KERNEL_MAP);
}

static void map_kernel(struct guest *guest, uint64_t root, uint64_t next)
{
	struct image_tables tables = { &guest->ram, root, guest->levels, next };

	for (uint64_t i = 0; i < IMAGE_2M; i++)
		image_map(&tables, TEXT + i * 2 * MIB, 2, (IMAGE + i * 2 * MIB) | IMAGE_PRESENT | IMAGE_BIG);
	/* As if the memory were bigger: this much is asked for. */
	for (uint64_t i = 0; i < 8; i++)
		image_map(&tables, guest->direct_map + i * 2 * MIB, 2,
			  i * 2 * MIB | IMAGE_PRESENT | IMAGE_BIG);
}

/* The kernel copies its half of the top table to the first MiB; entry 0 there maps low memory. */
static void put_trampoline(struct guest *guest)
{
	image_put(&guest->ram, LOW_ROOT + 2048, guest->ram.bytes + TABLE + 2048, 2048);
	image_put_u64(&guest->ram, LOW_ROOT, 0x9d000 | IMAGE_PRESENT);
}

static void put_vmcoreinfo(struct guest *guest, uint64_t at, uint64_t text_base, uint64_t table)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "OSRELEASE=6.1.0-test\nPAGESIZE=4096\nSYMBOL(swapper_pg_dir)=%llx\nSYMBOL(_stext)=%llx\n"
		 "NUMBER(phys_base)=%lld\nNUMBER(pgtable_l5_enabled)=%d\nKERNELOFFSET=c400000\n",
		 (unsigned long long)(table - text_base + KERNEL_MAP), (unsigned long long)TEXT,
		 (long long)text_base, guest->levels == 5);
	image_put_text(&guest->ram, at, text);
}

static void put_pointers_at(struct guest *guest, uint64_t at, uint64_t info)
{
	image_put_u64(&guest->ram, at, guest->direct_map + info + 4096);
	image_put_u64(&guest->ram, at + 8, 300);
	image_put_u64(&guest->ram, at + 16, guest->direct_map + info);
}

static void put_pointers(struct guest *guest, uint64_t info)
{
	put_pointers_at(guest, BSS, info);
}

static struct guest make(unsigned int levels)
{
	struct guest guest = {
		.ram = image_new(RAM),
		.levels = levels,
		.direct_map = levels == 5 ? DIRECT_5 : DIRECT_4,
	};

	map_kernel(&guest, TABLE, TABLE + 0x1000);
	put_trampoline(&guest);
	put_vmcoreinfo(&guest, INFO, phys_base(), TABLE);
	put_pointers(&guest, INFO);
	return guest;
}

static kw_status locate(struct guest *guest)
{
	kw_status status = image_open(&guest->target, &guest->ram, NULL);

	cr_assert_eq(status, KW_OK);
	return kw_kernel_locate(&guest->target.ctx, NULL);
}

static void drop(struct guest *guest)
{
	kw_symbols_free(guest->target.target.symbols);
	image_close(&guest->target);
	image_free(&guest->ram);
}

static const struct kw_kernel_map *map_of(const struct guest *guest)
{
	return &guest->target.target.symbols->map;
}

/* Expect that the kernel was found where it is, and can be read. */
static void expect_kernel(struct guest *guest)
{
	const struct kw_kernel_map *map = map_of(guest);
	uint64_t paddr;

	cr_assert_eq(map->phys_base, phys_base());
	cr_assert_eq(map->image_start, TEXT);
	cr_assert_eq(map->image_size, IMAGE_2M * 2 * MIB);
	cr_assert_eq(map->levels, guest->levels);
	cr_assert_eq(kw_translate(&guest->target.ctx, TEXT + 12345, &paddr), KW_OK);
	cr_assert_eq(paddr, IMAGE + 12345);
	cr_assert_eq(kw_translate(&guest->target.ctx, guest->direct_map + 3 * MIB, &paddr), KW_OK);
	cr_assert_eq(paddr, 3 * MIB);
	cr_assert(kw_view(&guest->target.ctx, guest->direct_map + INFO, 4096));
}

static void expect_origin(struct guest *guest, const char *part)
{
	const char *origin = kw_vmcoreinfo_origin(&guest->target.ctx);

	cr_assert(strstr(origin, part), "%s", origin);
}

Test(symbol_locate, a_kernel_is_found_with_four_and_five_levels)
{
	for (unsigned int levels = 4; levels <= 5; levels++) {
		struct guest guest = make(levels);
		size_t len;

		cr_assert_eq(locate(&guest), KW_OK, "%s", kw_error(&guest.target.ctx));
		expect_kernel(&guest);
		cr_assert_eq(map_of(&guest)->pgd, TABLE);
		expect_origin(&guest, "pointer");
		cr_assert(!strncmp(kw_vmcoreinfo(&guest.target.ctx, "OSRELEASE", &len), "6.1.0-test", 10));
		drop(&guest);
	}
}

Test(symbol_locate, a_pointer_that_stands_elsewhere_is_found_as_well)
{
	struct guest guest = make(4);

	image_put_u64(&guest.ram, BSS + 8, 0);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_origin(&guest, "pointer");
	drop(&guest);
}

/* The middle of the image is searched first, then its end, in pieces of 64 KiB that overlap by a word. */
Test(symbol_locate, a_pointer_is_found_wherever_it_stands)
{
	static const uint64_t places[] = {
		IMAGE + MIB,
		IMAGE + MIB + 0x10000 - 16,
		IMAGE + MIB + 0x10000 - 8,
		IMAGE + MIB + 0x80000 - 8,
		IMAGE + MIB + 0x80000,
		IMAGE + 4 * MIB + 56,
		IMAGE + 6 * MIB - 0x10000,
		IMAGE + 6 * MIB - 24,
		IMAGE + 0x10000,
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct guest guest = make(4);

		memset(guest.ram.bytes + BSS, 0, 24);
		/* What looks like a pointer in its lower or in its upper half alone. */
		memset(guest.ram.bytes + places[i] - 48, 0x80, 48);
		put_pointers_at(&guest, places[i], INFO);
		cr_assert_eq(locate(&guest), KW_OK);
		expect_kernel(&guest);
		expect_origin(&guest, "pointer");
		drop(&guest);
	}
}

Test(symbol_locate, without_a_pointer_all_pages_are_looked_at)
{
	struct guest guest = make(4);

	image_put_u64(&guest.ram, BSS, 0);
	image_put_u64(&guest.ram, BSS + 16, 0);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_kernel(&guest);
	expect_origin(&guest, "all pages");
	drop(&guest);
}

Test(symbol_locate, the_copy_in_the_note_does)
{
	struct guest guest = make(4);

	memset(guest.ram.bytes + INFO, 0, 4096);
	put_vmcoreinfo(&guest, INFO + 4096 + 24, phys_base(), TABLE);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_kernel(&guest);
	expect_origin(&guest, "pointer");
	drop(&guest);
}

Test(symbol_locate, without_a_trampoline_vmcoreinfo_suffices)
{
	struct guest guest = make(5);

	memset(guest.ram.bytes + LOW_ROOT, 0, 4096);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_kernel(&guest);
	drop(&guest);
}

Test(symbol_locate, without_vmcoreinfo_the_page_tables_suffice)
{
	for (unsigned int levels = 4; levels <= 5; levels++) {
		struct guest guest = make(levels);
		size_t len;

		memset(guest.ram.bytes + INFO, 0, 4096);
		cr_assert_eq(locate(&guest), KW_OK, "%s", kw_error(&guest.target.ctx));
		expect_kernel(&guest);
		cr_assert_eq(map_of(&guest)->pgd, LOW_ROOT);
		cr_assert_null(kw_vmcoreinfo(&guest.target.ctx, "OSRELEASE", &len));
		expect_origin(&guest, "none");
		drop(&guest);
	}
}

Test(symbol_locate, what_an_earlier_kernel_left_is_passed_over)
{
	struct guest guest = make(4);

	/* It lies in front of the good one, and names a table that is none. */
	put_vmcoreinfo(&guest, MIB, phys_base() + 2 * MIB, TABLE);
	image_put_u64(&guest.ram, BSS + 16, guest.direct_map + MIB);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_kernel(&guest);
	drop(&guest);
}

Test(symbol_locate, the_table_of_an_earlier_kernel_is_passed_over)
{
	struct guest guest = make(4);
	struct image_tables old = { &guest.ram, MIB + 0x10000, 4, MIB + 0x11000 };
	struct kw_kernel_map map;

	/* Whole, and with a page table that agrees with it; but the processors start with the other one. */
	for (uint64_t i = 0; i < IMAGE_2M; i++)
		image_map(&old, TEXT + i * 2 * MIB, 2, (4 * MIB + i * 2 * MIB) | IMAGE_PRESENT | IMAGE_BIG);
	put_vmcoreinfo(&guest, MIB, 4 * MIB - (TEXT - KERNEL_MAP), MIB + 0x10000);
	image_put_u64(&guest.ram, BSS, 0);
	image_put_u64(&guest.ram, BSS + 16, 0);
	cr_assert_eq(locate(&guest), KW_OK);
	map = *map_of(&guest);
	cr_assert_eq(map.phys_base, phys_base());
	drop(&guest);
}

Test(symbol_locate, pieces_of_init_code_that_are_gone_are_no_end)
{
	struct guest guest = make(4);
	struct image_tables tables = { &guest.ram, TABLE, 4, TABLE + 0x100000 };
	uint64_t small = MIB + 0x40000;

	/* The second piece in small pages, all but two missing. */
	image_put_u64(&guest.ram, small + 8 * 5, (IMAGE + 2 * MIB + 5 * 4096) | IMAGE_PRESENT);
	image_put_u64(&guest.ram, small + 8 * 511, (IMAGE + 2 * MIB + 511 * 4096) | IMAGE_PRESENT);
	image_map(&tables, TEXT + 2 * MIB, 2, small | IMAGE_PRESENT);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_kernel(&guest);
	drop(&guest);
}

Test(symbol_locate, what_is_not_in_one_piece_is_not_the_image)
{
	struct guest guest = make(4);
	struct image_tables tables = { &guest.ram, TABLE, 4, TABLE + 0x100000 };

	image_map(&tables, TEXT + 6 * MIB, 2, 2 * MIB | IMAGE_PRESENT | IMAGE_BIG);
	cr_assert_eq(locate(&guest), KW_OK);
	expect_kernel(&guest);
	drop(&guest);
}

static void expect_nothing(struct guest *guest)
{
	cr_assert_eq(locate(guest), KW_UNREADABLE);
	cr_assert(strstr(kw_error(&guest->target.ctx), guest->target.path), "%s",
		  kw_error(&guest->target.ctx));
	cr_assert(strstr(kw_error(&guest->target.ctx), "no Linux kernel"), "%s",
		  kw_error(&guest->target.ctx));
	drop(guest);
}

Test(symbol_locate, no_kernel_is_found_in_zeros)
{
	struct guest guest = { .ram = image_new(2 * MIB) };

	expect_nothing(&guest);
}

Test(symbol_locate, a_memory_full_of_texts_ends)
{
	struct guest guest = { .ram = image_new(RAM), .levels = 4 };

	for (uint64_t at = 0; at < RAM; at += 4096)
		put_vmcoreinfo(&guest, at, phys_base(), TABLE);
	expect_nothing(&guest);
}

Test(symbol_locate, tables_that_lead_to_themselves_end)
{
	struct guest guest = { .ram = image_new(2 * MIB), .levels = 4 };

	for (uint64_t at = 0; at < 512; at++)
		image_put_u64(&guest.ram, LOW_ROOT + 8 * at, LOW_ROOT | IMAGE_PRESENT);
	for (uint64_t at = 1; at < 256; at++)
		image_put_u64(&guest.ram, LOW_ROOT + 8 * at, 0);
	expect_nothing(&guest);
}

Test(symbol_locate, a_direct_map_that_leads_round_and_round_ends)
{
	struct guest guest = make(5);
	uint64_t round = MIB + 0x60000;

	for (uint64_t at = 0; at < 512; at++)
		image_put_u64(&guest.ram, round + 8 * at, round | IMAGE_PRESENT);
	for (uint64_t at = 256; at < 511; at++)
		image_put_u64(&guest.ram, TABLE + 8 * at, round | IMAGE_PRESENT);
	put_trampoline(&guest);
	cr_assert_eq(locate(&guest), KW_FORMAT);
	cr_assert(strstr(kw_error(&guest.target.ctx), "direct map"), "%s", kw_error(&guest.target.ctx));
	drop(&guest);
}

/* ELF cores. */

static kw_status locate_elf(struct guest *guest, const char *note, uint64_t vaddr)
{
	struct image_note notes[] = { { "VMCOREINFO", 0, note, strlen(note) } };
	struct image_segment segments[] = {
		{ .vaddr = vaddr, .file_size = guest->ram.size, .bytes = guest->ram.bytes },
	};
	struct image_elf elf = { segments, 1, notes, 1, false };
	struct image core = image_make_elf(&elf);

	image_free(&guest->ram);
	guest->ram = core;
	return locate(guest);
}

Test(symbol_locate, the_note_of_a_file_is_believed_first)
{
	struct guest guest = make(4);
	char note[1024];

	/* Nothing but the note tells. */
	snprintf(note, sizeof(note), "%s", (char *)guest.ram.bytes + INFO);
	memset(guest.ram.bytes + INFO, 0, 4096);
	memset(guest.ram.bytes + LOW_ROOT, 0, 4096);
	cr_assert_eq(locate_elf(&guest, note, 0), KW_OK, "%s", kw_error(&guest.target.ctx));
	cr_assert_eq(map_of(&guest)->phys_base, phys_base());
	expect_origin(&guest, "note");
	drop(&guest);
}

Test(symbol_locate, a_note_without_its_page_table_is_damage)
{
	struct guest guest = make(4);
	char note[1024];

	snprintf(note, sizeof(note), "%s", (char *)guest.ram.bytes + INFO);
	memset(guest.ram.bytes + TABLE, 0, 4096);
	cr_assert_eq(locate_elf(&guest, note, 0), KW_FORMAT);
	cr_assert(strstr(kw_error(&guest.target.ctx), "page table"), "%s", kw_error(&guest.target.ctx));
	drop(&guest);
}

Test(symbol_locate, a_note_that_is_none_is_passed_over)
{
	struct guest guest = make(4);

	cr_assert_eq(locate_elf(&guest, "OSRELEASE=6.1\nPAGESIZE=\n", 0), KW_OK, "%s",
		     kw_error(&guest.target.ctx));
	cr_assert_eq(map_of(&guest)->phys_base, phys_base());
	expect_origin(&guest, "pointer");
	drop(&guest);
}

Test(symbol_locate, there_is_nothing_to_look_up_before_a_target_is_open)
{
	kw_ctx *ctx = kw_new();
	uint64_t addr;
	size_t len;

	cr_assert_eq(kw_symbol_address(ctx, "init_task", &addr), KW_INVALID);
	cr_assert_null(kw_vmcoreinfo(ctx, "OSRELEASE", &len));
	cr_assert_str_eq(kw_symbols_description(ctx), "none");
	kw_free(ctx);
}
