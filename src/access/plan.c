/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merging paths into plans, and running them: the inner loop of every query. */
#include "access/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory/view.h"
#include "util/array.h"
#include "util/error.h"

#define CACHE_LINE    64
#define MAX_FLAT_TEXT 1024 /* bytes of strings in a row of a flat plan */

void kw_plan_deinit(struct kw_plan *plan)
{
	free(plan->nodes.item);
	free(plan->loads.item);
	free(plan->text);
	free(plan->scratch);
	free(plan->objects);
	free(plan->ranges);
	free(plan->pointers);
	free(plan->line);
	*plan = (struct kw_plan){ 0 };
}

static bool is_root(const struct kw_plan *plan, uint32_t node)
{
	return plan->nodes.item[node].parent == node;
}

/* True when the span of a node can take lo..hi without growing too long. */
static bool fits(const struct kw_plan_node *node, uint64_t lo, uint64_t hi)
{
	uint64_t first = node->lo < lo ? node->lo : lo, last = node->hi > hi ? node->hi : hi;

	return last - first <= KW_PLAN_MAX_SPAN;
}

static void widen(struct kw_plan_node *node, uint64_t lo, uint64_t hi)
{
	if (lo < node->lo)
		node->lo = lo;
	if (hi > node->hi)
		node->hi = hi;
}

/* Find or make the node of an object that can hold lo..hi; parent UINT32_MAX stands for the row's own object. */
static kw_status take_node(kw_ctx *ctx, struct kw_plan *plan, uint32_t parent, uint64_t hop,
			   enum kw_absent reason, uint64_t lo, uint64_t hi, uint32_t *ret)
{
	bool root = parent == UINT32_MAX;
	struct kw_plan_node node = { .hop = hop, .null_reason = reason, .lo = lo, .hi = hi };

	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		struct kw_plan_node *n = &plan->nodes.item[i];

		if (root ? !is_root(plan, i) : is_root(plan, i) || n->parent != parent || n->hop != hop)
			continue;
		if (!fits(n, lo, hi))
			continue;
		widen(n, lo, hi);
		*ret = i;
		return KW_OK;
	}
	node.parent = root ? (uint32_t)plan->nodes.nr : parent;
	if (!kw_array_push(&plan->nodes, node))
		return kw_fail_nomem(ctx);
	*ret = (uint32_t)plan->nodes.nr - 1;
	return KW_OK;
}

static struct kw_plan_load load_of(kw_ctx *ctx, const struct kw_path *path, uint32_t node, uint32_t slot)
{
	return (struct kw_plan_load){
		.node = node,
		.slot = slot,
		.size = (uint32_t)path->size,
		.load = (uint8_t)path->load,
		.type = (uint8_t)kw_path_value_type(ctx, path),
		.shift = path->shift,
		.bits = path->bits,
		.offset = path->offset,
	};
}

kw_status kw_plan_add(kw_ctx *ctx, struct kw_plan *plan, const struct kw_path *path, uint32_t slot)
{
	uint32_t node = UINT32_MAX;
	enum kw_absent reason = KW_ABSENT_NULL;
	uint64_t hop = 0;
	struct kw_plan_load load;

	if (path->load == KW_LOAD_OBJECT || path->size > KW_PLAN_MAX_SPAN)
		return kw_fail(ctx, KW_INVALID,
			       "is a structure or an array, not a value: name a member of it");
	for (uint32_t i = 0; i <= path->nr_hops; i++) {
		uint64_t lo = i < path->nr_hops ? path->hop[i] : path->offset;
		uint64_t hi = lo + (i < path->nr_hops ? 8 : path->size);
		kw_status status = take_node(ctx, plan, node, hop, reason, lo, hi, &node);

		if (status)
			return status;
		if (i < path->nr_hops) {
			hop = path->hop[i];
			reason = path->null_reason[i];
		}
	}
	load = load_of(ctx, path, node, slot);
	return kw_array_push(&plan->loads, load) ? KW_OK : kw_fail_nomem(ctx);
}

bool kw_plan_has(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_path *path, uint32_t *ret_slot)
{
	struct kw_plan_load wanted = load_of(ctx, path, 0, 0);

	for (size_t i = 0; !path->nr_hops && i < plan->loads.nr; i++) {
		const struct kw_plan_load *l = &plan->loads.item[i];

		if (is_root(plan, l->node) && l->offset == wanted.offset && l->size == wanted.size &&
		    l->load == wanted.load && l->type == wanted.type && l->shift == wanted.shift &&
		    l->bits == wanted.bits) {
			*ret_slot = l->slot;
			return true;
		}
	}
	return false;
}

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
	OP_STRING
};

static enum op find_op(const struct kw_plan_load *load)
{
	switch (load->load) {
	case KW_LOAD_UNSIGNED:
	case KW_LOAD_ADDRESS:
		return load->size == 8 ? OP_U64 : load->size == 4 ? OP_U32 : load->size == 2 ? OP_U16 : OP_U8;
	case KW_LOAD_SIGNED: return load->size == 8 ? OP_U64 : load->size == 4 ? OP_S32 : OP_SIGNED;
	case KW_LOAD_BOOL: return OP_BOOL;
	case KW_LOAD_BITS: return OP_BITS;
	case KW_LOAD_SIGNED_BITS: return OP_SIGNED_BITS;
	case KW_LOAD_CHARS: return load->size == 16 ? OP_CHARS16 : OP_TEXT;
	case KW_LOAD_STRING: return OP_STRING;
	default: return OP_TEXT;
	}
}

static size_t text_size(const struct kw_plan_load *load)
{
	switch (load->load) {
	case KW_LOAD_CHARS:
	case KW_LOAD_BYTES: return load->size;
	case KW_LOAD_STRING: return KW_PATH_MAX_STRING;
	default: return 0;
	}
}

static void add_line(struct kw_plan *plan, uint32_t node, uint64_t offset)
{
	for (size_t k = 0; k < plan->nr_lines; k++)
		if (plan->line[k].node == node && plan->line[k].offset / CACHE_LINE == offset / CACHE_LINE)
			return;
	plan->line[plan->nr_lines++] = (struct kw_plan_line){ node, (uint32_t)offset };
}

/* Note which cache lines of a node's object will be looked at. */
static void add_lines_of(struct kw_plan *plan, uint32_t node)
{
	for (size_t i = 0; i < plan->loads.nr; i++)
		if (plan->loads.item[i].node == node)
			add_line(plan, node, plan->loads.item[i].offset);
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if (!is_root(plan, i) && plan->nodes.item[i].parent == node)
			add_line(plan, node, plan->nodes.item[i].hop);
}

/* Those of the row's object and of its children. */
static kw_status find_lines(kw_ctx *ctx, struct kw_plan *plan)
{
	plan->line = calloc(plan->loads.nr + plan->nodes.nr + 1, sizeof(*plan->line));
	if (!plan->line)
		return kw_fail_nomem(ctx);
	if (plan->nodes.nr)
		add_lines_of(plan, 0);
	plan->nr_root_lines = plan->nr_lines;
	for (uint32_t i = 1; i < plan->nodes.nr; i++)
		if (plan->nodes.item[i].parent == 0)
			add_lines_of(plan, i);
	return KW_OK;
}

/* Make room for the objects of so many rows, in place of what was there. False, and nothing done, without memory. */
static bool make_rows(struct kw_plan *plan, size_t rows)
{
	size_t nr = rows * (plan->nodes.nr ? plan->nodes.nr : 1), size = rows * plan->row_size;
	uint8_t *scratch = malloc(size ? size : 1);
	struct kw_plan_object *objects = calloc(nr, sizeof(*objects));

	if (!scratch || !objects) {
		free(scratch);
		free(objects);
		return false;
	}
	free(plan->scratch);
	free(plan->objects);
	plan->scratch = scratch;
	plan->row = plan->objects = objects;
	plan->rows = rows;
	return true;
}

/* A pointer of a child may lie in a node whose span grew after the child was made: only offsets are kept till here. */
static void settle_nodes(struct kw_plan *plan)
{
	for (size_t i = 0; i < plan->nodes.nr; i++) {
		struct kw_plan_node *n = &plan->nodes.item[i];

		n->scratch = plan->row_size;
		plan->row_size += (n->hi - n->lo + 15) & ~15ULL;
		if (!is_root(plan, (uint32_t)i))
			n->hop -= plan->nodes.item[n->parent].lo;
	}
}

/* By node, by how they are loaded, by place; equal ones by slot, so that the order is always the same. */
static int compare_loads(const void *a, const void *b)
{
	const struct kw_plan_load *one = a, *other = b;

	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	if (one->op != other->op)
		return one->op < other->op ? -1 : 1;
	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	return one->slot < other->slot ? -1 : 1;
}

/* What lies in one object is loaded together, and of that what is loaded alike. */
static void sort_loads(struct kw_plan *plan)
{
	size_t i = 0;

	for (size_t k = 0; k < plan->loads.nr; k++)
		plan->loads.item[k].op = (uint8_t)find_op(&plan->loads.item[k]);

	if (plan->loads.nr)
		qsort(plan->loads.item, plan->loads.nr, sizeof(*plan->loads.item), compare_loads);
	for (uint32_t k = 0; k < plan->nodes.nr; k++) {
		while (i < plan->loads.nr && plan->loads.item[i].node == k)
			i++;
		plan->nodes.item[k].end_load = i;
	}
}

/* One object, and few bytes of strings, none behind a pointer. */
static bool is_flat(const struct kw_plan *plan)
{
	bool flat = plan->nodes.nr == 1 && plan->text_size <= MAX_FLAT_TEXT;

	for (size_t i = 0; i < plan->loads.nr; i++)
		flat &= plan->loads.item[i].op != OP_STRING;
	return flat;
}

static bool settle_loads(struct kw_plan *plan)
{
	size_t at = 0;

	for (size_t i = 0; i < plan->loads.nr; i++)
		plan->text_size += (text_size(&plan->loads.item[i]) + 15) & ~15ULL;
	plan->flat = is_flat(plan);
	plan->text = malloc((plan->flat ? KW_PLAN_ROWS : 1) * plan->text_size + 1);
	for (size_t i = 0; plan->text && i < plan->loads.nr; i++) {
		struct kw_plan_load *l = &plan->loads.item[i];

		l->text = (char *)plan->text + at;
		at += (text_size(l) + 15) & ~15ULL;
		l->offset -= plan->nodes.item[l->node].lo;
		memcpy(&l->head, &(struct kw_value){ .type = l->type }, sizeof(l->head));
	}
	return plan->text != NULL;
}

kw_status kw_plan_finish(kw_ctx *ctx, struct kw_plan *plan)
{
	plan->doubts_zeros = kw_memory_kind(ctx->target->memory) == KW_SOURCE_LIVE;
	settle_nodes(plan);
	sort_loads(plan);
	if (!settle_loads(plan) || !make_rows(plan, 1))
		return kw_fail_nomem(ctx);
	plan->finished = true;
	return find_lines(ctx, plan);
}

static uint64_t load_unsigned(const uint8_t *from, uint32_t size)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case 8: memcpy(&u64, from, 8); return u64;
	case 4: memcpy(&u32, from, 4); return u32;
	case 2: memcpy(&u16, from, 2); return u16;
	default: return *from;
	}
}

static int64_t sign_extend(uint64_t value, unsigned int bits)
{
	return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t bits_of(const struct kw_plan_load *load, const uint8_t *from)
{
	uint64_t value = load_unsigned(from, load->size) >> load->shift;

	return load->bits >= 64 ? value : value & ((1ULL << load->bits) - 1);
}

static void set_absent(struct kw_value *value, enum kw_absent reason)
{
	*value = (struct kw_value){ .type = KW_VAL_ABSENT, .absent = (uint8_t)reason };
}

static void load_string(kw_ctx *ctx, const struct kw_plan_load *load, uint64_t addr, struct kw_value *value)
{
	kw_status status;

	if (!addr) {
		set_absent(value, KW_ABSENT_NULL);
		return;
	}
	status = kw_read_string(ctx, addr, load->text, KW_PATH_MAX_STRING);
	if (status) {
		set_absent(value, kw_absent_of_status(status));
		return;
	}
	value->str = load->text;
	value->len = (uint32_t)strlen(load->text);
}

/* The length of a string in 16 bytes: the lowest zero byte is found by borrowing from it. */
static inline uint32_t length16(const char *text)
{
	const uint64_t ones = 0x0101010101010101ULL, highs = 0x8080808080808080ULL;
	uint64_t half[2];

	memcpy(half, text, sizeof(half));
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t zero = (half[i] - ones) & ~half[i] & highs;

		if (zero)
			return i * 8 + (uint32_t)__builtin_ctzll(zero) / 8;
	}
	return 16;
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

static inline void load_chars16(const struct kw_plan_load *load, const uint8_t *from, char *text,
				struct kw_value *value)
{
	memcpy(text, from, 16);
	set_value(load, value, (uint64_t)(uintptr_t)text);
	value->len = length16(text);
}

/* A value whose bytes are all in the object; those of a string are copied to `text`. One jump decides what is done. */
static inline void load_fixed(const struct kw_plan_load *load, const uint8_t *from, char *text,
			      struct kw_value *value)
{
	int32_t s32;

	switch ((enum op)load->op) {
	case OP_U64: set_value(load, value, load_unsigned(from, 8)); return;
	case OP_U32: set_value(load, value, load_unsigned(from, 4)); return;
	case OP_S32:
		memcpy(&s32, from, sizeof(s32));
		set_value(load, value, (uint64_t)(int64_t)s32);
		return;
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
	case OP_CHARS16: load_chars16(load, from, text, value); return;
	default: load_text(load, from, text, value);
	}
}

static inline void run_load(kw_ctx *ctx, const struct kw_plan_load *load, const uint8_t *from,
			    struct kw_value *value)
{
	if (__builtin_expect(load->op != OP_STRING, 1)) {
		load_fixed(load, from, load->text, value);
		return;
	}
	set_value(load, value, 0);
	load_string(ctx, load, load_unsigned(from, 8), value);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	return !len || (!*bytes && !memcmp(bytes, bytes + 1, len - 1));
}

/*
 * Tell whether an object whose bytes are all zeros lies on a page that the live kernel does not show: /proc/kcore gives
 * zeros for those and no error. Where an object is that something points to, something else is not zero: the count of its
 * references, its neighbours. (Not so for a plain variable, which is nobody's target.) The page is looked at in pieces,
 * the first of which mostly decides.
 */
static bool is_unshown(kw_ctx *ctx, uint64_t addr, const uint8_t *bytes, size_t len)
{
	uint8_t piece[512];
	uint64_t page = addr & ~4095ULL;

	if (!is_zero(bytes, len))
		return false;
	for (uint64_t at = page; at < page + 4096; at += sizeof(piece))
		if (kw_read(ctx, at, piece, sizeof(piece)) != KW_OK || !is_zero(piece, sizeof(piece)))
			return false;
	return true;
}

/* Find where the object of node i lies in a row; false, with a reason, when there is none. */
static inline bool find_object(const struct kw_plan_node *n, uint32_t i, uint64_t root,
			       struct kw_plan_object *row)
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
	object->address = parent->data ? load_unsigned(parent->data + n->hop, 8) : 0;
	object->reason = parent->data ? (uint8_t)n->null_reason : parent->reason;
	return object->address != 0;
}

/* Note what came of reading an object's span. A mapping has no unshown pages: it refuses those. */
static void set_object(kw_ctx *ctx, const struct kw_plan *plan, uint32_t i, struct kw_plan_object *row,
		       const uint8_t *data, bool copied, kw_status status)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];

	if (data && copied && plan->doubts_zeros && n->parent != i &&
	    is_unshown(ctx, row[i].address + n->lo, data, n->hi - n->lo)) {
		data = NULL;
		status = KW_FAILED;
	}
	row[i].data = data;
	row[i].status = data ? KW_OK : (uint8_t)status;
	row[i].reason = (uint8_t)kw_absent_of_status(row[i].status);
}

/* Load what one object has. Most values are of three kinds, each of which comes in a row. */
static void load_object(kw_ctx *ctx, const struct kw_plan_load *load, const struct kw_plan_load *end,
			const uint8_t *data, struct kw_value *values)
{
	int32_t s32;

	for (; load < end && load->op == OP_U64; load++)
		set_value(load, &values[load->slot], load_unsigned(data + load->offset, 8));
	for (; load < end && load->op == OP_U32; load++)
		set_value(load, &values[load->slot], load_unsigned(data + load->offset, 4));
	for (; load < end && load->op == OP_S32; load++) {
		memcpy(&s32, data + load->offset, sizeof(s32));
		set_value(load, &values[load->slot], (uint64_t)(int64_t)s32);
	}
	for (; load < end; load++)
		run_load(ctx, load, data + load->offset, &values[load->slot]);
}

static void set_all_absent(const struct kw_plan_load *load, const struct kw_plan_load *end,
			   const struct kw_plan_object *object, struct kw_value *values)
{
	for (; load < end; load++)
		set_absent(&values[load->slot], object->reason);
}

static kw_status load_row(kw_ctx *ctx, const struct kw_plan *plan, struct kw_value *values)
{
	const struct kw_plan_load *load = plan->loads.item;
	kw_status status = KW_OK;

	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		const struct kw_plan_load *end = plan->loads.item + plan->nodes.item[i].end_load;
		const struct kw_plan_object *object = &plan->row[i];

		if (object->data) {
			load_object(ctx, load, end, object->data, values);
		} else {
			set_all_absent(load, end, object, values);
			if (!status && is_root(plan, i))
				status = object->status;
		}
		load = end;
	}
	return status;
}

/* Fetch one object, where it isn't at hand. */
static void fetch_object(kw_ctx *ctx, struct kw_plan *plan, uint32_t i)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];
	const uint8_t *data = NULL;
	kw_status status = KW_ABSENT;
	uint64_t first;

	if (!__builtin_add_overflow(plan->row[i].address, n->lo, &first))
		data = kw_fetch(ctx, first, n->hi - n->lo, plan->scratch + n->scratch, &status);
	set_object(ctx, plan, i, plan->row, data, data == plan->scratch + n->scratch, status);
}

static kw_status run_once(kw_ctx *ctx, struct kw_plan *plan, uint64_t addr, struct kw_value *values)
{
	const struct kw_plan_node *n = plan->nodes.item, *end = n + plan->nodes.nr;
	bool plain = !kw_views_are_copies(ctx);
	struct kw_plan_object *row = plan->row, *object = row;

	for (uint32_t i = 0; n < end; n++, object++, i++) {
		if (!find_object(n, i, addr, row))
			continue;
		if (plain)
			object->data = kw_view_at_hand(ctx, object->address + n->lo, n->hi - n->lo);
		if (!object->data)
			fetch_object(ctx, plan, i);
	}
	return load_row(ctx, plan, values);
}

kw_status kw_plan_run(kw_ctx *ctx, struct kw_plan *plan, uint64_t addr, struct kw_value *values)
{
	uint64_t faults = kw_fault_count(ctx);
	kw_status status;

	plan->row = plan->objects;
	status = run_once(ctx, plan, addr, values);
	/* A page of a mapping could not be had and reads as zeros now: the second run sees it marked as failed. */
	if (__builtin_expect(kw_fault_count(ctx) != faults, 0))
		status = run_once(ctx, plan, addr, values);
	return status;
}

static bool make_ranges(struct kw_plan *plan)
{
	size_t nr = KW_PLAN_ROWS * plan->nodes.nr;

	if (plan->rows == KW_PLAN_ROWS)
		return true;
	if (!plan->pointers)
		plan->pointers = calloc(nr, sizeof(*plan->pointers));
	if (!plan->ranges)
		plan->ranges = calloc(nr, sizeof(*plan->ranges));
	return plan->pointers && plan->ranges && make_rows(plan, KW_PLAN_ROWS);
}

/* Fetch one node's object in all rows. */
static void fetch_node(kw_ctx *ctx, struct kw_plan *plan, uint32_t i, const uint64_t *addrs, size_t nr)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];
	size_t row_of[KW_PLAN_ROWS], used = 0;

	for (size_t r = 0; r < nr; r++) {
		struct kw_plan_object *row = plan->objects + r * plan->nodes.nr;
		struct kw_range *range = &plan->ranges[used];

		if (!find_object(n, i, addrs[r], row))
			continue;
		if (__builtin_add_overflow(row[i].address, n->lo, &range->addr)) {
			set_object(ctx, plan, i, row, NULL, true, KW_ABSENT);
			continue;
		}
		range->len = (uint32_t)(n->hi - n->lo);
		range->buf = plan->scratch + r * plan->row_size + n->scratch;
		row_of[used++] = r;
	}
	kw_gather(ctx, plan->ranges, used);
	for (size_t k = 0; k < used; k++) {
		const struct kw_range *range = &plan->ranges[k];

		set_object(ctx, plan, i, plan->objects + row_of[k] * plan->nodes.nr,
			   range->status == KW_OK ? range->buf : NULL, true, range->status);
	}
}

kw_status kw_plan_fetch(kw_ctx *ctx, struct kw_plan *plan, const uint64_t *addrs, size_t nr)
{
	if (!make_ranges(plan))
		return kw_fail_nomem(ctx);
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		fetch_node(ctx, plan, i, addrs, nr);
	return KW_OK;
}

kw_status kw_plan_take(kw_ctx *ctx, struct kw_plan *plan, size_t row, struct kw_value *values)
{
	plan->row = plan->objects + row * plan->nodes.nr;
	return load_row(ctx, plan, values);
}

/* Where the pointer to a node's object lies in a row; 0 when it has none, or its parent could not be had. */
static uint64_t pointer_place(const struct kw_plan *plan, const struct kw_plan_object *row, uint32_t i)
{
	const struct kw_plan_node *n = &plan->nodes.item[i];

	if (n->parent == i || !row[n->parent].data)
		return 0;
	return row[n->parent].address + plan->nodes.item[n->parent].lo + n->hop;
}

void kw_plan_recheck(kw_ctx *ctx, struct kw_plan *plan, size_t nr, bool *ret_changed)
{
	size_t used = 0;

	for (size_t r = 0; r < nr; r++)
		for (uint32_t i = 0; i < plan->nodes.nr; i++) {
			uint64_t at = pointer_place(plan, plan->objects + r * plan->nodes.nr, i);

			if (at) {
				plan->ranges[used] = (struct kw_range){ .addr = at,
									.len = 8,
									.buf = &plan->pointers[used] };
				used++;
			}
		}
	kw_gather(ctx, plan->ranges, used);
	used = 0;
	for (size_t r = 0; r < nr; r++) {
		const struct kw_plan_object *row = plan->objects + r * plan->nodes.nr;

		ret_changed[r] = false;
		for (uint32_t i = 0; i < plan->nodes.nr; i++) {
			if (!pointer_place(plan, row, i))
				continue;
			ret_changed[r] |= plan->ranges[used].status != KW_OK ||
					  plan->pointers[used] != row[i].address;
			used++;
		}
	}
}

/* A mapping shows what is there now. False when one of the pointers is not mapped, and nothing is known. */
static bool changed_in_mapping(kw_ctx *ctx, const struct kw_plan *plan, bool *ret_changed)
{
	bool changed = false;

	/* All values have been copied before the pointers are looked at again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		uint64_t at = pointer_place(plan, plan->row, i);
		const uint8_t *pointer = at ? kw_view_at_hand(ctx, at, 8) : NULL;

		if (at && !pointer)
			return false;
		changed |= at && load_unsigned(pointer, 8) != plan->row[i].address;
	}
	*ret_changed = changed;
	return true;
}

bool kw_plan_changed(kw_ctx *ctx, const struct kw_plan *plan)
{
	uint64_t at, now;
	bool changed;

	if (!kw_views_are_copies(ctx) && changed_in_mapping(ctx, plan, &changed))
		return changed;
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if ((at = pointer_place(plan, plan->row, i)))
			kw_forget(ctx, at, sizeof(now));
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		at = pointer_place(plan, plan->row, i);
		if (at && (kw_read_u64(ctx, at, &now) != KW_OK || now != plan->row[i].address))
			return true;
	}
	return false;
}

void kw_plan_forget(kw_ctx *ctx, const struct kw_plan *plan)
{
	for (uint32_t i = 0; i < plan->nodes.nr; i++)
		if (plan->row[i].address)
			kw_forget(ctx, plan->row[i].address + plan->nodes.item[i].lo,
				  plan->nodes.item[i].hi - plan->nodes.item[i].lo);
}

void kw_plan_forget_root(kw_ctx *ctx, const struct kw_plan *plan, uint64_t addr)
{
	const struct kw_plan_node *root = plan->nodes.item;

	if (plan->nodes.nr)
		kw_forget(ctx, addr + root->lo, root->hi - root->lo);
}

bool kw_plan_view(kw_ctx *ctx, const struct kw_plan *plan, const uint64_t *addrs, size_t nr,
		  const uint8_t **ret_spans)
{
	const struct kw_plan_node *root = &plan->nodes.item[0];
	const struct kw_plan_line *line, *end = plan->line + plan->nr_root_lines;
	struct kw_window window;
	bool all = true;

	if (!nr)
		return true;
	window = kw_window_open(ctx, addrs[0] + root->lo, root->hi - root->lo);
	for (size_t i = 0; i < nr; i++) {
		const uint8_t *span = kw_window_view(ctx, &window, addrs[i] + root->lo);

		for (line = plan->line; span && line < end; line++)
			__builtin_prefetch(span + line->offset);
		ret_spans[i] = span;
		all &= span != NULL;
	}
	return all;
}

void kw_plan_prefetch(kw_ctx *ctx, const struct kw_plan *plan, const uint8_t *span)
{
	const struct kw_plan_line *line = plan->line + plan->nr_root_lines,
				  *end = plan->line + plan->nr_lines;
	const uint8_t *object = NULL;
	uint32_t node = 0;

	for (; line < end; line++) {
		if (line->node != node) {
			const struct kw_plan_node *n = &plan->nodes.item[node = line->node];
			uint64_t addr = load_unsigned(span + n->hop, 8);

			object = addr ? kw_view_near(ctx, addr + n->lo, n->hi - n->lo) : NULL;
		}
		if (object)
			__builtin_prefetch(object + line->offset);
	}
}

/* Load one value of all rows. The two kinds that most rows have are loaded without asking again which they are. */
static void load_column(const struct kw_plan_load *load, const uint8_t *const *spans, size_t nr,
			size_t text_size, struct kw_value *value, size_t stride)
{
	char *text = load->text;
	int32_t s32;

	if (load->op == OP_S32)
		for (size_t r = 0; r < nr; r++, value += stride) {
			memcpy(&s32, spans[r] + load->offset, sizeof(s32));
			set_value(load, value, (uint64_t)(int64_t)s32);
		}
	else if (load->op == OP_U64)
		for (size_t r = 0; r < nr; r++, value += stride)
			set_value(load, value, load_unsigned(spans[r] + load->offset, 8));
	else if (load->op == OP_CHARS16)
		for (size_t r = 0; r < nr; r++, value += stride, text += text_size)
			load_chars16(load, spans[r] + load->offset, text, value);
	else
		for (size_t r = 0; r < nr; r++, value += stride, text += text_size)
			load_fixed(load, spans[r] + load->offset, text, value);
}

void kw_plan_load(struct kw_plan *plan, const uint8_t *const *spans, size_t nr, struct kw_value *values,
		  size_t stride)
{
	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *load = &plan->loads.item[i];

		load_column(load, spans, nr, plan->text_size, values + load->slot, stride);
	}
}

static const char *load_name(const struct kw_plan_load *load)
{
	static const char *const names[] = {
		[KW_LOAD_UNSIGNED] = "unsigned",
		[KW_LOAD_SIGNED] = "signed",
		[KW_LOAD_BOOL] = "bool",
		[KW_LOAD_BITS] = "bits",
		[KW_LOAD_SIGNED_BITS] = "signed bits",
		[KW_LOAD_ADDRESS] = "address",
		[KW_LOAD_CHARS] = "chars",
		[KW_LOAD_BYTES] = "bytes",
		[KW_LOAD_STRING] = "string at pointer",
		[KW_LOAD_OBJECT] = "object",
	};

	return names[load->load];
}

void kw_plan_explain(const struct kw_plan *plan, const char *root, FILE *out)
{
	for (uint32_t i = 0; i < plan->nodes.nr; i++) {
		const struct kw_plan_node *n = &plan->nodes.item[i];

		if (is_root(plan, i))
			fprintf(out, "node %-3u %s", i, root);
		else
			fprintf(out, "node %-3u *(node %u + 0x%" PRIx64 ")", i, n->parent,
				n->hop + (plan->finished ? plan->nodes.item[n->parent].lo : 0));
		fprintf(out, "  bytes 0x%" PRIx64 "..0x%" PRIx64 "\n", n->lo, n->hi);
	}
	for (size_t i = 0; i < plan->loads.nr; i++) {
		const struct kw_plan_load *l = &plan->loads.item[i];

		fprintf(out, "load     node %u + 0x%" PRIx64 "  %u bytes %s", l->node,
			l->offset + (plan->finished ? plan->nodes.item[l->node].lo : 0), l->size,
			load_name(l));
		if (l->bits)
			fprintf(out, " (%u bits from bit %u)", l->bits, l->shift);
		fprintf(out, " -> slot %u\n", l->slot);
	}
}
