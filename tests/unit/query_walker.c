/*
 * Generic walkers: lists, trees and arrays that are damaged first, then whole ones.
 */
#include <string.h>

#include "unit/kernel_given.h"

static struct given g;
static uint64_t head, item[3];

/* Three objects on a list and on a hlist, and in a tree with the second above the two others. */
static void have_items(void)
{
	g = given_config(&(struct kernel_config){
		.types =
			"struct rb_node { unsigned long __rb_parent_color; struct rb_node *rb_right, *rb_left; };"
			"struct hlist_node { struct hlist_node *next, **pprev; };"
			"struct item { long number; struct list_head list; struct hlist_node hash;"
			"	struct rb_node tree; struct item *next; };",
		.tasks = SOME_TASKS });
	head = kernel_alloc(g.k, 64, 64);
	for (int i = 0; i < 3; i++) {
		item[i] = kernel_alloc(g.k, 128, 64);
		kernel_set(g.k, item[i], "item.number", (uint64_t)i + 1);
	}
	for (int i = 0; i < 3; i++) {
		uint64_t next = i < 2 ? kernel_at(g.k, item[i + 1], "item.list") : head;

		kernel_set(g.k, item[i], "item.list.next", next);
		kernel_set(g.k, item[i], "item.hash.next",
			   i < 2 ? kernel_at(g.k, item[i + 1], "item.hash") : 0);
	}
	kernel_set(g.k, item[1], "item.tree.rb_left", kernel_at(g.k, item[0], "item.tree"));
	kernel_set(g.k, item[1], "item.tree.rb_right", kernel_at(g.k, item[2], "item.tree"));
	kernel_set(g.k, head, "list_head.next", kernel_at(g.k, item[0], "item.list"));
	given_open(&g, KERNEL_RAM_LIVE);
}

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_walker, .init = have_items, .fini = close_given, .timeout = 60);

static bool add_number(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	char *text = arg;

	cr_assert(row->address);
	if (strlen(text) < 200)
		sprintf(text + strlen(text), "%lld ", (long long)values[0].i);
	return true;
}

static kw_status walk(const char *what, const char *member, char *text)
{
	char query[256];
	kw_query *q;
	kw_status status;

	*text = '\0';
	snprintf(query, sizeof(query), "%s(0x%llx, struct item%s%s) select number", what,
		 (unsigned long long)head, *member ? ", " : "", member);
	status = kw_query_compile(g.ctx, query, &q);
	cr_assert_eq(status, KW_OK, "%s", kw_error(g.ctx));
	status = kw_query_run(q, add_number, text);
	kw_query_free(q);
	return status;
}

static void expect(const char *what, const char *member, kw_status wanted, const char *numbers)
{
	char text[256];
	kw_status status = walk(what, member, text);

	cr_assert_eq(status, wanted, "%d: %s", status, kw_error(g.ctx));
	cr_assert_str_eq(text, numbers);
}

Test(query_walker, list_that_goes_round)
{
	char text[256];

	kernel_set(g.k, item[2], "item.list.next", kernel_at(g.k, item[1], "item.list"));
	cr_assert_eq(walk("list", "list", text), KW_INCOMPLETE);
	cr_assert_eq(strncmp(text, "1 2 3 ", 6), 0);
}

Test(query_walker, list_into_nowhere)
{
	kernel_set(g.k, item[1], "item.list.next", 0xdead000000000100);
	expect("list", "list", KW_INCOMPLETE, "1 2 ");
	kernel_set(g.k, head, "list_head.next", 0);
	expect("list", "list", KW_INCOMPLETE, "");
}

Test(query_walker, hlist_that_goes_round)
{
	char text[256];

	kernel_set(g.k, head, "list_head.next", kernel_at(g.k, item[0], "item.hash"));
	kernel_set(g.k, item[2], "item.hash.next", kernel_at(g.k, item[0], "item.hash"));
	cr_assert_eq(walk("hlist", "hash", text), KW_INCOMPLETE);
	cr_assert_eq(strncmp(text, "1 2 3 ", 6), 0);
}

Test(query_walker, tree_that_goes_round)
{
	char text[256];

	kernel_set(g.k, head, "list_head.next", kernel_at(g.k, item[1], "item.tree"));
	kernel_set(g.k, item[0], "item.tree.rb_left", kernel_at(g.k, item[1], "item.tree"));
	cr_assert_eq(walk("rbtree", "tree", text), KW_INCOMPLETE);
	kernel_set(g.k, item[0], "item.tree.rb_left", 0);
	kernel_set(g.k, item[2], "item.tree.rb_right", kernel_at(g.k, item[1], "item.tree"));
	cr_assert_eq(walk("rbtree", "tree", text), KW_INCOMPLETE);
}

Test(query_walker, tree_into_nowhere)
{
	kernel_set(g.k, head, "list_head.next", kernel_at(g.k, item[1], "item.tree"));
	kernel_set(g.k, item[2], "item.tree.rb_left", 0xdead000000000100);
	expect("rbtree", "tree", KW_INCOMPLETE, "1 2 ");
}

Test(query_walker, empty)
{
	kernel_set(g.k, head, "list_head.next", head);
	expect("list", "list", KW_OK, "");
	kernel_set(g.k, head, "list_head.next", 0);
	expect("hlist", "hash", KW_OK, "");
	expect("rbtree", "tree", KW_OK, "");
}

Test(query_walker, whole)
{
	expect("list", "list", KW_OK, "1 2 3 ");
	kernel_set(g.k, head, "list_head.next", kernel_at(g.k, item[0], "item.hash"));
	expect("hlist", "hash", KW_OK, "1 2 3 ");
	kernel_set(g.k, head, "list_head.next", kernel_at(g.k, item[1], "item.tree"));
	expect("rbtree", "tree", KW_OK, "1 2 3 ");
}

/* A leaf with the three objects from index 10, 5000000000 and 5000000001 on; returns its entry. */
static uint64_t maple_leaf(void)
{
	const uint64_t pivot[] = { 9, 20, 4999999999, 5000000000 };
	const uint64_t slot[] = { 0, item[0], 0, item[1], item[2] };
	uint64_t node = kernel_alloc(g.k, 256, 256);

	kernel_write(g.k, node + 8, pivot, sizeof(pivot));
	kernel_write(g.k, node + 128, slot, sizeof(slot));
	return node | 1 << 3 | 4;
}

static void set_maple_root(uint64_t entry)
{
	kernel_set(g.k, head, "maple_tree.ma_root", entry | 2);
}

Test(query_walker, maple_that_goes_round)
{
	uint64_t node = kernel_alloc(g.k, 256, 256), entry = node | 2 << 3 | 4;
	const uint64_t slot[] = { entry, entry, entry };
	const uint64_t pivot[] = { 1000, 2000 };

	kernel_write(g.k, node + 8, pivot, sizeof(pivot));
	kernel_write(g.k, node + 128, slot, sizeof(slot));
	set_maple_root(entry);
	expect("maple", "", KW_INCOMPLETE, "");
}

Test(query_walker, maple_into_nowhere)
{
	set_maple_root(0xdead000000000100);
	expect("maple", "", KW_INCOMPLETE, "");
	set_maple_root(maple_leaf());
	kernel_fill(g.k, kernel_get(g.k, head, "maple_tree.ma_root") & ~255ULL, 0xff, 256);
	expect("maple", "", KW_OK, "");
}

Test(query_walker, maple)
{
	kernel_set(g.k, head, "maple_tree.ma_root", 0);
	expect("maple", "", KW_OK, "");
	set_maple_root(maple_leaf());
	expect("maple", "", KW_OK, "1 2 3 ");
	expect("maple", "", KW_OK, "1 2 3 ");
}

static bool add_index(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	char *text = arg;

	(void)row;
	sprintf(text + strlen(text), "%llu ", (unsigned long long)values[0].u);
	return true;
}

Test(query_walker, maple_has_indices_of_64_bits)
{
	char text[256] = "", query[256];
	kw_query *q;

	set_maple_root(maple_leaf());
	snprintf(query, sizeof(query), "maple(0x%llx, struct item) select index", (unsigned long long)head);
	cr_assert_eq(kw_query_compile(g.ctx, query, &q), KW_OK, "%s", kw_error(g.ctx));
	cr_assert_eq(kw_query_run(q, add_index, text), KW_OK);
	kw_query_free(q);
	cr_assert_str_eq(text, "10 5000000000 5000000001 ");
}
