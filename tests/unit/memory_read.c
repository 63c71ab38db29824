/* Reading: strings, what a pass caches, linear segments of a kernel. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "memory/view.h"

#define DIRECT 0xffff888000000000ULL
#define TEXT   0xffffffff81000000ULL

static const struct kw_open_options with_pread = { .size = sizeof(with_pread), .no_mmap = true };

static struct image make_ram(void)
{
	struct image ram = image_new(1 << 20);

	image_put_pattern(&ram, 0, ram.size, 0);
	return ram;
}

static void open_direct(struct image_target *target, const struct image *ram,
			const struct kw_open_options *opts)
{
	cr_assert_eq(image_open(target, ram, opts), KW_OK);
	cr_assert_eq(kw_memory_set_direct_map(&target->ctx, DIRECT), KW_OK);
}

Test(memory_read, nothing_is_open)
{
	kw_ctx ctx = { 0 };
	uint8_t byte;
	size_t nr;

	cr_assert_eq(kw_read(&ctx, DIRECT, &byte, 1), KW_INVALID);
	cr_assert_eq(kw_read_phys(&ctx, 0, &byte, 1), KW_INVALID);
	cr_assert_eq(kw_read_string(&ctx, DIRECT, (char *)&byte, 1), KW_INVALID);
	cr_assert_eq(kw_translate(&ctx, DIRECT, &(uint64_t){ 0 }), KW_INVALID);
	cr_assert_null(kw_view(&ctx, DIRECT, 1));
	cr_assert_null(kw_segments(&ctx, &nr));
	cr_assert_eq(nr, 0);
	kw_pass_begin(&ctx);
	kw_pass_end(&ctx);
	free(ctx.message);
}

Test(memory_read, strings)
{
	struct image ram = make_ram();

	image_put_text(&ram, 0x10ffe, "across a page");
	image_put_text(&ram, 0x20000, "");
	memset(ram.bytes + ram.size - 6, 'x', 6);
	for (int way = 0; way < 2; way++) {
		struct image_target target;
		char buf[32];

		open_direct(&target, &ram, way ? &with_pread : NULL);
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + 0x10ffe, buf, sizeof(buf)), KW_OK);
		cr_assert_str_eq(buf, "across a page");
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + 0x10ffe, buf, 7), KW_OK);
		cr_assert_str_eq(buf, "across");
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + 0x20000, buf, sizeof(buf)), KW_OK);
		cr_assert_str_eq(buf, "");
		/* Memory ends before the string does. */
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + ram.size - 6, buf, sizeof(buf)), KW_OK);
		cr_assert_str_eq(buf, "xxxxxx");
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + ram.size, buf, sizeof(buf)), KW_ABSENT);
		cr_assert_str_eq(buf, "");
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + 0x10ffe, buf, 1), KW_OK);
		cr_assert_str_eq(buf, "");
		cr_assert_eq(kw_read_string(&target.ctx, DIRECT + 0x10ffe, buf, 0), KW_INVALID);
		image_close(&target);
	}
	image_free(&ram);
}

Test(memory_read, a_pass_reads_a_page_once)
{
	struct image ram = make_ram();
	struct image_target target;
	const struct kw_counters *counters;
	uint64_t value, other = 77;

	open_direct(&target, &ram, &with_pread);
	counters = kw_counters(&target.ctx);
	kw_pass_begin(&target.ctx);
	kw_pass_begin(&target.ctx);
	for (uint64_t i = 0; i < 100; i++)
		cr_assert_eq(kw_read_u64(&target.ctx, DIRECT + 0x5000 + 8 * i, &value), KW_OK);
	kw_pass_end(&target.ctx);
	cr_assert_eq(counters->preads, 1);
	cr_assert_eq(counters->pread_bytes, 4096);
	cr_assert_eq(counters->cache_hits, 99);

	/* What changes meanwhile is seen after it was forgotten, and in the next pass. */
	cr_assert_eq(pwrite(target.fd, &other, 8, 0x5000), 8);
	kw_read_u64(&target.ctx, DIRECT + 0x5000, &value);
	cr_assert_eq(value, 0x5000);
	kw_forget(&target.ctx, DIRECT + 0x4ff8, 16);
	kw_read_u64(&target.ctx, DIRECT + 0x5000, &value);
	cr_assert_eq(value, 77);
	other = 78;
	cr_assert_eq(pwrite(target.fd, &other, 8, 0x5000), 8);
	kw_pass_end(&target.ctx);
	kw_pass_begin(&target.ctx);
	kw_read_u64(&target.ctx, DIRECT + 0x5000, &value);
	cr_assert_eq(value, 78);
	other = 79;
	cr_assert_eq(pwrite(target.fd, &other, 8, 0x5000), 8);
	kw_pass_renew(&target.ctx);
	kw_read_u64(&target.ctx, DIRECT + 0x5000, &value);
	cr_assert_eq(value, 79);
	kw_pass_end(&target.ctx);
	kw_pass_renew(&target.ctx); /* outside of a pass there is nothing to do */
	image_close(&target);
	image_free(&ram);
}

Test(memory_read, near_reads_are_those_of_kw_read)
{
	struct image ram = make_ram();
	struct image_target target;
	uint64_t value = 5;
	uint32_t half;

	open_direct(&target, &ram, NULL);
	cr_assert_eq(kw_read_near_u64(&target.ctx, DIRECT + 0x5000, &value), KW_OK, "outside of a pass");
	cr_assert_eq(value, 0x5000);
	kw_pass_begin(&target.ctx);
	cr_assert_eq(kw_read_near_u64(&target.ctx, DIRECT + 0x5008, &value), KW_OK);
	cr_assert_eq(value, 0x5008);
	cr_assert_eq(kw_read_near_u32(&target.ctx, DIRECT + 0x5010, &half), KW_OK);
	cr_assert_eq(half, 0x5010);
	cr_assert_eq(kw_read_near_u64(&target.ctx, UINT64_MAX - 3, &value), KW_ABSENT);
	cr_assert_neq(kw_read_near_u64(&target.ctx, DIRECT - 4, &value), KW_OK,
		      "half of it before the segment");
	/* A page that can't be had any more is a failure, not zeros: the first time and from then on. */
	cr_assert_eq(ftruncate(target.fd, 0x5000), 0);
	cr_assert_eq(kw_read_near_u64(&target.ctx, DIRECT + 0x5008, &value), KW_FAILED);
	cr_assert_eq(kw_read_near_u64(&target.ctx, DIRECT + 0x5008, &value), KW_FAILED);
	cr_assert_eq(kw_read_near_u64(&target.ctx, DIRECT + 0x4000, &value), KW_OK);
	cr_assert_eq(value, 0x4000);
	kw_pass_end(&target.ctx);
	image_close(&target);
	image_free(&ram);
}

Test(memory_read, outside_of_a_pass_nothing_is_cached)
{
	struct image ram = make_ram();
	struct image_target target;
	uint64_t value;

	open_direct(&target, &ram, &with_pread);
	for (uint64_t i = 0; i < 10; i++)
		cr_assert_eq(kw_read_u64(&target.ctx, DIRECT + 0x5000, &value), KW_OK);
	cr_assert_eq(kw_counters(&target.ctx)->preads, 10);
	cr_assert_eq(kw_counters(&target.ctx)->pread_bytes, 80);
	image_close(&target);
	image_free(&ram);
}

static void check_gathered(const struct image *ram, const struct kw_range *range)
{
	cr_expect_eq(range->status, KW_OK, "at 0x%lx", range->addr);
	cr_expect_arr_eq(range->buf, ram->bytes + (range->addr - DIRECT), range->len);
}

/* In any order, overlapping, far and near, and each with its own fate. */
Test(memory_read, gathering)
{
	static const struct {
		uint64_t at;
		uint32_t len;
	} wanted[] = { { 0x9000, 100 }, { 0x1000, 8 },	    { 0x1004, 8 },   { 0x1ffc, 8 },  { 0x1000, 3000 },
		       { 0x8fff, 1 },	{ 0x20000, 60000 }, { 0xffff0, 16 }, { 0xff000, 0 }, { 0x1000, 8 } };
	static uint8_t bytes[11][65536];
	struct image ram = make_ram();

	for (int way = 0; way < 2; way++) {
		struct kw_range ranges[12];
		struct image_target target;
		size_t nr = 0;

		open_direct(&target, &ram, way ? &with_pread : NULL);
		for (; nr < sizeof(wanted) / sizeof(*wanted); nr++)
			ranges[nr] = (struct kw_range){ DIRECT + wanted[nr].at, wanted[nr].len, KW_INVALID,
							bytes[nr] };
		ranges[nr++] = (struct kw_range){ DIRECT + ram.size - 4, 8, KW_OK, bytes[10] };
		ranges[nr++] = (struct kw_range){ UINT64_MAX - 3, 8, KW_OK, bytes[10] };
		kw_gather(&target.ctx, ranges, nr);
		for (size_t i = 0; i < nr - 2; i++)
			check_gathered(&ram, &ranges[i]);
		cr_expect_eq(ranges[nr - 2].status, KW_ABSENT);
		cr_expect_eq(ranges[nr - 1].status, KW_ABSENT);
		/* 0x1000 to 0x2004, 0x8fff to 0x9064, 0x20000 and the end: the one that wants nothing costs nothing. */
		if (way)
			cr_expect_leq(kw_counters(&target.ctx)->preads, 5);
		image_close(&target);
	}
	image_free(&ram);
}

/* The file ends in the middle of a run. */
Test(memory_read, gathering_from_a_file_that_was_cut_short)
{
	struct image ram = make_ram();
	struct image_target target;
	uint8_t bytes[3][16];
	struct kw_range ranges[] = { { DIRECT + 0x1000, 16, KW_OK, bytes[0] },
				     { DIRECT + 0x17f8, 16, KW_OK, bytes[1] },
				     { DIRECT + 0x1900, 16, KW_OK, bytes[2] } };

	open_direct(&target, &ram, &with_pread);
	cr_assert_eq(ftruncate(target.fd, 0x1800), 0);
	kw_gather(&target.ctx, ranges, 3);
	check_gathered(&ram, &ranges[0]);
	cr_expect_eq(ranges[1].status, KW_FAILED);
	cr_expect_eq(ranges[2].status, KW_FAILED);
	image_close(&target);
	image_free(&ram);
}

/* Past what the pass has kept. */
Test(memory_read, gathering_is_fresh)
{
	struct image ram = make_ram();
	struct image_target target;
	uint64_t value, gathered = 0, other = 77;
	struct kw_range range = { DIRECT + 0x5000, 8, KW_OK, &gathered };

	open_direct(&target, &ram, &with_pread);
	kw_pass_begin(&target.ctx);
	kw_read_u64(&target.ctx, DIRECT + 0x5000, &value);
	cr_assert_eq(pwrite(target.fd, &other, 8, 0x5000), 8);
	kw_gather(&target.ctx, &range, 1);
	cr_expect_eq(gathered, 77);
	kw_pass_end(&target.ctx);
	image_close(&target);
	image_free(&ram);
}

/* More pages than the cache holds, in an order that makes them meet. */
Test(memory_read, the_cache_never_mixes_pages_up)
{
	struct image ram = image_new(8 << 20);
	struct image_target target;
	uint8_t bytes[9000];

	image_put_pattern(&ram, 0, ram.size, 0);
	open_direct(&target, &ram, &with_pread);
	srand(2);
	kw_pass_begin(&target.ctx);
	for (int i = 0; i < 20000; i++) {
		uint64_t at = (uint64_t)rand() % (ram.size - sizeof(bytes));
		size_t len = 1 + (size_t)rand() % (i % 10 ? 200 : sizeof(bytes));

		cr_assert_eq(kw_read(&target.ctx, DIRECT + at, bytes, len), KW_OK);
		cr_assert(!memcmp(bytes, ram.bytes + at, len), "%#lx, %zu", at, len);
	}
	kw_pass_end(&target.ctx);
	image_close(&target);
	image_free(&ram);
}

Test(memory_read, fetch_views_or_copies)
{
	struct image ram = make_ram();

	for (int way = 0; way < 2; way++) {
		struct image_target target;
		kw_status status = KW_OK;
		uint8_t scratch[64];
		const uint8_t *found;

		open_direct(&target, &ram, way ? &with_pread : NULL);
		found = kw_fetch(&target.ctx, DIRECT + 0x1234, 64, scratch, &status);
		cr_assert(found && !memcmp(found, ram.bytes + 0x1234, 64));
		cr_assert_eq(found == scratch, way == 1);
		cr_assert_null(kw_fetch(&target.ctx, DIRECT + ram.size - 8, 64, scratch, &status));
		cr_assert_eq(status, KW_ABSENT);
		image_close(&target);
	}
	image_free(&ram);
}

Test(memory_read, the_image_is_mapped_linearly)
{
	struct image ram = make_ram();
	struct image_target target;
	/* phys_base may be negative: the text at 0xffffffff81000000 lies at 256 KiB. */
	struct kw_kernel_map map = { .phys_base = 0x40000 - 0x1000000ULL,
				     .image_start = TEXT,
				     .image_size = 0x10000 };
	const struct kw_segment *listed;
	uint64_t value, paddr;
	size_t nr;

	open_direct(&target, &ram, NULL);
	cr_assert_eq(kw_memory_set_kernel(&target.ctx, &map), KW_OK);
	cr_assert_eq(kw_read_u64(&target.ctx, TEXT + 0x18, &value), KW_OK);
	cr_assert_eq(value, 0x40018);
	cr_assert_eq(kw_translate(&target.ctx, TEXT + 0x20, &paddr), KW_OK);
	cr_assert_eq(paddr, 0x40020);
	cr_assert_eq(kw_read_u64(&target.ctx, TEXT + 0x10000, &value), KW_ABSENT);
	listed = kw_segments(&target.ctx, &nr);
	cr_assert_eq(nr, 2);
	cr_assert_eq(listed[0].kind, KW_SEG_RAM);
	cr_assert_eq(listed[1].kind, KW_SEG_TEXT);
	cr_assert_eq(listed[1].vaddr, TEXT);
	cr_assert_eq(kw_memory_set_direct_map(&target.ctx, 0x1000), KW_FORMAT);
	image_close(&target);
	image_free(&ram);
}
