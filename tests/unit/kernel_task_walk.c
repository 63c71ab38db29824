/* Processes and threads of a kernel that races, has been damaged, or lies. */
#include "unit/kernel_given.h"

#include "kernel/task_walk.h"

static struct given g;
static const struct kw_kernel *kernel;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_task_walk, .fini = close_given, .timeout = 60);

static void have_tasks(const char *tasks)
{
	g = given_tasks(NULL, tasks);
	given_open(&g, KERNEL_RAM_LIVE);
	cr_assert_eq(kw_kernel_get(g.ctx, &kernel), KW_OK, "%s", kw_error(g.ctx));
}

/* The processes that a walk over the PID table finds, as text. */
static void expect_processes(const char *want, uint64_t damaged)
{
	struct kw_task_ref refs[KW_TASK_BATCH];
	struct kw_pid_walk walk;
	char text[256] = "";
	unsigned int nr;

	kw_pass_begin(g.ctx);
	cr_assert_eq(kw_pid_walk_begin(g.ctx, kernel, &walk), KW_OK, "%s", kw_error(g.ctx));
	while (kw_pid_walk_next(g.ctx, kernel, &walk, refs, &nr)) {
		for (unsigned int i = 0; i < nr; i++) {
			char number[16];

			snprintf(number, sizeof(number), "%d ", refs[i].pid);
			strcat(text, number);
		}
	}
	kw_pass_end(g.ctx);
	cr_expect_str_eq(text, want, "got \"%s\" instead of \"%s\"", text, want);
	cr_expect_eq(walk.damaged + walk.xa.damaged, damaged);
}

struct visit {
	char text[256];
	unsigned int stop_after, nr;
};

static bool visit(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct visit *v = arg;
	char number[16];
	uint32_t pid = 0;

	if (kw_read(ctx, task + kernel->task.pid, &pid, sizeof(pid)) != KW_OK)
		pid = 0;
	if (strlen(v->text) < sizeof(v->text) - 16) {
		snprintf(number, sizeof(number), "%u ", pid);
		strcat(v->text, number);
	}
	return ++v->nr != v->stop_after;
}

static void expect_threads(int leader, kw_status want_status, const char *want)
{
	struct visit v = { .text = "" };
	kw_status status = kw_threads_each(g.ctx, kernel, kernel_task(g.k, leader), visit, &v);

	cr_expect_eq(status, want_status, "status %d instead of %d: %s", status, want_status,
		     kw_error(g.ctx));
	cr_expect_str_eq(v.text, want, "got \"%s\" instead of \"%s\"", v.text, want);
}

static void expect_list(kw_status want_status, const char *want)
{
	struct visit v = { .text = "" };
	kw_status status = kw_task_list_each(g.ctx, kernel, visit, &v);

	cr_expect_eq(status, want_status, "status %d instead of %d: %s", status, want_status,
		     kw_error(g.ctx));
	cr_expect_str_eq(v.text, want, "got \"%s\" instead of \"%s\"", v.text, want);
}

static void set_thread_next(int tid, uint64_t next)
{
	kernel_set(g.k, kernel_task(g.k, tid), "task_struct.thread_node.next", next);
}

static uint64_t thread_node(int tid)
{
	return kernel_at(g.k, kernel_task(g.k, tid), "task_struct.thread_node");
}

#define FOUR_THREADS "1 a\n1.2 b\n1.3 c\n1.4 d\n9 e\n"

/* A cyclic list that does not come back to its head, with the cycle in each place. */
Test(kernel_task_walk, circle_without_the_head)
{
	have_tasks(FOUR_THREADS);
	for (int back = 1; back <= 4; back++) {
		set_thread_next(4, thread_node(back));
		cr_expect_eq(kw_threads_each(g.ctx, kernel, kernel_task(g.k, 1), visit,
					     &(struct visit){ .text = "" }),
			     KW_FORMAT, "back to %d", back);
		cr_expect_not_null(strstr(kw_error(g.ctx), "goes round without its head after"), "%s",
				   kw_error(g.ctx));
	}
	set_thread_next(4, thread_node(4));
	expect_threads(1, KW_FORMAT, "1 2 3 4 ");
	set_thread_next(1, thread_node(1));
	expect_threads(1, KW_FORMAT, "1 ");
}

/* Into the list of another process: whose head is none of this one. */
Test(kernel_task_walk, list_that_runs_into_another)
{
	struct visit v = { .text = "" };

	have_tasks(FOUR_THREADS "20 f\n20.21 g\n");
	set_thread_next(2, thread_node(20));
	cr_expect_eq(kw_threads_each(g.ctx, kernel, kernel_task(g.k, 1), visit, &v), KW_FORMAT);
}

Test(kernel_task_walk, poison)
{
	have_tasks(FOUR_THREADS);
	set_thread_next(2, 0xdead000000000100);
	expect_threads(1, KW_ABSENT, "1 2 0 ");
	cr_expect_not_null(strstr(kw_error(g.ctx), "stops at 0xdead000000000100, which can't be read"), "%s",
			   kw_error(g.ctx));
	set_thread_next(2, 0);
	expect_threads(1, KW_ABSENT, "1 2 0 ");
	set_thread_next(2, UINT64_MAX);
	expect_threads(1, KW_ABSENT, "1 2 0 ");
}

Test(kernel_task_walk, thread_list_of_zeros)
{
	have_tasks(FOUR_THREADS);
	kernel_fill(g.k, kernel_get(g.k, kernel_task(g.k, 1), "task_struct.signal"), 0, 200);
	expect_threads(1, KW_ABSENT, "0 ");
	kernel_set(g.k, kernel_task(g.k, 9), "task_struct.signal", 0);
	expect_threads(9, KW_ABSENT, "");
	cr_expect_eq(kw_threads_each(g.ctx, kernel, 0x1000, visit, &(struct visit){ .text = "" }), KW_ABSENT);
}

Test(kernel_task_walk, stopping)
{
	struct visit v = { .stop_after = 2 };

	have_tasks(FOUR_THREADS);
	expect_threads(1, KW_OK, "1 2 3 4 ");
	cr_expect_eq(kw_threads_each(g.ctx, kernel, kernel_task(g.k, 1), visit, &v), KW_OK);
	cr_expect_str_eq(v.text, "1 2 ");
	expect_list(KW_OK, "1 9 ");
}

Test(kernel_task_walk, process_list_that_is_damaged)
{
	uint64_t tasks, init;

	have_tasks("1 a\n2 b\n3 c\n");
	tasks = kernel_at(g.k, kernel_task(g.k, 2), "task_struct.tasks");
	init = kernel_symbol(g.k, "init_task");
	kernel_set(g.k, kernel_task(g.k, 3), "task_struct.tasks.next", tasks);
	expect_list(KW_FORMAT, "1 2 3 ");
	cr_expect_eq(strncmp(kw_error(g.ctx), "process list (init_task.tasks): the list at 0x", 46), 0, "%s",
		     kw_error(g.ctx));
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.tasks.next", 0xdead000000000122);
	expect_list(KW_ABSENT, "1 2 0 ");
	kernel_set(g.k, init, "task_struct.tasks.next", kernel_at(g.k, init, "task_struct.tasks"));
	expect_list(KW_OK, "");
}

Test(kernel_task_walk, only_leaders_are_processes)
{
	have_tasks(FOUR_THREADS);
	expect_processes("1 9 ", 0);
}

/* Missing processes after pid.numbers[] became flexible: tasks[] lies where the type says. */
static void expect_two(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "1 1\n64 64\n", .columns = "pid,pgid");
}

Test(kernel_task_walk, both_forms_of_struct_pid)
{
	in_every_style("1 a\n64 b\n", expect_two);
}

Test(kernel_task_walk, struct_pids_that_are_not_there)
{
	have_tasks("1 a\n2 b\n3 c\n4 d\n");
	kernel_idr_store(g.k, 2, 0xdead000000000100);
	kernel_idr_store(g.k, 3, 0);
	expect_processes("1 4 ", 1);
}

/* A PID kept alive by a session or group has no task, and a half-born process is not yet a group's leader. */
Test(kernel_task_walk, struct_pids_without_tasks)
{
	have_tasks("1 a\n2 b\n3 c\n4 d\n");
	kernel_set(g.k, kernel_pid(g.k, 2), "pid.tasks[0].first", 0);
	kernel_set(g.k, kernel_pid(g.k, 3), "pid.tasks[1].first", 0);
	kernel_fill(g.k, kernel_pid(g.k, 4), 0, 64);
	expect_processes("1 ", 0);
}

static void expect_lookup(int pid, kw_status want)
{
	struct kw_task_ref ref = { .pid = -7 };
	kw_status status = kw_pid_lookup(g.ctx, kernel, pid, &ref);

	cr_expect_eq(status, want, "%d: status %d instead of %d", pid, status, want);
	if (want != KW_OK) {
		cr_expect_eq(ref.pid, -7);
		return;
	}
	cr_expect_eq(ref.pid, pid);
	cr_expect_eq(ref.task, kernel_task(g.k, pid));
	cr_expect_eq(ref.pid_struct, kernel_pid(g.k, pid));
}

Test(kernel_task_walk, lookup)
{
	have_tasks(FOUR_THREADS);
	expect_lookup(1, KW_OK);
	expect_lookup(9, KW_OK);
	/* A thread is no process. */
	expect_lookup(2, KW_NOTFOUND);
	expect_lookup(0, KW_NOTFOUND);
	expect_lookup(5, KW_NOTFOUND);
	expect_lookup(70000, KW_NOTFOUND);
	expect_lookup(-1, KW_NOTFOUND);
	expect_lookup(INT32_MAX, KW_NOTFOUND);
	kernel_idr_store(g.k, 9, 0xdead000000000100);
	expect_lookup(9, KW_ABSENT);
}

static bool is_alive(int pid)
{
	struct kw_task_ref ref = { .task = kernel_task(g.k, pid),
				   .pid_struct = kernel_pid(g.k, pid),
				   .pid = pid };

	return kw_task_is_alive(g.ctx, kernel, &ref);
}

Test(kernel_task_walk, alive)
{
	struct kw_task_ref listed;

	have_tasks("1 a\n2 b\n3 c\n4 d\n5 e\n6 f\n");
	cr_expect(is_alive(1));
	listed = (struct kw_task_ref){ .task = kernel_task(g.k, 1), .pid = 1 };
	cr_expect(kw_task_is_alive(g.ctx, kernel, &listed));
	/* Ended: detach_pid() has cut both links. */
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.thread_pid", 0);
	cr_expect_not(is_alive(2));
	/* Half-born: a copy of its parent, whose struct pid points back at the parent. */
	kernel_set(g.k, kernel_task(g.k, 3), "task_struct.thread_pid", kernel_pid(g.k, 1));
	cr_expect_not(is_alive(3));
	listed = (struct kw_task_ref){ .task = kernel_task(g.k, 3), .pid = 3 };
	cr_expect_not(kw_task_is_alive(g.ctx, kernel, &listed));
	/* The PID has gone to another task. */
	kernel_set(g.k, kernel_pid(g.k, 4), "pid.tasks[0].first",
		   kernel_at(g.k, kernel_task(g.k, 1), "task_struct.pid_links[0]"));
	cr_expect_not(is_alive(4));
	/* Freed, and used for something else. */
	kernel_set(g.k, kernel_task(g.k, 5), "task_struct.thread_pid", 0x6b6b6b6b6b6b6b6b);
	cr_expect_not(is_alive(5));
	kernel_fill(g.k, kernel_task(g.k, 6), 0, 400);
	cr_expect_not(is_alive(6));
	listed.task = 0x1000;
	cr_expect_not(kw_task_is_alive(g.ctx, kernel, &listed));
}

/* A count that the kernel keeps is no bound and no size: pid_allocated and nr_threads are not even looked at. */
Test(kernel_task_walk, number_of_processes_is_not_trusted)
{
	static const uint64_t numbers[] = { 0, 1, 0xffffffff, 0x7fffffff };

	have_tasks("1 a\n2 b\n");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		kernel_set(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.pid_allocated", numbers[i]);
		kernel_set(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_next", numbers[i]);
		expect_processes("1 2 ", 0);
	}
}

Test(kernel_task_walk, empty_table_is_damage)
{
	struct kw_pid_walk walk;
	uint64_t init;

	have_tasks("1 a\n");
	init = kernel_symbol(g.k, "init_pid_ns");
	kernel_set(g.k, init, "pid_namespace.idr.idr_rt.xa_head", 0);
	cr_expect_eq(kw_pid_walk_begin(g.ctx, kernel, &walk), KW_FORMAT);
	cr_expect_str_eq(kw_error(g.ctx), "PID table (init_pid_ns.idr): there is nothing in it");
	kernel_set(g.k, init, "pid_namespace.idr.idr_rt.xa_head", 0x406);
	cr_expect_eq(kw_pid_walk_begin(g.ctx, kernel, &walk), KW_FORMAT);
	kernel_set(g.k, init, "pid_namespace.idr.idr_rt.xa_head", 0xdead000000000102);
	cr_expect_eq(kw_pid_walk_begin(g.ctx, kernel, &walk), KW_ABSENT);
	cr_expect_eq(strncmp(kw_error(g.ctx), "PID table (init_pid_ns.idr): the XArray at 0x", 45), 0, "%s",
		     kw_error(g.ctx));
}
