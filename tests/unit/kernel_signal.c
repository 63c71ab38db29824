/* Signals. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_signal, .fini = close_given);

/* A sighand of which the handlers in the text are set. */
static void set_handler(struct kernel_image *k, uint64_t sighand, int signal, uint64_t handler)
{
	char path[64];

	snprintf(path, sizeof(path), "sighand_struct.action[%d].sa.sa_handler", signal - 1);
	kernel_set(k, sighand, path, handler);
}

static uint64_t new_sighand(struct kernel_image *k, int tid)
{
	uint64_t at = kernel_alloc(k, 4096, 4096);

	kernel_set(k, at, "sighand_struct.count.refs.counter", 1);
	kernel_set(k, kernel_task(k, tid), "task_struct.sighand", at);
	return at;
}

static void expect_handlers(struct given *given)
{
	uint64_t one = new_sighand(given->k, 1), two = new_sighand(given->k, 2);

	set_handler(given->k, one, 1, 1);
	set_handler(given->k, one, 64, 1);
	set_handler(given->k, one, 2, 0x401000);
	set_handler(given->k, two, 64, ~0ULL);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 9223372036854775809 2\n2 0 9223372036854775808\n"
		    "3 <a pointer on the way is NULL> <a pointer on the way is NULL>\n",
		    .columns = "pid,ignored,caught");
	/* Once more: what was found for a row is not the next one's. */
	expect_rows(given, KW_OK, "2 0 9223372036854775808\n1 9223372036854775809 2\n",
		    .columns = "pid,ignored,caught", .sort = "-pid", .pids = "1,2");
}

Test(kernel_signal, handlers)
{
	in_every_style("1 a\n2 b\n3 c\n", expect_handlers);
}

Test(kernel_signal, a_sighand_that_is_not_there)
{
	g = given_tasks(NULL, "1 a\n2 b\n3 c\n");
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.sighand", 0xdead000000000100);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.sighand", ~0ULL - 7);
	kernel_exclude(g.k, new_sighand(g.k, 3));
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_INCOMPLETE,
		    "1 <no memory at that address>\n2 <no memory at that address>\n"
		    "3 <excluded when the dump was made>\n",
		    .columns = "pid,caught");
}

static void expect_sets(struct given *given)
{
	const char *queue = kernel_has(given->k, "cred.user") ? "cred.user.sigpending.counter"
							      : "cred.ucounts.rlimit[2].counter";
	uint64_t cred = kernel_get(given->k, kernel_task(given->k, 1), "task_struct.real_cred");
	uint64_t user = kernel_alloc(given->k, 256, 64);

	kernel_set(given->k, cred, kernel_has(given->k, "cred.user") ? "cred.user" : "cred.ucounts", user);
	kernel_set(given->k, cred, queue, 7);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "1 2 4 4 7 3854 17\n",
		    .columns = "pending,shared_pending,blocked,SigBlk,sigq,sigq_limit,exit_signal",
		    .pids = "1");
}

Test(kernel_signal, sets_and_queue)
{
	in_every_style("1 a pending.signal.sig[0]=1 signal.shared_pending.signal.sig[0]=2 blocked.sig[0]=4 "
		       "signal.rlim[11].rlim_cur=3854 exit_signal=17\n",
		       expect_sets);
}
