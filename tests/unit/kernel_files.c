/* Open files, terminals. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_files, .fini = close_given);

static void set_files(struct kernel_image *k, int tid, uint64_t max, uint64_t bits, uint64_t missing)
{
	uint64_t page = kernel_alloc(k, 4096, 4096), fd = page + 1024, used = page + 512, one = 1;

	kernel_set(k, kernel_task(k, tid), "task_struct.files", page);
	kernel_set(k, page, "files_struct.fdt", page + 256);
	kernel_set(k, page + 256, "fdtable.max_fds", max);
	kernel_set(k, page + 256, "fdtable.open_fds", used);
	kernel_set(k, page + 256, "fdtable.fd", fd);
	kernel_write(k, used, &bits, 8);
	for (int i = 0; i < 64; i++)
		if (bits >> i & 1 && !(missing >> i & 1))
			kernel_write(k, fd + 8 * (uint64_t)i, &one, 8);
}

/* A number is taken before the file is there (accept()): it is not open yet. */
Test(kernel_files, counted)
{
	g = given_tasks(NULL, "1 a\n2 b\n3 c\n4 d\n");
	set_files(g.k, 1, 64, 0xf, 8);
	set_files(g.k, 2, 64, 0x8000000000000001, 0);
	set_files(g.k, 3, 0, 7, 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 64 3\n2 64 2\n3 0 0\n"
		    "4 <a pointer on the way is NULL> <a pointer on the way is NULL>\n",
		    .columns = "pid,fdsize,fds");
}

Test(kernel_files, absurd_sizes)
{
	g = given_tasks(NULL, "1 a\n2 b\n");
	set_files(g.k, 1, 0xffffffff, 1, 0);
	set_files(g.k, 2, 1 << 28, 1, 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "1 <damaged structure>\n2 <no memory at that address>\n",
		    .columns = "pid,fds");
}

static void expect_umask(struct given *given)
{
	uint64_t fs = kernel_alloc(given->k, 64, 64);
	bool real = kernel_has(given->k, "task_struct.real_fs");

	kernel_set(given->k, kernel_task(given->k, 1), real ? "task_struct.real_fs" : "task_struct.fs", fs);
	kernel_set(given->k, fs, "fs_struct.umask", 022);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "18\n<a pointer on the way is NULL>\n", .columns = "umask");
}

Test(kernel_files, umask)
{
	in_every_style("1 a\n2 b\n", expect_umask);
}

static uint64_t new_tty(struct kernel_image *k, int tid, uint64_t major, uint64_t index)
{
	uint64_t tty = kernel_alloc(k, 512, 64), driver = kernel_alloc(k, 64, 64);

	kernel_set(k, tty, "tty_struct.driver", driver);
	kernel_set(k, driver, "tty_driver.major", major);
	kernel_set(k, tty, "tty_struct.index", index);
	kernel_write(k, kernel_at(k, tty, "tty_struct.name"), "ttyS0", 6);
	kernel_set(k, kernel_task(k, tid), "task_struct.signal.tty", tty);
	return tty;
}

static void expect_ttys(struct given *given)
{
	const char *pgrp = kernel_has(given->k, "tty_struct.ctrl") ? "tty_struct.ctrl.pgrp"
								   : "tty_struct.pgrp";

	kernel_set(given->k, new_tty(given->k, 1, 136, 3), pgrp, kernel_pid(given->k, 2));
	new_tty(given->k, 2, 4, 64);
	new_tty(given->k, 3, 137, 300);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 34819 pts/3 2\n2 1088 ttyS0 0\n3 1083692 pts/556 0\n"
		    "4 <a pointer on the way is NULL> <a pointer on the way is NULL> "
		    "<a pointer on the way is NULL>\n",
		    .columns = "pid,tty_nr,tty,tpgid");
}

Test(kernel_files, terminals)
{
	in_every_style("1 a\n2 b\n3 c\n4 d\n", expect_ttys);
}
