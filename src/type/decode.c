/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BTF records to types: struct kw_type nodes made on demand and kept, members, enumerators, parameters.
 */
#include "type/btf.h"
#include "type/btf_record.h"
#include "type/types.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

#define POINTER_SIZE 8
#define CHUNK_TYPES  64	   /* nodes allocated at once */
#define SEARCH_STEPS 20000 /* members looked at in one search; the largest structures have some hundreds */

/* Bits of an INT's extra word. */
#define INT_SIGNED 1
#define INT_CHAR   2
#define INT_BOOL   4

struct kw_btf_chunk {
	struct kw_btf_chunk *next;
	size_t used;
	struct kw_type type[CHUNK_TYPES];
};

/*
 * The types made so far, hashed by number. Readers take no lock: a slot goes from NULL to a type once, and a table
 * that has become too small is kept until the blob is freed.
 */
struct kw_btf_nodes {
	struct kw_btf_nodes *smaller;
	uint32_t mask, used;
	_Atomic(const struct kw_type *) slot[];
};

static kw_status no_type(kw_ctx *ctx, uint32_t id)
{
	return kw_fail(ctx, KW_FORMAT, "BTF: refers to a type %u, which it does not have", id);
}

/* The second word of an INT: encoding, where its bits begin, how many they are. */
static void int_bits(const struct kw_btf_record *rec, uint32_t *ret_encoding, uint32_t *ret_offset,
		     uint32_t *ret_bits)
{
	uint32_t word = kw_load_u32(rec->extra);

	*ret_encoding = word >> 24 & 0xf;
	*ret_offset = word >> 16 & 0xff;
	*ret_bits = word & 0xff;
}

static bool is_alias(uint32_t kind)
{
	return kind == BTF_TYPEDEF || kind == BTF_VOLATILE || kind == BTF_CONST || kind == BTF_RESTRICT ||
	       kind == BTF_TYPE_TAG;
}

/* As kw_btf_record_at(), behind typedefs and qualifiers. */
static bool stripped_record_at(const struct kw_btf *btf, uint32_t id, struct kw_btf_record *ret,
			       uint32_t *ret_id)
{
	for (int depth = 0; depth < KW_TYPE_DEPTH; depth++) {
		if (!kw_btf_record_at(btf, id, ret))
			return false;
		if (!is_alias(ret->kind)) {
			*ret_id = id;
			return true;
		}
		id = ret->size;
	}
	return false;
}

uint64_t kw_btf_size(const struct kw_btf *btf, uint32_t id)
{
	uint64_t times = 1, size;
	struct kw_btf_record rec;

	for (int depth = 0; depth < KW_TYPE_DEPTH; depth++) {
		if (!kw_btf_record_at(btf, id, &rec))
			return 0;
		switch (rec.kind) {
		case BTF_INT:
		case BTF_FLOAT:
		case BTF_ENUM:
		case BTF_ENUM64:
		case BTF_STRUCT:
		case BTF_UNION: return __builtin_mul_overflow(times, rec.size, &size) ? 0 : size;
		case BTF_PTR: return __builtin_mul_overflow(times, POINTER_SIZE, &size) ? 0 : size;
		case BTF_ARRAY:
			if (__builtin_mul_overflow(times, kw_load_u32(rec.extra + 8), &times))
				return 0;
			id = kw_load_u32(rec.extra);
			break;
		default:
			if (!is_alias(rec.kind))
				return 0;
			id = rec.size;
		}
	}
	return 0;
}

/* Nodes */

static enum kw_int_encoding encoding_of_int(const struct kw_btf_record *rec, const char *name)
{
	uint32_t encoding, offset, bits;

	int_bits(rec, &encoding, &offset, &bits);
	if (encoding & INT_BOOL)
		return KW_INT_BOOL;
	/* Producers mark "char" as a signed number of one byte. */
	if (encoding & INT_CHAR || (rec->size == 1 && strcmp(name, "char") == 0))
		return KW_INT_CHAR;
	return encoding & INT_SIGNED ? KW_INT_SIGNED : KW_INT_UNSIGNED;
}

/* Before 6.0 no enum has the flag, and then the values are int's. */
static bool enum_is_signed(const struct kw_btf_record *rec)
{
	return rec->flag || (rec->kind == BTF_ENUM && !rec->btf->enums_have_sign &&
			     !(rec->btf->base && rec->btf->base->enums_have_sign));
}

static bool fill_type(const struct kw_btf_record *rec, struct kw_type *type)
{
	type->name = kw_btf_name_at(rec->btf, rec->name);
	switch (rec->kind) {
	case BTF_INT:
		type->kind = KW_TYPE_INT;
		type->size = rec->size;
		type->encoding = encoding_of_int(rec, type->name);
		return true;
	case BTF_FLOAT:
		type->kind = KW_TYPE_FLOAT;
		type->size = rec->size;
		return true;
	case BTF_ENUM:
	case BTF_ENUM64:
		type->kind = KW_TYPE_ENUM;
		type->size = rec->size;
		type->count = rec->vlen;
		type->encoding = enum_is_signed(rec) ? KW_INT_SIGNED : KW_INT_UNSIGNED;
		return true;
	case BTF_STRUCT:
	case BTF_UNION:
		type->kind = rec->kind == BTF_STRUCT ? KW_TYPE_STRUCT : KW_TYPE_UNION;
		type->size = rec->size;
		type->count = rec->vlen;
		return true;
	case BTF_PTR:
		type->kind = KW_TYPE_POINTER;
		type->size = POINTER_SIZE;
		type->target = rec->size;
		return true;
	case BTF_ARRAY:
		type->kind = KW_TYPE_ARRAY;
		type->target = kw_load_u32(rec->extra);
		type->count = kw_load_u32(rec->extra + 8);
		type->size = kw_btf_size(rec->btf, type->id);
		return true;
	case BTF_FWD: type->kind = KW_TYPE_FORWARD; return true;
	case BTF_TYPEDEF:
		type->kind = KW_TYPE_TYPEDEF;
		type->target = rec->size;
		return true;
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
	case BTF_TYPE_TAG:
		type->kind = KW_TYPE_QUALIFIER;
		type->name = rec->kind == BTF_VOLATILE	 ? "volatile"
			     : rec->kind == BTF_CONST	 ? "const"
			     : rec->kind == BTF_RESTRICT ? "restrict"
							 : "";
		type->target = rec->size;
		return true;
	case BTF_FUNC_PROTO:
		type->kind = KW_TYPE_FUNCTION;
		type->target = rec->size;
		type->count = rec->vlen;
		return true;
	default: return false; /* a function, variable, section or tag: nothing that a member can be of */
	}
}

static uint32_t node_hash(uint32_t id)
{
	return id * 0x9e3779b1u >> 8;
}

/* The slot that holds a type, or the free one where it would go. */
static _Atomic(const struct kw_type *) *node_slot(struct kw_btf_nodes *nodes, uint32_t id)
{
	uint32_t at = node_hash(id) & nodes->mask;
	const struct kw_type *type;

	while ((type = atomic_load_explicit(&nodes->slot[at], memory_order_acquire)) && type->id != id)
		at = (at + 1) & nodes->mask;
	return &nodes->slot[at];
}

static const struct kw_type *made_before(const struct kw_btf *btf, uint32_t id)
{
	struct kw_btf_nodes *nodes = atomic_load_explicit(&btf->nodes, memory_order_acquire);

	return nodes ? atomic_load_explicit(node_slot(nodes, id), memory_order_acquire) : NULL;
}

/* Under lock. */
static struct kw_btf_nodes *nodes_with_room(struct kw_btf *btf)
{
	struct kw_btf_nodes *old = atomic_load_explicit(&btf->nodes, memory_order_relaxed), *grown;
	size_t size = old ? ((size_t)old->mask + 1) * 2 : 256;

	if (old && old->used < old->mask / 4 * 3)
		return old;
	grown = calloc(1, sizeof(*grown) + size * sizeof(grown->slot[0]));
	if (!grown)
		return NULL;
	grown->smaller = old;
	grown->mask = (uint32_t)size - 1;
	for (uint32_t i = 0; old && i <= old->mask; i++) {
		const struct kw_type *type = atomic_load_explicit(&old->slot[i], memory_order_relaxed);

		if (type) {
			atomic_store_explicit(node_slot(grown, type->id), type, memory_order_relaxed);
			grown->used++;
		}
	}
	atomic_store_explicit(&btf->nodes, grown, memory_order_release);
	return grown;
}

/* Under lock. */
static struct kw_type *new_node(struct kw_btf *btf)
{
	if (!btf->chunks || btf->chunks->used == CHUNK_TYPES) {
		struct kw_btf_chunk *chunk = malloc(sizeof(*chunk));

		if (!chunk)
			return NULL;
		chunk->next = btf->chunks;
		chunk->used = 0;
		btf->chunks = chunk;
	}
	return &btf->chunks->type[btf->chunks->used++];
}

/* Keep a type, unless another thread was faster: then theirs counts. NULL when memory runs out. */
static const struct kw_type *keep_node(struct kw_btf *btf, const struct kw_type *type)
{
	const struct kw_type *kept;
	struct kw_btf_nodes *nodes;
	struct kw_type *node;

	pthread_mutex_lock(&btf->lock);
	kept = made_before(btf, type->id);
	if (!kept && (nodes = nodes_with_room(btf)) && (node = new_node(btf))) {
		*node = *type;
		atomic_store_explicit(node_slot(nodes, type->id), node, memory_order_release);
		nodes->used++;
		kept = node;
	}
	pthread_mutex_unlock(&btf->lock);
	return kept;
}

void kw_btf_free_nodes(struct kw_btf *btf)
{
	struct kw_btf_nodes *nodes = atomic_load_explicit(&btf->nodes, memory_order_relaxed), *smaller;
	struct kw_btf_chunk *next;

	for (; nodes; nodes = smaller) {
		smaller = nodes->smaller;
		free(nodes);
	}
	for (struct kw_btf_chunk *chunk = btf->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

static const struct kw_type *make_node(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id)
{
	struct kw_type type = { .id = id, .origin = btf };
	const struct kw_type *kept;
	struct kw_btf_record rec;

	if (!kw_btf_record_at(btf, id, &rec)) {
		no_type(ctx, id);
		return NULL;
	}
	if (!fill_type(&rec, &type)) {
		kw_fail(ctx, KW_FORMAT, "BTF: type %u is of kind %u, which nothing can be declared with", id,
			rec.kind);
		return NULL;
	}
	kept = keep_node((struct kw_btf *)btf, &type);
	if (!kept)
		kw_fail_nomem(ctx);
	return kept;
}

const struct kw_type *kw_btf_type(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id)
{
	const struct kw_type *type;

	if (!id)
		return &kw_type_void;
	while (id < btf->first_id)
		btf = btf->base;
	type = made_before(btf, id);
	if (type)
		return type;
	kw_pass_begin(ctx);
	type = make_node(ctx, btf, id);
	kw_pass_end(ctx);
	return type;
}

/* Members, enumerators, parameters */

static kw_status no_part(kw_ctx *ctx, const struct kw_btf_record *rec, const char *what, uint32_t i)
{
	return kw_fail(ctx, KW_INVALID, "%s has no %s number %u", kw_btf_name_at(rec->btf, rec->name), what,
		       i);
}

/* Until 5.0 a bitfield's width was said by its INT, and its offset partly too. */
static void apply_int_bits(const struct kw_btf *btf, struct kw_btf_member *member)
{
	uint32_t encoding, offset, bits, id;
	struct kw_btf_record rec;

	if (!stripped_record_at(btf, member->type, &rec, &id) || rec.kind != BTF_INT)
		return;
	int_bits(&rec, &encoding, &offset, &bits);
	if (!offset && (uint64_t)bits == (uint64_t)rec.size * 8)
		return;
	if (!bits || __builtin_add_overflow(member->bit_offset, offset, &member->bit_offset))
		return;
	member->bit_size = bits;
}

static void get_member(const struct kw_btf_record *rec, uint32_t i, struct kw_btf_member *ret)
{
	const uint8_t *at = rec->extra + (size_t)i * 12;
	uint32_t word = kw_load_u32(at + 8);

	ret->name = kw_btf_name_at(rec->btf, kw_load_u32(at));
	ret->type = kw_load_u32(at + 4);
	ret->bit_offset = rec->flag ? word & 0xffffff : word;
	ret->bit_size = rec->flag ? word >> 24 : 0;
	if (!rec->flag)
		apply_int_bits(rec->btf, ret);
}

kw_status kw_btf_member(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, uint32_t i,
			struct kw_btf_member *ret)
{
	struct kw_btf_record rec;

	if (!kw_btf_record_at(btf, id, &rec))
		return no_type(ctx, id);
	if ((rec.kind != BTF_STRUCT && rec.kind != BTF_UNION) || i >= rec.vlen)
		return no_part(ctx, &rec, "member", i);
	get_member(&rec, i, ret);
	return KW_OK;
}

/* One search for a member by name. */
struct search {
	const char *name;
	size_t len;
	unsigned int
		steps; /* left, over all levels: anonymous members may refer to one another many times over */
	struct kw_btf_found *found;
};

static bool search_members(struct search *search, const struct kw_btf_record *rec, uint32_t id,
			   uint64_t offset, unsigned int depth)
{
	for (uint32_t i = 0; i < rec->vlen && search->steps; i++) {
		const uint8_t *at = rec->extra + (size_t)i * 12;
		uint32_t name = kw_load_u32(at), inner_id;
		struct kw_btf_record inner;
		struct kw_btf_member member;

		search->steps--;
		if (name) {
			if (!kw_btf_string_is(rec->btf, name, search->name, search->len))
				continue;
			get_member(rec, i, &search->found->member);
			search->found->owner = id;
			search->found->bit_offset = offset + search->found->member.bit_offset;
			return true;
		}
		if (!depth || !stripped_record_at(rec->btf, kw_load_u32(at + 4), &inner, &inner_id) ||
		    (inner.kind != BTF_STRUCT && inner.kind != BTF_UNION))
			continue;
		get_member(rec, i, &member);
		if (search_members(search, &inner, inner_id, offset + member.bit_offset, depth - 1))
			return true;
	}
	return false;
}

bool kw_btf_find_member(const struct kw_btf *btf, uint32_t id, const char *name, struct kw_btf_found *ret)
{
	struct search search = { name, strlen(name), SEARCH_STEPS, ret };
	struct kw_btf_record rec;

	return search.len && stripped_record_at(btf, id, &rec, &id) &&
	       (rec.kind == BTF_STRUCT || rec.kind == BTF_UNION) &&
	       search_members(&search, &rec, id, 0, KW_TYPE_NESTING);
}

bool kw_btf_compound(const struct kw_btf *btf, uint32_t id, uint32_t *ret_id, uint32_t *ret_count)
{
	struct kw_btf_record rec;

	if (!stripped_record_at(btf, id, &rec, &id) || (rec.kind != BTF_STRUCT && rec.kind != BTF_UNION))
		return false;
	*ret_id = id;
	*ret_count = rec.vlen;
	return true;
}

kw_status kw_btf_enumerator(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, uint32_t i,
			    const char **ret_name, int64_t *ret_value)
{
	struct kw_btf_record rec;
	const uint8_t *at;

	if (!kw_btf_record_at(btf, id, &rec))
		return no_type(ctx, id);
	if ((rec.kind != BTF_ENUM && rec.kind != BTF_ENUM64) || i >= rec.vlen)
		return no_part(ctx, &rec, "enumerator", i);
	at = rec.extra + (size_t)i * (rec.kind == BTF_ENUM ? 8 : 12);
	*ret_name = kw_btf_name_at(rec.btf, kw_load_u32(at));
	if (rec.kind == BTF_ENUM64)
		*ret_value = (int64_t)((uint64_t)kw_load_u32(at + 8) << 32 | kw_load_u32(at + 4));
	else
		*ret_value = enum_is_signed(&rec) ? (int32_t)kw_load_u32(at + 4)
						  : (int64_t)kw_load_u32(at + 4);
	return KW_OK;
}

kw_status kw_btf_parameter(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, uint32_t i,
			   const char **ret_name, uint32_t *ret_type)
{
	struct kw_btf_record rec;
	const uint8_t *at;

	if (!kw_btf_record_at(btf, id, &rec))
		return no_type(ctx, id);
	if (rec.kind != BTF_FUNC_PROTO || i >= rec.vlen)
		return no_part(ctx, &rec, "parameter", i);
	at = rec.extra + (size_t)i * 8;
	*ret_name = kw_btf_name_at(rec.btf, kw_load_u32(at));
	*ret_type = kw_load_u32(at + 4);
	return KW_OK;
}

bool kw_btf_forward_is_union(const struct kw_btf *btf, uint32_t id)
{
	struct kw_btf_record rec;

	return kw_btf_record_at(btf, id, &rec) && rec.kind == BTF_FWD && rec.flag;
}
