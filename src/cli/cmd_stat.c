/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kwalk stat: what the system did, in all, per CPU or per interrupt, since boot and then in each interval.
 *
 * A sample is the rows of one run of a query of counters. What is printed of a row is the difference to the same row of
 * the sample before: shares of the time that went by for the times, a rate for the counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

#define MAX_COLUMNS 32

/* What becomes of a column. */
enum kind {
	AS_IT_IS,
	SHARE, /* of the sum of the shares of the row */
	RATE,  /* per second */
};

struct column {
	const char *field, *name, *header;
	enum kind kind;
};

/* guest is part of user and guest_nice of nice: SHARE_USER and so on take them out, so that the shares add up. */
static const struct column system_columns[] = {
	{ "procs_running", "running", "RUN", AS_IT_IS },
	{ "procs_blocked", "blocked", "BLOCKED", AS_IT_IS },
	{ "processes", "forks_per_s", "FORKS/S", RATE },
	{ "ctxt", "ctxt_per_s", "CTXT/S", RATE },
	{ "intr", "intr_per_s", "INTR/S", RATE },
	{ "softirqs", "softirqs_per_s", "SOFTIRQ/S", RATE },
	{ "user", "user", "USER", SHARE },
	{ "nice", "nice", "NICE", SHARE },
	{ "system", "system", "SYSTEM", SHARE },
	{ "idle", "idle", "IDLE", SHARE },
	{ "iowait", "iowait", "IOWAIT", SHARE },
	{ "irq", "irq", "IRQ", SHARE },
	{ "softirq", "softirq", "SOFTIRQ", SHARE },
	{ "steal", "steal", "STEAL", SHARE },
	{ "guest", "guest", "GUEST", SHARE },
	{ "guest_nice", "guest_nice", "GUESTNICE", SHARE },
};

static const struct column cpu_columns[] = {
	{ "cpu", "cpu", "CPU", AS_IT_IS },	    { "online", "online", "ONLINE", AS_IT_IS },
	{ "ctxt", "ctxt_per_s", "CTXT/S", RATE },   { "intr", "intr_per_s", "INTR/S", RATE },
	{ "user", "user", "USER", SHARE },	    { "nice", "nice", "NICE", SHARE },
	{ "system", "system", "SYSTEM", SHARE },    { "idle", "idle", "IDLE", SHARE },
	{ "iowait", "iowait", "IOWAIT", SHARE },    { "irq", "irq", "IRQ", SHARE },
	{ "softirq", "softirq", "SOFTIRQ", SHARE }, { "steal", "steal", "STEAL", SHARE },
	{ "guest", "guest", "GUEST", SHARE },	    { "guest_nice", "guest_nice", "GUESTNICE", SHARE },
};

static const struct column irq_columns[] = {
	{ "label", "label", "LABEL", AS_IT_IS },
	{ "count", "per_s", "PER S", RATE },
	{ "name", "name", "NAME", AS_IT_IS },
};

struct sample {
	struct kw_value *item; /* rows of values; strings are copies */
	size_t nr, cap;
	bool failed;
};

struct stat {
	struct cli *cli;
	const char *source;
	const struct column *columns;
	size_t nr;
	bool counters;
	kw_query *query, *clock; /* the clock is read with each sample */
	struct kw_column shown[MAX_COLUMNS + 1];
	struct sample now, before;
	double uptime; /* s, of the sample; below 0 when it is not known */
	kw_writer *writer;
};

static void forget(struct sample *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->item[i].type == KW_VAL_STRING)
			free((char *)s->item[i].str);
	s->nr = 0;
}

static bool keep(struct sample *s, struct kw_value value)
{
	if (value.type == KW_VAL_STRING) {
		char *copy = malloc(value.len + 1);

		if (!copy)
			return false;
		memcpy(copy, value.str, value.len);
		value.str = copy;
	}
	if (s->nr == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 256;
		struct kw_value *grown = reallocarray(s->item, cap, sizeof(*grown));

		if (!grown)
			return false;
		s->item = grown;
		s->cap = cap;
	}
	s->item[s->nr++] = value;
	return true;
}

static bool take_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct stat *stat = arg;

	(void)row;
	for (size_t i = 0; i < stat->nr && !stat->now.failed; i++)
		stat->now.failed = !keep(&stat->now, values[i]);
	return !stat->now.failed;
}

static bool take_uptime(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)row;
	if (values[0].type != KW_VAL_ABSENT)
		*(double *)arg = (double)values[0].u / 1e9;
	return true;
}

static bool same_row(const struct kw_value *a, const struct kw_value *b)
{
	if (a->type != b->type)
		return false;
	return a->type == KW_VAL_STRING ? a->len == b->len && memcmp(a->str, b->str, a->len) == 0
					: a->u == b->u;
}

/* The same row in the sample before, at or behind place i; NULL when it is new. The first column names it. */
static const struct kw_value *row_before(const struct stat *stat, const struct kw_value *row, size_t i)
{
	const struct sample *s = &stat->before;

	if (strcmp(stat->source, "system") == 0)
		return s->nr ? s->item : NULL;
	for (size_t tries = 0; tries < s->nr; tries += stat->nr)
		if (same_row(row, &s->item[(i + tries) % s->nr]))
			return &s->item[(i + tries) % s->nr];
	return NULL;
}

static size_t place(const struct stat *stat, const char *field)
{
	size_t i = 0;

	while (strcmp(stat->columns[i].field, field) != 0)
		i++;
	return i;
}

/* How much a counter has grown; one that went back was reset. */
static double growth(const struct kw_value *row, const struct kw_value *before, size_t i)
{
	uint64_t old = before && before[i].type == KW_VAL_UINT ? before[i].u : 0;

	return row[i].type == KW_VAL_UINT && row[i].u > old ? (double)(row[i].u - old) : 0;
}

static void take_out_guests(const struct stat *stat, double *grown)
{
	static const char *const pairs[][2] = { { "user", "guest" }, { "nice", "guest_nice" } };

	for (size_t i = 0; i < 2; i++) {
		double *whole = &grown[place(stat, pairs[i][0])], guest = grown[place(stat, pairs[i][1])];

		*whole = *whole > guest ? *whole - guest : 0;
	}
}

static struct kw_value number(double f)
{
	return (struct kw_value){ .type = KW_VAL_FLOAT, .f = f };
}

/* Make what is shown of a row. Where no time has gone by, as in a frozen target, there are no rates and no shares. */
static void derive(const struct stat *stat, const struct kw_value *row, const struct kw_value *before,
		   double seconds, struct kw_value *out)
{
	static const struct kw_value none = { .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
	double grown[MAX_COLUMNS], total = 0;

	for (size_t i = 0; i < stat->nr; i++)
		grown[i] = growth(row, before, i);
	if (strcmp(stat->source, "irqs") != 0)
		take_out_guests(stat, grown);
	for (size_t i = 0; i < stat->nr; i++)
		total += stat->columns[i].kind == SHARE ? grown[i] : 0;
	for (size_t i = 0; i < stat->nr; i++) {
		enum kind kind = stat->columns[i].kind;

		if (kind == AS_IT_IS || row[i].type == KW_VAL_ABSENT)
			out[i] = row[i];
		else if (kind == SHARE)
			out[i] = total > 0 ? number(100 * grown[i] / total) : none;
		else
			out[i] = seconds > 0 ? number(grown[i] / seconds) : none;
	}
}

/* One row after the other, as long as it takes: the widths can't wait for the last. */
static void print_line(const struct stat *stat, const struct kw_value *values, bool header)
{
	for (size_t i = 0; header && !stat->cli->no_headers && i <= stat->nr; i++)
		printf("%*s%s", i ? 7 : 9, stat->shown[i].header, i < stat->nr ? " " : "\n");
	for (size_t i = 0; i <= stat->nr; i++) {
		int width = (int)strlen(stat->shown[i].header), least = i ? 7 : 9;

		width = width > least ? width : least;
		if (values[i].type == KW_VAL_FLOAT)
			printf("%*.1f", width, values[i].f);
		else if (values[i].type == KW_VAL_ABSENT)
			printf("%*s", width, "-");
		else
			printf("%*" PRIu64, width, values[i].u);
		putchar(i < stat->nr ? ' ' : '\n');
	}
	fflush(stdout);
}

static bool goes_on_in_a_table(const struct stat *stat)
{
	return stat->cli->format == KW_FORMAT_TABLE && strcmp(stat->source, "system") == 0 && !stat->counters;
}

static bool begin(struct stat *stat, int *code)
{
	if (stat->writer)
		return true;
	*code = cli_writer(stat->cli, stat->shown, stat->nr + 1, false, &stat->writer);
	return !*code;
}

/* A table is complete, and printed, with each sample; the other formats go on. */
static int end_sample(struct stat *stat, bool last)
{
	int code = EXIT_OK;

	if (last || stat->cli->format == KW_FORMAT_TABLE) {
		code = cli_writer_end(stat->cli, stat->writer, EXIT_OK);
		stat->writer = NULL;
	}
	fflush(stdout);
	return code;
}

static int print_sample(struct stat *stat, double seconds, bool last)
{
	int code = EXIT_OK;

	if (!goes_on_in_a_table(stat) && !begin(stat, &code))
		return code;
	for (size_t i = 0; i < stat->now.nr; i += stat->nr) {
		const struct kw_value *row = &stat->now.item[i];
		struct kw_value out[MAX_COLUMNS + 1] = {
			{ .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NO_SYMBOL },
		};

		if (stat->uptime >= 0)
			out[0] = number(stat->uptime);
		if (stat->counters)
			memcpy(out + 1, row, stat->nr * sizeof(*out));
		else
			derive(stat, row, row_before(stat, row, i), seconds, out + 1);
		if (goes_on_in_a_table(stat))
			print_line(stat, out, !stat->before.nr);
		else
			kw_writer_row(stat->writer, out, 0);
	}
	return goes_on_in_a_table(stat) ? code : end_sample(stat, last);
}

static int sample(struct stat *stat, bool last)
{
	double before = stat->before.nr ? stat->uptime : 0;
	kw_status status, damage = KW_OK;
	int code;

	forget(&stat->now);
	stat->uptime = -1;
	kw_pass_begin(stat->cli->ctx);
	status = kw_query_run(stat->clock, take_uptime, &stat->uptime);
	if (!status || status == KW_INCOMPLETE)
		damage = status = kw_query_run(stat->query, take_row, stat);
	kw_pass_end(stat->cli->ctx);
	if (status && status != KW_INCOMPLETE)
		return cli_fail(stat->cli, status);
	if (stat->now.failed) {
		fputs("kwalk: out of memory\n", stderr);
		return EXIT_UNREADABLE;
	}
	code = print_sample(stat, stat->uptime - before, last);
	if (damage)
		code = cli_fail(stat->cli, damage);
	return code;
}

static int sample_all(struct stat *stat, double interval, uint64_t count)
{
	struct timespec pause = { (time_t)interval, (long)((interval - (double)(time_t)interval) * 1e9) };
	int code = EXIT_OK;

	for (uint64_t i = 0; !code && (i < count || !count); i++) {
		struct sample swap = stat->before;

		if (i) {
			nanosleep(&pause, NULL);
			if (stat->cli->format == KW_FORMAT_TABLE && !goes_on_in_a_table(stat))
				putchar('\n');
		}
		code = sample(stat, i + 1 == count);
		stat->before = stat->now;
		stat->now = swap;
	}
	return code;
}

static int prepare(struct stat *stat)
{
	struct kw_query_options query = { .size = sizeof(query), .source = stat->source };
	struct kw_query_options clock = { .size = sizeof(clock), .source = "system", .columns = "uptime" };
	char fields[512] = "";
	kw_status status;
	size_t nr;

	for (size_t i = 0; i < stat->nr; i++) {
		strcat(fields, i ? "," : "");
		strcat(fields, stat->columns[i].field);
	}
	query.columns = fields;
	status = kw_query_new(stat->cli->ctx, &query, &stat->query);
	if (!status)
		status = kw_query_new(stat->cli->ctx, &clock, &stat->clock);
	if (status)
		return cli_fail(stat->cli, status);
	stat->shown[0] =
		(struct kw_column){ "uptime", "UPTIME", KW_VAL_FLOAT, KW_UNIT_NONE, KW_SHOW_PERCENT };
	memcpy(stat->shown + 1, kw_query_columns(stat->query, &nr), stat->nr * sizeof(stat->shown[0]));
	for (size_t i = 0; !stat->counters && i < stat->nr; i++) {
		struct kw_column *c = &stat->shown[i + 1];

		c->name = stat->columns[i].name;
		c->header = stat->columns[i].header;
		if (stat->columns[i].kind == AS_IT_IS)
			continue;
		c->type = KW_VAL_FLOAT;
		c->unit = stat->columns[i].kind == SHARE ? KW_UNIT_PERCENT : KW_UNIT_NONE;
		c->display = KW_SHOW_PERCENT; /* one decimal */
	}
	return EXIT_OK;
}

static bool parse_interval(int argc, char **argv, double *interval, uint64_t *count, int *code)
{
	char *end;

	*count = 1;
	if (optind == argc)
		return true;
	*interval = strtod(argv[optind], &end);
	if (*end || !(*interval >= 0.001 && *interval <= 1e6)) {
		*code = cli_usage(&cmd_stat, "interval \"%s\": expected seconds, at least 0.001",
				  argv[optind]);
		return false;
	}
	*count = 0;
	if (++optind < argc && !cli_number(argv[optind], count)) {
		*code = cli_usage(&cmd_stat, "count \"%s\": expected a number above 0", argv[optind]);
		return false;
	}
	if (optind < argc && ++optind < argc) {
		*code = cli_usage(&cmd_stat, "unexpected argument \"%s\"", argv[optind]);
		return false;
	}
	return true;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		GLOBAL_LONG,
		{ "cpus", no_argument, NULL, 'P' },
		{ "irqs", no_argument, NULL, 'I' },
		{ "counters", no_argument, NULL, 'c' },
		{ 0 },
	};
	struct stat stat = {
		.cli = cli, .source = "system", .columns = system_columns, .nr = COUNT(system_columns)
	};
	double interval = 0;
	uint64_t count;
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "PIc", options, NULL)) != -1) {
		switch (option) {
		case 'P':
			stat.source = "cpus";
			stat.columns = cpu_columns;
			stat.nr = COUNT(cpu_columns);
			break;
		case 'I':
			stat.source = "irqs";
			stat.columns = irq_columns;
			stat.nr = COUNT(irq_columns);
			break;
		case 'c': stat.counters = true; break;
		default:
			if (!cli_option(cli, &cmd_stat, option, &code))
				return code;
		}
	}
	if (!parse_interval(argc, argv, &interval, &count, &code))
		return code;
	code = cli_open(cli);
	if (!code)
		code = prepare(&stat);
	if (!code)
		code = sample_all(&stat, interval, count);
	forget(&stat.now);
	forget(&stat.before);
	free(stat.now.item);
	free(stat.before.item);
	kw_query_free(stat.query);
	kw_query_free(stat.clock);
	return code;
}

const struct command cmd_stat = {
	"stat",
	run,
	"tell what the CPUs do",
	"Usage: kwalk stat [-P | -I] [-c] [INTERVAL [COUNT]]\n"
	"\n"
	"Tells how the CPUs spent their time, in percent, and how many context switches,\n"
	"interrupts and new tasks there were a second: since boot, and with INTERVAL in\n"
	"each that many seconds, COUNT times in all or until interrupted.\n"
	"\n"
	"  -P, --cpus            a row for each CPU\n"
	"  -I, --irqs            a row for each interrupt\n"
	"  -c, --counters        the counters themselves, as they have grown since boot\n",
};
