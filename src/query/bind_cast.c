/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binding casts, and where CPUs have their variables.
 *
 *     (struct T *)ADDRESS          an address of which is known now what lies there
 *     (u32)NUMBER, (enum e)NUMBER  a number as such a type holds it, the name that it has
 *     per_cpu(SYMBOL, CPU)         an address; as of what, is known for some symbols
 */
#include <string.h>

#include "query/bind.h"
#include "util/error.h"

static int width_of(const struct kw_node *node)
{
	return node->len > 60 ? 60 : (int)node->len;
}

static const char *kind_of(const struct kw_expr *e)
{
	return e->type == KW_VAL_FLOAT ? "no whole number" : kw_expr_kind(e);
}

static struct kw_expr *to_pointer(struct kw_binder *b, struct kw_expr *from, const struct kw_type *type,
				  unsigned int stars)
{
	struct kw_expr *e =
		kw_bind_new_address(b, from->op == KW_EXPR_CONST ? KW_EXPR_CONST : KW_EXPR_POINTER);

	if (!e)
		return NULL;
	e->a = from;
	e->value = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = from->value.u };
	e->object = type;
	e->stars = type ? stars : 0;
	return e;
}

static struct kw_expr *to_number(struct kw_binder *b, const struct kw_node *node, struct kw_expr *from,
				 const struct kw_type *type)
{
	bool is_enum = type->kind == KW_TYPE_ENUM;
	struct kw_expr *e = kw_bind_new(b, is_enum ? KW_EXPR_ENUMERATOR : KW_EXPR_TRUNCATE);

	if (!e)
		return NULL;
	if ((type->kind != KW_TYPE_INT && !is_enum) || !type->size || type->size > 8)
		return kw_bind_fail(b, node->at, "a value can't be cast to %s; an address can, to %s *",
				    node->text, node->text);
	e->a = from;
	e->value.u = type->size * 8;
	e->type = is_enum						     ? KW_VAL_STRING
		  : type->encoding == KW_INT_BOOL			     ? KW_VAL_BOOL
		  : type->encoding == KW_INT_SIGNED || kw_type_is_char(type) ? KW_VAL_INT
									     : KW_VAL_UINT;
	if (is_enum)
		e->enumeration = type;
	return e;
}

/* Cut the stars off a type's name. */
static unsigned int take_stars(char *name, size_t len)
{
	unsigned int stars = 0;

	while (len && (name[len - 1] == '*' || name[len - 1] == ' ')) {
		stars += name[len - 1] == '*';
		name[--len] = '\0';
	}
	return stars;
}

struct kw_expr *kw_bind_cast(struct kw_binder *b, const struct kw_node *node)
{
	char *name = kw_arena_copy(b->arena, node->text, node->text_len);
	unsigned int stars = name ? take_stars(name, node->text_len) : 0;
	const struct kw_type *type = NULL;
	struct kw_expr *from;

	if (!name) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	if (stars > KW_MAX_STARS)
		return kw_bind_fail(b, node->at, "a pointer leads through %d others at most",
				    KW_MAX_STARS - 1);
	if ((strcmp(name, "void") != 0 || !stars) && kw_type_find(b->ctx, name, &type)) {
		kw_program_fail_at(b->ctx, b->text, node->at);
		return NULL;
	}
	from = kw_bind_node(b, node->a);
	if (!from)
		return NULL;
	if (!kw_is_number(from) || from->type == KW_VAL_FLOAT || from->unit == KW_UNIT_TIMESTAMP)
		return kw_bind_fail(b, node->a->first,
				    "only an address or a whole number can be cast, and %.*s is %s",
				    width_of(node->a), node->a->first, kind_of(from));
	return stars ? to_pointer(b, from, type, stars)
		     : to_number(b, node, from, kw_type_strip(b->ctx, type));
}

/* per_cpu(SYMBOL, CPU), or of an address in the area of each CPU */

static bool is_plain_symbol(const struct kw_binder *b, const struct kw_node *node)
{
	if (node->kind != KW_NODE_NAME && node->kind != KW_NODE_SYMBOL)
		return false;
	return !strpbrk(node->text, ".[-") && (node->kind == KW_NODE_SYMBOL || !kw_has_name(b, node->text));
}

struct kw_expr *kw_bind_per_cpu(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new_address(b, KW_EXPR_PER_CPU), *base;

	if (!e || kw_kernel_get(b->ctx, &e->kernel))
		return NULL;
	if (!node->a || !node->a->next || node->a->next->next)
		return kw_bind_fail(b, node->at, "expected per_cpu(SYMBOL, CPU)");
	base = is_plain_symbol(b, node->a) ? kw_bind_plain_symbol(b, node->a, node->a->text)
					   : kw_bind_address(b, node->a);
	e->a = base ? kw_bind_node(b, node->a->next) : NULL;
	if (!e->a)
		return NULL;
	if (e->a->type != KW_VAL_UINT && e->a->type != KW_VAL_INT)
		return kw_bind_fail(b, node->a->next->first, "expected the number of a CPU, and this is %s",
				    kind_of(e->a));
	if (base->op == KW_EXPR_CONST)
		e->value = base->value;
	else
		e->b = base;
	e->object = base->object;
	e->stars = base->stars;
	return e;
}
