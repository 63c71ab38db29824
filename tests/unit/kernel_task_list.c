/* Processes whose part of the PID table a dump lacks, found by the process list. */
#include "unit/kernel_given.h"

#include "kernel/task_walk.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_task_list, .fini = close_given, .timeout = 60);

static uint64_t root(void)
{
	uint64_t init = kernel_symbol(g.k, "init_pid_ns");

	return kernel_get(g.k, init, "pid_namespace.idr.idr_rt.xa_head") - 2;
}

/* Let an entry of a node lead to a page that dumps lack. */
static void lose(uint64_t node, unsigned int slot, uint64_t mark)
{
	uint64_t page = kernel_alloc(g.k, 4096, 4096) + mark;

	kernel_exclude(g.k, page);
	kernel_write(g.k, kernel_at(g.k, node, "xa_node.slots") + 8 * slot, &page, sizeof(page));
}

static void lose_root(void)
{
	uint64_t page = kernel_alloc(g.k, 4096, 4096);

	kernel_exclude(g.k, page);
	kernel_set(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head", page + 2);
}

static bool pass_over(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)values;
	(void)row;
	(void)arg;
	return true;
}

/* How many processes a query of all takes from the list. */
static uint64_t count_listed(void)
{
	struct kw_query_options options = { .size = sizeof(options), .columns = "pid" };
	uint64_t listed;
	kw_query *query;

	cr_assert_eq(kw_query_new(g.ctx, &options, &query), KW_OK, "%s", kw_error(g.ctx));
	kw_query_run(query, pass_over, NULL);
	listed = kw_query_counts(query)->listed;
	kw_query_free(query);
	return listed;
}

Test(kernel_task_list, whole_table)
{
	struct kw_cross_difference *found;
	size_t nr, pids, listed;

	g = given_tasks(NULL, SOME_TASKS);
	lose_root();
	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_rows(&g, KW_OK, "1 init\n2 kthreadd\n100 bash\n300 sleep\n", .columns = "pid,comm");
		expect_rows(&g, KW_OK, "100 100\n100 101\n100 102\n", .columns = "pid,tid",
			    .source = "threads", .pids = "100");
		expect_rows(&g, KW_OK, "", .columns = "pid", .pids = "7");
		cr_expect_eq(count_listed(), 4);
		/* With one view alone there is nothing to compare. */
		cr_expect_eq(kw_cross_check(g.ctx, &found, &nr, &pids, &listed), KW_EXCLUDED);
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/* A node of the table, and the struct pid of one process. */
Test(kernel_task_list, parts_of_the_table)
{
	g = given_tasks(NULL, "1 a\n2 b\n100 c\n101 d\n200 e\n");
	lose(root(), 1, 2);
	lose(kernel_get(g.k, root(), "xa_node.slots[0]") - 2, 2, 0);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_OK, "1 a\n200 e\n2 b\n100 c\n101 d\n", .columns = "pid,comm");
	expect_rows(&g, KW_OK, "2 b\n101 d\n", .columns = "pid,comm", .pids = "2,101");
	cr_expect_eq(count_listed(), 3);
}

/* What is only in the list, though the table is there, is not what a dump lacks. */
Test(kernel_task_list, hidden_process)
{
	g = given_tasks(NULL, "1 a\n2 b\n100 c\n");
	lose(root(), 1, 2);
	kernel_idr_store(g.k, 2, 0);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_OK, "1\n100\n", .columns = "pid");
}

/* The list stops: what was found is given, and that there is more is said. */
Test(kernel_task_list, list_with_a_gap)
{
	uint64_t gap;

	g = given_tasks(NULL, "1 a\n100 b\n101 c\n102 d\n");
	gap = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, gap);
	kernel_set(g.k, kernel_task(g.k, 101), "task_struct.tasks.next", gap);
	lose_root();
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_INCOMPLETE, "1\n100\n101\n", .columns = "pid");
	expect_rows(&g, KW_INCOMPLETE, "", .columns = "pid", .pids = "102");
}

Test(kernel_task_list, nothing_is_left)
{
	struct kw_query_options options = { .size = sizeof(options), .columns = "pid" };
	uint64_t gap;
	kw_query *query;

	g = given_tasks(NULL, "1 a\n");
	gap = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, gap);
	kernel_set(g.k, kernel_symbol(g.k, "init_task"), "task_struct.tasks.next", gap);
	lose_root();
	given_open(&g, KERNEL_ELF_PHYSICAL);
	cr_assert_eq(kw_query_new(g.ctx, &options, &query), KW_OK, "%s", kw_error(g.ctx));
	cr_expect_eq(kw_query_run(query, pass_over, NULL), KW_UNREADABLE);
	cr_expect_not_null(strstr(kw_error(g.ctx), ": PID table (init_pid_ns.idr): the XArray at 0x"), "%s",
			   kw_error(g.ctx));
	kw_query_free(query);
}

/* The list of threads is gone: the leader is known all the same. */
Test(kernel_task_list, leader_without_its_list)
{
	uint64_t gap;

	g = given_tasks(NULL, SOME_TASKS);
	gap = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, gap);
	kernel_set(g.k, kernel_task(g.k, 100), "task_struct.signal", gap);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_INCOMPLETE, "1\n2\n100\n300\n", .columns = "tid", .source = "threads");
}
