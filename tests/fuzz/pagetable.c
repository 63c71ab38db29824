/*
 * Page tables: whatever the entries say, a walk ends within the levels, and reading through it gives the same bytes as
 * reading where it leads.
 *
 * Input: the address to translate (8 bytes), flags (1 byte: bit 0 five levels, bit 1 with an encryption bit), then the
 * memory from 4096 on. The top table is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/memory.h"

#define RAM_SIZE   (1 << 20)
#define MAX_TABLES (64 << 10)
#define PGD	   4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static kw_ctx ctx;
static struct kw_target target;
static uint8_t *ram;

static void set_up(void)
{
	char path[32];
	int fd = memfd_create("ram", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, RAM_SIZE))
		abort();
	ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ctx.target = &target;
	if (ram == MAP_FAILED || kw_memory_open(&ctx, path, NULL) != KW_OK)
		abort();
	for (size_t i = MAX_TABLES; i < RAM_SIZE; i++)
		ram[i] = (uint8_t)(i ^ i >> 8);
}

static void check_page(uint64_t vaddr, uint64_t paddr)
{
	uint8_t by_virtual[16], by_physical[16];
	size_t len = 4096 - vaddr % 4096 < 16 ? 4096 - vaddr % 4096 : 16;
	kw_status status_virtual = kw_read(&ctx, vaddr, by_virtual, len);
	kw_status status_physical = kw_read_phys(&ctx, paddr, by_physical, len);
	const void *view = kw_view(&ctx, vaddr, len);

	if ((paddr ^ vaddr) % 4096 || status_virtual != status_physical)
		abort();
	if (!!view != (status_virtual == KW_OK))
		abort();
	if (view && (memcmp(view, by_physical, len) || memcmp(by_virtual, by_physical, len)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kw_kernel_map map = { .pgd = PGD };
	uint64_t vaddr, paddr, walks, entry = 0;
	kw_status status;
	char text[64];

	if (size < 9 || size - 9 > MAX_TABLES - PGD)
		return -1;
	if (!ram)
		set_up();
	memcpy(&vaddr, data, sizeof(vaddr));
	map.levels = data[8] & 1 ? 5 : 4;
	map.sme_mask = data[8] & 2 ? 1ULL << 47 : 0;
	memcpy(ram + PGD, data + 9, size - 9);
	memset(ram + PGD + size - 9, 0, MAX_TABLES - PGD - (size - 9));
	if (kw_memory_set_kernel(&ctx, &map) != KW_OK)
		abort();

	kw_pass_begin(&ctx);
	walks = ctx.counters.walks;
	status = kw_walk_page_table(&ctx, PGD, vaddr, &paddr, &entry);
	if (ctx.counters.walks != walks + 1)
		abort();
	if (status == KW_OK && vaddr >= 0xff00000000000000)
		check_page(vaddr, paddr);
	kw_read_string(&ctx, vaddr, text, sizeof(text));
	if (strnlen(text, sizeof(text)) == sizeof(text))
		abort();
	kw_pass_end(&ctx);
	return 0;
}
