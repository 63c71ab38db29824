/*
 * Remembered rows are those that a new query gives: whatever word of memory is written between two runs, under every
 * field of the catalogue. And they are remembered: else all this would say nothing.
 */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_remembered, .fini = close_given, .timeout = 300);

#define COLUMNS 8
#define MOST	64 /* queries */
#define NARROW	"pid,comm,state,utime,rss,cpus_allowed,ignored"
#define NR_ROWS 4
#ifdef __SANITIZE_ADDRESS__
#define STEP 4 /* words: one of so many is written to */
#else
#define STEP 1
#endif

struct place {
	uint8_t *from, *to;
};

/* Tasks and what hangs on them are allocated one after the other. */
static struct place find_place(void)
{
	static const char *const hanging[] = { "task_struct.signal", "task_struct.real_cred",
					       "task_struct.thread_pid" };
	size_t size, first = kernel_task(g.k, 1) - KERNEL_DIRECT, last = first;
	uint8_t *ram = kernel_ram(g.k, &size);

	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		size_t at = kernel_get(g.k, kernel_task(g.k, 300), hanging[i]) - KERNEL_DIRECT;

		last = at > last ? at : last;
	}
	return (struct place){ ram + first, ram + last + 512 };
}

static bool is_known(const struct kw_field *field)
{
	struct kw_query_options options = { .size = sizeof(options), .columns = field->name };
	kw_query *query;

	if (kw_query_new(g.ctx, &options, &query) != KW_OK)
		return false;
	kw_query_free(query);
	return true;
}

/* Queries of all fields that there are, some a query. */
static size_t make_queries(char columns[MOST][512])
{
	const struct kw_field *field;
	size_t nr = 0;

	for (size_t i = 0; (field = kw_field_at("tasks", i)); i++) {
		char *text = columns[nr / COLUMNS];

		if (!is_known(field))
			continue;
		cr_assert_lt(nr / COLUMNS, MOST);
		snprintf(text + strlen(text), 512 - strlen(text), "%s%s", *text ? "," : "", field->name);
		nr++;
	}
	return (nr + COLUMNS - 1) / COLUMNS;
}

static char *run_anew(const char *columns)
{
	kw_query *query = bind_query(&g, OPTIONS(.columns = columns));
	struct printer printer = { 0 };
	kw_status status;
	char *text = run_query(query, &printer, &status);

	kw_query_free(query);
	return text;
}

static void compare(kw_query *query, const char *columns, const char *when)
{
	struct printer printer = { 0 };
	kw_status status;
	char *got = run_query(query, &printer, &status), *want = run_anew(columns);

	cr_assert_str_eq(got, want, "%s: %s\ngot:\n%swant:\n%s", columns, when, got, want);
	free(got);
	free(want);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Every word in turn, a byte of it another; then as it was. */
static void write_everywhere(kw_query *query, const char *columns, size_t step)
{
	struct place place = find_place();
	uint64_t seed = 88172645463325252;

	for (uint8_t *at = place.from; at + 8 <= place.to; at += 8 * step) {
		uint64_t random = next_random(&seed);
		uint8_t *byte = at + (step > 1 ? random / 256 % step * 8 : 0) + random % 8, kept = *byte;
		char when[64];

		snprintf(when, sizeof(when), "byte 0x%zx", (size_t)(byte - place.from));
		*byte ^= 1 << (random >> 32) % 8;
		compare(query, columns, when);
		*byte = kept;
		compare(query, columns, when);
	}
}

static void look(enum kernel_form form, const char *style, size_t step)
{
	static char columns[MOST][512];
	size_t nr;

	memset(columns, 0, sizeof(columns));
	g = given_config(&(struct kernel_config){ .style = style, .tasks = SOME_TASKS, .on_disk = true });
	given_open(&g, form);
	nr = make_queries(columns);
	for (size_t i = 0; i < nr; i++) {
		kw_query *query = bind_query(&g, OPTIONS(.columns = columns[i]));

		for (int k = 0; k < 3; k++)
			compare(query, columns[i], "at rest");
		write_everywhere(query, columns[i], step);
		kw_query_free(query);
	}
	given_close(&g);
}

Test(query_remembered, mapped)
{
	look(KERNEL_RAM_LIVE, "5.10", STEP);
	look(KERNEL_RAM_LIVE, "7.2", 8);
}

Test(query_remembered, copied)
{
	look(KERNEL_RAM_LIVE_ONCE, "5.10", 8);
	look(KERNEL_RAM_LIVE_ONCE, "6.12", 8);
}

/* So many rows of one run were as they were. */
static void expect_same(kw_query *query, const char *columns, uint64_t wanted)
{
	compare(query, columns, "same");
	cr_expect_eq(kw_query_counts(query)->same, wanted, "%s: %" PRIu64 " rows", columns,
		     kw_query_counts(query)->same);
	cr_expect_eq(kw_query_counts(query)->rows, NR_ROWS);
}

static void count(enum kernel_form form)
{
	kw_query *query;
	uint64_t task;

	g = given_config(&(struct kernel_config){ .style = "5.10", .tasks = SOME_TASKS, .on_disk = true });
	given_open(&g, form);
	query = bind_query(&g, OPTIONS(.columns = NARROW));
	task = kernel_task(g.k, 300);
	expect_same(query, NARROW, 0);
	expect_same(query, NARROW, 0);
	/* But for the shell, whose threads are added up. */
	expect_same(query, NARROW, NR_ROWS - 1);
	expect_same(query, NARROW, NR_ROWS - 1);
	kernel_set(g.k, task, "task_struct.utime", 12345);
	expect_same(query, NARROW, NR_ROWS - 2);
	expect_same(query, NARROW, NR_ROWS - 1);
	/* What no column shows. */
	kernel_set(g.k, task, "task_struct.prio", 77);
	expect_same(query, NARROW, NR_ROWS - 1);
	kw_query_free(query);
	given_close(&g);
}

Test(query_remembered, counts)
{
	count(KERNEL_RAM_LIVE);
	count(KERNEL_RAM_LIVE_ONCE);
}

/* A row that goes on changing is not remembered each time, and again when it rests. */
Test(query_remembered, changes)
{
	uint64_t task, same = 0;
	kw_query *query;

	g = given_config(&(struct kernel_config){ .style = "5.10", .tasks = SOME_TASKS });
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(.columns = NARROW));
	task = kernel_task(g.k, 300);
	for (unsigned int i = 0; i < 40; i++) {
		kernel_set(g.k, task, "task_struct.utime", i * 1000000);
		compare(query, NARROW, "changing");
	}
	for (unsigned int i = 0; i < 8; i++) {
		compare(query, NARROW, "resting");
		same = kw_query_counts(query)->same;
	}
	cr_expect_eq(same, NR_ROWS - 1);
	kw_query_free(query);
}

/* Where a page table leads may change without a word of the row. */
Test(query_remembered, mapped_elsewhere)
{
	static const char columns[] = "pid,state,task.mm.total_vm";
	uint64_t page[2], task;
	kw_query *query;

	g = given_config(&(struct kernel_config){ .style = "5.10", .tasks = SOME_TASKS });
	task = kernel_task(g.k, 300);
	for (unsigned int i = 0; i < 2; i++) {
		page[i] = kernel_alloc(g.k, 4096, 4096);
		kernel_fill(g.k, page[i], (int)i + 1, 4096);
	}
	kernel_map(g.k, KERNEL_VMALLOC, page[0]);
	kernel_set(g.k, task, "task_struct.mm", KERNEL_VMALLOC);
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(.columns = columns));
	for (unsigned int i = 0; i < 4; i++)
		compare(query, columns, "first page");
	kernel_map(g.k, KERNEL_VMALLOC, page[1]);
	for (unsigned int i = 0; i < 4; i++)
		compare(query, columns, "second page");
	kw_query_free(query);
}
