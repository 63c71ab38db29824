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
 * those before it. That walk is done once, when the blob is opened; it marks where every 16th record begins and
 * hashes the names of structures, unions, enums, typedefs, base types and variables, a ninth of all types. The rest is decoded
 * when it is asked for. A split blob (a module's) goes on with the numbers and string offsets of its base.
 *
 * Fresh memory costs more here than arithmetic does (a page fault is up to 20 us in a virtual machine): hence marks
 * instead of all offsets, and four bytes for a name.
 */
#include "type/btf.h"
#include "type/btf_record.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WALK_AHEAD	   2048
#define LAYOUT_HEADER_SIZE 32		    /* of a header that names a layout section */
#define NR_MAX		   ((1u << 24) - 2) /* types: what a slot can hold */

/* What follows a record: bytes, and bytes for each member, value or parameter. */
static const struct {
	uint8_t fixed, each;
	bool named; /* goes into the hash */
} kind_layout[BTF_NR_KINDS] = {
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

/* The size of a record by its info word; 0 when its kind is not known and the blob does not tell either. */
static inline uint64_t record_size(const struct kw_btf *btf, uint32_t info)
{
	uint32_t kind = kw_btf_info_kind(info);
	uint64_t vlen = kw_btf_info_vlen(info);
	const uint8_t *layout;

	if (kind != BTF_VOID && kind < BTF_NR_KINDS)
		return KW_BTF_RECORD_SIZE + kind_layout[kind].fixed + kind_layout[kind].each * vlen;
	if (kind == BTF_VOID || !btf->layout || kind >= btf->layout_len / KW_BTF_LAYOUT_SIZE)
		return 0;
	layout = btf->layout + kind * KW_BTF_LAYOUT_SIZE;
	return KW_BTF_RECORD_SIZE + layout[0] + layout[1] * vlen;
}

/* Size of the record at pos; 0 when it is not known or leaves the section. */
static inline uint32_t checked_size(const struct kw_btf *btf, uint32_t pos)
{
	uint64_t size;

	if (btf->types_len - pos < KW_BTF_RECORD_SIZE)
		return 0;
	size = record_size(btf, kw_load_u32(btf->types + pos + 4));
	return size <= btf->types_len - pos ? (uint32_t)size : 0;
}

bool kw_btf_record_at(const struct kw_btf *btf, uint32_t id, struct kw_btf_record *ret)
{
	uint32_t own, pos, size, info;
	const uint8_t *at;

	while (id && id < btf->first_id)
		btf = btf->base;
	own = id - btf->first_id;
	if (!id || own >= btf->nr)
		return false;
	pos = btf->marks[own / KW_BTF_MARK_EVERY];
	for (uint32_t n = own % KW_BTF_MARK_EVERY; n; n--) {
		if (!(size = checked_size(btf, pos)))
			return false;
		pos += size;
	}
	if (!checked_size(btf, pos))
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

/* The string at an offset and the bytes up to the end of its section; NULL when it lies in none. */
static const char *string_at(const struct kw_btf *btf, uint32_t off, size_t *ret_room)
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
	const char *str = string_at(btf, off, &room);

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
	name = string_at(btf, off, &room);
	if (!name)
		return "<name out of range>";
	len = plain_len(name, room);
	if (!len)
		return "<unprintable name>";
	if (btf->storage_kind == KW_BTF_IN_PLACE)
		name = kw_btf_keep_name((struct kw_btf *)btf, off, name, len);
	return name ? name : "<out of memory>";
}

/* Index */

static uint32_t hash_name(const char *name, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15ull, word;

	for (; len >= 8; name += 8, len -= 8) {
		memcpy(&word, name, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, name, len);
	h = (h ^ word) * 0xff51afd7ed558ccdull;
	return (uint32_t)(h >> 32);
}

static bool hash_string(const struct kw_btf *btf, uint32_t off, uint32_t *ret)
{
	size_t room;
	const char *name = string_at(btf, off, &room);

	if (name)
		*ret = hash_name(name, strnlen(name, room));
	return name;
}

static uint32_t slot_own(uint32_t slot)
{
	return (slot & 0xffffff) - 1;
}

static bool slot_may_be(uint32_t slot, uint32_t hash)
{
	return slot >> 24 == hash >> 24;
}

static void put_slot(struct kw_btf *btf, uint32_t own, uint32_t hash)
{
	uint32_t at;

	for (at = hash & btf->slot_mask; btf->slots[at]; at = (at + 1) & btf->slot_mask)
		;
	btf->slots[at] = (own + 1) | (hash >> 24 << 24);
	btf->nr_slots_used++;
}

/* The number of slots is guessed from the size of the blob; a blob of nothing but names needs more. */
static kw_status grow_slots(kw_ctx *ctx, struct kw_btf *btf)
{
	uint32_t *old = btf->slots, old_mask = btf->slot_mask, hash;
	uint32_t start = 0;
	struct kw_btf_record rec;

	btf->slots = calloc(((size_t)old_mask + 1) * 2, sizeof(*btf->slots));
	if (!btf->slots) {
		btf->slots = old;
		return kw_fail_nomem(ctx);
	}
	btf->slot_mask = old_mask * 2 + 1;
	btf->nr_slots_used = 0;
	/* Of equal names the first must stay first: begin where no run of slots crosses. */
	while (old[start])
		start++;
	for (uint32_t i = 0; i <= old_mask; i++) {
		uint32_t slot = old[(start + i) & old_mask];

		if (slot && kw_btf_record_at(btf, btf->first_id + slot_own(slot), &rec) &&
		    hash_string(btf, rec.name, &hash))
			put_slot(btf, slot_own(slot), hash);
	}
	free(old);
	return KW_OK;
}

/* Names on their way into the hash: their cache misses are most of the work, so they are fetched ahead. */
struct name_queue {
	enum { QUEUE_SIZE = 16 } size;
	uint32_t own[QUEUE_SIZE], name[QUEUE_SIZE];
	uint32_t head, tail;
};

static kw_status hash_oldest(kw_ctx *ctx, struct kw_btf *btf, struct name_queue *queue)
{
	uint32_t at = queue->tail++ % QUEUE_SIZE, hash;
	kw_status status = KW_OK;

	if (!hash_string(btf, queue->name[at], &hash))
		return kw_fail(ctx, KW_FORMAT, "BTF: type %u has its name at %u, beyond the strings",
			       btf->first_id + queue->own[at], queue->name[at]);
	/* Full is cheap: all but one in 256 of the slots that are passed by differ in the bits of the hash they hold. */
	if (btf->nr_slots_used >= btf->slot_mask - btf->slot_mask / 16)
		status = grow_slots(ctx, btf);
	if (!status)
		put_slot(btf, queue->own[at], hash);
	return status;
}

static kw_status queue_name(kw_ctx *ctx, struct kw_btf *btf, struct name_queue *queue, uint32_t name)
{
	kw_status status = KW_OK;
	const char *str;
	size_t room;

	if (queue->head - queue->tail == QUEUE_SIZE)
		status = hash_oldest(ctx, btf, queue);
	str = string_at(btf, name, &room);
	if (str)
		__builtin_prefetch(str);
	queue->own[queue->head % QUEUE_SIZE] = btf->nr;
	queue->name[queue->head++ % QUEUE_SIZE] = name;
	return status;
}

static kw_status bad_record(kw_ctx *ctx, const struct kw_btf *btf, uint32_t pos)
{
	uint32_t id = btf->first_id + btf->nr, info;

	if (btf->types_len - pos >= KW_BTF_RECORD_SIZE) {
		info = kw_load_u32(btf->types + pos + 4);
		if (!record_size(btf, info))
			return kw_fail(ctx, KW_FORMAT, "BTF: type %u has kind %u, unknown to this version",
				       id, kw_btf_info_kind(info));
	}
	return kw_fail(ctx, KW_FORMAT, "BTF: type %u is cut short", id);
}

static kw_status walk_records(kw_ctx *ctx, struct kw_btf *btf)
{
	struct name_queue queue = { 0 };
	kw_status status = KW_OK;
	uint32_t size;

	for (uint32_t pos = 0; pos < btf->types_len && !status; pos += size) {
		uint32_t info, kind, name;

		/* A record's place is only known from the one before: the processor can't look ahead by itself. */
		__builtin_prefetch(btf->types + pos + WALK_AHEAD);
		size = checked_size(btf, pos);
		if (!size)
			return bad_record(ctx, btf, pos);
		if (btf->nr >= NR_MAX - btf->first_id)
			return kw_fail(ctx, KW_FORMAT, "BTF: more than %u types", NR_MAX);
		if (btf->nr % KW_BTF_MARK_EVERY == 0)
			btf->marks[btf->nr / KW_BTF_MARK_EVERY] = pos;
		info = kw_load_u32(btf->types + pos + 4);
		kind = kw_btf_info_kind(info);
		name = kw_load_u32(btf->types + pos);
		if (name && kind < BTF_NR_KINDS && kind_layout[kind].named)
			status = queue_name(ctx, btf, &queue, name);
		if (kind == BTF_ENUM && info >> 31)
			btf->enums_have_sign = true;
		btf->nr++;
	}
	while (!status && queue.tail != queue.head)
		status = hash_oldest(ctx, btf, &queue);
	return status;
}

static kw_status build_index(kw_ctx *ctx, struct kw_btf *btf)
{
	size_t most = btf->types_len / KW_BTF_RECORD_SIZE / KW_BTF_MARK_EVERY + 1;
	size_t slots = 16;

	/* A vmlinux has a name every 216 to 231 bytes (5.10 to 7.3). */
	while (slots < btf->types_len / 200)
		slots *= 2;
	btf->marks = malloc(most * sizeof(*btf->marks));
	btf->slots = calloc(slots, sizeof(*btf->slots));
	if (!btf->marks || !btf->slots)
		return kw_fail_nomem(ctx);
	btf->slot_mask = (uint32_t)slots - 1;
	return walk_records(ctx, btf);
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
		status = build_index(ctx, btf);
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
	free(btf->marks);
	free(btf->slots);
	free(btf);
}

uint32_t kw_btf_nr(const struct kw_btf *btf)
{
	return btf->nr;
}

size_t kw_btf_index_size(const struct kw_btf *btf)
{
	return sizeof(*btf) + btf->nr / KW_BTF_MARK_EVERY * sizeof(*btf->marks) +
	       ((size_t)btf->slot_mask + 1) * sizeof(*btf->slots);
}

/* Names to types */

static enum kw_btf_class class_of(uint32_t kind)
{
	switch (kind) {
	case BTF_STRUCT: return KW_BTF_STRUCT;
	case BTF_UNION: return KW_BTF_UNION;
	case BTF_ENUM:
	case BTF_ENUM64: return KW_BTF_ENUM;
	case BTF_VAR: return KW_BTF_VARIABLE;
	default: return KW_BTF_ANY;
	}
}

static bool is_of_class(uint32_t kind, enum kw_btf_class class)
{
	enum kw_btf_class own = class_of(kind);

	return class == KW_BTF_ANY ? own != KW_BTF_VARIABLE : own == class;
}

/* The order in which a bare name is looked for. */
static unsigned int preference(uint32_t kind)
{
	switch (kind) {
	case BTF_STRUCT: return 0;
	case BTF_UNION: return 1;
	case BTF_TYPEDEF: return 2;
	case BTF_ENUM:
	case BTF_ENUM64: return 3;
	default: return 4;
	}
}

bool kw_btf_find(const struct kw_btf *btf, const char *name, enum kw_btf_class class, uint32_t *ret_id)
{
	size_t len = strlen(name);
	uint32_t hash = hash_name(name, len), found = 0;
	unsigned int best = 5;

	for (uint32_t at = hash & btf->slot_mask; btf->slots[at]; at = (at + 1) & btf->slot_mask) {
		uint32_t id = btf->first_id + slot_own(btf->slots[at]);
		struct kw_btf_record rec;

		if (!slot_may_be(btf->slots[at], hash) || !kw_btf_record_at(btf, id, &rec) ||
		    !kw_btf_string_is(btf, rec.name, name, len))
			continue;
		if (!is_of_class(rec.kind, class))
			continue;
		if (preference(rec.kind) < best) {
			best = preference(rec.kind);
			found = id;
		}
	}
	if (found)
		*ret_id = found;
	return found;
}

bool kw_btf_find_variable(const struct kw_btf *btf, const char *name, uint32_t *ret_type)
{
	struct kw_btf_record rec;
	uint32_t id;

	if (!kw_btf_find(btf, name, KW_BTF_VARIABLE, &id) || !kw_btf_record_at(btf, id, &rec))
		return false;
	*ret_type = rec.size;
	return true;
}

void kw_btf_each_name(const struct kw_btf *btf, enum kw_btf_class class,
		      void (*fn)(const char *name, void *arg), void *arg)
{
	for (uint32_t at = 0; at <= btf->slot_mask; at++) {
		struct kw_btf_record rec;

		if (!btf->slots[at] || !kw_btf_record_at(btf, btf->first_id + slot_own(btf->slots[at]), &rec))
			continue;
		if (is_of_class(rec.kind, class))
			fn(kw_btf_name_at(btf, rec.name), arg);
	}
}

static void offer_name(const char *name, void *arg)
{
	kw_nearest_offer(arg, name);
}

void kw_btf_offer_names(const struct kw_btf *btf, enum kw_btf_class class, struct kw_nearest *nearest)
{
	kw_btf_each_name(btf, class, offer_name, nearest);
}
