/* Where tasks sleep: stacks unwound by tables and by frame pointers, functions of modules. */
#include <elf.h>

#include "unit/kernel_given.h"

#define NEW_ENTRY                                                                                       \
	"struct orc_entry { short sp_offset, bp_offset; unsigned int sp_reg : 4, bp_reg : 4, type : 3," \
	"	signal : 1; };"
#define OLD_ENTRY \
	"struct orc_entry { short sp_offset, bp_offset; unsigned int sp_reg : 4, bp_reg : 4, type : 2, end : 1; };"
#define TYPES                                                                                           \
	"struct inactive_task_frame { unsigned long r15, r14, r13, r12, bx, bp, ret_addr; };"           \
	"struct mod_kallsyms { void *symtab; unsigned int num_symtab; char *strtab, *typetab; };"       \
	"struct module_memory { void *base; unsigned int size; };"                                      \
	"struct module { int state; struct list_head list; char name[56]; struct module_memory mem[2];" \
	"	struct mod_kallsyms *kallsyms; };"
/* In the order of their addresses, each in a page of its own. The symbols behind them make the tables. */
#define CODE                                                                                         \
	"_stext 64\nread_pipe 64\nwait_event 64\n__sched_text_start 0\n__schedule 64\nschedule 64\n" \
	"schedule_timeout 64\n__sched_text_end 64\n__lock_text_start 0\n__mutex_lock 64\n"           \
	"__lock_text_end 64\n_etext 64\n"
#define TABLES                                                                                               \
	"__start_orc_unwind_ip 4096\n__stop_orc_unwind_ip 4\n__start_orc_unwind 8192\n__stop_orc_unwind 4\n" \
	"modules 16\n"

#define NR_ENTRIES 1024

enum { REG_UNDEFINED, REG_PREV_SP_OLD, REG_SP = 3, REG_BP, REG_SP_OLD, REG_PREV_SP = 8 };

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_wchan, .fini = close_given);

/* The numbers that a kernel has for the same things. */
struct numbers {
	const char *entry;
	uint32_t sp, prev_sp, call;
};

static const struct numbers numbers[] = {
	{ OLD_ENTRY, REG_SP_OLD, REG_PREV_SP_OLD, 0 },
	{ NEW_ENTRY, REG_SP_OLD, REG_PREV_SP_OLD, 2 },
	{ NEW_ENTRY, REG_SP, REG_PREV_SP, 2 },
};

struct row {
	const char *function;
	int16_t sp_offset, bp_offset;
	uint32_t sp_reg, bp_reg, type;
};

static void put_entry(unsigned int i, const struct row *row)
{
	uint64_t ip = kernel_symbol(g.k, "__start_orc_unwind_ip") + i * 4,
		 at = kernel_symbol(g.k, "__start_orc_unwind") + i * 8;
	int32_t distance = (int32_t)(kernel_symbol(g.k, row->function) - ip);
	uint32_t bits = row->sp_reg | row->bp_reg << 4 | row->type << 8;

	kernel_write(g.k, ip, &distance, 4);
	kernel_write(g.k, at, &row->sp_offset, 2);
	kernel_write(g.k, at + 2, &row->bp_offset, 2);
	kernel_write(g.k, at + 4, &bits, 4);
}

/* __schedule has 16 bytes of its own and saves bp; schedule finds its caller by bp; the others have nothing. */
static void put_table(const struct numbers *n)
{
	const struct row rows[] = {
		{ "_stext", 8, 0, n->sp, REG_UNDEFINED, n->call },
		{ "__schedule", 32, -16, n->sp, n->prev_sp, n->call },
		{ "schedule", 16, -16, REG_BP, n->prev_sp, n->call },
		{ "schedule_timeout", 8, 0, n->sp, REG_UNDEFINED, n->call },
		{ "__sched_text_end", 0, 0, REG_UNDEFINED, REG_UNDEFINED, !n->call },
		{ "__mutex_lock", 24, 0, n->sp, REG_UNDEFINED, n->call },
		{ "__lock_text_end", 8, 0, n->sp, REG_UNDEFINED, n->call },
		{ "_etext", 8, 0, n->sp, REG_UNDEFINED, n->call },
	};

	for (unsigned int i = 0; i < NR_ENTRIES; i++)
		put_entry(i, &rows[i < ARRAY_SIZE(rows) ? i : ARRAY_SIZE(rows) - 1]);
}

static uint64_t in(const char *function, uint64_t offset)
{
	return kernel_symbol(g.k, function) + offset;
}

static uint64_t new_stack(int tid, uint64_t used)
{
	uint64_t stack = kernel_alloc(g.k, 16384, 4096);

	kernel_set(g.k, kernel_task(g.k, tid), "task_struct.stack", stack);
	kernel_set(g.k, kernel_task(g.k, tid), "task_struct.thread.sp", stack + 16384 - used);
	return stack + 16384 - used;
}

static void put_words(uint64_t at, const uint64_t *words, size_t nr)
{
	kernel_write(g.k, at, words, nr * 8);
}

/* Sleeps in read_pipe() by schedule_timeout(), schedule(), __schedule(); bp is what schedule() finds its frame by. */
static uint64_t put_sleeper(int tid)
{
	uint64_t sp = new_stack(tid, 512), frame = sp + 56;
	/* Of __schedule: two words, bp, what it returns to; of schedule: bp, what it returns to; of schedule_timeout. */
	uint64_t words[] = { 0,
			     0,
			     0,
			     0,
			     0, /* r15 to bx */
			     0, /* bp */
			     in("__schedule", 9),
			     1,
			     2,
			     frame + 48,
			     in("schedule", 9),
			     frame + 1024,
			     in("schedule_timeout", 9),
			     in("read_pipe", 9),
			     in("_stext", 9) };

	/* schedule's frame: bp + 16 is the caller's sp, which is behind the two words after __schedule's four */
	words[9] = frame + 32;
	put_words(sp, words, ARRAY_SIZE(words));
	return sp;
}

static void given_code(const char *style, const char *entry, const char *tasks, const char *tables)
{
	char types[2048], variables[1024];

	snprintf(types, sizeof(types), "%s%s", TYPES, entry);
	snprintf(variables, sizeof(variables), "%s%s", CODE, tables);
	g = given_config(&(struct kernel_config){
		.style = style, .types = types, .tasks = tasks, .variables = variables });
}

Test(kernel_wchan, by_tables)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		given_code(NULL, numbers[i].entry,
			   "1 a state=S\n2 b state=R\n3 c state=S on_rq=1\n4 d state=0x200\n",
			   TABLES "__get_wchan 8\n");
		put_table(&numbers[i]);
		for (int tid = 1; tid <= 4; tid++)
			put_sleeper(tid);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK,
			    "read_pipe read_pipe\n"
			    "<does not apply here> <does not apply here>\n"
			    "<does not apply here> <does not apply here>\n"
			    "<does not apply here> <does not apply here>\n",
			    .columns = "wchan,proc_wchan");
		given_close(&g);
	}
}

/* Any 64 bytes of a stack, and any tables, lead somewhere or nowhere, but the walk ends. */
Test(kernel_wchan, garbage)
{
	uint32_t random = 1;

	for (int round = 0; round < 50; round++) {
		given_code(NULL, NEW_ENTRY, "1 a state=S\n", TABLES);
		put_table(&numbers[1]);
		put_sleeper(1);
		for (int i = 0; i < 40; i++) {
			uint64_t at = i % 2 ? kernel_symbol(g.k, "__start_orc_unwind_ip") + random % 160
					    : kernel_get(g.k, kernel_task(g.k, 1), "task_struct.thread.sp") +
						      random % 120;

			random = random * 1664525 + 1013904223;
			kernel_write(g.k, at, &random, 1);
		}
		given_open(&g, KERNEL_RAM);
		{
			struct printer printer = { 0 };
			kw_query *query = bind_query(&g, OPTIONS(.columns = "wchan,proc_wchan"));
			kw_status status;

			free(run_query(query, &printer, &status));
			cr_expect_eq(kw_query_counts(query)->rows, 1);
			kw_query_free(query);
		}
		given_close(&g);
	}
}

Test(kernel_wchan, stack_pointers_that_are_none)
{
	static const uint64_t bad[] = { 0, 8, 16384 - 55, 16384, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		given_code(NULL, NEW_ENTRY, "1 a state=S\n", TABLES);
		put_table(&numbers[1]);
		kernel_set(g.k, kernel_task(g.k, 1), "task_struct.thread.sp",
			   put_sleeper(1) - (16384 - 512) + bad[i]);
		given_open(&g, KERNEL_RAM);
		/* On the first two there is a stack that has nothing on it. */
		expect_rows(&g, i < 2 ? KW_OK : KW_INCOMPLETE,
			    i < 2 ? "<does not apply here>\n" : "<damaged structure>\n", .columns = "wchan");
		given_close(&g);
	}
	given_code(NULL, NEW_ENTRY,
		   "1 a state=S stack=0xdead000000000000 thread.sp=0xdead000000000100\n"
		   "2 b state=D stack=0xffffffffffffff00 thread.sp=0xffffffffffffff10\n"
		   "3 z state=Z\n",
		   TABLES);
	put_table(&numbers[1]);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "<no memory at that address>\n<damaged structure>\n"
		    "<does not apply here>\n",
		    .columns = "wchan");
}

/* Before 5.16 the kernel followed frame pointers: without them it finds nothing, or what is there by chance. */
Test(kernel_wchan, by_frame_pointers)
{
	for (int found = 0; found < 2; found++) {
		uint64_t sp, chain[2];

		given_code("5.10", OLD_ENTRY, "1 a state=S\n", TABLES);
		put_table(&numbers[0]);
		sp = put_sleeper(1);
		if (found) {
			chain[0] = 0;
			chain[1] = in("wait_event", 1);
			kernel_write(g.k, sp + 40, &(uint64_t){ sp + 256 }, 8);
			put_words(sp + 256, chain, 2);
		}
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, found ? "read_pipe wait_event\n" : "read_pipe <does not apply here>\n",
			    .columns = "wchan,proc_wchan");
		given_close(&g);
	}
}

Test(kernel_wchan, without_tables)
{
	uint64_t sp;

	given_code(NULL, "", "1 a state=S\n", "__get_wchan 8\n");
	sp = put_sleeper(1);
	kernel_write(g.k, sp + 40, &(uint64_t){ sp + 256 }, 8);
	put_words(sp + 256, (uint64_t[]){ sp + 272, in("schedule", 9), 0, in("wait_event", 1) }, 4);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "wait_event wait_event\n", .columns = "wchan,proc_wchan");
	given_close(&g);
	g = given_tasks(NULL, "1 a state=S stack=0x1000\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such symbol>\n", .columns = "wchan");
}

static uint64_t put_symbols(const char *names, size_t size, const Elf64_Sym *symbols, uint32_t nr)
{
	uint64_t table = kernel_alloc(g.k, 64, 8), text = kernel_alloc(g.k, size, 8),
		 at = kernel_alloc(g.k, nr * sizeof(*symbols), 8);

	kernel_write(g.k, text, names, size);
	kernel_write(g.k, at, symbols, nr * sizeof(*symbols));
	kernel_set(g.k, table, "mod_kallsyms.symtab", at);
	kernel_set(g.k, table, "mod_kallsyms.num_symtab", nr);
	kernel_set(g.k, table, "mod_kallsyms.strtab", text);
	return table;
}

/* Nearest at or below, defined, with a name; the first of two at the same place. */
Test(kernel_wchan, in_a_module)
{
	static const char names[] = "\0before\0here\0twin\0undefined\0behind";
	const uint64_t base = 0xffffffffc0000000;
	const Elf64_Sym symbols[] = {
		{ 0 },
		{ .st_name = 1, .st_shndx = 1, .st_value = base },
		{ .st_name = 8, .st_shndx = 1, .st_value = base + 0x100 },
		{ .st_name = 13, .st_shndx = 1, .st_value = base + 0x100 },
		{ .st_name = 18, .st_shndx = 0, .st_value = base + 0x110 },
		{ .st_name = 0, .st_shndx = 1, .st_value = base + 0x118 },
		{ .st_name = 28, .st_shndx = 1, .st_value = base + 0x200 },
	};
	static const struct {
		uint64_t offset;
		uint32_t nr;
		const char *want;
	} cases[] = {
		{ 0x120, 7, "here\n" },
		{ 0xff, 7, "before\n" },
		{ 0xfff, 7, "behind\n" },
		{ 0x1000, 7, "<does not apply here>\n" },
		{ 0x120, 1, "<does not apply here>\n" },
		{ 0x120, 0xffffffff, "<damaged structure>\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t sp, module, table, head, node;

		given_code(NULL, NEW_ENTRY, "1 a state=S\n", TABLES);
		put_table(&numbers[1]);
		sp = put_sleeper(1);
		kernel_write(g.k, sp + 13 * 8, &(uint64_t){ base + cases[i].offset }, 8);
		module = kernel_alloc(g.k, 256, 64);
		table = put_symbols(names, sizeof(names), symbols, ARRAY_SIZE(symbols));
		kernel_set(g.k, table, "mod_kallsyms.num_symtab", cases[i].nr);
		kernel_set(g.k, module, "module.kallsyms", table);
		kernel_set(g.k, module, "module.mem[0].base", base);
		kernel_set(g.k, module, "module.mem[0].size", 0x1000);
		head = kernel_symbol(g.k, "modules");
		node = kernel_at(g.k, module, "module.list");
		put_words(head, (uint64_t[]){ node, node }, 2);
		put_words(node, (uint64_t[]){ head, head }, 2);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, cases[i].nr > 7 ? KW_INCOMPLETE : KW_OK, cases[i].want, .columns = "wchan");
		given_close(&g);
	}
}
