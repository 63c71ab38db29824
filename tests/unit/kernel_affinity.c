/* Masks and lists of CPUs and memory nodes. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_affinity, .fini = close_given);

Test(kernel_affinity, writing)
{
	g = given_config(&(struct kernel_config){
		.cpus = 7,
		.tasks = "1 a cpus_mask.bits[0]=0x7f mems_allowed.bits[0]=1\n"
			 "2 b cpus_mask.bits[0]=0x2d mems_allowed.bits[0]=0xf00000000000000f\n"
			 "3 c cpus_mask.bits[0]=0x100000041\n"
			 "4 d\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "7f 0-6 00000000,00000001 0\n"
		    "2d 0,2-3,5 f0000000,0000000f 0-3,60-63\n"
		    /* A bit of no possible CPU is not shown. */
		    "41 0,6 00000000,00000000 \n"
		    "00  00000000,00000000 \n",
		    .columns = "cpus_allowed,cpus_allowed_list,mems_allowed,mems_allowed_list");
}

/* More masks than are kept, twice. */
Test(kernel_affinity, many_masks)
{
	char tasks[8192] = "", want[2048] = "";

	for (int i = 1; i <= 60; i++) {
		sprintf(tasks + strlen(tasks), "%d a cpus_mask.bits[0]=%d\n", i, i % 4);
		sprintf(want + strlen(want), "%x %s\n", i % 4,
			(const char *[]){ "", "0", "1", "0-1" }[i % 4]);
	}
	g = given_tasks(NULL, tasks);
	given_open(&g, KERNEL_RAM);
	for (int i = 0; i < 2; i++)
		expect_rows(&g, KW_OK, want, .columns = "cpus_allowed,cpus_allowed_list");
}

#define BIG_MASK "struct cpumask { unsigned long bits[4]; };"

Test(kernel_affinity, more_than_a_word)
{
	uint64_t nr = 130, mask[4] = { ~0ULL, ~0ULL, 3, 0 };

	g = given_config(&(struct kernel_config){
		.types = BIG_MASK,
		.tasks =
			"1 a cpus_mask.bits[0]=1 cpus_mask.bits[1]=0x8000000000000001 cpus_mask.bits[2]=3\n" });
	kernel_write(g.k, kernel_symbol(g.k, "nr_cpu_ids"), &nr, 4);
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_possible_mask"), mask, sizeof(mask));
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "3,80000000,00000001,00000000,00000001 0,64,127-129\n",
		    .columns = "cpus_allowed,cpus_allowed_list");
}

Test(kernel_affinity, number_of_cpus_is_not_known)
{
	g = given_config(&(struct kernel_config){ .tasks = "1 a cpus_mask.bits[0]=1\n",
						  .hidden = "__per_cpu_offset" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such symbol>\n", .columns = "cpus_allowed");
}
