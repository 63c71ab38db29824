/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch_rss TARGET [ROWS [POLLS]]: once a second, the processes with the most resident memory and how each has changed.
 *
 * A process is recognised from one poll to the next by (process ID, start time). The ID alone is given to another
 * process sooner or later, and the difference would then be one between two strangers.
 *
 * The query is bound once and run again and again: symbols, types and the access plan are found only the first time.
 */
#include <kwalk/kwalk.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_ROWS 100

struct sample {
	int32_t pid;
	uint64_t start_time, rss;
};

/* What one poll has seen, and the poll before it. */
struct poll {
	struct sample now[MAX_ROWS], before[MAX_ROWS];
	size_t nr, nr_before;
	bool is_first;
};

static const struct sample *find_before(const struct poll *poll, const struct kw_row_identity *row)
{
	for (size_t i = 0; i < poll->nr_before; i++)
		if (poll->before[i].pid == row->pid && poll->before[i].start_time == row->start_time)
			return &poll->before[i];
	return NULL;
}

static void print_change(const struct poll *poll, const struct sample *before, uint64_t rss)
{
	if (poll->is_first)
		printf("%12s", "");
	else if (!before)
		printf("%12s", "new here");
	else
		printf("%+12" PRId64, ((int64_t)rss - (int64_t)before->rss) / 1024);
}

static bool take_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct poll *poll = arg;

	/* Kernel threads have no memory; sorted by it they come last. */
	if (values[0].type == KW_VAL_ABSENT || poll->nr == MAX_ROWS)
		return false;
	printf("%7d %12" PRIu64, row->pid, values[0].u / 1024);
	print_change(poll, find_before(poll, row), values[0].u);
	printf("  ");
	/* Without a name when that could not be read. */
	if (values[1].type == KW_VAL_STRING)
		kw_put_safe(stdout, values[1].str, values[1].len);
	putchar('\n');
	poll->now[poll->nr++] = (struct sample){ row->pid, row->start_time, values[0].u };
	return true;
}

static kw_status poll_once(kw_query *query, struct poll *poll)
{
	kw_status status;

	poll->nr = 0;
	printf("%7s %12s%12s  %s\n", "PID", "RSS KiB", "change", "COMMAND");
	status = kw_query_run(query, take_row, poll);
	for (size_t i = 0; i < poll->nr; i++)
		poll->before[i] = poll->now[i];
	poll->nr_before = poll->nr;
	poll->is_first = false;
	fflush(stdout);
	return status;
}

static kw_status watch(kw_ctx *ctx, const char *target, uint64_t rows, unsigned long polls)
{
	/* Rows of a sorted query carry their start time in kw_row_identity. */
	struct kw_query_options options = {
		.size = sizeof(options), .columns = "rss,comm", .sort = "-rss", .limit = rows
	};
	struct poll poll = { .is_first = true };
	kw_query *query;
	kw_status status = kw_open(ctx, target, NULL);

	if (status == KW_OK)
		status = kw_query_new(ctx, &options, &query);
	if (status != KW_OK)
		return status;
	for (unsigned long i = 0; i < polls && (status == KW_OK || status == KW_INCOMPLETE); i++) {
		if (i)
			sleep(1);
		status = poll_once(query, &poll);
	}
	kw_query_free(query);
	return status;
}

int main(int argc, char **argv)
{
	uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
	unsigned long polls = argc > 3 ? strtoul(argv[3], NULL, 10) : ULONG_MAX;
	kw_ctx *ctx;
	kw_status status;

	if (argc < 2 || !rows || rows > MAX_ROWS || !polls) {
		fprintf(stderr, "usage: watch_rss TARGET [ROWS (1 to %d) [POLLS]]\n", MAX_ROWS);
		return 2;
	}
	ctx = kw_new();
	if (!ctx)
		return 1;
	status = watch(ctx, argv[1], rows, polls);
	if (status != KW_OK)
		fprintf(stderr, "watch_rss: %s\n", kw_error(ctx));
	kw_free(ctx);
	return status == KW_OK ? 0 : 1;
}
