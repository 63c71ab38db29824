/* Times and counters of CPUs: what is damaged, offline or goes back first. */
#include "unit/kernel_given.h"

#define MONOTONIC 1000001000000ULL /* of the timekeeper, in ns */

#define COUNTERS                                                                                          \
	"enum cpu_usage_stat { CPUTIME_USER, CPUTIME_NICE, CPUTIME_SYSTEM, CPUTIME_SOFTIRQ, CPUTIME_IRQ," \
	" CPUTIME_IDLE, CPUTIME_IOWAIT, CPUTIME_STEAL, CPUTIME_GUEST, CPUTIME_GUEST_NICE, NR_STATS };"    \
	"struct kernel_stat { unsigned long irqs_sum; unsigned int softirqs[10]; };"                      \
	"struct rq { spinlock_t lock; unsigned int nr_running; unsigned long nr_switches; atomic_t nr_iowait; };"

/* Until 6.8, since 6.9, since 7.1 or so. */
#define OLD                                                                                                   \
	COUNTERS                                                                                              \
	"struct kernel_cpustat { u64 cpustat[10]; };"                                                         \
	"struct tick_sched { unsigned int inidle:1; unsigned int tick_stopped:1; unsigned int idle_active:1;" \
	" u64 idle_entrytime; u64 idle_sleeptime; u64 iowait_sleeptime; };"
#define MIDDLE                                                                                          \
	COUNTERS                                                                                        \
	"struct kernel_cpustat { u64 cpustat[10]; };"                                                   \
	"struct tick_sched { unsigned long flags; unsigned int idle_sleeptime_seq; u64 idle_entrytime;" \
	" u64 idle_sleeptime; u64 iowait_sleeptime; };"
#define NEW                                                                                                  \
	COUNTERS "struct kernel_cpustat { u8 idle_dyntick; u8 idle_elapse; unsigned int idle_sleeptime_seq;" \
		 " u64 idle_entrytime; u64 idle_stealtime[2]; u64 cpustat[10]; };"                           \
		 "struct tick_sched { unsigned long flags; };"

#define VARIABLES                                                                                     \
	"percpu kernel_cpustat 128\npercpu tick_cpu_sched 64\npercpu kstat 48\n__cpu_online_mask 8\n" \
	"tick_nohz_active 4\n"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_cpu, .fini = close_given, .timeout = 60);

static void set_idle(unsigned int cpu, uint64_t since, uint64_t idle, uint64_t iowait)
{
	uint64_t tick = kernel_percpu(g.k, "tick_cpu_sched", cpu);

	kernel_set(g.k, tick, "tick_sched.idle_entrytime", since);
	kernel_set(g.k, tick, "tick_sched.idle_sleeptime", idle);
	kernel_set(g.k, tick, "tick_sched.iowait_sleeptime", iowait);
	if (kernel_has(g.k, "tick_sched.idle_active"))
		kernel_set(g.k, tick, "tick_sched.idle_active", since != 0);
	else
		kernel_set(g.k, tick, "tick_sched.flags", since ? 4 : 0);
}

static void set_time(unsigned int cpu, const char *time, uint64_t ns)
{
	char path[64];

	snprintf(path, sizeof(path), "kernel_cpustat.cpustat[%s]", time);
	kernel_set(g.k, kernel_percpu(g.k, "kernel_cpustat", cpu), path, ns);
}

static void set_waiters(unsigned int cpu, int nr)
{
	kernel_set(g.k, kernel_percpu(g.k, "runqueues", cpu), "rq.nr_iowait.counter", (uint32_t)nr);
}

static void given_cpus(const char *types, enum kernel_form form)
{
	uint64_t online = 3;
	uint32_t active = 1;

	g = given_config(&(struct kernel_config){ .types = types, .variables = VARIABLES, .tasks = "1 a\n" });
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_online_mask"), &online, 8);
	kernel_write(g.k, kernel_symbol(g.k, "tick_nohz_active"), &active, 4);
	given_open(&g, form);
}

#define IDLE .source = "cpus", .columns = "idle,iowait"

/* An index beyond its array would be read from the neighbour. */
Test(kernel_cpu, an_enumerator_out_of_bounds)
{
	given_cpus(
		"enum cpu_usage_stat { CPUTIME_USER, CPUTIME_NICE, CPUTIME_SYSTEM, CPUTIME_SOFTIRQ, CPUTIME_IRQ,"
		" CPUTIME_IDLE, CPUTIME_IOWAIT, CPUTIME_STEAL, CPUTIME_GUEST, CPUTIME_GUEST_NICE = 1000, NR_STATS };"
		"struct kernel_cpustat { u64 cpustat[10]; };",
		KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such symbol>\n", .source = "system", .columns = "user");
}

static void expect_idle(const char *types)
{
	given_cpus(types, KERNEL_RAM_LIVE);
	/* Idle for 5 ms, with what is below a us cut off; waiting for 5 ms; busy. */
	set_idle(0, MONOTONIC - 5000000, 2000000999, 7000000);
	expect_rows(&g, KW_OK, "2005000000 7000000\n0 0\n", IDLE);
	set_waiters(0, 1);
	expect_rows(&g, KW_OK, "2000000000 12000000\n0 0\n", IDLE);
	set_idle(0, 0, 2000000999, 7000000);
	expect_rows(&g, KW_OK, "2000000000 7000000\n0 0\n", IDLE);
	/* The clock is older than the beginning: nothing has gone by, least of all 2^64 ns. */
	set_idle(0, MONOTONIC + 1, 2000000000, 7000000);
	expect_rows(&g, KW_OK, "2000000000 7000000\n0 0\n", IDLE);
}

Test(kernel_cpu, a_period_under_way)
{
	expect_idle(OLD);
}

Test(kernel_cpu, a_period_under_way_with_flags)
{
	expect_idle(MIDDLE);
}

/* Time stolen in an earlier period is taken off the next one. */
Test(kernel_cpu, a_period_under_way_in_kernel_cpustat)
{
	uint64_t stat;

	given_cpus(NEW, KERNEL_RAM_LIVE);
	stat = kernel_percpu(g.k, "kernel_cpustat", 0);
	set_time(0, "5", 2000000999);
	set_time(0, "6", 7);
	kernel_set(g.k, stat, "kernel_cpustat.idle_entrytime", MONOTONIC - 5000000);
	kernel_set(g.k, stat, "kernel_cpustat.idle_stealtime[0]", 1000000);
	expect_rows(&g, KW_OK, "2000000999 7\n0 0\n", IDLE);
	kernel_set(g.k, stat, "kernel_cpustat.idle_elapse", 1);
	expect_rows(&g, KW_OK, "2004000999 7\n0 0\n", IDLE);
	kernel_set(g.k, stat, "kernel_cpustat.idle_stealtime[0]", 6000000);
	expect_rows(&g, KW_OK, "2000000999 7\n0 0\n", IDLE);
	set_waiters(0, 2);
	expect_rows(&g, KW_OK, "2000000999 5000007\n0 0\n", IDLE);
}

/* Somebody is writing, and does not stop: the values come all the same. */
Test(kernel_cpu, a_sequence_that_stays_odd)
{
	given_cpus(MIDDLE, KERNEL_RAM_LIVE);
	set_idle(0, 0, 1000, 0);
	kernel_set(g.k, kernel_percpu(g.k, "tick_cpu_sched", 0), "tick_sched.idle_sleeptime_seq", 3);
	expect_rows(&g, KW_OK, "1000 0\n0 0\n", IDLE);
}

/* What a query has shown is not taken back when a waiting task is woken up. */
Test(kernel_cpu, never_back)
{
	struct printer printer = { 0 };
	kw_query *query;

	given_cpus(OLD, KERNEL_RAM_LIVE);
	set_idle(0, MONOTONIC - 5000000, 2000000000, 7000000);
	query = bind_query(&g, OPTIONS(IDLE));
	expect_run(&g, query, &printer, KW_OK, "2005000000 7000000\n0 0\n");
	set_waiters(0, 1);
	expect_run(&g, query, &printer, KW_OK, "2005000000 12000000\n0 0\n");
	set_waiters(0, 0);
	expect_run(&g, query, &printer, KW_OK, "2005000000 12000000\n0 0\n");
	set_idle(0, MONOTONIC - 9000000, 2000000000, 7000000);
	expect_run(&g, query, &printer, KW_OK, "2009000000 12000000\n0 0\n");
	kw_query_free(query);
}

/* Of an offline CPU, and without NOHZ, the ticks have counted. */
Test(kernel_cpu, what_ticks_counted)
{
	uint64_t online = 1;
	uint32_t active = 0;

	given_cpus(OLD, KERNEL_RAM_LIVE);
	set_idle(1, MONOTONIC - 5000000, 2000000000, 7000000);
	set_time(1, "5", 1234);
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_online_mask"), &online, 8);
	expect_rows(&g, KW_OK, "true 0 0\nfalse 1234 0\n", .source = "cpus", .columns = "online,idle,iowait");
	online = 3;
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_online_mask"), &online, 8);
	kernel_write(g.k, kernel_symbol(g.k, "tick_nohz_active"), &active, 4);
	expect_rows(&g, KW_OK, "0 0\n1234 0\n", IDLE);
}

Test(kernel_cpu, sums)
{
	given_cpus(OLD, KERNEL_RAM_LIVE);
	set_time(0, "0", 1000000000);
	set_time(1, "0", 2);
	kernel_set(g.k, kernel_percpu(g.k, "runqueues", 0), "rq.nr_switches", 1ULL << 40);
	kernel_set(g.k, kernel_percpu(g.k, "runqueues", 1), "rq.nr_switches", 5);
	/* Woken up by the other CPU: the parts mean nothing, the sum does. */
	set_waiters(0, -3);
	set_waiters(1, 5);
	expect_rows(&g, KW_OK, "1000000002 1099511627781 3 2\n", .source = "system",
		    .columns = "user,ctxt,procs_running,procs_blocked");
	expect_rows(&g, KW_OK, "1 0\n2 5\n", .source = "cpus", .columns = "procs_running,procs_blocked");
}

/* A part that can't be had makes no smaller sum. */
Test(kernel_cpu, a_cpu_that_can_not_be_read)
{
	g = given_config(&(struct kernel_config){
		.types = OLD, .variables = VARIABLES "__per_cpu_end 8\n", .tasks = "1 a\n" });
	kernel_exclude(g.k, kernel_percpu(g.k, "kernel_cpustat", 1));
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_rows(&g, KW_INCOMPLETE, "<excluded when the dump was made>\n", .source = "system",
		    .columns = "user");
	expect_rows(&g, KW_INCOMPLETE, "0 0\n1 <excluded when the dump was made>\n", .source = "cpus",
		    .columns = "cpu,user");
}
