/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sources irqs and irq_cpus: /proc/interrupts, and the counts of /proc/stat's line "intr".
 *
 * A descriptor that has no handler and has never fired is no row: there are hundreds. Behind the devices' interrupts
 * come those that the architecture counts.
 */
#include "kernel/irq.h"

#include <stdio.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq_desc.h"
#include "memory/memory.h"
#include "memory/view.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARCH	     0x80000000u /* in row->index: the rest is the place in kw_arch_irq_layout */
#define MAX_ACTIONS  64		 /* that share an interrupt */
#define MAX_NAME     64

struct irq_layout {
	const struct kw_irq_layout *desc;
	uint64_t chip_name;		   /* struct irq_chip */
	uint64_t action_name, action_next; /* struct irqaction */
	const struct kw_arch_irq_layout *arch;
	const struct kw_cpu_layout *cpu;
	/* of those that the architecture counts, when kw_arch_irq_layout.shown_first tells which are shown */
	struct kw_found_row arch_row[KW_MAX_ARCH_IRQS];
	size_t nr_arch_rows;
};

_Static_assert(KW_MAX_ARCH_IRQS <= KW_ROWS_MAX, "they are added to a list at once");

static size_t find_arch_rows(const struct kw_arch_irq_layout *arch, uint64_t shown, struct kw_found_row *row)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < arch->nr; i++)
		if (shown >> i & 1)
			row[nr++] = (struct kw_found_row){ .index = ARCH | i };
	return nr;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct irq_layout *l = layout;

	l->chip_name = kw_offset_or_none(ctx, "irq_chip", "name");
	l->action_name = kw_offset_or_none(ctx, "irqaction", "name");
	l->action_next = kw_offset_or_none(ctx, "irqaction", "next");
	l->desc = kw_layout_get(ctx, kernel, &kw_irq_desc_subject);
	l->arch = l->desc ? kw_layout_get(ctx, kernel, &kw_arch_irq_subject) : NULL;
	l->cpu = l->arch ? kw_layout_get(ctx, kernel, &kw_cpu_subject) : NULL;
	if (!l->cpu)
		return ctx->status;
	l->nr_arch_rows = find_arch_rows(l->arch, l->arch->shown_first, l->arch_row);
	return KW_OK;
}

static const struct kw_subject irq_subject = { sizeof(struct irq_layout), resolve };

/* False when the kernel has no such member, or it can't be read. */
static bool member_u64(kw_ctx *ctx, uint64_t object, uint64_t offset, uint64_t *ret)
{
	return offset != KW_NO_ADDR && kw_read_near_u64(ctx, object + offset, ret) == KW_OK;
}

static bool member_u32(kw_ctx *ctx, uint64_t object, uint64_t offset, uint32_t *ret)
{
	return offset != KW_NO_ADDR && kw_read_near_u32(ctx, object + offset, ret) == KW_OK;
}

static void set_count(struct kw_value *out, kw_status status, uint64_t count)
{
	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_uint(out, count);
}

/* Fields */

#define IRQ_FIELD                                                                                        \
	KW_READ_FIELD("irq", "IRQ", "", UINT, NONE, PLAIN, OBJECT, "number; those of the CPU have none", \
		      "index in sparse_irqs or irq_desc_tree")

static const struct kw_field_def id_fields[] = { IRQ_FIELD };

static void set_number(uint64_t index, struct kw_value *out)
{
	if (index & ARCH)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_uint(out, index);
}

static void read_id(struct kw_row *row, const void *layout, struct kw_value *values)
{
	(void)layout;
	set_number(row->index, &values[0]);
}

#define LABEL_FIELD                                                                     \
	KW_READ_FIELD("label", "LABEL", "", STRING, NONE, PLAIN, OBJECT,                \
		      "the number, or NMI, LOC, ...: first column of /proc/interrupts", \
		      "irq_stat_info[].symbol")

static const struct kw_field_def label_fields[] = { LABEL_FIELD };

static void set_label(struct kw_row *row, const struct irq_layout *l, uint64_t index, struct kw_value *out)
{
	char number[24];

	if (index & ARCH)
		kw_set_string(out, l->arch->irq[index & ~ARCH].label);
	else
		kw_row_put(row, out, number, kw_format_int(number, (int64_t)index));
}

static void read_label(struct kw_row *row, const void *layout, struct kw_value *values)
{
	set_label(row, layout, row->index, &values[0]);
}

/* Rows of the source irqs: the number, what stands in its place, and the count. */
enum { IRQ, LABEL, IRQ_COUNT };

static const struct kw_field_def irq_fields[] = {
	[IRQ] = IRQ_FIELD,
	[LABEL] = LABEL_FIELD,
	[IRQ_COUNT] = KW_READ_FIELD("count", "COUNT", "", UINT, COUNT, PLAIN, PERCPU,
				    "times it came since boot, on all CPUs",
				    "irq_desc.tot_count, kstat_irqs; irq_stat"),
};

static void put_numbers(const struct kw_rows *rows, struct kw_value *column)
{
	const struct kw_found_row *found = rows->found, *end = found + rows->nr;
	size_t stride = rows->stride;

	for (; found < end; found++, column += stride)
		set_number(found->index, column);
}

static kw_status set_count_of(const struct kw_row *row, const struct irq_layout *l,
			      const struct kw_found_row *found, struct kw_value *out)
{
	uint64_t count = found->count;
	kw_status status = KW_OK;

	if (!found->is_counted)
		status = kw_irq_desc_count(row->ctx, row->kernel, l->desc, found->object, &count);
	set_count(out, status, count);
	return status;
}

static bool put_counts(const struct kw_row *row, const struct irq_layout *l, const struct kw_rows *rows,
		       struct kw_value *column)
{
	const struct kw_arch_irq_counts *arch = kw_arch_irq_counts(row->ctx, row->kernel, l->arch);
	const struct kw_found_row *found = rows->found, *end = found + rows->nr;
	size_t stride = rows->stride;
	bool failed = !arch;

	for (; found < end && !(found->index & ARCH); found++, column += stride)
		failed |= set_count_of(row, l, found, column);
	for (; found < end; found++, column += stride) {
		unsigned int place = found->index & ~ARCH;
		kw_status status = arch ? arch->status[place] : KW_NOMEM;

		set_count(column, status, status ? 0 : arch->count[place]);
		failed |= status;
	}
	return failed;
}

static bool read_irqs(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	struct kw_value *irq = rows->column[IRQ], *label = rows->column[LABEL],
			*count = rows->column[IRQ_COUNT];

	if (irq)
		put_numbers(rows, irq);
	for (size_t i = 0; label && i < rows->nr; i++, label += rows->stride)
		set_label(row, layout, rows->found[i].index, label);
	return count && put_counts(row, layout, rows, count);
}

enum { NAME, CHIP, HWIRQ, TRIGGER, HIDDEN };

static const struct kw_field_def about_fields[] = {
	[NAME] = KW_READ_FIELD("name", "NAME", "", STRING, NONE, PLAIN, POINTER,
			       "its handlers, separated by commas, or what it is for",
			       "irq_desc.action->name"),
	[CHIP] = KW_READ_FIELD("chip", "CHIP", "", STRING, NONE, PLAIN, POINTER, "interrupt controller",
			       "irq_desc.irq_data.chip->name"),
	[HWIRQ] = KW_READ_FIELD("hwirq", "HWIRQ", "", UINT, NONE, PLAIN, OBJECT,
				"its number at the controller", "irq_desc.irq_data.hwirq"),
	[TRIGGER] = KW_READ_FIELD("trigger", "TRIGGER", "", STRING, NONE, PLAIN, POINTER,
				  "edge, fasteoi, ...", "irq_desc.name"),
	[HIDDEN] = KW_READ_FIELD("hidden", "HIDDEN", "", BOOL, NONE, PLAIN, OBJECT,
				 "not shown in /proc/interrupts", "irq_desc.status_use_accessors"),
};

static void set_text(struct kw_row *row, uint64_t object, uint64_t offset, struct kw_value *out)
{
	char text[MAX_NAME];
	uint64_t pointer;
	kw_status status;

	if (offset == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = kw_read_near_u64(row->ctx, object + offset, &pointer);
	if (!status && !pointer) {
		kw_set_absent(out, KW_ABSENT_NULL);
		return;
	}
	if (!status)
		status = kw_read_string(row->ctx, pointer, text, sizeof(text));
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_row_text(row, out, text);
}

static void set_chip(struct kw_row *row, const struct irq_layout *l, struct kw_value *out)
{
	uint64_t chip;

	if (!member_u64(row->ctx, row->task, l->desc->chip, &chip))
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
	else if (!chip)
		kw_set_absent(out, KW_ABSENT_NULL);
	else
		set_text(row, chip, l->chip_name, out);
}

/* The names of all handlers, as the kernel joins them. */
static void set_actions(struct kw_row *row, const struct irq_layout *l, struct kw_value *out)
{
	char text[512] = "";
	size_t used = 0;
	uint64_t action;

	if (!member_u64(row->ctx, row->task, l->desc->action, &action) || l->action_name == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	if (!action) {
		kw_set_absent(out, KW_ABSENT_NULL);
		return;
	}
	for (int i = 0; action && i < MAX_ACTIONS && used < sizeof(text); i++) {
		char name[MAX_NAME];
		uint64_t pointer;

		if (!member_u64(row->ctx, action, l->action_name, &pointer) ||
		    kw_read_string(row->ctx, pointer, name, sizeof(name)) != KW_OK) {
			kw_set_absent(out, KW_ABSENT_UNMAPPED);
			return;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", name);
		if (!member_u64(row->ctx, action, l->action_next, &action))
			break;
	}
	kw_set_row_text(row, out, text);
}

static void read_about(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct irq_layout *l = layout;
	uint64_t number;
	uint32_t settings;

	if (row->index & ARCH) {
		kw_set_all_absent(values, COUNT(about_fields), KW_ABSENT_NOT_APPLICABLE);
		kw_set_string(&values[NAME], l->arch->irq[row->index & ~ARCH].text);
		kw_set_bool(&values[HIDDEN],
			    !(kw_arch_irqs_shown(row->ctx, l->arch) >> (row->index & ~ARCH) & 1));
		return;
	}
	if (kw_row_wants(row, NAME))
		set_actions(row, l, &values[NAME]);
	if (kw_row_wants(row, CHIP))
		set_chip(row, l, &values[CHIP]);
	if (kw_row_wants(row, TRIGGER))
		set_text(row, row->task, l->desc->name, &values[TRIGGER]);
	/* Without a domain the number means nothing, and the kernel shows none. */
	if (!member_u64(row->ctx, row->task, l->desc->domain, &number) || !number ||
	    !member_u64(row->ctx, row->task, l->desc->hwirq, &number))
		kw_set_absent(&values[HWIRQ], KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_uint(&values[HWIRQ], number);
	if (member_u32(row->ctx, row->task, l->desc->status, &settings))
		kw_set_bool(&values[HIDDEN], settings & KW_IRQ_HIDDEN);
	else
		kw_set_absent(&values[HIDDEN], KW_ABSENT_NO_MEMBER);
}

static const struct kw_field_def cpu_count_fields[] = {
	KW_READ_FIELD("cpu", "CPU", "", UINT, NONE, PLAIN, OBJECT, "number of the CPU",
		      "__cpu_possible_mask"),
	KW_READ_FIELD("count", "COUNT", "", UINT, COUNT, PLAIN, OBJECT,
		      "times it came to this CPU since boot", "irq_desc.kstat_irqs; irq_stat"),
};

static void read_cpu_count(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct irq_layout *l = layout;
	uint32_t count;
	kw_status status =
		row->index & ARCH
			? kw_arch_irq_count(row->ctx, row->kernel, &l->arch->irq[row->index & ~ARCH],
					    row->cpu, &count)
			: kw_irq_desc_count_on(row->ctx, row->kernel, l->desc, row->task, row->cpu, &count);

	kw_set_uint(&values[0], row->cpu);
	set_count(&values[1], status, count);
}

#define TABLE(name) static const struct kw_field_table name##_table = { name##_fields, COUNT(name##_fields) }

TABLE(id);
TABLE(label);
TABLE(irq);
TABLE(about);
TABLE(cpu_count);

static const struct kw_field_group irq_groups[] = {
	{ .table = &irq_table, .subject = &irq_subject, .read_rows = read_irqs },
	{ .table = &about_table, .subject = &irq_subject, .read = read_about },
};

static const struct kw_field_group irq_cpu_groups[] = {
	{ .table = &id_table, .read = read_id },
	{ .table = &label_table, .subject = &irq_subject, .read = read_label },
	{ .table = &cpu_count_table, .subject = &irq_subject, .read = read_cpu_count },
	{ .table = &about_table, .subject = &irq_subject, .read = read_about },
};

/* Walking */

static void list_arch(kw_ctx *ctx, const struct irq_layout *l, struct kw_row_list *list)
{
	uint64_t shown = kw_arch_irqs_shown(ctx, l->arch);
	struct kw_found_row row[KW_MAX_ARCH_IRQS];

	if (shown == l->arch->shown_first)
		kw_row_list_add_all(list, l->arch_row, l->nr_arch_rows);
	else
		kw_row_list_add_all(list, row, find_arch_rows(l->arch, shown, row));
}

static kw_status walk_irqs(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
			   void *arg)
{
	const struct irq_layout *l = layout;
	struct kw_row_list list;
	kw_status status;

	kw_row_list_begin(&list, take, arg);
	status = kw_irq_desc_list(ctx, kernel, l->desc, &list);
	if (status == KW_NOTFOUND)
		return status;
	list_arch(ctx, l, &list);
	kw_row_list_flush(&list);
	return status;
}

struct on_cpus {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	const struct irq_layout *layout;
	struct kw_row_list list;
};

/* A row for each online CPU; one that all of them count together has none. */
static bool take_on_cpus(const struct kw_found_row *found, size_t nr, void *arg)
{
	struct on_cpus *on = arg;

	for (size_t i = 0; i < nr; i++) {
		uint64_t index = found[i].index;
		bool global = index & ARCH && on->layout->arch->irq[index & ~ARCH].global;

		for (unsigned int cpu = 0; !global && !on->list.stopped && cpu < on->kernel->nr_cpus; cpu++)
			if (kw_cpu_is_possible(on->kernel, cpu) &&
			    kw_cpu_is_online(on->ctx, on->kernel, on->layout->cpu, cpu))
				kw_row_list_add(&on->list, found[i].object, index, cpu);
	}
	return !on->list.stopped;
}

static kw_status walk_irq_cpus(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			       kw_take_rows take, void *arg)
{
	struct on_cpus on = { .ctx = ctx, .kernel = kernel, .layout = layout };
	kw_status status;

	kw_row_list_begin(&on.list, take, arg);
	status = walk_irqs(ctx, kernel, layout, take_on_cpus, &on);
	kw_row_list_flush(&on.list);
	return status;
}

const struct kw_source_def kw_irq_source = {
	.pub = { "irqs", "an interrupt that has a handler or has come", "label,count,chip,trigger,name" },
	.type = "struct irq_desc",
	.groups = irq_groups,
	.nr_groups = COUNT(irq_groups),
	.subject = &irq_subject,
	.walk = walk_irqs,
};

const struct kw_source_def kw_irq_cpu_source = {
	.pub = { "irq_cpus", "an interrupt on one CPU", "label,cpu,count,name" },
	.type = "struct irq_desc",
	.groups = irq_cpu_groups,
	.nr_groups = COUNT(irq_cpu_groups),
	.subject = &irq_subject,
	.walk = walk_irq_cpus,
};
