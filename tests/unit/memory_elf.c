/* ELF cores: the states of bytes, headers that lie, notes. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "memory/source.h"

#define DIRECT 0xffff888000000000ULL
#define TEXT   0xffffffff81000000ULL

static const struct kw_open_options with_pread = { .size = sizeof(with_pread), .no_mmap = true };

static void expect_u64(struct image_target *target, uint64_t addr, uint64_t want)
{
	uint64_t value;

	cr_assert_eq(kw_read_u64(&target->ctx, addr, &value), KW_OK, "%#lx", addr);
	cr_assert_eq(value, want, "%#lx: %#lx, not %#lx", addr, value, want);
}

static void expect_phys(struct image_target *target, uint64_t paddr, uint64_t want)
{
	uint64_t value;

	cr_assert_eq(kw_read_phys(&target->ctx, paddr, &value, 8), KW_OK, "%#lx", paddr);
	cr_assert_eq(value, want, "%#lx: %#lx, not %#lx", paddr, value, want);
}

static kw_status status_of(struct image_target *target, uint64_t addr, size_t len)
{
	static uint8_t buf[1 << 20];

	cr_assert(len <= sizeof(buf));
	return kw_read(&target->ctx, addr, buf, len);
}

static const struct kw_open_options *ways[] = { NULL, &with_pread };

Test(memory_elf, every_state_of_a_byte)
{
	const struct image_segment segments[] = {
		{ .vaddr = TEXT, .paddr = 0x1000000, .file_size = 0x3000 },
		{ .vaddr = DIRECT, .paddr = 0, .file_size = 0x10000 },
		/* The dump left the end of this one out. */
		{ .vaddr = DIRECT + 0x10000, .paddr = 0x10000, .file_size = 0x2000, .memory_size = 0x8000 },
		{ .vaddr = DIRECT + 0x20000, .paddr = 0x20000, .file_size = 0, .memory_size = 0x1000 },
	};
	const struct image_elf elf = { .segments = segments, .nr_segments = 4 };
	struct image image = image_make_elf(&elf);

	for (int way = 0; way < 2; way++) {
		struct image_target target;

		cr_assert_eq(image_open(&target, &image, ways[way]), KW_OK);
		cr_assert(kw_memory_has_virtual(target.target.memory));
		expect_u64(&target, DIRECT + 0xff8, 0xff8);
		expect_u64(&target, TEXT + 0x2ff8, 0x1002ff8);
		expect_phys(&target, 0x1000008, 0x1000008);
		/* From one segment into the next. */
		expect_u64(&target, DIRECT + 0xfff8, 0xfff8);
		cr_assert_eq(status_of(&target, DIRECT, 0x12000), KW_OK);
		cr_assert_eq(status_of(&target, DIRECT, 0x12001), KW_EXCLUDED);
		cr_assert_eq(status_of(&target, DIRECT + 0x12000, 1), KW_EXCLUDED);
		cr_assert_eq(status_of(&target, DIRECT + 0x17fff, 1), KW_EXCLUDED);
		cr_assert_eq(status_of(&target, DIRECT + 0x18000, 1), KW_ABSENT);
		cr_assert_eq(status_of(&target, DIRECT + 0x20fff, 1), KW_EXCLUDED);
		cr_assert_eq(status_of(&target, TEXT + 0x3000, 1), KW_ABSENT);
		cr_assert_eq(status_of(&target, 0, 1), KW_ABSENT);
		cr_assert_eq(status_of(&target, UINT64_MAX, 8), KW_ABSENT);
		cr_assert_eq(!!kw_view(&target.ctx, DIRECT + 0x100, 8), way == 0);
		cr_assert_null(kw_view(&target.ctx, DIRECT + 0x12000, 8));
		image_close(&target);
	}
	image_free(&image);
}

/* Let a target that reads with pread map its file in parts, as that of a capture kernel does. */
static int map_in_parts(struct image_target *target)
{
	struct kw_memory *memory = target->target.memory;
	struct segment_map *maps[] = { &memory->virt, &memory->phys };
	int fd = dup(memory->fd), why = 0;
	const uint8_t *map = guard_reserve(&memory->guard, fd, 0, memory->file_size, &why);

	cr_assert_not_null(map);
	for (int i = 0; i < 2; i++)
		for (size_t nr = 0; nr < maps[i]->nr; nr++)
			maps[i]->item[nr].map = map + maps[i]->item[nr].offset;
	cr_assert(populate_init(&memory->populate, &memory->guard, memory->fd, memory->file_size));
	cr_assert_not_null(memory->populate.asked);
	return fd;
}

Test(memory_elf, a_file_mapped_in_parts)
{
	/* The second one begins in the middle of a chunk. */
	const struct image_segment segments[] = {
		{ .vaddr = DIRECT, .paddr = 0, .file_size = 0xb3000 },
		{ .vaddr = DIRECT + 0x200000, .paddr = 0x200000, .file_size = 0x171000 },
	};
	const struct image_elf elf = { .segments = segments, .nr_segments = 2 };
	struct image image = image_make_elf(&elf);

	for (int can_map = 1; can_map >= 0; can_map--) {
		struct image_target target;
		const uint64_t *view;
		int fd;

		cr_assert_eq(image_open(&target, &image, &with_pread), KW_OK);
		fd = map_in_parts(&target);
		if (!can_map)
			close(fd);
		expect_u64(&target, DIRECT, 0);
		expect_u64(&target, DIRECT + 0xb2ff8, 0xb2ff8);
		expect_u64(&target, DIRECT + 0x200000, 0x200000);
		expect_u64(&target, DIRECT + 0x370ff8, 0x370ff8);
		/* What lies between two parts that are there. */
		view = kw_view(&target.ctx, DIRECT + 0x200000, 0x171000);
		cr_assert_eq(view != NULL, can_map);
		for (uint64_t at = 0; view && at < 0x171000; at += 8)
			cr_assert_eq(view[at / 8], 0x200000 + at);
		cr_assert_eq(status_of(&target, DIRECT + 0x210000, 0x100000), KW_OK);
		cr_assert_eq(kw_fault_count(&target.ctx) > 0, !can_map);
		if (can_map)
			close(fd);
		image_close(&target);
	}
	image_free(&image);
}

Test(memory_elf, physical_addresses_only)
{
	/* As QEMU writes it: the physical address in both places. */
	const struct image_segment segments[] = {
		{ .vaddr = 0, .paddr = 0, .file_size = 0x4000 },
		{ .vaddr = 0x100000000, .paddr = 0x100000000, .file_size = 0x4000 },
	};
	const struct image_elf elf = { .segments = segments, .nr_segments = 2 };
	struct image image = image_make_elf(&elf);
	struct image_target target;
	const struct kw_segment *listed;
	size_t nr;

	cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
	cr_assert_not(kw_memory_has_virtual(target.target.memory));
	cr_assert_str_eq(kw_memory_description(target.target.memory),
			 "ELF core, 2 segments, physical addresses only");
	expect_phys(&target, 0x100000010, 0x100000010);
	cr_assert_eq(status_of(&target, DIRECT, 1), KW_ABSENT);
	cr_assert_eq(kw_memory_set_direct_map(&target.ctx, DIRECT), KW_OK);
	expect_u64(&target, DIRECT + 0x100000010, 0x100000010);
	expect_u64(&target, DIRECT + 0x10, 0x10);
	cr_assert_eq(status_of(&target, DIRECT + 0x4000, 1), KW_ABSENT);
	listed = kw_segments(&target.ctx, &nr);
	cr_assert_eq(nr, 2);
	cr_assert_eq(listed[1].vaddr, DIRECT + 0x100000000);
	cr_assert_eq(listed[1].kind, KW_SEG_RAM);
	image_close(&target);
	image_free(&image);
}

Test(memory_elf, user_addresses_are_left_out)
{
	const struct image_segment segments[] = {
		{ .vaddr = 0x400000, .paddr = 0x1000, .file_size = 0x1000 },
		/* QEMU's way of writing 0x400000 */
		{ .vaddr = 0xffff000000400000, .paddr = 0x2000, .file_size = 0x1000 },
		{ .vaddr = DIRECT + 0x3000, .paddr = 0x3000, .file_size = 0x1000 },
		{ .vaddr = 0xff11000000004000, .paddr = 0x4000, .file_size = 0x1000 },
	};
	const struct image_elf elf = { .segments = segments, .nr_segments = 4 };
	struct image image = image_make_elf(&elf);
	struct image_target target;

	cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
	cr_assert_eq(status_of(&target, 0x400000, 1), KW_ABSENT);
	cr_assert_eq(status_of(&target, 0xffff000000400000, 1), KW_ABSENT);
	expect_u64(&target, DIRECT + 0x3000, 0x3000);
	expect_u64(&target, 0xff11000000004000, 0x4000);
	expect_phys(&target, 0x1000, 0x1000);
	expect_phys(&target, 0x2000, 0x2000);
	image_close(&target);
	image_free(&image);
}

Test(memory_elf, a_truncated_file_costs_what_is_cut_off)
{
	const struct image_segment segments[] = {
		{ .vaddr = DIRECT, .paddr = 0, .file_size = 0x8000 },
		{ .vaddr = DIRECT + 0x8000, .paddr = 0x8000, .file_size = 0x8000 },
	};
	const struct image_elf elf = { .segments = segments, .nr_segments = 2 };
	struct image image = image_make_elf(&elf);

	image.size = image_elf_data(&elf) + 0x6123;
	for (int way = 0; way < 2; way++) {
		struct image_target target;

		cr_assert_eq(image_open(&target, &image, ways[way]), KW_OK);
		cr_assert(strstr(kw_memory_description(target.target.memory), "CUT SHORT"));
		cr_assert_eq(status_of(&target, DIRECT, 0x6123), KW_OK);
		/* The rest of the last page of a mapping reads as zeros. */
		cr_assert_eq(status_of(&target, DIRECT + 0x6123, 1), KW_FAILED);
		cr_assert_eq(status_of(&target, DIRECT + 0x6120, 8), KW_FAILED);
		cr_assert_eq(status_of(&target, DIRECT + 0xf000, 1), KW_FAILED);
		cr_assert_null(kw_view(&target.ctx, DIRECT + 0x6120, 8));
		image_close(&target);
	}
	image_free(&image);
}

Test(memory_elf, overlaps_prefer_what_is_in_the_file)
{
	const struct image_segment segments[] = {
		{ .vaddr = DIRECT, .paddr = 0, .file_size = 0x1000, .memory_size = 0x10000 },
		{ .vaddr = DIRECT + 0x4000, .paddr = 0x4000, .file_size = 0x1000 },
	};
	const struct image_elf elf = { .segments = segments, .nr_segments = 2 };
	struct image image = image_make_elf(&elf);
	struct image_target target;

	cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
	cr_assert_eq(status_of(&target, DIRECT + 0x3fff, 1), KW_EXCLUDED);
	expect_u64(&target, DIRECT + 0x4000, 0x4000);
	cr_assert_eq(status_of(&target, DIRECT + 0x5000, 1), KW_EXCLUDED);
	image_close(&target);
	image_free(&image);
}

Test(memory_elf, more_segments_than_the_header_can_count)
{
	enum { NR = 70000 };
	struct image_segment *segments = calloc(NR, sizeof(*segments));
	struct image_elf elf = { .segments = segments, .nr_segments = NR, .xnum = true };
	struct image_target target;
	struct image image;

	for (uint64_t i = 0; i < NR; i++)
		segments[i] = (struct image_segment){ .vaddr = DIRECT + i * 0x2000,
						      .paddr = i * 0x2000,
						      .file_size = 16 };
	image = image_make_elf(&elf);
	cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
	for (uint64_t i = 0; i < NR; i += 997) {
		expect_u64(&target, DIRECT + i * 0x2000 + 8, i * 0x2000 + 8);
		cr_assert_eq(status_of(&target, DIRECT + i * 0x2000 + 16, 1), KW_ABSENT);
	}
	image_close(&target);
	image_free(&image);
	free(segments);
}

Test(memory_elf, notes)
{
	uint8_t cpu[440] = { 1 };
	uint64_t cr3 = 0x12345000 | 0x18;
	const struct image_note notes[] = {
		{ "CORE", 1, "12345", 5 },
		{ "VMCOREINFO", 0, "OSRELEASE=6.1.0\nPAGESIZE=4096\n", 30 },
		{ "QEMU", 0, cpu, sizeof(cpu) },
	};
	const struct image_segment segment = { .paddr = 0, .file_size = 0x1000 };
	struct image_elf elf = { .segments = &segment, .nr_segments = 1, .notes = notes, .nr_notes = 3 };
	struct image_target target;
	struct image image;
	const char *text;
	size_t len;

	memcpy(cpu + 416, &cr3, 8);
	image = image_make_elf(&elf);
	cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
	text = kw_memory_vmcoreinfo(target.target.memory, &len);
	cr_assert_eq(len, 30);
	cr_assert(!memcmp(text, "OSRELEASE=6.1.0\nPAGESIZE=4096\n", 30));
	cr_assert_eq(kw_memory_cr3(target.target.memory), 0x12345000);
	image_close(&target);
	image_free(&image);
}

static void expect_refusal(const struct image *image, kw_status want, const char *part)
{
	struct image_target target;
	kw_status status = image_open(&target, image, NULL);

	cr_assert_eq(status, want, "status %d, not %d: %s", status, want, kw_error(&target.ctx));
	cr_assert(strstr(kw_error(&target.ctx), part), "'%s' says nothing of '%s'", kw_error(&target.ctx),
		  part);
	cr_assert_null(target.target.memory);
	cr_assert_null(target.ctx.reader);
	image_close(&target);
}

static struct image small_core(void)
{
	static const struct image_segment segment = { .paddr = 0, .file_size = 0x1000 };
	static const struct image_elf elf = { .segments = &segment, .nr_segments = 1 };

	return image_make_elf(&elf);
}

Test(memory_elf, files_of_another_kind)
{
	struct image image = small_core();
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)image.bytes, good = *ehdr;

	ehdr->e_ident[EI_CLASS] = ELFCLASS32;
	ehdr->e_machine = EM_386;
	expect_refusal(&image, KW_UNSUPPORTED, "a 32-bit x86 ELF file");
	*ehdr = good;
	ehdr->e_machine = EM_AARCH64;
	expect_refusal(&image, KW_UNSUPPORTED, "arm64");
	*ehdr = good;
	ehdr->e_ident[EI_DATA] = ELFDATA2MSB;
	ehdr->e_machine = __builtin_bswap16(EM_S390);
	expect_refusal(&image, KW_UNSUPPORTED, "s390");
	*ehdr = good;
	ehdr->e_type = ET_DYN;
	expect_refusal(&image, KW_UNREADABLE, "-k ");
	ehdr->e_type = ET_REL;
	expect_refusal(&image, KW_UNREADABLE, "an object file");
	*ehdr = good;
	ehdr->e_ident[EI_DATA] = 7;
	expect_refusal(&image, KW_FORMAT, "damaged");
	*ehdr = good;
	ehdr->e_phentsize = 32;
	expect_refusal(&image, KW_FORMAT, "damaged");
	image_free(&image);
}

Test(memory_elf, a_core_of_a_process)
{
	const struct image_segment segments[] = { { .vaddr = 0x400000, .paddr = 0, .file_size = 0x1000 } };
	const struct image_elf elf = { .segments = segments, .nr_segments = 1 };
	struct image image = image_make_elf(&elf);

	expect_refusal(&image, KW_UNREADABLE, "the core of a process");
	image_free(&image);
}

Test(memory_elf, headers_that_lie)
{
	struct image image = small_core();
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)image.bytes, good = *ehdr;
	size_t size = image.size;

	image.size = 30;
	expect_refusal(&image, KW_FORMAT, "cut short");
	image.size = size;
	ehdr->e_phnum = 0;
	expect_refusal(&image, KW_FORMAT, "no segments");
	ehdr->e_phnum = 60000;
	expect_refusal(&image, KW_FORMAT, "cut short");
	*ehdr = good;
	ehdr->e_phoff = UINT64_MAX - 10;
	expect_refusal(&image, KW_FORMAT, "cut short");
	*ehdr = good;
	ehdr->e_phnum = PN_XNUM;
	ehdr->e_shoff = UINT64_MAX - 3;
	expect_refusal(&image, KW_FORMAT, "section header");
	*ehdr = good;
	ehdr->e_phnum = 1; /* the note only */
	expect_refusal(&image, KW_FORMAT, "holds no memory");
	image_free(&image);
}

Test(memory_elf, segments_that_lie)
{
	static const Elf64_Phdr bad[] = {
		{ .p_offset = UINT64_MAX, .p_filesz = UINT64_MAX, .p_memsz = UINT64_MAX },
		{ .p_offset = 0x1000, .p_filesz = UINT64_MAX, .p_vaddr = DIRECT, .p_paddr = 0 },
		{ .p_offset = INT64_MAX,
		  .p_filesz = 0x1000,
		  .p_vaddr = UINT64_MAX,
		  .p_paddr = UINT64_MAX - 1 },
		{ .p_offset = 0x1000, .p_memsz = 0x10, .p_filesz = 0x2000, .p_vaddr = TEXT },
		{ .p_offset = 1ULL << 62, .p_filesz = 1ULL << 62, .p_memsz = 1ULL << 63, .p_vaddr = DIRECT },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct image image = small_core();
		struct image_target target;
		Elf64_Phdr phdr = bad[i];

		phdr.p_type = PT_LOAD;
		image_put(&image, sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + sizeof(phdr), &phdr,
			  sizeof(phdr));
		if (image_open(&target, &image, NULL) == KW_OK) {
			status_of(&target, DIRECT, 0x10000);
			status_of(&target, DIRECT + (1ULL << 40), 0x1000);
			status_of(&target, TEXT, 0x2000);
			status_of(&target, UINT64_MAX - 0x100, 0x100);
		}
		image_close(&target);
		image_free(&image);
	}
}

Test(memory_elf, notes_that_lie)
{
	const struct image_note notes[] = { { "VMCOREINFO", 0, "OSRELEASE=1\n", 12 },
					    { "VMCOREINFO", 0, "OSRELEASE=2\n", 12 } };
	const struct image_segment segment = { .paddr = 0, .file_size = 0x1000 };
	const struct image_elf elf = { .segments = &segment, .nr_segments = 1, .notes = notes, .nr_notes = 2 };
	uint64_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + 2 * sizeof(Elf64_Phdr);

	for (int i = 0; i < 2; i++) {
		struct image image = image_make_elf(&elf);
		struct image_target target;
		uint32_t huge = UINT32_MAX;
		size_t len;

		/* First the size of the name, then that of the text. */
		image_put(&image, at + 4 * i, &huge, 4);
		cr_assert_eq(image_open(&target, &image, NULL), KW_OK);
		cr_assert_null(kw_memory_vmcoreinfo(target.target.memory, &len));
		image_close(&target);
		image_free(&image);
	}
}
