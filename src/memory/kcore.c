/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The live kernel: /proc/kcore, an ELF core made up while it is read.
 *
 * Its segments: the kernel image (with a physical address), vmalloc, modules and vmemmap (p_paddr is -1), and RAM by
 * way of the direct map (with one). The image and RAM are offered to mmap(), which a stock kernel refuses with EIO; then
 * they are mapped through the device of kwalk's kernel module, where that is loaded; else pread() it is. The others
 * change their pages while one looks, and are never mapped.
 *
 * A page that the kernel does not want to show (offline, poisoned, given back to a hypervisor) reads as zeros, and
 * nothing tells: who reads a structure that is all zeros must suspect this.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/device.h"
#include "memory/elf_core.h"
#include "util/error.h"

#define PATH		 "/proc/kcore"
#define MIN_VMALLOC_AREA (1ULL << 43) /* 8 TiB: x86-64 has 32 TiB of vmalloc; vmemmap has 1/64 of the RAM */

/* Read which lockdown is in force, "[confidentiality]" in a list of all; empty when there is none. */
static bool is_locked_down(void)
{
	char text[256] = "";
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strstr(text, "[confidentiality]") != NULL;
}

static kw_status fail_opening(kw_ctx *ctx, const char *name, int err)
{
	switch (err) {
	case ENOENT:
		return kw_fail(
			ctx, KW_UNREADABLE,
			"%s: not there: this kernel has no CONFIG_PROC_KCORE, or a container hides it; "
			"read a dump or a guest's RAM with -t FILE",
			name);
	case EACCES:
	case EPERM:
		if (is_locked_down())
			return kw_fail(ctx, KW_DENIED,
				       "%s: the kernel is locked down (confidentiality); boot with "
				       "lockdown=integrity, or read a dump with -t FILE",
				       name);
		if (geteuid())
			return kw_fail(ctx, KW_DENIED,
				       "%s: permission denied; run as root, or read a dump with -t FILE",
				       name);
		return kw_fail(ctx, KW_DENIED,
			       "%s: permission denied, though the user is root: CAP_SYS_RAWIO is missing (a "
			       "container?); grant it, or read a dump with -t FILE",
			       name);
	default: return kw_fail_errno(ctx, err, "%s", name);
	}
}

bool kw_is_kcore(int fd)
{
	struct stat file, kcore;

	return !fstat(fd, &file) && !stat(PATH, &kcore) && file.st_dev == kcore.st_dev &&
	       file.st_ino == kcore.st_ino;
}

static enum kw_segment_kind kind_of(const Elf64_Phdr *phdr)
{
	enum kw_segment_kind kind = kw_kind_of_address(phdr->p_vaddr);

	if (phdr->p_paddr != KW_NO_ADDR)
		return kind == KW_SEG_OTHER ? KW_SEG_RAM : kind;
	if (kind != KW_SEG_OTHER)
		return KW_SEG_MODULES;
	return phdr->p_memsz >= MIN_VMALLOC_AREA ? KW_SEG_VMALLOC : KW_SEG_VMEMMAP;
}

static void map_through_device(struct kw_memory *memory, struct kw_segment *segment)
{
	if (memory->device_fd < 0 && !memory->device_why)
		memory->device_fd = kw_device_open(KW_DEVICE_PATH, &memory->device_why);
	if (memory->device_fd < 0 || segment->paddr % PAGE_BYTES || segment->paddr > INT64_MAX)
		return;
	segment->map = guard_map(&memory->guard, memory->device_fd, segment->paddr, segment->size,
				 &memory->device_why);
	if (segment->map)
		segment->device = KW_DEVICE_PATH;
}

/* Try to map a segment; once one was refused by /proc/kcore, the others would be for the same reason. */
static void offer_to_mmap(struct kw_memory *memory, struct kw_segment *segment, int *why)
{
	if (memory->no_mmap || (segment->kind != KW_SEG_TEXT && segment->kind != KW_SEG_RAM))
		return;
	if (!*why && segment->offset % PAGE_BYTES == 0)
		segment->map = guard_map(&memory->guard, memory->fd, segment->offset, segment->size, why);
	if (!segment->map && *why)
		map_through_device(memory, segment);
	segment->why = segment->map ? 0 : *why;
}

static bool add_load(struct kw_memory *memory, const Elf64_Phdr *phdr, int *why)
{
	struct kw_segment segment = {
		.vaddr = phdr->p_vaddr,
		.paddr = phdr->p_paddr,
		.size = phdr->p_memsz,
		.offset = phdr->p_offset,
		.kind = kind_of(phdr),
	};

	if (phdr->p_type != PT_LOAD || phdr->p_vaddr < KERNEL_HALF || phdr->p_offset > INT64_MAX)
		return true;
	offer_to_mmap(memory, &segment, why);
	if (!segments_add(&memory->virt, VIRTUAL, &segment))
		return false;
	return segment.paddr == KW_NO_ADDR || segments_add(&memory->phys, PHYSICAL, &segment);
}

static kw_status fill(kw_ctx *ctx, struct kw_memory *memory, const struct elf_core *core)
{
	size_t mapped = 0;
	int why = 0;

	for (size_t i = 0; i < core->nr; i++)
		if (!add_load(memory, &core->phdr[i], &why))
			return kw_fail_nomem(ctx);
	segments_finish(&memory->virt, VIRTUAL);
	segments_finish(&memory->phys, PHYSICAL);
	for (size_t i = 0; i < memory->virt.nr; i++)
		mapped += memory->virt.item[i].map != NULL;
	if (!memory->virt.nr)
		return kw_fail(ctx, KW_FORMAT, "%s: shows no memory", memory->name);
	if (mapped)
		return kw_memory_describe(ctx, memory, "live kernel, %zu segments, %zu mapped%s",
					  memory->virt.nr, mapped,
					  memory->device_fd >= 0 ? " through " KW_DEVICE_PATH : "");
	return kw_memory_describe(ctx, memory, "live kernel, %zu segments, read with pread%s%s%s",
				  memory->virt.nr, why ? " (mmap: " : "", why ? strerror(why) : "",
				  why ? ")" : "");
}

/* Read the file's headers, or as many as fit; notes are left out, for they change with the reader. */
static size_t read_head(const struct kw_memory *memory, uint8_t *head)
{
	ssize_t got = pread(memory->fd, head, HOTPLUG_HEAD, 0);
	Elf64_Ehdr ehdr;
	uint64_t end;

	if (got < (ssize_t)sizeof(ehdr))
		return 0;
	memcpy(&ehdr, head, sizeof(ehdr));
	end = sizeof(ehdr) + (uint64_t)ehdr.e_phnum * sizeof(Elf64_Phdr);
	return end < (uint64_t)got ? end : (size_t)got;
}

static void remember_head(struct kw_memory *memory)
{
	memory->hotplug.head_len = read_head(memory, memory->hotplug.head);
}

/* The segment of the opening that has this header's first byte, or NULL. */
static const struct kw_segment *known(const struct kw_memory *memory, const Elf64_Phdr *phdr)
{
	const struct kw_segment *segment = segments_find(&memory->virt, VIRTUAL, phdr->p_vaddr);

	return segment && phdr->p_type == PT_LOAD ? segment : NULL;
}

/* How far the file's offsets are from those of the opening, which all have moved together. */
static uint64_t find_shift(const struct kw_memory *memory, const struct elf_core *core)
{
	for (size_t i = 0; i < core->nr; i++) {
		const struct kw_segment *segment = known(memory, &core->phdr[i]);

		if (segment)
			return core->phdr[i].p_offset -
			       (segment->offset + (core->phdr[i].p_vaddr - segment->vaddr));
	}
	return hotplug_shift(&memory->hotplug);
}

static bool is_known(const struct kw_memory *memory, const Elf64_Phdr *phdr)
{
	const struct kw_segment *segment = known(memory, phdr);

	return segment && phdr->p_memsz <= segment->size - (phdr->p_vaddr - segment->vaddr);
}

static bool add_later(struct kw_memory *memory, struct later_segments *later, const Elf64_Phdr *phdr)
{
	int why = memory->device_fd < 0 ? memory->device_why : EIO;
	const struct kw_segment *old;
	struct kw_segment segment = {
		.vaddr = phdr->p_vaddr,
		.paddr = phdr->p_paddr,
		.size = phdr->p_memsz,
		.offset = phdr->p_offset,
		.kind = kind_of(phdr),
	};

	if (phdr->p_type != PT_LOAD || phdr->p_vaddr < KERNEL_HALF || phdr->p_offset > INT64_MAX ||
	    is_known(memory, phdr))
		return true;
	old = hotplug_find(&memory->hotplug, VIRTUAL, segment.vaddr);
	if (old && old->vaddr == segment.vaddr && old->size == segment.size) {
		segment.map = old->map;
		segment.why = old->why;
		segment.device = old->device;
	} else {
		offer_to_mmap(memory, &segment, &why);
	}
	segment.offset -= hotplug_shift(&memory->hotplug);
	return segments_add(&later->virt, VIRTUAL, &segment) &&
	       (segment.paddr == KW_NO_ADDR || segments_add(&later->phys, PHYSICAL, &segment));
}

static bool list_all(const struct kw_memory *memory, struct later_segments *later)
{
	for (size_t i = 0; i < memory->listed.nr; i++)
		if (!segments_add(&later->listed, VIRTUAL, &memory->listed.item[i]))
			return false;
	return segments_lay_under(&later->listed, &later->virt, VIRTUAL);
}

/* Publish what the headers show now. Without memory for it, the next look tries again. */
static bool take_over(struct kw_memory *memory, const struct elf_core *core)
{
	struct later_segments *later = calloc(1, sizeof(*later));
	bool done = later != NULL;

	__atomic_store_n(&memory->hotplug.shift, find_shift(memory, core), __ATOMIC_RELAXED);
	for (size_t i = 0; i < core->nr && done; i++)
		done = add_later(memory, later, &core->phdr[i]);
	if (later) {
		segments_finish(&later->virt, VIRTUAL);
		segments_finish(&later->phys, PHYSICAL);
		done = done && list_all(memory, later);
		/* Kept even when it is not whole: mappings in it belong to the memory. */
		later->older = memory->hotplug.later;
		__atomic_store_n(&memory->hotplug.later, later, __ATOMIC_RELEASE);
	}
	return done;
}

/* Compare the headers with those seen last; true when they differ and could be read. */
static bool has_changed(kw_ctx *ctx, struct kw_memory *memory, const uint8_t *head, size_t len,
			struct elf_core *ret)
{
	const struct hotplug *hotplug = &memory->hotplug;

	if (!len || (len == hotplug->head_len && memcmp(head, hotplug->head, len) == 0))
		return false;
	if (kw_elf_read_core(ctx, memory, ret) == KW_OK)
		return true;
	kw_clear_error(ctx);
	return false;
}

void kw_kcore_follow(kw_ctx *ctx, struct kw_memory *memory)
{
	struct hotplug *hotplug = &memory->hotplug;
	uint8_t head[HOTPLUG_HEAD];
	struct elf_core core;
	size_t len;

	if (!hotplug->head_len)
		return;
	pthread_mutex_lock(&hotplug->lock);
	len = read_head(memory, head);
	ctx->counters.preads++;
	if (has_changed(ctx, memory, head, len, &core)) {
		if (take_over(memory, &core)) {
			memcpy(hotplug->head, head, len);
			hotplug->head_len = len;
		}
		free(core.phdr);
	}
	pthread_mutex_unlock(&hotplug->lock);
}

kw_status kw_kcore_open(kw_ctx *ctx, struct kw_memory *memory)
{
	struct elf_core core;
	kw_status status;

	if (memory->fd < 0)
		memory->fd = open(PATH, O_RDONLY | O_CLOEXEC);
	if (memory->fd < 0)
		return fail_opening(ctx, memory->name, errno);
	memory->kind = KW_SOURCE_LIVE;
	memory->live = true;
	memory->has_virtual = true;
	memory->file_size = UINT64_MAX;
	status = kw_elf_read_core(ctx, memory, &core);
	if (status != KW_OK)
		return status;
	remember_head(memory);
	status = fill(ctx, memory, &core);
	if (status == KW_OK)
		status = kw_elf_read_notes(ctx, memory, &core);
	free(core.phdr);
	return status;
}
