/* Delays, of kernels that count them and of others. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_sched, .fini = close_given);

/* Without the boot option delayacct no task has any: that is not none. */
Test(kernel_sched, delays)
{
	uint64_t delays;

	g = given_tasks(NULL, "1 a\n2 b\n");
	delays = kernel_alloc(g.k, 256, 64);
	kernel_set(g.k, delays, "task_delay_info.blkio_delay", 70);
	kernel_set(g.k, delays, "task_delay_info.blkio_count", 7);
	kernel_set(g.k, delays, "task_delay_info.irq_delay", 1ULL << 40);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.delays", delays);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "70 7 0 1099511627776\n"
		    "<a pointer on the way is NULL> <a pointer on the way is NULL> "
		    "<a pointer on the way is NULL> <a pointer on the way is NULL>\n",
		    .columns = "blkio_delay,blkio_count,wpcopy_delay,irq_delay");
}

/* What came later is not in this kernel, and one without CONFIG_TASK_DELAY_ACCT has nothing of the kind. */
Test(kernel_sched, kernels_that_count_less)
{
	g = given_config(&(struct kernel_config){
		.types = "struct task_delay_info { spinlock_t lock; u64 blkio_delay; };", .tasks = "1 a\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<a pointer on the way is NULL> <this kernel has no such member>\n",
		    .columns = "blkio_delay,irq_delay");
	given_close(&g);
	g = given_config(&(struct kernel_config){ .types = "struct task_delay_info { int nothing; };",
						  .tasks = "1 a\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such member>\n", .columns = "blkio_delay");
}

/* 9 s of CPU in 900 s; one that began after the last update of the clock has had no time at all. */
Test(kernel_sched, share_of_a_cpu)
{
	char tasks[256];

	snprintf(tasks, sizeof(tasks),
		 "1 a start=%llu utime=9000000000 runtime=9000000000\n2 b start=%llu utime=5\n",
		 KERNEL_BOOTTIME - 900000000000, KERNEL_BOOTTIME + 1);
	g = given_tasks(NULL, tasks);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 1\n2 0\n", .columns = "pid,%cpu");
	given_close(&g);
	g = given_config(&(struct kernel_config){ .tasks = "1 a\n", .hidden = "tk_core" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such symbol>\n", .columns = "pcpu");
}

/* Built without CONFIG_TASK_IO_ACCOUNTING or CONFIG_SCHED_INFO. */
Test(kernel_sched, kernel_without_accounting)
{
	g = given_config(&(struct kernel_config){
		.types = "struct task_io_accounting { int nothing; }; struct sched_info { int nothing; };",
		.tasks = "1 a\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "<this kernel has no such member> <this kernel has no such member> "
		    "<this kernel has no such member>\n",
		    .columns = "rchar,write_bytes,run_delay");
}
