/* Scheduling domains: one that contains itself, a mask that is none, and such as there are. */
#include "unit/kernel_given.h"

#define RQ "struct rq { unsigned int nr_running; struct sched_domain *sd; };"
#define OLD                                                                                           \
	RQ "struct sched_domain { struct sched_domain *parent; unsigned int lb_count[3]; char *name;" \
	   " unsigned int span_weight; unsigned long span[1]; };"
/* Since 7.0 or so the mask is no member. */
#define NEW                                                                                           \
	RQ "struct sched_domain { struct sched_domain *parent; unsigned int lb_count[3]; char *name;" \
	   " unsigned int span_weight; };"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_sched_domain, .fini = close_given, .timeout = 60);

static uint64_t add_domain(unsigned int cpu, uint64_t mask, uint32_t weight, bool is_named)
{
	uint64_t domain = kernel_alloc(g.k, 128, 64), name = kernel_alloc(g.k, 8, 8);
	uint64_t span = is_named ? kernel_at(g.k, domain, "sched_domain.span[0]")
				 : kernel_at(g.k, domain, "sched_domain.span_weight") + 8;

	kernel_write(g.k, name, "MC", 3);
	kernel_set(g.k, domain, "sched_domain.name", name);
	kernel_set(g.k, domain, "sched_domain.span_weight", weight);
	kernel_write(g.k, span, &mask, 8);
	kernel_set(g.k, kernel_percpu(g.k, "runqueues", cpu), "rq.sd", domain);
	return domain;
}

static void given_domains(const char *types)
{
	uint64_t online = 3;

	g = given_config(&(struct kernel_config){
		.types = types, .variables = "__cpu_online_mask 8\n", .tasks = "1 a\n" });
	kernel_write(g.k, kernel_symbol(g.k, "__cpu_online_mask"), &online, 8);
}

#define PLACES .source = "sched_domains", .columns = "cpu,domain,name,span"

Test(kernel_sched_domain, in_itself)
{
	struct printer printer = { 0 };
	kw_query *query;
	kw_status status;
	uint64_t domain;
	char *text;

	given_domains(OLD);
	domain = add_domain(0, 3, 2, true);
	kernel_set(g.k, domain, "sched_domain.parent", domain);
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(PLACES));
	text = run_query(query, &printer, &status);
	cr_expect_eq(status, KW_INCOMPLETE);
	cr_expect(strstr(text, "0 31 MC 3\n") && !strstr(text, "0 32 "), "%s", text);
	free(text);
	kw_query_free(query);
}

Test(kernel_sched_domain, a_mask_that_does_not_fit)
{
	given_domains(NEW);
	add_domain(0, 3, 1, false);
	add_domain(1, 3, 2, false);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_INCOMPLETE, "0 0 MC <damaged structure>\n1 0 MC 3\n", PLACES);
}

Test(kernel_sched_domain, of_each_cpu)
{
	uint64_t small, large;

	given_domains(OLD);
	small = add_domain(0, 1, 1, true);
	large = add_domain(1, 3, 2, true);
	kernel_set(g.k, small, "sched_domain.parent", large);
	kernel_set(g.k, large, "sched_domain.lb_count[2]", 7);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_OK, "0 0 MC 1\n0 1 MC 3\n1 0 MC 3\n", PLACES);
	expect_rows(&g, KW_OK, "0 0 0\n0 1 7\n1 0 7\n", .source = "sched_domains",
		    .columns = "cpu,domain,sched_domain.lb_count[2]");
}
