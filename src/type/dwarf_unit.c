/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A compilation unit's types as BTF: see the header.
 *
 * Entries are numbered as they are met, first those at the top of the unit, then what these refer to, and each is
 * written when its turn comes: that is the order in which BTF numbers its records. An array of several dimensions is
 * one entry in DWARF and several records in BTF; so an entry is queued together with a dimension.
 *
 * Definitions come before declarations, so that of a variable's types the most complete one is found first.
 */
#include "type/dwarf_unit.h"
#include "type/btf_writer.h"
#include "type/dwarf_die.h"

#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX    (1u << 22) /* the largest unit of a kernel has some 20,000 */
#define DIMENSIONS_MAX 32
#define INT_SIGNED     1
#define INT_BOOL       4

struct queued {
	Dwarf_Die die;
	uint32_t dimension; /* of an array */
};

/* One conversion. */
struct unit {
	const struct kw_libdw *dw;
	struct kw_btf_writer out;
	struct {
		struct queued *item;
		size_t nr, cap;
	} queue;
	struct {
		struct kw_btf_part *item;
		size_t nr, cap;
	} parts;
	uint32_t *slots; /* numbers of entries, hashed by where they lie; 0: free */
	uint32_t mask;
	bool failed;
};

/* Numbers */

static uint32_t hash_entry(const Dwarf_Die *die, uint32_t dimension)
{
	uint64_t h = ((uint64_t)(uintptr_t)die->addr + dimension) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 32);
}

static uint32_t *find_slot(const struct unit *u, const Dwarf_Die *die, uint32_t dimension)
{
	uint32_t at = hash_entry(die, dimension) & u->mask;

	while (u->slots[at]) {
		const struct queued *queued = &u->queue.item[u->slots[at] - 1];

		if (queued->die.addr == die->addr && queued->dimension == dimension)
			break;
		at = (at + 1) & u->mask;
	}
	return &u->slots[at];
}

static bool grow_slots(struct unit *u)
{
	size_t size = u->slots ? ((size_t)u->mask + 1) * 2 : 16384;
	uint32_t *old = u->slots;

	if (old && u->queue.nr < u->mask / 2)
		return true;
	u->slots = calloc(size, sizeof(*u->slots));
	if (!u->slots) {
		u->slots = old;
		return false;
	}
	free(old);
	u->mask = (uint32_t)size - 1;
	for (size_t i = 0; i < u->queue.nr; i++)
		*find_slot(u, &u->queue.item[i].die, u->queue.item[i].dimension) = (uint32_t)i + 1;
	return true;
}

/* The number of an entry, which is queued when it is new. */
static uint32_t number_of(struct unit *u, const Dwarf_Die *die, uint32_t dimension)
{
	uint32_t *slot;

	if (u->failed)
		return 0;
	if (u->queue.nr >= ENTRIES_MAX || !grow_slots(u)) {
		u->failed = true;
		return 0;
	}
	slot = find_slot(u, die, dimension);
	if (!*slot) {
		if (!kw_array_push(&u->queue, (struct queued){ *die, dimension })) {
			u->failed = true;
			return 0;
		}
		*slot = (uint32_t)u->queue.nr;
	}
	return *slot;
}

static bool is_type(int tag)
{
	switch (tag) {
	case DW_TAG_base_type:
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_array_type:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_subroutine_type: return true;
	default: return false;
	}
}

/* The number of the type that an entry has; what BTF has no word for (_Atomic, ...) is looked through. */
static uint32_t type_of(struct unit *u, struct kw_die *die)
{
	struct kw_die at;
	Dwarf_Die next;

	if (!kw_die_follow(die, DIE_TYPE, &next))
		return 0;
	for (int steps = 0; steps < KW_TYPE_DEPTH; steps++) {
		int tag = u->dw->dwarf_tag(&next);

		if (is_type(tag))
			return number_of(u, &next, 0);
		kw_die_read(u->dw, &next, &at);
		if (!kw_die_follow(&at, DIE_TYPE, &next))
			return 0;
	}
	return 0;
}

/* Records */

static uint32_t size_of(struct kw_die *die)
{
	uint64_t size;

	return kw_die_number(die, DIE_BYTE_SIZE, &size) && size <= UINT32_MAX ? (uint32_t)size : 0;
}

static void put_base(struct unit *u, struct kw_die *die)
{
	uint64_t encoding = 0;
	uint32_t size = size_of(die), word = 0;

	kw_die_number(die, DIE_ENCODING, &encoding);
	switch (encoding) {
	case DW_ATE_boolean: word = INT_BOOL; break;
	case DW_ATE_signed:
	case DW_ATE_signed_char: word = INT_SIGNED; break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF: break;
	default: kw_btf_put_record(&u->out, BTF_FLOAT, kw_die_name(die), 0, false, size); return;
	}
	kw_btf_put_record(&u->out, BTF_INT, kw_die_name(die), 0, false, size);
	kw_btf_put_u32(&u->out, word << 24 | (size < 32 ? size * 8 : 0));
}

static void put_reference(struct unit *u, struct kw_die *die, enum kw_btf_kind kind, const char *name)
{
	uint32_t target = type_of(u, die);

	kw_btf_put_record(&u->out, kind, name, 0, false, target);
}

static void add_part(struct unit *u, struct kw_btf_part part)
{
	if (!kw_array_push(&u->parts, part))
		u->failed = true;
}

static void add_member(struct unit *u, struct kw_die *die)
{
	struct kw_btf_part part = { .name = kw_die_name(die), .type = type_of(u, die) };
	uint64_t bits;

	/* A static member of a class lies elsewhere. */
	if (kw_die_has(die, DIE_EXTERNAL) || kw_die_is_declaration(die))
		return;
	if (kw_die_number(die, DIE_BIT_SIZE, &bits))
		part.bit_size = bits <= UINT32_MAX ? (uint32_t)bits : UINT32_MAX;
	part.bit_offset = kw_die_member_bits(die, part.bit_size);
	add_part(u, part);
}

static void put_compound(struct unit *u, struct kw_die *die)
{
	bool is_union = die->tag == DW_TAG_union_type, more;
	const char *name = kw_die_name(die);
	struct kw_die member;
	Dwarf_Die at;

	if (kw_die_is_declaration(die)) {
		kw_btf_put_record(&u->out, BTF_FWD, name, 0, is_union, 0);
		return;
	}
	u->parts.nr = 0;
	for (more = kw_die_first_child(u->dw, &die->die, &at); more && !u->failed;
	     more = kw_die_next(u->dw, &at)) {
		if (u->dw->dwarf_tag(&at) != DW_TAG_member)
			continue;
		kw_die_read(u->dw, &at, &member);
		add_member(u, &member);
	}
	kw_btf_put_compound(&u->out, is_union, name, size_of(die), u->parts.item, u->parts.nr);
}

static void put_enum(struct unit *u, struct kw_die *die)
{
	bool is_signed = false, negative, more;
	struct kw_die value;
	Dwarf_Die at;

	/* One that is only declared has no values, as in the kernel's BTF. */
	u->parts.nr = 0;
	for (more = kw_die_first_child(u->dw, &die->die, &at); more && !u->failed;
	     more = kw_die_next(u->dw, &at)) {
		struct kw_btf_part part = { 0 };

		if (u->dw->dwarf_tag(&at) != DW_TAG_enumerator)
			continue;
		kw_die_read(u->dw, &at, &value);
		if (!kw_die_value(&value, &part.value, &negative))
			continue;
		part.name = kw_die_name(&value);
		is_signed |= negative;
		add_part(u, part);
	}
	kw_btf_put_enum(&u->out, kw_die_name(die), size_of(die), is_signed, u->parts.item, u->parts.nr);
}

/* The elements of one dimension; 0 where it has no number, or one that can't be. */
static uint32_t elements_of(struct kw_die *range)
{
	uint64_t count;

	if (!kw_die_number(range, DIE_COUNT, &count) &&
	    (!kw_die_number(range, DIE_UPPER_BOUND, &count) || __builtin_add_overflow(count, 1, &count)))
		return 0;
	return count <= INT32_MAX ? (uint32_t)count : 0;
}

/* An array of an array is what a second dimension is. */
static void put_array(struct unit *u, struct kw_die *die, uint32_t dimension)
{
	uint32_t nr = 0, count = 0, element;
	struct kw_die range;
	Dwarf_Die at;
	bool more;

	for (more = kw_die_first_child(u->dw, &die->die, &at); more && nr < DIMENSIONS_MAX;
	     more = kw_die_next(u->dw, &at)) {
		if (u->dw->dwarf_tag(&at) != DW_TAG_subrange_type)
			continue;
		kw_die_read(u->dw, &at, &range);
		if (nr++ == dimension)
			count = elements_of(&range);
	}
	element = dimension + 1 < nr ? number_of(u, &die->die, dimension + 1) : type_of(u, die);
	kw_btf_put_record(&u->out, BTF_ARRAY, NULL, 0, false, 0);
	kw_btf_put_u32(&u->out, element);
	kw_btf_put_u32(&u->out, 0);
	kw_btf_put_u32(&u->out, count);
}

static void put_function(struct unit *u, struct kw_die *die)
{
	uint32_t result = type_of(u, die);
	struct kw_die parameter;
	Dwarf_Die at;
	bool more;

	u->parts.nr = 0;
	for (more = kw_die_first_child(u->dw, &die->die, &at); more && !u->failed;
	     more = kw_die_next(u->dw, &at)) {
		int tag = u->dw->dwarf_tag(&at);

		kw_die_read(u->dw, &at, &parameter);
		if (tag == DW_TAG_formal_parameter)
			add_part(u, (struct kw_btf_part){ .name = kw_die_name(&parameter),
							  .type = type_of(u, &parameter) });
		else if (tag == DW_TAG_unspecified_parameters)
			add_part(u, (struct kw_btf_part){ 0 });
	}
	if (u->parts.nr > UINT16_MAX)
		u->parts.nr = 0;
	kw_btf_put_record(&u->out, BTF_FUNC_PROTO, NULL, (uint32_t)u->parts.nr, false, result);
	for (size_t i = 0; i < u->parts.nr; i++) {
		kw_btf_put_name(&u->out, u->parts.item[i].name);
		kw_btf_put_u32(&u->out, u->parts.item[i].type);
	}
}

/* The definition of a variable that was declared before has its name there, and perhaps its type. */
static void put_variable(struct unit *u, struct kw_die *die)
{
	const char *name = kw_die_name(die);
	uint32_t type = type_of(u, die);
	struct kw_die declaration;
	Dwarf_Die at;

	if (kw_die_follow(die, DIE_SPECIFICATION, &at)) {
		kw_die_read(u->dw, &at, &declaration);
		name = name ? name : kw_die_name(&declaration);
		type = type ? type : type_of(u, &declaration);
	}
	kw_btf_put_record(&u->out, BTF_VAR, name, 0, false, type);
	kw_btf_put_u32(&u->out, 0);
}

static void put_entry(struct unit *u, const struct queued *queued)
{
	struct kw_die die;
	Dwarf_Die whole;

	kw_die_read(u->dw, &queued->die, &die);
	/* A type in a unit of its own, which its signature leads to. */
	if (kw_die_is_declaration(&die) && kw_die_follow(&die, DIE_SIGNATURE, &whole))
		kw_die_read(u->dw, &whole, &die);
	switch (die.tag) {
	case DW_TAG_base_type: put_base(u, &die); break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type: put_reference(u, &die, BTF_PTR, NULL); break;
	case DW_TAG_typedef: put_reference(u, &die, BTF_TYPEDEF, kw_die_name(&die)); break;
	case DW_TAG_const_type: put_reference(u, &die, BTF_CONST, NULL); break;
	case DW_TAG_volatile_type: put_reference(u, &die, BTF_VOLATILE, NULL); break;
	case DW_TAG_restrict_type: put_reference(u, &die, BTF_RESTRICT, NULL); break;
	case DW_TAG_array_type: put_array(u, &die, queued->dimension); break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: put_compound(u, &die); break;
	case DW_TAG_enumeration_type: put_enum(u, &die); break;
	case DW_TAG_subroutine_type: put_function(u, &die); break;
	case DW_TAG_variable: put_variable(u, &die); break;
	default: kw_btf_put_record(&u->out, BTF_FWD, NULL, 0, false, 0); break;
	}
}

static void queue_top(struct unit *u, const Dwarf_Die *unit, bool declarations)
{
	struct kw_die die;
	Dwarf_Die at;
	bool more;

	for (more = kw_die_first_child(u->dw, unit, &at); more && !u->failed;
	     more = kw_die_next(u->dw, &at)) {
		int tag = u->dw->dwarf_tag(&at);

		if (tag != DW_TAG_variable && !is_type(tag))
			continue;
		kw_die_read(u->dw, &at, &die);
		if (kw_die_is_declaration(&die) == declarations &&
		    (tag == DW_TAG_variable || kw_die_has(&die, DIE_NAME)))
			number_of(u, &at, 0);
	}
}

static kw_status convert(kw_ctx *ctx, struct unit *u, const Dwarf_Die *entry, struct kw_btf **ret)
{
	uint8_t *blob;
	size_t size;

	if (is_type(u->dw->dwarf_tag((Dwarf_Die *)entry))) {
		number_of(u, entry, 0);
	} else {
		queue_top(u, entry, false);
		queue_top(u, entry, true);
	}
	for (size_t i = 0; i < u->queue.nr && !u->failed && !u->out.failed; i++) {
		struct queued queued = u->queue.item[i];

		put_entry(u, &queued);
	}
	blob = u->failed ? NULL : kw_btf_writer_finish(&u->out, &size);
	if (!blob)
		return kw_fail(ctx, KW_FORMAT,
			       "DWARF: a unit has more types than are possible, or memory ran out");
	return kw_btf_open(ctx, blob, size, KW_BTF_MALLOCED, NULL, ret);
}

kw_status kw_dwarf_unit(kw_ctx *ctx, const struct kw_libdw *dw, const Dwarf_Die *entry, struct kw_btf **ret)
{
	struct unit u = { .dw = dw };
	kw_status status = convert(ctx, &u, entry, ret);

	kw_btf_writer_deinit(&u.out);
	free(u.queue.item);
	free(u.parts.item);
	free(u.slots);
	return status;
}
