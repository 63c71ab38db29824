/* What a PID namespace sees. */
#include "unit/kernel_given.h"

static struct given g;
static uint64_t space, node;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_pid_ns_view, .fini = close_given);

/* Give a task a struct pid with a number in the namespace as well, and put it into both tables. */
static void put_in(int tid, uint32_t number)
{
	uint64_t stride = kernel_at(g.k, 0, "upid.ns") + 8, pid = kernel_alloc(g.k, 256, 64);
	uint64_t numbers = kernel_at(g.k, pid, "pid.numbers"), task = kernel_task(g.k, tid);
	uint8_t old[256];

	kernel_read(g.k, kernel_pid(g.k, tid), old, numbers + stride - pid);
	kernel_write(g.k, pid, old, numbers + stride - pid);
	kernel_set(g.k, pid, "pid.level", 1);
	kernel_write(g.k, numbers + stride, &number, 4);
	kernel_write(g.k, numbers + stride + kernel_at(g.k, 0, "upid.ns"), &space, 8);
	kernel_idr_store(g.k, (unsigned int)tid, pid);
	kernel_write(g.k, kernel_at(g.k, node, "xa_node.slots[0]") + 8 * number, &pid, 8);
	kernel_set(g.k, task, "task_struct.thread_pid", pid);
	kernel_set(g.k, task, "task_struct.signal.pids[1]", pid);
	kernel_set(g.k, task, "task_struct.signal.pids[2]", pid);
}

/* 100 and 200 are 1 and 2 in a namespace below the initial one; 100's parent is outside of it. */
static void have_space(const char *style)
{
	g = given_tasks(style, "1 init\n50 outside ppid=1\n100 first ppid=50\n200 second ppid=100\n");
	space = kernel_alloc(g.k, 256, 64);
	node = kernel_alloc(g.k, 1024, 64);
	kernel_set(g.k, space, "pid_namespace.idr.idr_rt.xa_head", node | 2);
	kernel_set(g.k, space, "pid_namespace.level", 1);
	put_in(100, 1);
	put_in(200, 2);
}

Test(kernel_pid_ns_view, numbers)
{
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		have_space(styles[i]);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, "1 1 1 0 1 0 first\n2 2 2 1 2 0 second\n", .pidns = 200,
			    .columns = "PID,lwp,tgid,ppid,pgrp,tracer,comm");
		expect_rows(&g, KW_OK, "2\n1\n", .pidns = 100, .columns = "pid", .sort = "-pid");
		expect_rows(&g, KW_OK, "1 1\n2 2\n", .pidns = 100, .columns = "pid,tid", .source = "threads");
		/* IDs are those in the namespace; no name of another task adds one from outside. */
		expect_rows(&g, KW_OK, "2 second\n", .pidns = 100, .columns = "pid,comm",
			    .pids = "2,50,100,200");
		expect_rows(&g, KW_OK, "1 first\n2 second\n", .pidns = 100, .columns = "pid,comm",
			    .pids = "2", .names = "first,outside");
		expect_rows(&g, KW_OK, "1\n50\n100\n200\n", .pidns = 50, .columns = "pid");
		given_close(&g);
	}
}

Test(kernel_pid_ns_view, refusals)
{
	have_space(NULL);
	kernel_set(g.k, kernel_get(g.k, kernel_task(g.k, 200), "task_struct.thread_pid"), "pid.level", 33);
	given_open(&g, KERNEL_RAM);
	expect_refusal(&g, KW_NOTFOUND, "there is no process 2", .pidns = 2, .columns = "pid");
	expect_refusal(&g, KW_NOTFOUND, "there is no process -1", .pidns = -1, .columns = "pid");
	expect_refusal(&g, KW_FORMAT, "process 200: its PID namespace can't be read", .pidns = 200,
		       .columns = "pid");
	expect_refusal(&g, KW_INVALID, "rows of cpus are no processes: no PID namespace sees them",
		       .pidns = 1, .source = "cpus", .columns = "cpu");
}
