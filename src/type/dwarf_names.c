/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * .debug_names: see the header. One index of each unit, or of all, follows the other:
 *
 *     length; version:16 = 5; padding:16; seven numbers of 32 bits (struct header); augmentation
 *     offsets of units, of type units; signatures of type units elsewhere
 *     buckets: numbers of names, from 1; 0 is an empty one
 *     hashes of names, those of a bucket behind one another
 *     offsets of names in .debug_str
 *     offsets of lists of entries
 *     abbreviations: code, tag, (attribute, form)... 0 0; at the end 0
 *     lists of entries: code, values as the abbreviation says; at the end 0
 *
 * Offsets have 4 bytes, or 8 in 64-bit DWARF; small numbers are LEB128. Every read is checked to lie in the index it belongs to.
 */
#include "type/dwarf_names.h"

#include <ctype.h>
#include <dwarf.h>
#include <string.h>

#define TAKES_MAX 4096	     /* entries offered of a name; a structure of the kernel is in 2,000 units */
#define STEPS_MAX (1u << 20) /* abbreviations looked at for them; an index has some 20 */

/* What values of entries are. */
enum attribute { IDX_COMPILE_UNIT = 1, IDX_TYPE_UNIT = 2, IDX_DIE_OFFSET = 3 };

/* A place in a range of bytes; `failed` once something did not lie in it. */
struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

struct header {
	uint32_t units, type_units, foreign_units, buckets, names, abbreviations, augmentation;
};

/* An index: its tables, which are known to lie in it. */
struct index {
	struct header header;
	size_t offset_size;
	const uint8_t *units, *buckets, *hashes, *strings, *entries, *abbreviations, *pool, *end;
};

struct search {
	const struct kw_section *strings;
	const char *name;
	size_t len; /* with its NUL */
	uint32_t hash;
	kw_dwarf_names_take *take;
	void *arg;
	unsigned int takes, steps; /* left */
};

/* Reading */

static const uint8_t *skip(struct cursor *c, uint64_t len)
{
	const uint8_t *at = c->at;

	if (c->failed || len > (uint64_t)(c->end - c->at)) {
		c->failed = true;
		return NULL;
	}
	c->at += len;
	return at;
}

static uint64_t load(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

static uint64_t take(struct cursor *c, size_t size)
{
	const uint8_t *at = skip(c, size);

	return at ? load(at, size) : 0;
}

static uint64_t take_leb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = (uint8_t)take(c, 1);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = true;
	return 0;
}

/* Take the next index, and move on behind it; false when there is none that makes sense. */
static bool take_index(struct cursor *c, struct index *ret)
{
	struct index index = { .offset_size = 4 };
	struct header *h = &index.header;
	uint64_t len = take(c, 4), size;
	struct cursor in;

	if (len == UINT32_MAX) {
		index.offset_size = 8;
		len = take(c, 8);
	}
	in = (struct cursor){ .at = skip(c, len) };
	if (!in.at || len < 4 + sizeof(*h))
		return false;
	index.end = in.end = in.at + len;
	size = index.offset_size;
	if (take(&in, 2) != 5 || !skip(&in, 2))
		return false;
	memcpy(h, skip(&in, sizeof(*h)), sizeof(*h));
	skip(&in, (h->augmentation + 3ull) / 4 * 4);
	index.units = skip(&in, ((uint64_t)h->units + h->type_units) * size);
	skip(&in, h->foreign_units * 8ull);
	index.buckets = skip(&in, h->buckets * 4ull);
	index.hashes = skip(&in, h->buckets ? h->names * 4ull : 0);
	index.strings = skip(&in, h->names * size);
	index.entries = skip(&in, h->names * size);
	index.abbreviations = skip(&in, h->abbreviations);
	index.pool = in.at;
	*ret = index;
	return !in.failed;
}

/* Entries */

/* Find an abbreviation: *c is left at its attributes. */
static bool find_abbreviation(struct search *s, const struct index *index, uint64_t code, struct cursor *c)
{
	*c = (struct cursor){ .at = index->abbreviations,
			      .end = index->abbreviations + index->header.abbreviations };
	while (!c->failed && s->steps) {
		uint64_t own = take_leb(c), attribute;

		if (!own)
			return false;
		take_leb(c); /* the tag: the entry's own is what counts */
		if (own == code)
			return !c->failed;
		do {
			attribute = take_leb(c);
			s->steps -= s->steps > 0;
		} while ((take_leb(c) || attribute) && !c->failed);
	}
	return false;
}

static uint64_t take_form(struct cursor *c, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present: return 1;
	case DW_FORM_flag:
	case DW_FORM_data1:
	case DW_FORM_ref1: return take(c, 1);
	case DW_FORM_data2:
	case DW_FORM_ref2: return take(c, 2);
	case DW_FORM_data4:
	case DW_FORM_ref4: return take(c, 4);
	case DW_FORM_data8:
	case DW_FORM_ref8: return take(c, 8);
	case DW_FORM_udata:
	case DW_FORM_ref_udata: return take_leb(c);
	default: c->failed = true; return 0;
	}
}

/* What an entry says of where it lies: which unit of the table, and how far behind its beginning. */
struct where {
	uint64_t unit, distance;
	bool known;
};

static void note_value(const struct index *index, uint64_t attribute, uint64_t value, struct where *where)
{
	switch (attribute) {
	case IDX_COMPILE_UNIT: where->unit = value; break;
	case IDX_TYPE_UNIT:
		where->unit = value < UINT32_MAX ? index->header.units + value : UINT64_MAX;
		break;
	case IDX_DIE_OFFSET:
		where->distance = value;
		where->known = true;
		break;
	default: break;
	}
}

/* Take an entry from a list; false at its end. */
static bool take_entry(struct search *s, const struct index *index, struct cursor *c, struct where *ret)
{
	uint64_t code = take_leb(c), attribute, form;
	struct cursor abbreviation;

	*ret = (struct where){ 0 };
	if (!code || c->failed || !find_abbreviation(s, index, code, &abbreviation))
		return false;
	do {
		attribute = take_leb(&abbreviation);
		form = take_leb(&abbreviation);
		if (attribute || form)
			note_value(index, attribute, take_form(c, form), ret);
	} while ((attribute || form) && !c->failed && !abbreviation.failed);
	return !c->failed && !abbreviation.failed;
}

/* The place in .debug_info: type units come behind the others in the table. */
static bool offset_of(const struct index *index, const struct where *where, uint64_t *ret)
{
	if (!where->known || where->unit >= (uint64_t)index->header.units + index->header.type_units)
		return false;
	return !__builtin_add_overflow(load(index->units + where->unit * index->offset_size,
					    index->offset_size),
				       where->distance, ret);
}

static bool search_list(const struct index *index, struct search *s, uint64_t at)
{
	struct cursor c = { .at = index->pool, .end = index->end };
	struct where where;
	uint64_t offset;

	skip(&c, at);
	while (s->takes && take_entry(s, index, &c, &where)) {
		s->takes--;
		if (offset_of(index, &where, &offset) && s->take(offset, s->arg))
			return true;
	}
	return false;
}

/* Names */

static bool is_name(const struct search *s, uint64_t at)
{
	return at < s->strings->size && s->strings->size - at >= s->len &&
	       !memcmp(s->strings->data + at, s->name, s->len);
}

static bool search_index(const struct index *index, struct search *s)
{
	uint32_t buckets = index->header.buckets, bucket;
	size_t size = index->offset_size;

	if (!buckets)
		return false;
	bucket = s->hash % buckets;
	for (uint64_t i = load(index->buckets + bucket * 4ull, 4); i && i <= index->header.names; i++) {
		uint32_t hash = (uint32_t)load(index->hashes + (i - 1) * 4, 4);

		if (hash % buckets != bucket)
			break;
		if (hash == s->hash && is_name(s, load(index->strings + (i - 1) * size, size)) &&
		    search_list(index, s, load(index->entries + (i - 1) * size, size)))
			return true;
	}
	return false;
}

/* Of a name in lower case. */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)tolower((unsigned char)*name);
	return hash;
}

bool kw_dwarf_names_find(const struct kw_section *names, const struct kw_section *strings, const char *name,
			 kw_dwarf_names_take *take, void *arg)
{
	struct search search = { .strings = strings,
				 .name = name,
				 .len = strlen(name) + 1,
				 .hash = hash_name(name),
				 .take = take,
				 .arg = arg,
				 .takes = TAKES_MAX,
				 .steps = STEPS_MAX };
	struct cursor c = { .at = names->data, .end = names->data + names->size };
	struct index index;

	while (c.at < c.end && take_index(&c, &index))
		if (search_index(&index, &search))
			return true;
	return false;
}
