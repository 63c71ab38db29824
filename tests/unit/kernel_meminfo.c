/* Counters of the memory manager: what has shown as 2^46 GB elsewhere comes first. */
#include "unit/kernel_given.h"

#define TYPES                                                                                                      \
	"enum zone_stat_item { NR_FREE_PAGES, NR_MLOCK, NR_VM_ZONE_STAT_ITEMS };"                                  \
	"enum numa_stat_item { NUMA_HIT, NR_VM_NUMA_STAT_ITEMS };"                                                 \
	"enum node_stat_item { NR_INACTIVE_ANON, NR_ACTIVE_ANON, NR_INACTIVE_FILE, NR_ACTIVE_FILE, NR_FILE_PAGES," \
	" NR_SLAB_RECLAIMABLE_B, NR_ANON_THPS, %s NR_VM_NODE_STAT_ITEMS };"                                        \
	"enum vm_event_item { PGPGIN, NR_VM_EVENT_ITEMS };"

#define VARIABLES                                                                                 \
	"vm_zone_stat 16\nvm_node_stat 72\nvmstat_text 128\n_totalram_pages 8\nnr_swap_pages 8\n" \
	"percpu vm_event_states 8\n__cpu_online_mask 8\n"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_meminfo, .fini = close_given, .timeout = 60);

static void given_memory(const char *more_items)
{
	char types[2048];
	uint64_t online = 3;

	snprintf(types, sizeof(types), TYPES, more_items);
	g = given_config(&(struct kernel_config){ .types = types, .variables = VARIABLES, .tasks = "1 a\n" });
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_online_mask"), &online, 8);
	given_open(&g, KERNEL_RAM_LIVE);
}

static void set_item(const char *array, unsigned int i, int64_t value)
{
	kernel_write(g.k, kernel_symbol(g.k, array) + 8 * i, &value, 8);
}

static void set_name(unsigned int line, const char *name)
{
	uint64_t text = kernel_alloc(g.k, 32, 8);

	kernel_write(g.k, text, name, strlen(name) + 1);
	kernel_write(g.k, kernel_symbol(g.k, "vmstat_text") + 8 * line, &text, 8);
}

Test(kernel_meminfo, negative_counters)
{
	given_memory("");
	set_item("vm_zone_stat", 0, -5);
	set_item("vm_node_stat", 0, -3);
	set_item("vm_node_stat", 1, 7);
	set_item("nr_swap_pages", 0, -1);
	expect_rows(&g, KW_OK, "0 28672 28672 0\n", .source = "system",
		    .columns = "mem_free,active_anon,active,swap_free");
	expect_rows(&g, KW_OK, "0 0 28672\n", .source = "system",
		    .columns = "MemFree,Inactive(anon),Active(anon)");
}

/* An item that this kernel has no more is absent, and never 0. */
Test(kernel_meminfo, items_that_are_not_there)
{
	given_memory("");
	expect_rows(&g, KW_OK, "<this kernel has no such member> <this kernel has no such member>\n",
		    .source = "system", .columns = "nr_unstable,Slab");
	expect_rows(&g, KW_OK, "<this kernel has no such symbol> <this kernel has no such symbol>\n",
		    .source = "system", .columns = "mem_available,committed");
}

/* Huge pages were counted as such until 5.11, in small ones since. */
Test(kernel_meminfo, units_of_huge_pages)
{
	given_memory("");
	set_item("vm_node_stat", 6, 3);
	expect_rows(&g, KW_OK, "6291456\n", .source = "system", .columns = "anon_huge");
	given_close(&g);
	given_memory("NR_SWAPCACHE,");
	set_item("vm_node_stat", 6, 1024);
	expect_rows(&g, KW_OK, "4194304\n", .source = "system", .columns = "anon_huge");
}

Test(kernel_meminfo, lines_of_vmstat)
{
	static const char *const names[] = { "nr_free_pages", "nr_mlock", "numa_hit", "nr_inactive_anon" };
	uint64_t in = 4;

	given_memory("");
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		set_name(i, names[i]);
	set_name(10, "pgpgin");
	set_item("vm_zone_stat", 1, 9);
	set_item("vm_node_stat", 0, 11);
	kernel_write(g.k, kernel_percpu(g.k, "vm_event_states", 0), &in, 8);
	kernel_write(g.k, kernel_percpu(g.k, "vm_event_states", 1), &in, 8);
	/* The names that are not there are so on purpose: nothing is made up. */
	expect_rows(
		&g, KW_INCOMPLETE,
		"nr_free_pages 0\nnr_mlock 9\nnuma_hit <this kernel has no such symbol>\nnr_inactive_anon 11\n"
		"<no memory at that address> 0\n<no memory at that address> 0\n<no memory at that address> 0\n"
		"<no memory at that address> 0\n<no memory at that address> 0\n<no memory at that address> 0\n"
		"pgpgin 4\n",
		.source = "vmstat", .columns = "name,value");
}
