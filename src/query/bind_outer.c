/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binding names behind a join that are of the rows in front of it:
 *
 *     tasks where pid == 1 files select pid, fd, comm, outer.pid
 *
 * What the row itself has goes first; `outer.` in front of a name passes it by. Such a value becomes a column of the query
 * in front, and is read once for each of its rows.
 */
#include <string.h>

#include "query/bind.h"
#include "query/walker.h"
#include "util/error.h"

static const char prefix[] = "outer.";

static bool has_path(const struct kw_binder *b, const char *name)
{
	const struct kw_root *root = b->root;
	struct kw_path path;
	bool known;

	if (!root->type || (!strpbrk(name, ".[>") && !kw_walker_is(root->source->pub.name)))
		return false;
	known = kw_path_compile(b->ctx, root->type, kw_path_in_row(root, name), &path) == KW_OK;
	if (!known)
		kw_clear_error(b->ctx);
	return known;
}

/* Whether the rows have something of this name. */
static bool has(const struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_field_group *group;

	if (node->kind == KW_NODE_SYMBOL)
		return false;
	return kw_source_field(b->root->source, node->text, &group) || kw_is_row(b, node->text) ||
	       kw_is_cpu_time(b->root, node->text) || has_path(b, node->text);
}

/* &row.member */
static bool is_place_in(const struct kw_binder *b, const struct kw_node *node)
{
	char row[64];
	size_t len = strcspn(node->text, ".[-");

	if (node->kind != KW_NODE_SYMBOL || !node->text[len] || len >= sizeof(row))
		return false;
	memcpy(row, node->text, len);
	row[len] = '\0';
	return kw_is_row(b, row);
}

static bool begins_so(const struct kw_node *node)
{
	return strncmp(node->text, prefix, strlen(prefix)) == 0;
}

bool kw_is_outer(struct kw_binder *b, const struct kw_node *node)
{
	if (!b->outer || !b->root)
		return false;
	if (begins_so(node))
		return true;
	if (has(b, node) || is_place_in(b, node))
		return false;
	return has(b->outer->binder, node) || is_place_in(b->outer->binder, node) ||
	       kw_is_outer(b->outer->binder, node);
}

bool kw_lacks_outer(const struct kw_binder *b, const struct kw_node *node)
{
	return !b->outer && begins_so(node) && !has_path(b, node->text);
}

/* What the expression behind the join promises is what the one in front of it does. */
static void take_type(struct kw_binder *b, struct kw_expr *e, const struct kw_binding *from)
{
	e->type = from->column.type;
	e->unit = from->column.unit;
	e->display = from->column.display;
	if (from->expr) {
		e->type = from->expr->type;
		e->words = from->expr->words;
		e->enumeration = from->expr->enumeration;
		e->object = from->expr->object;
		e->stars = from->expr->stars;
	} else if (from->def) {
		e->words = kw_words_of(&from->def->pub);
	} else {
		const struct kw_type *type = kw_type_strip(b->ctx, from->path.type);

		if (type->kind == KW_TYPE_ENUM)
			e->enumeration = type;
		if (e->type == KW_VAL_ADDRESS)
			kw_set_pointee(b->ctx, e, type);
	}
}

struct kw_expr *kw_bind_outer_value(struct kw_binder *b, const struct kw_binding *binding)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_OUTER);

	if (!e)
		return NULL;
	e->binding = kw_arena_alloc(b->arena, sizeof(*binding));
	if (!e->binding) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	*e->binding = *binding;
	e->outer = b->outer->values;
	take_type(b, e, binding);
	return b->outer->add(b->outer, binding, &e->slot) ? NULL : e;
}

static struct kw_outer_use *add_use(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_outer_use *use = kw_arena_alloc(b->arena, sizeof(*use));
	struct kw_node *name = kw_arena_alloc(b->arena, sizeof(*name));
	struct kw_binding binding;
	struct kw_expr *e;

	if (!use || !name) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	*name = *node;
	name->next = NULL;
	if (begins_so(node)) {
		name->text += strlen(prefix);
		name->text_len -= strlen(prefix);
	}
	if (kw_bind_binding(b->outer->binder, name, NULL, false, &binding))
		return NULL;
	e = kw_bind_outer_value(b, &binding);
	if (!e)
		return NULL;
	use->node = node;
	use->as = *e;
	use->next = b->outer->uses;
	b->outer->uses = use;
	return use;
}

struct kw_expr *kw_bind_outer(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_OUTER);
	struct kw_outer_use *use = b->outer->uses;

	while (use && !kw_nodes_equal(use->node, node))
		use = use->next;
	if (!use)
		use = add_use(b, node);
	if (!e || !use)
		return NULL;
	*e = use->as;
	return e;
}
