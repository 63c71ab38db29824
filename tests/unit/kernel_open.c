/* Opening kernels, what is told of them, and further contexts on them. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_open, .fini = close_given);

/* The status of opening, with the message behind the target's name. */
static void expect_refused_open(enum kernel_form form, kw_status want_status, const char *want)
{
	kw_status status = kernel_open(g.k, form, &g.ctx);
	const char *got = strstr(kw_error(g.ctx), ": ");

	cr_expect_eq(status, want_status, "status %d instead of %d: %s", status, want_status,
		     kw_error(g.ctx));
	cr_assert_not_null(got, "%s", kw_error(g.ctx));
	cr_expect_eq(strncmp(got + 2, want, strlen(want)), 0, "got: %s\nwant: %s", got + 2, want);
	/* The context stays empty, and can be used again. */
	cr_expect_eq(kw_facts(g.ctx, &(struct kw_fact *){ 0 }, &(size_t){ 0 }), KW_INVALID);
	kw_free(g.ctx);
	g.ctx = NULL;
}

Test(kernel_open, memory_of_no_kernel)
{
	size_t size;

	g = given_tasks(NULL, "1 a\n");
	memset(kernel_ram(g.k, &size), 0, 0x100000);
	expect_refused_open(KERNEL_RAM, KW_UNREADABLE,
			    "no Linux kernel in this memory: no VMCOREINFO, and no page table");
	memset(kernel_ram(g.k, &size), 0xff, 0x100000);
	expect_refused_open(KERNEL_RAM, KW_UNREADABLE, "no Linux kernel in this memory");
	expect_refused_open(KERNEL_RAM_LIVE, KW_UNREADABLE, "no Linux kernel in this memory");
}

/* Found by its page table, and then by the shape of its tables. */
Test(kernel_open, without_vmcoreinfo)
{
	g = given_config(
		&(struct kernel_config){ .style = "5.10", .tasks = "1 a\n2 b\n", .no_vmcoreinfo = true });
	for (int form = KERNEL_RAM; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_rows(&g, KW_OK, "1 a\n2 b\n", .columns = "pid,comm");
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/* A page of the image that a dump lacks, for it held zeros or was free, is no obstacle to finding tables around it. */
Test(kernel_open, image_with_gaps)
{
	g = given_config(&(struct kernel_config){
		.style = "5.10", .tasks = "1 a\n2 b\n", .no_vmcoreinfo = true, .variables = "spare 4096\n" });
	kernel_exclude(g.k, kernel_symbol(g.k, "spare"));
	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_rows(&g, KW_OK, "1 a\n2 b\n", .columns = "pid,comm");
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/* kallsyms of 2,000 symbols is what the search wants: a small kernel without VMCOREINFO has no symbols. */
Test(kernel_open, without_symbols)
{
	kw_query *query;

	g = given_config(&(struct kernel_config){ .tasks = "1 a\n", .no_vmcoreinfo = true });
	given_open(&g, KERNEL_RAM);
	cr_expect_neq(kw_query_new(g.ctx, OPTIONS(.columns = "pid"), &query), KW_OK);
	cr_expect_not_null(strstr(kw_error(g.ctx), "with -k"), "%s", kw_error(g.ctx));
}

Test(kernel_open, without_the_symbols_of_processes)
{
	static const char *const hidden[] = { "init_pid_ns", "init_task" };

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		kw_query *query;

		g = given_config(&(struct kernel_config){ .tasks = "1 a\n", .hidden = hidden[i] });
		given_open(&g, KERNEL_RAM);
		cr_expect_eq(kw_query_new(g.ctx, OPTIONS(.columns = "pid"), &query), KW_UNREADABLE);
		cr_expect_not_null(strstr(kw_error(g.ctx),
					  ": the symbols lack init_pid_ns or init_task; pass the kernel's "
					  "vmlinux or System.map with -k"),
				   "%s", kw_error(g.ctx));
		given_close(&g);
	}
}

Test(kernel_open, without_types)
{
	kw_query *query;

	g = given_config(&(struct kernel_config){ .tasks = "1 a\n", .no_btf = true });
	given_open(&g, KERNEL_RAM);
	cr_expect_neq(kw_query_new(g.ctx, OPTIONS(.columns = "pid"), &query), KW_OK);
	cr_expect_not_null(strstr(kw_error(g.ctx), "types: no BTF can be found"), "%s", kw_error(g.ctx));
	cr_expect_not_null(strstr(kw_error(g.ctx), "with -k"), "%s", kw_error(g.ctx));
	/* Asked once more, it says the same. */
	cr_expect_neq(kw_query_new(g.ctx, OPTIONS(.columns = "pid"), &query), KW_OK);
	cr_expect_not_null(strstr(kw_error(g.ctx), "types: no BTF can be found"), "%s", kw_error(g.ctx));
}

Test(kernel_open, types_cut_short)
{
	uint64_t stop;
	kw_query *query;

	g = given_tasks(NULL, "1 a\n");
	stop = kernel_symbol(g.k, "__stop_BTF");
	kernel_fill(g.k, stop - 3000, 0, 3000);
	given_open(&g, KERNEL_RAM);
	cr_expect_neq(kw_query_new(g.ctx, OPTIONS(.columns = "pid"), &query), KW_OK);
	cr_expect_neq(kw_error(g.ctx)[0], '\0');
}

/* Types without what a walk needs. */
Test(kernel_open, types_without_a_member)
{
	kw_query *query;

	g = given_config(
		&(struct kernel_config){ .tasks = NULL,
					 .types = "struct idr { unsigned int idr_next; struct { "
						  "unsigned int xa_lock; void *xa_head; } idr_rt; };"
						  "struct pid { int level; struct hlist_head tasks[4]; "
						  "struct upid numbers[1]; };"
						  "struct xa_node { u8 offset; void *slots[64]; };" });
	given_open(&g, KERNEL_RAM);
	cr_expect_eq(kw_query_new(g.ctx, OPTIONS(.columns = "pid"), &query), KW_NOTFOUND);
	cr_expect_not_null(strstr(kw_error(g.ctx), "struct xa_node has no member shift"), "%s",
			   kw_error(g.ctx));
}

/* The note of a dump may be wrong, or of another kernel. */
Test(kernel_open, page_table_that_is_not_there)
{
	g = given_tasks(NULL, "1 a\n");
	kernel_exclude(g.k, kernel_symbol(g.k, "swapper_pg_dir"));
	expect_refused_open(
		KERNEL_ELF_PHYSICAL, KW_FORMAT,
		"the kernel's page table is not where the VMCOREINFO note says; the dump is damaged");
	/* With virtual addresses of its own the dump needs none. */
	given_open(&g, KERNEL_ELF_VIRTUAL);
	expect_rows(&g, KW_OK, "1\n", .columns = "pid");
}

Test(kernel_open, twice)
{
	g = given_tasks(NULL, "1 a\n");
	given_open(&g, KERNEL_RAM);
	cr_expect_eq(kw_open(g.ctx, "/dev/null", NULL), KW_INVALID);
	cr_expect_str_eq(kw_error(g.ctx), "the context has a target already: make another context");
	expect_rows(&g, KW_OK, "1\n", .columns = "pid");
}

Test(kernel_open, options_without_a_size)
{
	kw_ctx *ctx = kw_new();

	cr_expect_eq(kw_open(ctx, "/dev/null", &(struct kw_open_options){ 0 }), KW_INVALID);
	cr_expect_str_eq(kw_error(ctx), "kw_open_options.size is not set");
	kw_free(ctx);
	kw_free(NULL);
}

Test(kernel_open, clones)
{
	kw_ctx *twin = (void *)1, *third, *empty = kw_new();
	kw_status status;
	char *text;
	struct printer printer = { 0 };
	kw_query *query;

	cr_expect_eq(kw_clone(empty, &twin), KW_INVALID);
	cr_expect_str_eq(kw_error(empty), "nothing is open: call kw_open() first");
	cr_expect_eq(twin, (void *)1);
	kw_free(empty);

	g = given_tasks(NULL, SOME_TASKS);
	given_open(&g, KERNEL_RAM);
	cr_assert_eq(kw_clone(g.ctx, &twin), KW_OK);
	cr_assert_eq(kw_clone(twin, &third), KW_OK);
	/* Each has its own error. */
	cr_expect_eq(kw_query_new(twin, OPTIONS(.columns = "nosuch"), &query), KW_NOTFOUND);
	cr_expect_str_eq(kw_error(g.ctx), "");
	/* The target lives as long as one of them. */
	kw_free(g.ctx);
	kw_free(twin);
	g.ctx = third;
	query = bind_query(&g, OPTIONS(.columns = "pid", .sort = "-pid"));
	text = run_query(query, &printer, &status);
	cr_expect_str_eq(text, "300\n100\n2\n1\n");
	free(text);
	kw_query_free(query);
}

static const char *find_fact(const struct kw_fact *facts, size_t nr, const char *topic, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(facts[i].topic, topic) == 0 && strcmp(facts[i].name, name) == 0)
			return facts[i].value;
	return NULL;
}

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

static void expect_facts(struct given *given)
{
	struct kw_fact *facts;
	size_t nr;

	given_open(given, KERNEL_RAM);
	cr_assert_eq(kw_facts(given->ctx, &facts, &nr), KW_OK);
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "release"), KERNEL_RELEASE);
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "build_id"),
			 "00112233445566778899aabbccddeeff00112233");
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "kaslr_offset"), "0x19000000");
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "phys_base"), "-0x1a000000");
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "cpus"), "2");
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "uptime"), "1005.001 s");
	cr_expect_str_eq(find_fact(facts, nr, "target", "changes"), "no: frozen");
	cr_expect(begins(find_fact(facts, nr, "types", "origin"), "BTF from memory at __start_BTF: "));
	cr_expect_not_null(strstr(find_fact(facts, nr, "symbols", "origin"), "from kallsyms in memory"));
	free(facts);
}

Test(kernel_open, facts)
{
	in_every_style("1 a\n", expect_facts);
}

/* What is missing is said where it would stand; nothing fails. */
Test(kernel_open, facts_of_a_poor_kernel)
{
	struct kw_fact *facts;
	size_t nr;

	g = given_config(&(struct kernel_config){ .no_btf = true, .no_vmcoreinfo = true });
	given_open(&g, KERNEL_RAM_LIVE);
	cr_assert_eq(kw_facts(g.ctx, &facts, &nr), KW_OK);
	cr_expect(begins(find_fact(facts, nr, "types", "origin"), "types: no BTF can be found"));
	cr_expect_not_null(strstr(find_fact(facts, nr, "symbols", "origin"), "no symbols: "));
	cr_expect_str_eq(find_fact(facts, nr, "target", "changes"), "yes: it may change while it is read");
	free(facts);
}

/* A text of the target's goes to people's terminals. */
Test(kernel_open, hostile_release)
{
	struct kw_fact *facts;
	size_t nr, size;
	char *ram, *at;

	g = given_tasks(NULL, "1 a\n");
	ram = (char *)kernel_ram(g.k, &size);
	at = memmem(ram, size, "OSRELEASE=" KERNEL_RELEASE, 10 + strlen(KERNEL_RELEASE));
	cr_assert_not_null(at);
	memcpy(at + 10, "\xc2\x9b\t\xff", 4);
	given_open(&g, KERNEL_RAM);
	cr_assert_eq(kw_facts(g.ctx, &facts, &nr), KW_OK);
	cr_expect_str_eq(find_fact(facts, nr, "kernel", "release"), "????.0-kwalk");
	free(facts);
}

Test(kernel_open, version)
{
	cr_expect_str_eq(kw_version(), KW_VERSION);
}
