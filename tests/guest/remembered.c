/*
 * Compares rows that a query remembers with those of a new query, while the memory of a frozen guest is written to:
 *
 *     remembered RAM ROUNDS mapped|copied
 *
 * RAM is a copy, to be thrown away: a file whose bytes are the physical memory from 0 on. In each round some words of some
 * tasks, and of what their pointers lead to, get another value, and half of those written before the old one. All fields
 * of processes are asked for, some a query. Prints "N rows, N of them as they were, N words written", or what differs.
 */
#include <kwalk/kwalk.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/field_table.h"
#include "kernel/thread_sums.h"
#include "util/context.h"

#define COLUMNS	  24 /* of a query */
#define MOST	  16 /* queries */
#define WRITTEN	  24 /* words a round */
#define MOST_KEPT 4096
#define DEPTH	  3    /* pointers that are followed */
#define SPAN	  2048 /* bytes of what a pointer leads to */
#define TASK_SPAN 4096

struct word {
	size_t at;
	uint64_t was;
};

struct test {
	kw_ctx *ctx;
	char columns[MOST][1024];
	kw_query *query[MOST];
	size_t nr;
	uint8_t *ram;
	size_t size;
	uint64_t tasks[65536], seed, rows, same, written;
	size_t nr_tasks;
	struct word word[MOST_KEPT];
	size_t nr_words;
};

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "remembered: ");
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static uint64_t next_random(struct test *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return t->seed;
}

static kw_query *bind(struct test *t, const char *columns)
{
	struct kw_query_options options = { .size = sizeof(options), .columns = columns };
	kw_query *query;

	return kw_query_new(t->ctx, &options, &query) == KW_OK ? query : NULL;
}

static void make_queries(struct test *t)
{
	const struct kw_field *field;
	size_t nr = 0;

	for (size_t i = 0; (field = kw_field_at("tasks", i)); i++) {
		kw_query *query = bind(t, field->name);
		char *text;

		if (!query)
			continue;
		kw_query_free(query);
		if (nr / COLUMNS == MOST)
			die("too many fields");
		text = t->columns[nr / COLUMNS];
		snprintf(text + strlen(text), sizeof(t->columns[0]) - strlen(text), "%s%s", *text ? "," : "",
			 field->name);
		nr++;
	}
	t->nr = (nr + COLUMNS - 1) / COLUMNS;
	for (size_t i = 0; i < t->nr; i++)
		if (!(t->query[i] = bind(t, t->columns[i])))
			die("%s: %s", t->columns[i], kw_error(t->ctx));
}

struct printer {
	FILE *out;
	size_t nr;
	struct test *finds; /* tasks, or NULL */
};

static bool print_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct printer *p = arg;

	fprintf(p->out, "%d %" PRIx64, row->pid, row->address);
	for (size_t i = 0; i < p->nr; i++) {
		fprintf(p->out, "\t%d ", values[i].type);
		if (values[i].type == KW_VAL_ABSENT)
			fprintf(p->out, "%d", values[i].absent);
		else if (values[i].type == KW_VAL_STRING || values[i].type == KW_VAL_BYTES)
			fwrite(values[i].str, 1, values[i].len, p->out);
		else
			fprintf(p->out, "%" PRIx64, values[i].u);
	}
	fputc('\n', p->out);
	if (p->finds && p->finds->nr_tasks < sizeof(p->finds->tasks) / sizeof(p->finds->tasks[0]))
		p->finds->tasks[p->finds->nr_tasks++] = row->address;
	return true;
}

static char *list(kw_query *query, struct test *finds, size_t *ret_len)
{
	struct printer p = { .finds = finds };
	char *text = NULL;

	p.out = open_memstream(&text, ret_len);
	if (!p.out)
		die("out of memory");
	kw_query_columns(query, &p.nr);
	kw_query_run(query, print_row, &p);
	fclose(p.out);
	return text;
}

static void show_difference(const char *got, const char *want)
{
	while (*got == *want && *got)
		got++, want++;
	die("rows differ: got \"%.60s\", a new query gives \"%.60s\"", got, want);
}

static void compare(struct test *t, size_t i)
{
	kw_query *anew = bind(t, t->columns[i]);
	size_t got_len, want_len;
	char *got, *want;

	if (!anew)
		die("%s: %s", t->columns[i], kw_error(t->ctx));
	got = list(t->query[i], NULL, &got_len);
	want = list(anew, NULL, &want_len);
	if (got_len != want_len || memcmp(got, want, got_len) != 0) {
		fprintf(stderr, "%s\n", t->columns[i]);
		show_difference(got, want);
	}
	t->rows += kw_query_counts(t->query[i])->rows;
	t->same += kw_query_counts(t->query[i])->same;
	kw_query_free(anew);
	free(got);
	free(want);
}

/* A word in the file; NULL for memory that isn't there. */
static uint64_t *word_at(struct test *t, uint64_t address)
{
	uint64_t paddr;

	if (kw_translate(t->ctx, address & ~7ULL, &paddr) != KW_OK || paddr + 8 > t->size)
		return NULL;
	return (uint64_t *)(void *)(t->ram + paddr);
}

/* Somewhere in a task, or in what is found by following pointers. */
static uint64_t *find_word(struct test *t)
{
	uint64_t object = t->tasks[next_random(t) % t->nr_tasks], span = TASK_SPAN;
	uint64_t depth = next_random(t) % (DEPTH + 1);

	for (int tries = 0; depth && tries < 64; tries++) {
		uint64_t *pointer = word_at(t, object + next_random(t) % span), paddr;

		if (pointer && *pointer >> 47 == 0x1ffff && kw_translate(t->ctx, *pointer, &paddr) == KW_OK &&
		    paddr < t->size) {
			object = *pointer;
			span = SPAN;
			depth--;
		}
	}
	return word_at(t, object + next_random(t) % span);
}

static uint64_t another(struct test *t, uint64_t was)
{
	uint64_t random = next_random(t);

	switch (random % 6) {
	case 0: return 0;
	case 1: return was + 1;
	case 2: return was ^ 1ULL << (random >> 8) % 64;
	case 3: return t->tasks[(random >> 8) % t->nr_tasks] + (random >> 40) % 512 * 8;
	case 4: return was ^ (random & 0xff00ff00);
	default: return random;
	}
}

static void write_words(struct test *t)
{
	for (size_t i = 0; i < WRITTEN && t->nr_words < MOST_KEPT; i++) {
		uint64_t *word = find_word(t);

		if (!word)
			continue;
		t->word[t->nr_words++] = (struct word){ (size_t)((uint8_t *)word - t->ram), *word };
		*word = another(t, *word);
		t->written++;
	}
}

/* The last written first: a word may have been written to twice. */
static void restore_words(struct test *t, size_t nr)
{
	while (nr-- && t->nr_words) {
		const struct word *w = &t->word[--t->nr_words];

		memcpy(t->ram + w->at, &w->was, sizeof(w->was));
	}
}

static uint64_t count_reads(struct test *t, const char *column)
{
	kw_query *query = bind(t, column);
	uint64_t before;
	size_t len;

	if (!query)
		return 0;
	/* What is the same in all runs is found with the first. */
	free(list(query, NULL, &len));
	before = t->ctx->reads;
	free(list(query, NULL, &len));
	kw_query_free(query);
	return t->ctx->reads - before;
}

/*
 * What reads memory beside its paths says so: such fields also keep what they have found for the other rows of a run, which
 * does not show when a row is made. Those that read for a few tasks only need not: the rows of these are not remembered.
 */
static void expect_marked(struct test *t)
{
	static const char sometimes[] = " name nstgid nspid nspgid nssid ns_pid ";
	const struct kw_field *field;
	uint64_t least;

	least = count_reads(t, "state"); /* made of the task alone, and walked to as all others */
	for (size_t i = 0; (field = kw_field_at("tasks", i)); i++) {
		const struct kw_field_def *def = kw_field_def(field);
		char word[64];

		snprintf(word, sizeof(word), " %s ", field->name);
		if (def->uses & (KW_USES_MORE | KW_USES_CLOCK | KW_USES_USERS | KW_SUMS) ||
		    def->pub.cost == KW_COST_PERCPU || strstr(sometimes, word))
			continue;
		if (count_reads(t, field->name) > least)
			die("%s reads other memory: its uses want KW_USES_MORE", field->name);
	}
}

static void open_target(struct test *t, const char *path, bool copied)
{
	struct kw_open_options options = { .size = sizeof(options), .no_mmap = copied };
	int fd = open(path, O_RDWR);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die("%s can't be opened", path);
	t->size = (size_t)st.st_size;
	t->ram = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	t->ctx = kw_new();
	if (t->ram == MAP_FAILED || !t->ctx || kw_open(t->ctx, path, &options))
		die("%s: %s", path, t->ctx ? kw_error(t->ctx) : "out of memory");
	close(fd);
}

int main(int argc, char **argv)
{
	static struct test t = { .seed = 88172645463325252 };
	size_t len;

	if (argc != 4)
		die("usage: remembered RAM ROUNDS mapped|copied");
	open_target(&t, argv[1], strcmp(argv[3], "copied") == 0);
	make_queries(&t);
	expect_marked(&t);
	free(list(t.query[0], &t, &len));
	for (size_t i = 0; i < t.nr; i++)
		for (int k = 0; k < 3; k++)
			compare(&t, i);
	for (int round = 0; round < atoi(argv[2]); round++) {
		write_words(&t);
		for (size_t i = 0; i < t.nr; i++)
			compare(&t, i);
		restore_words(&t, round % 8 == 7 ? t.nr_words : WRITTEN / 2);
	}
	printf("%" PRIu64 " rows, %" PRIu64 " of them as they were, %" PRIu64 " words written\n", t.rows,
	       t.same, t.written);
	for (size_t i = 0; i < t.nr; i++)
		kw_query_free(t.query[i]);
	kw_free(t.ctx);
	return 0;
}
