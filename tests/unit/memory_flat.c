/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index of flattened dumps: which block counts where several overlap, gaps, cuts. */
#include <criterion/criterion.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/flat.h"

struct file {
	kw_ctx ctx;
	struct flat *flat;
	int fd;
	uint64_t size;
};

static void add(struct file *file, int64_t offset, int64_t size, char letter)
{
	uint64_t pair[2] = { htobe64((uint64_t)offset), htobe64((uint64_t)size) };
	char bytes[256];

	memset(bytes, letter, sizeof(bytes));
	cr_assert_eq(pwrite(file->fd, pair, 16, (off_t)file->size), 16);
	file->size += 16;
	if (size > 0)
		cr_assert_eq(pwrite(file->fd, bytes, (size_t)size, (off_t)file->size), size);
	file->size += size > 0 ? (uint64_t)size : 0;
}

static void begin(struct file *file)
{
	memset(file, 0, sizeof(*file));
	file->fd = memfd_create("flat", MFD_CLOEXEC);
	file->size = 4096;
}

static kw_status finish(struct file *file)
{
	return flat_open(&file->ctx, "flat", file->fd, file->size, &file->flat);
}

static void expect(struct file *file, uint64_t offset, const char *want)
{
	char got[256] = "";

	cr_assert_eq(flat_read(file->flat, file->fd, offset, got, sizeof(got) - 1), (ssize_t)strlen(want));
	cr_assert_str_eq(got, want);
}

static void end(struct file *file)
{
	flat_free(file->flat);
	free(file->ctx.message);
	close(file->fd);
}

Test(memory_flat, a_later_block_replaces_what_it_overlaps)
{
	struct file file;

	begin(&file);
	add(&file, 10, 10, 'a');
	add(&file, 0, 5, 'b');
	add(&file, 12, 3, 'c');
	add(&file, 3, 9, 'd');
	add(&file, 18, 4, 'e');
	add(&file, 13, 1, 'f');
	add(&file, -1, -1, 0);
	cr_assert_eq(finish(&file), KW_OK);
	cr_assert(!flat_is_cut(file.flat));
	cr_assert_eq(flat_size(file.flat), 22);
	expect(&file, 0, "bbbdddddddddcfcaaaeeee");
	expect(&file, 12, "cfcaaaeeee");
	end(&file);
}

Test(memory_flat, reading_ends_at_a_gap)
{
	struct file file;

	begin(&file);
	add(&file, 4, 4, 'b');
	add(&file, 100, 4, 'a');
	add(&file, -1, -1, 0);
	cr_assert_eq(finish(&file), KW_OK);
	expect(&file, 0, "");
	expect(&file, 6, "bb");
	expect(&file, 8, "");
	expect(&file, 102, "aa");
	expect(&file, 104, "");
	end(&file);
}

Test(memory_flat, without_its_end_it_is_cut)
{
	struct file file;

	begin(&file);
	add(&file, 0, 4, 'a');
	add(&file, 4, 8, 'b');
	file.size -= 5;
	cr_assert_eq(finish(&file), KW_OK);
	cr_assert(flat_is_cut(file.flat));
	expect(&file, 0, "aaaabbb");
	end(&file);
}

Test(memory_flat, impossible_blocks_are_refused)
{
	static const int64_t blocks[][2] = { { -5, 8 }, { 0, -1 }, { 0, 0 }, { INT64_MAX, 1 }, { -1, 5 } };

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		struct file file;

		begin(&file);
		add(&file, blocks[i][0], blocks[i][1], 'a');
		cr_assert_eq(finish(&file), KW_FORMAT, "%zu", i);
		cr_assert_str_eq(kw_error(&file.ctx),
				 "flat: the block at 4096 of the flattened dump is damaged: it can't be "
				 "rearranged");
		end(&file);
	}
}
