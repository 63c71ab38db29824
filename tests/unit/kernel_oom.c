/* How likely processes are to be killed when memory runs out. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_oom, .fini = close_given);

/* 2 has a tenth of all memory, 4 a quarter in swap and tables; 1 and 3 are never killed; 6 has no memory but its thread. */
#define TASKS                                                                                          \
	"1 init rss=0,9000,0,0\n2 a rss=100,800,0,100\n3 k kthread\n"                                  \
	"4 b rss=0,0,1500,0 mm.pgtables_bytes=4096000\n5 c signal.oom_score_adj=-1000 rss=0,500,0,0\n" \
	"6 d nomm\n6.7 e mm=2\n8 f signal.oom_score_adj=500\n9 g signal.oom_score_adj=-999\n10 z nomm\n"

static void given_memory(const char *style, const char *types)
{
	g = given_config(&(struct kernel_config){ .style = style, .types = types, .tasks = TASKS });
	kernel_write(g.k, kernel_symbol(g.k, "_totalram_pages"), &(uint64_t){ 8000 }, 8);
	kernel_write(g.k, kernel_symbol(g.k, "total_swap_pages"), &(uint64_t){ 2000 }, 8);
}

static const char scores[] = "1 0\n2 733\n3 0\n4 833\n5 0\n6 733\n8 1000\n9 0\n10 0\n";

Test(kernel_oom, scores)
{
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		given_memory(styles[i], NULL);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, scores, .columns = "pid,oom_score");
		given_close(&g);
	}
}

/* Killed already, or its parent's memory until exec. */
Test(kernel_oom, spared)
{
	given_memory(NULL, NULL);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.mm.flags", 1 << 21);
	kernel_set(g.k, kernel_task(g.k, 4), "task_struct.vfork_done", 1);
	kernel_set(g.k, kernel_task(g.k, 4), "task_struct.real_parent", kernel_task(g.k, 4));
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "2 0\n4 0\n", .columns = "pid,oom_score", .pids = "2,4");
}

Test(kernel_oom, without_swap_or_numbers)
{
	g = given_config(&(struct kernel_config){ .tasks = TASKS, .hidden = "total_swap_pages" });
	kernel_write(g.k, kernel_symbol(g.k, "_totalram_pages"), &(uint64_t){ 10000 }, 8);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "2 733\n", .columns = "pid,oom_score", .pids = "2");
	given_close(&g);
	/* Without any memory, or with more than there can be, there is nothing to divide by. */
	for (uint64_t total = 0; total < 2; total++) {
		given_memory(NULL, NULL);
		kernel_write(g.k, kernel_symbol(g.k, "_totalram_pages"), &(uint64_t){ total << 62 }, 8);
		kernel_write(g.k, kernel_symbol(g.k, "total_swap_pages"), &(uint64_t){ 0 }, 8);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_INCOMPLETE, "2 <damaged structure>\n", .columns = "pid,oom_score",
			    .pids = "2");
		given_close(&g);
	}
	g = given_config(&(struct kernel_config){ .tasks = TASKS, .hidden = "_totalram_pages" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "2 <this kernel has no such symbol>\n", .columns = "pid,oom_score",
		    .pids = "2");
}

/* Since 7.0 the parts of the counters that the CPUs keep are added. */
Test(kernel_oom, parts_of_the_cpus)
{
	for (int added = 0; added < 2; added++) {
		g = given_config(&(struct kernel_config){
			.style = "7.2",
			.types = added ? "struct vm_area_struct { unsigned long vm_start, flags; };" : NULL,
			.tasks = "2 a rss=100,800,0,100 percpu=1:0:50\n" });
		kernel_write(g.k, kernel_symbol(g.k, "_totalram_pages"), &(uint64_t){ 10000 }, 8);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, added ? "736\n" : "733\n", .columns = "oom_score");
		given_close(&g);
	}
}
