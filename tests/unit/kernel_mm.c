/* Memory of processes: wrong values that other tools have shipped come first. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_mm, .fini = close_given);

#define RSS_COLUMNS "rss,rss_file,rss_anon,swap,rss_shmem"

static void expect_negative(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "1 40960 40960 0 0 0\n2 0 0 0 0 0\n3 57344 0 0 0 57344\n",
		    .columns = "pid," RSS_COLUMNS);
}

/* RSS as 18014398509481908: each counter is clamped by itself. */
Test(kernel_mm, negative_counters)
{
	in_every_style("1 a rss=10,-3,-1,0\n2 b rss=-1,-2,-3,-4\n"
		       "3 c rss=-9223372036854775808,-1,0,14\n",
		       expect_negative);
}

static void expect_shared(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "1 143360 40960 81920 12288 20480\n", .columns = "pid," RSS_COLUMNS);
}

/* Of 10000 pages. */
Test(kernel_mm, share_of_all_memory)
{
	g = given_tasks(NULL, "1 a rss=100,2300,70,100\n2 k kthread\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 25\n2 <no mm: kernel thread or exiting>\n", .columns = "pid,pmem");
}

/* RSS without shared pages, or with swap. */
Test(kernel_mm, all_four_counters)
{
	in_every_style("1 a rss=10,20,3,5\n", expect_shared);
}

/* Only the shared counter was summed since 6.2. */
Test(kernel_mm, parts_on_each_cpu)
{
	static const char *const styles[] = { "6.12", "7.2" };

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		g = given_tasks(styles[i], "1 a rss=10,20,0,5 percpu=1:0:31 percpu=1:1:-1 percpu=0:1:2\n"
					   "2 b rss=0,-32,0,0 percpu=1:1:40\n"
					   "3 c rss=0,5,0,0 percpu=1:0:-6\n");
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, "1 274432 49152 204800 0 20480\n2 32768 0 32768 0 0\n3 0 0 0 0 0\n",
			    .columns = "pid," RSS_COLUMNS);
		given_close(&g);
	}
}

/* What an impossible CPU's entry points to is no part of anything. */
Test(kernel_mm, impossible_cpus_have_no_part)
{
	uint64_t garbage = 0xdead0000, mask = 5, nr = 3;

	g = given_config(&(struct kernel_config){ .tasks = "1 a rss=1,0,0,0 percpu=0:2:7\n", .cpus = 3 });
	kernel_write(g.k, kernel_symbol(g.k, "__per_cpu_offset") + 8, &garbage, 8);
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_possible_mask"), &mask, 8);
	kernel_write(g.k, kernel_symbol(g.k, "nr_cpu_ids"), &nr, 4);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "32768\n", .columns = "rss");
}

/* Garbage as the number of CPUs is not believed: the mask says which there are. */
Test(kernel_mm, absurd_number_of_cpus)
{
	static const uint32_t numbers[] = { 0, 0xffffffff, 0x10000 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		g = given_tasks(NULL, "1 a rss=1,0,0,0 percpu=0:1:7\n");
		kernel_write(g.k, kernel_symbol(g.k, "nr_cpu_ids"), &numbers[i], 4);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, "32768\n", .columns = "rss");
		given_close(&g);
	}
}

Test(kernel_mm, part_of_a_cpu_that_is_not_there)
{
	g = given_tasks(NULL, "1 a rss=10,20,0,5\n2 b rss=1,0,0,0\n");
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm.rss_stat[1].counters", 0x7fffffff0000);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "1 <no memory at that address> 40960 <no memory at that address>\n2 4096 4096 0\n",
		    .columns = "pid,rss,rss_file,rss_anon");
}

/* Without the per-CPU parts a sum is wrong, not small. */
Test(kernel_mm, no_per_cpu_offsets)
{
	static const char *const hidden[] = { "__per_cpu_offset", "__cpu_possible_mask" };

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		g = given_config(
			&(struct kernel_config){ .tasks = "1 a rss=10,20,0,5 vsz=7\n", .hidden = hidden[i] });
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, "28672 <this kernel has no such symbol>\n", .columns = "vsz,rss");
		given_close(&g);
	}
}

Test(kernel_mm, per_cpu_offsets_that_are_not_there)
{
	static const char *const excluded[] = { "__per_cpu_offset", "__cpu_possible_mask" };

	for (size_t i = 0; i < ARRAY_SIZE(excluded); i++) {
		g = given_tasks(NULL, "1 a rss=10,20,0,5 vsz=7\n");
		kernel_exclude(g.k, kernel_symbol(g.k, excluded[i]));
		given_open(&g, KERNEL_ELF_PHYSICAL);
		expect_rows(&g, KW_OK, "28672 <this kernel has no such symbol>\n", .columns = "vsz,rss");
		given_close(&g);
	}
}

/* A kernel built for one CPU has neither table nor parts. */
Test(kernel_mm, kernel_for_one_cpu)
{
	g = given_config(&(struct kernel_config){
		.types =
			"struct percpu_counter { s64 count; };"
			"struct mm_struct { unsigned long total_vm; atomic_t mm_users; struct percpu_counter rss_stat[4]; };",
		.tasks = "1 a rss=10,20,0,5\n",
		.hidden = "__per_cpu_offset __cpu_possible_mask nr_cpu_ids" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "143360\n", .columns = "rss");
}

static void expect_kthreads(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 409600 122880 false\n"
		    "2 <no mm: kernel thread or exiting> <no mm: kernel thread or exiting> true\n"
		    "3 <no mm: kernel thread or exiting> <no mm: kernel thread or exiting> true\n",
		    .columns = "pid,vsz,rss,kthread");
}

/* A kernel thread that borrows an mm (vhost) is no user process, and the memory is not its own. */
Test(kernel_mm, borrowed_mm)
{
	in_every_style("1 qemu vsz=100 rss=10,20,0,0\n2 kthreadd kthread\n3 vhost kthread mm=1\n",
		       expect_kthreads);
}

/* RSS 0 for a task that is exiting and still has its mm; a zombie has none. */
Test(kernel_mm, exiting)
{
	g = given_tasks(NULL, "1 exits flags=4 rss=10,0,0,0\n2 zombie state=Z nomm\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 40960\n2 <no mm: kernel thread or exiting>\n", .columns = "pid,rss");
}

Test(kernel_mm, sizes)
{
	g = given_tasks(
		NULL,
		"1 a vsz=100 mm.locked_vm=1 mm.data_vm=2 mm.stack_vm=3 mm.exec_vm=10 mm.start_code=0x401234 "
		"mm.end_code=0x403001\n"
		"2 b mm.exec_vm=1 mm.start_code=0x400000 mm.end_code=0x500000\n"
		"3 c mm.exec_vm=7 mm.start_code=0x500000 mm.end_code=0x400000\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 409600 4096 8192 12288 12288 28672\n"
		    "2 102400 0 0 0 4096 0\n"
		    /* An end before the beginning: never more than there is. */
		    "3 102400 0 0 0 28672 0\n",
		    .columns = "pid,vsz,locked,data,stack,text,lib");
}

Test(kernel_mm, mm_that_is_not_there)
{
	uint64_t page;

	g = given_tasks(NULL, "1 a\n2 b mm=1\n3 c mm=1\n4 d\n");
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm", 0xdead000000000100);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.mm", page);
	kernel_exclude(g.k, page);
	given_open(&g, KERNEL_ELF_VIRTUAL);
	expect_rows(&g, KW_INCOMPLETE,
		    "1 <no memory at that address> <no memory at that address>\n"
		    "2 <excluded when the dump was made> <excluded when the dump was made>\n"
		    "3 102400 0\n4 102400 0\n",
		    .columns = "pid,vsz,rss");
}

/* A thread shows its process's memory. */
Test(kernel_mm, threads_share)
{
	g = given_tasks(NULL, "1 a rss=1,2,0,0\n1.2 b\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 12288\n2 12288\n", .columns = "tid,rss", .source = "threads");
}

Test(kernel_mm, more_sizes)
{
	g = given_tasks(NULL,
			"1 a vsz=100 rss=10,-3,0,5 mm.hiwater_vm=120 mm.hiwater_rss=3 mm.pinned_vm.counter=2 "
			"mm.pgtables_bytes.counter=40960 mm.hugetlb_usage.counter=512 mm.flags=0x1000000\n"
			"2 b vsz=100 rss=1,1,0,1 percpu=1:1:9 mm.hiwater_vm=1 mm.hiwater_rss=50 "
			"mm.pgtables_bytes.counter=-1 mm.data_vm=3 mm.stack_vm=4 signal.core_state=8\n"
			"3 c kthread mm=1\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(
		&g, KW_OK,
		"491520 61440 61440 61440 8192 40960 2097152 0 false false\n"
		"409600 204800 12288 8192 0 0 0 28672 true true\n",
		.columns =
			"VmPeak,VmHWM,stat_rss,shared,VmPin,VmPTE,HugetlbPages,statm_data,CoreDumping,THP_enabled",
		.pids = "1,2");
	expect_rows(&g, KW_OK,
		    "<no mm: kernel thread or exiting> <no mm: kernel thread or exiting> "
		    "<no mm: kernel thread or exiting> <no mm: kernel thread or exiting>\n",
		    .columns = "start_code,vmas,core_dumping,untag_mask", .pids = "3");
}
