/* Objects by expressions: malformed ones and what is said of them first. */
#include "unit/kernel_given.h"

static struct given g;

static void have_kernel(void)
{
	g = given_tasks(NULL,
			"1 init vsz=100 ppid=0\n2 kthreadd kthread\n100 bash ppid=1 uid=7\n100.101 t\n");
	kernel_set(g.k, kernel_task(g.k, 100), "task_struct.mm.map_count", 33);
	given_open(&g, KERNEL_RAM);
}

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_object, .init = have_kernel, .fini = close_given);

static void expect_error(const char *expr, kw_status want_status, const char *want)
{
	struct kw_object object = { .address = 77 };
	kw_status status = kw_object_find(g.ctx, expr, &object);

	cr_expect_eq(status, want_status, "%s: status %d instead of %d", expr, status, want_status);
	cr_expect_str_eq(kw_error(g.ctx), want, "%s\ngot:  %s\nwant: %s", expr, kw_error(g.ctx), want);
	cr_expect_eq(object.address, 77, "%s: changed on failure", expr);
}

static void expect_value(const char *expr, uint64_t address, const char *want)
{
	struct kw_object object;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	kw_status status = kw_object_find(g.ctx, expr, &object);

	cr_assert_eq(status, KW_OK, "%s: %d: %s", expr, status, kw_error(g.ctx));
	cr_expect_eq(object.address, address, "%s: at 0x%lx instead of 0x%lx", expr, object.address, address);
	if (object.is_value) {
		print_value(out, &object.value);
	} else {
		char name[128];

		kw_type_name(g.ctx, object.type, name, sizeof(name));
		fputs(name, out);
	}
	fclose(out);
	cr_expect_str_eq(text, want, "%s: %s instead of %s", expr, text, want);
	free(text);
}

Test(kernel_object, malformed)
{
	static const struct {
		const char *expr, *error;
	} cases[] = {
		{ "",
		  "expression \"\": expected a symbol, an address, per_cpu(SYMBOL, CPU) or task(PID) at column 1" },
		{ "  ",
		  "expression \"  \": expected a symbol, an address, per_cpu(SYMBOL, CPU) or task(PID) at column 3" },
		{ ".pid",
		  "expression \".pid\": expected a symbol, an address, per_cpu(SYMBOL, CPU) or task(PID) at column 1" },
		{ "*init_task",
		  "expression \"*init_task\": expected a symbol, an address, per_cpu(SYMBOL, CPU) or task(PID) "
		  "at column 1" },
		{ "(struct task_struct",
		  "expression \"(struct task_struct\": expected a ) after the type at column 1" },
		{ "()init_task", "expression \"()init_task\": expected a type at column 1" },
		{ "( * )init_task", "expression \"( * )init_task\": expected a type at column 1" },
		{ "(struct task_struct)",
		  "expression \"(struct task_struct)\": expected a symbol, an address, per_cpu(SYMBOL, "
		  "CPU) or task(PID) at column 21" },
		{ "0x1000",
		  "expression \"0x1000\": expected a cast such as (struct task_struct) before the address at column 1" },
		{ "(struct pid)0xzz", "expression \"(struct pid)0xzz\": expected ., -> or [ at column 14" },
		{ "init_task comm", "expression \"init_task comm\": expected ., -> or [ at column 11" },
		{ "task(", "expression \"task(\": expected a number at column 6" },
		{ "task(x)", "expression \"task(x)\": expected a number at column 6" },
		{ "task(1", "expression \"task(1\": expected ) at column 7" },
		{ "task(-1)", "expression \"task(-1)\": expected a number at column 6" },
		{ "task(4194304)", "expression \"task(4194304)\": expected a smaller number at column 6" },
		{ "task(99999999999999999999999)",
		  "expression \"task(99999999999999999999999)\": expected a smaller number at column 6" },
		{ "per_cpu()", "expression \"per_cpu()\": expected a per-CPU symbol at column 9" },
		{ "per_cpu(runqueues)",
		  "expression \"per_cpu(runqueues)\": expected , and a CPU at column 18" },
		{ "per_cpu(runqueues,)",
		  "expression \"per_cpu(runqueues,)\": expected a number at column 19" },
		{ "per_cpu(runqueues, 8192)",
		  "expression \"per_cpu(runqueues, 8192)\": expected a smaller number at column 20" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_error(cases[i].expr, KW_INVALID, cases[i].error);
}

Test(kernel_object, malformed_paths)
{
	expect_error("init_task.", KW_INVALID,
		     "expression \"init_task.\": expected a member name at column 11");
	expect_error("init_task-> ", KW_INVALID,
		     "expression \"init_task-> \": expected a member name at column 12");
	expect_error("init_task..comm", KW_NOTFOUND, "init_task.: no such symbol in this kernel");
	expect_error("task(1).comm[99]", KW_INVALID,
		     "path \"comm[99]\": index 99 is out of range, comm has 16 elements");
	expect_error("task(1).pid.x", KW_INVALID, "path \"pid.x\": .x: a value of type pid_t has no members");
	expect_error("task(1).comn", KW_NOTFOUND,
		     "path \"comn\": struct task_struct has no member comn; did you mean comm?");
}

Test(kernel_object, too_long)
{
	char text[3000];

	memset(text, 'a', sizeof(text));
	text[2048] = '\0';
	expect_error(text, KW_INVALID, "the expression is longer than 2047 bytes");
	text[2047] = '\0';
	/* Longer than a symbol can be. */
	cr_expect_eq(kw_object_find(g.ctx, text, &(struct kw_object){ 0 }), KW_INVALID);
	text[0] = '(';
	text[400] = ')';
	cr_expect_eq(kw_object_find(g.ctx, text, &(struct kw_object){ 0 }), KW_INVALID);
}

Test(kernel_object, unknown_names)
{
	expect_error("nosuch", KW_NOTFOUND, "nosuch: no such symbol in this kernel");
	expect_error("(struct nosuch)init_task", KW_NOTFOUND,
		     "expression \"(struct nosuch)init_task\": struct nosuch: the kernel has no such type");
	expect_error(
		"linux_banner", KW_INVALID,
		"the type of \"linux_banner\" is not known: BTF has none for most variables; say it, as in "
		"'(struct list_head)linux_banner', or give the vmlinux with debug information with -k");
	expect_error("task(3)", KW_NOTFOUND, "there is no process 3");
	expect_error("task(101)", KW_NOTFOUND, "there is no process 101");
	expect_error("per_cpu(nosuch, 0)", KW_NOTFOUND, "nosuch: no such symbol in this kernel");
	expect_error("per_cpu(runqueues, 2)", KW_NOTFOUND, "runqueues: there is no CPU 2");
}

Test(kernel_object, pointers_that_lead_nowhere)
{
	expect_error("task(2).mm->total_vm", KW_ABSENT,
		     "expression \"task(2).mm->total_vm\": a pointer on the way is NULL");
	expect_error(
		"(struct task_struct)0x1000.mm.total_vm", KW_ABSENT,
		"expression \"(struct task_struct)0x1000.mm.total_vm\": 0x1080: no memory at that address");
	expect_error("(struct list_head *)init_pid_ns", KW_ABSENT,
		     "expression \"(struct list_head *)init_pid_ns\": a pointer on the way is NULL");
}

/* The table that can't be read does not tell that there is no such process. */
Test(kernel_object, a_process_table_that_can_not_be_read)
{
	uint64_t page;

	kw_free(g.ctx);
	page = kernel_alloc(g.k, 4096, 4096);
	kernel_exclude(g.k, page);
	kernel_idr_store(g.k, 3, page);
	/* The list of all processes tells what the table can't. */
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_error("task(3)", KW_NOTFOUND, "there is no process 3");
	kw_free(g.ctx);
	kernel_set(g.k, kernel_symbol(g.k, "init_task"), "task_struct.tasks.next", page);
	given_open(&g, KERNEL_ELF_PHYSICAL);
	expect_error("task(3)", KW_EXCLUDED, "process 3: excluded when the dump was made");
	expect_error("task(4)", KW_NOTFOUND, "there is no process 4");
}

Test(kernel_object, values)
{
	uint64_t init = kernel_task(g.k, 1), bash = kernel_task(g.k, 100);

	expect_value("init_task.comm", kernel_at(g.k, kernel_symbol(g.k, "init_task"), "task_struct.comm"),
		     "swapper/0");
	expect_value("task(1).pid", kernel_at(g.k, init, "task_struct.pid"), "1");
	expect_value(" task( 100 ) . mm -> map_count", kernel_at(g.k, bash, "task_struct.mm.map_count"),
		     "33");
	expect_value("task(0x64).real_parent->comm", kernel_at(g.k, init, "task_struct.comm"), "init");
	expect_value("task(100).real_cred->uid", kernel_at(g.k, bash, "task_struct.real_cred.uid"), "7");
	expect_value("task(2).mm", kernel_at(g.k, kernel_task(g.k, 2), "task_struct.mm"), "0x0");
	expect_value("&init_task.pid", kernel_at(g.k, kernel_symbol(g.k, "init_task"), "task_struct.pid"),
		     "0");
	expect_value("nr_cpu_ids", kernel_symbol(g.k, "nr_cpu_ids"), "2");
	expect_value("(char)linux_banner", kernel_symbol(g.k, "linux_banner"), "76");
}

Test(kernel_object, objects)
{
	uint64_t init = kernel_task(g.k, 1);
	char expr[64];

	expect_value("init_task", kernel_symbol(g.k, "init_task"), "struct task_struct");
	expect_value("task(1)", init, "struct task_struct");
	expect_value("task(1).tasks", kernel_at(g.k, init, "task_struct.tasks"), "struct list_head");
	expect_value("task(1).mm[0]", kernel_get(g.k, init, "task_struct.mm"), "struct mm_struct");
	snprintf(expr, sizeof(expr), "(struct task_struct)0x%lx", init);
	expect_value(expr, init, "struct task_struct");
	snprintf(expr, sizeof(expr), "(struct task_struct *)0x%lx.comm", init);
	expect_value(expr, kernel_at(g.k, init, "task_struct.comm"), "init");
	snprintf(expr, sizeof(expr), "( struct  task_struct )0x%lx.comm", init);
	expect_value(expr, kernel_at(g.k, init, "task_struct.comm"), "init");
	/* The variable is a pointer, which is followed. */
	expect_value("(struct rq *)__per_cpu_offset",
		     kernel_get(g.k, kernel_symbol(g.k, "__per_cpu_offset"), "list_head.next"), "struct rq");
}

Test(kernel_object, per_cpu)
{
	struct kw_object object;

	for (int cpu = 0; cpu < 2; cpu++) {
		char expr[64];

		snprintf(expr, sizeof(expr), "per_cpu(runqueues, %d).nr_running", cpu);
		cr_assert_eq(kw_object_find(g.ctx, expr, &object), KW_OK, "%s", kw_error(g.ctx));
		cr_expect_eq(object.value.u, (uint64_t)cpu + 1);
	}
	cr_assert_eq(kw_object_find(g.ctx, "per_cpu( runqueues ,1 )", &object), KW_OK, "%s", kw_error(g.ctx));
	cr_expect_not(object.is_value);
	expect_error("runqueues.nr_running", KW_INVALID,
		     "\"runqueues\": each CPU has its own; say of which, as in per_cpu(runqueues, 0)");
}

/* Since 6.15 the linker's copy has an address like everything else, where something else is by now. */
Test(kernel_object, per_cpu_without_a_cpu)
{
	given_close(&g);
	g = given_tasks("7.2", "1 a\n");
	given_open(&g, KERNEL_RAM);
	expect_error("runqueues.nr_running", KW_INVALID,
		     "\"runqueues\": each CPU has its own; say of which, as in per_cpu(runqueues, 0)");
}

/* A value that can't be read is one all the same, with its reason. */
Test(kernel_object, values_that_are_not_there)
{
	struct kw_object object;

	cr_assert_eq(kw_object_find(g.ctx, "(struct task_struct)0x1000.pid", &object), KW_OK, "%s",
		     kw_error(g.ctx));
	cr_expect(object.is_value);
	cr_expect_eq(object.value.type, KW_VAL_ABSENT);
	cr_expect_eq(object.value.absent, KW_ABSENT_UNMAPPED);
}

Test(kernel_object, nothing_is_open)
{
	kw_ctx *empty = kw_new();
	struct kw_object object;

	cr_expect_eq(kw_object_find(empty, "init_task", &object), KW_INVALID);
	cr_expect_str_eq(kw_error(empty), "nothing is open: call kw_open() first");
	kw_free(empty);
}
