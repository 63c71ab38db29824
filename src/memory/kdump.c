/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening kdump-compressed dumps, as makedumpfile and QEMU write them: see kdump.h for the format.
 *
 * They are read here rather than by libkdumpfile, of which 0.5.1 is what distributions have: it can't read the
 * flattened form, nor be given anything but the descriptor of a whole file; it does not tell a page that is no memory
 * from one that was left out; and one wrong bit in the sub-header ends it with a segmentation fault. tests/guest/dumps.test
 * compares each page with what it reads.
 *
 * The pages that are memory make the segments; those of them that are not in the dump are excluded, what is no memory, or
 * in a part that was not given, is absent.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/kdump.h"
#include "util/array.h"
#include "util/error.h"

#define MAX_PAGES      (1ULL << 34) /* 64 TiB */
#define MAX_VMCOREINFO (1U << 20)
#define NAME_SIZE      65
#define READ_AHEAD     (64 << 20) /* bytes of a file that are read at once */

struct header {
	char signature[8];
	int32_t version;
	char utsname[6][NAME_SIZE]; /* system, node, release, version, machine, domain */
	uint8_t timestamp[22];
	uint32_t status;
	uint32_t block_size;
	uint32_t sub_blocks;
	uint32_t bitmap_blocks;
	uint32_t max_pages;
} __attribute__((packed));

struct sub_header {
	uint64_t phys_base;
	uint32_t dump_level;
	uint32_t split;				     /* from version 2 on */
	uint64_t start, end;			     /* of 32 bits, then 0, until version 5 */
	uint64_t vmcoreinfo_offset, vmcoreinfo_size; /* from version 3 on */
	uint64_t notes_offset, notes_size;	     /* 4 */
	uint64_t eraseinfo_offset, eraseinfo_size;   /* 5 */
	uint64_t start_64, end_64, max_pages_64;     /* 6 */
};

struct headers {
	struct header main;
	struct sub_header sub;
	uint64_t max_pages;
	uint64_t bitmap_offset; /* of the pages that are memory */
	uint64_t bitmap_size;	/* of each of the two; the first may be missing */
	bool has_memory_bitmap;
};

static kw_status cut_short(kw_ctx *ctx, const struct kdump_part *part, int err, const char *what)
{
	if (err > 0)
		return kw_fail_errno(ctx, err, "%s: %s", part->name, what);
	return kw_fail(ctx, KW_FORMAT, "%s: the file ends before its %s: it was cut short", part->name, what);
}

static kw_status damaged(kw_ctx *ctx, const struct kdump_part *part, const char *what)
{
	return kw_fail(ctx, KW_FORMAT, "%s: the header of the dump is damaged: %s", part->name, what);
}

static kw_status check_machine(kw_ctx *ctx, const struct kdump_part *part, const struct header *main)
{
	char machine[NAME_SIZE + 1] = "";

	if (main->version > 0xffff || main->version < 0)
		return kw_fail(ctx, KW_UNSUPPORTED,
			       "%s: is a dump of a big-endian machine, or damaged; only memory of x86-64 "
			       "kernels can be read",
			       part->name);
	memcpy(machine, main->utsname[4], NAME_SIZE);
	for (char *c = machine; *c; c++)
		if (*c < ' ' || *c > '~')
			return damaged(ctx, part, "the name of the machine is no text");
	if (!*machine)
		return damaged(ctx, part, "it names no machine");
	if (strcmp(machine, "x86_64") != 0)
		return kw_fail(
			ctx, KW_UNSUPPORTED,
			"%s: is a dump of a machine named \"%s\"; only memory of x86-64 kernels can be "
			"read",
			part->name, machine);
	if (main->block_size != PAGE_BYTES)
		return damaged(ctx, part, "its pages are not of 4096 bytes");
	return KW_OK;
}

/* What the versions of the format have added is taken only from those that have it. */
static void take_sub_header(struct headers *headers, const struct sub_header *raw)
{
	static const size_t known[] = {
		offsetof(struct sub_header, split),
		offsetof(struct sub_header, split),
		offsetof(struct sub_header, vmcoreinfo_offset),
		offsetof(struct sub_header, notes_offset),
		offsetof(struct sub_header, eraseinfo_offset),
		offsetof(struct sub_header, start_64),
		sizeof(struct sub_header),
	};
	int32_t version = headers->main.version;

	memset(&headers->sub, 0, sizeof(headers->sub));
	memcpy(&headers->sub, raw, known[version > 6 ? 6 : version]);
	if (version < 6) {
		headers->sub.start_64 = headers->sub.start;
		headers->sub.end_64 = headers->sub.end;
		headers->sub.max_pages_64 = headers->main.max_pages;
	}
	headers->max_pages = headers->sub.max_pages_64;
}

static kw_status check_sizes(kw_ctx *ctx, struct kdump_part *part, struct headers *headers)
{
	uint64_t pages = headers->max_pages, bitmap = (uint64_t)headers->main.bitmap_blocks * PAGE_BYTES;
	uint64_t needed = ((pages + 7) / 8 + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);

	if (!pages || pages > MAX_PAGES)
		return damaged(ctx, part, "it promises more pages than can be real, or none");
	headers->has_memory_bitmap = bitmap / 2 >= needed;
	headers->bitmap_size = headers->has_memory_bitmap ? bitmap / 2 : bitmap;
	headers->bitmap_offset = (1 + (uint64_t)headers->main.sub_blocks) * PAGE_BYTES;
	if (headers->bitmap_size < needed)
		return damaged(ctx, part, "its bitmaps are too small for its pages");
	part->table = headers->bitmap_offset + bitmap;
	if (part->table > part->file_size)
		return cut_short(ctx, part, -1, "bitmaps of pages");
	part->end = pages;
	if (!headers->sub.split)
		return KW_OK;
	if (headers->sub.start_64 > headers->sub.end_64 || headers->sub.end_64 > pages)
		return damaged(ctx, part, "the pages of its part of a split set are impossible");
	part->is_split = true;
	part->start = headers->sub.start_64;
	part->end = headers->sub.end_64;
	return KW_OK;
}

static kw_status read_headers(kw_ctx *ctx, struct kdump_part *part, struct headers *ret)
{
	struct sub_header sub;
	int err = kw_kdump_read(part, 0, &ret->main, sizeof(ret->main));
	kw_status status;

	if (err)
		return cut_short(ctx, part, err, "header");
	if (memcmp(ret->main.signature, "KDUMP   ", sizeof(ret->main.signature)) != 0)
		return kw_fail(ctx, KW_FORMAT, "%s: is no kdump-compressed dump", part->name);
	status = check_machine(ctx, part, &ret->main);
	if (status != KW_OK)
		return status;
	memset(&sub, 0, sizeof(sub));
	err = kw_kdump_read(part, PAGE_BYTES, &sub, sizeof(sub));
	if (err)
		return cut_short(ctx, part, err, "sub-header");
	take_sub_header(ret, &sub);
	return check_sizes(ctx, part, ret);
}

/* Bitmaps */

static void clear_bits(uint64_t *words, uint64_t from, uint64_t to)
{
	for (uint64_t bit = from; bit < to; bit++)
		words[bit / 64] &= ~(1ULL << bit % 64);
}

/* Read the bits of the part's pages, the first being that of part->first; the words behind are zeros. */
static kw_status read_bits(kw_ctx *ctx, const struct kdump_part *part, uint64_t bitmap, uint64_t **ret)
{
	uint64_t nr = part->end - part->first;
	uint64_t groups = (nr + KDUMP_RANK_PAGES - 1) / KDUMP_RANK_PAGES;
	uint64_t *words = calloc(groups ? groups : 1, KDUMP_RANK_PAGES / 8);
	int err;

	if (!words)
		return kw_fail_nomem(ctx);
	err = kw_kdump_read(part, bitmap + part->first / 8, words, (nr + 7) / 8);
	if (err) {
		free(words);
		return cut_short(ctx, part, err, "bitmaps of pages");
	}
	clear_bits(words, 0, part->start - part->first);
	clear_bits(words, nr, (nr + 7) / 8 * 8);
	*ret = words;
	return KW_OK;
}

/* Find where the data begin: behind a descriptor for each page of the whole dump. */
static kw_status find_data(kw_ctx *ctx, struct kdump_part *part, uint64_t bitmap, uint64_t pages)
{
	struct kdump_part whole = *part;
	uint64_t *words, nr = 0;
	kw_status status;

	part->data = part->table + part->nr * KDUMP_DESCRIPTOR;
	if (part->start == 0 && part->end == pages)
		return KW_OK;
	whole.first = whole.start = 0;
	whole.end = pages;
	status = read_bits(ctx, &whole, bitmap, &words);
	if (status != KW_OK)
		return status;
	for (uint64_t i = 0; i < (pages + 63) / 64; i++)
		nr += (uint64_t)__builtin_popcountll(words[i]);
	free(words);
	part->data = part->table + nr * KDUMP_DESCRIPTOR;
	return KW_OK;
}

static kw_status rank_pages(kw_ctx *ctx, struct kdump_part *part)
{
	uint64_t groups = (part->end - part->first + KDUMP_RANK_PAGES - 1) / KDUMP_RANK_PAGES;

	part->rank = calloc(groups + 1, sizeof(*part->rank));
	if (!part->rank)
		return kw_fail_nomem(ctx);
	for (uint64_t i = 0; i < groups * (KDUMP_RANK_PAGES / 64); i++)
		part->rank[i / (KDUMP_RANK_PAGES / 64) + 1] +=
			(uint64_t)__builtin_popcountll(part->dumped[i]);
	for (uint64_t i = 0; i < groups; i++)
		part->rank[i + 1] += part->rank[i];
	part->nr = part->rank[groups];
	return KW_OK;
}

static bool add_run(struct kw_memory *memory, uint64_t from, uint64_t to)
{
	struct kw_segment segment = {
		.vaddr = KW_NO_ADDR,
		.paddr = from * PAGE_BYTES,
		.size = (to - from) * PAGE_BYTES,
		.offset = from * PAGE_BYTES,
		.kind = KW_SEG_RAM,
	};

	return segments_add(&memory->phys, PHYSICAL, &segment);
}

/* Add the runs of pages that are memory, by either bitmap; *pages counts them. */
static bool add_runs(struct kw_memory *memory, const struct kdump_part *part, const uint64_t *words,
		     uint64_t *pages)
{
	uint64_t nr = part->end - part->first, from = 0;
	bool inside = false;

	for (uint64_t bit = 0; bit < nr; bit++) {
		uint64_t word = (words ? words[bit / 64] : 0) | part->dumped[bit / 64];
		bool is_memory;

		if (bit % 64 == 0 && bit + 64 <= nr && word == (inside ? UINT64_MAX : 0)) {
			*pages += inside ? 64 : 0;
			bit += 63;
			continue;
		}
		is_memory = word >> bit % 64 & 1;
		*pages += is_memory;
		if (is_memory == inside)
			continue;
		if (inside && !add_run(memory, part->first + from, part->first + bit))
			return false;
		from = bit;
		inside = is_memory;
	}
	return !inside || add_run(memory, part->first + from, part->first + nr);
}

static kw_status read_bitmaps(kw_ctx *ctx, struct kw_memory *memory, struct kdump_part *part,
			      const struct headers *headers, uint64_t *pages)
{
	uint64_t second = headers->bitmap_offset + (headers->has_memory_bitmap ? headers->bitmap_size : 0);
	uint64_t *words = NULL;
	kw_status status;

	part->first = part->start / KDUMP_RANK_PAGES * KDUMP_RANK_PAGES;
	status = read_bits(ctx, part, second, &part->dumped);
	if (status == KW_OK && headers->has_memory_bitmap)
		status = read_bits(ctx, part, headers->bitmap_offset, &words);
	if (status == KW_OK)
		status = rank_pages(ctx, part);
	if (status == KW_OK)
		status = find_data(ctx, part, second, headers->max_pages);
	if (status == KW_OK && !add_runs(memory, part, words, pages))
		status = kw_fail_nomem(ctx);
	free(words);
	return status;
}

/* Opening */

/* Without it, or where it can't be read, it is looked for in memory. */
static kw_status read_vmcoreinfo(kw_ctx *ctx, struct kw_memory *memory, const struct kdump_part *part,
				 const struct sub_header *sub)
{
	char *text;

	if (memory->vmcoreinfo || !sub->vmcoreinfo_size || sub->vmcoreinfo_size > MAX_VMCOREINFO)
		return KW_OK;
	text = malloc(sub->vmcoreinfo_size);
	if (!text)
		return kw_fail_nomem(ctx);
	if (kw_kdump_read(part, sub->vmcoreinfo_offset, text, sub->vmcoreinfo_size)) {
		free(text);
		return KW_OK;
	}
	memory->vmcoreinfo = text;
	memory->vmcoreinfo_len = sub->vmcoreinfo_size;
	return KW_OK;
}

/* What is known of all parts together. */
struct sum {
	uint64_t pages, dumped, lost;
	uint32_t level, status;
};

static kw_status open_part(kw_ctx *ctx, struct kw_memory *memory, struct kdump_part *part,
			   struct headers *headers, struct sum *sum)
{
	struct unpacker *unpacker = unpacker_new();
	uint64_t lost = 0;
	kw_status status = unpacker ? read_headers(ctx, part, headers) : kw_fail_nomem(ctx);

	if (status == KW_OK && headers->main.status & KDUMP_PACKED_ZSTD && !unpack_has_zstd())
		status = kw_fail(
			ctx, KW_UNSUPPORTED,
			"%s: its pages are compressed with zstd, and libzstd.so.1 is not there; install "
			"libzstd1",
			part->name);
	if (status == KW_OK)
		status = read_bitmaps(ctx, memory, part, headers, &sum->pages);
	if (status == KW_OK)
		status = kw_kdump_check_table(ctx, part, unpacker);
	if (status == KW_OK)
		status = kw_kdump_count_lost(ctx, part, headers->main.status & KDUMP_INCOMPLETE, &lost);
	if (status == KW_OK)
		status = read_vmcoreinfo(ctx, memory, part, &headers->sub);
	unpacker_free(unpacker);
	sum->dumped += part->nr;
	sum->lost += lost;
	sum->level = headers->sub.dump_level;
	sum->status |= headers->main.status;
	return status;
}

static void free_kdump(void *source)
{
	struct kdump *kdump = source;

	for (size_t i = 0; i < kdump->nr; i++) {
		struct kdump_part *part = &kdump->item[i];

		if (kdump->owns && part->fd >= 0)
			close(part->fd);
		free(part->name);
		free(part->dumped);
		free(part->rank);
	}
	free(kdump->item);
	free(kdump);
}

/* The parts of a split set are of one dump when the same kernel was dumped at the same moment, and none is there twice. */
static kw_status check_belongs(kw_ctx *ctx, const struct kdump *kdump, const struct headers *first,
			       const struct headers *other)
{
	const struct kdump_part *part = &kdump->item[kdump->nr - 1];

	if (memcmp(first->main.utsname, other->main.utsname, sizeof(first->main.utsname)) != 0 ||
	    memcmp(first->main.timestamp, other->main.timestamp, sizeof(first->main.timestamp)) != 0 ||
	    first->max_pages != other->max_pages)
		return kw_fail(ctx, KW_INVALID, "%s: is not of the same dump as %s", part->name,
			       kdump->item[0].name);
	for (size_t i = 0; i + 1 < kdump->nr; i++)
		if (part->start < kdump->item[i].end && kdump->item[i].start < part->end)
			return kw_fail(ctx, KW_INVALID,
				       "%s: holds the same pages as %s: they are no parts of one split set",
				       part->name, kdump->item[i].name);
	return KW_OK;
}

static kw_status describe(kw_ctx *ctx, struct kw_memory *memory, const struct kdump *kdump,
			  const struct sum *sum)
{
	const struct kdump_part *part = &kdump->item[0];
	char files[64] = "", lost[64] = "";
	bool alone = kdump->nr == 1 && part->is_split;

	if (kdump->nr > 1)
		snprintf(files, sizeof(files), ", %zu files of a split set", kdump->nr);
	else if (alone)
		snprintf(files, sizeof(files), ", one file of a split set");
	if (sum->lost)
		snprintf(lost, sizeof(lost), ", %s: %llu pages are lost",
			 sum->status & KDUMP_INCOMPLETE ? "INCOMPLETE" : "CUT SHORT",
			 (unsigned long long)sum->lost);
	return kw_memory_describe(ctx, memory, "kdump-compressed dump%s%s, level %u, %llu of %llu pages%s",
				  memory->flat ? ", flattened" : "", files, sum->level,
				  (unsigned long long)sum->dumped, (unsigned long long)sum->pages, lost);
}

static kw_status tell_trouble(kw_ctx *ctx, struct kw_memory *memory, const struct kdump *kdump,
			      const struct sum *sum)
{
	if (sum->lost)
		return kw_memory_set_trouble(ctx, memory, "the dump %s: %llu of its %llu pages are lost",
					     sum->status & KDUMP_INCOMPLETE
						     ? "is incomplete, as its disk was full"
						     : "is cut short",
					     (unsigned long long)sum->lost, (unsigned long long)sum->dumped);
	if (kdump->nr == 1 && kdump->item[0].is_split)
		return kw_memory_set_trouble(
			ctx, memory,
			"it is one file of a split set, and what is in the others is absent: "
			"give all of them, separated by commas");
	return KW_OK;
}

/* The bits of a dump level. */
static kw_status tell_left_out(kw_ctx *ctx, struct kw_memory *memory, uint32_t level)
{
	static const char *const kinds[] = { "pages of zeros", "page cache", "page cache with private data",
					     "memory of processes", "free pages" };
	char text[128] = "";

	if (!level)
		return KW_OK;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (level & 1U << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? ", " : "",
				 kinds[i]);
	return kw_memory_set_left_out(ctx, memory, text);
}

static kw_status finish(kw_ctx *ctx, struct kw_memory *memory, struct kdump *kdump, const struct sum *sum)
{
	/* Pages are read here and there: of a cold file of 40 MB, ps takes 0.3 s if that was read ahead, else 0.5 s. */
	for (size_t i = 0; i < kdump->nr && kdump->item[i].file_size <= READ_AHEAD; i++)
		posix_fadvise(kdump->item[i].fd, 0, READ_AHEAD, POSIX_FADV_WILLNEED);
	if (!memory->phys.nr)
		return kw_fail(ctx, KW_FORMAT, "%s: the dump holds no memory", memory->name);
	segments_finish(&memory->phys, PHYSICAL);
	memory->kind = KW_SOURCE_DUMP;
	memory->cut_off = sum->lost * PAGE_BYTES;
	kdump->lacks = sum->lost;
	if (tell_trouble(ctx, memory, kdump, sum) != KW_OK || tell_left_out(ctx, memory, sum->level) != KW_OK)
		return KW_NOMEM;
	return describe(ctx, memory, kdump, sum);
}

/* Make the dump of the memory, without any part. */
static struct kdump *make_kdump(struct kw_memory *memory)
{
	struct kdump *kdump = calloc(1, sizeof(*kdump));

	if (kdump)
		memory->decoded =
			(struct decoded){ PAGE_BYTES, kdump, kw_kdump_decode, kw_kdump_state, free_kdump };
	return kdump;
}

static bool probe_kdump(const uint8_t *head, size_t len)
{
	return len >= 8 && !memcmp(head, "KDUMP   ", 8);
}

static kw_status open_kdump(kw_ctx *ctx, struct kw_memory *memory)
{
	struct kdump *kdump = make_kdump(memory);
	struct kdump_part part = { .fd = memory->fd, .flat = memory->flat, .file_size = memory->file_size };
	struct headers headers;
	struct sum sum = { 0 };
	kw_status status;

	if (!kdump)
		return kw_fail_nomem(ctx);
	part.name = strdup(memory->name);
	if (!part.name || !kw_array_push(kdump, part)) {
		free(part.name);
		return kw_fail_nomem(ctx);
	}
	status = open_part(ctx, memory, &kdump->item[0], &headers, &sum);
	return status == KW_OK ? finish(ctx, memory, kdump, &sum) : status;
}

static kw_status open_part_file(kw_ctx *ctx, const char *name, size_t len, struct kdump *kdump)
{
	struct kdump_part part = { .name = strndup(name, len), .fd = -1 };
	struct stat st;

	if (!part.name || !kw_array_push(kdump, part)) {
		free(part.name);
		return kw_fail_nomem(ctx);
	}
	part.fd = open(part.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (part.fd < 0 || fstat(part.fd, &st))
		return kw_fail_errno(ctx, errno, "%s", part.name);
	kdump->item[kdump->nr - 1].fd = part.fd;
	kdump->item[kdump->nr - 1].file_size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return KW_OK;
}

kw_status kw_kdump_open_set(kw_ctx *ctx, struct kw_memory *memory)
{
	struct kdump *kdump = make_kdump(memory);
	struct headers first, headers;
	struct sum sum = { 0 };
	kw_status status = kdump ? KW_OK : kw_fail_nomem(ctx);

	if (status == KW_OK)
		kdump->owns = true;
	for (const char *name = memory->name; status == KW_OK && name;) {
		const char *comma = strchr(name, ',');

		status = open_part_file(ctx, name, comma ? (size_t)(comma - name) : strlen(name), kdump);
		if (status == KW_OK)
			status = open_part(ctx, memory, &kdump->item[kdump->nr - 1], &headers, &sum);
		if (status == KW_OK && kdump->nr == 1)
			first = headers;
		if (status == KW_OK)
			status = check_belongs(ctx, kdump, &first, &headers);
		name = comma ? comma + 1 : NULL;
	}
	return status == KW_OK ? finish(ctx, memory, kdump, &sum) : status;
}

const struct kw_source_ops kw_kdump_source = { "kdump-compressed dump", probe_kdump, open_kdump };
