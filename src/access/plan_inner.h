/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of a plan share: how a value is loaded from the bytes of an object. */
#ifndef ACCESS_PLAN_INNER_H
#define ACCESS_PLAN_INNER_H

#include <string.h>

#include "access/plan.h"
#include "util/bytes.h"

#define CACHE_LINE 64

/* What is done for a load: its kind and size in one, so that one jump decides. */
enum op {
	OP_U64,
	OP_U32,
	OP_S32,
	OP_U16,
	OP_U8,
	OP_SIGNED,
	OP_BOOL,
	OP_BITS,
	OP_SIGNED_BITS,
	OP_CHARS16,
	OP_TEXT,
	OP_IN_PLACE,
	OP_STRING
};

static inline bool is_root(const struct kw_plan *plan, uint32_t node)
{
	return plan->nodes.item[node].parent == node;
}

/** Fetch the object of node i of a row, which has an address, where it isn't at hand. */
void kw_plan_fetch_object(kw_ctx *ctx, struct kw_plan *plan, uint32_t i, size_t row);

/** Make room for the objects of so many rows, in place of what was there. False, and nothing done, without memory. */
bool kw_plan_make_rows(struct kw_plan *plan, size_t rows);

static inline uint64_t load_unsigned(const uint8_t *from, uint32_t size)
{
	switch (size) {
	case 8: return kw_load_u64(from);
	case 4: return kw_load_u32(from);
	case 2: return kw_load_u16(from);
	default: return *from;
	}
}

/** As find_object() of a node whose parent could not be had wholly: the pointer to its object may be there. */
bool kw_plan_find_by_rest(kw_ctx *ctx, const struct kw_plan *plan, uint32_t i, struct kw_plan_object *row);

/** Load what is there of an object that could not be had wholly, in the row that was run or taken last. */
void kw_plan_load_rest(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_plan_load *load,
		       const struct kw_plan_load *end, struct kw_value *values);

/** Load the string at an address, or why there is none. */
void kw_plan_load_string(kw_ctx *ctx, const struct kw_plan_load *load, uint64_t addr, struct kw_value *value);

/* Find where the object of node i lies in a row; false, with a reason, when there is none. */
static inline bool find_object(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_plan_node *n,
			       uint32_t i, uint64_t root, struct kw_plan_object *row)
{
	const struct kw_plan_object *parent = &row[n->parent];
	struct kw_plan_object *object = &row[i];

	object->data = NULL;
	object->status = KW_OK;
	if (n->parent == i) {
		object->address = root;
		object->reason = 0;
		return true;
	}
	if (parent->data) {
		object->address = load_unsigned(parent->data + n->hop, 8);
		object->reason = (uint8_t)n->null_reason;
		return object->address != 0;
	}
	if (__builtin_expect(parent->status, 0))
		return kw_plan_find_by_rest(ctx, plan, i, row);
	object->address = 0;
	object->reason = parent->reason;
	return false;
}

static inline int64_t sign_extend(uint64_t value, unsigned int bits)
{
	return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static inline uint64_t bits_of(const struct kw_plan_load *load, const uint8_t *from)
{
	uint64_t value = load_unsigned(from, load->size) >> load->shift;

	return load->bits >= 64 ? value : value & ((1ULL << load->bits) - 1);
}

/* A bit is set in the lowest zero byte: it is found by borrowing from it. */
static inline uint64_t zero_byte(uint64_t bytes)
{
	return (bytes - 0x0101010101010101ULL) & ~bytes & 0x8080808080808080ULL;
}

/* The length of a string in 16 bytes. */
static inline uint32_t length16(uint64_t first, uint64_t second)
{
	uint64_t zero = zero_byte(first);

	if (__builtin_expect(zero != 0, 1))
		return (uint32_t)__builtin_ctzll(zero) / 8;
	zero = zero_byte(second);
	return zero ? 8 + (uint32_t)__builtin_ctzll(zero) / 8 : 16;
}

/* The two halves of a value, each with one store: all but the number are the same in every row. */
static inline void set_value(const struct kw_plan_load *load, struct kw_value *value, uint64_t number)
{
	memcpy(value, &load->head, sizeof(load->head));
	value->u = number;
}

/* Copying first keeps length and text consistent when the memory changes under us. */
static inline void load_text(const struct kw_plan_load *load, const uint8_t *from, char *text,
			     struct kw_value *value)
{
	memcpy(text, from, load->size);
	set_value(load, value, (uint64_t)(uintptr_t)text);
	value->len = load->load == KW_LOAD_CHARS ? (uint32_t)strnlen(text, load->size) : load->size;
}

/* Copy a string in 16 bytes; returns its length. */
static inline uint32_t copy_chars16(const uint8_t *from, char *text)
{
	uint64_t first = load_unsigned(from, 8), second = load_unsigned(from + 8, 8);

	memcpy(text, &first, sizeof(first));
	memcpy(text + 8, &second, sizeof(second));
	return length16(first, second);
}

static inline void load_chars16(const struct kw_plan_load *load, const uint8_t *from, char *text,
				struct kw_value *value)
{
	set_value(load, value, (uint64_t)(uintptr_t)text);
	value->len = copy_chars16(from, text);
}

/* A value whose bytes are all in the object; those of a string are copied to `text`. One jump decides what is done. */
static inline void load_fixed(const struct kw_plan_load *load, const uint8_t *from, char *text,
			      struct kw_value *value)
{
	switch ((enum op)load->op) {
	case OP_U64: set_value(load, value, load_unsigned(from, 8)); return;
	case OP_U32: set_value(load, value, load_unsigned(from, 4)); return;
	case OP_S32: set_value(load, value, (uint64_t)(int32_t)kw_load_u32(from)); return;
	case OP_U16: set_value(load, value, load_unsigned(from, 2)); return;
	case OP_U8: set_value(load, value, *from); return;
	case OP_SIGNED:
		set_value(load, value,
			  (uint64_t)sign_extend(load_unsigned(from, load->size), load->size * 8));
		return;
	case OP_BOOL: set_value(load, value, *from != 0); return;
	case OP_BITS: set_value(load, value, bits_of(load, from)); return;
	case OP_SIGNED_BITS:
		set_value(load, value, (uint64_t)sign_extend(bits_of(load, from), load->bits));
		return;
	case OP_IN_PLACE:
		set_value(load, value, (uint64_t)(uintptr_t)from);
		value->len = load->size;
		return;
	case OP_CHARS16: load_chars16(load, from, text, value); return;
	default: load_text(load, from, text, value);
	}
}

static inline void set_absent(struct kw_value *value, enum kw_absent reason)
{
	*value = (struct kw_value){ .type = KW_VAL_ABSENT, .absent = (uint8_t)reason };
}

/* A value of a load, from its bytes in the object; those of a string may be elsewhere. */
static inline void run_load(kw_ctx *ctx, const struct kw_plan_load *load, const uint8_t *from,
			    struct kw_value *value)
{
	if (__builtin_expect(load->op != OP_STRING, 1)) {
		load_fixed(load, from, load->text, value);
		return;
	}
	set_value(load, value, 0);
	kw_plan_load_string(ctx, load, load_unsigned(from, 8), value);
}

#endif
