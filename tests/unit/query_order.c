/* The order of rows: forests with damaged parents and keys of mixed kinds first, then what ps would do. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_order, .fini = close_given, .timeout = 60);

static void have_tasks(const char *tasks)
{
	g = given_tasks(NULL, tasks);
	given_open(&g, KERNEL_RAM);
}

/* Parents that are each other's children: all are shown, once each. */
Test(query_order, parents_in_a_circle)
{
	have_tasks("1 a\n2 b ppid=3\n3 c ppid=2\n4 d ppid=3\n5 e ppid=5\n");
	expect_rows(&g, KW_OK, "1\n2\n 3\n  4\n5\n", .columns = "pid", .forest = true, .sort = "ppid");
	expect_rows(&g, KW_OK, "1\n3\n 2\n 4\n5\n", .columns = "pid", .forest = true);
}

Test(query_order, a_long_circle)
{
	have_tasks("1 a ppid=6\n2 b ppid=1\n3 c ppid=2\n4 d ppid=3\n5 e ppid=4\n6 f ppid=5\n");
	expect_rows(&g, KW_OK, "2\n 3\n  4\n   5\n    6\n     1\n", .columns = "pid", .forest = true);
}

Test(query_order, parents_that_are_not_among_the_rows)
{
	have_tasks("1 a\n2 b ppid=1\n3 c ppid=2\n4 d ppid=3\n5 e ppid=1\n");
	expect_rows(&g, KW_OK, "3\n 4\n5\n", .columns = "pid", .forest = true, .pids = "3,4,5");
	/* A parent that can't be read is none. */
	kernel_set(g.k, kernel_task(g.k, 3), "task_struct.real_parent", 0xdead000000000100);
	kernel_set(g.k, kernel_task(g.k, 4), "task_struct.real_parent", 0);
	kw_free(g.ctx);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1\n 2\n 5\n3\n4\n", .columns = "pid", .forest = true);
}

/* A task that is none is nobody's parent. */
Test(query_order, parents_that_make_no_row)
{
	have_tasks("1 a\n2 b ppid=1\n3 c ppid=2\n");
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.pid", 77);
	kw_free(g.ctx);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "1\n3\n", .columns = "pid", .forest = true);
}

/* So deep that recursion would show. */
Test(query_order, a_deep_forest)
{
	char *tasks = NULL, *want = NULL;
	size_t size;
	FILE *out = open_memstream(&tasks, &size), *expected = open_memstream(&want, &size);

	for (int pid = 1; pid <= 300; pid++) {
		fprintf(out, "%d x nomm ppid=%d\n", pid, pid - 1);
		fprintf(expected, "%*s%d\n", pid - 1, "", pid);
	}
	fclose(out);
	fclose(expected);
	g = given_config(&(struct kernel_config){ .tasks = tasks, .ram = 4 << 20 });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, want, .columns = "pid", .forest = true);
	free(tasks);
	free(want);
}

Test(query_order, threads_stand_below_their_process)
{
	have_tasks(SOME_TASKS);
	expect_rows(&g, KW_OK, "1\n 100\n  101\n  102\n  300\n2\n", .columns = "tid", .forest = true,
		    .source = "threads");
}

/* Siblings in the order of the keys. */
Test(query_order, forest_in_an_order)
{
	have_tasks("1 a\n2 b ppid=1 nice=3\n3 c ppid=1 nice=1\n4 d ppid=1 nice=2\n5 e ppid=3\n6 f nice=-5\n");
	expect_rows(&g, KW_OK, "6\n1\n 3\n  5\n 4\n 2\n", .columns = "pid", .forest = true, .sort = "ni");
	expect_rows(&g, KW_OK, "1\n 2\n 4\n 3\n  5\n6\n", .columns = "pid", .forest = true, .sort = "-ni");
}

/* An enum's value may have no name, and is a number then: never to be compared as text. */
Test(query_order, names_and_numbers_of_an_enum)
{
	g = given_config(&(struct kernel_config){
		.types = "enum colour { BLUE = -1, RED, GREEN = 7 };"
			 "struct cred { atomic_t usage; kuid_t uid; kuid_t euid; enum colour colour; };",
		.tasks =
			"1 a real_cred.colour=7\n2 b real_cred.colour=99\n3 c real_cred.colour=0\n4 d real_cred.colour=5\n"
			"5 e real_cred.colour=0xffffffff\n6 f real_cred.colour=0xfffffffe\n7 g real_cred=0\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "7 <a pointer on the way is NULL>\n6 -2\n4 5\n2 99\n5 BLUE\n1 GREEN\n3 RED\n",
		    .columns = "pid,real_cred.colour", .sort = "real_cred.colour");
	expect_rows(&g, KW_OK, "3\n1\n5\n2\n4\n6\n7\n", .columns = "pid", .sort = "-real_cred.colour");
}

/* Bytes behind a NUL count. */
Test(query_order, bytes)
{
	g = given_config(&(struct kernel_config){
		.types = "struct cred { atomic_t usage; kuid_t uid; kuid_t euid; u8 raw[8]; };",
		.tasks = "1 a real_cred.raw[3]=2\n2 b real_cred.raw[3]=1\n3 c real_cred.raw[0]=1\n4 d\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "4 0000000000000000\n2 0000000100000000\n1 0000000200000000\n3 0100000000000000\n",
		    .columns = "pid,real_cred.raw", .sort = "real_cred.raw");
}

/* Absent is below everything, whichever way. */
Test(query_order, absent_values)
{
	have_tasks("1 a vsz=3\n2 k kthread\n3 c vsz=1\n4 z nomm state=Z\n5 e vsz=2\n");
	expect_rows(&g, KW_OK, "2\n4\n3\n5\n1\n", .columns = "pid", .sort = "vsz");
	expect_rows(&g, KW_OK, "1\n5\n3\n2\n4\n", .columns = "pid", .sort = "-vsz");
}

Test(query_order, stable)
{
	have_tasks("1 b nice=1\n2 a\n3 b nice=1\n4 a nice=1\n5 b\n6 a\n");
	expect_rows(&g, KW_OK, "2\n5\n6\n1\n3\n4\n", .columns = "pid", .sort = "ni");
	expect_rows(&g, KW_OK, "1\n3\n4\n2\n5\n6\n", .columns = "pid", .sort = "-ni");
	expect_rows(&g, KW_OK, "4\n2\n6\n1\n3\n5\n", .columns = "pid", .sort = "comm,-ni");
	expect_rows(&g, KW_OK, "1\n3\n5\n4\n2\n6\n", .columns = "pid", .sort = "-comm,-nice,+pid");
}

/* As numbers and not as text, with their signs and beyond 2^63. */
Test(query_order, numbers)
{
	have_tasks("9 a nice=-9\n10 b nice=10 start=0xffffffffffffffff\n100 c nice=-1 start=1\n");
	expect_rows(&g, KW_OK, "9\n100\n10\n", .columns = "pid", .sort = "ni");
	expect_rows(&g, KW_OK, "9\n10\n100\n", .columns = "pid", .sort = "pid");
	expect_rows(&g, KW_OK, "100\n9\n10\n", .columns = "pid", .sort = "starttime");
	expect_rows(&g, KW_OK, "9\n10\n100\n", .columns = "pid", .sort = "kthread");
}

/* Byte by byte, a prefix first, whatever the bytes are. */
Test(query_order, text)
{
	have_tasks("1 b\n2 ab\n3 a\n4 -\n5 B\n6 %ff\n7 %01\n");
	expect_rows(&g, KW_OK, "4 \n7 \\x01\n5 B\n3 a\n2 ab\n1 b\n6 \\xff\n", .columns = "pid,comm",
		    .sort = "comm");
}

/* A key need not be a column; its value is that of the same moment as the others. */
Test(query_order, keys_that_are_not_shown)
{
	have_tasks("1 a vsz=1 rss=9,0,0,0\n2 b vsz=2 rss=5,0,0,0\n3 c vsz=3 rss=7,0,0,0\n");
	expect_rows(&g, KW_OK, "1 a\n3 c\n2 b\n", .columns = "pid,comm", .sort = "-rss");
	expect_rows(&g, KW_OK, "1 a\n3 c\n", .columns = "pid,comm", .sort = "-mm.rss_stat[0].count",
		    .limit = 2);
	expect_rows(&g, KW_OK, "3\n2\n1\n", .columns = "pid", .sort = "-time,-vsz");
}

Test(query_order, no_rows)
{
	have_tasks("1 a\n");
	expect_rows(&g, KW_OK, "", .columns = "pid", .sort = "comm", .pids = "2");
	expect_rows(&g, KW_OK, "", .columns = "pid", .forest = true, .pids = "2");
}
