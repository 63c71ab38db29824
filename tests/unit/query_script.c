/*
 * Scripts on a kernel that changes from tick to tick: tasks that end, begin, and get the ID of an ended one; what grows;
 * and how a script is ended.
 */
#include <string.h>
#include <time.h>

#include "unit/kernel_given.h"

static struct given g;

static void have_tasks(void)
{
	g = given_tasks("6.12", SOME_TASKS);
	given_open(&g, KERNEL_RAM_LIVE);
}

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_script, .init = have_tasks, .fini = close_given, .timeout = 60);

/* What a script gave, as text, and what is done to the kernel after each tick. */
struct seen {
	FILE *out;
	char *text;
	size_t size;
	void (*change)(uint64_t tick);
	void (*change_amid)(uint64_t tick); /* at the first row of a block in line 1 */
	kw_script *script;
	uint64_t ticks, stop_after;
};

static bool see_row(const struct kw_script_block *block, const struct kw_value *values, bool first, void *arg)
{
	struct seen *seen = arg;

	if (first && seen->change_amid && block->line == 1)
		seen->change_amid(seen->ticks);
	fprintf(seen->out, "%u:", block->line);
	for (size_t i = 0; i < block->nr_columns; i++) {
		fputc(' ', seen->out);
		print_value(seen->out, &values[i]);
	}
	fputs("; ", seen->out);
	return true;
}

static bool see_text(const char *text, size_t len, const struct kw_sample *sample, void *arg)
{
	struct seen *seen = arg;

	(void)sample;
	fprintf(seen->out, "%.*s; ", (int)len, text);
	return true;
}

static bool see_tick(const struct kw_sample *sample, void *arg)
{
	struct seen *seen = arg;

	cr_assert(sample->monotonic && sample->realtime);
	fputs("| ", seen->out);
	seen->ticks++;
	if (seen->change)
		seen->change(seen->ticks);
	if (seen->ticks == seen->stop_after)
		kw_script_stop(seen->script);
	return true;
}

static int run(const char *text, struct seen *seen)
{
	const struct kw_script_sink sink = {
		.size = sizeof(sink), .arg = seen, .row = see_row, .print = see_text, .tick = see_tick
	};
	int code = -1;
	kw_status status = kw_script_new(g.ctx, "test", text, NULL, 0, &seen->script);

	cr_assert_eq(status, KW_OK, "%s", kw_error(g.ctx));
	seen->out = open_memstream(&seen->text, &seen->size);
	status = kw_script_run(seen->script, &sink, &code);
	cr_assert_eq(status, KW_OK, "%s", kw_error(g.ctx));
	kw_script_free(seen->script);
	fclose(seen->out);
	return code;
}

static void expect(const char *text, void (*change)(uint64_t tick), const char *wanted)
{
	struct seen seen = { .change = change };

	run(text, &seen);
	cr_assert_str_eq(seen.text, wanted, "got %s", seen.text);
	free(seen.text);
}

static uint64_t kept;

/* 300 ends, comes back as it was, then another one has its ID. */
static void end_and_begin(uint64_t tick)
{
	if (tick == 1) {
		kept = kernel_pid(g.k, 300);
		kernel_idr_store(g.k, 300, 0);
	} else if (tick == 2) {
		kernel_idr_store(g.k, 300, kept);
	} else if (tick == 3) {
		kernel_set(g.k, kernel_task(g.k, 300), "task_struct.start_boottime", 77);
	}
}

Test(query_script, tasks_that_end_and_begin)
{
	expect("every 1ms 5 times {\n"
	       " on new tasks select pid, comm\n"
	       " on exit tasks select pid, comm, ppid\n"
	       "}",
	       end_and_begin, "| 3: 300 sleep 100; | 2: 300 sleep; | 2: 300 sleep; 3: 300 sleep 100; | | ");
}

static void end_300_amid(uint64_t tick)
{
	if (tick == 1)
		kernel_idr_store(g.k, 300, 0);
}

/* It was there when the tick began, and not any more when its turn came: its end is told with the next tick. */
Test(query_script, a_task_that_ends_within_a_tick)
{
	struct seen seen = { .change_amid = end_300_amid };

	run("every 1ms 4 times { tasks where pid == 1 select pid\n"
	    " on exit tasks select pid, comm\n"
	    "}",
	    &seen);
	cr_assert_str_eq(seen.text, "1: 1; | 1: 1; | 1: 1; 2: 300 sleep; | 1: 1; | ", "got %s", seen.text);
	free(seen.text);
}

/* What ended since the sample before is told even if the block was not run then. */
Test(query_script, ends_in_a_block_that_is_not_always_run)
{
	expect("every 1ms 5 times { when count(tasks where pid == 300) == 0 {\n on exit tasks select pid\n } }",
	       end_and_begin, "| 2: 300; | | | | ");
}

Test(query_script, only_those_that_are_asked_for)
{
	expect("every 1ms 5 times {\n"
	       " on new tasks where pid < 300 select pid\n"
	       " on exit tasks where comm == \"bash\" select pid\n"
	       " on exit tasks group by ppid select ppid, count()\n"
	       " on exit tasks select comm sort -pid limit 1\n"
	       "}",
	       end_and_begin, "| 4: 100 1; 5: sleep; | | 4: 100 1; 5: sleep; | | ");
}

static void end_a_thread(uint64_t tick)
{
	uint64_t task = kernel_task(g.k, 102);

	if (tick == 1)
		kernel_set(g.k, task, "task_struct.start_boottime", 99);
}

Test(query_script, threads)
{
	expect("every 1ms 3 times { on new threads select tid\n on exit threads select tid }", end_a_thread,
	       "| 1: 102; 2: 102; | | ");
}

static void work(uint64_t tick)
{
	kernel_set(g.k, kernel_task(g.k, 300), "task_struct.utime", 1000 * tick * tick);
	if (tick == 3)
		kernel_set(g.k, kernel_task(g.k, 300), "task_struct.start_boottime", 77);
}

Test(query_script, what_grows_is_of_one_task)
{
	expect("every 1ms 5 times { threads where tid == 300 select delta(task.utime), task.utime }", work,
	       "1: <does not apply here> 0; | 1: 1000 1000; | 1: 3000 4000; | 1: <does not apply here> 9000; | "
	       "1: 7000 16000; | ");
}

/* The filter looks at all rows, and the columns at those it leaves: both compare the same samples. */
Test(query_script, what_grows_is_known_to_filter_and_columns)
{
	expect("every 1ms 4 times { threads where delta(task.utime) > 2000 select tid, delta(task.utime) sort -delta(task.utime) }",
	       work, "| | 1: 300 3000; | | ");
}

static void work_in_both(uint64_t tick)
{
	kernel_set(g.k, kernel_task(g.k, 300), "task_struct.utime", 1000 * tick * tick);
	kernel_set(g.k, kernel_task(g.k, 300), "task_struct.stime", 10 * tick);
}

/* The other side is sampled as well when one side is absent, and so decides. */
Test(query_script, each_side_of_an_expression_is_sampled)
{
	expect("every 1ms 3 times { threads where tid == 300 select delta(task.utime) + delta(task.stime) }",
	       work_in_both, "1: <does not apply here>; | 1: 1010; | 1: 3010; | ");
	expect("every 1ms 3 times { threads where tid == 300 select task.utime > 3000 ? delta(task.stime) : 0 }",
	       work_in_both, "1: <does not apply here>; | 1: 0; | 1: 10; | ");
	expect("let a = max(threads where tid == 300 select task.utime)\n"
	       "let b = max(threads where tid == 300 select task.stime)\n"
	       "every 1ms 3 times { print \"{delta(a) + delta(b)}\" }",
	       work_in_both, "-; | -8020; | 3010; | ");
}

/* So is what is shown, of rows that the condition and the limit leave out. */
Test(query_script, what_is_left_out_is_sampled)
{
	expect("every 1ms 3 times { threads where delta(task.utime) > 2000 select tid, delta(task.stime) }",
	       work_in_both, "| | 1: 300 10; | ");
	expect("every 1ms 3 times { threads sort -task.utime limit 1 select tid, delta(task.stime) }",
	       work_in_both, "1: 300 <does not apply here>; | 1: 300 -20; | 1: 300 10; | ");
}

static void change_a_number(uint64_t tick)
{
	kernel_set(g.k, kernel_task(g.k, 300), "task_struct.flags", tick == 2 ? 5 : 4);
}

Test(query_script, changes)
{
	expect("let flags = max(tasks where pid == 300 select task.flags)\n"
	       "every 1ms 5 times { on change of flags { print \"{flags}\" } }",
	       change_a_number, "| 4; | 5; | 4; | | ");
}

Test(query_script, all_queries_of_a_tick_see_the_same)
{
	expect("let n = count(tasks)\n"
	       "every 1ms 2 times { print \"{n}\"\n tasks select count()\n tasks where n == 5 limit 1 select pid }",
	       end_and_begin, "4; 3: 4; | 3; 3: 3; | ");
}

Test(query_script, stopped)
{
	struct seen seen = { .stop_after = 3 };

	cr_assert_eq(run("every 1ms { print \"a\" }", &seen), 0);
	cr_assert_str_eq(seen.text, "a; | a; | a; | ");
	free(seen.text);
}

Test(query_script, ended_by_the_sink)
{
	struct seen seen = { .stop_after = 1 };

	cr_assert_eq(run("every 1h { exit 5 if count(tasks) > 3 }", &seen), 5);
	free(seen.text);
}

/* Tick n is due at the beginning and n periods, however long the ticks took. */
Test(query_script, absolute_time)
{
	struct seen seen = { 0 };
	uint64_t begin, took;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	begin = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	run("every 20ms for 400ms { tasks select count() }", &seen);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	took = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - begin;
	cr_assert(seen.ticks >= 1 && seen.ticks <= 20, "%llu ticks", (unsigned long long)seen.ticks);
	cr_assert_geq(took, 20000000);
	free(seen.text);
}
