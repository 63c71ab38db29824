/* CPU time and page faults, own and summed over threads. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_cputime, .fini = close_given);

/* Missing threads since 6.7, when thread_group went: the list in signal_struct counts. */
static void expect_sums(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "1 600 300 900 17 1\n2 0 0 0 0 0\n",
		    .columns = "pid,utime,stime,time,minflt,majflt");
	expect_rows(given, KW_OK, "1 100 0 2\n5 200 200 3\n6 200 0 5\n2 0 0 0\n",
		    .columns = "tid,utime,stime,minflt", .source = "threads");
}

Test(kernel_cputime, all_threads_and_ended_ones)
{
	in_every_style("1 a utime=100 runtime=100 min_flt=2 signal.utime=100 signal.stime=100 "
		       "signal.sum_sched_runtime=200 signal.min_flt=7 signal.maj_flt=1\n"
		       "1.5 b utime=200 stime=200 runtime=400 min_flt=3\n"
		       "1.6 c utime=200 runtime=200 min_flt=5\n"
		       "2 d\n",
		       expect_sums);
}

/* Numbers of a hostile guest: their sum is 0. */
Test(kernel_cputime, sums_that_overflow)
{
	g = given_tasks(NULL, "1 a utime=0x8000000000000000 stime=0x8000000000000000 runtime=10\n"
			      "2 b utime=0xffffffffffffffff stime=1 runtime=0xffffffffffffffff\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 5 5\n2 18446744073709551615 0\n", .columns = "pid,utime,stime");
}

/* The ticks only tell the proportion: the sum is the run time. */
Test(kernel_cputime, scaled_to_the_run_time)
{
	g = given_tasks(
		NULL,
		"1 a utime=1000 stime=3000 runtime=1000000\n"
		"2 only_user utime=4 runtime=77\n"
		"3 only_system stime=4 runtime=77\n"
		"4 no_ticks runtime=77\n"
		"5 overflow utime=0x8000000000000000 stime=0x4000000000000000 runtime=0xc000000000000000\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 250000 750000\n2 77 0\n3 0 77\n4 77 0\n"
		    "5 9223372036854775808 4611686018427387904\n",
		    .columns = "pid,utime,stime");
}

/* Neither value goes back below what /proc has shown, and an older sum than that is not believed. */
Test(kernel_cputime, never_back)
{
	g = given_tasks(NULL, "1 a utime=10 stime=10 runtime=1000 signal.prev_cputime.utime=800 "
			      "signal.prev_cputime.stime=100\n"
			      "2 b utime=10 stime=10 runtime=1000 signal.prev_cputime.stime=700\n"
			      "3 c utime=10 stime=10 runtime=1000 signal.prev_cputime.utime=1500 "
			      "signal.prev_cputime.stime=500\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 800 200 1000\n2 300 700 1000\n3 1500 500 2000\n",
		    .columns = "pid,utime,stime,time");
}

Test(kernel_cputime, a_thread_has_its_own_history)
{
	g = given_tasks(NULL, "1 a utime=10 stime=10 runtime=1000 signal.prev_cputime.utime=5000 "
			      "prev_cputime.utime=700\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "5000 0\n", .columns = "utime,stime");
	expect_rows(&g, KW_OK, "700 300\n", .columns = "utime,stime", .source = "threads");
}

/* Sums over a list that can't be followed to its end would be too small: they are absent. */
Test(kernel_cputime, thread_lists_that_are_damaged)
{
	uint64_t task, node;

	g = given_tasks(
		NULL,
		"1 cut utime=5 runtime=5\n1.2 x\n3 circle utime=5 runtime=5\n3.4 y\n3.5 z\n6 good utime=5 runtime=5\n"
		"7 nosignal\n");
	task = kernel_task(g.k, 2);
	kernel_set(g.k, task, "task_struct.thread_node.next", 0xdead000000000122);
	node = kernel_at(g.k, kernel_task(g.k, 4), "task_struct.thread_node");
	kernel_set(g.k, kernel_task(g.k, 5), "task_struct.thread_node.next", node);
	kernel_set(g.k, kernel_task(g.k, 7), "task_struct.signal", 0xdead000000000100);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "1 <no memory at that address> R\n"
		    "3 <damaged structure> R\n"
		    "6 5 R\n"
		    "7 <no memory at that address> R\n",
		    .columns = "pid,utime,state");
}

Test(kernel_cputime, a_thread_that_is_not_there)
{
	uint64_t page, node;

	g = given_tasks(NULL, "1 a utime=5 runtime=5 min_flt=3\n2 b utime=5 runtime=5\n");
	page = kernel_alloc(g.k, 4096, 4096);
	node = kernel_at(g.k, page, "task_struct.thread_node");
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.thread_node.next", node);
	kernel_exclude(g.k, page);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_INCOMPLETE,
		    "1 <excluded when the dump was made> <excluded when the dump was made>\n2 5 0\n",
		    .columns = "pid,utime,minflt");
}

/* What is not asked for is not summed: a kernel that lacks it has the rest. */
Test(kernel_cputime, input_and_output)
{
	g = given_config(&(struct kernel_config){
		.types =
			"struct task_io_accounting { u64 rchar, wchar, syscr, syscw, cancelled_write_bytes; };",
		.tasks = "1 a ioac.rchar=1 ioac.syscw=3 signal.ioac.rchar=10 gtime=5 signal.gtime=6\n"
			 "1.2 b ioac.rchar=100 ioac.cancelled_write_bytes=4 gtime=7\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "111 0 3 <this kernel has no such member> 4 18\n",
		    .columns = "rchar,wchar,syscw,read_bytes,cancelled_write_bytes,guest_time");
	expect_rows(&g, KW_OK, "1 3 0 5\n100 0 4 7\n",
		    .columns = "rchar,syscw,cancelled_write_bytes,guest_time", .source = "threads");
}
