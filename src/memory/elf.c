/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ELF cores of kernels: /proc/vmcore and its copies, QEMU's dump-guest-memory with virtual addresses (paging:true)
 * and without, makedumpfile -E.
 *
 * Each PT_LOAD goes into the physical map, and into the virtual one when its address is the kernel's: QEMU lists
 * user addresses, too, and writes the physical address as the virtual one where there is none. What lies past the end
 * of the file has failed. What p_memsz has more than p_filesz was left out by whoever made the dump: excluded.
 */
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "memory/elf_core.h"
#include "util/error.h"

/* A map being filled: what is in the file wins over what is cut off from it, and that over what was left out. */
struct layers {
	struct segment_map present, cut, excluded;
};

static bool add_to_layers(struct layers *layers, enum address_space space, const struct kw_segment *segment,
			  uint64_t file_size, uint64_t memory_size)
{
	uint64_t left = segment->offset < file_size ? file_size - segment->offset : 0;
	uint64_t present = segment->size < left ? segment->size : left;
	struct kw_segment part = segment_part(segment, 0, present);

	if (!segments_add(&layers->present, space, &part))
		return false;
	if (present < segment->size) {
		part = segment_part(segment, present, segment->size - present);
		part.map = NULL;
		if (!segments_add(&layers->cut, space, &part))
			return false;
	}
	if (memory_size <= segment->size)
		return true;
	part = segment_part(segment, segment->size, memory_size - segment->size);
	part.offset = KW_NO_ADDR;
	part.map = NULL;
	return segments_add(&layers->excluded, space, &part);
}

/* Merge the layers into map and free them. */
static bool merge_layers(struct layers *layers, enum address_space space, struct segment_map *map)
{
	bool done;

	segments_finish(&layers->present, space);
	segments_finish(&layers->cut, space);
	segments_finish(&layers->excluded, space);
	done = segments_lay_under(&layers->present, &layers->cut, space) &&
	       segments_lay_under(&layers->present, &layers->excluded, space);
	*map = layers->present;
	segments_free(&layers->cut);
	segments_free(&layers->excluded);
	return done;
}

/*
 * QEMU's walk of the page table marks every address as the kernel's: with four levels, user addresses come out as
 * 0xffff0000... to 0xffff7fff..., which no kernel uses for anything one would read (with five levels it is part of
 * KASAN's shadow).
 */
static bool is_kernel_address(uint64_t vaddr)
{
	return vaddr >= KERNEL_HALF && (vaddr < 0xffff000000000000ULL || vaddr >= 0xffff800000000000ULL);
}

/* Make sizes fit the addresses that they belong to, so that no sum wraps. */
static uint64_t limit_size(const Elf64_Phdr *phdr, uint64_t size)
{
	uint64_t limit = UINT64_MAX - phdr->p_vaddr;

	if (phdr->p_paddr != KW_NO_ADDR && UINT64_MAX - phdr->p_paddr < limit)
		limit = UINT64_MAX - phdr->p_paddr;
	if (phdr->p_offset < INT64_MAX && INT64_MAX - phdr->p_offset < limit)
		limit = INT64_MAX - phdr->p_offset;
	return size < limit ? size : limit;
}

static bool add_load(const Elf64_Phdr *phdr, struct kw_memory *memory, const uint8_t *map, int why,
		     struct layers *virt, struct layers *phys)
{
	struct kw_segment segment = {
		.vaddr = is_kernel_address(phdr->p_vaddr) ? phdr->p_vaddr : KW_NO_ADDR,
		.paddr = phdr->p_paddr,
		.size = limit_size(phdr, phdr->p_filesz),
		.offset = phdr->p_offset < INT64_MAX ? phdr->p_offset : INT64_MAX,
		.kind = KW_SEG_RAM,
		.why = why,
	};
	uint64_t memory_size = limit_size(phdr, phdr->p_memsz);

	if (map && segment.offset < memory->file_size)
		segment.map = map + segment.offset;
	if (segment.vaddr != KW_NO_ADDR) {
		segment.kind = kw_kind_of_address(segment.vaddr);
		if (!add_to_layers(virt, VIRTUAL, &segment, memory->file_size, memory_size))
			return false;
		memory->has_virtual = true;
		segment.kind = KW_SEG_RAM;
	}
	return segment.paddr == KW_NO_ADDR ||
	       add_to_layers(phys, PHYSICAL, &segment, memory->file_size, memory_size);
}

static kw_status add_loads(kw_ctx *ctx, struct kw_memory *memory, const struct elf_core *core,
			   const uint8_t *map, int why)
{
	struct layers virt = { 0 }, phys = { 0 };
	bool done = true;

	for (size_t i = 0; i < core->nr && done; i++)
		if (core->phdr[i].p_type == PT_LOAD)
			done = add_load(&core->phdr[i], memory, map, why, &virt, &phys);
	/* Both, whatever happens, so that all is freed. */
	done = merge_layers(&virt, VIRTUAL, &memory->virt) && done;
	done = merge_layers(&phys, PHYSICAL, &memory->phys) && done;
	return done ? KW_OK : kw_fail_nomem(ctx);
}

/* A core of a process has no physical addresses, and its virtual ones are a user's. */
static kw_status check_is_kernel(kw_ctx *ctx, const struct kw_memory *memory, const struct elf_core *core)
{
	size_t loads = 0, user = 0;

	for (size_t i = 0; i < core->nr; i++) {
		const Elf64_Phdr *phdr = &core->phdr[i];

		if (phdr->p_type != PT_LOAD)
			continue;
		loads++;
		user += !phdr->p_paddr && phdr->p_vaddr && phdr->p_vaddr < KERNEL_HALF;
	}
	if (!loads)
		return kw_fail(ctx, KW_FORMAT, "%s: the ELF core holds no memory; was the dump finished?",
			       memory->name);
	if (user == loads)
		return kw_fail(ctx, KW_UNREADABLE,
			       "%s: is the core of a process, not of a kernel; read it with gdb",
			       memory->name);
	return KW_OK;
}

static uint64_t cut_off_bytes(const struct kw_memory *memory)
{
	uint64_t cut = 0;

	for (size_t i = 0; i < memory->phys.nr; i++) {
		const struct kw_segment *segment = &memory->phys.item[i];
		uint64_t end = segment->offset + segment->size;

		if (segment->offset != KW_NO_ADDR && end > memory->file_size)
			cut += end - memory->file_size < segment->size ? end - memory->file_size
								       : segment->size;
	}
	return cut;
}

static kw_status describe(kw_ctx *ctx, struct kw_memory *memory)
{
	uint64_t cut = memory->cut_off = cut_off_bytes(memory);
	size_t nr = memory->has_virtual ? memory->virt.nr : memory->phys.nr;
	kw_status status = kw_memory_describe(
		ctx, memory, "ELF core, %zu segment%s, %s", nr, nr == 1 ? "" : "s",
		memory->has_virtual ? "with virtual addresses" : "physical addresses only");

	if (status != KW_OK || !cut)
		return status;
	status = kw_memory_set_trouble(ctx, memory, "the file is cut short: %llu MiB are missing",
				       (unsigned long long)((cut + (1 << 20) - 1) >> 20));
	if (status != KW_OK)
		return status;
	return kw_memory_describe(ctx, memory, "ELF core, %zu segments, CUT SHORT: %llu MiB are missing", nr,
				  (unsigned long long)((cut + (1 << 20) - 1) >> 20));
}

/*
 * Files of /proc make the page tables of all that is mapped at once: 4 seconds and 48 MiB for 24 GiB of /proc/vmcore in a
 * guest, where a capture kernel has some 150 MiB in all.
 */
static bool is_in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static const uint8_t *map_file(struct kw_memory *memory, int *ret_why)
{
	if (memory->no_mmap || memory->flat)
		return NULL;
	if (is_in_proc(memory->fd))
		return guard_reserve(&memory->guard, memory->fd, 0, memory->file_size, ret_why);
	return guard_map(&memory->guard, memory->fd, 0, memory->file_size, ret_why);
}

static kw_status fill(kw_ctx *ctx, struct kw_memory *memory, const struct elf_core *core)
{
	const uint8_t *map;
	int why = 0;
	kw_status status = check_is_kernel(ctx, memory, core);

	if (status != KW_OK)
		return status;
	map = map_file(memory, &why);
	status = add_loads(ctx, memory, core, map, why);
	if (status == KW_OK)
		status = kw_elf_read_notes(ctx, memory, core);
	return status == KW_OK ? describe(ctx, memory) : status;
}

static bool probe_elf(const uint8_t *head, size_t len)
{
	return len >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG);
}

static kw_status open_elf(kw_ctx *ctx, struct kw_memory *memory)
{
	struct elf_core core;
	kw_status status = kw_elf_read_core(ctx, memory, &core);

	if (status != KW_OK)
		return status;
	memory->kind = KW_SOURCE_ELF;
	status = fill(ctx, memory, &core);
	free(core.phdr);
	return status;
}

const struct kw_source_ops kw_elf_source = { "ELF core", probe_elf, open_elf };
