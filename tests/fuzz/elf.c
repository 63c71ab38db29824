/*
 * ELF cores: whatever the headers say, opening ends, and reading at the edges of every segment gives bytes of the file
 * or a status; mapped and with pread it is the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/memory.h"

#define MAX_INPUT  (1 << 20)
#define MAX_CHECKS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct opened {
	kw_ctx ctx;
	struct kw_target target;
};

static bool open_memory(struct opened *opened, const char *path, bool no_mmap)
{
	struct kw_open_options opts = { .size = sizeof(opts), .no_mmap = no_mmap };

	memset(opened, 0, sizeof(*opened));
	opened->ctx.target = &opened->target;
	return kw_memory_open(&opened->ctx, path, &opts) == KW_OK;
}

static void close_memory(struct opened *opened)
{
	kw_reader_free(opened->ctx.reader);
	kw_memory_close(opened->target.memory);
	free(opened->ctx.message);
}

static void compare(struct opened *a, struct opened *b, uint64_t addr,
		    kw_status (*read)(kw_ctx *ctx, uint64_t addr, void *buf, size_t len))
{
	uint8_t bytes_a[24], bytes_b[24];
	kw_status status_a = read(&a->ctx, addr, bytes_a, sizeof(bytes_a));
	kw_status status_b = read(&b->ctx, addr, bytes_b, sizeof(bytes_b));

	if (status_a != status_b || (status_a == KW_OK && memcmp(bytes_a, bytes_b, sizeof(bytes_a))))
		abort();
}

static void check_order(const struct kw_segment *segments, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct kw_segment *segment = &segments[i], *next = segment + 1;

		if (!segment->size)
			abort();
		if (i + 1 < nr && next->vaddr != KW_NO_ADDR && next->vaddr - segment->vaddr < segment->size)
			abort();
	}
}

static void check_reads(struct opened *a, struct opened *b)
{
	size_t nr;
	const struct kw_segment *segments = kw_memory_physical(a->target.memory, &nr);

	for (size_t i = 0; i < nr && i < MAX_CHECKS; i++) {
		compare(a, b, segments[i].paddr, kw_read_phys);
		compare(a, b, segments[i].paddr + segments[i].size - 8, kw_read_phys);
	}
	segments = kw_segments(&a->ctx, &nr);
	check_order(segments, nr);
	for (size_t i = 0; i < nr && i < MAX_CHECKS && segments[i].vaddr != KW_NO_ADDR; i++) {
		compare(a, b, segments[i].vaddr - 8, kw_read);
		compare(a, b, segments[i].vaddr + segments[i].size - 8, kw_read);
	}
}

/* The kernel is where the first physical segment tells, if it were one. */
static void set_kernel(struct opened *opened)
{
	struct kw_kernel_map map = { .image_start = 0xffffffff81000000, .image_size = 0x100000, .levels = 4 };
	size_t nr;
	const struct kw_segment *segments = kw_memory_physical(opened->target.memory, &nr);

	map.pgd = kw_memory_cr3(opened->target.memory);
	if (nr)
		map.phys_base = segments[0].paddr - 0x1000000;
	if (kw_memory_set_kernel(&opened->ctx, &map) != KW_OK ||
	    kw_memory_set_direct_map(&opened->ctx, 0xffff888000000000) != KW_OK)
		abort();
}

static void read_all_of(const char *text, size_t len)
{
	volatile char last;

	for (size_t i = 0; text && i < len; i++)
		last = text[i];
	(void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opened mapped, unmapped;
	bool is_open, is_open_too;
	char path[32];
	size_t len = 0;
	int fd;

	/* With another beginning it is not this format. */
	if (size < 4 || size > MAX_INPUT || memcmp(data, "\177ELF", 4))
		return -1;
	fd = memfd_create("core", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	is_open = open_memory(&mapped, path, false);
	is_open_too = open_memory(&unmapped, path, true);
	if (is_open != is_open_too || is_open == (mapped.ctx.message != NULL))
		abort();
	if (is_open) {
		kw_pass_begin(&mapped.ctx);
		kw_pass_begin(&unmapped.ctx);
		read_all_of(kw_memory_vmcoreinfo(mapped.target.memory, &len), len);
		check_reads(&mapped, &unmapped);
		set_kernel(&mapped);
		set_kernel(&unmapped);
		check_reads(&mapped, &unmapped);
		compare(&mapped, &unmapped, 0xffffc90000001000, kw_read);
		kw_pass_end(&unmapped.ctx);
		kw_pass_end(&mapped.ctx);
	}
	close_memory(&mapped);
	close_memory(&unmapped);
	close(fd);
	return 0;
}
