/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/interrupts. The counts come first, since they are rows of a source of their own; then a line for each interrupt.
 *
 * The widths of columns have changed twice:
 *
 *     until 6.12   a blank behind each count, names of controllers right-justified to 8 columns behind another one
 *     since 6.13   a blank before each count, else the same (total_nr_irqs is of that release)
 *     since 7.1    the widths are in irq_proc_constraints, names are left-justified
 */
#include <stdlib.h>
#include <string.h>

#include "cli/proc_maker.h"

struct count {
	char label[16];
	uint64_t count;
};

struct table {
	enum { BLANK_BEHIND, BLANK_BEFORE, LEFT_JUSTIFIED } style;
	int label_width, chip_width;
	uint64_t chained; /* address of the handler's record of an interrupt that stands for others, 0: none */
	struct count *counts;
	size_t nr, cap, next;
	bool failed;
};

static void take_count(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct table *t = arg;

	(void)m;
	if (t->nr == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 256;
		void *grown = t->failed ? NULL : reallocarray(t->counts, cap, sizeof(*t->counts));

		t->failed = !grown;
		if (!grown)
			return;
		t->counts = grown;
		t->cap = cap;
	}
	snprintf(t->counts[t->nr].label, sizeof(t->counts->label), "%.*s", (int)values[0].len, values[0].str);
	t->counts[t->nr++].count = values[1].u;
}

static bool has_label(const struct count *count, const struct kw_value *label)
{
	return strlen(count->label) == label->len && memcmp(count->label, label->str, label->len) == 0;
}

enum { LABEL, COUNT, IRQ, NAME, CHIP, HWIRQ, TRIGGER, HIDDEN, PRINTER, ACTION, CHIP_ADDRESS };

#define COLUMNS                                                                                                 \
	"label,count,irq,name,chip,hwirq,trigger,hidden,irq_desc.irq_data.chip.irq_print_chip,irq_desc.action," \
	"irq_desc.irq_data.chip"
#define OPTIONAL                                                                                            \
	(1u << IRQ | 1u << NAME | 1u << CHIP | 1u << HWIRQ | 1u << TRIGGER | 1u << PRINTER | 1u << ACTION | \
	 1u << CHIP_ADDRESS)

/* The counts of a label, which follow each other. An interrupt that only all CPUs together count has one. */
static bool put_counts(struct proc_maker *m, struct table *t, const struct kw_value *values)
{
	bool any = false;
	size_t first = t->next;

	while (t->next < t->nr && has_label(&t->counts[t->next], &values[LABEL])) {
		any |= t->counts[t->next].count != 0;
		fprintf(m->out, " %10" PRIu64, t->counts[t->next++].count);
	}
	if (t->next == first)
		fprintf(m->out, " %10" PRIu64, values[COUNT].u);
	return any;
}

static void put_label(struct proc_maker *m, const struct table *t, const struct kw_value *label)
{
	fprintf(m->out, "%*.*s:", t->label_width, (int)label->len, label->str);
}

static void put_arch(struct proc_maker *m, struct table *t, const struct kw_value *values)
{
	put_label(m, t, &values[LABEL]);
	put_counts(m, t, values);
	if (values[NAME].len)
		fprintf(m->out, "%s%.*s", t->style == LEFT_JUSTIFIED ? "  " : "   ", (int)values[NAME].len,
			values[NAME].str);
	fputc('\n', m->out);
}

static bool is_set(const struct kw_value *v)
{
	return v->type != KW_VAL_ABSENT && v->u;
}

static void put_chip(struct proc_maker *m, const struct table *t, const struct kw_value *values)
{
	const char *none = is_set(&values[CHIP_ADDRESS]) ? "-" : "None";
	bool named = values[CHIP].type == KW_VAL_STRING;
	int len = named ? (int)values[CHIP].len : (int)strlen(none);
	const char *text = named ? values[CHIP].str : none;

	if (t->style == LEFT_JUSTIFIED)
		fprintf(m->out, "  %-*.*s ", t->chip_width, len, text);
	else
		fprintf(m->out, "%s%8.*s ", t->style == BLANK_BEHIND ? "  " : " ", len, text);
	if (values[HWIRQ].type != KW_VAL_ABSENT)
		fprintf(m->out, "%*" PRIu64, t->label_width, values[HWIRQ].u);
	else
		fprintf(m->out, "%s%*s", t->style == LEFT_JUSTIFIED ? " " : "", t->label_width, "");
	if (values[TRIGGER].type == KW_VAL_STRING)
		fprintf(m->out, "-%-8.*s", (int)values[TRIGGER].len, values[TRIGGER].str);
	if (values[NAME].type == KW_VAL_STRING)
		fprintf(m->out, "  %.*s", (int)values[NAME].len, values[NAME].str);
	fputc('\n', m->out);
}

/* One without a handler is shown by older kernels as long as it has come on some CPU. */
static bool is_shown(const struct table *t, const struct kw_value *values)
{
	bool handled = is_set(&values[ACTION]) && values[ACTION].u != t->chained;

	return !values[HIDDEN].u && (handled || (t->style == BLANK_BEHIND && values[COUNT].u));
}

static void put_row(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct table *t = arg;

	if (t->failed)
		return;
	if (values[IRQ].type == KW_VAL_ABSENT) {
		put_arch(m, t, values);
	} else if (!is_shown(t, values)) {
		while (t->next < t->nr && has_label(&t->counts[t->next], &values[LABEL]))
			t->next++;
	} else if (is_set(&values[PRINTER])) {
		t->failed = !proc_missing(m, "chip", "the controller's driver writes its name");
	} else {
		put_label(m, t, &values[LABEL]);
		put_counts(m, t, values);
		put_chip(m, t, values);
	}
}

static void take_nr_irqs(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct table *t = arg;
	uint64_t nr = 1000;

	(void)m;
	for (t->label_width = 3; t->label_width < 10 && nr <= values[0].u; t->label_width++)
		nr *= 10;
}

static bool find_width(struct proc_maker *m, const char *expr, int *ret)
{
	struct kw_object width;

	if (kw_object_find(m->ctx, expr, &width) != KW_OK || width.value.type != KW_VAL_UINT ||
	    width.value.u > 64)
		return false;
	*ret = (int)width.value.u;
	return true;
}

static bool find_style(struct proc_maker *m, struct table *t)
{
	if (kw_symbol_address(m->ctx, "chained_action", &t->chained) != KW_OK)
		t->chained = 0;
	if (find_width(m, "(struct irq_proc_constraints)irq_proc_constraints.num_prec", &t->label_width) &&
	    find_width(m, "(struct irq_proc_constraints)irq_proc_constraints.chip_width", &t->chip_width)) {
		t->style = LEFT_JUSTIFIED;
		return true;
	}
	t->style = proc_has_symbol(m, "total_nr_irqs") ? BLANK_BEFORE : BLANK_BEHIND;
	return proc_rows(m, "system", "nr_irqs", 0, take_nr_irqs, t);
}

static bool put_table(struct proc_maker *m, struct table *t)
{
	struct proc_cpus cpus;

	if (!find_style(m, t) || !proc_find_cpus(m, true, &cpus))
		return false;
	fprintf(m->out, "%*s", t->label_width + 8, "");
	proc_put_cpus(m->out, &cpus);
	free(cpus.number);
	if (!proc_rows(m, "irq_cpus", "label,count", 0, take_count, t))
		return false;
	if (t->failed)
		return proc_missing(m, "irq_cpus", "out of memory");
	return proc_rows(m, "irqs", COLUMNS, OPTIONAL, put_row, t) && !t->failed;
}

bool proc_make_interrupts(struct proc_maker *m)
{
	struct table t = { .label_width = 3 };
	bool whole = put_table(m, &t);

	free(t.counts);
	return whole;
}
