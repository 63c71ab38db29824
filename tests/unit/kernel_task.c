/* Fields of tasks, as they come from each style of kernel; wrong values that other tools have shipped come first. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_task, .fini = close_given);

/* One task whose state is `state` in a style; the letter is expected. */
static void expect_state(const char *style, uint64_t state, uint64_t exit_state, const char *letter)
{
	char task[128], want[16];

	snprintf(task, sizeof(task), "7 x state=%lu exit=%lu exit_code=0x01020304", state, exit_state);
	g = given_tasks(style, task);
	given_open(&g, KERNEL_RAM);
	snprintf(want, sizeof(want), "%s\n", letter);
	expect_rows(&g, KW_OK, want, .columns = "state");
	given_close(&g);
}

/* exit_state is 4 bytes: what follows it is exit_code, which is not 0 here. Read as 8 it gave "??". */
Test(kernel_task, exit_state_has_four_bytes)
{
	expect_state("5.10", 0, 0, "R");
	expect_state("6.12", 1, 0, "S");
	expect_state("5.10", 0x80, 0x20, "Z");
	expect_state("6.12", 0x80, 0x10, "X");
}

Test(kernel_task, every_state_has_its_letter)
{
	static const struct {
		uint64_t state, exit_state;
		const char *letter;
	} states
		[] = {
			{ 0, 0, "R" },	    { 1, 0, "S" },	 { 2, 0, "D" },	    { 4, 0, "T" },
			{ 8, 0, "t" },	    { 0, 0x10, "X" },	 { 0, 0x20, "Z" },  { 0x40, 0, "P" },
			{ 0x402, 0, "I" }, /* idle: does not count as load */
			{ 0x400, 0, "R" },  { 0x200, 0, "R" },	 { 0x800, 0, "R" }, /* waking, not yet started */
			{ 0x102, 0, "D" },  { 0x2001, 0, "S" },			    /* killable, freezable */
			{ 0x2402, 0, "I" }, { 0x80, 0x20, "Z" }, { 0x80, 0, "R" }, /* dead, not yet a zombie */
			{ 0x104, 0, "T" },  { 1, 0x20, "Z" },
		};
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t s = 0; s < ARRAY_SIZE(styles); s++)
		for (size_t i = 0; i < ARRAY_SIZE(states); i++)
			expect_state(styles[s], states[i].state, states[i].exit_state, states[i].letter);
}

/* Frozen and waiting for an rtlock are shown as D. */
Test(kernel_task, states_of_newer_kernels)
{
	expect_state("6.12", 0x8000, 0, "D");
	expect_state("6.12", 0x1000, 0, "D");
	expect_state("6.12", 0x8001, 0, "D");
	/* An idle task that waits for an rtlock: the lock wins. */
	expect_state("6.12", 0x1402, 0, "D");
}

/* The state of 5.10 is a long; of its upper half nothing may be read elsewhere. */
Test(kernel_task, neighbours_of_the_state)
{
	g = given_tasks("6.12", "7 x state=S stack=0xffffffffffffffff");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "S 1\n", .columns = "state,task.__state");
}

Test(kernel_task, stat_flags)
{
	g = given_tasks(NULL, "1 none state=S sid=2 pgid=2\n"
			      "2 leads state=S\n"
			      "3 high nice=-5 sid=2\n"
			      "4 low nice=5 sid=2 state=D\n"
			      "5 locks sid=2 mm.locked_vm=1\n"
			      "6 many sid=2\n6.7 thread\n"
			      "8 all nice=-20 mm.locked_vm=3\n8.9 thread\n"
			      "10 gone state=Z nomm sid=2\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 S\n2 Ss\n3 R<\n4 DN\n5 RL\n6 Rl\n8 R<Lsl\n10 Z\n", .columns = "pid,stat");
}

/* tty->ctrl.pgrp since 5.16, tty->pgrp before. */
static void expect_foreground(struct given *given)
{
	uint64_t tty = kernel_alloc(given->k, 64, 64);
	const char *pgrp = kernel_has(given->k, "tty_struct.pgrp") ? "tty_struct.pgrp"
								   : "tty_struct.ctrl.pgrp";

	kernel_set(given->k, kernel_task(given->k, 1), "task_struct.signal.tty", tty);
	kernel_set(given->k, kernel_task(given->k, 2), "task_struct.signal.tty", tty);
	given_open(given, KERNEL_RAM_LIVE);
	expect_rows(given, KW_OK, "1 Ss\n2 S\n", .columns = "pid,stat");
	kernel_set(given->k, tty, pgrp, kernel_pid(given->k, 2));
	expect_rows(given, KW_OK, "1 Ss\n2 S+\n", .columns = "pid,stat");
}

Test(kernel_task, foreground)
{
	in_every_style("1 shell state=S\n2 job state=S sid=1\n", expect_foreground);
}

static void expect_psr(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "1 1\n100 0\n", .columns = "pid,psr", .pids = "1,100");
}

Test(kernel_task, last_cpu)
{
	in_every_style(SOME_TASKS, expect_psr);
}

/* CPU 0 for every task where both members exist: the kernel uses thread_info's. */
Test(kernel_task, two_members_that_could_be_the_cpu)
{
	g = given_config(&(struct kernel_config){
		.style = "5.10",
		.types = "struct thread_info { unsigned long flags; u32 status, cpu; };",
		.tasks = "1 x thread_info.cpu=1 cpu=0\n" });
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.thread_info.cpu", 1);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.cpu", 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1\n", .columns = "psr");
}

static void expect_ids(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 1 1 0 1 1\n"
		    "2 2 2 0 2 2\n"
		    "100 100 100 1 100 1\n"
		    "200 200 200 100 100 1\n",
		    .columns = "pid,tid,tgid,ppid,pgid,sid");
	expect_rows(given, KW_OK, "100 100 1\n100 101 1\n", .columns = "pid,tid,ppid", .source = "threads",
		    .pids = "100");
}

Test(kernel_task, ids)
{
	in_every_style(
		"1 init\n2 kthreadd kthread\n100 a ppid=1 sid=1\n100.101 b\n200 c ppid=100 pgid=100 sid=1\n",
		expect_ids);
}

static void expect_credentials(struct given *given)
{
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 2 1 3 4 6 5 7 8 2 1\n"
		    "4294967294 4294967294 4294967294 4294967294 4294967294 0 0 0 0 4294967294 4294967294\n",
		    .columns = "ruid,uid,ruid,suid,fsuid,gid,rgid,sgid,fsgid,user,ruser");
}

Test(kernel_task, credentials)
{
	in_every_style("1 a ruid=1 euid=2 suid=3 fsuid=4 rgid=5 egid=6 sgid=7 fsgid=8\n2 b uid=4294967294\n",
		       expect_credentials);
}

/* cred of a task that just began to exit, or of which the page is not there. */
Test(kernel_task, no_credentials)
{
	g = given_tasks(NULL, "1 a real_cred=0\n2 b real_cred=0xdead000000000100\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "1 <a pointer on the way is NULL> <a pointer on the way is NULL>\n"
		    "2 <no memory at that address> <no memory at that address>\n",
		    .columns = "pid,uid,user");
}

Test(kernel_task, scheduling)
{
	g = given_tasks(NULL, "1 normal\n"
			      "2 nice nice=19\n"
			      "3 unnice nice=-20\n"
			      "4 fifo policy=1 prio=49 rtprio=50\n"
			      "5 rr policy=2 prio=98 rtprio=1\n"
			      "6 batch policy=3 rtprio=9\n"
			      "7 idle policy=5\n"
			      "8 deadline policy=6 prio=-1\n"
			      "9 ext policy=7\n"
			      "10 unknown policy=77\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 0 19 20 TS <does not apply here>\n"
		    "2 19 0 39 TS <does not apply here>\n"
		    "3 -20 39 0 TS <does not apply here>\n"
		    "4 0 90 -51 FF 50\n"
		    "5 0 41 -2 RR 1\n"
		    "6 0 19 20 B <does not apply here>\n"
		    "7 0 19 20 IDL <does not apply here>\n"
		    "8 0 140 -101 DLN <does not apply here>\n"
		    "9 0 19 20 EXT <does not apply here>\n"
		    "10 0 19 20 ? <does not apply here>\n",
		    .columns = "pid,ni,pri,priority,cls,rtprio");
}

static void expect_exit_code(struct given *given)
{
	bool group = kernel_has(given->k, "signal_struct.core_state");

	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, group ? "1 9\n2 256\n3 4991\n4 256\n" : "1 256\n2 256\n3 256\n4 256\n",
		    .columns = "pid,exit_code");
	/* A thread's own. */
	expect_rows(given, KW_OK, "256\n512\n", .columns = "exit_code", .source = "threads", .pids = "1");
}

/* The group's exit code since 5.17, for a process that exits or has stopped as a whole. */
Test(kernel_task, exit_code)
{
	in_every_style("1 killed exit_code=256 signal.flags=4 signal.group_exit_code=9\n1.5 t exit_code=512\n"
		       "2 runs exit_code=256 signal.group_exit_code=9\n"
		       "3 stopped exit_code=256 signal.flags=1 signal.group_exit_code=4991\n"
		       "4 other exit_code=256 signal.flags=0x40 signal.group_exit_code=9\n",
		       expect_exit_code);
}

Test(kernel_task, names)
{
	g = given_tasks(NULL, "1 -\n2 %1b[31m\n3 a%0ab\n4 %ff%fe\n5 (sd-pam)\n6 0123456789abcde\n");
	/* No NUL at the end: all sixteen bytes. */
	kernel_write(g.k, kernel_at(g.k, kernel_task(g.k, 6), "task_struct.comm"), "0123456789abcdef", 16);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 \n2 \\e[31m\n3 a\\nb\n4 \\xff\\xfe\n5 (sd-pam)\n6 0123456789abcdef\n",
		    .columns = "pid,comm");
}

Test(kernel_task, threads_flags_and_kernel_threads)
{
	g = given_tasks(NULL, "1 a\n1.2 b\n1.3 c\n4 k kthread\n5 both kthread flags=0x200040\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 3 0 false\n4 1 2097152 true\n5 1 2097216 true\n",
		    .columns = "pid,nlwp,flags,kthread");
}

/* The number of threads is the kernel's word, and no size of anything. */
Test(kernel_task, absurd_number_of_threads)
{
	g = given_tasks(NULL, "1 a\n1.2 b\n3 c\n");
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.signal.nr_threads", 0x7fffffff);
	kernel_set(g.k, kernel_task(g.k, 3), "task_struct.signal.nr_threads", (uint32_t)-1);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 2147483647 R\n3 -1 R\n", .columns = "pid,nlwp,state");
	expect_rows(&g, KW_OK, "1\n2\n3\n", .columns = "tid", .source = "threads");
}

/* A kernel without a member: what needs it is absent for that reason, the rest is there. */
Test(kernel_task, members_that_a_kernel_lacks)
{
	g = given_config(&(struct kernel_config){
		.types = "struct cred { atomic_t usage; kuid_t uid; kuid_t euid; };"
			 "struct signal_struct { struct list_head thread_head; int nr_threads; atomic_t live;"
			 "	struct pid *pids[4]; u64 utime, stime; };",
		.tasks = "1 a uid=5\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 5 <this kernel has no such member> <this kernel has no such member> 0 "
		    "<this kernel has no such member> Rs\n",
		    .columns = "pid,uid,gid,fsuid,exit_code,utime,stat");
}
