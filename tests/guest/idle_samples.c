/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks at the times of the CPUs of the live kernel again and again: run by idle.test in a guest.
 *
 *     idle_samples SAMPLES
 *
 * First so many samples with a short sleep before each, so that CPUs become idle and wake up: neither idle nor iowait may
 * go back, on any CPU. Then without sleeping for some seconds: what the CPUs did must add up to what /proc/stat says of
 * the same seconds, which is the time that has passed unless the guest was kept waiting itself and has lost ticks.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <kwalk/kwalk.h>

#define COLUMNS	 "cpu,idle,iowait,user,nice,system,irq,softirq,steal"
#define NR_TIMES 8
#define MAX_CPUS 64
#define SECONDS	 4

struct samples {
	unsigned int cpus;
	uint64_t last[MAX_CPUS][2]; /* idle, iowait */
	uint64_t total[MAX_CPUS];   /* all times */
	uint64_t backward, moved;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool take_cpu(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct samples *s = arg;
	uint64_t cpu = values[0].u;

	(void)row;
	if (cpu >= MAX_CPUS)
		return true;
	s->cpus = cpu + 1 > s->cpus ? (unsigned int)cpu + 1 : s->cpus;
	for (int i = 0; i < 2; i++) {
		s->backward += values[1 + i].u < s->last[cpu][i];
		s->moved += values[1 + i].u > s->last[cpu][i];
		s->last[cpu][i] = values[1 + i].u;
	}
	s->total[cpu] = 0;
	for (int i = 0; i < NR_TIMES; i++)
		s->total[cpu] += values[1 + i].u;
	return true;
}

static void look(kw_ctx *ctx, kw_query *query, struct samples *s)
{
	if (kw_query_run(query, take_cpu, s) != KW_OK) {
		printf("not ok idle-samples %s\n", kw_error(ctx));
		exit(1);
	}
}

static bool never_back(kw_ctx *ctx, kw_query *query, struct samples *s, unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		usleep(50 + i % 7 * 100);
		look(ctx, query, s);
	}
	printf("%s idle-samples %lu of %u CPUs, %" PRIu64 " times larger, %" PRIu64 " times less\n",
	       s->backward || s->moved < nr / 20 ? "not ok" : "ok", nr, s->cpus, s->moved, s->backward);
	return !s->backward;
}

/* The sum of the first line of /proc/stat, in ns; 0 when it can't be read. */
static uint64_t proc_stat(void)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t sum = 0, ticks;
	int nr = 0;

	if (!file)
		return 0;
	if (fscanf(file, "cpu") == 0)
		while (nr++ < NR_TIMES && fscanf(file, "%" SCNu64, &ticks) == 1)
			sum += ticks * 10000000;
	fclose(file);
	return sum;
}

static uint64_t sum_of(const struct samples *s)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		sum += s->total[cpu];
	return sum;
}

static bool add_up(kw_ctx *ctx, kw_query *query, struct samples *s)
{
	uint64_t begin = now_ns(), elapsed, first, want = proc_stat();
	double all, share, of_kernel;

	look(ctx, query, s);
	first = sum_of(s);
	do
		look(ctx, query, s);
	while (now_ns() - begin < SECONDS * 1000000000ULL);
	elapsed = now_ns() - begin;
	want = proc_stat() - want;
	all = (double)elapsed * s->cpus / 100;
	share = (double)(sum_of(s) - first) / all;
	of_kernel = (double)want / all;
	printf("%s idle-shares %.2f %% of %u CPUs, %.2f in /proc/stat\n",
	       share > of_kernel - 1 && share < of_kernel + 1 && share < 101 ? "ok" : "not ok", share,
	       s->cpus, of_kernel);
	return !s->backward;
}

int main(int argc, char **argv)
{
	struct kw_open_options options = { .size = sizeof(options) };
	struct kw_query_options what = { .size = sizeof(what), .source = "cpus", .columns = COLUMNS };
	struct samples samples = { 0 };
	kw_ctx *ctx = kw_new();
	kw_query *query;
	bool good;

	if (argc != 2 || !ctx || kw_open(ctx, "live", &options) || kw_query_new(ctx, &what, &query)) {
		printf("not ok idle-samples %s\n", ctx && argc == 2 ? kw_error(ctx) : "usage");
		return 1;
	}
	good = never_back(ctx, query, &samples, strtoul(argv[1], NULL, 10));
	good = add_up(ctx, query, &samples) && good;
	kw_query_free(query);
	kw_free(ctx);
	return !good;
}
