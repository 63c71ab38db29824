/* Groups and capabilities. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_cred, .fini = close_given);

static uint64_t new_groups(struct kernel_image *k, int tid, int nr, const uint32_t *ids)
{
	uint64_t at = kernel_alloc(k, 4096, 4096);

	kernel_set(k, at, "group_info.usage.refs.counter", 1);
	kernel_set(k, at, "group_info.ngroups", (uint32_t)nr);
	if (ids)
		kernel_write(k, kernel_at(k, at, "group_info.gid"), ids, (size_t)nr * 4);
	kernel_set(k, kernel_task(k, tid), "task_struct.real_cred.group_info", at);
	return at;
}

/* A count read from garbage is neither believed nor used as a size. */
Test(kernel_cred, absurd_numbers_of_groups)
{
	static const int numbers[] = { -1, 65537, 0x7fffffff, (int)0x80000000 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		g = given_tasks(NULL, "1 a\n");
		new_groups(g.k, 1, numbers[i], NULL);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_INCOMPLETE, "<damaged structure>\n", .columns = "groups");
		given_close(&g);
	}
}

Test(kernel_cred, groups)
{
	static const uint32_t ids[] = { 4, 100, 4294967295, 65537 };
	uint64_t shared;

	g = given_tasks(NULL, "1 a\n2 b\n3 c\n4 d\n");
	shared = new_groups(g.k, 1, 4, ids);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.real_cred.group_info", shared);
	new_groups(g.k, 3, 0, NULL);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 4 100 4294967295 65537\n2 4 100 4294967295 65537\n3 \n"
		    "4 <a pointer on the way is NULL>\n",
		    .columns = "pid,groups");
}

/* Kept for the run only: a list may be another one's by the next. */
Test(kernel_cred, groups_that_change)
{
	static const uint32_t ids[] = { 4, 100 };
	struct printer printer = { 0 };
	kw_query *query;
	uint64_t at, gid;

	g = given_tasks(NULL, "1 a\n");
	at = new_groups(g.k, 1, 2, ids);
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(.columns = "groups"));
	expect_run(&g, query, &printer, KW_OK, "4 100\n");
	gid = kernel_at(g.k, at, "group_info.gid");
	kernel_write(g.k, gid, &(uint32_t){ 5 }, 4);
	expect_run(&g, query, &printer, KW_OK, "5 100\n");
	kw_query_free(query);
}

static void expect_capabilities(struct given *given)
{
	uint64_t set = 0x1ffffffffffULL,
		 cred = kernel_get(given->k, kernel_task(given->k, 1), "task_struct.real_cred");

	kernel_write(given->k, kernel_at(given->k, cred, "cred.cap_bset"), &set, 8);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK, "2199023255551 0 true 2 3\n",
		    .columns = "cap_bounding,CapEff,no_new_privs,seccomp,seccomp_filters");
}

Test(kernel_cred, capabilities)
{
	in_every_style("1 a atomic_flags=1 seccomp.mode=2 seccomp.filter_count.counter=3\n",
		       expect_capabilities);
}
