/* Start and elapsed time, from the timekeeper. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_clock, .fini = close_given);

static void expect_times(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 1000000000 1699999996000000000 1004001000000\n"
		    "2 1005001000000 1700001000001000000 0\n"
		    /* Born after the clock's last update. */
		    "3 1005002000000 1700001000002000000 0\n",
		    .columns = "pid,starttime,start,etime");
}

Test(kernel_clock, times)
{
	in_every_style("1 a start=1000000000\n2 b start=1005001000000\n3 c start=1005002000000\n",
		       expect_times);
}

/* Start dates in 1969 and 1970. */
Test(kernel_clock, a_timekeeper_of_zeros_is_none)
{
	g = given_tasks(NULL, "1 a start=5000000000\n");
	kernel_fill(g.k, kernel_symbol(g.k, "tk_core"), 0, 4096);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "5000000000 <this kernel has no such symbol> <this kernel has no such symbol>\n",
		    .columns = "starttime,start,etime");
}

Test(kernel_clock, no_timekeeper)
{
	g = given_config(&(struct kernel_config){ .tasks = "1 a start=5000000000\n", .hidden = "tk_core" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "5000000000 <this kernel has no such symbol> <this kernel has no such symbol>\n",
		    .columns = "starttime,start,etime");
}

Test(kernel_clock, a_timekeeper_that_is_not_there)
{
	g = given_tasks(NULL, "1 a start=5000000000\n");
	kernel_exclude(g.k, kernel_symbol(g.k, "tk_core"));
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_OK, "5000000000 <this kernel has no such symbol>\n", .columns = "starttime,start");
}

/* The shift is the kernel's word: more than there are bits is no undefined behaviour. */
Test(kernel_clock, absurd_shift)
{
	g = given_tasks(NULL, "1 a start=1\n");
	kernel_set(g.k, kernel_symbol(g.k, "tk_core") + 8, "timekeeper.tkr_mono.shift", 0xffffffff);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1004999999999\n", .columns = "etime");
}
