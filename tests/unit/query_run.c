/* Running queries on memory that is damaged, changes or lies; then selectors, limits and what a run counts. */
#include <unistd.h>

#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_run, .fini = close_given, .timeout = 60);

static void have_tasks(const char *tasks, enum kernel_form form)
{
	g = given_tasks(NULL, tasks);
	given_open(&g, form);
}

/* Both a dump, which nobody changes, and a running guest: the checks differ. */
#define BOTH_FORMS(form) (int form = KERNEL_RAM; form <= KERNEL_RAM_LIVE; form++)

/* Move a task to other memory, so that a test can do away with it alone. */
static void move_task_to(int tid, uint64_t to)
{
	size_t size = c_type_size(c_types_find(kernel_types(g.k), "task_struct"));
	char bytes[4096];

	cr_assert_leq(size, sizeof(bytes));
	kernel_read(g.k, kernel_task(g.k, tid), bytes, size);
	kernel_write(g.k, to, bytes, size);
	kernel_set(g.k, kernel_pid(g.k, tid), "pid.tasks[0].first",
		   kernel_at(g.k, to, "task_struct.pid_links[0]"));
}

/* To a page of its own. */
static uint64_t move_task(int tid)
{
	uint64_t to = kernel_alloc(g.k, 4096, 4096);

	move_task_to(tid, to);
	return to;
}

static void expect_error(const char *want)
{
	const char *got = strstr(kw_error(g.ctx), ": ");

	cr_assert_not_null(got, "%s", kw_error(g.ctx));
	cr_expect_str_eq(got + 2, want, "got:  %s\nwant: %s", got + 2, want);
}

/* What is no task */

Test(query_run, a_task_of_zeros_makes_no_row)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n2 b\n3 c\n");
			kernel_fill(g.k, kernel_task(g.k, 2), 0,
				    c_type_size(c_types_find(kernel_types(g.k), "task_struct")));
			given_open(&g, form);
			expect_rows(&g, KW_INCOMPLETE, "1 a R 0\n3 c R 0\n", .columns = "pid,comm,state,uid");
			expect_rows(&g, KW_INCOMPLETE, "3\n1\n", .columns = "pid", .sort = "-pid");
			given_close(&g);
		}
}

Test(query_run, a_task_of_another_pid_makes_no_row)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n2 b\n3 c\n");
			/* Reused: the entry of PID 2 leads to a task that is 77 now. */
			kernel_set(g.k, kernel_task(g.k, 2), "task_struct.pid", 77);
			given_open(&g, form);
			expect_rows(&g, KW_INCOMPLETE, "1\n3\n", .columns = "pid");
			expect_error("1 of the tasks could not be read wholly (damaged structure)");
			expect_rows(&g, KW_INCOMPLETE, "", .columns = "pid", .pids = "2");
			given_close(&g);
		}
}

/* dup_task_struct() begins with a copy of the parent: PID and name are the parent's. */
Test(query_run, a_half_born_task_makes_no_row)
{
	for
		BOTH_FORMS(form)
		{
			uint64_t child;

			g = given_tasks(NULL, "1 a\n2 b\n");
			child = move_task(1);
			kernel_set(g.k, kernel_pid(g.k, 1), "pid.tasks[0].first",
				   kernel_at(g.k, kernel_task(g.k, 1), "task_struct.pid_links[0]"));
			kernel_idr_store(g.k, 3, kernel_alloc(g.k, 64, 64));
			kernel_set(g.k, kernel_pid(g.k, 2), "pid.tasks[0].first",
				   kernel_at(g.k, child, "task_struct.pid_links[0]"));
			given_open(&g, form);
			expect_rows(&g, KW_INCOMPLETE, "1 a\n", .columns = "pid,comm");
			given_close(&g);
		}
}

Test(query_run, one_task_under_every_pid)
{
	have_tasks("1 a\n2 b\n", KERNEL_RAM_LIVE);
	for (unsigned int pid = 3; pid < 64; pid++)
		kernel_idr_store(g.k, pid, kernel_pid(g.k, 2));
	expect_rows(&g, KW_INCOMPLETE, "1\n2\n", .columns = "pid");
	expect_error("61 of the tasks could not be read wholly (damaged structure)");
}

/* Memory that is not there */

Test(query_run, a_task_in_no_memory_costs_its_row)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n2 b uid=5\n3 c uid=5\n");
			kernel_set(g.k, kernel_pid(g.k, 2), "pid.tasks[0].first", 0xdead000000000122);
			given_open(&g, form);
			expect_rows(&g, KW_INCOMPLETE, "1 a\n3 c\n", .columns = "pid,comm");
			if (form == KERNEL_RAM)
				expect_error(
					"1 of the tasks could not be read wholly (no memory at that address)");
			expect_rows(&g, KW_INCOMPLETE, "3 c\n1 a\n", .columns = "pid,comm", .sort = "-pid");
			expect_rows(&g, KW_INCOMPLETE, "3\n", .columns = "pid", .users = "5");
			expect_rows(&g, KW_INCOMPLETE, "", .columns = "pid", .pids = "2");
			given_close(&g);
		}
}

Test(query_run, an_excluded_task_costs_its_row)
{
	uint64_t task;

	g = given_tasks(NULL, "1 a\n2 b\n3 c\n");
	task = move_task(2);
	kernel_exclude(g.k, task);
	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_rows(&g, KW_INCOMPLETE, "1 a\n3 c\n", .columns = "pid,comm");
		expect_error("1 of the tasks could not be read wholly (excluded when the dump was made)");
		expect_rows(&g, KW_INCOMPLETE, "1 a\n3 c\n", .columns = "pid,comm", .forest = true);
		expect_rows(&g, KW_INCOMPLETE, "1\n3\n", .columns = "tid", .source = "threads");
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/* Each kind of value, with the reason that it is not there, and the rest of the row. */
Test(query_run, excluded_objects_cost_their_values)
{
	uint64_t page;

	g = given_tasks(NULL, "1 a\n2 b\n");
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, page);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.real_cred", page);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.mm", page + 512);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.signal", page + 1024);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.real_parent", page + 2048);
	given_open(&g, KERNEL_ELF_PHYSICAL);
#define NOT_IN_DUMP "<excluded when the dump was made>"
	expect_rows(&g, KW_INCOMPLETE,
		    "1 " NOT_IN_DUMP " " NOT_IN_DUMP " " NOT_IN_DUMP " " NOT_IN_DUMP " " NOT_IN_DUMP
		    " " NOT_IN_DUMP " " NOT_IN_DUMP " R a\n"
		    "2 0 0 1 2 102400 0 0 R b\n",
		    .columns = "pid,ppid,uid,nlwp,sid,vsz,rss,time,state,comm");
	expect_error("1 of the tasks could not be read wholly (excluded when the dump was made)");
	/* Columns that do not need them are whole. */
	expect_rows(&g, KW_OK, "1 a R\n2 b R\n", .columns = "pid,comm,state");
}

/* A task_struct on two pages: what is on the one that the dump has. */
Test(query_run, a_part_of_a_task)
{
	uint64_t pages[2];

	g = given_tasks(NULL, "1 a\n2 b\n3 c\n4 d\n");
	for (int i = 0; i < 2; i++) {
		pages[i] = kernel_alloc(g.k, 8192, 4096);
		move_task_to(2 + i, pages[i] + 4096 - kernel_at(g.k, 0, "task_struct.comm"));
		kernel_exclude(g.k, pages[i] + (i ? 0 : 4096));
	}
	cr_assert_lt(kernel_at(g.k, 0, "task_struct.pid"), kernel_at(g.k, 0, "task_struct.comm"));
	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_rows(&g, KW_INCOMPLETE,
			    "1 R a\n2 R " NOT_IN_DUMP "\n" NOT_IN_DUMP " " NOT_IN_DUMP " c\n4 R d\n",
			    .columns = "tid,state,comm");
		expect_error("2 of the tasks could not be read wholly (excluded when the dump was made)");
		/* Not its first name, and no letter less: nothing. */
		expect_rows(&g, KW_INCOMPLETE, "a\n" NOT_IN_DUMP "\n" NOT_IN_DUMP "\nd\n", .columns = "name");
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/* A missing page was answered with what the buffer held from the one before. */
Test(query_run, a_missing_page_is_not_the_one_before)
{
	uint64_t page;

	g = given_tasks(NULL, "1 a uid=7 vsz=9\n2 b uid=8\n3 c uid=7\n");
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, page);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.real_cred", page);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.mm", page + 512);
	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_rows(&g, KW_INCOMPLETE, "1 7 36864\n2 " NOT_IN_DUMP " " NOT_IN_DUMP "\n3 7 102400\n",
			    .columns = "pid,uid,vsz");
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

Test(query_run, a_truncated_dump)
{
	struct image file;
	char path[] = "/tmp/kwalk-run-XXXXXX";
	int fd = mkstemp(path);

	g = given_tasks(NULL, "1 a\n2 b\n3 c\n");
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.mm", KERNEL_DIRECT + 0xf8000);
	kernel_set(g.k, kernel_pid(g.k, 3), "pid.tasks[0].first", KERNEL_DIRECT + 0xf9000);
	file = kernel_file(g.k, KERNEL_ELF_PHYSICAL);
	cr_assert(fd >= 0 && write(fd, file.bytes, file.size - 0x10000) == (ssize_t)(file.size - 0x10000));
	image_free(&file);
	g.ctx = kw_new();
	cr_assert_eq(kw_open(g.ctx, path, NULL), KW_OK, "%s", kw_error(g.ctx));
	expect_rows(&g, KW_INCOMPLETE, "1 102400\n2 <unreadable: I/O error or truncated file>\n",
		    .columns = "pid,vsz");
	expect_error("2 of the tasks could not be read wholly (unreadable: I/O error or truncated file)");
	close(fd);
	unlink(path);
}

Test(query_run, no_process_list)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n");
			kernel_set(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head",
				   0);
			given_open(&g, form);
			expect_rows(&g, KW_UNREADABLE, "", .columns = "pid");
			expect_error("PID table (init_pid_ns.idr): there is nothing in it");
			given_close(&g);
		}
	g = given_tasks(NULL, "1 a\n");
	kernel_exclude(g.k, kernel_symbol(g.k, "init_pid_ns"));
	kernel_exclude(g.k, kernel_symbol(g.k, "init_task"));
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_UNREADABLE, "", .columns = "pid");
	expect_rows(&g, KW_INCOMPLETE, "", .columns = "pid", .pids = "1");
}

Test(query_run, damaged_nodes_of_the_table)
{
	uint64_t root;

	g = given_tasks(NULL, "1 a\n70 b\n200 c\n300 d\n");
	root = kernel_get(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head") - 2;
	kernel_set(g.k, root, "xa_node.slots[1]", 0xdead000000000102);
	kernel_idr_store(g.k, 200, 0xdead000000000100);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "1\n300\n", .columns = "pid");
	expect_error("2 of the tasks could not be read wholly (no memory at that address)");
	/* What was asked for alone may be whole. */
	expect_rows(&g, KW_OK, "1\n", .columns = "pid", .pids = "1");
	expect_rows(&g, KW_INCOMPLETE, "", .columns = "pid", .pids = "70");
	expect_rows(&g, KW_INCOMPLETE, "", .columns = "pid", .pids = "200");
}

/* A row that a selector or an order could not judge may be missing or in the wrong place: that is said. */
Test(query_run, what_can_not_be_selected_by)
{
	uint64_t page;

	g = given_tasks(NULL, "1 a uid=5\n2 b uid=5\n");
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, page);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.real_cred", page);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_INCOMPLETE, "2 b\n", .columns = "pid,comm", .users = "5");
	expect_error("1 of the tasks could not be read wholly (excluded when the dump was made)");
	expect_rows(&g, KW_INCOMPLETE, "1 a\n2 b\n", .columns = "pid,comm", .sort = "uid");
	expect_error("1 of the tasks could not be read wholly (excluded when the dump was made)");
	expect_rows(&g, KW_INCOMPLETE, "2 b\n", .columns = "pid,comm", .sort = "-uid", .limit = 1);
	/* Counted once, though it is missing from key and column. */
	expect_rows(&g, KW_INCOMPLETE, "1 <excluded when the dump was made>\n2 5\n", .columns = "pid,uid",
		    .sort = "uid");
	expect_error("1 of the tasks could not be read wholly (excluded when the dump was made)");
}

/* Lists of threads */

Test(query_run, threads_of_another_process)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n1.2 b\n3 c\n3.4 d\n");
			/* The list of 1 runs into that of 3, and takes the head of it for a thread. */
			kernel_set(g.k, kernel_task(g.k, 2), "task_struct.thread_node.next",
				   kernel_at(g.k, kernel_task(g.k, 4), "task_struct.thread_node"));
			given_open(&g, form);
			expect_rows(&g, KW_INCOMPLETE, "1 1\n1 2\n3 3\n3 4\n", .columns = "pid,tid",
				    .source = "threads");
			given_close(&g);
		}
}

/* A thread between its unhashing and its leaving of the list. */
Test(query_run, an_ended_thread_makes_no_row)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n1.2 b\n1.3 c\n");
			kernel_set(g.k, kernel_task(g.k, 2), "task_struct.thread_pid", 0);
			given_open(&g, form);
			expect_rows(&g, KW_OK, "1\n3\n", .columns = "tid", .source = "threads");
			given_close(&g);
		}
}

Test(query_run, a_thread_of_zeros_makes_no_row)
{
	g = given_tasks(NULL, "1 a\n1.2 b\n");
	kernel_fill(g.k, kernel_at(g.k, kernel_task(g.k, 2), "task_struct.pid"), 0, 8);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "1\n", .columns = "tid", .source = "threads");
}

Test(query_run, damaged_list_of_threads)
{
	for
		BOTH_FORMS(form)
		{
			g = given_tasks(NULL, "1 a\n1.2 b\n1.3 c\n4 d\n");
			kernel_set(g.k, kernel_task(g.k, 2), "task_struct.thread_node.next",
				   0xdead000000000100);
			given_open(&g, form);
			expect_rows(&g, KW_INCOMPLETE, "1\n2\n4\n", .columns = "tid", .source = "threads");
			given_close(&g);
		}
}

/* Targets that change under the query */

struct change {
	int after; /* the row of this PID, which may be 0: at once */
	void (*make)(void);
};

static bool change_after(const struct kw_row_identity *row, void *arg)
{
	const struct change *change = arg;

	if (row->pid == change->after)
		change->make();
	return true;
}

static const struct kw_query_counts *expect_changed(const struct kw_query_options *opts, struct change change,
						    kw_status status, const char *want)
{
	static struct kw_query_counts counts;
	struct printer printer = { .hook = change_after, .arg = &change };
	kw_query *query = bind_query(&g, opts);

	expect_run(&g, query, &printer, status, want);
	counts = *kw_query_counts(query);
	kw_query_free(query);
	return &counts;
}

static void end_2(void)
{
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.thread_pid", 0);
	kernel_set(g.k, kernel_pid(g.k, 2), "pid.tasks[0].first", 0);
	kernel_set(g.k, kernel_pid(g.k, 2), "pid.tasks[1].first", 0);
	kernel_idr_store(g.k, 2, 0);
}

/* The keys of all rows are there; when it is 2's turn to be shown, it has ended. */
Test(query_run, a_task_that_ends_between_key_and_column)
{
	const struct kw_query_counts *counts;

	have_tasks("1 a\n2 b\n3 c\n", KERNEL_RAM_LIVE);
	counts = expect_changed(OPTIONS(.columns = "pid,comm", .sort = "-pid"), (struct change){ 3, end_2 },
				KW_OK, "3 c\n1 a\n");
	cr_expect_eq(counts->gone, 1);
	cr_expect_eq(counts->rows, 2);
	cr_expect_eq(counts->damaged, 0);
}

/* --top asks for a number of rows, not of candidates. */
Test(query_run, the_limit_counts_rows_that_are_shown)
{
	have_tasks("1 a\n2 b\n3 c\n", KERNEL_RAM_LIVE);
	expect_changed(OPTIONS(.columns = "pid", .sort = "-pid", .limit = 2), (struct change){ 3, end_2 },
		       KW_OK, "3\n1\n");
}

/* PIDs first..last in either direction, but for one, each with `after` behind it. */
static const char *list_pids(char *text, int first, int last, int but, const char *after)
{
	char *at = text;

	for (int pid = first; pid != last + (first < last ? 1 : -1); pid += first < last ? 1 : -1)
		if (pid != but)
			at += sprintf(at, "%d%s\n", pid, after);
	return text;
}

static void end_many(void)
{
	for (int pid = 150; pid < 200; pid++)
		kernel_set(g.k, kernel_pid(g.k, pid), "pid.tasks[0].first", 0);
}

/* More than are put in order at first. */
Test(query_run, many_rows_end_before_they_are_shown)
{
	char tasks[4096];
	const struct kw_query_counts *counts;

	g = given_config(
		&(struct kernel_config){ .tasks = list_pids(tasks, 1, 200, 0, " name"), .ram = 4 << 20 });
	given_open(&g, KERNEL_RAM_LIVE);
	counts = expect_changed(OPTIONS(.columns = "pid,task.start_boottime", .sort = "-pid", .limit = 3),
				(struct change){ 200, end_many }, KW_OK,
				"200 200000000\n149 149000000\n148 148000000\n");
	cr_expect_eq(counts->gone, 50);
}

/* Another process has the PID, the task_struct and the struct pid now: only its start tells. */
static void reuse_2(void)
{
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.start_boottime", 99);
	kernel_write(g.k, kernel_at(g.k, kernel_task(g.k, 2), "task_struct.comm"), "new\0", 4);
}

static uint64_t task_of_2, pid_of_100;

static void reuse_2_at(void)
{
	kernel_set(g.k, task_of_2, "task_struct.start_boottime", 99);
	kernel_write(g.k, kernel_at(g.k, task_of_2, "task_struct.comm"), "new\0", 4);
}

Test(query_run, a_pid_that_is_reused_between_key_and_column)
{
	const struct kw_query_counts *counts;

	have_tasks("1 a\n2 b\n3 c\n", KERNEL_RAM_LIVE);
	counts = expect_changed(OPTIONS(.columns = "pid,comm", .sort = "-pid"), (struct change){ 3, reuse_2 },
				KW_OK, "3 c\n1 a\n");
	cr_expect_eq(counts->gone, 1);
}

static void exec_2(void)
{
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.mm",
		   kernel_get(g.k, kernel_task(g.k, 1), "task_struct.mm"));
}

/* The same process with another mm is still the same process. */
Test(query_run, an_exec_between_key_and_column)
{
	have_tasks("1 a vsz=1\n2 b vsz=2\n3 c vsz=3\n", KERNEL_RAM_LIVE);
	expect_changed(OPTIONS(.columns = "pid,vsz", .sort = "-pid"), (struct change){ 3, exec_2 }, KW_OK,
		       "3 12288\n2 4096\n1 4096\n");
}

Test(query_run, a_task_that_ends_in_mid_walk)
{
	have_tasks("1 a\n2 b\n3 c\n", KERNEL_RAM_LIVE);
	expect_changed(OPTIONS(.columns = "pid"), (struct change){ 1, end_2 }, KW_OK, "1\n3\n");
}

static void cut_threads(void)
{
	/* As list_del_rcu() leaves it: next still leads on. */
	uint64_t node = kernel_at(g.k, kernel_task(g.k, 2), "task_struct.thread_node");

	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.thread_node.next",
		   kernel_get(g.k, node, "list_head.next"));
	kernel_set(g.k, node, "list_head.prev", 0xdead000000000122);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.thread_pid", 0);
	kernel_set(g.k, kernel_pid(g.k, 2), "pid.tasks[0].first", 0);
}

/* 2 and its thread have ended, and the memory of the thread is one of 4's. */
static void reuse_thread(void)
{
	kernel_set(g.k, kernel_task(g.k, 3), "task_struct.thread_node.next",
		   kernel_at(g.k, kernel_task(g.k, 5), "task_struct.thread_node"));
	end_2();
}

Test(query_run, threads_of_a_process_that_ends_while_they_are_walked)
{
	for (int on_disk = 0; on_disk < 2; on_disk++) {
		g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 b\n2.3 c\n4 d\n4.5 e\n",
							  .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE);
		expect_changed(OPTIONS(.columns = "tid", .source = "threads"),
			       (struct change){ 1, reuse_thread }, KW_OK, "1\n4\n5\n");
		given_close(&g);
	}
}

Test(query_run, a_thread_that_ends_while_it_is_walked)
{
	have_tasks("1 a\n1.2 b\n1.3 c\n", KERNEL_RAM_LIVE);
	expect_changed(OPTIONS(.columns = "tid", .source = "threads"), (struct change){ 1, cut_threads },
		       KW_OK, "1\n3\n");
}

static bool stop_at_once(const struct kw_row_identity *row, void *arg)
{
	(void)row;
	(void)arg;
	return false;
}

Test(query_run, stopping)
{
	static const char *const sorts[] = { NULL, "pid" };

	have_tasks(SOME_TASKS, KERNEL_RAM);
	for (size_t i = 0; i < ARRAY_SIZE(sorts); i++) {
		struct printer printer = { .hook = stop_at_once };
		kw_query *query = bind_query(&g, OPTIONS(.columns = "pid,comm", .sort = sorts[i]));

		expect_run(&g, query, &printer, KW_OK, "1 init\n");
		/* A query can be run again. */
		printer.hook = NULL;
		expect_run(&g, query, &printer, KW_OK, "1 init\n2 kthreadd\n100 bash\n300 sleep\n");
		cr_expect_eq(kw_query_counts(query)->rows, 4);
		expect_run(&g, query, &printer, KW_OK, "1 init\n2 kthreadd\n100 bash\n300 sleep\n");
		kw_query_free(query);
	}
}

/* Nor does what was read before answer whether a task is still there. */
Test(query_run, ends_are_seen_wherever_memory_lies)
{
	for (int on_disk = 0; on_disk < 2; on_disk++) {
		g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 b\n3 c\n", .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE);
		expect_changed(OPTIONS(.columns = "pid,comm", .sort = "-pid"), (struct change){ 3, end_2 },
			       KW_OK, "3 c\n1 a\n");
		given_close(&g);
		g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 b\n3 c\n", .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE);
		expect_changed(OPTIONS(.columns = "pid,comm"), (struct change){ 1, end_2 }, KW_OK,
			       "1 a\n3 c\n");
		given_close(&g);
	}
}

static void end_70(void)
{
	kernel_set(g.k, kernel_task(g.k, 70), "task_struct.thread_pid", 0);
	kernel_set(g.k, kernel_pid(g.k, 70), "pid.tasks[0].first", 0);
	kernel_set(g.k, kernel_pid(g.k, 70), "pid.tasks[1].first", 0);
	kernel_idr_store(g.k, 70, 0);
}

/* Memory that is copied is copied for 64 tasks at once. Who ends in the next 64 is not shown. */
Test(query_run, ends_are_seen_by_the_next_batch)
{
	char tasks[1024], want[1024];

	list_pids(tasks, 1, 70, 0, " name");
	for (int on_disk = 0; on_disk < 2; on_disk++) {
		const struct kw_query_counts *counts;

		g = given_config(&(struct kernel_config){ .tasks = tasks, .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE_ONCE);
		counts = expect_changed(OPTIONS(.columns = "pid", .sort = "-pid"),
					(struct change){ 70, end_2 }, KW_OK, list_pids(want, 70, 1, 2, ""));
		cr_expect_eq(counts->gone, 1);
		given_close(&g);
		g = given_config(&(struct kernel_config){ .tasks = tasks, .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE_ONCE);
		expect_changed(OPTIONS(.columns = "pid"), (struct change){ 1, end_70 }, KW_OK,
			       list_pids(want, 1, 69, 0, ""));
		given_close(&g);
	}
}

/* The task_struct of 2 becomes that of 100. */
static void reuse_memory_of_2(void)
{
	end_2();
	kernel_set(g.k, task_of_2, "task_struct.pid", 100);
	kernel_set(g.k, task_of_2, "task_struct.tgid", 100);
	kernel_set(g.k, task_of_2, "task_struct.thread_pid", pid_of_100);
	kernel_write(g.k, kernel_at(g.k, task_of_2, "task_struct.comm"), "new\0", 4);
	kernel_set(g.k, pid_of_100, "pid.tasks[0].first",
		   kernel_at(g.k, task_of_2, "task_struct.pid_links[0]"));
	kernel_set(g.k, pid_of_100, "pid.tasks[1].first",
		   kernel_at(g.k, task_of_2, "task_struct.pid_links[1]"));
}

/*
 * What had been read of that memory, together with its neighbour, is not taken for the new task, nor for damage. The
 * struct pid lies elsewhere, so that looking at it does not refresh the task's page.
 */
Test(query_run, memory_that_is_reused_in_mid_walk)
{
	static const int forms[] = { KERNEL_RAM_LIVE, KERNEL_RAM_LIVE_ONCE };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		uint64_t pages;

		g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 b\n", .on_disk = true });
		pages = kernel_alloc(g.k, 16384, 16384);
		task_of_2 = pages + 4096;
		pid_of_100 = kernel_alloc(g.k, 16384, 16384);
		kernel_idr_store(g.k, 100, pid_of_100);
		move_task_to(1, pages);
		move_task_to(2, task_of_2);
		given_open(&g, forms[i]);
		expect_changed(OPTIONS(.columns = "pid,comm", .pids = "1,100"),
			       (struct change){ 1, reuse_memory_of_2 }, KW_OK, "1 a\n100 new\n");
		given_close(&g);
	}
}

/* It has become another task's of the same PID since its neighbour was read, and that page with it. */
Test(query_run, a_pid_that_is_reused_in_place_in_mid_walk)
{
	uint64_t pages;

	g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 b\n", .on_disk = true });
	pages = kernel_alloc(g.k, 16384, 16384);
	move_task_to(1, pages);
	task_of_2 = pages + 4096;
	move_task_to(2, task_of_2);
	given_open(&g, KERNEL_RAM_LIVE_ONCE);
	expect_changed(OPTIONS(.columns = "pid,comm,task.start_boottime", .pids = "1,2"),
		       (struct change){ 1, reuse_2_at }, KW_OK, "1 a 1000000\n2 new 99\n");
}

/* Both the task_struct and the struct pid of 2 become those of 100, as they do where PIDs are reused quickly. */
static void reuse_all_of_2(void)
{
	uint64_t pid = kernel_pid(g.k, 2), task = kernel_task(g.k, 2);

	kernel_set(g.k, task, "task_struct.pid", 100);
	kernel_set(g.k, task, "task_struct.tgid", 100);
	kernel_set(g.k, pid, "pid.numbers[0].nr", 100);
	kernel_idr_store(g.k, 2, 0);
	kernel_idr_store(g.k, 100, pid);
}

/* Nothing that was found under 2 is damaged: 2 has ended. The table alone can tell that. */
Test(query_run, all_of_a_task_is_reused_in_mid_walk)
{
	for (int on_disk = 0; on_disk < 2; on_disk++) {
		const struct kw_query_counts *counts;

		g = given_config(
			&(struct kernel_config){ .tasks = "1 a\n2 b\n3 c\n200 d\n", .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE);
		/* A value that is computed: plain ones are copied for many tasks at once. */
		counts = expect_changed(OPTIONS(.columns = "pid,comm,state"),
					(struct change){ 1, reuse_all_of_2 }, KW_OK,
					"1 a R\n3 c R\n200 d R\n");
		cr_expect_eq(counts->gone, 1);
		given_close(&g);
	}
}

static uint64_t leaf_of_100;

/* The leaf of the PIDs 64 to 127 is freed, and becomes a node of another tree. */
static void reuse_leaf(void)
{
	uint64_t root =
		kernel_get(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head") - 2;

	leaf_of_100 = kernel_get(g.k, root, "xa_node.slots[1]") - 2;
	kernel_set(g.k, root, "xa_node.slots[1]", 0);
	kernel_set(g.k, leaf_of_100, "xa_node.shift", 12);
}

/* As before, but in its place there is another one. */
static void replace_leaf(void)
{
	uint64_t root =
		kernel_get(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head") - 2;
	uint64_t pid = kernel_pid(g.k, 100);

	reuse_leaf();
	kernel_fill(g.k, kernel_at(g.k, leaf_of_100, "xa_node.slots"), 0, 512);
	kernel_idr_store(g.k, 100, pid);
	cr_assert_neq(kernel_get(g.k, root, "xa_node.slots[1]") - 2, leaf_of_100);
}

Test(query_run, a_leaf_of_the_table_that_is_reused_in_mid_walk)
{
	static const char tasks[] = "1 a\n2 b\n100 c\n200 d\n";

	g = given_tasks(NULL, tasks);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_changed(OPTIONS(.columns = "pid"), (struct change){ 1, reuse_leaf }, KW_OK, "1\n2\n200\n");
	given_close(&g);
	for (int on_disk = 0; on_disk < 2; on_disk++) {
		g = given_config(&(struct kernel_config){ .tasks = tasks, .on_disk = on_disk });
		given_open(&g, KERNEL_RAM_LIVE);
		expect_changed(OPTIONS(.columns = "pid"), (struct change){ 1, replace_leaf }, KW_OK,
			       "1\n2\n100\n200\n");
		given_close(&g);
	}
}

/* Selectors */

Test(query_run, selectors_match_exactly)
{
	have_tasks(
		"1 bash\n2 bas\n3 bashful\n4 Bash\n5 bash%20\n6 sh state=Z nomm\n7 bash uid=10\n8 x uid=1\n9 -\n",
		KERNEL_RAM);
	expect_rows(&g, KW_OK, "1\n7\n", .columns = "pid", .names = "bash");
	expect_rows(&g, KW_OK, "2\n4\n", .columns = "pid", .names = "Bash,bas");
	expect_rows(&g, KW_OK, "5\n", .columns = "pid", .names = "bash ");
	expect_rows(&g, KW_OK, "8\n", .columns = "pid", .users = "1");
	expect_rows(&g, KW_OK, "7\n8\n", .columns = "pid", .users = "10,1,10");
	expect_rows(&g, KW_OK, "", .columns = "pid", .names = "xyz");
	expect_rows(&g, KW_OK, "", .columns = "pid", .users = "100");
}

/* They add up, as in ps; the rows come once each and in the order of the table. */
Test(query_run, selectors_add_up)
{
	have_tasks("1 a uid=5\n2 b\n3 c uid=5\n4 d\n", KERNEL_RAM);
	expect_rows(&g, KW_OK, "1\n3\n4\n", .columns = "pid", .pids = "4,1", .users = "5");
	expect_rows(&g, KW_OK, "1\n2\n3\n", .columns = "pid", .users = "5", .names = "b,a");
	expect_rows(&g, KW_OK, "2\n4\n", .columns = "pid", .names = "b,d", .pids = "2");
	expect_rows(&g, KW_OK, "2\n4\n", .columns = "pid", .pids = "4,2,4,2,99");
}

/* The leader selects, its threads follow. */
Test(query_run, selectors_of_threads)
{
	have_tasks(SOME_TASKS, KERNEL_RAM);
	expect_rows(&g, KW_OK, "100 100 bash\n100 101 worker\n100 102 worker2\n", .columns = "pid,tid,comm",
		    .pids = "100", .source = "threads");
	expect_rows(&g, KW_OK, "", .columns = "pid,tid", .pids = "101", .source = "threads");
	expect_rows(&g, KW_OK, "100\n101\n102\n300\n", .columns = "tid", .users = "1000",
		    .source = "threads");
}

Test(query_run, limits)
{
	have_tasks(SOME_TASKS, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1\n2\n", .columns = "pid", .limit = 2);
	expect_rows(&g, KW_OK, "300\n100\n2\n", .columns = "pid", .limit = 3, .sort = "-pid");
	expect_rows(&g, KW_OK, "1\n2\n100\n300\n", .columns = "pid", .limit = UINT64_MAX);
	expect_rows(&g, KW_OK, "1\n2\n100\n101\n", .columns = "tid", .limit = 4, .source = "threads");
	expect_rows(&g, KW_OK, "1\n 100\n", .columns = "pid", .limit = 2, .forest = true);
	/* Rows that make none do not count. */
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.pid", 0);
	kw_free(g.ctx);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "1\n100\n", .columns = "pid", .limit = 2);
}

struct identities {
	int32_t pid[8], tid[8];
	uint64_t start[8], address[8];
	size_t nr;
};

static bool keep_identity(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct identities *ids = arg;

	(void)values;
	ids->pid[ids->nr] = row->pid;
	ids->tid[ids->nr] = row->tid;
	ids->start[ids->nr] = row->start_time;
	ids->address[ids->nr++] = row->address;
	return true;
}

Test(query_run, identities)
{
	struct identities ids = { 0 };
	kw_query *query;

	have_tasks(SOME_TASKS, KERNEL_RAM);
	query = bind_query(&g, OPTIONS(.columns = "comm", .source = "threads", .sort = "-tid"));
	cr_assert_eq(kw_query_run(query, keep_identity, &ids), KW_OK);
	cr_assert_eq(ids.nr, 6);
	cr_expect(ids.pid[1] == 100 && ids.tid[1] == 102);
	cr_expect_eq(ids.start[1], 102000000);
	cr_expect_eq(ids.address[1], kernel_task(g.k, 102));
	kw_query_free(query);
	ids.nr = 0;
	query = bind_query(&g, OPTIONS(.columns = "comm"));
	cr_assert_eq(kw_query_run(query, keep_identity, &ids), KW_OK);
	cr_assert_eq(ids.nr, 4);
	cr_expect(ids.pid[2] == 100 && ids.tid[2] == 100);
	kw_query_free(query);
}

/* The same rows whatever the memory is like. */
Test(query_run, every_style_and_form)
{
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t s = 0; s < ARRAY_SIZE(styles); s++) {
		for (int form = KERNEL_RAM; form <= KERNEL_ELF_VIRTUAL; form++) {
			g = given_tasks(styles[s], SOME_TASKS);
			given_open(&g, form);
			expect_rows(
				&g, KW_OK,
				"1 0 0 R 1 409600 143360 1 init\n"
				"2 0 0 I 1 <no mm: kernel thread or exiting> <no mm: kernel thread or exiting> 0 kthreadd\n"
				"100 1 1000 S 3 102400 0 0 bash\n"
				"300 100 1000 S 1 102400 0 0 sleep\n",
				.columns = "pid,ppid,uid,state,nlwp,vsz,rss,psr,comm");
			given_close(&g);
		}
	}
}

/* Several hundred processes: nodes of the table, batches, arrays that grow. */
Test(query_run, many_processes)
{
	char *tasks = NULL, *want = NULL;
	size_t size;
	FILE *out = open_memstream(&tasks, &size), *expected = open_memstream(&want, &size);

	for (int pid = 1; pid <= 600; pid++)
		fprintf(out, "%d p%d nomm start=%d\n", pid * 37, pid, pid % 7);
	for (int rest = 6; rest >= 0; rest--)
		for (int pid = 1; pid <= 600; pid++)
			if (pid % 7 == rest)
				fprintf(expected, "%d p%d\n", pid * 37, pid);
	fclose(out);
	fclose(expected);
	g = given_config(&(struct kernel_config){ .tasks = tasks, .ram = 8 << 20 });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, want, .columns = "pid,comm", .sort = "-starttime");
	free(tasks);
	free(want);
}
