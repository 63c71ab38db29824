/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing BTF: see the header. */
#include "type/btf_writer.h"

#include <stdlib.h>
#include <string.h>

#define SECTION_MAX	 (KW_BTF_SIZE_MAX / 4)
#define BITFIELD_OFF_MAX 0xffffffu /* bits: where structures have bitfields, the offset is 24 bits wide */
#define BITFIELD_MAX	 0xffu
#define VLEN_MAX	 0xffffffu

static void put_bytes(struct kw_btf_writer *w, struct kw_btf_bytes *to, const void *bytes, size_t len)
{
	if (w->failed || len > SECTION_MAX - to->nr) {
		w->failed = true;
		return;
	}
	if (to->cap - to->nr < len) {
		size_t cap = to->cap ? to->cap : 65536;
		uint8_t *grown;

		while (cap - to->nr < len)
			cap *= 2;
		grown = realloc(to->item, cap);
		if (!grown) {
			w->failed = true;
			return;
		}
		to->item = grown;
		to->cap = cap;
	}
	memcpy(to->item + to->nr, bytes, len);
	to->nr += len;
}

void kw_btf_put_u32(struct kw_btf_writer *w, uint32_t word)
{
	put_bytes(w, &w->types, &word, sizeof(word));
}

static uint32_t add_string(struct kw_btf_writer *w, const char *name)
{
	size_t at;

	if (!name || !*name)
		return 0;
	if (!w->strings.nr)
		put_bytes(w, &w->strings, "", 1);
	at = w->strings.nr;
	put_bytes(w, &w->strings, name, strlen(name) + 1);
	return (uint32_t)at;
}

void kw_btf_put_name(struct kw_btf_writer *w, const char *name)
{
	kw_btf_put_u32(w, add_string(w, name));
}

void kw_btf_put_record(struct kw_btf_writer *w, enum kw_btf_kind kind, const char *name, uint32_t vlen,
		       bool flag, uint32_t size_or_type)
{
	uint32_t record[3] = { add_string(w, name), vlen | (uint32_t)kind << 24 | (uint32_t)flag << 31,
			       size_or_type };

	put_bytes(w, &w->types, record, sizeof(record));
	w->nr++;
}

static bool fits(const struct kw_btf_part *part, bool has_bitfields)
{
	return part->bit_size <= BITFIELD_MAX &&
	       part->bit_offset <= (has_bitfields ? BITFIELD_OFF_MAX : UINT32_MAX);
}

void kw_btf_put_compound(struct kw_btf_writer *w, bool is_union, const char *name, uint32_t size,
			 const struct kw_btf_part *part, size_t nr)
{
	bool has_bitfields = false;
	size_t fitting = 0;

	for (size_t i = 0; i < nr; i++)
		has_bitfields |= part[i].bit_size != 0;
	for (size_t i = 0; i < nr; i++)
		fitting += fits(&part[i], has_bitfields);
	if (fitting > VLEN_MAX) {
		w->failed = true;
		return;
	}
	kw_btf_put_record(w, is_union ? BTF_UNION : BTF_STRUCT, name, (uint32_t)fitting, has_bitfields, size);
	for (size_t i = 0; i < nr; i++) {
		if (!fits(&part[i], has_bitfields))
			continue;
		kw_btf_put_name(w, part[i].name);
		kw_btf_put_u32(w, part[i].type);
		kw_btf_put_u32(w, (uint32_t)part[i].bit_offset | part[i].bit_size << 24);
	}
}

void kw_btf_put_enum(struct kw_btf_writer *w, const char *name, uint32_t size, bool is_signed,
		     const struct kw_btf_part *part, size_t nr)
{
	if (nr > VLEN_MAX) {
		w->failed = true;
		return;
	}
	kw_btf_put_record(w, BTF_ENUM64, name, (uint32_t)nr, is_signed, size);
	for (size_t i = 0; i < nr; i++) {
		kw_btf_put_name(w, part[i].name);
		kw_btf_put_u32(w, (uint32_t)part[i].value);
		kw_btf_put_u32(w, (uint32_t)(part[i].value >> 32));
	}
}

uint8_t *kw_btf_writer_finish(struct kw_btf_writer *w, size_t *ret_size)
{
	uint32_t header[6] = { KW_BTF_MAGIC | 1 << 16, KW_BTF_HEADER_SIZE };
	size_t size;
	uint8_t *blob;

	if (!w->strings.nr)
		put_bytes(w, &w->strings, "", 1);
	if (w->failed)
		return NULL;
	size = sizeof(header) + w->types.nr + w->strings.nr;
	blob = malloc(size);
	if (!blob)
		return NULL;
	header[3] = (uint32_t)w->types.nr;
	header[4] = (uint32_t)w->types.nr;
	header[5] = (uint32_t)w->strings.nr;
	memcpy(blob, header, sizeof(header));
	if (w->types.nr)
		memcpy(blob + sizeof(header), w->types.item, w->types.nr);
	memcpy(blob + sizeof(header) + w->types.nr, w->strings.item, w->strings.nr);
	*ret_size = size;
	return blob;
}

void kw_btf_writer_deinit(struct kw_btf_writer *w)
{
	free(w->types.item);
	free(w->strings.item);
}
