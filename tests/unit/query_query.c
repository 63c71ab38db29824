/* Binding queries: what is refused and what is said of it, then how columns, aliases and headings are taken. */
#include "unit/kernel_given.h"

static struct given g;

static void have_tasks(void)
{
	g = given_config(&(struct kernel_config){
		.types =
			"enum colour { RED, GREEN = 7 };"
			"struct cred { atomic_t usage; kuid_t uid; kgid_t gid; kuid_t suid; kgid_t sgid; kuid_t euid;"
			"	kgid_t egid; kuid_t fsuid; kgid_t fsgid; enum colour colour; struct ucounts *ucounts;"
			"	struct group_info *group_info; struct kernel_cap_struct cap_inheritable, cap_permitted,"
			"	cap_effective, cap_bset, cap_ambient; struct user_namespace *user_ns; };",
		.tasks = SOME_TASKS });
	given_open(&g, KERNEL_RAM);
}

static void close_given(void)
{
	given_close(&g);
}

TestSuite(query_query, .init = have_tasks, .fini = close_given);

Test(query_query, unknown_columns)
{
	expect_refusal(&g, KW_NOTFOUND, "unknown column \"pidd\"; did you mean pid, tid or ppid?",
		       .columns = "pidd");
	expect_refusal(&g, KW_NOTFOUND,
		       "unknown column \"xyzzy\"; kwalk fields lists all, task.MEMBER is a raw path",
		       .columns = "pid,xyzzy");
	expect_refusal(&g, KW_NOTFOUND,
		       "unknown column \"static_prio\"; the member of task_struct is task.static_prio",
		       .columns = "static_prio");
	expect_refusal(&g, KW_NOTFOUND, "unknown column \" pid\"; did you mean pid, ppid or tid?",
		       .columns = "comm, pid");
	expect_refusal(&g, KW_NOTFOUND,
		       "unknown column \"\xff\x1b\"; kwalk fields lists all, task.MEMBER is a raw path",
		       .columns = "\xff\x1b");
	expect_refusal(&g, KW_NOTFOUND, "sort: unknown column \"rsss\"; did you mean rss?", .columns = "pid",
		       .sort = "-rsss");
}

Test(query_query, unknown_members)
{
	expect_refusal(
		&g, KW_NOTFOUND,
		"column: path \"signal.oom_score\": struct signal_struct has no member oom_score; did you mean oom_score_adj?",
		.columns = "task.signal.oom_score");
	expect_refusal(
		&g, KW_NOTFOUND,
		"column: path \"mm.totl_vm\": struct mm_struct has no member totl_vm; did you mean total_vm or data_vm?",
		.columns = "mm.totl_vm");
	expect_refusal(&g, KW_INVALID,
		       "column: path \"comm[16]\": index 16 is out of range, comm has 16 elements",
		       .columns = "task.comm[16]");
	expect_refusal(&g, KW_INVALID, "column: path \"mm.\": expected a member name at column 4",
		       .columns = "mm.");
	expect_refusal(&g, KW_INVALID,
		       "column \"task.se\": is of type struct sched_entity, not a value; name a member of it",
		       .columns = "task.se");
	expect_refusal(&g, KW_INVALID,
		       "column \"task.\": is of type struct task_struct, not a value; name a member of it",
		       .columns = "task.");
	expect_refusal(
		&g, KW_INVALID,
		"sort: column \"task.pid_links\": is of type struct hlist_node[4], not a value; name a member of it",
		.columns = "pid", .sort = "task.pid_links");
}

Test(query_query, empty_elements)
{
	expect_refusal(&g, KW_INVALID, "columns \"\": an element is empty", .columns = "");
	expect_refusal(&g, KW_INVALID, "columns \"pid,,comm\": an element is empty", .columns = "pid,,comm");
	expect_refusal(&g, KW_INVALID, "columns \"pid,\": an element is empty", .columns = "pid,");
	expect_refusal(&g, KW_INVALID, "columns \",\": an element is empty", .columns = ",");
	expect_refusal(&g, KW_INVALID, "sort keys \"\": an element is empty", .sort = "");
	expect_refusal(&g, KW_INVALID, "process IDs \"1,,2\": an element is empty", .pids = "1,,2");
	expect_refusal(&g, KW_INVALID, "users \"\": an element is empty", .users = "");
	expect_refusal(&g, KW_INVALID, "names \"a,\": an element is empty", .names = "a,");
	expect_refusal(&g, KW_NOTFOUND,
		       "unknown column \"\"; kwalk fields lists all, task.MEMBER is a raw path",
		       .columns = "=X");
	expect_refusal(&g, KW_NOTFOUND,
		       "sort: unknown column \"\"; kwalk fields lists all, task.MEMBER is a raw path",
		       .sort = "-");
}

Test(query_query, process_ids)
{
	expect_refusal(&g, KW_INVALID, "process ID \"x\" is not a number below 4194304", .pids = "x");
	expect_refusal(&g, KW_INVALID, "process ID \"-1\" is not a number below 4194304", .pids = "1,-1");
	expect_refusal(&g, KW_INVALID, "process ID \"4194304\" is not a number below 4194304",
		       .pids = "4194304");
	expect_refusal(&g, KW_INVALID, "process ID \"18446744073709551617\" is not a number below 4194304",
		       .pids = "18446744073709551617");
	expect_refusal(&g, KW_INVALID, "process ID \" 1\" is not a number below 4194304", .pids = " 1");
	expect_refusal(&g, KW_INVALID, "process ID \"1 2\" is not a number below 4194304", .pids = "1 2");
	expect_rows(&g, KW_OK, "", .columns = "pid", .pids = "4194303");
	expect_rows(&g, KW_OK, "", .columns = "pid", .pids = "0");
}

Test(query_query, users)
{
	expect_refusal(&g, KW_INVALID,
		       "user \"root\": a guest or dump has no user names here; give the number",
		       .users = "root");
	expect_refusal(&g, KW_INVALID,
		       "user \"4294967296\": a guest or dump has no user names here; give the number",
		       .users = "4294967296");
	expect_rows(&g, KW_OK, "", .columns = "pid", .users = "4294967295");
}

Test(query_query, sources)
{
	expect_refusal(&g, KW_INVALID, "unknown source \"task\"; did you mean tasks?", .source = "task");
	expect_refusal(&g, KW_INVALID, "unknown source \"sockets\"; kwalk fields lists all",
		       .source = "sockets");
	expect_refusal(
		&g, KW_INVALID,
		"rows of cpus are no processes: they can't be selected by ID, user or name, and have no forest",
		.source = "cpus", .pids = "1");
	expect_refusal(&g, KW_NOTFOUND, "unknown column \"usr\"; did you mean user?", .source = "cpus",
		       .columns = "usr");
	expect_rows(&g, KW_OK, "1\n0\n", .columns = "cpu", .source = "cpus", .sort = "-cpu");
	expect_rows(&g, KW_OK, "1\n", .columns = "cpu", .source = "cpus", .sort = "-cpu", .limit = 1);
	expect_refusal(&g, KW_INVALID, "unknown source \"\"; kwalk fields lists all", .source = "");
	expect_rows(&g, KW_OK, "1\n2\n100\n300\n", .columns = "tid", .source = "tasks");
	expect_rows(&g, KW_OK, "1\n2\n100\n101\n102\n300\n", .columns = "tid", .source = "threads");
}

Test(query_query, too_many)
{
	char text[2048];

	for (int i = 0; i < 257; i++)
		memcpy(text + 4 * i, "pid,", 4);
	text[4 * 257 - 1] = '\0';
	expect_refusal(&g, KW_INVALID, "more than 256 columns", .columns = text);
	expect_refusal(&g, KW_INVALID, "more than 256 sort keys", .sort = text);
	text[4 * 256 - 1] = '\0';
	kw_query_free(bind_query(&g, OPTIONS(.columns = text, .sort = text)));
}

/* As many strings made by fields as there may be: none is cut off. */
Test(query_query, many_strings_in_a_row)
{
	char columns[256 * 5], want[256 * 5 + 1];

	for (int i = 0; i < 256; i++) {
		memcpy(columns + 5 * i, "user,", 5);
		memcpy(want + 5 * i, "1000 ", 5);
	}
	columns[sizeof(columns) - 1] = '\0';
	memcpy(want + sizeof(want) - 2, "\n", 2);
	expect_rows(&g, KW_OK, want, .columns = columns, .pids = "300");
}

Test(query_query, headings)
{
	size_t nr;
	const struct kw_column *c;
	kw_query *query = bind_query(
		&g, OPTIONS(.columns = "pid,rsz,comm=NAME,task.signal.oom_score_adj=OOM,uid=,mm.map_count"));

	c = kw_query_columns(query, &nr);
	cr_assert_eq(nr, 6);
	cr_expect_str_eq(c[0].name, "pid");
	cr_expect_str_eq(c[0].header, "PID");
	cr_expect_str_eq(c[1].name, "rsz");
	cr_expect_str_eq(c[1].header, "RSS");
	cr_expect_eq(c[1].unit, KW_UNIT_BYTES);
	cr_expect_eq(c[1].display, KW_SHOW_KIB);
	cr_expect_str_eq(c[2].name, "comm");
	cr_expect_str_eq(c[2].header, "NAME");
	cr_expect_str_eq(c[3].name, "task.signal.oom_score_adj");
	cr_expect_str_eq(c[3].header, "OOM");
	cr_expect_eq(c[3].type, KW_VAL_INT);
	cr_expect_str_eq(c[4].header, "");
	cr_expect_str_eq(c[5].header, "mm.map_count");
	kw_query_free(query);
}

/* Every alias finds its field, and no two fields share a name. */
Test(query_query, aliases)
{
	const struct kw_field *field;

	for (size_t i = 0; (field = kw_field_at("tasks", i)); i++) {
		char aliases[256], *save = NULL;

		cr_expect_eq(kw_field_find("tasks", field->name), field, "%s", field->name);
		snprintf(aliases, sizeof(aliases), "%s", field->aliases);
		for (char *alias = strtok_r(aliases, ",", &save); alias; alias = strtok_r(NULL, ",", &save))
			cr_expect_eq(kw_field_find("tasks", alias), field, "%s of %s", alias, field->name);
		cr_expect_neq(field->help[0], '\0', "%s", field->name);
		cr_expect_neq(field->origin[0], '\0', "%s", field->name);
		cr_expect_eq(kw_field_available(g.ctx, "tasks", field), KW_OK, "%s: %s", field->name,
			     kw_error(g.ctx));
	}
	cr_expect_null(kw_field_find("tasks", ""));
	cr_expect_null(kw_field_find("tasks", "pid,"));
	cr_expect_null(kw_field_find("tasks", "nosuch"));
}

/* All fields at once, as a row of each style has them, and again as keys. */
Test(query_query, every_field_in_one_query)
{
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t s = 0; s < ARRAY_SIZE(styles); s++) {
		char columns[16384] = "";
		const struct kw_field *field;
		struct given other = given_tasks(styles[s], SOME_TASKS);
		struct printer printer = { 0 };
		kw_query *query;
		kw_status status;
		char *text;

		for (size_t i = 0; (field = kw_field_at("tasks", i)); i++) {
			strcat(columns, i ? "," : "");
			strcat(columns, field->name);
		}
		given_open(&other, KERNEL_RAM);
		query = bind_query(&other, OPTIONS(.columns = columns, .sort = columns, .source = "threads"));
		text = run_query(query, &printer, &status);
		cr_expect_eq(status, KW_OK, "%s: %s", styles[s], kw_error(other.ctx));
		cr_expect_eq(kw_query_counts(query)->rows, 6);
		/* The one thing that small kernels lack is what only real-time tasks and such with memory have. */
		cr_expect_null(strstr(text, "<this kernel"), "%s:\n%s", styles[s], text);
		free(text);
		kw_query_free(query);
		given_close(&other);
	}
}

Test(query_query, raw_paths)
{
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.signal.oom_score_adj", (uint16_t)-17);
	kw_free(g.ctx);
	given_open(&g, KERNEL_RAM);
	expect_rows(
		&g, KW_OK, "1 -17 100 init 1 1 0\n",
		.columns =
			"task.pid,task.signal.oom_score_adj,task->mm->total_vm,task.comm,task.pid | nosuch,"
			"task.thread_info.cpu,task.signal.is_child_subreaper",
		.pids = "1");
	/* Without "task.", where it can't be a field's name. */
	expect_rows(&g, KW_OK, "100 100\n", .columns = "mm.total_vm,nosuch|mm.total_vm", .pids = "1");
}

Test(query_query, enumerators_have_names)
{
	uint64_t colour = kernel_get(g.k, kernel_task(g.k, 1), "task_struct.real_cred");

	kernel_set(g.k, colour, "cred.colour", 7);
	kernel_set(g.k, kernel_task(g.k, 100), "task_struct.real_cred.colour", 3);
	kw_free(g.ctx);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 GREEN\n2 RED\n100 3\n300 RED\n", .columns = "pid,real_cred.colour");
}

Test(query_query, options_of_another_size)
{
	struct kw_query_options opts = { .size = offsetof(struct kw_query_options, pids),
					 .columns = "pid",
					 .pids = "x" };
	kw_query *query = NULL;

	/* An older program, which knew no pids: what lies behind its options is not looked at. */
	cr_expect_eq(kw_query_new(g.ctx, &opts, &query), KW_OK);
	kw_query_free(query);
	query = NULL;
	cr_expect_eq(kw_query_new(g.ctx, NULL, &query), KW_OK);
	kw_query_free(query);
	kw_query_free(NULL);
}

Test(query_query, nothing_is_open)
{
	kw_ctx *empty = kw_new();
	kw_query *query = (void *)1;

	cr_expect_eq(kw_query_new(empty, OPTIONS(.columns = "pid"), &query), KW_INVALID);
	cr_expect_str_eq(kw_error(empty), "nothing is open: call kw_open() first");
	cr_expect_eq(query, (void *)1);
	kw_free(empty);
}

Test(query_query, explain)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	kw_query *query = bind_query(&g, OPTIONS(.columns = "comm", .sort = "pid", .users = "0"));

	kw_query_explain(query, out);
	fclose(out);
	cr_expect_eq(strncmp(text, "select rows by\nnode 0   struct task_struct  bytes 0x", 51), 0, "%s",
		     text);
	cr_expect_not_null(strstr(text, "\norder rows by\nnode 0   struct task_struct"), "%s", text);
	cr_expect_not_null(strstr(text, "\nshow\nnode 0   struct task_struct"), "%s", text);
	free(text);
	kw_query_free(query);
}
