/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/stat and /proc/softirqs. */
#include <stdlib.h>

#include "cli/proc_maker.h"

#define NR_TIMES 10
#define TIMES	 "user,nice,system,idle,iowait,irq,softirq,steal,guest,guest_nice"

static void put_times(FILE *out, const struct kw_value *times)
{
	for (size_t i = 0; i < NR_TIMES; i++)
		fprintf(out, " %" PRIu64, times[i].u / PROC_TICK_NS);
	fputc('\n', out);
}

/* Sums that stand behind the lines of CPUs. */
enum { INTR, NR_IRQS, CTXT, BTIME, PROCESSES, RUNNING, BLOCKED, SOFTIRQS, NR_SUMS };

static void take_sums(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	uint64_t *sums = arg;

	fputs("cpu ", m->out);
	put_times(m->out, values);
	for (size_t i = 0; i < NR_SUMS; i++)
		sums[i] = values[NR_TIMES + i].u;
}

static void put_cpu(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	(void)arg;
	if (!values[1].u)
		return;
	fprintf(m->out, "cpu%" PRIu64, values[0].u);
	put_times(m->out, values + 2);
}

static void put_zeros(FILE *out, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		fputs(" 0", out);
}

struct irqs {
	uint64_t next, nr;
};

/* Those of the architecture have no number, and no place in the line. */
static void put_irq(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct irqs *irqs = arg;

	if (values[0].type == KW_VAL_ABSENT || values[0].u < irqs->next || values[0].u >= irqs->nr)
		return;
	put_zeros(m->out, values[0].u - irqs->next);
	fprintf(m->out, " %" PRIu64, values[1].u);
	irqs->next = values[0].u + 1;
}

static void put_softirq(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	(void)arg;
	fprintf(m->out, " %" PRIu64, values[0].u);
}

bool proc_make_stat(struct proc_maker *m)
{
	uint64_t sums[NR_SUMS] = { 0 };
	struct irqs irqs = { 0, 0 };

	if (!proc_rows(m, "system",
		       TIMES ",intr,nr_irqs,ctxt,btime,processes,procs_running,procs_blocked,softirqs", 0,
		       take_sums, sums) ||
	    !proc_rows(m, "cpus", "cpu,online," TIMES, 0, put_cpu, NULL))
		return false;
	irqs.nr = sums[NR_IRQS];
	fprintf(m->out, "intr %" PRIu64, sums[INTR]);
	if (!proc_rows(m, "irqs", "irq,count", 1, put_irq, &irqs))
		return false;
	put_zeros(m->out, irqs.nr - irqs.next);
	fprintf(m->out,
		"\nctxt %" PRIu64 "\nbtime %" PRIu64 "\nprocesses %" PRIu64 "\nprocs_running %" PRIu64
		"\nprocs_blocked %" PRIu64 "\nsoftirq %" PRIu64,
		sums[CTXT], sums[BTIME] / 1000000000, sums[PROCESSES], sums[RUNNING], sums[BLOCKED],
		sums[SOFTIRQS]);
	if (!proc_rows(m, "softirqs", "count", 0, put_softirq, NULL))
		return false;
	fputc('\n', m->out);
	return true;
}

/* A row for each softirq and CPU: the first CPU begins a line. */
static void put_count(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	uint64_t *line = arg;

	if (values[0].u != *line) {
		*line = values[0].u;
		fprintf(m->out, "%s%12.*s:", *line ? "\n" : "", (int)values[1].len, values[1].str);
	}
	fprintf(m->out, " %10" PRIu64, values[2].u);
}

bool proc_make_softirqs(struct proc_maker *m)
{
	struct proc_cpus cpus;
	uint64_t line = UINT64_MAX;

	if (!proc_find_cpus(m, false, &cpus))
		return false;
	fprintf(m->out, "%20s", "");
	proc_put_cpus(m->out, &cpus);
	free(cpus.number);
	if (!proc_rows(m, "softirq_cpus", "softirq,name,count", 0, put_count, &line))
		return false;
	fputc('\n', m->out);
	return true;
}
