/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BTF, the kernel's own description of its types:
 *
 *   header   | magic 0xeb9f:16 | version:8 | flags:8 | hdr_len | type_off | type_len | str_off | str_len |
 *            since 7.1 also | layout_off | layout_len |
 *   types    | name | info | size or type | what the kind adds ... |  one after the other, numbered from 1
 *   strings  | NUL | name NUL | name NUL | ...
 *   layout   | fixed:8 | each:8 | flags:16 |  for each kind: what it adds, so that unknown kinds can be skipped
 *
 *   info: number of members, values or parameters in bits 0-23, kind in 24-30, kind flag in 31. Before 7.1 only bits
 *   0-15, 24-28 and 31 are used and the others are 0.
 *
 * Section offsets count from the end of the header. Records have no index: finding the n-th type takes a walk over
 * those before it. That walk is done once, when the blob is opened; it checks each record and marks where every 16th
 * begins. Names are looked at when one is asked for (btf_names.c), and the rest is decoded when it is asked for. A split
 * blob (a module's) goes on with the numbers and string offsets of its base.
 *
 * Fresh memory costs more here than arithmetic does (a page fault is up to 20 us in a virtual machine): hence marks
 * instead of all offsets.
 */
#include "type/btf.h"
#include "type/btf_record.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LAYOUT_HEADER_SIZE 32 /* of a header that names a layout section */

const struct kw_btf_kind_layout kw_btf_kind_layout[BTF_NR_KINDS] = {
	[BTF_INT] = { 4, 0, true },	    [BTF_ARRAY] = { 12, 0, false },
	[BTF_STRUCT] = { 0, 12, true },	    [BTF_UNION] = { 0, 12, true },
	[BTF_ENUM] = { 0, 8, true },	    [BTF_TYPEDEF] = { 0, 0, true },
	[BTF_FUNC_PROTO] = { 0, 8, false }, [BTF_VAR] = { 4, 0, true },
	[BTF_DATASEC] = { 0, 12, false },   [BTF_FLOAT] = { 0, 0, true },
	[BTF_DECL_TAG] = { 4, 0, false },   [BTF_ENUM64] = { 0, 12, true },
};

/* Header */

struct section {
	uint32_t off, len; /* off from the end of the header */
};

struct header {
	uint32_t len;
	struct section types, strings, layout;
};

/* Decode a header; size is what may be read of it, at least KW_BTF_HEADER_SIZE. */
static struct header get_header(const uint8_t *h, size_t size)
{
	struct header header = {
		.len = kw_load_u32(h + 4),
		.types = { kw_load_u32(h + 8), kw_load_u32(h + 12) },
		.strings = { kw_load_u32(h + 16), kw_load_u32(h + 20) },
	};

	if (header.len >= LAYOUT_HEADER_SIZE && size >= LAYOUT_HEADER_SIZE)
		header.layout = (struct section){ kw_load_u32(h + 24), kw_load_u32(h + 28) };
	return header;
}

static bool has_magic(const uint8_t *h)
{
	return h[0] == (KW_BTF_MAGIC & 0xff) && h[1] == KW_BTF_MAGIC >> 8;
}

static uint64_t section_end(const struct section *section)
{
	return (uint64_t)section->off + section->len;
}

uint64_t kw_btf_blob_size(const uint8_t *bytes, size_t size)
{
	struct header header;
	uint64_t end;

	if (size < KW_BTF_HEADER_SIZE || !has_magic(bytes) || bytes[2] != 1)
		return 0;
	header = get_header(bytes, size);
	/* Headers have grown by two words in their first eight years; what is far from that is none. */
	if (header.len < KW_BTF_HEADER_SIZE || header.len > 128 || header.types.off % 4 ||
	    !header.strings.len)
		return 0;
	end = section_end(&header.types);
	if (section_end(&header.strings) > end)
		end = section_end(&header.strings);
	if (section_end(&header.layout) > end)
		end = section_end(&header.layout);
	return header.len + end <= KW_BTF_SIZE_MAX ? header.len + end : 0;
}

static kw_status check_header(kw_ctx *ctx, const uint8_t *data, size_t size)
{
	uint32_t len;

	if (size < KW_BTF_HEADER_SIZE)
		return kw_fail(ctx, KW_FORMAT, "BTF: %zu bytes are too few for a header", size);
	if (data[0] == KW_BTF_MAGIC >> 8 && data[1] == (KW_BTF_MAGIC & 0xff))
		return kw_fail(ctx, KW_UNSUPPORTED, "BTF: of the other byte order, which is not supported");
	if (!has_magic(data))
		return kw_fail(ctx, KW_FORMAT, "BTF: no BTF: it begins with %02x %02x instead of 9f eb",
			       data[0], data[1]);
	if (data[2] != 1)
		return kw_fail(ctx, KW_UNSUPPORTED, "BTF: version %u, only 1 is known", data[2]);
	len = kw_load_u32(data + 4);
	if (len < KW_BTF_HEADER_SIZE || len > size)
		return kw_fail(ctx, KW_FORMAT, "BTF: header length %u in a blob of %zu bytes", len, size);
	return KW_OK;
}

static kw_status check_section(kw_ctx *ctx, const char *what, const struct section *section, size_t room)
{
	if (section->off > room || section->len > room - section->off)
		return kw_fail(ctx, KW_FORMAT, "BTF: the %s (%u bytes at %u) leave its %zu bytes", what,
			       section->len, section->off, room);
	return KW_OK;
}

static kw_status find_sections(kw_ctx *ctx, struct kw_btf *btf, const uint8_t *data, size_t size)
{
	kw_status status = check_header(ctx, data, size);
	struct header header;
	size_t room;

	if (status)
		return status;
	header = get_header(data, size);
	room = size - header.len;
	if ((status = check_section(ctx, "types", &header.types, room)) ||
	    (status = check_section(ctx, "strings", &header.strings, room)) ||
	    (status = check_section(ctx, "kind layouts", &header.layout, room)))
		return status;
	data += header.len;
	btf->types = data + header.types.off;
	btf->types_len = header.types.len;
	btf->strings = (const char *)data + header.strings.off;
	btf->strings_len = header.strings.len;
	btf->layout = header.layout.len ? data + header.layout.off : NULL;
	btf->layout_len = header.layout.len;
	if (btf->strings_len && btf->strings[btf->strings_len - 1])
		return kw_fail(ctx, KW_FORMAT, "BTF: the strings do not end with a NUL");
	if (!btf->base && (!btf->strings_len || btf->strings[0]))
		return kw_fail(ctx, KW_FORMAT, "BTF: the strings do not begin with a NUL");
	return KW_OK;
}

/* Records */

/* Where a record before the one of a number begins, and how many of them are to be skipped. */
static uint32_t find_mark(const struct kw_btf *btf, uint32_t own, uint32_t *ret_skip)
{
	const struct kw_btf_span *part = btf->parts;

	while (own >= part[1].first)
		part++;
	own -= part->first;
	*ret_skip = own % KW_BTF_MARK_EVERY;
	return part->marks[own / KW_BTF_MARK_EVERY];
}

bool kw_btf_record_at(const struct kw_btf *btf, uint32_t id, struct kw_btf_record *ret)
{
	uint32_t own, pos, skip, size, info;
	const uint8_t *at;

	while (id && id < btf->first_id)
		btf = btf->base;
	own = id - btf->first_id;
	if (!id || own >= btf->nr)
		return false;
	pos = find_mark(btf, own, &skip);
	while (skip--) {
		if (!(size = kw_btf_checked_size(btf, pos)))
			return false;
		pos += size;
	}
	if (!kw_btf_checked_size(btf, pos))
		return false;
	at = btf->types + pos;
	info = kw_load_u32(at + 4);
	*ret = (struct kw_btf_record){
		.btf = btf,
		.name = kw_load_u32(at),
		.kind = kw_btf_info_kind(info),
		.vlen = kw_btf_info_vlen(info),
		.size = kw_load_u32(at + 8),
		.flag = info >> 31,
		.extra = at + KW_BTF_RECORD_SIZE,
	};
	return ret->kind < BTF_NR_KINDS;
}

/* Strings */

const char *kw_btf_string_at(const struct kw_btf *btf, uint32_t off, size_t *ret_room)
{
	while (off < btf->first_string)
		btf = btf->base;
	off -= btf->first_string;
	if (off >= btf->strings_len)
		return NULL;
	*ret_room = btf->strings_len - off;
	return btf->strings + off;
}

bool kw_btf_string_is(const struct kw_btf *btf, uint32_t off, const char *want, size_t len)
{
	size_t room;
	const char *str = kw_btf_string_at(btf, off, &room);

	return str && len < room && memcmp(str, want, len + 1) == 0;
}

/* Length of a name that can be shown, which ends within `room` bytes; 0 otherwise. */
static size_t plain_len(const char *name, size_t room)
{
	size_t len;

	/* What is not printable ASCII comes from damage, or from somebody who wants it on a terminal. */
	for (len = 0; len < room && name[len]; len++)
		if (name[len] < 0x20 || name[len] > 0x7e)
			return 0;
	return len < room ? len : 0;
}

const char *kw_btf_name_at(const struct kw_btf *btf, uint32_t off)
{
	const char *name;
	size_t room, len;

	if (!off)
		return "";
	while (off < btf->first_string)
		btf = btf->base;
	name = kw_btf_string_at(btf, off, &room);
	if (!name)
		return "<name out of range>";
	len = plain_len(name, room);
	if (!len)
		return "<unprintable name>";
	if (btf->storage_kind == KW_BTF_IN_PLACE)
		name = kw_btf_keep_name((struct kw_btf *)btf, off, name, len);
	return name ? name : "<out of memory>";
}

static void release(void *data, size_t size, enum kw_btf_storage storage)
{
	if (storage == KW_BTF_MALLOCED)
		free(data);
	else if (storage == KW_BTF_MAPPED)
		munmap(data, size);
}

kw_status kw_btf_open(kw_ctx *ctx, const void *data, size_t size, enum kw_btf_storage storage,
		      const struct kw_btf *base, struct kw_btf **ret)
{
	struct kw_btf *btf = calloc(1, sizeof(*btf));
	kw_status status;

	if (!btf) {
		release((void *)data, size, storage);
		return kw_fail_nomem(ctx);
	}
	pthread_mutex_init(&btf->lock, NULL);
	pthread_mutex_init(&btf->index.lock, NULL);
	btf->storage = (void *)data;
	btf->storage_size = size;
	btf->storage_kind = storage;
	btf->base = base;
	btf->first_id = base ? base->first_id + base->nr : 1;
	btf->first_string = base ? base->first_string + base->strings_len : 0;
	if (size > KW_BTF_SIZE_MAX)
		status = kw_fail(ctx, KW_FORMAT, "BTF: %zu bytes are more than any kernel has", size);
	else
		status = find_sections(ctx, btf, data, size);
	if (!status)
		status = kw_btf_walk(ctx, btf);
	if (!status)
		status = kw_btf_index_init(ctx, btf);
	if (status) {
		kw_btf_free(btf);
		return status;
	}
	*ret = btf;
	return KW_OK;
}

void kw_btf_free(struct kw_btf *btf)
{
	if (!btf)
		return;
	kw_btf_free_nodes(btf);
	kw_btf_free_names(btf);
	release(btf->storage, btf->storage_size, btf->storage_kind);
	pthread_mutex_destroy(&btf->lock);
	kw_btf_index_deinit(&btf->index);
	free(btf->marks);
	free(btf);
}

uint32_t kw_btf_nr(const struct kw_btf *btf)
{
	return btf->nr;
}
