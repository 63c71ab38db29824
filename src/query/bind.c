/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding names and constants. */
#include "query/bind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/pattern.h"
#include "query/scalar.h"
#include "query/walker.h"
#include "type/types.h"
#include "util/array.h"
#include "util/error.h"
#include "util/nearest.h"

#define MAX_DEPTH 1000	 /* of trees, names that stand for others included */
#define MAX_STEPS 100000 /* of one program: names can double what they stand for again and again */

struct kw_expr *kw_bind_fail(struct kw_binder *b, const char *at, const char *fmt, ...)
{
	char message[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	kw_program_fail(b->ctx, b->text, at, KW_INVALID, "%s", message);
	return NULL;
}

struct kw_expr *kw_bind_new(struct kw_binder *b, enum kw_expr_op op)
{
	struct kw_expr *e = kw_arena_alloc(b->arena, sizeof(*e));

	if (!e)
		kw_fail_nomem(b->ctx);
	else
		e->op = op;
	return e;
}

const char *kw_expr_kind(const struct kw_expr *e)
{
	switch (e->type) {
	case KW_VAL_ABSENT: return "absent";
	case KW_VAL_BOOL: return "true or false";
	case KW_VAL_STRING: return "a text";
	case KW_VAL_BYTES: return "bytes";
	case KW_VAL_ADDRESS: return "an address";
	default: break;
	}
	switch (e->unit) {
	case KW_UNIT_BYTES: return "a size";
	case KW_UNIT_NANOSECONDS: return "a time";
	case KW_UNIT_TIMESTAMP: return "a time stamp";
	case KW_UNIT_PERCENT: return "a share";
	default: return "a number";
	}
}

/* Constants */

static struct kw_expr *number(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_CONST);

	if (!e)
		return NULL;
	e->unit = node->unit;
	/* A share is a float: 80% of something is compared with what is not whole. */
	if (node->unit == KW_UNIT_PERCENT && !node->is_float)
		e->value = (struct kw_value){ .type = KW_VAL_FLOAT, .f = (double)node->u };
	else if (node->is_float)
		e->value = (struct kw_value){ .type = KW_VAL_FLOAT, .f = node->f };
	else
		kw_set_uint(&e->value, node->u);
	e->type = e->value.type;
	if (node->unit == KW_UNIT_PERCENT)
		e->display = KW_SHOW_PERCENT;
	return e;
}

static struct kw_expr *text(struct kw_binder *b, const char *str, size_t len)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_CONST);

	if (e) {
		e->type = KW_VAL_STRING;
		e->value = (struct kw_value){ .type = KW_VAL_STRING, .len = (uint32_t)len, .str = str };
	}
	return e;
}

static struct kw_expr *truth(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_CONST);

	if (e) {
		e->type = node->kind == KW_NODE_BOOL ? KW_VAL_BOOL : KW_VAL_ABSENT;
		e->value = (struct kw_value){ .type = (uint8_t)e->type, .u = node->u };
		if (e->type == KW_VAL_ABSENT)
			kw_set_absent(&e->value, KW_ABSENT_NOT_APPLICABLE);
	}
	return e;
}

/* Names */

/* True for one of some words, which blanks separate. */
static bool is_among(const char *words, const char *name)
{
	size_t len = strlen(name);

	while (words && *words) {
		size_t span = strcspn(words, " ");

		if (span == len && memcmp(words, name, len) == 0)
			return true;
		words += span + (words[span] == ' ');
	}
	return false;
}

static bool is_enumerator(struct kw_binder *b, const struct kw_type *type, const char *name)
{
	const char *known;
	int64_t value;

	for (uint32_t i = 0; i < type->count; i++)
		if (kw_enumerator_at(b->ctx, type, i, &known, &value) == KW_OK && strcmp(known, name) == 0)
			return true;
	return false;
}

static bool is_word(struct kw_binder *b, const char *name)
{
	if (!b->hint)
		return false;
	return is_among(b->hint->words, name) ||
	       (b->hint->enumeration && is_enumerator(b, b->hint->enumeration, name));
}

/* These may be written without quotes. */
const char *kw_words_of(const struct kw_field *field)
{
	static const struct {
		const char *name, *words;
	} fields[] = {
		{ "state", "R S D T t X Z P I" },
		{ "cls", "TS FF RR B ISO IDL DLN EXT" },
	};

	for (size_t i = 0; field->type == KW_VAL_STRING && i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].name, field->name) == 0 && field->scope != KW_SCOPE_ROW)
			return fields[i].words;
	return NULL;
}

static struct kw_expr *field(struct kw_binder *b, const struct kw_binding *binding)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_FIELD);
	const struct kw_type *type;

	if (!e)
		return NULL;
	e->binding = kw_arena_alloc(b->arena, sizeof(*binding));
	if (!e->binding) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	*e->binding = *binding;
	e->type = binding->column.type;
	e->unit = binding->column.unit;
	e->display = binding->column.display;
	if (binding->def) {
		e->words = kw_words_of(&binding->def->pub);
	} else {
		type = kw_type_strip(b->ctx, binding->path.type);
		if (type->kind == KW_TYPE_ENUM)
			e->enumeration = type;
		if (e->type == KW_VAL_ADDRESS)
			kw_set_pointee(b->ctx, e, type);
	}
	e->next_field = b->fields;
	b->fields = e;
	return e;
}

static void offer_fields(struct kw_binder *b, struct kw_nearest *nearest)
{
	static const char *const clauses[] = { "where", "select", "group", "sort", "limit", "distinct" };
	const struct kw_field *known;

	for (const struct kw_alias *alias = b->aliases; alias; alias = alias->before)
		kw_nearest_offer(nearest, alias->name);
	for (const struct kw_alias *alias = b->lets; alias; alias = alias->before)
		kw_nearest_offer(nearest, alias->name);
	for (size_t i = 0; b->root && (known = kw_field_at(b->root->source->pub.name, i)); i++)
		kw_nearest_offer(nearest, known->name);
	/* A clause whose word is misspelt looks like one more column. */
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		kw_nearest_offer(nearest, clauses[i]);
}

static struct kw_expr *unknown_word(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_nearest nearest = { .want = node->text };
	const struct kw_type *type = b->hint->enumeration;
	char near[256];
	const char *known;
	int64_t value;

	if (b->hint->words)
		return kw_bind_fail(b, node->at, "\"%s\" is no field and none of the values here: %s",
				    node->text, b->hint->words);
	for (uint32_t i = 0; i < type->count; i++)
		if (kw_enumerator_at(b->ctx, type, i, &known, &value) == KW_OK)
			kw_nearest_offer(&nearest, known);
	return kw_bind_fail(b, node->at, "\"%s\" is no field and no value of enum %s%s", node->text,
			    type->name, kw_nearest_text(&nearest, near, sizeof(near)));
}

static struct kw_expr *unknown_name(struct kw_binder *b, const struct kw_node *node)
{
	const char *source = b->root ? b->root->source->pub.name : NULL;
	struct kw_nearest nearest = { .want = node->text };
	struct kw_member member;
	char near[256];

	if (b->hint && (b->hint->words || b->hint->enumeration))
		return unknown_word(b, node);
	offer_fields(b, &nearest);
	if (nearest.nr)
		return kw_bind_fail(b, node->at, "unknown field \"%s\"%s", node->text,
				    kw_nearest_text(&nearest, near, sizeof(near)));
	if (b->root && b->root->type && kw_type_member(b->ctx, b->root->type, node->text, &member) == KW_OK)
		return kw_bind_fail(b, node->at, "unknown field \"%s\"; the member of %s is %s.%s",
				    node->text, b->root->type->name,
				    b->root->type == b->root->kernel->task_struct ? "task"
										  : b->root->type->name,
				    node->text);
	if (b->hint && b->hint->type == KW_VAL_STRING)
		return kw_bind_fail(b, node->at, "unknown field \"%s\"; a text is written in quotes: \"%s\"",
				    node->text, node->text);
	if (!source)
		return kw_bind_fail(
			b, node->at,
			"unknown name \"%s\"; here are no rows: write system.FIELD, count(QUERY), or a name "
			"of let or param",
			node->text);
	return kw_bind_fail(b, node->at, "unknown field \"%s\"; kwalk fields %s lists all", node->text,
			    source);
}

/* The name of what is bound, by a chain of earlier names: a name never means itself. */
static struct kw_expr *bind_alias(struct kw_binder *b, const struct kw_alias *alias, bool is_let)
{
	const struct kw_alias *aliases = b->aliases, *lets = b->lets;
	struct kw_expr *e;

	if (is_let)
		b->lets = alias->before;
	else
		b->aliases = alias->before;
	e = kw_bind_node(b, alias->node);
	b->aliases = aliases;
	b->lets = lets;
	return e;
}

static const struct kw_alias *find_alias(const struct kw_alias *alias, const char *name)
{
	while (alias && strcmp(alias->name, name) != 0)
		alias = alias->before;
	return alias;
}

bool kw_has_name(const struct kw_binder *b, const char *name)
{
	return find_alias(b->aliases, name) || find_alias(b->lets, name);
}

bool kw_is_cpu_time(const struct kw_root *root, const char *name)
{
	return !root->source->walk && strcmp(name, "cpu") == 0;
}

static struct kw_expr *cpu_time(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_node *time = kw_arena_alloc(b->arena, sizeof(*time));
	struct kw_node *rate = kw_arena_alloc(b->arena, sizeof(*rate));

	if (!time || !rate) {
		kw_fail_nomem(b->ctx);
		return NULL;
	}
	*time = *rate = *node;
	time->text = "time";
	rate->text = "rate";
	time->text_len = rate->text_len = 4;
	rate->kind = KW_NODE_CALL;
	time->next = rate->next = NULL;
	rate->a = time;
	return kw_bind_call(b, rate);
}

static struct kw_expr *row_member(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_binding binding;

	if (kw_bind_path(b->ctx, b->root, node->text, &binding) == KW_OK)
		return field(b, &binding);
	kw_program_fail_at(b->ctx, b->text, node->at);
	return NULL;
}

/* In a grouped query an expression that the rows are grouped by is a value of the group. */
static struct kw_expr *bind_key(struct kw_binder *b, const struct kw_node *node)
{
	uint32_t i = 0;

	for (const struct kw_item *key = b->grouping->keys; key; key = key->next, i++) {
		const struct kw_binding *binding = &b->grouping->key_bindings[i];
		bool named = key->alias && node->kind == KW_NODE_NAME && strcmp(key->alias, node->text) == 0;
		struct kw_expr *e;

		if (!named && !kw_nodes_equal(key->node, node))
			continue;
		e = kw_bind_new(b, KW_EXPR_SLOT);
		if (!e)
			return NULL;
		e->slot = i;
		e->type = binding->column.type;
		e->unit = binding->column.unit;
		e->display = binding->column.display;
		if (binding->expr) {
			e->object = binding->expr->object;
			e->stars = binding->expr->stars;
		} else if (!binding->def && e->type == KW_VAL_ADDRESS) {
			kw_set_pointee(b->ctx, e, binding->path.type);
		}
		e->words = binding->def ? kw_words_of(&binding->def->pub) : NULL;
		e->binding = &b->grouping->key_bindings[i];
		return e;
	}
	return NULL;
}

/* In front of everything else: what select, let or param gave a name to. */
static struct kw_expr *bind_given(struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_alias *alias = find_alias(b->aliases, node->text);

	return alias ? bind_alias(b, alias, false) : bind_alias(b, find_alias(b->lets, node->text), true);
}

/* NAME.member, where the name was given to a pointer: *ret stays NULL when it was not. False with the error set. */
static bool bind_behind_name(struct kw_binder *b, const struct kw_node *node, struct kw_expr **ret)
{
	struct kw_node head = *node;
	struct kw_expr *e;
	char *name;

	head.text_len = strcspn(node->text, ".[-");
	head.text = name = kw_arena_copy(b->arena, node->text, head.text_len);
	if (!name)
		return kw_fail_nomem(b->ctx) == KW_OK;
	if (!node->text[head.text_len])
		return true;
	e = b->grouping ? bind_key(b, &head) : NULL;
	if (!e && !kw_has_name(b, name))
		return true;
	if (!e)
		e = bind_given(b, &head);
	if (e && e->object)
		*ret = e = kw_bind_behind(b, node, e, node->text + head.text_len);
	return e;
}

static struct kw_expr *bind_name(struct kw_binder *b, const struct kw_node *node)
{
	const struct kw_field_group *group;
	struct kw_binding binding;
	struct kw_expr *e = NULL;

	if (is_word(b, node->text))
		return text(b, node->text, node->text_len);
	if (kw_has_name(b, node->text))
		return bind_given(b, node);
	if (!bind_behind_name(b, node, &e) || e)
		return e;
	if (strncmp(node->text, "system.", 7) == 0 &&
	    (!b->root || strcmp(b->root->source->pub.name, "system") != 0))
		return kw_bind_system(b, node, node->text + 7);
	if (b->grouping)
		return kw_bind_fail(
			b, node->at,
			"\"%s\" is neither what the rows are grouped by nor inside count(), sum(), "
			"min(), max(), avg(), p50() or p99()",
			node->text);
	if (!b->root)
		return unknown_name(b, node);
	if (kw_is_outer(b, node))
		return kw_bind_outer(b, node);
	if (kw_lacks_outer(b, node))
		return kw_bind_fail(b, node->at, "outer is the row in front of a join, and here is none");
	if (kw_is_row(b, node->text) && !kw_source_field(b->root->source, node->text, &group))
		return kw_bind_row(b, node);
	/* Of a structure that was named, members need not be called so. */
	if (kw_walker_is(b->root->source->pub.name))
		return kw_source_field(b->root->source, node->text, &group)
			       ? (kw_bind(b->ctx, b->root, node->text, &binding), field(b, &binding))
			       : row_member(b, node);
	if (!strpbrk(node->text, ".[>"))
		return kw_bind(b->ctx, b->root, node->text, &binding) == KW_OK ? field(b, &binding)
		       : kw_is_cpu_time(b->root, node->text)		       ? cpu_time(b, node)
									       : unknown_name(b, node);
	if (!b->root->type)
		return kw_bind_fail(b, node->at, "rows of %s are no structures: they have no members",
				    b->root->source->pub.name);
	return row_member(b, node);
}

static struct kw_expr *is_absent(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = kw_bind_new(b, KW_EXPR_IS_ABSENT);

	if (!e)
		return NULL;
	e->type = KW_VAL_BOOL;
	e->a = kw_bind_node(b, node->a);
	return e->a ? e : NULL;
}

static struct kw_expr *bind(struct kw_binder *b, const struct kw_node *node)
{
	switch (node->kind) {
	case KW_NODE_NUMBER: return number(b, node);
	case KW_NODE_STRING: return text(b, node->text, node->text_len);
	case KW_NODE_BOOL:
	case KW_NODE_ABSENT: return truth(b, node);
	case KW_NODE_NAME: return bind_name(b, node);
	case KW_NODE_SYMBOL: return kw_bind_symbol(b, node);
	case KW_NODE_CAST: return kw_bind_cast(b, node);
	case KW_NODE_MEMBER: return kw_bind_member(b, node);
	case KW_NODE_CALL: return kw_bind_call(b, node);
	case KW_NODE_IN: return kw_bind_in(b, node);
	case KW_NODE_IS_ABSENT: return is_absent(b, node);
	case KW_NODE_UNARY:
		if (node->op == '*')
			return kw_bind_deref(b, node);
		break;
	case KW_NODE_BINARY:
	case KW_NODE_COND: break;
	}
	return kw_bind_operator(b, node);
}

struct kw_expr *kw_bind_node(struct kw_binder *b, const struct kw_node *node)
{
	struct kw_expr *e = NULL;

	if (b->depth == MAX_DEPTH || b->steps++ == MAX_STEPS)
		return kw_bind_fail(b, node->at,
				    "the expression is too large, with what its names stand for");
	b->depth++;
	if (b->grouping)
		e = bind_key(b, node);
	if (!e)
		e = bind(b, node);
	b->depth--;
	return e;
}

static const char *name_of(struct kw_binder *b, const struct kw_node *node, const char *alias)
{
	char *copy;

	if (alias)
		return alias;
	if (node->kind == KW_NODE_NAME)
		return node->text;
	copy = kw_arena_copy(b->arena, node->first, node->len);
	for (char *c = copy; c && *c; c++)
		if (*c == '\n' || *c == '\t' || *c == '\r')
			*c = ' ';
	return copy;
}

kw_status kw_bind_binding(struct kw_binder *b, const struct kw_node *node, const char *alias, bool keep_expr,
			  struct kw_binding *ret)
{
	const char *name = name_of(b, node, alias);
	struct kw_expr *e;

	b->fields = NULL;
	b->uses = 0;
	e = name ? kw_bind_node(b, node) : NULL;
	if (!e)
		return name ? b->ctx->status : kw_fail_nomem(b->ctx);
	if (e->op == KW_EXPR_FIELD && !keep_expr) {
		*ret = *e->binding;
		ret->column.name = name;
		if (alias || !ret->def || find_alias(b->aliases, name))
			ret->column.header = name;
		return KW_OK;
	}
	*ret = (struct kw_binding){
		.expr = e,
		.fields = b->fields,
		.uses = b->uses,
		.column = { name, name, e->type == KW_VAL_ABSENT ? KW_VAL_STRING : e->type, e->unit,
			    e->display },
	};
	/* A key, or a field among the columns of a group, keeps its heading. */
	if (!alias && node->kind == KW_NODE_NAME && e->binding && e->binding->def)
		ret->column.header = e->binding->column.header;
	return KW_OK;
}

kw_status kw_bind_condition(struct kw_binder *b, const struct kw_node *node, struct kw_binding *ret)
{
	kw_status status = kw_bind_binding(b, node, NULL, true, ret);

	if (status || ret->expr->type == KW_VAL_BOOL || kw_is_absent(ret->expr))
		return status;
	return kw_program_fail(b->ctx, b->text, node->first, KW_INVALID,
			       "expected a condition, and this is %s: compare it with something",
			       kw_expr_kind(ret->expr));
}
