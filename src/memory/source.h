/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The insides of a memory, shared by the files of this room only.
 *
 * Invariant: once kw_open() has returned, a struct kw_memory does not change, but for the record of failed pages and
 * of memory that was added, which are atomic (guard.h, hotplug.h). Whatever reading changes lies in struct kw_reader (reader.h).
 */
#ifndef MEMORY_SOURCE_H
#define MEMORY_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "memory/decoded.h"
#include "memory/flat.h"
#include "memory/guard.h"
#include "memory/hotplug.h"
#include "memory/memory.h"
#include "memory/populate.h"
#include "memory/segments.h"

#define PAGE_BYTES  4096ULL
#define KERNEL_HALF 0xff00000000000000ULL /* first canonical address of the upper half with five levels */
#define KERNEL_TEXT 0xffffffff80000000ULL /* __START_KERNEL_map */

/* A raw RAM image: `size` bytes of the file from `offset` are physical memory from 0 on, with one hole. */
struct ram_image {
	uint64_t offset, size;
	uint64_t split; /* what lies past this many bytes is at 4 GiB; 0: no hole */
	const uint8_t *map;
	int why;
};

struct kw_memory {
	enum kw_source_kind kind;
	bool live;
	bool has_virtual; /* the source came with virtual addresses of its own */
	bool no_mmap;
	bool copied; /* no RAM is mapped, or it is not to be looked at there: see kw_gather() */
	bool once;   /* objects are copied with pread, though they are mapped: see kw_open_options */
	int fd;
	int device_fd;	    /* of the kernel module's device, which maps RAM for the live kernel; -1: none */
	int device_why;	    /* errno: why it is not used, 0 when it is, or was not tried */
	uint64_t file_size; /* UINT64_MAX where the file has none (kcore) */
	uint64_t cut_off;   /* bytes that the headers promise and the file does not have */
	char *name;
	char *description;
	bool is_pipe;		   /* what was given is a pipe */
	const char *wrapped_in;	   /* what the temporary file that is fd was made of; NULL: it is none */
	char *trouble;		   /* what is wrong with all of it; NULL: nothing */
	char *left_out;		   /* which pages were left out on purpose; NULL: not known */
	struct segment_map virt;   /* sorted by virtual address, none overlaps */
	struct segment_map phys;   /* sorted by physical address, none overlaps */
	struct segment_map listed; /* what kw_segments() shows */
	struct kw_kernel_map kernel;
	bool kernel_known; /* page-table walks may be made */
	char *vmcoreinfo;
	size_t vmcoreinfo_len;
	uint64_t cr3;
	struct ram_image ram;
	struct flat *flat;	/* the file is flattened: offsets are those of the dump in it */
	struct decoded decoded; /* offsets are those of decoded units */
	struct guard guard;
	struct populate populate;
	struct hotplug hotplug; /* of /proc/kcore */
};

/* How one format is recognised and opened. */
struct kw_source_ops {
	const char *name;
	/** True when the first bytes of the file are of this format. */
	bool (*probe)(const uint8_t *head, size_t len);
	/** Fill in memory, whose fd, name and file_size are set. */
	kw_status (*open)(kw_ctx *ctx, struct kw_memory *memory);
};

/** True when the first bytes are those of a file compressed with gzip, xz or zstd, or of a machine saved by QEMU. */
bool kw_is_packed_file(const uint8_t *head, size_t len);

/**
 * Unpack a compressed file, or copy a pipe, compressed or not, into an unlinked temporary file with holes for pages of
 * zeros, which becomes memory->fd.
 *
 * @param opts  whose progress() is told; or NULL
 */
kw_status kw_unpack_file(kw_ctx *ctx, struct kw_memory *memory, const struct kw_open_options *opts);

extern const struct kw_source_ops kw_elf_source;
extern const struct kw_source_ops kw_kdump_source;
extern const struct kw_source_ops kw_lime_source;
extern const struct kw_source_ops kw_avml_source;
extern const struct kw_source_ops kw_ram_source;
extern const struct kw_source_ops kw_foreign_source; /* known, but not read: says what it is */

kw_status kw_kcore_open(kw_ctx *ctx, struct kw_memory *memory);

/** See whether /proc/kcore shows other segments than before, and take over those that are new. */
void kw_kcore_follow(kw_ctx *ctx, struct kw_memory *memory);

/** Open the files of a split set, whose names, separated by commas, are the memory's. */
kw_status kw_kdump_open_set(kw_ctx *ctx, struct kw_memory *memory);

/** Open the RAM of the running QEMU `pid` (text after "qemu:"); sets memory->fd. */
kw_status kw_qemu_open(kw_ctx *ctx, struct kw_memory *memory, const char *pid);

/** True when the open file is /proc/kcore, whatever it was called. */
bool kw_is_kcore(int fd);

/** Map a raw RAM image (memory->ram: offset and size) and lay out its segments around the hole `split`. */
kw_status kw_ram_setup(kw_ctx *ctx, struct kw_memory *memory, uint64_t split);

/** Guess where the hole begins in a RAM image of a QEMU machine; 0: there is none. */
uint64_t kw_ram_guess_split(uint64_t size, bool is_q35);

/**
 * Read exactly len bytes at offset from the file.
 *
 * @return 0, an errno, or -1 when the file ends before
 */
int kw_read_file(int fd, uint64_t offset, void *buf, size_t len);

/** As kw_read_file(), from the dump that a file holds in flattened form; flat == NULL: from the file as it is. */
int kw_read_at(int fd, const struct flat *flat, uint64_t offset, void *buf, size_t len);

/** As kw_read_at(), from the file of a memory. */
int kw_read_dump(const struct kw_memory *memory, uint64_t offset, void *buf, size_t len);

/** Rebuild memory->listed after virt or phys has changed, and make the reader forget where it last looked. */
kw_status kw_memory_list_segments(kw_ctx *ctx, struct kw_memory *memory);

/** Set memory->trouble. */
kw_status kw_memory_set_trouble(kw_ctx *ctx, struct kw_memory *memory, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Set memory->left_out. */
kw_status kw_memory_set_left_out(kw_ctx *ctx, struct kw_memory *memory, const char *text);

/** Set memory->description. */
kw_status kw_memory_describe(kw_ctx *ctx, struct kw_memory *memory, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
