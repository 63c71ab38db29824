/* Command lines: in memory that is the process's own. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_cmdline, .fini = close_given);

#define USER 0x400000000000ULL

/* A page table of its own for a task, in which nr pages lie at USER; a number up to 4096 is an entry as such. */
static void new_memory(struct kernel_image *k, int tid, int nr, const uint64_t *pages)
{
	uint64_t table[4];

	for (int level = 0; level < 4; level++)
		table[level] = kernel_alloc(k, 4096, 4096);
	for (int level = 0; level < 3; level++) {
		uint64_t entry = (table[level + 1] - KERNEL_DIRECT) | 7;

		kernel_write(k, table[level] + 8 * (USER >> (39 - 9 * level) & 511), &entry, 8);
	}
	for (int i = 0; i < nr; i++) {
		uint64_t entry = pages[i] > 4096 ? (pages[i] - KERNEL_DIRECT) | 7 : pages[i];

		kernel_write(k, table[3] + 8 * (uint64_t)i, &entry, 8);
	}
	kernel_set(k, kernel_task(k, tid), "task_struct.mm.pgd", table[0]);
}

static void set_areas(struct kernel_image *k, int tid, uint64_t arg_start, uint64_t arg_end, uint64_t env_end)
{
	uint64_t task = kernel_task(k, tid);

	kernel_set(k, task, "task_struct.mm.arg_start", USER + arg_start);
	kernel_set(k, task, "task_struct.mm.arg_end", USER + arg_end);
	kernel_set(k, task, "task_struct.mm.env_start", USER + arg_end);
	kernel_set(k, task, "task_struct.mm.env_end", USER + env_end);
}

/* What a task has at USER + 4090: across two pages. */
static void have_text(struct kernel_image *k, int tid, const char *text, size_t args, size_t all)
{
	uint64_t pages[2] = { kernel_alloc(k, 4096, 4096), kernel_alloc(k, 4096, 4096) };

	for (size_t i = 0; i < all; i++)
		kernel_write(k, pages[(4090 + i) / 4096] + (4090 + i) % 4096, &text[i], 1);
	new_memory(k, tid, 2, pages);
	set_areas(k, tid, 4090, 4090 + args, 4090 + all);
}

/* An area of 256 MiB is none, nor one that the address space has no room for. */
Test(kernel_cmdline, absurd_areas)
{
	uint64_t page[1];

	g = given_tasks(NULL, "1 a\n2 b\n");
	page[0] = kernel_alloc(g.k, 4096, 4096);
	new_memory(g.k, 1, 1, page);
	new_memory(g.k, 2, 1, page);
	set_areas(g.k, 1, 0, 100, 0x10000000);
	set_areas(g.k, 2, 0, 100, 200);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.mm.env_end", ~0ULL);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "<unreadable: I/O error or truncated file>\n<unreadable: I/O error or truncated file>\n",
		    .columns = "environ");
}

/* Nothing is made up for what is not in memory. */
Test(kernel_cmdline, pages_that_are_not_there)
{
	uint64_t swapped[2] = { 0, 0xa00 }, never[2] = { 0, 0 },
		 nowhere[1] = { KERNEL_DIRECT + 0x7000000000 };

	g = given_tasks(NULL, "1 swapped\n2 never\n3 nowhere\n4 notable\n");
	swapped[0] = kernel_alloc(g.k, 4096, 4096);
	new_memory(g.k, 1, 2, swapped);
	new_memory(g.k, 2, 2, never);
	new_memory(g.k, 3, 1, nowhere);
	kernel_set(g.k, kernel_task(g.k, 4), "task_struct.mm.pgd", 0xdead000000000100);
	for (int tid = 1; tid <= 4; tid++)
		set_areas(g.k, tid, 100, tid == 1 ? 5000 : 200, 5000);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "<the page is swapped out>\n<no memory at that address>\n"
		    "<no memory at that address>\n<no memory at that address>\n",
		    .columns = "cmdline");
}

Test(kernel_cmdline, lines)
{
	g = given_tasks(NULL, "1 a\n2 b\n3 c\n4 d\n5 e kthread\n6 f nomm\n");
	have_text(g.k, 1, "/bin/ls\0-l\0HOME=/\0", 11, 18);
	have_text(g.k, 2, "title runs on\0ME=/\0", 11, 19);
	have_text(g.k, 3, "\0\0\0\0", 4, 4);
	set_areas(g.k, 4, 100, 50, 60);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 /bin/ls\\x00-l\\x00 HOME=/\\x00\n2 title runs on\\x00 on\\x00ME=/\\x00\n"
		    "3 \\x00\\x00\\x00\\x00 \n",
		    .columns = "pid,cmdline,environ", .pids = "1,2,3");
	expect_rows(&g, KW_OK, "1 /bin/ls -l\n2 title runs on\n3 [c]\n4 [d]\n5 [e]\n6 [f]\n",
		    .columns = "pid,args");
	expect_rows(&g, KW_OK,
		    "4 \n5 <no mm: kernel thread or exiting>\n6 <no mm: kernel thread or exiting>\n",
		    .columns = "pid,cmdline", .pids = "4,5,6");
}
