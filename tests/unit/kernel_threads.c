/*
 * Contexts on one target, used by several threads at once, all of which ask for everything that is found lazily.
 *
 * For ThreadSanitizer, which Criterion can't live with, the same as a program of its own:
 *
 *     clang -fsanitize=thread -DPLAIN_PROGRAM ... tests/unit/kernel_threads.c
 */
#ifdef PLAIN_PROGRAM
#include <assert.h>
#define cr_assert(truth, ...) assert(truth)
#endif

#include <kwalk/kwalk.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/kernel_image.h"

#ifndef PLAIN_PROGRAM
#include <criterion/criterion.h>
#endif

#define THREADS 8
#define ROUNDS	20

static const char tasks[] = "1 init vsz=100 rss=10,20,0,5\n2 kthreadd kthread\n100 bash ppid=1 uid=1000\n"
			    "100.101 worker utime=5\n300 sleep ppid=100\n";

struct work {
	pthread_t thread;
	kw_ctx *ctx;
	unsigned int nr;
	uint64_t sum; /* of all that was seen: the same in every thread */
};

static bool add_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	uint64_t *sum = arg;

	*sum = *sum * 31 + (uint64_t)row->tid + values[0].u;
	if (values[1].type == KW_VAL_STRING)
		for (uint32_t i = 0; i < values[1].len; i++)
			*sum = *sum * 31 + (unsigned char)values[1].str[i];
	return true;
}

static void run_query(struct work *work, const char *source)
{
	struct kw_query_options opts = { .size = sizeof(opts),
					 .source = source,
					 .columns = "rss,comm,user,time,start,task.signal.oom_score_adj",
					 .sort = "-time,comm" };
	kw_query *query = NULL;

	cr_assert(kw_query_new(work->ctx, &opts, &query) == KW_OK, "%s", kw_error(work->ctx));
	for (int i = 0; i < ROUNDS; i++)
		cr_assert(kw_query_run(query, add_row, &work->sum) == KW_OK, "%s", kw_error(work->ctx));
	kw_query_free(query);
}

static void look_around(struct work *work)
{
	struct kw_cross_difference *difference;
	struct kw_object object;
	struct kw_fact *facts;
	size_t nr, pids, listed;
	uint64_t addr;

	cr_assert(kw_symbol_address(work->ctx, "init_task", &addr) == KW_OK, "%s", kw_error(work->ctx));
	cr_assert(kw_symbol_address(work->ctx, "nosuch", &addr) == KW_NOTFOUND, "found");
	cr_assert(kw_object_find(work->ctx, "task(1).mm->total_vm", &object) == KW_OK, "%s",
		  kw_error(work->ctx));
	work->sum += object.value.u;
	cr_assert(kw_cross_check(work->ctx, &difference, &nr, &pids, &listed) == KW_OK, "%s",
		  kw_error(work->ctx));
	cr_assert(nr == 0 && pids == 4, "%zu", nr);
	free(difference);
	cr_assert(kw_facts(work->ctx, &facts, &nr) == KW_OK, "%s", kw_error(work->ctx));
	free(facts);
}

static void *do_work(void *arg)
{
	struct work *work = arg;

	/* Not all in the same order, so that each lazy thing has several firsts. */
	if (work->nr % 2)
		look_around(work);
	run_query(work, work->nr % 3 ? "tasks" : "threads");
	run_query(work, work->nr % 3 ? "threads" : "tasks");
	if (work->nr % 2 == 0)
		look_around(work);
	return NULL;
}

static void work_together(const char *style, enum kernel_form form)
{
	struct kernel_image *k = kernel_new(&(struct kernel_config){ .style = style, .tasks = tasks });
	struct work work[THREADS] = { 0 };
	kw_ctx *ctx;

	cr_assert(kernel_open(k, form, &ctx) == KW_OK, "%s", kw_error(ctx));
	for (unsigned int i = 0; i < THREADS; i++) {
		work[i].nr = i;
		cr_assert(kw_clone(ctx, &work[i].ctx) == KW_OK, "%s", kw_error(ctx));
	}
	/* The first context may go before its clones are used. */
	kw_free(ctx);
	for (unsigned int i = 0; i < THREADS; i++)
		cr_assert(!pthread_create(&work[i].thread, NULL, do_work, &work[i]), "no thread");
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(work[i].thread, NULL);
	for (unsigned int i = 0; i < THREADS; i++)
		kw_free(work[i].ctx);
	for (unsigned int i = 1; i < THREADS; i++)
		if (i % 6 == 1)
			cr_assert(work[i].sum == work[1].sum, "thread %u saw something else", i);
	kernel_free(k);
}

#ifdef PLAIN_PROGRAM
int main(void)
{
	for (int form = KERNEL_RAM; form <= KERNEL_ELF_VIRTUAL; form++) {
		work_together("5.10", form);
		work_together("6.12", form);
		work_together("7.2", form);
	}
	puts("done");
	return 0;
}
#else
Test(kernel_threads, mapped)
{
	work_together("6.12", KERNEL_RAM);
}

Test(kernel_threads, read_with_pread)
{
	work_together("5.10", KERNEL_RAM_PREAD);
}

Test(kernel_threads, live)
{
	work_together("7.2", KERNEL_RAM_LIVE);
}
#endif
