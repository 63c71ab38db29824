/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LiME images, which are mapped, and AVML's: see lime.h.
 *
 * A range whose bytes the file does not have to the end has failed from there; between the ranges is no memory.
 */
#include <string.h>

#include "memory/lime.h"
#include "util/error.h"

#define MAX_RANGES (1U << 20)

static bool is_lime(const struct lime_header *header)
{
	return !memcmp(header->magic, "EMiL", 4) && header->version == 1;
}

static bool is_avml(const struct lime_header *header)
{
	return !memcmp(header->magic, "AVML", 4) && header->version == 2;
}

static bool is_possible(const struct lime_header *header)
{
	return header->last >= header->start && header->last < 1ULL << 52;
}

static kw_status add_range(kw_ctx *ctx, struct kw_memory *memory, const struct lime_header *header,
			   const uint8_t *map, int why, uint64_t at, uint64_t *ret_end)
{
	struct kw_segment segment = {
		.vaddr = KW_NO_ADDR,
		.paddr = header->start,
		.size = header->last - header->start + 1,
		.offset = at,
		.kind = KW_SEG_RAM,
		.why = why,
	};
	uint64_t left = memory->file_size - at;
	struct kw_segment part = segment_part(&segment, 0, segment.size < left ? segment.size : left);

	part.map = map ? map + at : NULL;
	if (!segments_add(&memory->phys, PHYSICAL, &part))
		return kw_fail_nomem(ctx);
	*ret_end = at + part.size;
	if (part.size == segment.size)
		return KW_OK;
	memory->cut_off += segment.size - part.size;
	part = segment_part(&segment, part.size, segment.size - part.size);
	return segments_add(&memory->phys, PHYSICAL, &part) ? KW_OK : kw_fail_nomem(ctx);
}

/* Add all ranges; a header that can't be one ends the image where it would have to go on. */
static kw_status add_ranges(kw_ctx *ctx, struct kw_memory *memory, struct avml *avml, const uint8_t *map,
			    int why, size_t *ret_nr)
{
	uint64_t at = 0;
	size_t nr = 0;
	kw_status status = KW_OK;

	for (; memory->file_size - at >= sizeof(struct lime_header); nr++) {
		struct lime_header header;
		int err = kw_read_file(memory->fd, at, &header, sizeof(header));

		if (err > 0)
			return kw_fail_errno(ctx, err, "%s", memory->name);
		status = KW_FORMAT;
		if (!err && nr < MAX_RANGES && is_possible(&header)) {
			if (is_lime(&header) && !avml)
				status = add_range(ctx, memory, &header, map, why, at + sizeof(header), &at);
			else if (is_avml(&header) && avml)
				status = avml_add(ctx, avml, memory, &header, at + sizeof(header), &at);
		}
		if (status == KW_FORMAT)
			return kw_fail(
				ctx, KW_FORMAT,
				"%s: the image is damaged: range %zu of its memory, at %llu of the file, "
				"can't be read; copy it again from where it was made",
				memory->name, nr + 1, (unsigned long long)at);
		if (status != KW_OK)
			return status;
		if (at > memory->file_size)
			at = memory->file_size;
	}
	*ret_nr = nr;
	return KW_OK;
}

static kw_status describe(kw_ctx *ctx, struct kw_memory *memory, const char *what, size_t nr)
{
	unsigned long long lost = (memory->cut_off + (1 << 20) - 1) >> 20;
	kw_status status = kw_memory_describe(ctx, memory, "%s image, %zu range%s%s", what, nr,
					      nr == 1 ? "" : "s", lost ? ", CUT SHORT" : "");

	if (status != KW_OK || !lost)
		return status;
	return kw_memory_set_trouble(ctx, memory, "the file is cut short: %llu MiB are missing", lost);
}

static bool probe_lime(const uint8_t *head, size_t len)
{
	return len >= 4 && !memcmp(head, "EMiL", 4);
}

static kw_status open_lime(kw_ctx *ctx, struct kw_memory *memory)
{
	const uint8_t *map = NULL;
	size_t nr = 0;
	int why = 0;
	kw_status status;

	memory->kind = KW_SOURCE_ELF;
	if (!memory->no_mmap)
		map = guard_map(&memory->guard, memory->fd, 0, memory->file_size, &why);
	status = add_ranges(ctx, memory, NULL, map, why, &nr);
	if (status == KW_OK && !nr)
		status = kw_fail(ctx, KW_FORMAT, "%s: the LiME image was cut short: it has no memory",
				 memory->name);
	segments_finish(&memory->phys, PHYSICAL);
	return status == KW_OK ? describe(ctx, memory, "LiME", nr) : status;
}

static bool probe_avml(const uint8_t *head, size_t len)
{
	return len >= 4 && !memcmp(head, "AVML", 4);
}

static kw_status open_avml(kw_ctx *ctx, struct kw_memory *memory)
{
	struct avml *avml = avml_new(memory->fd, memory->file_size);
	size_t nr = 0;
	kw_status status;

	if (!avml)
		return kw_fail_nomem(ctx);
	memory->kind = KW_SOURCE_DUMP;
	memory->decoded = (struct decoded){ AVML_CHUNK, avml, avml_decode, NULL, avml_free };
	status = add_ranges(ctx, memory, avml, NULL, 0, &nr);
	if (status == KW_OK && !nr)
		status = kw_fail(ctx, KW_FORMAT, "%s: the AVML image was cut short: it has no memory",
				 memory->name);
	segments_finish(&memory->phys, PHYSICAL);
	return status == KW_OK ? describe(ctx, memory, "AVML", nr) : status;
}

const struct kw_source_ops kw_lime_source = { "LiME image", probe_lime, open_lime };
const struct kw_source_ops kw_avml_source = { "AVML image", probe_avml, open_avml };
