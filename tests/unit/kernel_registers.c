/* Registers at the top of a stack. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_registers, .fini = close_given);

#define REGS "struct pt_regs { unsigned long r15, ip, cs, flags, sp, ss; };"

static void put_registers(int tid, uint64_t padding)
{
	uint64_t stack = kernel_alloc(g.k, 16384, 4096), regs = stack + 16384 - padding - 48;

	kernel_set(g.k, kernel_task(g.k, tid), "task_struct.stack", stack);
	kernel_set(g.k, regs, "pt_regs.ip", 0x401000);
	kernel_set(g.k, regs, "pt_regs.sp", 0x7ffe00001000);
}

/* 4 and 5: one ends, of one a core dump is written; 6 is past its end; 7 is a kernel thread that ends. */
#define TASKS                                                                               \
	"3 a\n4 b flags=4\n5 c flags=0x200\n6 d flags=4 nomm\n7 e kthread flags=0x200004\n" \
	"8 f nomm\n"

static void expect_registers(const char *variables, uint64_t padding)
{
	g = given_config(&(struct kernel_config){ .types = REGS, .tasks = TASKS, .variables = variables });
	for (int tid = 3; tid <= 7; tid++)
		put_registers(tid, padding);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "3 0x7ffe00001000 0x401000 0x0 0x0\n"
		    "4 0x7ffe00001000 0x401000 0x7ffe00001000 0x401000\n"
		    "5 0x7ffe00001000 0x401000 0x7ffe00001000 0x401000\n"
		    "6 0x7ffe00001000 0x401000 0x0 0x0\n"
		    "7 <no mm: kernel thread or exiting> <no mm: kernel thread or exiting> 0x0 0x0\n"
		    "8 <a pointer on the way is NULL> <a pointer on the way is NULL> 0x0 0x0\n",
		    .columns = "pid,esp,eip,kstkesp,kstkeip");
	given_close(&g);
}

Test(kernel_registers, shown)
{
	expect_registers(NULL, 0);
	expect_registers("fred_entry_from_user 8\n", 16);
}

Test(kernel_registers, stacks_that_are_none)
{
	g = given_config(&(struct kernel_config){
		.types = REGS,
		.tasks = "1 a flags=4 stack=0xdead000000000000\n2 b flags=4 stack=0xffffffffffffff00\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "<no memory at that address> <no memory at that address>\n"
		    "<no memory at that address> <no memory at that address>\n",
		    .columns = "esp,kstkeip");
	given_close(&g);
	g = given_tasks(NULL, "1 a stack=4096\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such member>\n", .columns = "esp");
}
