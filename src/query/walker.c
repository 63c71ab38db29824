/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking structures that kwalk knows nothing of. They may be anything, damaged or not what was said: every walk has a
 * limit, and one that goes round or runs into memory that is none ends as damage.
 */
#include "query/walker.h"

#include <string.h>

#include <kwalk/object.h>
#include <kwalk/symbol.h>

#include "kernel/list.h"
#include "kernel/xarray.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define MAX_HEIGHT 64 /* of a red-black tree: 2^32 objects */

enum needs { NEEDS_MEMBER, NEEDS_NOTHING, NEEDS_NUMBER };

struct kw_walker_kind {
	const char *name, *usage;
	enum needs needs;
	kw_status (*run)(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			 kw_take_row take, void *arg);
};

/* Walks */

struct on_list {
	kw_take_row take;
	void *arg;
	uint32_t index;
};

static bool take_listed(kw_ctx *ctx, uint64_t object, void *arg)
{
	struct on_list *on = arg;

	(void)ctx;
	return on->take(object, on->index++, 0, on->arg);
}

static kw_status walk_list(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			   kw_take_row take, void *arg)
{
	struct on_list on = { take, arg, 0 };

	(void)kernel;
	return kw_list_each(ctx, w->head, w->node, KW_WALKER_MAX_ROWS, take_listed, &on);
}

/* The node that `marked` stands for moves up at each power of two: a list that goes round comes by it again. */
static kw_status walk_hlist(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			    kw_take_row take, void *arg)
{
	uint64_t at, marked = 0;
	kw_status status = kw_read_u64(ctx, w->head, &at);

	(void)kernel;
	for (uint32_t i = 0; !status && at; i++) {
		if (at == marked || i == KW_WALKER_MAX_ROWS)
			return KW_FORMAT;
		if (!(i & (i - 1)))
			marked = at;
		if (!take(at - w->node, i, 0, arg))
			return KW_OK;
		status = kw_read_u64(ctx, at + w->next, &at);
	}
	return status;
}

/*
 * In order, with the way down on a stack: no balanced tree is higher, and one that is higher is none. What goes round is
 * found as in walk_hlist().
 */
static kw_status walk_rbtree(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			     kw_take_row take, void *arg)
{
	uint64_t stack[MAX_HEIGHT], at, marked = 0;
	unsigned int height = 0;
	kw_status status = kw_read_u64(ctx, w->head, &at);
	uint32_t nr = 0;

	(void)kernel;
	while (!status && (at || height)) {
		if (at) {
			if (height == MAX_HEIGHT || nr == KW_WALKER_MAX_ROWS)
				return KW_FORMAT;
			stack[height++] = at;
			status = kw_read_u64(ctx, at + w->left, &at);
			continue;
		}
		at = stack[--height];
		if (at == marked)
			return KW_FORMAT;
		if (!(nr & (nr - 1)))
			marked = at;
		if (!take(at - w->node, nr++, 0, arg))
			return KW_OK;
		status = kw_read_u64(ctx, at + w->right, &at);
	}
	return status;
}

static kw_status walk_xarray(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			     kw_take_row take, void *arg)
{
	uint64_t entries[KW_XA_MAX_SLOTS], base;
	struct kw_xa_walk walk;
	unsigned int nr;
	uint64_t rows = 0;
	kw_status status = kw_xa_begin(ctx, kernel, w->head, UINT32_MAX, &walk);

	if (status)
		return status;
	while ((nr = kw_xa_next_leaf(ctx, &walk, entries, &base))) {
		for (unsigned int i = 0; i < nr; i++) {
			if (!kw_xa_is_pointer(entries[i]))
				continue;
			if (rows++ == KW_WALKER_MAX_ROWS)
				return KW_FORMAT;
			if (!take(entries[i], (uint32_t)(base + i), 0, arg))
				return KW_OK;
		}
	}
	return walk.damaged ? walk.damage : KW_OK;
}

static kw_status walk_array(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			    kw_take_row take, void *arg)
{
	(void)ctx;
	(void)kernel;
	for (uint32_t i = 0; i < w->nr; i++)
		if (!take(w->head + i * w->size, i, 0, arg))
			break;
	return KW_OK;
}

static kw_status walk_percpu(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *w,
			     kw_take_row take, void *arg)
{
	(void)ctx;
	for (unsigned int cpu = 0; cpu < kernel->nr_cpus; cpu++)
		if (kw_cpu_is_possible(kernel, cpu) && !take(kw_percpu(kernel, w->head, cpu), cpu, cpu, arg))
			break;
	return KW_OK;
}

static const struct kw_walker_kind kinds[] = {
	{ "list", "list(HEAD, struct T, MEMBER)", NEEDS_MEMBER, walk_list },
	{ "hlist", "hlist(HEAD, struct T, MEMBER)", NEEDS_MEMBER, walk_hlist },
	{ "rbtree", "rbtree(ROOT, struct T, MEMBER)", NEEDS_MEMBER, walk_rbtree },
	{ "xarray", "xarray(XA, struct T)", NEEDS_NOTHING, walk_xarray },
	{ "array", "array(ADDRESS, struct T, N)", NEEDS_NUMBER, walk_array },
	{ "percpu", "percpu(SYMBOL, struct T)", NEEDS_NOTHING, walk_percpu },
};

static const struct kw_walker_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

bool kw_walker_is(const char *name)
{
	return find_kind(name);
}

kw_status kw_walker_run(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *walker,
			kw_take_row take, void *arg)
{
	return walker->kind->run(ctx, kernel, walker, take, arg);
}

/* What every row has beside the members of its structure. */

static void read_place(struct kw_row *row, const void *layout, struct kw_value *values)
{
	(void)layout;
	values[0] = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = row->task };
	kw_set_uint(&values[1], row->index);
}

static const struct kw_field_def place_fields[] = {
	KW_READ_FIELD("address", "ADDRESS", "", ADDRESS, NONE, HEX, OBJECT, "where it lies", ""),
	KW_READ_FIELD("index", "INDEX", "", UINT, NONE, PLAIN, OBJECT, "its number", ""),
};
static const struct kw_field_table place_table = { place_fields, 2 };
static const struct kw_field_group place_group = { .table = &place_table, .read = read_place };

/* Binding */

static kw_status fail(struct kw_binder *b, const struct kw_node *node, const char *what)
{
	return kw_program_fail(b->ctx, b->text, node->at, KW_INVALID, "%s", what);
}

/* An address: a number, &symbol, or &symbol.member of one whose type is known. */
static kw_status bind_head(struct kw_binder *b, const struct kw_node *node, struct kw_walker *w)
{
	bool is_percpu = strcmp(w->kind->name, "percpu") == 0;
	struct kw_object object;
	struct kw_expr *e;

	if (is_percpu && node->kind == KW_NODE_NAME && !strpbrk(node->text, ".[>"))
		return kw_symbol_address(b->ctx, node->text, &w->head)
			       ? kw_program_fail_at(b->ctx, b->text, node->at)
			       : KW_OK;
	if (node->kind == KW_NODE_SYMBOL && strpbrk(node->text, ".[>")) {
		if (kw_object_find(b->ctx, node->text, &object))
			return kw_program_fail_at(b->ctx, b->text, node->at);
		w->head = object.address;
		return KW_OK;
	}
	e = kw_bind_node(b, node);
	if (!e)
		return b->ctx->status;
	if (e->op != KW_EXPR_CONST || (e->type != KW_VAL_ADDRESS && e->type != KW_VAL_UINT))
		return fail(b, node, "expected an address: &SYMBOL, &SYMBOL.MEMBER, or a number");
	w->head = e->value.u;
	return KW_OK;
}

static kw_status bind_type(struct kw_binder *b, const struct kw_node *node, struct kw_walker *w)
{
	const struct kw_type *type;

	if (node->kind != KW_NODE_NAME)
		return fail(b, node, "expected a structure's name, such as struct module");
	if (kw_type_find(b->ctx, node->text, &type))
		return kw_program_fail_at(b->ctx, b->text, node->at);
	type = kw_type_strip(b->ctx, type);
	if (type->kind != KW_TYPE_STRUCT && type->kind != KW_TYPE_UNION)
		return fail(b, node, "expected a structure's name, such as struct module");
	w->def.type = node->text;
	w->size = kw_type_size(b->ctx, type);
	return KW_OK;
}

static kw_status bind_member(struct kw_binder *b, const struct kw_node *node, struct kw_walker *w)
{
	struct kw_member member;

	if (node->kind != KW_NODE_NAME)
		return fail(b, node, "expected the name of the member that the objects hang on");
	if (kw_type_offset(b->ctx, w->def.type, node->text, &member))
		return kw_program_fail_at(b->ctx, b->text, node->at);
	w->node = member.bit_offset / 8;
	w->left = kw_offset_or_none(b->ctx, "struct rb_node", "rb_left");
	w->right = kw_offset_or_none(b->ctx, "struct rb_node", "rb_right");
	w->next = kw_offset_or_none(b->ctx, "struct hlist_node", "next");
	if (w->next == KW_NO_ADDR || w->left == KW_NO_ADDR || w->right == KW_NO_ADDR) {
		/* They have been so in every kernel: { next, pprev }, { parent, right, left }. */
		w->next = 0;
		w->right = 8;
		w->left = 16;
	}
	return KW_OK;
}

static kw_status bind_number(struct kw_binder *b, const struct kw_node *node, struct kw_walker *w)
{
	const struct kw_expr *e = kw_bind_node(b, node);

	if (!e)
		return b->ctx->status;
	if (e->op != KW_EXPR_CONST || e->type != KW_VAL_UINT || e->unit || e->value.u > KW_WALKER_MAX_ROWS)
		return fail(b, node, "expected the number of elements, a million at most");
	w->nr = e->value.u;
	return KW_OK;
}

static kw_status bind_arguments(struct kw_binder *b, const struct kw_query_syntax *syntax,
				struct kw_walker *w)
{
	const struct kw_node *head = syntax->arguments, *type = head ? head->next : NULL;
	const struct kw_node *third = type ? type->next : NULL;
	bool needs_third = w->kind->needs != NEEDS_NOTHING;
	kw_status status;

	if (!type || (needs_third && !third) || (third && (third->next || !needs_third)))
		return kw_program_fail(b->ctx, b->text, syntax->at, KW_INVALID, "expected %s",
				       w->kind->usage);
	status = bind_head(b, head, w);
	if (!status)
		status = bind_type(b, type, w);
	if (!status && w->kind->needs == NEEDS_MEMBER)
		status = bind_member(b, third, w);
	/* The root is the structure; its head is not its first member. */
	if (!status && strcmp(w->kind->name, "xarray") == 0) {
		uint64_t head = kw_offset_or_none(b->ctx, "struct xarray", "xa_head");

		w->head += head == KW_NO_ADDR ? 0 : head;
	}
	if (!status && w->kind->needs == NEEDS_NUMBER)
		status = bind_number(b, third, w);
	return status;
}

/* The query calls kw_walker_run() instead: this only tells that rows are no tasks. */
static kw_status no_walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_row take,
			 void *arg)
{
	(void)ctx;
	(void)kernel;
	(void)layout;
	(void)take;
	(void)arg;
	return KW_OK;
}

kw_status kw_walker_bind(struct kw_binder *b, const struct kw_query_syntax *syntax, struct kw_walker **ret)
{
	struct kw_walker *w = kw_arena_alloc(b->arena, sizeof(*w));
	kw_status status;

	if (!w)
		return kw_fail_nomem(b->ctx);
	w->kind = find_kind(syntax->source);
	w->def.pub = (struct kw_source){ w->kind->name, "objects of a structure", "address,index" };
	w->def.groups = &place_group;
	w->def.nr_groups = 1;
	w->def.walk = no_walk;
	status = bind_arguments(b, syntax, w);
	if (!status)
		*ret = w;
	return status;
}
