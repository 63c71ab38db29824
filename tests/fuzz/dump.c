/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dumps that have to be decoded: whatever the file says, opening ends, and reading gives bytes or a status; twice the
 * same, in one piece or in several, from one context or another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "memory/memory.h"

#define MAX_INPUT  (1 << 20)
#define MAX_CHECKS 16
#define PAGE	   4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_ours(const uint8_t *data, size_t size)
{
	static const char *const magics[] = { "KDUMP   ", "makedumpfile", "EMiL",
					      "AVML",	  "QEVM",	  "LibvirtQemudSave" };

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (size >= strlen(magics[i]) && !memcmp(data, magics[i], strlen(magics[i])))
			return true;
	return false;
}

static void check_read(struct image_target *a, struct image_target *b, uint64_t paddr)
{
	uint8_t whole[PAGE], halves[PAGE];
	kw_status status = kw_read_phys(&a->ctx, paddr, whole, PAGE), again;

	again = kw_read_phys(&b->ctx, paddr, halves, PAGE / 2);
	if (again == KW_OK)
		again = kw_read_phys(&b->ctx, paddr + PAGE / 2, halves + PAGE / 2, PAGE / 2);
	if (status != again || (status == KW_OK && memcmp(whole, halves, PAGE)))
		abort();
	if (status != KW_OK && status != KW_ABSENT && status != KW_EXCLUDED && status != KW_FAILED)
		abort();
}

static void check_memory(struct image_target *a, struct image_target *b)
{
	size_t nr, len = 0;
	const struct kw_segment *segments = kw_memory_physical(a->target.memory, &nr);
	uint64_t before = 0;

	kw_memory_vmcoreinfo(a->target.memory, &len);
	for (size_t i = 0; i < nr && i < MAX_CHECKS; i++) {
		if (!segments[i].size || segments[i].paddr < before)
			abort();
		before = segments[i].paddr + segments[i].size;
		for (uint64_t page = 0; page < segments[i].size && page < MAX_CHECKS * PAGE; page += PAGE)
			check_read(a, b, segments[i].paddr + page);
		check_read(a, b, before - PAGE);
		check_read(a, b, before - PAGE / 2);
	}
}

/* One file in memory serves all inputs: to make two on a disk took ten times as long as all else. */
static const char *put(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("dump", MFD_CLOEXEC);
		/* For saved machines, which are unpacked. */
		setenv("TMPDIR", "/dev/shm", 1);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, (off_t)size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_target a, b;
	kw_status first, second;
	const char *path;

	if (size > MAX_INPUT || !is_ours(data, size))
		return -1;
	path = put(data, size);
	first = image_open_named(&a, path, NULL);
	second = image_open_named(&b, path, NULL);
	if (first != second || (first == KW_OK) == (a.ctx.message != NULL))
		abort();
	if (first == KW_OK) {
		kw_pass_begin(&a.ctx);
		check_memory(&a, &b);
		kw_pass_end(&a.ctx);
	}
	image_close(&a);
	image_close(&b);
	return 0;
}
