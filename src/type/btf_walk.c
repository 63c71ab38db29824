/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk over all records of a BTF blob: each is checked, every 16th is marked, and names are gathered.
 *
 * A record's place is only known from the one before, so that a walk waits for memory and for arithmetic at each of the
 * hundred thousand records. Four walks that take turns don't wait for each other. They begin at four places in the
 * section, of which three are guessed: hardly anything but the head of a record has a kind at its second word. A guess
 * is right when the walk before it ends there, and then all records have been seen as one walk sees them; when one is
 * wrong, or anything in the section is, one walk sees to it, and tells what is wrong.
 */
#include "type/btf_record.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

#define WALK_AHEAD 2048
#define PART_MIN   1024	   /* bytes of a part; with less there is nothing to gain */
#define GUESS_FAR  0x10000 /* bytes in which a record must begin: the biggest has 20 KiB */
#define GUESS_SURE 6	   /* records in sequence that must make sense */

/* A walk over one part. */
struct walk {
	const struct kw_btf *btf;
	uint32_t pos, end; /* begins before the end, and should end there */
	uint32_t nr;
	uint32_t *marks;
	struct kw_btf_named *names; /* numbered from the first record of the part */
	size_t nr_names;
	bool enums_have_sign;
};

static bool name_is_beyond(const struct kw_btf *btf, uint32_t name)
{
	return name >= btf->first_string + btf->strings_len;
}

/*
 * Take one record; false when there is something wrong with it. Which kind comes next can't be predicted: a name is
 * written down in any case, and counted when it is one to look up.
 */
static inline __attribute__((always_inline)) bool step(struct walk *walk)
{
	const struct kw_btf *btf = walk->btf;
	uint32_t pos = walk->pos, size = kw_btf_checked_size(btf, pos), info, name, kind;
	bool is_named;

	/* The processor can't look ahead by itself. */
	__builtin_prefetch(btf->types + pos + WALK_AHEAD);
	if (!size)
		return false;
	name = kw_load_u32(btf->types + pos);
	info = kw_load_u32(btf->types + pos + 4);
	kind = kw_btf_info_kind(info);
	is_named = kw_btf_is_named(kind) & (name != 0);
	walk->pos = pos + size;
	if (walk->nr % KW_BTF_MARK_EVERY == 0)
		walk->marks[walk->nr / KW_BTF_MARK_EVERY] = pos;
	walk->names[walk->nr_names] = (struct kw_btf_named){ walk->nr, name };
	walk->nr_names += is_named;
	walk->enums_have_sign |= (kind == BTF_ENUM) & (info >> 31);
	walk->nr++;
	return !(is_named & name_is_beyond(btf, name));
}

/* One walk */

static kw_status bad_record(kw_ctx *ctx, const struct walk *walk)
{
	const struct kw_btf *btf = walk->btf;
	uint32_t id = btf->first_id + walk->nr, room = btf->types_len - walk->pos, info;

	if (room < KW_BTF_RECORD_SIZE)
		return kw_fail(ctx, KW_FORMAT, "BTF: type %u is cut short", id);
	info = kw_load_u32(btf->types + walk->pos + 4);
	if (!kw_btf_record_size(btf, info))
		return kw_fail(ctx, KW_FORMAT, "BTF: type %u has kind %u, unknown to this version", id,
			       kw_btf_info_kind(info));
	return kw_fail(ctx, KW_FORMAT, "BTF: type %u is cut short", id);
}

static kw_status walk_alone(kw_ctx *ctx, struct walk *walk)
{
	while (walk->pos < walk->end) {
		uint32_t pos = walk->pos;

		if (step(walk))
			continue;
		if (walk->pos == pos)
			return bad_record(ctx, walk);
		return kw_fail(ctx, KW_FORMAT, "BTF: type %u has its name at %u, beyond the strings",
			       walk->btf->first_id + walk->nr - 1, kw_load_u32(walk->btf->types + pos));
	}
	return KW_OK;
}

/* Walks that take turns */

/* True when a record with a name that begins where a string does, or with none, may stand at pos. */
static bool may_be_record(const struct kw_btf *btf, uint32_t pos)
{
	uint32_t name = kw_load_u32(btf->types + pos),
		 kind = kw_btf_info_kind(kw_load_u32(btf->types + pos + 4));
	size_t room;

	return kind != BTF_VOID && kind < BTF_NR_KINDS && !name_is_beyond(btf, name) &&
	       (!name || !*kw_btf_string_at(btf, name - 1, &room));
}

static bool may_begin(const struct kw_btf *btf, uint32_t pos)
{
	for (size_t i = 0; i < GUESS_SURE; i++) {
		uint32_t size = pos < btf->types_len ? kw_btf_checked_size(btf, pos) : 0;

		if (!size || !may_be_record(btf, pos))
			return false;
		pos += size;
	}
	return true;
}

/* Guess where a record begins near a place; 0 when there is none. */
static uint32_t guess_begin(const struct kw_btf *btf, uint32_t near)
{
	near &= ~3u;
	for (uint32_t pos = near; pos < near + GUESS_FAR; pos += 4)
		if (may_begin(btf, pos))
			return pos;
	return 0;
}

static bool guess_parts(const struct kw_btf *btf, uint32_t starts[KW_BTF_PARTS])
{
	if (btf->types_len < KW_BTF_PARTS * PART_MIN)
		return false;
	starts[0] = 0;
	for (uint32_t i = 1; i < KW_BTF_PARTS; i++) {
		starts[i] = guess_begin(btf, btf->types_len / KW_BTF_PARTS * i);
		if (starts[i] <= starts[i - 1])
			return false;
	}
	return true;
}

static bool take_turns(struct walk walks[KW_BTF_PARTS])
{
	bool good = true, all = true;

	while (good && all) {
		for (size_t i = 0; i < KW_BTF_PARTS; i++) {
			good &= step(&walks[i]);
			all &= walks[i].pos < walks[i].end;
		}
	}
	for (size_t i = 0; i < KW_BTF_PARTS; i++) {
		while (good && walks[i].pos < walks[i].end)
			good = step(&walks[i]);
		good = good && walks[i].pos == walks[i].end;
	}
	return good;
}

/* Putting together */

/* What a walk that begins at a place writes lies behind what all before it can write. */
static struct walk begin(const struct kw_btf *btf, uint32_t part, uint32_t pos, uint32_t end)
{
	return (struct walk){
		.btf = btf,
		.pos = pos,
		.end = end,
		.marks = btf->marks + pos / KW_BTF_RECORD_SIZE / KW_BTF_MARK_EVERY + part,
		.names = btf->index.item + pos / KW_BTF_RECORD_SIZE + part,
	};
}

/* Add what a walk has found, which follows what was found so far. */
static void join(struct kw_btf *btf, uint32_t part, const struct walk *walk)
{
	struct kw_btf_named *to = btf->index.item + btf->index.nr;

	btf->parts[part] = (struct kw_btf_span){ btf->nr, walk->marks };
	for (size_t i = 0; i < walk->nr_names; i++)
		to[i] = (struct kw_btf_named){ btf->nr + walk->names[i].own, walk->names[i].name };
	btf->index.nr += walk->nr_names;
	btf->nr += walk->nr;
	btf->enums_have_sign |= walk->enums_have_sign;
	for (uint32_t i = part + 1; i <= KW_BTF_PARTS; i++)
		btf->parts[i].first = btf->nr;
}

static bool walk_parts(struct kw_btf *btf)
{
	uint32_t starts[KW_BTF_PARTS];
	struct walk walks[KW_BTF_PARTS];

	if (!guess_parts(btf, starts))
		return false;
	for (uint32_t i = 0; i < KW_BTF_PARTS; i++)
		walks[i] = begin(btf, i, starts[i], i + 1 < KW_BTF_PARTS ? starts[i + 1] : btf->types_len);
	if (!take_turns(walks))
		return false;
	for (uint32_t i = 0; i < KW_BTF_PARTS; i++)
		join(btf, i, &walks[i]);
	return true;
}

/* Memory that is not written to costs nothing: there is room for records that are all as short as can be. */
static bool make_room(struct kw_btf *btf)
{
	size_t most = btf->types_len / KW_BTF_RECORD_SIZE + KW_BTF_PARTS;

	btf->marks = malloc((most / KW_BTF_MARK_EVERY + KW_BTF_PARTS) * sizeof(*btf->marks));
	btf->index.item = malloc(most * sizeof(*btf->index.item));
	return btf->marks && btf->index.item;
}

kw_status kw_btf_walk(kw_ctx *ctx, struct kw_btf *btf)
{
	struct walk walk;
	kw_status status;

	if (!make_room(btf))
		return kw_fail_nomem(ctx);
	if (!walk_parts(btf)) {
		walk = begin(btf, 0, 0, btf->types_len);
		status = walk_alone(ctx, &walk);
		if (status)
			return status;
		join(btf, 0, &walk);
	}
	if (btf->nr > KW_BTF_NR_MAX - btf->first_id)
		return kw_fail(ctx, KW_FORMAT, "BTF: more than %u types", KW_BTF_NR_MAX);
	return KW_OK;
}
