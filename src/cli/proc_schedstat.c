/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/schedstat: a line for each CPU, and behind it one for each of its scheduling domains.
 *
 * Version 16 is 15 with the kinds of idleness in another order, 17 has the domain's name and knows of what kind an imbalance
 * is: what makes the difference is there or not.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/proc_maker.h"

#define MEMBER "sched_domain."

enum { NR_IDLE_TYPES = 3 };

/* Of each kind of idleness, then of the domain. */
static const char *const balanced[] = { "lb_count",  "lb_balanced",   "lb_failed",  "lb_imbalance",
					"lb_gained", "lb_hot_gained", "lb_nobusyq", "lb_nobusyg" };
static const char *const balanced_since_17[] = {
	"lb_count",	     "lb_balanced",	  "lb_failed",		 "lb_imbalance_load",
	"lb_imbalance_util", "lb_imbalance_task", "lb_imbalance_misfit", "lb_gained",
	"lb_hot_gained",     "lb_nobusyq",	  "lb_nobusyg",
};
static const char *const moved[] = {
	"alb_count",	"alb_failed",	    "alb_pushed",	"sbe_count",
	"sbe_balanced", "sbe_pushed",	    "sbf_count",	"sbf_balanced",
	"sbf_pushed",	"ttwu_wake_remote", "ttwu_move_affine", "ttwu_move_balance",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct line {
	struct line *next;
	uint64_t cpu;
	char text[];
};

struct schedstat {
	int version;
	size_t nr_counts; /* of a domain */
	struct line *first, **end;
	bool failed;
};

static bool find_version(struct proc_maker *m, int *ret)
{
	const struct kw_type *domain;
	struct kw_member member;
	int64_t value;

	if (kw_type_find(m->ctx, "struct sched_domain", &domain) != KW_OK ||
	    kw_type_member(m->ctx, domain, "lb_count", &member) != KW_OK)
		return proc_missing(m, "sched_domain.lb_count",
				    "this kernel was built without statistics of the scheduler");
	if (kw_type_member(m->ctx, domain, "lb_imbalance_load", &member) == KW_OK)
		*ret = 17;
	else if (kw_enum_value(m->ctx, "enum cpu_idle_type", "__CPU_NOT_IDLE", &value) == KW_OK)
		*ret = 16;
	else
		*ret = 15;
	return true;
}

static size_t put_columns(FILE *out, int version)
{
	const char *const *names = version >= 17 ? balanced_since_17 : balanced;
	size_t nr = version >= 17 ? COUNT(balanced_since_17) : COUNT(balanced);

	fputs("cpu,domain,span,name", out);
	for (size_t type = 0; type < NR_IDLE_TYPES; type++)
		for (size_t i = 0; i < nr; i++)
			fprintf(out, "," MEMBER "%s[%zu]", names[i], type);
	for (size_t i = 0; i < COUNT(moved); i++)
		fprintf(out, "," MEMBER "%s", moved[i]);
	return NR_IDLE_TYPES * nr + COUNT(moved);
}

static void put_domain(FILE *out, const struct schedstat *stat, const struct kw_value *values)
{
	fprintf(out, "domain%" PRIu64, values[1].u);
	if (stat->version >= 17)
		fprintf(out, " %.*s", (int)values[3].len,
			values[3].type == KW_VAL_STRING ? values[3].str : "");
	fprintf(out, " %.*s", (int)values[2].len, values[2].str);
	for (size_t i = 0; i < stat->nr_counts; i++)
		fprintf(out, " %" PRIu64, values[4 + i].u);
	fputc('\n', out);
}

static void take_domain(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct schedstat *stat = arg;
	struct line *line;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)m;
	if (out) {
		put_domain(out, stat, values);
		fclose(out);
	}
	line = text ? calloc(1, sizeof(*line) + len + 1) : NULL;
	if (line) {
		line->cpu = values[0].u;
		memcpy(line->text, text, len);
		*stat->end = line;
		stat->end = &line->next;
	}
	stat->failed = stat->failed || !line;
	free(text);
}

static void take_cpu(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	const struct schedstat *stat = arg;

	if (!values[1].u)
		return;
	fprintf(m->out, "cpu%" PRIu64 " %" PRIu64 " 0", values[0].u, values[2].u);
	for (size_t i = 3; i < 10; i++)
		fprintf(m->out, " %" PRIu64, values[i].u);
	fputc('\n', m->out);
	for (const struct line *line = stat->first; line; line = line->next)
		if (line->cpu == values[0].u)
			fputs(line->text, m->out);
}

static void take_jiffies(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	const struct schedstat *stat = arg;

	fprintf(m->out, "version %d\ntimestamp %" PRIu64 "\n", stat->version, values[0].u);
}

/* The name is printed since version 17 only. */
static bool find_domains(struct proc_maker *m, struct schedstat *stat)
{
	char *columns = NULL;
	size_t len;
	FILE *out = open_memstream(&columns, &len);
	bool found;

	if (!out)
		return proc_missing(m, "sched_domains", "out of memory");
	stat->nr_counts = put_columns(out, stat->version);
	if (fclose(out) != 0) {
		free(columns);
		return proc_missing(m, "sched_domains", "out of memory");
	}
	found = proc_rows(m, "sched_domains", columns, stat->version >= 17 ? 0 : 1 << 3, take_domain, stat);
	free(columns);
	return found && (!stat->failed || proc_missing(m, "sched_domains", "out of memory"));
}

bool proc_make_schedstat(struct proc_maker *m)
{
	struct schedstat stat = { 0 };
	bool made;

	stat.end = &stat.first;
	made = find_version(m, &stat.version) && find_domains(m, &stat) &&
	       proc_rows(m, "system", "jiffies", 0, take_jiffies, &stat) &&
	       proc_rows(m, "cpus",
			 "cpu,online,yields,sched_count,sched_goidle,ttwu_count,ttwu_local,runtime,run_delay,"
			 "timeslices",
			 0, take_cpu, &stat);
	while (stat.first) {
		struct line *next = stat.first->next;

		free(stat.first);
		stat.first = next;
	}
	return made;
}
