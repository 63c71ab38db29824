/*
 * Queries whose rows are loaded from the tasks a leaf of the PID table at a time, run again and again while the table and
 * its struct pids change: what is remembered from the run before must never be shown in place of what is there.
 */
#include "unit/kernel_given.h"

#include "query/query.h"

#define ALL "1 init 120\n2 kthreadd 120\n100 bash 125\n300 sleep 120\n"

static struct given g;
static kw_query *query;

static void close_given(void)
{
	kw_query_free(query);
	query = NULL;
	given_close(&g);
}

TestSuite(query_flat, .fini = close_given, .timeout = 60);

static void have_query(const char *tasks, enum kernel_form form)
{
	g = given_tasks(NULL, tasks);
	given_open(&g, form);
	query = bind_query(&g, OPTIONS(.columns = "pid,comm,task.static_prio"));
	cr_assert(query->is_flat);
}

static void expect_hooked(kw_status status, const char *want,
			  bool (*hook)(const struct kw_row_identity *, void *))
{
	struct printer printer = { .hook = hook };

	expect_run(&g, query, &printer, status, want);
}

/* Twice: what was found is remembered, and used. */
static void expect(kw_status status, const char *want)
{
	expect_hooked(status, want, NULL);
	expect_hooked(status, want, NULL);
}

/* The root has the leaves of 64 IDs each. */
static uint64_t root_slot(int pid)
{
	uint64_t ns = kernel_symbol(g.k, "init_pid_ns");
	uint64_t root = kernel_get(g.k, ns, "pid_namespace.idr.idr_rt.xa_head") - 2;

	return kernel_at(g.k, root, "xa_node.slots[0]") + 8 * (uint64_t)(pid / 64);
}

static uint64_t leaf_of(int pid)
{
	uint64_t entry;

	kernel_read(g.k, root_slot(pid), &entry, sizeof(entry));
	return entry - 2;
}

static uint64_t slot_of(int pid)
{
	return kernel_at(g.k, leaf_of(pid), "xa_node.slots[0]") + 8 * (uint64_t)(pid % 64);
}

/* Put a number in place of what is there, which is returned. */
static uint64_t exchange(uint64_t at, uint64_t number)
{
	uint64_t was;

	kernel_read(g.k, at, &was, sizeof(was));
	kernel_write(g.k, at, &number, sizeof(number));
	return was;
}

static uint64_t first_of(int pid, const char *kind)
{
	return kernel_at(g.k, kernel_pid(g.k, pid), kind);
}

#define PID_TASK  "pid.tasks[0].first"
#define TGID_TASK "pid.tasks[1].first"

Test(query_flat, values_are_those_of_each_run)
{
	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	expect(KW_OK, ALL);
	kernel_set(g.k, kernel_task(g.k, 100), "task_struct.static_prio", 130);
	kernel_write(g.k, kernel_at(g.k, kernel_task(g.k, 300), "task_struct.comm"), "0123456789abcde", 16);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n100 bash 130\n300 0123456789abcde 120\n");
}

Test(query_flat, a_dump_has_the_same_rows_in_each_run)
{
	have_query(SOME_TASKS, KERNEL_RAM);
	expect(KW_OK, ALL);
	cr_expect_eq(query->leaves.nr, 3, "%zu leaves are remembered", query->leaves.nr);
}

Test(query_flat, processes_that_end_and_begin)
{
	uint64_t was;

	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	expect(KW_OK, ALL);
	was = exchange(slot_of(2), 0);
	expect(KW_OK, "1 init 120\n100 bash 125\n300 sleep 120\n");
	exchange(slot_of(2), was);
	expect(KW_OK, ALL);
}

Test(query_flat, leaves_that_come_and_go)
{
	uint64_t first, last;

	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	first = exchange(root_slot(1), 0);
	last = exchange(root_slot(300), 0);
	expect(KW_OK, "100 bash 125\n");
	exchange(root_slot(1), first);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n100 bash 125\n");
	exchange(root_slot(300), last);
	expect(KW_OK, ALL);
	exchange(root_slot(1), 0);
	exchange(root_slot(100), 0);
	expect(KW_OK, "300 sleep 120\n");
}

Test(query_flat, a_leaf_that_becomes_something_else_is_damage)
{
	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	expect(KW_OK, ALL);
	kernel_set(g.k, leaf_of(100), "xa_node.shift", 6);
	expect(KW_INCOMPLETE, "1 init 120\n2 kthreadd 120\n300 sleep 120\n");
	kernel_set(g.k, leaf_of(100), "xa_node.shift", 0);
	expect(KW_OK, ALL);
	exchange(slot_of(3), leaf_of(300) + 2);
	expect(KW_INCOMPLETE, ALL);
}

Test(query_flat, a_struct_pid_whose_task_is_another)
{
	uint64_t other;

	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	expect(KW_OK, ALL);
	/* One of its threads has called execve(): it is the process now. */
	other = kernel_task(g.k, 101);
	kernel_set(g.k, other, "task_struct.pid", 100);
	kernel_set(g.k, other, "task_struct.thread_pid", kernel_pid(g.k, 100));
	exchange(first_of(100, PID_TASK), kernel_at(g.k, other, "task_struct.pid_links[0]"));
	exchange(slot_of(101), 0);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n100 worker 120\n300 sleep 120\n");
}

Test(query_flat, a_struct_pid_that_gets_and_loses_its_process)
{
	uint64_t task, tgid;

	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	/* It is in the table before its task is attached to it. */
	task = exchange(first_of(300, PID_TASK), 0);
	tgid = exchange(first_of(300, TGID_TASK), 0);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n100 bash 125\n");
	exchange(first_of(300, PID_TASK), task);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n100 bash 125\n");
	exchange(first_of(300, TGID_TASK), tgid);
	expect(KW_OK, ALL);
	exchange(first_of(300, TGID_TASK), 0);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n100 bash 125\n");
}

static bool end_other(const struct kw_row_identity *row, void *arg)
{
	(void)arg;
	if (row->pid == 1)
		exchange(first_of(2, PID_TASK), 0);
	return true;
}

Test(query_flat, a_task_that_ends_between_loading_and_showing)
{
	for (int known = 0; known < 2; known++) {
		have_query(SOME_TASKS, KERNEL_RAM_LIVE);
		if (known)
			expect(KW_OK, ALL);
		expect_hooked(KW_OK, "1 init 120\n100 bash 125\n300 sleep 120\n", end_other);
		cr_expect_eq(kw_query_counts(query)->gone, 1);
		close_given();
	}
}

Test(query_flat, a_task_of_another_pid)
{
	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	expect(KW_OK, ALL);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.pid", 77);
	expect(KW_INCOMPLETE, "1 init 120\n100 bash 125\n300 sleep 120\n");
	cr_expect_eq(kw_query_counts(query)->damaged, 1);
}

static bool stop_at_2(const struct kw_row_identity *row, void *arg)
{
	(void)arg;
	return row->pid != 2;
}

Test(query_flat, what_is_not_reached_is_not_forgotten)
{
	have_query(SOME_TASKS, KERNEL_RAM_LIVE);
	expect_hooked(KW_OK, "1 init 120\n2 kthreadd 120\n", stop_at_2);
	expect(KW_OK, ALL);
	expect_hooked(KW_OK, "1 init 120\n2 kthreadd 120\n", stop_at_2);
	expect(KW_OK, ALL);
}

Test(query_flat, limits)
{
	static const char *const want[] = { "1 init 120\n", "1 init 120\n2 kthreadd 120\n",
					    "1 init 120\n2 kthreadd 120\n100 bash 125\n", ALL, ALL };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		g = given_tasks(NULL, SOME_TASKS);
		given_open(&g, KERNEL_RAM_LIVE);
		query = bind_query(&g, OPTIONS(.columns = "pid,comm,task.static_prio", .limit = i + 1));
		expect(KW_OK, want[i]);
		close_given();
	}
}

/* The leaf of so small a table is its root. */
Test(query_flat, a_table_of_one_leaf_or_none)
{
	have_query("1 init\n2 kthreadd\n", KERNEL_RAM_LIVE);
	expect(KW_OK, "1 init 120\n2 kthreadd 120\n");
}
