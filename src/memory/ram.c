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

#define GIB	   0x40000000ULL
#define MIN_SIZE   0x100000ULL
#define NR_SAMPLES 64

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

/* Whether what the page table says of an address agrees with what is known of it. */
struct agreement {
	unsigned int same, other;
};

static void compare(kw_ctx *ctx, const struct kw_kernel_map *map, uint64_t vaddr, uint64_t paddr,
		    struct agreement *agreement)
{
	uint64_t found;

	switch (kw_walk_page_table(ctx, map->pgd, vaddr, &found, NULL)) {
	case KW_OK:
		if (found == paddr)
			agreement->same++;
		else
			agreement->other++;
		break;
	/* A hole in the direct map proves nothing. */
	case KW_ABSENT: break;
	default: agreement->other++; break;
	}
}

/* Walk NR_SAMPLES addresses spread over each range that is mapped linearly, its last page among them. */
static struct agreement compare_all(kw_ctx *ctx, const struct kw_kernel_map *map, uint64_t base)
{
	const struct segment_map *phys = &ctx->target->memory->phys;
	struct agreement agreement = { 0 };

	for (uint64_t i = 1; i <= NR_SAMPLES && map->image_size; i++) {
		uint64_t skip = (map->image_size - 1) / NR_SAMPLES * i;

		compare(ctx, map, map->image_start + skip,
			map->image_start + skip - KERNEL_TEXT + map->phys_base, &agreement);
	}
	for (size_t k = 0; k < phys->nr && base != KW_NO_ADDR; k++) {
		for (uint64_t i = 1; i <= NR_SAMPLES; i++) {
			uint64_t paddr = phys->item[k].paddr + (phys->item[k].size - 1) / NR_SAMPLES * i;

			compare(ctx, map, base + paddr, paddr, &agreement);
		}
	}
	return agreement;
}

/* Lay the image out with a hole and tell how well that agrees: samples that do less those that don't. */
static kw_status try_hole(kw_ctx *ctx, const struct kw_kernel_map *map, uint64_t base, uint64_t split,
			  int *ret_score)
{
	struct agreement agreement;
	kw_status status = kw_memory_set_hole(ctx, split);

	if (status != KW_OK)
		return status;
	ctx->target->memory->kernel = *map;
	agreement = compare_all(ctx, map, base);
	*ret_score = (int)agreement.same - (int)agreement.other;
	return KW_OK;
}

kw_status kw_memory_fit_hole(kw_ctx *ctx, const struct kw_kernel_map *map, uint64_t base)
{
	const struct kw_memory *memory = ctx->target->memory;
	uint64_t split, splits[8], best = 0;
	int score, best_score = 0;
	size_t nr = 0;
	kw_status status = KW_OK;

	/* The guess of the moment changes what is a candidate, so that all are asked for first. */
	while (nr < sizeof(splits) / sizeof(*splits) && kw_memory_hole_candidate(memory, nr, &split) == KW_OK)
		splits[nr++] = split;
	for (size_t i = 0; i < nr && status == KW_OK; i++) {
		status = try_hole(ctx, map, base, splits[i], &score);
		if (status == KW_OK && score > best_score) {
			best_score = score;
			best = splits[i];
		}
	}
	if (status != KW_OK)
		return status;
	if (nr && !best_score)
		status = kw_fail(
			ctx, KW_FORMAT,
			"%s: the kernel's page table does not lead back to the kernel: the image is damaged, "
			"or its machine lays out its RAM in a way that is not known",
			memory->name);
	else if (nr)
		status = kw_memory_set_hole(ctx, best);
	return status == KW_OK ? kw_memory_set_kernel(ctx, map) : status;
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

uint64_t kw_ram_guess_split(uint64_t size, bool is_q35)
{
	const struct hole *hole = &holes[is_q35 ? 1 : 0];

	return size >= hole->min_size ? hole->split : 0;
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
	memory->live = !memory->wrapped_in && is_written(memory->fd);
	memory->ram.size = memory->file_size;
	status = kw_ram_setup(ctx, memory, kw_ram_guess_split(memory->file_size, false));
	if (status != KW_OK)
		return status;
	return kw_memory_describe(ctx, memory, "RAM image, %llu MiB, %s, %s",
				  (unsigned long long)(memory->file_size >> 20),
				  memory->live ? "may be in use" : "frozen",
				  memory->ram.map ? "mapped" : "read with pread");
}

const struct kw_source_ops kw_ram_source = { "RAM image", probe_ram, open_ram };
