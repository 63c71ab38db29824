/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bench: pid and comm of every process, pass after pass, on frozen RAM.
 *
 *     bench_walk TARGET WAY PASSES [WAY PASSES]...
 *     bench_walk TARGET             # the same words from stdin, a WAY PASSES on each line, answered at once
 *
 * Ways:
 *   hand   what one would write for one kernel: a loop over init_task.tasks with constant offsets, on the same mapping
 *   kwalk  a query of the columns pid and comm, run again and again
 *   text   the same, made from "tasks select pid, comm"
 *
 * All ways look at the same bytes of each process and add them up, so that the sums must agree. Each answer is one
 * line: WAY TASKS SUM NS NS NS..., with the nanoseconds of each pass by itself. A pass is short beside a scheduler's
 * time slice, so on a machine with other work most passes, and with them the median, stay undisturbed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kwalk/kwalk.h>

#define MAX_PASSES 1000000

struct sum {
	uint64_t tasks, values;
};

struct bench {
	kw_ctx *ctx;
	kw_query *query, *text;
	/* By hand: what a person would have looked up once and written into the program. */
	uint64_t head, first; /* addresses of list_heads in the guest */
	/* From the guest's direct map to the mapping; other from `high` on, behind the hole in physical memory. */
	uint64_t slide, high, high_slide;
	uint64_t tasks, pid, comm; /* offsets in task_struct */
};

typedef struct sum (*pass_fn)(const struct bench *b);

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void die(const char *why)
{
	fprintf(stderr, "bench_walk: %s\n", why);
	exit(1);
}

static uint64_t offset_of(kw_ctx *ctx, const char *name)
{
	const struct kw_type *type;
	struct kw_member member;

	if (kw_type_find(ctx, "struct task_struct", &type) || kw_type_member(ctx, type, name, &member))
		die(kw_error(ctx));
	return member.bit_offset / 8;
}

/* From the guest's addresses to ours. */
static uint64_t slide_at(kw_ctx *ctx, uint64_t addr)
{
	const uint8_t *host = kw_view(ctx, addr, 8);

	if (!host)
		die("a task is not mapped");
	return (uint64_t)(uintptr_t)host - addr;
}

/* Where the hole is shows in the tasks themselves: a guest has one at most. */
static void find_slides(struct bench *b)
{
	uint64_t lowest = UINT64_MAX;

	for (uint64_t node = b->first; node != b->head;) {
		if (node < lowest)
			lowest = node;
		if (kw_read(b->ctx, node, &node, sizeof(node)))
			die(kw_error(b->ctx));
	}
	b->slide = slide_at(b->ctx, lowest);
	b->high = UINT64_MAX;
	for (uint64_t node = b->first; node != b->head;) {
		uint64_t slide = slide_at(b->ctx, node);

		if (slide != b->slide && node < b->high) {
			b->high = node;
			b->high_slide = slide;
		}
		if (kw_read(b->ctx, node, &node, sizeof(node)))
			die(kw_error(b->ctx));
	}
}

static void prepare_hand(struct bench *b)
{
	uint64_t init;

	b->tasks = offset_of(b->ctx, "tasks");
	b->pid = offset_of(b->ctx, "pid");
	b->comm = offset_of(b->ctx, "comm");
	if (kw_symbol_address(b->ctx, "init_task", &init) ||
	    kw_read(b->ctx, init + b->tasks, &b->first, sizeof(b->first)))
		die(kw_error(b->ctx));
	b->head = init + b->tasks;
	find_slides(b);
}

static struct sum pass_by_hand(const struct bench *b)
{
	struct sum sum = { 0 };
	uint64_t head = b->head, tasks = b->tasks, pid = b->pid, comm = b->comm;
	uint64_t low = b->slide, high = b->high, high_slide = b->high_slide;

	for (uint64_t node = b->first; node != head; sum.tasks++) {
		const uint8_t *task =
			(const uint8_t *)(uintptr_t)(node - tasks + (node < high ? low : high_slide));
		char name[16];

		sum.values += *(const uint32_t *)(const void *)(task + pid);
		memcpy(name, task + comm, sizeof(name));
		__asm__ volatile(""
				 :
				 : "r"(name)
				 : "memory"); /* all of it is read, as it would be to be shown */
		sum.values += (unsigned char)name[0];
		node = *(const uint64_t *)(const void *)(task + tasks);
	}
	return sum;
}

static void prepare_kwalk(struct bench *b)
{
	struct kw_query_options opts = { .size = sizeof(opts), .columns = "pid,comm" };

	if (kw_query_new(b->ctx, &opts, &b->query) ||
	    kw_query_compile(b->ctx, "tasks select pid, comm", &b->text))
		die(kw_error(b->ctx));
}

static bool add_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct sum *sum = arg;

	(void)row;
	sum->tasks++;
	sum->values += values[0].u;
	if (values[1].type == KW_VAL_STRING && values[1].len)
		sum->values += (unsigned char)values[1].str[0];
	return true;
}

static struct sum pass_of(const struct bench *b, kw_query *query)
{
	struct sum sum = { 0 };

	if (kw_query_run(query, add_row, &sum))
		die(kw_error(b->ctx));
	return sum;
}

static struct sum pass_of_kwalk(const struct bench *b)
{
	return pass_of(b, b->query);
}

static struct sum pass_of_text(const struct bench *b)
{
	return pass_of(b, b->text);
}

static const struct way {
	const char *name;
	pass_fn pass;
} ways[] = {
	{ "hand", pass_by_hand },
	{ "kwalk", pass_of_kwalk },
	{ "text", pass_of_text },
};

static pass_fn find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, name) == 0)
			return ways[i].pass;
	die("unknown way; there are hand, kwalk and text");
	return NULL;
}

/* The first pass only warms up: the other way has just used the caches. */
static void answer(const struct bench *b, const char *name, const char *passes_text)
{
	pass_fn pass = find_way(name);
	uint64_t passes = strtoull(passes_text, NULL, 10);
	uint64_t *ns;
	struct sum sum;

	if (!passes || passes > MAX_PASSES)
		die("the number of passes must be 1 to 1000000");
	ns = calloc(passes, sizeof(*ns));
	if (!ns)
		die("out of memory");
	sum = pass(b);
	for (uint64_t i = 0; i < passes; i++) {
		uint64_t start = now();
		struct sum again = pass(b);

		ns[i] = now() - start;
		if (again.tasks != sum.tasks || again.values != sum.values)
			die("two passes over frozen memory differ");
	}
	printf("%s %" PRIu64 " %" PRIu64, name, sum.tasks, sum.values);
	for (uint64_t i = 0; i < passes; i++)
		printf(" %" PRIu64, ns[i]);
	printf("\n");
	fflush(stdout);
	free(ns);
}

static void answer_stdin(const struct bench *b)
{
	char name[32], passes[32];

	while (scanf("%31s %31s", name, passes) == 2)
		answer(b, name, passes);
}

int main(int argc, char **argv)
{
	struct bench b = { .ctx = kw_new() };

	if (argc < 2 || argc % 2) {
		fprintf(stderr, "usage: bench_walk TARGET [hand|kwalk|text PASSES]...\n");
		return 2;
	}
	if (!b.ctx)
		die("out of memory");
	if (kw_open(b.ctx, argv[1], NULL))
		die(kw_error(b.ctx));
	prepare_hand(&b);
	prepare_kwalk(&b);
	for (int i = 2; i < argc; i += 2)
		answer(&b, argv[i], argv[i + 1]);
	if (argc == 2)
		answer_stdin(&b);
	kw_query_free(b.query);
	kw_query_free(b.text);
	kw_free(b.ctx);
	return 0;
}
