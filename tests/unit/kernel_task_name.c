/* Names of tasks as /proc prints them. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_task_name, .fini = close_given);

#define WORKER "kthread flags=0x200020"

static uint64_t text(struct kernel_image *k, const char *str)
{
	uint64_t at = kernel_alloc(k, strlen(str) + 1, 8);

	kernel_write(k, at, str, strlen(str) + 1);
	return at;
}

static uint64_t new_kthread(struct kernel_image *k, int tid)
{
	uint64_t at = kernel_alloc(k, 64, 64);
	bool old = kernel_has(k, "task_struct.set_child_tid");

	kernel_set(k, kernel_task(k, tid), old ? "task_struct.set_child_tid" : "task_struct.worker_private",
		   at);
	return at;
}

static void new_worker(struct kernel_image *k, int tid, const char *desc, uint64_t work, bool pool)
{
	uint64_t at = kernel_alloc(k, 128, 64);

	kernel_set(k, new_kthread(k, tid), "kthread.data", at);
	kernel_write(k, kernel_at(k, at, "worker.desc"), desc, strlen(desc));
	kernel_set(k, at, "worker.current_work", work);
	if (pool)
		kernel_set(k, at, "worker.pool", kernel_alloc(k, 64, 64));
}

static void expect_names(struct given *given)
{
	kernel_set(given->k, new_kthread(given->k, 1), "kthread.full_name",
		   text(given->k, "a_name_that_is_long"));
	new_kthread(given->k, 2);
	kernel_set(given->k, new_kthread(given->k, 3), "kthread.full_name", 0xdead000000000100);
	new_worker(given->k, 4, "events", 0, true);
	new_worker(given->k, 5, "events", 1, true);
	new_worker(given->k, 6, "events", 1, false);
	/* No NUL in the whole description. */
	new_worker(given->k, 7, "0123456789abcdef0123456789abcdef", 1, true);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 a_name_that_is_long\n2 short\n3 damaged\n4 kworker/0:1-events\n5 kworker/0:1+events\n"
		    "6 kworker/0:1\n7 kworker/0:1+0123456789abcdef0123456789abcde\n8 kworker/9\n9 bash\n",
		    .columns = "pid,name");
}

Test(kernel_task_name, names)
{
	in_every_style("1 cut kthread\n2 short kthread\n3 damaged kthread\n4 kworker/0:1 " WORKER
		       "\n5 kworker/0:1 " WORKER "\n6 kworker/0:1 " WORKER "\n7 kworker/0:1 " WORKER
		       "\n8 kworker/9 " WORKER "\n9 bash\n",
		       expect_names);
}
