/* Walking the PID table: damaged and hostile ones first. Whatever is read, the walk ends. */
#include <time.h>

#include "unit/kernel_given.h"

#include "kernel/xarray.h"

static struct given g;
static const struct kw_kernel *kernel;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_xarray, .fini = close_given, .timeout = 60);

static uint64_t head(void)
{
	return kernel_at(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head");
}

static uint64_t root(void)
{
	return kernel_get(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head") - 2;
}

static void set_slot(uint64_t node, unsigned int slot, uint64_t entry)
{
	kernel_write(g.k, kernel_at(g.k, node, "xa_node.slots[0]") + 8 * slot, &entry, 8);
}

static void have_tasks(const char *tasks)
{
	g = given_tasks(NULL, tasks);
	given_open(&g, KERNEL_RAM_LIVE);
	cr_assert_eq(kw_kernel_get(g.ctx, &kernel), KW_OK, "%s", kw_error(g.ctx));
}

struct walked {
	kw_status status;
	uint64_t leaves, pointers, damaged, highest;
};

static struct walked walk(void)
{
	struct walked w = { 0 };
	struct kw_xa_walk xa;
	uint64_t entries[KW_XA_MAX_SLOTS], base;
	unsigned int nr;

	kw_pass_begin(g.ctx);
	w.status = kw_xa_begin(g.ctx, kernel, head(), KW_PID_LIMIT, &xa);
	while (!w.status && (nr = kw_xa_next_leaf(g.ctx, &xa, entries, &base))) {
		w.leaves++;
		for (unsigned int i = 0; i < nr; i++) {
			if (!kw_xa_is_pointer(entries[i]))
				continue;
			w.pointers++;
			w.highest = base + i;
		}
	}
	w.damaged = xa.damaged;
	kw_pass_end(g.ctx);
	return w;
}

static void expect_walk(kw_status status, uint64_t pointers, uint64_t damaged)
{
	struct walked w = walk();

	cr_expect_eq(w.status, status, "status %d instead of %d: %s", w.status, status, kw_error(g.ctx));
	cr_expect_eq(w.pointers, pointers, "%lu entries", w.pointers);
	cr_expect_eq(w.damaged, damaged, "%lu damaged", w.damaged);
}

static void expect_load(uint64_t index, kw_status status, uint64_t entry)
{
	uint64_t found = 1;
	kw_status got = kw_xa_load(g.ctx, kernel, head(), index, &found);

	cr_expect_eq(got, status, "%lu: status %d instead of %d", index, got, status);
	cr_expect_eq(found, entry, "%lu: 0x%lx instead of 0x%lx", index, found, entry);
}

Test(kernel_xarray, root_with_a_shift_that_no_node_has)
{
	static const unsigned int shifts[] = { 1, 5, 7, 66, 72, 255 };

	have_tasks("1 a\n5000 b\n");
	for (size_t i = 0; i < ARRAY_SIZE(shifts); i++) {
		kernel_set(g.k, root(), "xa_node.shift", shifts[i]);
		expect_walk(KW_FORMAT, 0, 0);
		expect_load(5000, KW_FORMAT, 0);
	}
	cr_expect_str_eq(kw_error(g.ctx), "the root of the XArray has shift 255: not a node");
}

/* The root says that it is higher than it is: its children are not what they should be. */
Test(kernel_xarray, root_with_a_wrong_shift)
{
	have_tasks("1 a\n5000 b\n");
	cr_expect_eq(kernel_get(g.k, root(), "xa_node.shift"), 12);
	kernel_set(g.k, root(), "xa_node.shift", 18);
	expect_walk(KW_OK, 0, 2);
	expect_load(1, KW_FORMAT, 0);
	/* So high that only the first slot can hold PIDs. */
	kernel_set(g.k, root(), "xa_node.shift", 60);
	expect_walk(KW_OK, 0, 1);
}

/* An empty table must not come of it without a word. */
Test(kernel_xarray, nodes_among_entries)
{
	have_tasks("1 a\n5000 b\n");
	kernel_set(g.k, root(), "xa_node.shift", 0);
	expect_walk(KW_OK, 0, 2);
	expect_load(1, KW_FORMAT, 0);
	expect_load(2, KW_OK, 0);
}

Test(kernel_xarray, entries_among_nodes)
{
	have_tasks("1 a\n2 b\n");
	kernel_set(g.k, root(), "xa_node.shift", 6);
	expect_walk(KW_OK, 0, 2);
	expect_load(2 << 6, KW_FORMAT, 0);
	expect_load(3 << 6, KW_OK, 0);
}

Test(kernel_xarray, child_with_a_wrong_shift)
{
	uint64_t child;

	have_tasks("1 a\n100 b\n5000 c\n");
	child = kernel_get(g.k, root(), "xa_node.slots[0]") - 2;
	for (unsigned int shift = 0; shift < 256; shift++) {
		if (shift == 6)
			continue;
		kernel_set(g.k, child, "xa_node.shift", shift);
		expect_walk(KW_OK, 1, 1);
		expect_load(1, KW_FORMAT, 0);
		expect_load(5000, KW_OK, kernel_pid(g.k, 5000));
	}
}

Test(kernel_xarray, node_that_points_to_itself)
{
	have_tasks("1 a\n100 b\n");
	for (unsigned int slot = 0; slot < 64; slot++)
		set_slot(root(), slot, root() + 2);
	expect_walk(KW_OK, 0, 64);
	expect_load(100, KW_FORMAT, 0);
}

Test(kernel_xarray, nodes_in_no_memory)
{
	have_tasks("1 a\n100 b\n200 c\n");
	set_slot(root(), 1, 0xdead000000000102);
	set_slot(root(), 5, UINT64_MAX - 1);
	expect_walk(KW_OK, 2, 2);
	expect_load(1, KW_OK, kernel_pid(g.k, 1));
	expect_load(100, KW_ABSENT, 0);
	expect_load(200, KW_OK, kernel_pid(g.k, 200));
	expect_load(330, KW_ABSENT, 0);
}

Test(kernel_xarray, excluded_node)
{
	uint64_t page;

	g = given_tasks(NULL, "1 a\n100 b\n200 c\n");
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, page);
	set_slot(root(), 1, page + 2);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	cr_assert_eq(kw_kernel_get(g.ctx, &kernel), KW_OK);
	expect_walk(KW_OK, 2, 1);
	expect_load(100, KW_EXCLUDED, 0);
}

Test(kernel_xarray, head_that_can_not_be_read)
{
	struct kw_xa_walk xa;
	uint64_t entry;

	have_tasks("1 a\n");
	cr_expect_eq(kw_xa_begin(g.ctx, kernel, 0x1000, 10, &xa), KW_ABSENT);
	cr_expect_str_eq(kw_error(g.ctx), "the XArray at 0x1000 can't be read");
	cr_expect_eq(kw_xa_load(g.ctx, kernel, 0x1000, 1, &entry), KW_ABSENT);
	cr_expect_eq(entry, 0);
}

/* 64 slots of each level lead to the one node below it: 64^4 entries, of which PIDs can only be 4 million. */
Test(kernel_xarray, all_slots_point_at_one_child)
{
	uint64_t nodes[4];
	struct walked w;
	struct timespec begun, ended;

	have_tasks("1 a\n");
	for (unsigned int level = 0; level < 4; level++) {
		nodes[level] = kernel_alloc(g.k, 1024, 64);
		kernel_set(g.k, nodes[level], "xa_node.shift", 6 * level);
		for (unsigned int slot = 0; slot < 64; slot++)
			set_slot(nodes[level], slot, level ? nodes[level - 1] + 2 : kernel_pid(g.k, 1));
	}
	nodes[3] += 2;
	kernel_write(g.k, head(), &nodes[3], 8);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	w = walk();
	clock_gettime(CLOCK_MONOTONIC, &ended);
	cr_expect_eq(w.leaves, KW_PID_LIMIT / 64);
	cr_expect_eq(w.pointers, KW_PID_LIMIT);
	cr_expect_lt(ended.tv_sec - begun.tv_sec, 30);
}

/* The same at a root as high as there can be: the indices wrap, the walk ends all the same. */
Test(kernel_xarray, the_highest_root_there_can_be)
{
	uint64_t nodes[KW_XA_MAX_LEVELS];

	have_tasks("1 a\n");
	for (unsigned int level = 0; level < KW_XA_MAX_LEVELS; level++) {
		nodes[level] = kernel_alloc(g.k, 1024, 64);
		kernel_set(g.k, nodes[level], "xa_node.shift", 6 * level);
		for (unsigned int slot = 0; slot < 64; slot++)
			set_slot(nodes[level], slot, level ? nodes[level - 1] + 2 : kernel_pid(g.k, 1));
	}
	nodes[KW_XA_MAX_LEVELS - 1] += 2;
	kernel_write(g.k, head(), &nodes[KW_XA_MAX_LEVELS - 1], 8);
	/* Bits beyond the 64 of an index come to nothing: at most once for each of the four that wrap to 0. */
	cr_expect_leq(walk().pointers, 4 * KW_PID_LIMIT);
	expect_load(77, KW_OK, kernel_pid(g.k, 1));
}

/* Values, retry entries, zero entries and siblings are no objects. */
Test(kernel_xarray, entries_that_are_no_pointers)
{
	static const uint64_t entries[] = { 0, 1, 3, 0x402, 0x406, 0x102, 4095, 4096, 0xffff888000000001 };

	have_tasks("1 a\n");
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		set_slot(root(), 10 + (unsigned int)i, entries[i]);
	expect_walk(KW_OK, 1, 0);
	expect_load(11, KW_OK, 1);
	cr_expect_not(kw_xa_is_pointer(1));
}

Test(kernel_xarray, empty_and_single)
{
	uint64_t entry = 0, pid;
	struct walked w;

	have_tasks("1 a\n");
	pid = kernel_pid(g.k, 1);
	kernel_write(g.k, head(), &entry, 8);
	expect_walk(KW_OK, 0, 0);
	expect_load(0, KW_OK, 0);
	expect_load(1, KW_OK, 0);
	kernel_write(g.k, head(), &pid, 8);
	w = walk();
	cr_expect_eq(w.pointers, 1);
	cr_expect_eq(w.highest, 0);
	expect_load(0, KW_OK, pid);
	expect_load(1, KW_OK, 0);
}

Test(kernel_xarray, levels)
{
	have_tasks("1 a\n63 b\n64 c\n4095 d\n4096 e\n262143 f\n262144 g\n4194303 h\n");
	expect_walk(KW_OK, 8, 0);
	cr_expect_eq(walk().highest, 4194303);
	for (size_t i = 0; i < 8; i++) {
		static const int pids[] = { 1, 63, 64, 4095, 4096, 262143, 262144, 4194303 };

		expect_load((uint64_t)pids[i], KW_OK, kernel_pid(g.k, pids[i]));
		expect_load((uint64_t)pids[i] + 1, KW_OK,
			    pids[i] == 63	? kernel_pid(g.k, 64)
			    : pids[i] == 4095	? kernel_pid(g.k, 4096)
			    : pids[i] == 262143 ? kernel_pid(g.k, 262144)
						: 0);
	}
	expect_load(UINT64_MAX, KW_OK, 0);
	expect_load(1ULL << 32, KW_OK, 0);
}

/* A kernel with smaller nodes (CONFIG_BASE_SMALL) and with such as can't be. */
Test(kernel_xarray, nodes_of_other_sizes)
{
	g = given_config(&(struct kernel_config){ .types = "struct xa_node { u8 shift; void *slots[48]; };",
						  .tasks = "" });
	given_open(&g, KERNEL_RAM);
	cr_expect_eq(kw_kernel_get(g.ctx, &kernel), KW_FORMAT);
	cr_expect_str_eq(kw_error(g.ctx), "struct xa_node: 48 slots are no power of two");
	given_close(&g);
	g = given_config(&(struct kernel_config){ .types = "struct xa_node { u8 shift; void *slots[128]; };",
						  .tasks = "" });
	given_open(&g, KERNEL_RAM);
	cr_assert_eq(kw_kernel_get(g.ctx, &kernel), KW_OK);
	cr_expect_eq(walk().status, KW_UNSUPPORTED);
	cr_expect_str_eq(kw_error(g.ctx), "an XArray node has more than 64 slots");
}
