/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Getting hold of BTF blobs: see the header.
 *
 * A blob is used where it lies whenever it lies in a mapping. A copy of a kernel's four to ten megabytes costs more
 * than the whole of what is done with it, and most of that in page faults.
 */
#include "type/blob.h"

#include "memory/memory.h"
#include "symbol/symbols.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE  (2u << 20)
#define IMAGE_MAX  (128u << 20) /* of the kernel image behind _stext */
#define SCAN_CHUNK (1u << 20)
#define BLOB_MIN   (64u << 10) /* no kernel's BTF is smaller; programs' and modules' blobs often are */

void kw_blob_release(struct kw_blob *blob)
{
	if (blob->storage == KW_BTF_MALLOCED)
		free((void *)blob->data);
	else if (blob->storage == KW_BTF_MAPPED)
		munmap((void *)blob->data, blob->size);
}

/* Room for a copy, in huge pages where there are some: three page faults instead of two thousand. */
static void *blob_room(size_t size)
{
	size_t whole = size + HUGE_PAGE;
	uint8_t *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), front, used;

	if (map == MAP_FAILED)
		return NULL;
	front = -(uintptr_t)map & (HUGE_PAGE - 1);
	used = (size + page - 1) & ~(page - 1);
	if (front)
		munmap(map, front);
	if (whole - front > used)
		munmap(map + front + used, whole - front - used);
	madvise(map + front, used, MADV_HUGEPAGE);
	return map + front;
}

/* Files */

static kw_status read_whole(kw_ctx *ctx, const char *path, int fd, uint64_t offset, size_t size,
			    struct kw_blob *ret)
{
	uint8_t *data = blob_room(size);
	size_t have = 0;

	if (!data)
		return kw_fail_nomem(ctx);
	while (have < size) {
		ssize_t got = pread(fd, data + have, size - have, (off_t)(offset + have));

		if (got <= 0) {
			int err = got ? errno : EIO;

			if (got && err == EINTR)
				continue;
			munmap(data, size);
			return kw_fail_errno(ctx, err, "%s", path);
		}
		have += (size_t)got;
	}
	*ret = (struct kw_blob){ data, size, KW_BTF_MAPPED };
	return KW_OK;
}

static kw_status blob_from_fd(kw_ctx *ctx, const char *path, int fd, struct kw_blob *ret)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0)
		return kw_fail_errno(ctx, errno, "%s", path);
	if (st.st_size <= 0 || st.st_size > KW_BTF_SIZE_MAX)
		return kw_fail(ctx, KW_FORMAT, "%s: %lld bytes can't be BTF", path, (long long)st.st_size);
	/* The kernel's own file can be mapped since 6.16. It is never cut short, so no fault has to be feared. */
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return read_whole(ctx, path, fd, 0, (size_t)st.st_size, ret);
	*ret = (struct kw_blob){ map, (size_t)st.st_size, KW_BTF_MAPPED };
	return KW_OK;
}

kw_status kw_blob_from_file(kw_ctx *ctx, const char *path, struct kw_blob *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	kw_status status;

	if (fd < 0)
		return kw_fail_errno(ctx, errno, "%s", path);
	status = blob_from_fd(ctx, path, fd, ret);
	close(fd);
	return status;
}

/* ELF */

static bool find_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) < 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *found;

		if (!gelf_getshdr(scn, ret))
			continue;
		found = elf_strptr(elf, strings, ret->sh_name);
		if (found && strcmp(found, name) == 0)
			return ret->sh_type != SHT_NOBITS;
	}
	return false;
}

static kw_status blob_from_elf(kw_ctx *ctx, const char *path, int fd, Elf *elf, struct kw_blob *ret)
{
	GElf_Shdr section;

	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return kw_fail(ctx, KW_FORMAT, "%s: no ELF file", path);
	if (!find_section(elf, ".BTF", &section))
		return kw_fail(ctx, KW_NOTFOUND, "%s: no .BTF section", path);
	if (section.sh_flags & SHF_COMPRESSED)
		return kw_fail(ctx, KW_UNSUPPORTED, "%s: its .BTF section is compressed", path);
	if (!section.sh_size || section.sh_size > KW_BTF_SIZE_MAX || section.sh_offset > INT64_MAX / 2)
		return kw_fail(ctx, KW_FORMAT, "%s: its .BTF section has %llu bytes", path,
			       (unsigned long long)section.sh_size);
	return read_whole(ctx, path, fd, section.sh_offset, section.sh_size, ret);
}

kw_status kw_blob_from_elf(kw_ctx *ctx, const char *path, struct kw_blob *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	kw_status status;
	Elf *elf;

	if (fd < 0)
		return kw_fail_errno(ctx, errno, "%s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	status = blob_from_elf(ctx, path, fd, elf, ret);
	elf_end(elf);
	close(fd);
	return status;
}

/* Memory */

kw_status kw_blob_from_memory(kw_ctx *ctx, uint64_t addr, uint64_t size, struct kw_blob *ret)
{
	const void *view;
	kw_status status;
	void *data;

	if (size < KW_BTF_HEADER_SIZE || size > KW_BTF_SIZE_MAX)
		return kw_fail(ctx, KW_FORMAT, "BTF of %llu bytes", (unsigned long long)size);
	view = kw_view(ctx, addr, size);
	if (view) {
		*ret = (struct kw_blob){ view, size, KW_BTF_IN_PLACE };
		return KW_OK;
	}
	data = blob_room(size);
	if (!data)
		return kw_fail_nomem(ctx);
	status = kw_read(ctx, addr, data, size);
	if (status) {
		munmap(data, size);
		return kw_fail(ctx, status, "%llu bytes at 0x%llx can't be read", (unsigned long long)size,
			       (unsigned long long)addr);
	}
	*ret = (struct kw_blob){ data, size, KW_BTF_MAPPED };
	return KW_OK;
}

/* Search by shape */

/* A search, and the range that it is in. */
struct scan {
	kw_blob_accept *accept;
	void *arg;
	bool accepted;
	bool physical; /* addresses are physical ones */
	uint64_t addr, size;
	uint8_t *buffer; /* a chunk's bytes where they are not mapped */
};

/* Headers that straddle two chunks are found in the first. */
#define CHUNK_BYTES (SCAN_CHUNK + 64)

static kw_status scan_read(kw_ctx *ctx, const struct scan *scan, uint64_t addr, void *buf, size_t len)
{
	return scan->physical ? kw_read_phys(ctx, addr, buf, len) : kw_read(ctx, addr, buf, len);
}

static const void *scan_view(kw_ctx *ctx, const struct scan *scan, uint64_t addr, size_t len)
{
	return scan->physical ? kw_view_phys(ctx, addr, len) : kw_view(ctx, addr, len);
}

/* A chunk in place or copied; NULL when it can't be read. */
static const uint8_t *scan_chunk_bytes(kw_ctx *ctx, const struct scan *scan, uint64_t addr, size_t len)
{
	const void *view = scan_view(ctx, scan, addr, len);

	if (view)
		return view;
	return scan_read(ctx, scan, addr, scan->buffer, len) ? NULL : scan->buffer;
}

static bool take_found(kw_ctx *ctx, const struct scan *scan, uint64_t addr, uint64_t size,
		       struct kw_blob *ret)
{
	const void *view = scan_view(ctx, scan, addr, size);
	void *data;

	*ret = (struct kw_blob){ view, size, KW_BTF_IN_PLACE };
	if (view)
		return true;
	data = blob_room(size);
	if (!data)
		return false;
	*ret = (struct kw_blob){ data, size, KW_BTF_MAPPED };
	if (scan_read(ctx, scan, addr, data, size) == KW_OK)
		return true;
	munmap(data, size);
	return false;
}

static void offer_found(kw_ctx *ctx, struct scan *scan, uint64_t addr, uint64_t size)
{
	struct kw_blob blob;
	uint8_t last;

	/* The strings end a blob, and with a NUL: a cheap test before megabytes are copied. */
	if (size < BLOB_MIN || size > scan->size - (addr - scan->addr) ||
	    scan_read(ctx, scan, addr + size - 1, &last, 1) || last)
		return;
	if (take_found(ctx, scan, addr, size, &blob))
		scan->accepted = scan->accept(ctx, &blob, addr, scan->arg);
}

static void scan_chunk(kw_ctx *ctx, struct scan *scan, uint64_t addr, size_t len)
{
	static const uint8_t start[] = { KW_BTF_MAGIC & 0xff, KW_BTF_MAGIC >> 8, 1, 0 };
	const uint8_t *bytes = scan_chunk_bytes(ctx, scan, addr, len), *at = bytes;

	while (at && !scan->accepted && (at = memmem(at, len - (size_t)(at - bytes), start, sizeof(start)))) {
		size_t off = (size_t)(at - bytes);

		if (off < SCAN_CHUNK)
			offer_found(ctx, scan, addr + off, kw_btf_blob_size(at, len - off));
		at++;
	}
}

static void scan_range(kw_ctx *ctx, struct scan *scan)
{
	for (uint64_t off = 0; off < scan->size && !scan->accepted; off += SCAN_CHUNK) {
		uint64_t left = scan->size - off;

		scan_chunk(ctx, scan, scan->addr + off, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES);
	}
}

static void scan_image(kw_ctx *ctx, struct scan *scan)
{
	size_t nr;
	const struct kw_segment *segments = kw_segments(ctx, &nr);

	scan->physical = false;
	for (size_t i = 0; i < nr && !scan->accepted; i++) {
		if (segments[i].kind != KW_SEG_TEXT || segments[i].vaddr == KW_NO_ADDR)
			continue;
		scan->addr = segments[i].vaddr;
		scan->size = segments[i].size;
		scan_range(ctx, scan);
	}
	if (scan->accepted || !kw_vmcoreinfo_number(ctx, "SYMBOL(_stext)", &scan->addr))
		return;
	scan->addr &= -(uint64_t)HUGE_PAGE;
	scan->size = IMAGE_MAX;
	scan_range(ctx, scan);
}

static void scan_physical(kw_ctx *ctx, struct scan *scan)
{
	size_t nr;
	const struct kw_segment *segments = kw_memory_physical(ctx->target->memory, &nr);

	uint64_t budget = KW_SCAN_BUDGET;

	scan->physical = true;
	for (size_t i = 0; i < nr && !scan->accepted; i++) {
		scan->addr = segments[i].paddr;
		scan->size = kw_memory_scannable(ctx->target->memory, &segments[i], &budget);
		scan_range(ctx, scan);
	}
}

kw_status kw_blob_search(kw_ctx *ctx, kw_blob_accept *accept, void *arg)
{
	struct scan scan = { .accept = accept, .arg = arg, .buffer = malloc(CHUNK_BYTES) };

	if (!scan.buffer)
		return kw_fail_nomem(ctx);
	scan_image(ctx, &scan);
	if (!scan.accepted)
		scan_physical(ctx, &scan);
	free(scan.buffer);
	if (!scan.accepted)
		return kw_fail(ctx, KW_NOTFOUND, "nothing in memory looks like it");
	return KW_OK;
}
