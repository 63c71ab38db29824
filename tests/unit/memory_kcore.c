/* /proc/kcore, from files made to look like it: hundreds of segments, headers that lie, a segment that vanishes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "memory/reader.h"
#include "memory/source.h"

#define PAGE	0x1000ULL
#define DIRECT	0xffff888000000000ULL
#define VMALLOC 0xffffc90000000000ULL
#define VMEMMAP 0xffffea0000000000ULL
#define TEXT	0xffffffff81000000ULL
#define MODULES 0xffffffffc0000000ULL
#define DATA	0x100000ULL /* where the first segment's bytes are */
#define NR_RAM	700

/* A file under construction; the bytes of a segment follow those of the one before. */
struct file {
	struct image image;
	uint64_t nr, next;
};

static struct file file;
static struct image_target target;

static void begin(void)
{
	file = (struct file){ .image = image_new(DATA), .next = DATA };
}

static void put_header(uint64_t vaddr, uint64_t paddr, uint64_t size, uint64_t offset)
{
	Elf64_Phdr phdr = { .p_type = PT_LOAD,
			    .p_vaddr = vaddr,
			    .p_paddr = paddr,
			    .p_offset = offset,
			    .p_filesz = size,
			    .p_memsz = size };

	image_put(&file.image, sizeof(Elf64_Ehdr) + file.nr++ * sizeof(phdr), &phdr, sizeof(phdr));
}

/* Each 8 bytes of a segment hold their own virtual address. */
static void put_segment(uint64_t vaddr, uint64_t paddr, uint64_t size)
{
	put_header(vaddr, paddr, size, file.next);
	image_put_pattern(&file.image, file.next, size, vaddr);
	file.next += size;
}

static void put_elf_header(void)
{
	Elf64_Ehdr ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_CORE,
			    .e_machine = EM_X86_64,
			    .e_phoff = sizeof(ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = (Elf64_Half)file.nr };

	image_put(&file.image, 0, &ehdr, sizeof(ehdr));
}

static kw_status open_kcore(bool no_mmap)
{
	struct kw_memory *memory = calloc(1, sizeof(*memory));
	kw_status status;

	put_elf_header();
	target = (struct image_target){ .fd = memfd_create("kcore", MFD_CLOEXEC) };
	cr_assert_eq(write(target.fd, file.image.bytes, file.image.size), (ssize_t)file.image.size);
	target.ctx.target = &target.target;
	target.target.memory = memory;
	memory->fd = dup(target.fd);
	memory->device_fd = -1;
	memory->device_fd = -1;
	memory->device_why = ENOENT;
	pthread_mutex_init(&memory->hotplug.lock, NULL);
	memory->no_mmap = no_mmap;
	memory->name = strdup("kcore");
	status = kw_kcore_open(&target.ctx, memory);
	if (status == KW_OK)
		status = kw_memory_list_segments(&target.ctx, memory);
	if (status == KW_OK)
		target.ctx.reader = kw_reader_new(&target.ctx);
	return status;
}

static void end(void)
{
	image_close(&target);
	image_free(&file.image);
}

static void expect(uint64_t addr, uint64_t want)
{
	uint64_t value;

	cr_assert_eq(kw_read_u64(&target.ctx, addr, &value), KW_OK, "%#lx", addr);
	cr_assert_eq(value, want, "%#lx: %#lx, not %#lx", addr, value, want);
}

static void expect_phys(uint64_t paddr, uint64_t want)
{
	uint64_t value;

	cr_assert_eq(kw_read_phys(&target.ctx, paddr, &value, 8), KW_OK, "%#lx", paddr);
	cr_assert_eq(value, want, "%#lx: %#lx, not %#lx", paddr, value, want);
}

static void expect_status(uint64_t addr, kw_status want)
{
	uint64_t value;
	kw_status status = kw_read_u64(&target.ctx, addr, &value);

	cr_assert_eq(status, want, "%#lx: status %d, not %d", addr, status, want);
}

static size_t count_kind(enum kw_segment_kind kind)
{
	size_t nr, found = 0;
	const struct kw_segment *segments = kw_segments(&target.ctx, &nr);

	for (size_t i = 0; i < nr; i++)
		found += segments[i].kind == kind;
	return found;
}

static uint64_t place_of(uint64_t i)
{
	return i * 3 * PAGE;
}

/* A machine of many holes. The kernel lists hot-added memory last, so that nothing is in order. */
static void put_hundreds(void)
{
	put_segment(TEXT, 0x40000000, 4 * PAGE);
	put_segment(VMALLOC, KW_NO_ADDR, PAGE);
	put_segment(MODULES, KW_NO_ADDR, PAGE);
	for (uint64_t i = 0; i < NR_RAM; i++)
		put_segment(DIRECT + place_of(i * 11 % NR_RAM), place_of(i * 11 % NR_RAM), 2 * PAGE);
	put_segment(VMEMMAP, KW_NO_ADDR, PAGE);
}

static void look_at_hundreds(void)
{
	for (uint64_t i = 0; i < NR_RAM; i++) {
		uint64_t paddr = place_of(i);

		expect(DIRECT + paddr + 16, DIRECT + paddr + 16);
		expect_phys(paddr + 2 * PAGE - 8, DIRECT + paddr + 2 * PAGE - 8);
		expect_status(DIRECT + paddr + 2 * PAGE, KW_ABSENT);
		/* What begins in a segment and ends in a hole is not there as a whole. */
		expect_status(DIRECT + paddr + 2 * PAGE - 4, KW_ABSENT);
	}
	expect(TEXT + 8, TEXT + 8);
	expect(VMALLOC + 8, VMALLOC + 8);
	expect(MODULES + 8, MODULES + 8);
	expect(VMEMMAP + 8, VMEMMAP + 8);
	cr_assert_eq(count_kind(KW_SEG_RAM), NR_RAM);
	cr_assert_eq(count_kind(KW_SEG_TEXT), 1);
}

Test(memory_kcore, hundreds_of_segments)
{
	for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
		begin();
		put_hundreds();
		cr_assert_eq(open_kcore(no_mmap), KW_OK, "%s", kw_error(&target.ctx));
		look_at_hundreds();
		cr_assert_eq(!!kw_view(&target.ctx, DIRECT + place_of(NR_RAM - 1), 8), !no_mmap);
		/* These change their pages while one looks: never mapped. */
		cr_assert_null(kw_view(&target.ctx, VMALLOC, 8));
		cr_assert_null(kw_view(&target.ctx, MODULES, 8));
		cr_assert_null(kw_view(&target.ctx, VMEMMAP, 8));
		end();
	}
}

/* Headers may be read while memory is added: whatever they say, what is right among them is read. */
Test(memory_kcore, headers_that_lie)
{
	begin();
	put_segment(DIRECT, 0, 4 * PAGE);
	put_header(DIRECT + PAGE, PAGE, 2 * PAGE, DATA + PAGE);		    /* once more, in the middle */
	put_header(DIRECT + 0x10000, 0x10000, 0, DATA);			    /* empty */
	put_header(DIRECT + 0x20000, 0x20000, PAGE, UINT64_MAX - PAGE + 1); /* no offset of a file */
	put_header(DIRECT + 0x30000, 0x30000, PAGE, 1ULL << 46);	    /* past the end */
	put_header(0xfffffffffffff000, 0x40000, 64 * PAGE, DATA);	    /* past the last address */
	put_header(0x400000, 0x50000, PAGE, DATA);			    /* a user's address */
	put_header(DIRECT + 0x60000, UINT64_MAX - PAGE, 4 * PAGE, DATA);    /* past the last physical one */
	put_header(DIRECT + 0x70000, 0x70000, PAGE, DATA + 0x123);	    /* not on a page */
	put_header(DIRECT + 0x100000000, 0x100000000, UINT64_MAX / 2, 1 << 20); /* larger than anything */
	cr_assert_eq(open_kcore(false), KW_OK, "%s", kw_error(&target.ctx));
	for (uint64_t at = 0; at < 4 * PAGE; at += 8)
		expect(DIRECT + at, DIRECT + at);
	expect_status(DIRECT + 0x10000, KW_ABSENT);
	expect_status(DIRECT + 0x20000, KW_ABSENT);
	expect_status(DIRECT + 0x30000, KW_FAILED);
	expect_status(0x400000, KW_ABSENT);
	expect_status(DIRECT + 0x70000, KW_OK);
	expect_status(0xfffffffffffffffc, KW_ABSENT);
	end();
}

Test(memory_kcore, no_memory_at_all)
{
	begin();
	put_header(0x400000, 0, PAGE, DATA);
	cr_assert_eq(open_kcore(false), KW_FORMAT);
	cr_assert(strstr(kw_error(&target.ctx), "shows no memory"), "%s", kw_error(&target.ctx));
	end();
}

/* As when a block of memory goes offline: what was there fails from then on, for old readers too, and nothing else does. */
Test(memory_kcore, a_segment_vanishes_while_mapped)
{
	const uint64_t first = DIRECT, second = DIRECT + 0x100000;
	const uint64_t *view;

	for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
		begin();
		put_segment(first, 0, 8 * PAGE);
		put_segment(second, 0x100000, 8 * PAGE);
		cr_assert_eq(open_kcore(no_mmap), KW_OK, "%s", kw_error(&target.ctx));
		expect(second + PAGE, second + PAGE);
		kw_pass_begin(&target.ctx);
		view = kw_view(&target.ctx, second + PAGE, 8);
		cr_assert_eq(view != NULL, !no_mmap);
		cr_assert_eq(ftruncate(target.fd, (off_t)(DATA + 8 * PAGE)), 0);
		if (view)
			cr_assert_eq(*(const volatile uint64_t *)view, 0,
				     "a pointer had before leads to zeros");
		kw_pass_end(&target.ctx);
		for (uint64_t at = 0; at < 8 * PAGE; at += PAGE / 2) {
			expect_status(second + at, KW_FAILED);
			expect(first + at, first + at);
		}
		cr_assert_null(kw_view(&target.ctx, second + PAGE, 8));
		end();
	}
}

/* As put_hotplug() writes them: the same memory, one page farther down the file, and one segment more. */
static void put_hotplug(uint64_t moved, bool is_added)
{
	begin();
	file.next += moved;
	put_segment(TEXT, 0x40000000, 4 * PAGE);
	put_segment(VMALLOC, KW_NO_ADDR, PAGE);
	put_segment(DIRECT, 0, 4 * PAGE);
	if (is_added)
		put_segment(DIRECT + 8 * PAGE, 8 * PAGE, 2 * PAGE);
}

static void rewrite(uint64_t moved, bool is_added)
{
	image_free(&file.image);
	put_hotplug(moved, is_added);
	put_elf_header();
	cr_assert_eq(pwrite(target.fd, file.image.bytes, file.image.size, 0), (ssize_t)file.image.size);
	target.ctx.reader->followed_ms = 0;
}

static void look_at_old_memory(void)
{
	expect(TEXT + 8, TEXT + 8);
	expect(VMALLOC + 16, VMALLOC + 16);
	expect(DIRECT + PAGE, DIRECT + PAGE);
	expect_phys(3 * PAGE, DIRECT + 3 * PAGE);
}

/* When memory is added, its segment is found, and what was there before is still found though it lies elsewhere now. */
Test(memory_kcore, memory_is_added_while_it_is_open)
{
	size_t nr;

	put_hotplug(0, false);
	cr_assert_eq(open_kcore(true), KW_OK);
	look_at_old_memory();
	expect_status(DIRECT + 8 * PAGE, KW_ABSENT);
	for (int turn = 0; turn < 3; turn++) {
		rewrite((turn + 1) * PAGE, true);
		look_at_old_memory();
		expect(DIRECT + 9 * PAGE + 8, DIRECT + 9 * PAGE + 8);
		expect_phys(8 * PAGE, DIRECT + 8 * PAGE);
		kw_segments(&target.ctx, &nr);
		cr_assert_eq(nr, 4);
	}
	/* It goes again. What it was is not what now lies at its old place. */
	rewrite(0, false);
	look_at_old_memory();
	expect_status(DIRECT + 9 * PAGE + 8, KW_ABSENT);
	kw_segments(&target.ctx, &nr);
	cr_assert_eq(nr, 3);
	end();
}

/* Headers that can't be read for a moment change nothing. */
Test(memory_kcore, headers_are_damaged_while_it_is_open)
{
	put_hotplug(0, false);
	cr_assert_eq(open_kcore(true), KW_OK);
	cr_assert_eq(pwrite(target.fd, "none", 4, 0), 4);
	target.ctx.reader->followed_ms = 0;
	look_at_old_memory();
	cr_assert_str_eq(kw_error(&target.ctx), "");
	end();
}
