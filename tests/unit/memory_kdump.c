/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kdump-compressed dumps, as they are and flattened. The files are those of the fuzzer's corpus, made by
 * fixtures/forms.py of 16 pages: 0, 2, 7 are zeros and left out, 1 holds VMCOREINFO, 3 "abcdefgh", 5 "x", 6 noise that
 * can't be packed; 8 to 15 are the same again.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixtures/image.h"

#define PAGE 4096

static void open_file(struct image_target *target, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "../fuzz/corpus/dump/%s", name);
	cr_assert_eq(image_open_named(target, path, NULL), KW_OK, "%s: %s", name, kw_error(&target->ctx));
}

static struct image read_file(const char *name)
{
	struct image image = { 0 };
	char path[128], bytes[PAGE];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "../fuzz/corpus/dump/%s", name);
	fd = open(path, O_RDONLY);
	cr_assert(fd >= 0, "%s", path);
	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		image_put(&image, image.size, bytes, (size_t)got);
	close(fd);
	return image;
}

static kw_status read_page(struct image_target *target, uint64_t nr, char *page)
{
	return kw_read_phys(&target->ctx, nr * PAGE, page, PAGE);
}

static void expect_page(struct image_target *target, uint64_t nr, const char *start, const char *name)
{
	char page[PAGE];

	cr_assert_eq(read_page(target, nr, page), KW_OK, "%s: page %lu", name, nr);
	cr_assert_eq(memcmp(page, start, strlen(start)), 0, "%s: page %lu", name, nr);
}

static void expect_status(struct image_target *target, uint64_t nr, kw_status status, const char *name)
{
	char page[PAGE];

	cr_assert_eq(read_page(target, nr, page), status, "%s: page %lu", name, nr);
}

Test(memory_kdump, every_packing_gives_the_same_pages)
{
	static const char *const names[] = { "raw", "zlib", "lzo", "snappy", "zstd", "flat" };
	char noise[2][PAGE];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct image_target target;
		size_t len;

		open_file(&target, names[i]);
		cr_assert(kw_memory_vmcoreinfo(target.target.memory, &len));
		cr_assert(!kw_memory_trouble(target.target.memory));
		for (uint64_t nr = 0; nr < 16; nr += 8) {
			expect_page(&target, nr + 1, "OSRELEASE=6.1\n", names[i]);
			expect_page(&target, nr + 3, "abcdefghabcdefgh", names[i]);
			expect_page(&target, nr + 5, "xxxxxxxxxxxx", names[i]);
			cr_assert_eq(read_page(&target, nr + 6, noise[i || nr]), KW_OK);
			cr_assert_eq(memcmp(noise[0], noise[i || nr], PAGE), 0, "%s", names[i]);
		}
		image_close(&target);
	}
}

Test(memory_kdump, pages_left_out_are_excluded_and_others_absent)
{
	struct image_target target;
	char bytes[16];

	open_file(&target, "zlib");
	for (uint64_t nr = 0; nr < 16; nr += 8) {
		expect_status(&target, nr, KW_EXCLUDED, "zlib");
		expect_status(&target, nr + 2, KW_EXCLUDED, "zlib");
		expect_status(&target, nr + 7, KW_EXCLUDED, "zlib");
	}
	expect_status(&target, 16, KW_ABSENT, "zlib");
	expect_status(&target, 1 << 20, KW_ABSENT, "zlib");
	/* A range is had whole, or not at all. */
	cr_assert_eq(kw_read_phys(&target.ctx, 2 * PAGE - 8, bytes, 16), KW_EXCLUDED);
	cr_assert_eq(kw_read_phys(&target.ctx, 16 * PAGE - 8, bytes, 16), KW_EXCLUDED);
	cr_assert_eq(kw_read_phys(&target.ctx, 6 * PAGE - 8, bytes, 16), KW_OK);
	image_close(&target);
}

Test(memory_kdump, pages_that_were_not_written_have_failed)
{
	struct image_target target;

	open_file(&target, "incomplete");
	cr_assert_str_eq(kw_memory_trouble(target.target.memory),
			 "the dump is incomplete, as its disk was full: 3 of its 10 pages are lost");
	cr_assert_eq(kw_memory_cut_off(target.target.memory), 3 * PAGE);
	expect_page(&target, 3, "abcdefgh", "incomplete");
	expect_status(&target, 13, KW_FAILED, "incomplete");
	image_close(&target);
}

Test(memory_kdump, one_file_of_a_set_knows_only_its_own_pages)
{
	struct image_target target;

	open_file(&target, "split");
	cr_assert(strstr(kw_memory_trouble(target.target.memory), "one file of a split set"));
	expect_status(&target, 3, KW_ABSENT, "split");
	expect_page(&target, 11, "abcdefgh", "split");
	image_close(&target);
}

static void expect_counts(struct image_target *target, uint64_t start, uint64_t end, bool read,
			  struct kw_memory_counts want)
{
	struct kw_memory_counts got;

	cr_assert_eq(kw_count_memory(&target->ctx, start * PAGE, end, read, &got), KW_OK);
	cr_expect_eq(got.present, want.present * PAGE, "present: %lu", got.present / PAGE);
	cr_expect_eq(got.excluded, want.excluded * PAGE, "excluded: %lu", got.excluded / PAGE);
	cr_expect_eq(got.failed, want.failed * PAGE, "failed: %lu", got.failed / PAGE);
}

/* By the tables and by reading: the same, but for damage that only unpacking can tell. */
Test(memory_kdump, pages_are_counted)
{
	struct image image = read_file("zlib");
	struct image_target target;

	for (int read = 0; read < 2; read++) {
		open_file(&target, "zlib");
		expect_counts(&target, 0, UINT64_MAX, read, (struct kw_memory_counts){ 10, 6, 0 });
		expect_counts(&target, 1, 7 * PAGE, read, (struct kw_memory_counts){ 5, 1, 0 });
		expect_counts(&target, 16, UINT64_MAX, read, (struct kw_memory_counts){ 0 });
		cr_expect_str_eq(kw_left_out(&target.ctx), "pages of zeros");
		image_close(&target);
		open_file(&target, "incomplete");
		expect_counts(&target, 0, UINT64_MAX, read, (struct kw_memory_counts){ 7, 6, 3 });
		image_close(&target);
		open_file(&target, "avml");
		cr_expect_null(kw_left_out(&target.ctx));
		image_close(&target);
	}
	/* In the packed bytes of the last page but one: the last is noise, as it is. */
	memset(image.bytes + image.size - PAGE - 8, 0xff, 8);
	cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
	expect_counts(&target, 0, UINT64_MAX, false, (struct kw_memory_counts){ 10, 6, 0 });
	expect_counts(&target, 0, UINT64_MAX, true, (struct kw_memory_counts){ 9, 6, 1 });
	image_close(&target);
	image_free(&image);
}

/* What is gone has failed; what was unpacked before, and what is still there, is right. */
Test(memory_kdump, a_file_that_shrinks_while_it_is_read)
{
	static const char *const names[] = { "raw", "zlib", "lzo", "snappy", "zstd", "flat" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct image image = read_file(names[i]);
		struct image_target target;

		cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
		expect_page(&target, 1, "OSRELEASE=6.1\n", names[i]);
		cr_assert_eq(ftruncate(target.fd, 2 * PAGE), 0);
		expect_status(&target, 14, KW_FAILED, names[i]);
		expect_status(&target, 3, KW_FAILED, names[i]);
		expect_status(&target, 2, KW_EXCLUDED, names[i]);
		image_close(&target);
		image_free(&image);
	}
}

Test(memory_kdump, a_wrong_bit_in_the_bitmap_is_noticed)
{
	/* Bitmaps begin at block 2, the second one at block 3; pages 0 to 15 are two bytes of it. */
	for (unsigned int bit = 0; bit < 16; bit++) {
		struct image image = read_file("zlib");
		struct image_target target;

		image.bytes[3 * PAGE + bit / 8] ^= (uint8_t)(1 << bit % 8);
		cr_assert_eq(image_open(&target, &image, NULL), KW_FORMAT, "bit %u", bit);
		cr_assert(strstr(kw_error(&target.ctx), "don't agree"), "%s", kw_error(&target.ctx));
		image_close(&target);
		image_free(&image);
	}
}

/* Each bit of a descriptor: the page is the same, or it has failed. */
Test(memory_kdump, a_wrong_bit_in_a_descriptor_gives_no_other_page)
{
	static const char *const names[] = { "raw", "zlib", "lzo", "snappy", "zstd" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		/* The fifth page of the dump is the sixth of memory: noise, which is not packed in any of them. */
		for (unsigned int bit = 0; bit < 128; bit++) {
			struct image image = read_file(names[i]);
			struct image_target good, bad;
			char want[PAGE], got[PAGE];

			open_file(&good, names[i]);
			cr_assert_eq(read_page(&good, 6, want), KW_OK);
			image.bytes[4 * PAGE + 4 * 24 + bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (image_open(&bad, &image, NULL) == KW_OK && read_page(&bad, 6, got) == KW_OK)
				cr_assert_eq(memcmp(want, got, PAGE), 0, "%s: bit %u", names[i], bit);
			image_close(&bad);
			image_close(&good);
			image_free(&image);
		}
	}
}

Test(memory_kdump, a_flattened_dump_that_is_cut_is_said_to_be)
{
	struct image image = read_file("flat");
	struct image_target target;

	image.size -= 3000;
	cr_assert_eq(image_open(&target, &image, NULL), KW_OK, "%s", kw_error(&target.ctx));
	/* The first block of the dump comes last, and nothing is behind its header. */
	cr_assert(!kw_memory_trouble(target.target.memory));
	expect_page(&target, 15 - 2, "xxxx", "flat");
	image_close(&target);
	image.size -= 6000;
	cr_assert_eq(image_open(&target, &image, NULL), KW_FORMAT);
	cr_assert(strstr(kw_error(&target.ctx), "was cut short"), "%s", kw_error(&target.ctx));
	image_close(&target);
	image.size = 4096;
	cr_assert_eq(image_open(&target, &image, NULL), KW_FORMAT);
	cr_assert(strstr(kw_error(&target.ctx), "it has no block"));
	image_close(&target);
	image_free(&image);
}
