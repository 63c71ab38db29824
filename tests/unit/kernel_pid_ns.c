/* IDs in PID namespaces. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_pid_ns, .fini = close_given);

/* A struct pid with numbers in nr namespaces, n, n + 100, ... the namespaces being at n * 64. */
static uint64_t set_numbers(struct kernel_image *k, int tid, uint32_t nr)
{
	uint64_t size = kernel_at(k, 0, "upid.ns") + 8, pid = kernel_alloc(k, 4096, 4096);
	uint64_t first = kernel_at(k, pid, "pid.numbers");
	uint8_t old[256];

	kernel_read(k, kernel_pid(k, tid), old, first - pid);
	kernel_write(k, pid, old, first - pid);
	kernel_set(k, pid, "pid.level", nr - 1);
	for (uint32_t i = 0; i < nr && i < 40; i++) {
		uint64_t at = first + i * size, ns = 64ULL * (i + 1);
		int32_t number = tid + (int32_t)i * 100;

		kernel_write(k, at, &number, 4);
		kernel_write(k, at + 8, &ns, 8);
	}
	return pid;
}

static void set_pids(struct kernel_image *k, int tid, uint64_t pid)
{
	kernel_set(k, kernel_task(k, tid), "task_struct.thread_pid", pid);
	kernel_set(k, kernel_task(k, tid), "task_struct.signal.pids[1]", pid);
}

Test(kernel_pid_ns, levels)
{
	g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 b\n3 c\n", .style = "6.12" });
	set_pids(g.k, 2, set_numbers(g.k, 2, 3));
	/* Its group's leader is of the initial namespace alone. */
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.signal.pids[2]", set_numbers(g.k, 3, 1));
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 1 1\n2 102 202 2 102 202 3 0 0\n3 3 3\n", .columns = "nstgid,nspid,nspgid");
}

Test(kernel_pid_ns, absurd_levels)
{
	static const uint32_t levels[] = { 34, 0x80000000, 0xffffffff };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		g = given_tasks(NULL, "1 a\n");
		set_pids(g.k, 1, set_numbers(g.k, 1, levels[i]));
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_INCOMPLETE, "<damaged structure>\n", .columns = "nspid");
		given_close(&g);
	}
}
