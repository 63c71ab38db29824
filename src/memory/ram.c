/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw guest RAM: the file is the physical memory, byte for byte, with the hole below 4 GiB left out.
 *
 * Where the hole begins depends on the machine that the guest runs on, and is not in the file:
 *
 *   QEMU pc, microvm     RAM of 3.5 GiB and more (microvm: more than 3 GiB) is split at 3 GiB
 *   QEMU q35             RAM of 2.75 GiB and more is split at 2 GiB
 *   Firecracker          RAM of more than 3.25 GiB is split there
 *
 * A file is frozen when a lease says that nobody has it open for writing; where no lease can be had (not the owner, a
 * file system without them), it is taken to be live, which costs a second look at what is read and no more.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "memory/reader.h"
#include "memory/source.h"
#include "util/error.h"

#define GIB	 0x40000000ULL
#define MIN_SIZE 0x100000ULL

/* In the order of how common they are. */
static const struct hole {
	uint64_t split;
	uint64_t min_size; /* of the RAM, for the hole to be there */
} holes[] = {
	{ 3 * GIB, 3 * GIB + GIB / 2 },		      /* pc */
	{ 2 * GIB, 2 * GIB + GIB / 4 * 3 },	      /* q35 */
	{ 3 * GIB, 3 * GIB + 1 },		      /* microvm, Cloud Hypervisor */
	{ 3 * GIB + GIB / 4, 3 * GIB + GIB / 4 + 1 }, /* Firecracker */
	{ 3 * GIB + GIB / 2, 3 * GIB + GIB / 2 + 1 }, /* pc before 2.0 */
};

static bool is_candidate(const struct hole *hole, uint64_t size)
{
	if (size < hole->min_size)
		return false;
	for (const struct hole *before = holes; before < hole; before++)
		if (before->split == hole->split && size >= before->min_size)
			return false;
	return true;
}

kw_status kw_memory_hole_candidate(const struct kw_memory *memory, size_t i, uint64_t *ret_split)
{
	size_t nr = 0;

	if (!memory->ram.size)
		return KW_NOTFOUND;
	/* The layout that was guessed goes first. */
	if (i == nr++) {
		*ret_split = memory->ram.split;
		return KW_OK;
	}
	for (size_t k = 0; k < sizeof(holes) / sizeof(*holes); k++) {
		if (!is_candidate(&holes[k], memory->ram.size) || holes[k].split == memory->ram.split)
			continue;
		if (i == nr++) {
			*ret_split = holes[k].split;
			return KW_OK;
		}
	}
	if (i == nr && memory->ram.split) {
		*ret_split = 0;
		return KW_OK;
	}
	return KW_NOTFOUND;
}

static bool add_ram(struct kw_memory *memory, uint64_t paddr, uint64_t skip, uint64_t size)
{
	struct kw_segment segment = {
		.vaddr = KW_NO_ADDR,
		.paddr = paddr,
		.size = size,
		.offset = memory->ram.offset + skip,
		.map = memory->ram.map ? memory->ram.map + skip : NULL,
		.kind = KW_SEG_RAM,
		.why = memory->ram.why,
	};

	return segments_add(&memory->phys, PHYSICAL, &segment);
}

static kw_status lay_out(kw_ctx *ctx, struct kw_memory *memory, uint64_t split)
{
	uint64_t low = split && split < memory->ram.size ? split : memory->ram.size;

	memory->ram.split = low < memory->ram.size ? split : 0;
	memory->phys.nr = 0;
	memory->virt.nr = 0;
	if (!add_ram(memory, 0, 0, low) || !add_ram(memory, 4 * GIB, low, memory->ram.size - low))
		return kw_fail_nomem(ctx);
	segments_finish(&memory->phys, PHYSICAL);
	return KW_OK;
}

kw_status kw_ram_setup(kw_ctx *ctx, struct kw_memory *memory, uint64_t split)
{
	struct ram_image *ram = &memory->ram;

	if (!memory->no_mmap)
		ram->map = guard_map(&memory->guard, memory->fd, ram->offset, ram->size, &ram->why);
	return lay_out(ctx, memory, split);
}

kw_status kw_memory_set_hole(kw_ctx *ctx, uint64_t split)
{
	struct kw_memory *memory = ctx->target->memory;
	kw_status status;

	if (!memory->ram.size)
		return kw_fail(ctx, KW_INVALID, "%s: is no raw RAM image", memory->name);
	if (split % PAGE_BYTES || split > 4 * GIB)
		return kw_fail(ctx, KW_INVALID, "0x%llx: no place for the hole below 4 GiB",
			       (unsigned long long)split);
	kw_reader_reset(ctx->reader);
	memory->kernel_known = false;
	status = lay_out(ctx, memory, split);
	return status == KW_OK ? kw_memory_list_segments(ctx, memory) : status;
}

/* True when somebody may be writing to the file. */
static bool is_written(int fd)
{
	/* Should a writer come in the meantime, the kernel must not send the default signal, which ends a process. */
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return true;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

static uint64_t guess_split(uint64_t size)
{
	return size >= holes[0].min_size ? holes[0].split : 0;
}

static bool probe_ram(const uint8_t *head, size_t len)
{
	(void)head;
	(void)len;
	return true;
}

static kw_status open_ram(kw_ctx *ctx, struct kw_memory *memory)
{
	kw_status status;

	if (memory->file_size < MIN_SIZE || memory->file_size % PAGE_BYTES)
		return kw_fail(
			ctx, KW_UNREADABLE,
			"%s: neither an ELF core nor a RAM image (%llu bytes: not whole pages, or too few); "
			"if it is a dump, it was cut short",
			memory->name, (unsigned long long)memory->file_size);
	memory->kind = KW_SOURCE_RAM;
	memory->live = is_written(memory->fd);
	memory->ram.size = memory->file_size;
	status = kw_ram_setup(ctx, memory, guess_split(memory->file_size));
	if (status != KW_OK)
		return status;
	return kw_memory_describe(ctx, memory, "RAM image, %llu MiB, %s, %s",
				  (unsigned long long)(memory->file_size >> 20),
				  memory->live ? "may be in use" : "frozen",
				  memory->ram.map ? "mapped" : "read with pread");
}

const struct kw_source_ops kw_ram_source = { "RAM image", probe_ram, open_ram };
