/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking structures that kwalk knows nothing of. They may be anything, damaged or not what was said: every walk has a
 * limit, and one that goes round or runs into memory that is none ends as damage.
 */
#include "query/walker.h"

#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/list.h"
#include "kernel/maple.h"
#include "kernel/xarray.h"
#include "memory/memory.h"
#include "query/query.h"
#include "type/types.h"
#include "util/error.h"

#define MAX_HEIGHT 64 /* of a red-black tree: 2^32 objects */

enum needs { NEEDS_MEMBER, NEEDS_NOTHING, NEEDS_NUMBER };

struct walk {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	const struct kw_walker *w;
	kw_take_rows take;
	void *arg;
	uint32_t owner; /* what goes to row->cpu */
};

struct kw_walker_kind {
	const char *name, *usage;
	enum needs needs;
	const char *heads[3]; /* structures that its head can be; none: anything */
	kw_status (*run)(const struct walk *walk, uint64_t head);
};

/* Walks */

static bool give(const struct walk *walk, uint64_t object, uint64_t index)
{
	return kw_take_row(walk->take, object, index, walk->owner, walk->arg);
}

struct on_list {
	const struct walk *walk;
	uint64_t index;
};

static bool take_listed(kw_ctx *ctx, uint64_t object, void *arg)
{
	struct on_list *on = arg;

	(void)ctx;
	return give(on->walk, object, on->index++);
}

static kw_status walk_list(const struct walk *walk, uint64_t head)
{
	struct on_list on = { walk, 0 };

	return kw_list_each(walk->ctx, head, walk->w->node, KW_WALKER_MAX_ROWS, take_listed, &on);
}

/* The node that `marked` stands for moves up at each power of two: a list that goes round comes by it again. */
static kw_status walk_hlist(const struct walk *walk, uint64_t head)
{
	uint64_t at, marked = 0;
	kw_status status = kw_read_u64(walk->ctx, head, &at);

	for (uint32_t i = 0; !status && at; i++) {
		if (at == marked || i == KW_WALKER_MAX_ROWS)
			return KW_FORMAT;
		if (!(i & (i - 1)))
			marked = at;
		if (!give(walk, at - walk->w->node, i))
			return KW_OK;
		status = kw_read_u64(walk->ctx, at + walk->w->next, &at);
	}
	return status;
}

/*
 * In order, with the way down on a stack: no balanced tree is higher, and one that is higher is none. What goes round is
 * found as in walk_hlist().
 */
static kw_status walk_rbtree(const struct walk *walk, uint64_t head)
{
	uint64_t stack[MAX_HEIGHT], at, marked = 0;
	unsigned int height = 0;
	kw_status status = kw_read_u64(walk->ctx, head, &at);
	uint32_t nr = 0;

	while (!status && (at || height)) {
		if (at) {
			if (height == MAX_HEIGHT || nr == KW_WALKER_MAX_ROWS)
				return KW_FORMAT;
			stack[height++] = at;
			status = kw_read_u64(walk->ctx, at + walk->w->left, &at);
			continue;
		}
		at = stack[--height];
		if (at == marked)
			return KW_FORMAT;
		if (!(nr & (nr - 1)))
			marked = at;
		if (!give(walk, at - walk->w->node, nr++))
			return KW_OK;
		status = kw_read_u64(walk->ctx, at + walk->w->right, &at);
	}
	return status;
}

static kw_status walk_xarray(const struct walk *walk, uint64_t head)
{
	uint64_t entries[KW_XA_MAX_SLOTS], base;
	struct kw_xa_walk xa;
	unsigned int nr;
	uint64_t rows = 0, leaves = 0;
	kw_status status = kw_xa_begin(walk->ctx, walk->kernel, head + walk->w->xa_head, UINT32_MAX, &xa);

	if (status)
		return status;
	while ((nr = kw_xa_next_leaf(walk->ctx, &xa, entries, &base))) {
		if (leaves++ == KW_WALKER_MAX_ROWS)
			return KW_FORMAT;
		for (unsigned int i = 0; i < nr; i++) {
			if (!kw_xa_is_pointer(entries[i]))
				continue;
			if (rows++ == KW_WALKER_MAX_ROWS)
				return KW_FORMAT;
			if (!give(walk, entries[i], base + i))
				return KW_OK;
		}
	}
	return xa.damaged ? xa.damage : KW_OK;
}

struct in_tree {
	const struct walk *walk;
	uint64_t rows;
	bool is_full;
};

static bool take_range(uint64_t first, uint64_t last, uint64_t entry, void *arg)
{
	struct in_tree *in = arg;

	(void)last;
	in->is_full = in->rows++ == KW_WALKER_MAX_ROWS;
	return !in->is_full && give(in->walk, entry, first);
}

static kw_status walk_maple(const struct walk *walk, uint64_t head)
{
	struct in_tree in = { .walk = walk };
	kw_status status = kw_maple_each(walk->ctx, walk->kernel, head, UINT64_MAX, take_range, &in);

	return in.is_full ? KW_FORMAT : status;
}

static kw_status walk_array(const struct walk *walk, uint64_t head)
{
	for (uint32_t i = 0; i < walk->w->nr; i++)
		if (!give(walk, head + i * walk->w->size, i))
			break;
	return KW_OK;
}

static kw_status walk_percpu(const struct walk *walk, uint64_t head)
{
	const struct kw_kernel *kernel = walk->kernel;

	for (unsigned int cpu = 0; cpu < kernel->nr_cpus; cpu++)
		if (kw_cpu_is_possible(kernel, cpu) && !give(walk, kw_percpu(kernel, head, cpu), cpu))
			break;
	return KW_OK;
}

static const struct kw_walker_kind kinds[] = {
	{ "list", "list(HEAD, struct T, MEMBER)", NEEDS_MEMBER, { "list_head" }, walk_list },
	{ "hlist", "hlist(HEAD, struct T, MEMBER)", NEEDS_MEMBER, { "hlist_head" }, walk_hlist },
	{ "rbtree",
	  "rbtree(ROOT, struct T, MEMBER)",
	  NEEDS_MEMBER,
	  { "rb_root", "rb_root_cached" },
	  walk_rbtree },
	{ "xarray", "xarray(XA, struct T)", NEEDS_NOTHING, { "xarray", "idr", "ida" }, walk_xarray },
	{ "maple", "maple(TREE, struct T)", NEEDS_NOTHING, { "maple_tree" }, walk_maple },
	{ "array", "array(ADDRESS, struct T, N)", NEEDS_NUMBER, { NULL }, walk_array },
	{ "percpu", "percpu(SYMBOL, struct T)", NEEDS_NOTHING, { NULL }, walk_percpu },
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

/* Where there is no head, as of a task without an mm, nothing hangs. */
kw_status kw_walker_run(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_walker *walker,
			const struct kw_value *head, uint32_t owner, kw_take_rows take, void *arg)
{
	const struct walk walk = { ctx, kernel, walker, take, arg, owner };
	kw_status status = kw_damage_among(head, 1);

	if (head->type == KW_VAL_FLOAT)
		return KW_ABSENT;
	return status || head->type == KW_VAL_ABSENT ? status : walker->kind->run(&walk, head->u);
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

/* When it is known what lies there, it must be something that such a walk can begin at. */
static bool fits(struct kw_binder *b, const struct kw_walker *w, const struct kw_expr *head)
{
	const char *const *heads = w->kind->heads;
	const struct kw_type *type = head->object ? kw_type_strip(b->ctx, head->object) : NULL;

	if (!type || !heads[0])
		return true;
	for (size_t i = 0; i < 3 && heads[i]; i++)
		if (head->stars == 1 && strcmp(type->name, heads[i]) == 0)
			return true;
	return false;
}

static kw_status wrong_head(struct kw_binder *b, const struct kw_node *node, const struct kw_walker *w,
			    const struct kw_expr *head)
{
	char name[128];

	kw_type_name(b->ctx, head->object, name, sizeof(name));
	return kw_program_fail(b->ctx, b->text, node->first, KW_INVALID,
			       "expected the address of a struct %s, and this is one of a %s%s",
			       w->kind->heads[0], name, head->stars > 1 ? " *" : "");
}

/* An address: a number, &symbol, a member of something. */
static kw_status bind_head(struct kw_binder *b, const struct kw_node *node, struct kw_walker *w)
{
	bool is_percpu = strcmp(w->kind->name, "percpu") == 0;
	struct kw_expr *e;

	if (is_percpu && node->kind == KW_NODE_NAME && !strpbrk(node->text, ".[>")) {
		e = kw_bind_new(b, KW_EXPR_CONST);
		if (!e)
			return b->ctx->status;
		e->value.type = KW_VAL_ADDRESS;
		w->head = e;
		return kw_symbol_address(b->ctx, node->text, &e->value.u)
			       ? kw_program_fail_at(b->ctx, b->text, node->at)
			       : KW_OK;
	}
	e = kw_bind_address(b, node);
	if (!e)
		return b->ctx->status;
	w->head = e;
	return fits(b, w, e) ? KW_OK : wrong_head(b, node, w, e);
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

/* The root is the structure; its head is not its first member. */
static void find_xa_head(struct kw_binder *b, struct kw_walker *w)
{
	w->xa_head = kw_offset_or_none(b->ctx, "struct xarray", "xa_head");
	if (w->xa_head == KW_NO_ADDR)
		w->xa_head = 0;
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

static kw_status bind_arguments(struct kw_binder *b, struct kw_binder *rows,
				const struct kw_query_syntax *syntax, struct kw_walker *w)
{
	const struct kw_node *head = syntax->arguments, *type = head ? head->next : NULL;
	const struct kw_node *third = type ? type->next : NULL;
	bool needs_third = w->kind->needs != NEEDS_NOTHING;
	kw_status status;

	if (!type || (needs_third && !third) || (third && (third->next || !needs_third)))
		return kw_program_fail(b->ctx, b->text, syntax->at, KW_INVALID, "expected %s",
				       w->kind->usage);
	status = bind_head(rows, head, w);
	if (!status)
		status = bind_type(b, type, w);
	if (!status && w->kind->needs == NEEDS_MEMBER)
		status = bind_member(b, third, w);
	if (!status && w->kind->needs == NEEDS_NUMBER)
		status = bind_number(b, third, w);
	return status;
}

/* The query calls kw_walker_run() instead: this only tells that rows are no tasks. */
static kw_status no_walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
			 void *arg)
{
	(void)ctx;
	(void)kernel;
	(void)layout;
	(void)take;
	(void)arg;
	return KW_OK;
}

kw_status kw_walker_bind(struct kw_binder *b, struct kw_binder *rows, const struct kw_query_syntax *syntax,
			 struct kw_walker **ret)
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
	find_xa_head(b, w);
	status = bind_arguments(b, rows, syntax, w);
	if (!status)
		*ret = w;
	return status;
}
