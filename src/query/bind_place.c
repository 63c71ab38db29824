/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binding what is done with addresses: & and *, members and elements of what a pointer leads to.
 *
 *     &init_task.tasks                         the address of a variable, of a member of one, of a member of the row
 *     POINTER.member, ->member, [N], *POINTER  what lies there
 *
 * `.` and -> follow pointers alike, as in paths. A sum of an address and a number counts bytes, and it is not known what
 * lies there.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/global.h"
#include "query/bind.h"
#include "query/place.h"
#include "type/types.h"
#include "util/error.h"

/* What lies at an address: a `type`, or pointers that lead to one. */
struct spot {
	struct kw_expr *base;
	uint64_t offset; /* from there */
	const struct kw_type *type;
	unsigned int stars;
};

static int width(const struct kw_node *node)
{
	return node->len > 60 ? 60 : (int)node->len;
}

bool kw_type_is_char(const struct kw_type *type)
{
	return type->kind == KW_TYPE_INT && type->size == 1 &&
	       (type->encoding == KW_INT_CHAR || strcmp(type->name, "char") == 0);
}

void kw_set_pointee(kw_ctx *ctx, struct kw_expr *e, const struct kw_type *pointer)
{
	const struct kw_type *type = kw_type_strip(ctx, pointer);
	unsigned int stars = 0;

	while (type->kind == KW_TYPE_POINTER && stars < KW_MAX_STARS) {
		pointer = kw_type_target(ctx, type);
		type = kw_type_strip(ctx, pointer);
		stars++;
	}
	if (!stars || type->kind == KW_TYPE_VOID || type->kind == KW_TYPE_FUNCTION ||
	    type->kind == KW_TYPE_POINTER)
		return;
	e->object = pointer;
	e->stars = stars;
}

struct kw_expr *kw_bind_new_address(struct kw_binder *b, enum kw_expr_op op)
{
	struct kw_expr *e = kw_bind_new(b, op);

	if (e) {
		e->type = KW_VAL_ADDRESS;
		e->display = KW_SHOW_HEX;
	}
	return e;
}

static struct kw_place *new_place(struct kw_binder *b, const struct kw_path *path)
{
	struct kw_place *place = kw_arena_alloc(b->arena, sizeof(*place));
	const struct kw_kernel *kernel;

	if (!place) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	if (kw_kernel_get(b->ctx, &kernel))
		return NULL;
	place->path = *path;
	place->is_live = kernel->is_live;
	place->next = *b->places;
	*b->places = place;
	return place;
}

/* Reading a value */

static struct kw_expr *read_path(struct kw_binder *b, const struct kw_node *node, struct kw_expr *base,
				 const struct kw_path *path)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_READ);
	const struct kw_type *type = kw_type_strip(b->ctx, path->type);

	if (!e)
		return NULL;
	e->a = base;
	e->type = kw_path_value_type(b->ctx, path);
	e->display = e->type == KW_VAL_ADDRESS ? KW_SHOW_HEX : KW_SHOW_PLAIN;
	if (e->type == KW_VAL_ABSENT) {
		char name[128];

		kw_type_name(b->ctx, path->type, name, sizeof(name));
		return kw_bind_fail(b, node->at, "%.*s is of type %s, not a value; name a member of it",
				    width(node), node->first, name);
	}
	e->place = new_place(b, path);
	if (!e->place || kw_plan_add(b->ctx, &e->place->plan, path, 0) ||
	    kw_plan_finish(b->ctx, &e->place->plan))
		return NULL;
	if (e->type == KW_VAL_ENUM) {
		e->type = KW_VAL_STRING;
		e->enumeration = e->place->enumeration = type;
	}
	if (e->type == KW_VAL_ADDRESS)
		kw_set_pointee(b->ctx, e, path->type);
	return e;
}

/* The pointer that lies at a spot. */
static struct kw_expr *read_pointer(struct kw_binder *b, const struct kw_node *node, const struct spot *spot)
{
	bool is_text = spot->stars == 1 && kw_type_is_char(kw_type_strip(b->ctx, spot->type));
	struct kw_path path = { .offset = spot->offset,
				.size = 8,
				.load = is_text ? KW_LOAD_STRING : KW_LOAD_ADDRESS,
				.type = &kw_type_void };
	struct kw_expr *e = read_path(b, node, spot->base, &path);

	if (e && !is_text) {
		e->object = spot->type;
		e->stars = spot->stars;
	}
	return e;
}

static bool follow(struct kw_binder *b, const struct kw_node *node, struct spot *spot)
{
	struct kw_expr *e = read_pointer(b, node, spot);

	if (!e)
		return false;
	if (e->type != KW_VAL_ADDRESS)
		return kw_bind_fail(b, node->at, "a text has no members");
	*spot = (struct spot){ e, 0, spot->type, spot->stars - 1 };
	return true;
}

static uint64_t size_at(struct kw_binder *b, const struct spot *spot)
{
	return spot->stars ? 8 : kw_type_size(b->ctx, spot->type);
}

/* [N] behind a pointer: the object N places behind the one that it leads to. */
static bool take_element(struct kw_binder *b, const struct kw_node *node, struct spot *spot,
			 const char **text)
{
	uint64_t size = size_at(b, spot), number, bytes;
	const char *at = *text + 1;
	char *end;

	number = strtoull(at, &end, 0);
	if (!isdigit((unsigned char)*at) || *end != ']')
		return kw_bind_fail(b, node->at, "expected a number in [ ]: the N-th of what is there");
	if (!size)
		return kw_bind_fail(b, node->at, "how large one of these is is not known: there is no N-th");
	if (number > UINT32_MAX || __builtin_mul_overflow(number, size, &bytes))
		return kw_bind_fail(b, node->at, "the number in [ ] is too large");
	spot->offset += bytes;
	*text = end + 1;
	return true;
}

/* Pointers to pointers are followed until there is something that has members. */
static bool settle(struct kw_binder *b, const struct kw_node *node, struct spot *spot, const char **text,
		   bool behind_pointer)
{
	for (;;) {
		if (**text == '[' && behind_pointer && !take_element(b, node, spot, text))
			return false;
		if (!**text || !spot->stars)
			return true;
		if (!follow(b, node, spot))
			return false;
		behind_pointer = true;
	}
}

static bool compile(struct kw_binder *b, const struct kw_node *node, const struct spot *spot,
		    const char *text, struct kw_path *ret)
{
	if (*text == '.')
		text++;
	else if (text[0] == '-' && text[1] == '>')
		text += 2;
	if (kw_path_compile(b->ctx, spot->type, text, ret)) {
		kw_program_fail_at(b->ctx, b->text, node->at);
		return false;
	}
	if (ret->nr_hops)
		ret->hop[0] += spot->offset;
	else
		ret->offset += spot->offset;
	return true;
}

/* The value at a spot, or of a member of what is there. */
static struct kw_expr *value_at(struct kw_binder *b, const struct kw_node *node, struct spot *spot,
				const char *text, bool behind_pointer)
{
	struct kw_path path;

	if (!settle(b, node, spot, &text, behind_pointer))
		return NULL;
	if (spot->stars)
		return read_pointer(b, node, spot);
	return compile(b, node, spot, text, &path) ? read_path(b, node, spot->base, &path) : NULL;
}

/* The address of it. */
static struct kw_expr *address_at(struct kw_binder *b, const struct kw_node *node, struct spot *spot,
				  const char *text, bool behind_pointer)
{
	struct kw_path path = { 0 };
	struct kw_expr *e;

	if (!settle(b, node, spot, &text, behind_pointer))
		return NULL;
	path.offset = spot->offset;
	if (!spot->stars && !compile(b, node, spot, text, &path))
		return NULL;
	if (spot->base->op == KW_EXPR_CONST && !path.nr_hops) {
		e = kw_bind_new_address(b, KW_EXPR_CONST);
		if (e)
			e->value = (struct kw_value){ .type = KW_VAL_ADDRESS,
						      .u = spot->base->value.u + path.offset };
	} else {
		e = kw_bind_new_address(b, KW_EXPR_PLACE);
		if (e)
			e->place = new_place(b, &path);
		if (e && !e->place)
			return NULL;
	}
	if (!e)
		return NULL;
	e->a = spot->base;
	e->object = spot->type;
	e->stars = spot->stars + 1;
	if (!spot->stars) {
		e->object = path.type;
		e->stars = 0;
		kw_set_pointee(b->ctx, e, path.type);
		e->stars++;
	}
	return e;
}

/* Whether an address is that of a symbol, and each CPU has its own of it. */
static bool is_per_cpu(const struct kw_binder *b, const struct kw_expr *e)
{
	const struct kw_kernel *kernel;

	while (e->a)
		e = e->a;
	if (e->op != KW_EXPR_CONST || e->type != KW_VAL_ADDRESS)
		return false;
	return kw_kernel_get(b->ctx, &kernel) == KW_OK && kw_is_per_cpu(kernel, e->value.u);
}

/* What a pointer leads to. */
static bool spot_of(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e, struct spot *ret)
{
	bool may_be_one = e->type == KW_VAL_ADDRESS || e->type == KW_VAL_UINT || e->type == KW_VAL_INT;

	if (!e->object && may_be_one && e->unit == KW_UNIT_NONE)
		return kw_bind_fail(b, node->first,
				    "what lies at %.*s is not known; say it: ((struct NAME *)%.*s)",
				    width(node), node->first, width(node), node->first);
	if (!e->object)
		return kw_bind_fail(b, node->first, "%.*s is %s, no pointer", width(node), node->first,
				    kw_expr_kind(e));
	if (is_per_cpu(b, e))
		return kw_bind_fail(b, node->first,
				    "%.*s: each CPU has its own; say of which, as in per_cpu(SYMBOL, 0)",
				    width(node), node->first);
	*ret = (struct spot){ e, 0, e->object, e->stars - 1 };
	return true;
}

struct kw_expr *kw_bind_behind(struct kw_binder *b, const struct kw_node *node, struct kw_expr *e,
			       const char *text)
{
	struct spot spot;

	return spot_of(b, node, e, &spot) ? value_at(b, node, &spot, text, true) : NULL;
}

static bool is_deref(const struct kw_node *node)
{
	return node->kind == KW_NODE_UNARY && node->op == '*';
}

/* Bind what a member is of: (*p).m is what p leads to as well. */
static bool bind_base(struct kw_binder *b, const struct kw_node *node, struct spot *ret)
{
	const struct kw_node *pointer = is_deref(node) ? node->a : node;
	struct kw_expr *e = kw_bind_node(b, pointer);

	return e && spot_of(b, pointer, e, ret);
}

struct kw_expr *kw_bind_member(struct kw_binder *b, const struct kw_node *node)
{
	struct spot spot;

	return bind_base(b, node->a, &spot) ? value_at(b, node, &spot, node->text, !is_deref(node->a)) : NULL;
}

struct kw_expr *kw_bind_deref(struct kw_binder *b, const struct kw_node *node)
{
	struct spot spot;

	return bind_base(b, node, &spot) ? value_at(b, node, &spot, "", true) : NULL;
}

/* The row's own object */

struct kw_expr *kw_bind_row(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new_address(b, KW_EXPR_ROW);

	if (b->grouping)
		return kw_bind_fail(b, node->at, "these are groups, which are no objects");
	if (e) {
		e->object = b->root->type;
		e->stars = 1;
	}
	return e;
}

bool kw_is_row(const struct kw_binder *b, const char *name)
{
	const char *row = b->root ? kw_root_name(b->root) : NULL;
	struct kw_member member;

	if (!row || strcmp(row, name) != 0)
		return false;
	if (kw_type_member(b->ctx, b->root->type, name, &member) == KW_OK)
		return false;
	kw_clear_error(b->ctx);
	return true;
}

/* Addresses */

struct kw_expr *kw_bind_plain_symbol(struct kw_binder *b, const struct kw_node *node, const char *name)
{
	struct kw_expr *e = kw_bind_new_address(b, KW_EXPR_CONST);
	uint64_t address;

	if (!e)
		return NULL;
	if (kw_global_address(b->ctx, name, &address) != KW_OK) {
		kw_program_fail_at(b->ctx, b->text, node->at);
		return NULL;
	}
	e->value = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = address };
	if (kw_global_type(b->ctx, name, &e->object) == KW_OK)
		e->stars = 1;
	kw_clear_error(b->ctx);
	return e;
}

/* &row.member is one of the row, if that has such a name; &name the symbol's, if there is one. */
struct kw_expr *kw_bind_symbol(struct kw_binder *b, const struct kw_node *node)
{
	size_t len = strcspn(node->text, ".[-");
	char *name = kw_arena_copy(b->arena, node->text, len);
	struct kw_expr *base;
	struct spot spot;

	if (!name) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	if (kw_is_outer(b, node) && !b->grouping)
		return kw_bind_outer(b, node);
	if (!node->text[len])
		return kw_bind_plain_symbol(b, node, name);
	base = kw_is_row(b, name) ? kw_bind_row(b, node) : kw_bind_plain_symbol(b, node, name);
	if (!base)
		return NULL;
	if (!base->object)
		return kw_bind_fail(b, node->at,
				    "the type of %s is not known: BTF has none for variables; say it: "
				    "((struct NAME *)&%s)%s",
				    name, name, node->text + len);
	spot = (struct spot){ base, 0, base->object, base->stars - 1 };
	return address_at(b, node, &spot, node->text + len, false);
}

/* Whether this is a path of the row that ends at a structure, and if so, where that lies; NULL with the error set. */
static bool row_place(struct kw_binder *b, const struct kw_node *node, struct kw_expr **ret)
{
	struct kw_path path;
	struct spot spot;

	if (node->kind != KW_NODE_NAME || !b->root || !b->root->type)
		return false;
	if (kw_path_compile(b->ctx, b->root->type, kw_path_in_row(b->root, node->text), &path) ||
	    path.load != KW_LOAD_OBJECT) {
		kw_clear_error(b->ctx);
		return false;
	}
	spot = (struct spot){ kw_bind_row(b, node), 0, b->root->type, 0 };
	*ret = spot.base ? address_at(b, node, &spot, kw_path_in_row(b->root, node->text), false) : NULL;
	return true;
}

struct kw_expr *kw_bind_address(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e;
	struct spot spot;

	if (row_place(b, node, &e))
		return e;
	if (node->kind == KW_NODE_MEMBER) {
		struct kw_path path;
		const char *text = node->text;

		if (!bind_base(b, node->a, &spot) || !settle(b, node, &spot, &text, !is_deref(node->a)))
			return NULL;
		if (!spot.stars && !compile(b, node, &spot, text, &path))
			return NULL;
		if (!spot.stars && path.load == KW_LOAD_OBJECT)
			return address_at(b, node, &spot, text, false);
	}
	e = kw_bind_node(b, node);
	if (!e || e->type == KW_VAL_ADDRESS || e->type == KW_VAL_UINT)
		return e;
	return kw_bind_fail(b, node->first, "expected an address, and %.*s is %s", width(node), node->first,
			    kw_expr_kind(e));
}

/* str() of a char pointer is the string there. */
bool kw_is_string_pointer(kw_ctx *ctx, const struct kw_expr *e)
{
	return e->type == KW_VAL_ADDRESS && e->object && e->stars == 1 &&
	       kw_type_is_char(kw_type_strip(ctx, e->object));
}
