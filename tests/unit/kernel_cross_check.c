/* Comparing the PID table with the process list. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_cross_check, .fini = close_given, .timeout = 60);

#define THREE_TASKS "1 init\n2 kthreadd kthread\n100 bash\n100.101 worker\n"

static void expect_difference(const char *want, size_t want_pids, size_t want_listed)
{
	struct kw_cross_difference *found = NULL;
	size_t nr = 0, pids = 0, listed = 0;
	kw_status status = kw_cross_check(g.ctx, &found, &nr, &pids, &listed);
	char text[512] = "";

	cr_assert_eq(status, KW_OK, "%d: %s", status, kw_error(g.ctx));
	for (size_t i = 0; i < nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d %s %.16s\n", found[i].pid,
			 found[i].in_list ? "list" : "table", found[i].comm);
	free(found);
	cr_expect_str_eq(text, want, "got:\n%swant:\n%s", text, want);
	cr_expect_eq(pids, want_pids, "%zu in the table", pids);
	cr_expect_eq(listed, want_listed, "%zu in the list", listed);
}

static void expect_failure(kw_status want_status, const char *want)
{
	struct kw_cross_difference *found = (void *)1;
	size_t nr = 77, pids = 77, listed = 77;
	kw_status status = kw_cross_check(g.ctx, &found, &nr, &pids, &listed);

	cr_expect_eq(status, want_status, "status %d instead of %d", status, want_status);
	cr_expect_eq(strncmp(kw_error(g.ctx), want, strlen(want)), 0, "%s", kw_error(g.ctx));
	cr_expect_eq(found, (void *)1);
	cr_expect(nr == 77 && pids == 77 && listed == 77, "changed on failure");
}

static void take_off_list(int pid)
{
	uint64_t task = kernel_task(g.k, pid);
	uint64_t next = kernel_get(g.k, task, "task_struct.tasks.next");
	uint64_t prev = kernel_get(g.k, task, "task_struct.tasks.prev");

	kernel_set(g.k, prev, "list_head.next", next);
	kernel_set(g.k, next, "list_head.prev", prev);
}

Test(kernel_cross_check, hidden_from_the_list)
{
	for (int form = KERNEL_RAM; form <= KERNEL_RAM_LIVE; form++) {
		g = given_tasks(NULL, THREE_TASKS);
		take_off_list(100);
		given_open(&g, form);
		expect_difference("100 table bash\n", 3, 2);
		given_close(&g);
	}
}

Test(kernel_cross_check, hidden_from_the_table)
{
	for (int form = KERNEL_RAM; form <= KERNEL_RAM_LIVE; form++) {
		g = given_tasks(NULL, THREE_TASKS);
		kernel_idr_store(g.k, 100, 0);
		given_open(&g, form);
		expect_difference("100 list bash\n", 2, 3);
		given_close(&g);
	}
}

Test(kernel_cross_check, hidden_from_both_in_turn)
{
	g = given_tasks("5.10", THREE_TASKS "300 x\n");
	take_off_list(1);
	kernel_idr_store(g.k, 300, 0);
	given_open(&g, KERNEL_RAM);
	expect_difference("1 table init\n300 list x\n", 3, 3);
}

/* The PID table names another task for the PID: both show. */
Test(kernel_cross_check, another_task_under_the_pid)
{
	uint64_t twin;

	g = given_tasks(NULL, THREE_TASKS);
	twin = kernel_alloc(g.k, c_type_size(c_types_find(kernel_types(g.k), "task_struct")), 64);
	kernel_write(g.k, kernel_at(g.k, twin, "task_struct.comm"), "evil", 5);
	kernel_set(g.k, kernel_pid(g.k, 100), "pid.tasks[0].first",
		   kernel_at(g.k, twin, "task_struct.pid_links[0]"));
	given_open(&g, KERNEL_RAM);
	expect_difference("100 list bash\n100 table evil\n", 3, 3);
}

Test(kernel_cross_check, one_task_under_two_pids)
{
	g = given_tasks(NULL, THREE_TASKS);
	kernel_idr_store(g.k, 50, kernel_pid(g.k, 100));
	given_open(&g, KERNEL_RAM);
	expect_difference("100 table bash\n", 4, 3);
}

static void expect_none(struct given *given)
{
	g = *given;
	given_open(&g, KERNEL_RAM_PREAD);
	expect_difference("", 3, 3);
	*given = g;
	g = (struct given){ 0 };
}

Test(kernel_cross_check, no_difference)
{
	in_every_style(THREE_TASKS, expect_none);
}

/* A view that could not be had wholly would show what is not hidden at all. */
Test(kernel_cross_check, damaged_views)
{
	g = given_tasks(NULL, THREE_TASKS);
	given_open(&g, KERNEL_RAM_LIVE);
	kernel_idr_store(g.k, 2, 0xdead000000000100);
	expect_failure(KW_INCOMPLETE, "PID table: 1 entries can't be read");
	kernel_idr_store(g.k, 2, kernel_pid(g.k, 2));
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.tasks.next", 0xdead000000000100);
	expect_failure(KW_ABSENT, "process list (init_task.tasks): the list at 0x");
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.tasks.next",
		   kernel_at(g.k, kernel_task(g.k, 1), "task_struct.tasks"));
	expect_failure(KW_FORMAT, "process list (init_task.tasks): the list at 0x");
	kernel_set(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head", 0);
	expect_failure(KW_FORMAT, "PID table (init_pid_ns.idr): there is nothing in it");
}

Test(kernel_cross_check, name_that_is_not_there)
{
	uint64_t page;

	g = given_tasks(NULL, THREE_TASKS);
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_set(g.k, kernel_pid(g.k, 100), "pid.tasks[0].first",
		   kernel_at(g.k, page, "task_struct.pid_links[0]"));
	kernel_exclude(g.k, page);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_difference("100 list bash\n100 table \n", 3, 3);
}

Test(kernel_cross_check, nothing_is_open)
{
	struct kw_cross_difference *found;
	size_t nr, pids, listed;

	g.ctx = kw_new();
	cr_expect_eq(kw_cross_check(g.ctx, &found, &nr, &pids, &listed), KW_INVALID);
	cr_expect_str_eq(kw_error(g.ctx), "nothing is open: call kw_open() first");
}
