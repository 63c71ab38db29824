/* Areas of memory: damaged lists and trees first, then their names. */
#include "fixtures/belongings.h"
#include "unit/kernel_given.h"

static struct given g;
static struct belongings b;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_vma, .fini = close_given, .timeout = 60);

#define TASKS "1 a\n2 k kthread\n3 z nomm\n"

static void have_areas(const char *style, const char *variables)
{
	char all[512];

	snprintf(all, sizeof(all), "%s%s", BELONGINGS_VARIABLES, variables);
	g = given_config(&(struct kernel_config){ .style = style, .tasks = TASKS, .variables = all });
	belongings_make(g.k, 1, &b);
}

static const char areas[] = "1 0x400000 0x402000 8192 r-xp 5 4096 08:02 77 /bin/x\n"
			    "1 0x602000 0x603000 4096 rw-p 3 <does not apply here> <does not apply here> "
			    "<does not apply here> [heap]\n"
			    "1 0x700000 0x701000 4096 rw-p 3 <does not apply here> <does not apply here> "
			    "<does not apply here> <does not apply here>\n"
			    "1 0x7f0000 0x7f1000 4096 rw-p 3 <does not apply here> <does not apply here> "
			    "<does not apply here> [stack]\n";

#define ALL "pid,start,end,size,perms,flags,offset,dev,inode,path"

/* A list that goes round, or leads nowhere: what lies before the damage is shown. */
Test(kernel_vma, damaged_lists)
{
	have_areas("5.10", "");
	kernel_set(g.k, b.area[AREA_ANON], "vm_area_struct.vm_next", b.area[AREA_TEXT]);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "0x400000\n0x602000\n0x700000\n", .source = "vmas",
		    .columns = "start");
	given_close(&g);
	have_areas("5.10", "");
	kernel_set(g.k, b.area[AREA_HEAP], "vm_area_struct.vm_next", 0xdead000000000100);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "0x400000\n0x602000\n", .source = "vmas", .columns = "start");
}

/* What stands in the tree is no area, or one of another place. */
Test(kernel_vma, damaged_trees)
{
	have_areas(NULL, "");
	kernel_set(g.k, b.area[AREA_HEAP], "vm_area_struct.vm_end", 0x604000);
	kernel_set(g.k, b.leaf, "maple_range_64.slot[1]", 0xdead000000000100);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "0x700000\n0x7f0000\n", .source = "vmas", .columns = "start");
	given_close(&g);
	have_areas(NULL, "");
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm.mm_mt.ma_root", 0xdead00000000010e);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "", .source = "vmas", .columns = "start");
}

Test(kernel_vma, all_fields)
{
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		have_areas(styles[i], "");
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, areas, .source = "vmas", .columns = ALL);
		expect_rows(&g, KW_OK, areas, .source = "vmas", .columns = ALL, .pids = "3,2,1,77");
		expect_rows(&g, KW_OK, "", .source = "vmas", .columns = ALL, .pids = "2,3");
		expect_rows(&g, KW_OK, "a 0x7f0000\n", .source = "vmas", .columns = "comm,start",
			    .sort = "-start", .limit = 1);
		given_close(&g);
	}
}

static void set_ops(uint64_t area, const char *function, uint64_t private)
{
	uint64_t ops = kernel_alloc(g.k, 64, 64);

	kernel_set(g.k, ops, "vm_operations_struct.name", kernel_symbol(g.k, function));
	kernel_set(g.k, area, "vm_area_struct.vm_ops", ops);
	kernel_set(g.k, area, "vm_area_struct.vm_private_data", private);
}

static void set_own_name(uint64_t area, const char *name)
{
	uint64_t at = kernel_alloc(g.k, 256, 8);

	kernel_write(g.k, kernel_at(g.k, at, "anon_vma_name.name"), name, strlen(name) + 1);
	kernel_set(g.k, area, "vm_area_struct.anon_name", at);
}

/* The kernel's own name comes before the place, the place before the process's own name. */
Test(kernel_vma, names)
{
	uint64_t mapping;

	have_areas(NULL, "");
	mapping = kernel_alloc(g.k, 8, 8);
	kernel_set(g.k, mapping, "vm_special_mapping.name", belongings_text(g.k, "[vdso]"));
	set_ops(b.area[AREA_STACK], "special_mapping_name", mapping);
	set_own_name(b.area[AREA_HEAP], "not shown");
	set_own_name(b.area[AREA_ANON], "my \"own\"");
	set_own_name(b.area[AREA_TEXT], "shared");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "[anon_shmem:shared]\n[heap]\n[anon:my \"own\"]\n[vdso]\n", .source = "vmas",
		    .columns = "path");
}

/* Until 6.5 an area that only touches the heap was one; this kernel is of before. */
Test(kernel_vma, beside_the_heap)
{
	have_areas(NULL, "");
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm.start_brk", 0x603000);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm.brk", 0x700000);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "/bin/x\n[heap]\n[heap]\n[stack]\n", .source = "vmas", .columns = "path");
	given_close(&g);
	g = given_config(&(struct kernel_config){
		.types =
			"struct sched_entity { u64 exec_start, sum_exec_runtime, vruntime, nr_migrations; s64 vlag; };",
		.tasks = TASKS,
		.variables = BELONGINGS_VARIABLES });
	belongings_make(g.k, 1, &b);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm.start_brk", 0x603000);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm.brk", 0x700000);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "/bin/x\n<does not apply here>\n<does not apply here>\n[stack]\n",
		    .source = "vmas", .columns = "path");
}

/* One more, which all processes share, where there is such a thing; no kernel thread has it. */
Test(kernel_vma, vsyscall)
{
	for (uint32_t mode = 0; mode < 3; mode++) {
		uint64_t gate, ops;

		have_areas("5.10", "gate_vma 128\nvsyscall_mode 4\ngate_vma_name 8\n");
		gate = kernel_symbol(g.k, "gate_vma");
		kernel_set(g.k, gate, "vm_area_struct.vm_start", 0xffffffffff600000);
		kernel_set(g.k, gate, "vm_area_struct.vm_end", 0xffffffffff601000);
		kernel_set(g.k, gate, "vm_area_struct.vm_flags", 4);
		ops = kernel_alloc(g.k, 64, 64);
		kernel_set(g.k, ops, "vm_operations_struct.name", kernel_symbol(g.k, "gate_vma_name"));
		kernel_set(g.k, gate, "vm_area_struct.vm_ops", ops);
		kernel_write(g.k, kernel_symbol(g.k, "vsyscall_mode"), &mode, 4);
		given_open(&g, KERNEL_RAM);
		expect_rows(
			&g, KW_OK,
			mode == 2 ? "1 0x7f0000 rw-p [stack]\n" : "1 0xffffffffff600000 --xp [vsyscall]\n",
			.source = "vmas", .columns = "pid,start,perms,path", .sort = "-start", .limit = 1);
		given_close(&g);
	}
}

Test(kernel_vma, a_kernel_without_them)
{
	struct printer printer = { 0 };
	kw_query *query;
	kw_status status;

	g = given_config(&(struct kernel_config){ .types = "struct vm_special_mapping { int nothing; };",
						  .tasks = TASKS });
	given_open(&g, KERNEL_RAM);
	query = bind_query(&g, OPTIONS(.source = "vmas", .columns = "pid"));
	free(run_query(query, &printer, &status));
	cr_expect_eq(status, KW_UNREADABLE);
	cr_expect_str_eq(kw_error(g.ctx),
			 "vmas: this kernel has no such thing, or its symbols are not known");
	kw_query_free(query);
	expect_refusal(&g, KW_INVALID,
		       "rows of vmas can be selected by the ID of their process only, and have no forest",
		       .source = "vmas", .columns = "pid", .names = "a");
}

static bool count_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)values;
	*(int *)arg += row->pid == 1 && row->address;
	return true;
}

Test(kernel_vma, of_one_task)
{
	struct kw_row_identity one = { .pid = 1, .tid = 1 }, none = { .pid = 3, .tid = 3 };
	kw_query *query, *tasks;
	int nr = 0;

	have_areas(NULL, "");
	one.address = kernel_task(g.k, 1);
	none.address = kernel_task(g.k, 3);
	given_open(&g, KERNEL_RAM);
	query = bind_query(&g, OPTIONS(.source = "vmas", .columns = "path"));
	tasks = bind_query(&g, OPTIONS(.columns = "pid"));
	cr_expect_eq(kw_query_run_task(query, &one, count_row, &nr), KW_OK);
	cr_expect_eq(kw_query_run_task(query, &none, count_row, &nr), KW_OK);
	cr_expect_eq(nr, 4);
	cr_expect_eq(kw_query_run(query, count_row, &nr), KW_OK);
	cr_expect_eq(nr, 8);
	cr_expect_eq(kw_query_run_task(tasks, &one, count_row, &nr), KW_INVALID);
	cr_expect_str_eq(kw_error(g.ctx), "rows of tasks are no task's");
	kw_query_free(query);
	kw_query_free(tasks);
}
