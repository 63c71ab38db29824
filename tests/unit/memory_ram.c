/* Raw RAM images: the hole below 4 GiB, and whether somebody writes to the file. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

#include "fixtures/image.h"

#define GIB    0x40000000ULL
#define DIRECT 0xffff888000000000ULL
#define TEXT   0xffffffff81000000ULL

/* Open a sparse file of `size` bytes with `ram` at its beginning. */
static void open_sparse(struct image_target *target, const struct image *ram, uint64_t size)
{
	char path[] = "/tmp/kwalk-ram-XXXXXX";
	int fd = mkstemp(path);

	cr_assert(fd >= 0 && !ftruncate(fd, (off_t)size));
	if (ram)
		cr_assert_eq(pwrite(fd, ram->bytes, ram->size, 0), (ssize_t)ram->size);
	cr_assert_eq(image_open_named(target, path, NULL), KW_OK, "%s", kw_error(&target->ctx));
	target->fd = fd;
	strcpy(target->path, path);
}

static void expect_candidates(uint64_t size, const uint64_t *want)
{
	struct image_target target;
	uint64_t split;
	size_t i = 0;

	open_sparse(&target, NULL, size);
	for (; want[i] != KW_NO_ADDR; i++) {
		cr_assert_eq(kw_memory_hole_candidate(target.target.memory, i, &split), KW_OK, "%lx: %zu",
			     size, i);
		cr_assert_eq(split, want[i], "%lx: %zu is %lx", size, i, split);
	}
	cr_assert_eq(kw_memory_hole_candidate(target.target.memory, i, &split), KW_NOTFOUND, "%lx: %zu", size,
		     i);
	image_close(&target);
}

Test(memory_ram, candidates_for_the_hole)
{
	expect_candidates(GIB, (uint64_t[]){ 0, KW_NO_ADDR });
	/* pc and microvm have none yet, q35 has. */
	expect_candidates(3 * GIB, (uint64_t[]){ 0, 2 * GIB, KW_NO_ADDR });
	expect_candidates(0xe0000000 - 4096, (uint64_t[]){ 0, 2 * GIB, 3 * GIB, 0xd0000000, KW_NO_ADDR });
	expect_candidates(9 * GIB, (uint64_t[]){ 3 * GIB, 2 * GIB, 0xd0000000, 0xe0000000, 0, KW_NO_ADDR });
}

Test(memory_ram, what_lies_past_the_hole_is_at_4_gib)
{
	struct image_target target;
	uint64_t value = 0x1122334455667788;
	const struct kw_segment *phys;
	size_t nr;

	open_sparse(&target, NULL, 5 * GIB);
	cr_assert_eq(pwrite(target.fd, &value, 8, 3 * GIB + 0x5000), 8);
	value = 0;
	cr_assert_eq(kw_read_phys(&target.ctx, 4 * GIB + 0x5000, &value, 8), KW_OK);
	cr_assert_eq(value, 0x1122334455667788);
	cr_assert_eq(kw_read_phys(&target.ctx, 3 * GIB, &value, 8), KW_ABSENT);
	cr_assert_eq(kw_read_phys(&target.ctx, 4 * GIB - 8, &value, 8), KW_ABSENT);
	cr_assert_eq(kw_read_phys(&target.ctx, 6 * GIB - 8, &value, 8), KW_OK);
	cr_assert_eq(kw_read_phys(&target.ctx, 6 * GIB, &value, 8), KW_ABSENT);
	phys = kw_memory_physical(target.target.memory, &nr);
	cr_assert_eq(nr, 2);
	cr_assert_eq(phys[0].size, 3 * GIB);

	cr_assert_eq(kw_memory_set_hole(&target.ctx, 2 * GIB), KW_OK);
	cr_assert_eq(kw_read_phys(&target.ctx, 5 * GIB + 0x5000, &value, 8), KW_OK);
	cr_assert_eq(value, 0x1122334455667788);
	cr_assert_eq(kw_memory_set_hole(&target.ctx, 0), KW_OK);
	phys = kw_memory_physical(target.target.memory, &nr);
	cr_assert_eq(nr, 1);
	cr_assert_eq(kw_memory_set_hole(&target.ctx, 5), KW_INVALID);
	cr_assert_eq(kw_memory_set_hole(&target.ctx, 5 * GIB), KW_INVALID);
	image_close(&target);
}

/*
 * A guest of `size` bytes on a machine that splits its RAM at `split`: the text at 16 MiB by big pages, the direct
 * map by 1 GiB pages, whose tables lie above 4 GiB. Returns the top table's address.
 */
static uint64_t make_guest(struct image *high, uint64_t size, uint64_t split)
{
	struct image tables_image = image_new(0x10000);
	uint64_t end = 4 * GIB + (size - split);
	struct image_tables tables = { .ram = &tables_image, .levels = 4, .pgd = 0x1000, .next = 0x2000 };
	uint64_t base = 4 * GIB + 0x100000;

	for (uint64_t at = 0; at < 0x1000000; at += 0x200000)
		image_map(&tables, TEXT + at, 2, (0x1000000 + at) | IMAGE_PRESENT | IMAGE_BIG);
	for (uint64_t at = 0; at < end; at += GIB)
		if (at < split || at >= 4 * GIB)
			image_map(&tables, DIRECT + at, 3, at | IMAGE_PRESENT | IMAGE_BIG);
	/* Move the tables up: their links, too. */
	for (uint64_t at = 0x1000; at < tables.next; at += 8) {
		uint64_t entry;

		memcpy(&entry, tables_image.bytes + at, 8);
		if (entry & IMAGE_PRESENT && !(entry & IMAGE_BIG))
			image_put_u64(&tables_image, at, entry + base);
	}
	*high = tables_image;
	return base + 0x1000;
}

static void expect_fit(uint64_t split, uint64_t direct, bool possible)
{
	uint64_t size = 6 * GIB, found;
	struct image_target target;
	struct image tables;
	struct kw_kernel_map map = {
		.phys_base = 0, .image_start = TEXT, .image_size = 0x1000000, .levels = 4
	};

	map.pgd = make_guest(&tables, size, split);
	open_sparse(&target, NULL, size);
	cr_assert_eq(pwrite(target.fd, tables.bytes, tables.size, (off_t)(split + 0x100000)),
		     (ssize_t)tables.size);
	if (!possible) {
		map.pgd += 0x8000;
		cr_assert_eq(kw_memory_fit_hole(&target.ctx, &map, direct), KW_FORMAT);
	} else {
		cr_assert_eq(kw_memory_fit_hole(&target.ctx, &map, direct), KW_OK, "%s",
			     kw_error(&target.ctx));
		cr_assert_eq(kw_memory_hole_candidate(target.target.memory, 0, &found), KW_OK);
		cr_assert_eq(found, split);
		cr_assert_eq(kw_translate(&target.ctx, TEXT + 0x12345, &found), KW_OK);
		cr_assert_eq(found, 0x1012345);
		cr_assert_eq(kw_translate(&target.ctx, DIRECT + 0x12345, &found), KW_OK);
		cr_assert_eq(found, 0x12345);
	}
	image_free(&tables);
	image_close(&target);
}

Test(memory_ram, the_hole_is_fitted_to_the_page_table)
{
	static const uint64_t splits[] = { 2 * GIB, 3 * GIB, 0xd0000000, 0xe0000000 };

	for (size_t i = 0; i < 4; i++) {
		expect_fit(splits[i], DIRECT, true);
		expect_fit(splits[i], KW_NO_ADDR, true);
	}
	expect_fit(3 * GIB, DIRECT, false);
}

Test(memory_ram, a_file_that_somebody_writes_is_live)
{
	struct image ram = image_new(1 << 20);
	struct image_target target, again;

	/* The fixture's own descriptor is open for writing. */
	cr_assert_eq(image_open(&target, &ram, NULL), KW_OK);
	cr_assert(kw_memory_is_live(target.target.memory));
	close(target.fd);
	target.fd = -1;
	cr_assert_eq(image_open_named(&again, target.path, NULL), KW_OK);
	/* Some file systems know no leases, and then all files are taken to be live. */
	if (fcntl(open(target.path, O_RDONLY), F_SETLEASE, F_RDLCK) == 0)
		cr_assert_not(kw_memory_is_live(again.target.memory));
	image_close(&again);
	image_close(&target);
	image_free(&ram);
}
