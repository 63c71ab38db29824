/*
 * Queries on memory that somebody writes to all the while: nothing that is read twice may be believed to be the same.
 * The writer is another thread, which puts pointers, numbers and zeros among the tasks and into the PID table, and takes
 * them away again. Types and symbols, which a kernel never writes to, are left alone: what was once seen of them is kept.
 */
#include <pthread.h>
#include <time.h>

#include "unit/kernel_given.h"

#define MILLISECONDS 600
#define REMEMBERED \
	"pid,ppid,sid,state,comm,nlwp,ignored,caught,groups,vsz,rss_anon,utime,nspid,task.mm.owner.comm"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_live, .fini = close_given, .timeout = 120);

struct writer {
	pthread_t thread;
	bool stop;	 /* atomic */
	size_t from, to; /* of RAM: what belongs to tasks */
	uint64_t *table; /* the head of the PID table */
	uint64_t seed;
};

static uint64_t next_random(struct writer *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed;
}

static uint64_t something(struct writer *w)
{
	uint64_t random = next_random(w);

	switch (random % 6) {
	case 0: return 0;
	case 1: return KERNEL_DIRECT + (random >> 8) % 0x40000 / 8 * 8;
	case 2: return kernel_task(g.k, random & 8 ? 100 : 1) + (random >> 8) % 512 / 8 * 8;
	case 3: return 0xdead000000000100 + (random >> 8) % 64;
	case 4: return random >> 32;
	default: return random;
	}
}

static void *write_anywhere(void *arg)
{
	struct writer *w = arg;
	size_t size;
	uint8_t *ram = kernel_ram(g.k, &size);

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		uint64_t *at = (uint64_t *)(ram + w->from + next_random(w) % (w->to - w->from) / 8 * 8), kept;

		if (next_random(w) % 64 == 0)
			at = w->table;
		kept = __atomic_load_n(at, __ATOMIC_RELAXED);

		__atomic_store_n(at, something(w), __ATOMIC_RELAXED);
		for (unsigned int i = next_random(w) % 2000; i; i--)
			__asm__ volatile("" ::: "memory");
		__atomic_store_n(at, kept, __ATOMIC_RELAXED);
	}
	return NULL;
}

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void look_once(unsigned int turn)
{
	static const struct kw_query_options options[] = {
		{ .size = sizeof(options[0]),
		  .columns = "pid,ppid,sid,user,stat,comm,nlwp,rss,vsz,time,start,task.mm.owner.comm" },
		{ .size = sizeof(options[0]),
		  .source = "threads",
		  .columns = "pid,tid,comm,time",
		  .sort = "-time,comm" },
		{ .size = sizeof(options[0]), .columns = "pid,comm", .forest = true, .users = "0,1000" },
	};
	struct printer printer = { 0 };
	kw_query *query;
	kw_status status;
	char *text;

	cr_assert_eq(kw_query_new(g.ctx, &options[turn % 3], &query), KW_OK, "%s", kw_error(g.ctx));
	text = run_query(query, &printer, &status);
	cr_assert(status == KW_OK || kw_error(g.ctx)[0], "status %d without a message", status);
	free(text);
	kw_query_free(query);
}

/* What a query remembers from run to run is no more to be believed. */
static void look_again(kw_query *query)
{
	struct printer printer = { 0 };
	kw_status status;

	free(run_query(query, &printer, &status));
	cr_assert(status == KW_OK || kw_error(g.ctx)[0], "status %d without a message", status);
}

/* Tasks and what hangs on them are allocated one after the other. */
static struct writer find_places(void)
{
	static const char *const hanging[] = { "task_struct.signal", "task_struct.real_cred",
					       "task_struct.thread_pid" };
	uint64_t table =
		kernel_at(g.k, kernel_symbol(g.k, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head");
	struct writer w = { .from = kernel_task(g.k, 1) - KERNEL_DIRECT, .seed = 88172645463325252 };
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		size_t at = kernel_get(g.k, kernel_task(g.k, 300), hanging[i]) - KERNEL_DIRECT;

		w.to = at > w.to ? at : w.to;
	}
	w.table = (uint64_t *)(kernel_ram(g.k, &size) + (table - KERNEL_IMAGE));
	return w;
}

/* What a query remembers that ran all the while is what is there. */
static void expect_remembered(kw_query *query)
{
	kw_query *anew = bind_query(&g, OPTIONS(.columns = REMEMBERED));
	struct printer printer = { 0 };
	kw_status status;
	char *got = run_query(query, &printer, &status), *want = run_query(anew, &printer, &status);

	cr_expect_str_eq(got, want, "got:\n%swant:\n%s", got, want);
	free(got);
	free(want);
	kw_query_free(anew);
}

static void look_while_written(enum kernel_form form, const char *style)
{
	uint64_t end = milliseconds() + MILLISECONDS;
	struct printer printer = { 0 };
	kw_query *flat;
	struct writer w;
	kw_query *query;

	g = given_config(&(struct kernel_config){ .style = style, .tasks = SOME_TASKS, .on_disk = true });
	given_open(&g, form);
	flat = bind_query(&g, OPTIONS(.columns = "pid,comm"));
	w = find_places();
	query = bind_query(&g, OPTIONS(.columns = REMEMBERED));
	cr_assert_eq(pthread_create(&w.thread, NULL, write_anywhere, &w), 0);
	for (unsigned int turn = 0; milliseconds() < end; turn++) {
		struct kw_cross_difference *found;
		size_t nr, pids, listed;

		look_once(turn);
		for (unsigned int i = 0; i < 20; i++)
			look_again(flat);
		look_again(query);
		if (kw_cross_check(g.ctx, &found, &nr, &pids, &listed) == KW_OK)
			free(found);
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(w.thread, NULL);
	/* And when it is quiet again, all is as it was. */
	expect_remembered(query);
	kw_query_free(query);
	expect_rows(&g, KW_OK, "1 init\n2 kthreadd\n100 bash\n300 sleep\n", .columns = "pid,comm");
	expect_run(&g, flat, &printer, KW_OK, "1 init\n2 kthreadd\n100 bash\n300 sleep\n");
	kw_query_free(flat);
	given_close(&g);
}

Test(query_live, mapped)
{
	look_while_written(KERNEL_RAM_LIVE, "6.12");
	look_while_written(KERNEL_RAM_LIVE, "5.10");
}

Test(query_live, copied)
{
	look_while_written(KERNEL_RAM_LIVE_ONCE, "7.2");
}
