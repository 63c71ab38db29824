/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kwalk irq: how often each interrupt, or softirq, came to each CPU: a row for each, a column for each CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define MAX_CPUS 8192
#define FIXED	 6 /* columns beside those of the CPUs */

/* One pass of each query: which CPUs there are, the rows of (thing, CPU), the things. */
struct irqs {
	struct cli *cli;
	bool softirqs;
	unsigned int *cpu; /* numbers of those that are shown, ascending */
	size_t nr_cpus;
	struct {
		char label[32];
		struct kw_value *count; /* of each CPU */
	} * row;
	size_t nr, cap;
	struct kw_column *columns;
	char (*names)[2][16]; /* of the CPUs' columns */
	kw_query *query;      /* whose columns the writer shows */
	kw_writer *writer;
	bool failed;
};

static bool take_cpu(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct irqs *irqs = arg;

	(void)row;
	/* Softirqs are shown of all CPUs, interrupts of those that are online, as in /proc. */
	if (irqs->nr_cpus < MAX_CPUS && (irqs->softirqs || values[1].u))
		irqs->cpu[irqs->nr_cpus++] = (unsigned int)values[0].u;
	return true;
}

static size_t column_of(const struct irqs *irqs, uint64_t cpu)
{
	size_t i = 0;

	while (i < irqs->nr_cpus && irqs->cpu[i] != cpu)
		i++;
	return i;
}

static bool add_row(struct irqs *irqs, const char *label)
{
	size_t cap = irqs->cap ? irqs->cap * 2 : 64;
	struct kw_value *count = calloc(irqs->nr_cpus, sizeof(*count));
	void *grown = irqs->row;

	if (irqs->nr == irqs->cap) {
		grown = reallocarray(irqs->row, cap, sizeof(*irqs->row));
		if (grown) {
			irqs->row = grown;
			irqs->cap = cap;
		}
	}
	if (!count || !grown) {
		free(count);
		return false;
	}
	for (size_t i = 0; i < irqs->nr_cpus; i++)
		count[i] = (struct kw_value){ .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NOT_APPLICABLE };
	snprintf(irqs->row[irqs->nr].label, sizeof(irqs->row[0].label), "%s", label);
	irqs->row[irqs->nr++].count = count;
	return true;
}

/* Rows of one thing come one after the other. */
static bool take_count(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct irqs *irqs = arg;
	char label[32];
	size_t column = column_of(irqs, values[1].u);

	(void)row;
	snprintf(label, sizeof(label), "%.*s", values[0].type == KW_VAL_STRING ? (int)values[0].len : 1,
		 values[0].type == KW_VAL_STRING ? values[0].str : "?");
	if ((!irqs->nr || strcmp(irqs->row[irqs->nr - 1].label, label) != 0) && !add_row(irqs, label))
		irqs->failed = true;
	else if (column < irqs->nr_cpus)
		irqs->row[irqs->nr - 1].count[column] = values[2];
	return !irqs->failed;
}

static const struct kw_value *counts_of(const struct irqs *irqs, const struct kw_value *label)
{
	for (size_t i = 0; label->type == KW_VAL_STRING && i < irqs->nr; i++)
		if (strlen(irqs->row[i].label) == label->len &&
		    memcmp(irqs->row[i].label, label->str, label->len) == 0)
			return irqs->row[i].count;
	return NULL;
}

static bool print_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct irqs *irqs = arg;
	const struct kw_value *counts = counts_of(irqs, &values[0]);
	size_t nr = irqs->nr_cpus, rest = irqs->softirqs ? 1 : FIXED - 1;
	struct kw_value *out = calloc(nr + FIXED, sizeof(*out));

	(void)row;
	if (!out)
		return !(irqs->failed = true);
	out[0] = values[0];
	for (size_t i = 0; i < nr; i++)
		out[i + 1] = counts ? counts[i]
				    : (struct kw_value){ .type = KW_VAL_ABSENT,
							 .absent = KW_ABSENT_NOT_APPLICABLE };
	memcpy(&out[nr + 1], &values[1], rest * sizeof(*out));
	kw_writer_row(irqs->writer, out, 0);
	free(out);
	return true;
}

static kw_status ask(struct irqs *irqs, const char *source, const char *columns, kw_row_fn fn, bool begin,
		     int *code)
{
	struct kw_query_options options = { .size = sizeof(options), .source = source, .columns = columns };
	const struct kw_column *shown;
	kw_query *query;
	size_t nr;
	kw_status status = kw_query_new(irqs->cli->ctx, &options, &query);

	if (status)
		return status;
	if (begin) {
		shown = kw_query_columns(query, &nr);
		irqs->columns[0] = shown[0];
		memcpy(&irqs->columns[irqs->nr_cpus + 1], shown + 1, (nr - 1) * sizeof(*shown));
		*code = cli_writer(irqs->cli, irqs->columns, irqs->nr_cpus + nr, false, &irqs->writer);
	}
	if (!*code)
		status = kw_query_run(query, fn, irqs);
	if (begin)
		irqs->query = query;
	else
		kw_query_free(query);
	return status;
}

static bool name_columns(struct irqs *irqs)
{
	irqs->columns = calloc(irqs->nr_cpus + FIXED, sizeof(*irqs->columns));
	irqs->names = calloc(irqs->nr_cpus + 1, sizeof(*irqs->names));
	if (!irqs->columns || !irqs->names)
		return false;
	for (size_t i = 0; i < irqs->nr_cpus; i++) {
		snprintf(irqs->names[i][0], sizeof(irqs->names[i][0]), "cpu%u", irqs->cpu[i]);
		snprintf(irqs->names[i][1], sizeof(irqs->names[i][1]), "CPU%u", irqs->cpu[i]);
		irqs->columns[i + 1] = (struct kw_column){ irqs->names[i][0], irqs->names[i][1], KW_VAL_UINT,
							   KW_UNIT_COUNT, KW_SHOW_PLAIN };
	}
	return true;
}

static int list(struct irqs *irqs)
{
	int code = EXIT_OK;
	kw_status status = KW_OK;

	irqs->cpu = calloc(MAX_CPUS, sizeof(*irqs->cpu));
	irqs->failed = !irqs->cpu;
	kw_pass_begin(irqs->cli->ctx);
	if (!irqs->failed)
		status = ask(irqs, "cpus", "cpu,online", take_cpu, false, &code);
	if (!status && !irqs->failed)
		status = irqs->softirqs
				 ? ask(irqs, "softirq_cpus", "name,cpu,count", take_count, false, &code)
				 : ask(irqs, "irq_cpus", "label,cpu,count", take_count, false, &code);
	irqs->failed = irqs->failed || !name_columns(irqs);
	if ((!status || status == KW_INCOMPLETE) && !irqs->failed)
		status = irqs->softirqs ? ask(irqs, "softirqs", "name,count", print_row, true, &code)
					: ask(irqs, "irqs", "label,count,chip,hwirq,trigger,name", print_row,
					      true, &code);
	kw_pass_end(irqs->cli->ctx);
	if (irqs->writer)
		code = cli_writer_end(irqs->cli, irqs->writer, code);
	if (irqs->failed) {
		fputs("kwalk: out of memory\n", stderr);
		return EXIT_UNREADABLE;
	}
	return status ? cli_fail(irqs->cli, status) : code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { GLOBAL_LONG, { "softirqs", no_argument, NULL, 's' }, { 0 } };
	struct irqs irqs = { .cli = cli };
	int option, code;

	while ((option = getopt_long(argc, argv, GLOBAL_SHORT "s", options, NULL)) != -1) {
		if (option == 's')
			irqs.softirqs = true;
		else if (!cli_option(cli, &cmd_irq, option, &code))
			return code;
	}
	if (optind < argc)
		return cli_usage(&cmd_irq, "unexpected argument \"%s\"", argv[optind]);
	code = cli_open(cli);
	if (!code)
		code = list(&irqs);
	for (size_t i = 0; i < irqs.nr; i++)
		free(irqs.row[i].count);
	free(irqs.row);
	kw_query_free(irqs.query);
	free(irqs.columns);
	free(irqs.names);
	free(irqs.cpu);
	return code;
}

const struct command cmd_irq = {
	"irq",
	run,
	"count interrupts on each CPU",
	"Usage: kwalk irq [-s]\n"
	"\n"
	"Tells how often each interrupt came to each CPU since boot, and who handles it.\n"
	"\n"
	"  -s, --softirqs        softirqs instead\n",
};
