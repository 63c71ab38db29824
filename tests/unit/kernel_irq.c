/* Interrupts that come, go and count between two looks of one context; a table that is damaged first. */
#include "unit/kernel_given.h"

#define TYPES                                                                                        \
	"struct xarray { spinlock_t xa_lock; unsigned int xa_flags; void *xa_head; };"               \
	"struct irqaction { void *handler; const char *name; struct irqaction *next; };"             \
	"struct irq_desc { unsigned int *kstat_irqs; struct irqaction *action;"                      \
	" unsigned int status_use_accessors; unsigned int core_internal_state__do_not_mess_with_it;" \
	" unsigned int tot_count; };"                                                                \
	"struct kernel_stat { unsigned long irqs_sum; unsigned int softirqs[2]; };"

#define NODE_SIZE 576

static struct given g;
static uint64_t node;

static void close_given(void)
{
	given_close(&g);
}

static uint64_t slot(unsigned int irq)
{
	return kernel_at(g.k, node, "xa_node.slots[0]") + 8 * irq;
}

static uint64_t add_irq(unsigned int irq, uint32_t count)
{
	uint64_t desc = kernel_alloc(g.k, 256, 64);

	kernel_set(g.k, desc, "irq_desc.action", desc);
	kernel_set(g.k, desc, "irq_desc.tot_count", count);
	kernel_write(g.k, slot(irq), &desc, 8);
	return desc;
}

static void given_irqs(void)
{
	uint64_t entry;

	g = given_config(&(struct kernel_config){
		.types = TYPES, .variables = "irq_desc_tree 16\npercpu kstat 48\n", .tasks = "1 a\n" });
	node = kernel_alloc(g.k, NODE_SIZE, 64);
	entry = node + 2;
	kernel_write(g.k, kernel_at(g.k, kernel_symbol(g.k, "irq_desc_tree"), "xarray.xa_head"), &entry, 8);
}

TestSuite(kernel_irq, .init = given_irqs, .fini = close_given, .timeout = 60);

#define COUNTS .source = "irqs", .columns = "irq,count"

/* What is no node any more is seen, and what was found before is not believed. */
Test(kernel_irq, a_table_that_is_damaged_later)
{
	uint64_t nowhere = 2 | 1ULL << 20;

	add_irq(3, 7);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_OK, "3 7\n", COUNTS);
	kernel_write(g.k, slot(1), &nowhere, 8);
	expect_rows(&g, KW_INCOMPLETE, "3 7\n", COUNTS);
	expect_rows(&g, KW_INCOMPLETE, "3 7\n", COUNTS);
}

Test(kernel_irq, come_and_go_and_count)
{
	struct printer printer = { 0 };
	uint64_t first = add_irq(3, 7), none = 0;
	kw_query *query;

	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(COUNTS));
	expect_run(&g, query, &printer, KW_OK, "3 7\n");
	kernel_set(g.k, first, "irq_desc.tot_count", 8);
	expect_run(&g, query, &printer, KW_OK, "3 8\n");
	add_irq(40, 1);
	expect_run(&g, query, &printer, KW_OK, "3 8\n40 1\n");
	/* Another descriptor in its place. */
	add_irq(3, 100);
	expect_run(&g, query, &printer, KW_OK, "3 100\n40 1\n");
	kernel_write(g.k, slot(3), &none, 8);
	expect_run(&g, query, &printer, KW_OK, "40 1\n");
	kw_query_free(query);
}

/* Without a handler it is a row when it has come; per-CPU interrupts are added up. */
Test(kernel_irq, that_nobody_handles)
{
	uint64_t desc = add_irq(3, 0);

	kernel_set(g.k, desc, "irq_desc.action", 0);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_OK, "", COUNTS);
	kernel_set(g.k, desc, "irq_desc.tot_count", 5);
	expect_rows(&g, KW_OK, "3 5\n", COUNTS);
	kernel_set(g.k, desc, "irq_desc.status_use_accessors", 1 << 9);
	expect_rows(&g, KW_OK, "", COUNTS);
}

static bool ask_again(const struct kw_row_identity *row, void *arg)
{
	(void)row;
	(void)arg;
	expect_rows(&g, KW_OK, "3 7\n40 1\n", COUNTS);
	return true;
}

/* Whoever is handed a row may ask for the same rows. */
Test(kernel_irq, asked_for_while_asked_for)
{
	struct printer printer = { .hook = ask_again };
	kw_query *query;

	add_irq(3, 7);
	add_irq(40, 1);
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(COUNTS));
	expect_run(&g, query, &printer, KW_OK, "3 7\n40 1\n");
	kw_query_free(query);
}

/* In one pass what was counted stays as it is; a new one counts anew. */
Test(kernel_irq, softirqs_once_a_pass)
{
	struct printer printer = { 0 };
	uint64_t kstat = kernel_percpu(g.k, "kstat", 0);
	kw_query *query;

	kernel_set(g.k, kstat, "kernel_stat.softirqs[1]", 5);
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(.source = "softirqs", .columns = "softirq,count"));
	kw_pass_begin(g.ctx);
	expect_run(&g, query, &printer, KW_OK, "0 0\n1 5\n");
	kernel_set(g.k, kstat, "kernel_stat.softirqs[1]", 6);
	kw_pass_renew(g.ctx);
	expect_run(&g, query, &printer, KW_OK, "0 0\n1 6\n");
	kw_pass_end(g.ctx);
	kernel_set(g.k, kstat, "kernel_stat.softirqs[0]", 1);
	expect_run(&g, query, &printer, KW_OK, "0 1\n1 6\n");
	kw_query_free(query);
}

static uint64_t add_node(uint64_t above, unsigned int at)
{
	uint64_t below = kernel_alloc(g.k, NODE_SIZE, 64), entry = below + 2;

	kernel_write(g.k, kernel_at(g.k, above, "xa_node.slots[0]") + 8 * at, &entry, 8);
	return below;
}

/* Rows are read many at a time: what is beyond a limit, or twice in a row, or cannot be read, stays what it is. */
Test(kernel_irq, more_than_are_read_at_once)
{
	uint64_t root = node;
	char want[2048], twice[4096];
	size_t len = 0, both = 0;

	kernel_set(g.k, root, "xa_node.shift", 6);
	for (unsigned int i = 0; i < 150; i++) {
		if (i % 64 == 0)
			node = add_node(root, i / 64);
		add_irq(i % 64, 1000 + i);
		len += (size_t)sprintf(want + len, "%u %u\n", i, 1000 + i);
		both += (size_t)sprintf(twice + both, "%u %u %u\n", i, 1000 + i, i);
	}
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_OK, want, COUNTS);
	expect_rows(&g, KW_OK, twice, .source = "irqs", .columns = "irq,count,irq");
	expect_rows(&g, KW_OK, want, .source = "irqs", .columns = "label,count");
	expect_rows(&g, KW_OK, "149 1149\n148 1148\n", COUNTS, .sort = "-count", .limit = 2);
	*strstr(want, "70 1070\n") = '\0';
	expect_rows(&g, KW_OK, want, COUNTS, .limit = 70);
}

Test(kernel_irq, that_cannot_be_read)
{
	uint64_t nowhere = 0xffffa00000000000;
	kw_query *query;

	add_irq(3, 7);
	kernel_write(g.k, slot(5), &nowhere, 8);
	add_irq(40, 1);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_INCOMPLETE, "3 7\n5 <no memory at that address>\n40 1\n", COUNTS);
	expect_rows(&g, KW_OK, "3 7\n", COUNTS, .limit = 1);
	query = bind_query(&g, OPTIONS(COUNTS));
	expect_run(&g, query, &(struct printer){ 0 }, KW_INCOMPLETE,
		   "3 7\n5 <no memory at that address>\n40 1\n");
	cr_expect_eq(kw_query_counts(query)->damaged, 1);
	cr_expect_eq(kw_query_counts(query)->rows, 3);
	kw_query_free(query);
}
