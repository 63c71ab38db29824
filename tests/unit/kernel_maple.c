/* Walking maple trees: damaged and hostile ones first. Whatever is read, the walk ends. */
#include "unit/kernel_given.h"

#include "kernel/list.h"
#include "kernel/maple.h"

#define TREES                                                                               \
	"struct maple_tree { unsigned int ma_flags; void *ma_root; };"                      \
	"struct maple_range_64 { void *parent; unsigned long pivot[15]; void *slot[16]; };" \
	"struct maple_arange_64 { void *parent; unsigned long pivot[9]; void *slot[10]; unsigned long gap[10]; };"

enum { LEAF = 1, RANGE = 2, ARANGE = 3 };

static struct given g;
static const struct kw_kernel *kernel;
static uint64_t tree;

static void close_given(void)
{
	given_close(&g);
}

static void have_tree(void)
{
	g = given_config(
		&(struct kernel_config){ .types = TREES, .variables = "tree 16\n", .tasks = "1 a\n" });
	given_open(&g, KERNEL_RAM_LIVE);
	cr_assert_eq(kw_kernel_get(g.ctx, &kernel), KW_OK, "%s", kw_error(g.ctx));
	tree = kernel_symbol(g.k, "tree");
}

TestSuite(kernel_maple, .init = have_tree, .fini = close_given, .timeout = 60);

static uint64_t node(unsigned int kind)
{
	return kernel_alloc(g.k, 256, 256) | kind << 3 | 4;
}

static void set_root(uint64_t entry)
{
	kernel_set(g.k, tree, "maple_tree.ma_root", entry & 4 ? entry | 2 : entry);
}

static void set_slot(uint64_t encoded, unsigned int i, uint64_t pivot, uint64_t entry)
{
	bool arange = (encoded >> 3 & 15) == ARANGE;
	uint64_t at = encoded & ~255ULL;

	if (i < (arange ? 9 : 15))
		kernel_write(g.k, at + 8 + 8 * i, &pivot, 8);
	kernel_write(g.k, at + (arange ? 80 : 128) + 8 * i, &entry, 8);
}

static bool print_entry(uint64_t first, uint64_t last, uint64_t entry, void *arg)
{
	char *text = arg;

	sprintf(text + strlen(text), "%lu-%lu:%lx ", first, last, entry);
	return strlen(text) < 400;
}

static void expect_entries(kw_status want_status, const char *want)
{
	char text[512] = "";
	kw_status status;

	kw_pass_begin(g.ctx);
	status = kw_maple_each(g.ctx, kernel, tree, 1000, print_entry, text);
	kw_pass_end(g.ctx);
	cr_expect_eq(status, want_status, "status %d instead of %d", status, want_status);
	cr_expect_str_eq(text, want, "got %s, want %s", text, want);
}

Test(kernel_maple, a_node_below_itself)
{
	uint64_t top = node(ARANGE);

	set_slot(top, 0, 999, top);
	set_root(top);
	expect_entries(KW_FORMAT, "");
}

Test(kernel_maple, pivots_that_go_back)
{
	uint64_t leaf = node(LEAF);

	set_slot(leaf, 0, 10, 0x10000);
	set_slot(leaf, 1, 5, 0x20000);
	set_slot(leaf, 2, 20, 0x30000);
	set_root(leaf);
	expect_entries(KW_OK, "0-10:10000 ");
}

Test(kernel_maple, children_that_are_none)
{
	uint64_t top = node(ARANGE), leaf = node(LEAF);

	set_slot(top, 0, 9, 0xdead000000000100);
	set_slot(top, 1, 19, leaf & ~255ULL); /* of a kind that there is not */
	set_slot(top, 2, 29, 8);
	set_slot(top, 3, ~0ULL, leaf);
	set_slot(leaf, 0, 40, 0x50000);
	set_root(top);
	expect_entries(KW_FORMAT, "30-40:50000 ");
}

Test(kernel_maple, trees_of_all_heights)
{
	uint64_t top = node(ARANGE), middle = node(RANGE), low = node(LEAF), high = node(LEAF);

	expect_entries(KW_OK, "");
	set_root(0x10000);
	expect_entries(KW_OK, "0-0:10000 ");
	/* Empty slots are none; the last one has no pivot; from 1000 on nothing is asked for. */
	set_slot(low, 0, 0, 0x10000);
	set_slot(low, 1, 3, 0);
	set_slot(low, 2, 4, 0x20000);
	set_slot(high, 0, 500, 0);
	set_slot(high, 1, 501, 0x30000);
	set_slot(high, 2, 1000, 0x40000);
	set_slot(high, 3, 2000, 0x50000);
	set_root(low);
	expect_entries(KW_OK, "0-0:10000 4-4:20000 ");
	set_slot(middle, 0, 9, low);
	set_slot(middle, 1, 2000, high);
	set_slot(top, 0, ~0ULL, middle);
	set_root(top);
	expect_entries(KW_OK, "0-0:10000 4-4:20000 501-501:30000 502-1000:40000 ");
}

static bool count_object(kw_ctx *ctx, uint64_t object, void *arg)
{
	(void)ctx;
	(void)object;
	++*(unsigned int *)arg;
	return true;
}

/* Lists: one that ends, one that goes round without its head, poison, one without an end in sight. */
Test(kernel_maple, lists)
{
	uint64_t at[5], poison = 0xdead000000000100, nr = 5;
	unsigned int seen;

	for (uint64_t i = 0; i < nr; i++)
		at[i] = kernel_alloc(g.k, 32, 16);
	for (uint64_t i = 0; i < nr; i++)
		kernel_write(g.k, at[i], &at[(i + 1) % nr], 8);
	kw_pass_begin(g.ctx);
	seen = 0;
	cr_expect_eq(kw_list_each(g.ctx, at[0], 0, 100, count_object, &seen), KW_OK);
	cr_expect_eq(seen, 4);
	seen = 0;
	cr_expect_eq(kw_list_each(g.ctx, at[0], 0, 2, count_object, &seen), KW_FORMAT);
	cr_expect_eq(seen, 2);
	kernel_write(g.k, at[4], &at[2], 8);
	seen = 0;
	cr_expect_eq(kw_list_each(g.ctx, at[0], 0, 1000000, count_object, &seen), KW_FORMAT);
	cr_expect_lt(seen, 20);
	kernel_write(g.k, at[4], &poison, 8);
	cr_expect_neq(kw_list_each(g.ctx, at[0], 0, 100, count_object, &seen), KW_OK);
	kw_pass_end(g.ctx);
}
