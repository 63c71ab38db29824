/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sources irqs and irq_cpus: /proc/interrupts, and the counts of /proc/stat's line "intr".
 *
 *     irq_desc_tree (a radix tree) until 6.4, sparse_irqs (a maple tree) since 6.5  -> struct irq_desc
 *     irq_desc.tot_count     all CPUs together; not kept for per-CPU interrupts and NMIs
 *     irq_desc.kstat_irqs    per-CPU: unsigned int until 6.9, struct irqstat since 6.10
 *
 * A descriptor that has no handler and has never fired is no row: there are hundreds. Behind the devices' interrupts
 * come those that the architecture counts.
 */
#include "kernel/irq.h"

#include <stdio.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "kernel/maple.h"
#include "kernel/xarray.h"
#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_IRQS     (1u << 20)	 /* NR_IRQS is some 500,000 with 8192 CPUs */
#define ARCH	     0x80000000u /* in row->index: the rest is the place in kw_arch_irq_layout */
#define MAX_ACTIONS  64		 /* that share an interrupt */
#define MAX_NAME     64
#define MAX_SPAN     512 /* it has 200 bytes */

/* irq_desc.status_use_accessors, and core_internal_state__do_not_mess_with_it */
#define IRQ_PER_CPU	  (1u << 9)
#define IRQ_PER_CPU_DEVID (1u << 17)
#define IRQ_HIDDEN	  (1u << 20)
#define IRQS_NMI	  0x2000u

struct irq_layout {
	uint64_t tree; /* address: of a radix or of a maple tree */
	bool maple;
	uint64_t xa_head;
	uint64_t kstat_irqs, action, status, istate, tot_count, name, hwirq, chip,
		domain; /* struct irq_desc */
	uint64_t tot_count_size;
	uint64_t first,
		span; /* bytes of irq_desc that hold what counting looks at; span 0: not all members are there */
	uint64_t chip_name;		   /* struct irq_chip */
	uint64_t action_name, action_next; /* struct irqaction */
	const struct kw_arch_irq_layout *arch;
	const struct kw_cpu_layout *cpu;
};

static void find_span(struct irq_layout *l)
{
	const struct {
		uint64_t offset, size;
	} needed[] = {
		{ l->action, 8 }, { l->status, 4 }, { l->istate, 4 }, { l->tot_count, l->tot_count_size }
	};
	uint64_t end = 0;

	l->first = KW_NO_ADDR;
	for (size_t i = 0; i < COUNT(needed); i++) {
		if (needed[i].offset == KW_NO_ADDR)
			return;
		l->first = needed[i].offset < l->first ? needed[i].offset : l->first;
		end = needed[i].offset + needed[i].size > end ? needed[i].offset + needed[i].size : end;
	}
	l->span = end - l->first <= MAX_SPAN ? end - l->first : 0;
}

static void resolve_offsets(kw_ctx *ctx, struct irq_layout *l)
{
	struct kw_member member;

	l->kstat_irqs = kw_offset_or_none(ctx, "irq_desc", "kstat_irqs");
	l->action = kw_offset_or_none(ctx, "irq_desc", "action");
	l->status = kw_offset_or_none(ctx, "irq_desc", "status_use_accessors");
	l->istate = kw_offset_or_none(ctx, "irq_desc", "core_internal_state__do_not_mess_with_it");
	l->name = kw_offset_or_none(ctx, "irq_desc", "name");
	l->hwirq = kw_offset_or_none(ctx, "irq_desc", "irq_data.hwirq");
	l->chip = kw_offset_or_none(ctx, "irq_desc", "irq_data.chip");
	l->domain = kw_offset_or_none(ctx, "irq_desc", "irq_data.domain");
	l->chip_name = kw_offset_or_none(ctx, "irq_chip", "name");
	l->action_name = kw_offset_or_none(ctx, "irqaction", "name");
	l->action_next = kw_offset_or_none(ctx, "irqaction", "next");
	l->tot_count = KW_NO_ADDR;
	/* unsigned int, unsigned long since 7.0 or so */
	if (kw_type_offset(ctx, "irq_desc", "tot_count", &member) == KW_OK) {
		l->tot_count = member.bit_offset / 8;
		l->tot_count_size = kw_type_size(ctx, member.type) == 8 ? 8 : 4;
	}
	find_span(l);
	kw_clear_error(ctx);
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct irq_layout *l = layout;
	struct kw_symbol_query q[] = { { "sparse_irqs", KW_NO_ADDR }, { "irq_desc_tree", KW_NO_ADDR } };

	kw_symbol_addresses(ctx, q, COUNT(q));
	l->maple = q[0].addr != KW_NO_ADDR;
	l->tree = l->maple ? q[0].addr : q[1].addr;
	l->xa_head = kw_offset_or_none(ctx, "xarray", "xa_head");
	resolve_offsets(ctx, l);
	l->arch = kw_layout_get(ctx, kernel, &kw_arch_irq_subject);
	l->cpu = l->arch ? kw_layout_get(ctx, kernel, &kw_cpu_subject) : NULL;
	return l->cpu ? KW_OK : ctx->status;
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

/* Counting */

static kw_status count_on_cpu(kw_ctx *ctx, const struct kw_kernel *kernel, const struct irq_layout *l,
			      uint64_t desc, unsigned int cpu, uint32_t *ret)
{
	uint64_t kstat;
	kw_status status;

	*ret = 0;
	if (l->kstat_irqs == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_near_u64(ctx, desc + l->kstat_irqs, &kstat);
	if (status || !kstat)
		return status;
	kstat = kw_percpu(kernel, kstat, cpu);
	return kstat == KW_NO_ADDR ? KW_NOTFOUND : kw_read_near_u32(ctx, kstat, ret);
}

/* The kernel adds up in 32 bits. */
static kw_status count_on_all(kw_ctx *ctx, const struct kw_kernel *kernel, const struct irq_layout *l,
			      uint64_t desc, uint64_t *ret)
{
	kw_status status = KW_OK;
	uint32_t sum = 0;

	for (unsigned int cpu = 0; !status && cpu < kernel->nr_cpus; cpu++) {
		uint32_t count = 0;

		if (kw_cpu_is_possible(kernel, cpu))
			status = count_on_cpu(ctx, kernel, l, desc, cpu, &count);
		sum += count;
	}
	*ret = sum;
	return status;
}

/* What counting needs of a descriptor, copied at once. */
struct desc {
	uint64_t action, total;
	uint32_t settings, internal;
};

static uint64_t number_at(const uint8_t *bytes, const struct irq_layout *l, uint64_t offset, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, bytes + (offset - l->first), size);
	return number;
}

static bool copy_desc(kw_ctx *ctx, const struct irq_layout *l, uint64_t addr, struct desc *ret)
{
	uint8_t bytes[MAX_SPAN];

	if (!l->span || kw_read_near(ctx, addr + l->first, bytes, l->span) != KW_OK)
		return false;
	ret->action = number_at(bytes, l, l->action, 8);
	ret->settings = (uint32_t)number_at(bytes, l, l->status, 4);
	ret->internal = (uint32_t)number_at(bytes, l, l->istate, 4);
	ret->total = number_at(bytes, l, l->tot_count, l->tot_count_size);
	return true;
}

/* Per-CPU interrupts and NMIs have no total. */
static bool has_total(const struct desc *desc)
{
	return !(desc->settings & (IRQ_PER_CPU | IRQ_PER_CPU_DEVID)) && !(desc->internal & IRQS_NMI);
}

static kw_status count_device(kw_ctx *ctx, const struct kw_kernel *kernel, const struct irq_layout *l,
			      uint64_t addr, uint64_t *ret)
{
	struct desc desc;

	if (!copy_desc(ctx, l, addr, &desc) || !has_total(&desc))
		return count_on_all(ctx, kernel, l, addr, ret);
	*ret = desc.total;
	return KW_OK;
}

static kw_status count_arch(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_arch_irq *irq,
			    uint64_t *ret)
{
	kw_status status = KW_OK;

	*ret = 0;
	for (unsigned int cpu = 0; !status && cpu < kernel->nr_cpus; cpu++) {
		uint32_t count = 0;

		if (kw_cpu_is_possible(kernel, cpu))
			status = kw_arch_irq_count(ctx, kernel, irq, cpu, &count);
		*ret += count;
		if (irq->global)
			break;
	}
	return status;
}

static void set_count(struct kw_value *out, kw_status status, uint64_t count)
{
	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_uint(out, count);
}

/* Fields */

static const struct kw_field_def id_fields[] = {
	KW_READ_FIELD("irq", "IRQ", "", UINT, NONE, PLAIN, OBJECT, "number; those of the CPU have none",
		      "index in sparse_irqs or irq_desc_tree"),
};

static void read_id(struct kw_row *row, const void *layout, struct kw_value *values)
{
	(void)layout;
	if (row->index & ARCH)
		kw_set_absent(&values[0], KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_uint(&values[0], row->index);
}

static const struct kw_field_def label_fields[] = {
	KW_READ_FIELD("label", "LABEL", "", STRING, NONE, PLAIN, OBJECT,
		      "the number, or NMI, LOC, ...: first column of /proc/interrupts",
		      "irq_stat_info[].symbol"),
};

static void read_label(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct irq_layout *l = layout;
	char number[24];

	if (row->index & ARCH)
		kw_set_string(&values[0], l->arch->irq[row->index & ~ARCH].label);
	else
		kw_row_put(row, &values[0], number, kw_format_int(number, row->index));
}

static const struct kw_field_def count_fields[] = {
	KW_READ_FIELD("count", "COUNT", "", UINT, COUNT, PLAIN, PERCPU,
		      "times it came since boot, on all CPUs", "irq_desc.tot_count, kstat_irqs; irq_stat"),
};

static void read_count(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct irq_layout *l = layout;
	uint64_t count;
	kw_status status = row->index & ARCH ? count_arch(row->ctx, row->kernel,
							  &l->arch->irq[row->index & ~ARCH], &count)
					     : count_device(row->ctx, row->kernel, l, row->task, &count);

	set_count(&values[0], status, count);
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

	if (!member_u64(row->ctx, row->task, l->chip, &chip))
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

	if (!member_u64(row->ctx, row->task, l->action, &action) || l->action_name == KW_NO_ADDR) {
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
		kw_set_bool(&values[HIDDEN], !kw_arch_irq_is_shown(row->ctx, l->arch, row->index & ~ARCH));
		return;
	}
	set_actions(row, l, &values[NAME]);
	set_chip(row, l, &values[CHIP]);
	set_text(row, row->task, l->name, &values[TRIGGER]);
	/* Without a domain the number means nothing, and the kernel shows none. */
	if (!member_u64(row->ctx, row->task, l->domain, &number) || !number ||
	    !member_u64(row->ctx, row->task, l->hwirq, &number))
		kw_set_absent(&values[HWIRQ], KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_uint(&values[HWIRQ], number);
	if (member_u32(row->ctx, row->task, l->status, &settings))
		kw_set_bool(&values[HIDDEN], settings & IRQ_HIDDEN);
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
	kw_status status = row->index & ARCH
				   ? kw_arch_irq_count(row->ctx, row->kernel,
						       &l->arch->irq[row->index & ~ARCH], row->cpu, &count)
				   : count_on_cpu(row->ctx, row->kernel, l, row->task, row->cpu, &count);

	kw_set_uint(&values[0], row->cpu);
	set_count(&values[1], status, count);
}

#define TABLE(name) static const struct kw_field_table name##_table = { name##_fields, COUNT(name##_fields) }

TABLE(id);
TABLE(label);
TABLE(count);
TABLE(about);
TABLE(cpu_count);

static const struct kw_field_group irq_groups[] = {
	{ .table = &id_table, .read = read_id },
	{ .table = &label_table, .subject = &irq_subject, .read = read_label },
	{ .table = &count_table, .subject = &irq_subject, .read = read_count },
	{ .table = &about_table, .subject = &irq_subject, .read = read_about },
};

static const struct kw_field_group irq_cpu_groups[] = {
	{ .table = &id_table, .read = read_id },
	{ .table = &label_table, .subject = &irq_subject, .read = read_label },
	{ .table = &cpu_count_table, .subject = &irq_subject, .read = read_cpu_count },
	{ .table = &about_table, .subject = &irq_subject, .read = read_about },
};

/* Walking */

struct irq_walk {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	const struct irq_layout *layout;
	kw_take_row take;
	void *arg;
	bool per_cpu, stopped;
};

/* Hand out a row, or one for each online CPU. */
static bool take_irq(struct irq_walk *w, uint64_t desc, uint32_t index)
{
	bool global = index & ARCH && w->layout->arch->irq[index & ~ARCH].global;

	if (!w->per_cpu)
		return !(w->stopped = !w->take(desc, index, 0, w->arg));
	for (unsigned int cpu = 0; !global && !w->stopped && cpu < w->kernel->nr_cpus; cpu++)
		if (kw_cpu_is_possible(w->kernel, cpu) && kw_cpu_is_online(w->ctx, w->layout->cpu, cpu))
			w->stopped = !w->take(desc, index, cpu, w->arg);
	return !w->stopped;
}

static bool take_desc(uint64_t first, uint64_t last, uint64_t desc, void *arg)
{
	struct irq_walk *w = arg;
	uint64_t count = 0;
	struct desc now;

	/* An entry stands for one interrupt; another range is damage, and what it says of others is not believed. */
	if (last != first)
		return true;
	if (copy_desc(w->ctx, w->layout, desc, &now) && !now.action &&
	    (has_total(&now) ? !now.total
			     : count_on_all(w->ctx, w->kernel, w->layout, desc, &count) == KW_OK && !count))
		return true;
	return take_irq(w, desc, (uint32_t)first);
}

static kw_status walk_radix(struct irq_walk *w)
{
	uint64_t entries[KW_XA_MAX_SLOTS], base;
	struct kw_xa_walk xa;
	unsigned int nr;
	kw_status status =
		kw_xa_begin(w->ctx, w->kernel, w->layout->tree + w->layout->xa_head, MAX_IRQS, &xa);

	if (status) {
		kw_clear_error(w->ctx);
		return status;
	}
	while (!w->stopped && (nr = kw_xa_next_leaf(w->ctx, &xa, entries, &base)))
		for (unsigned int i = 0; i < nr && !w->stopped; i++)
			if (kw_xa_is_pointer(entries[i]))
				take_desc(base + i, base + i, entries[i], w);
	return xa.damaged ? xa.damage : KW_OK;
}

static kw_status walk(struct irq_walk *w)
{
	const struct irq_layout *l = w->layout;
	kw_status status;

	if (l->tree == KW_NO_ADDR || (!l->maple && l->xa_head == KW_NO_ADDR))
		status = KW_NOTFOUND;
	else if (l->maple)
		status = kw_maple_each(w->ctx, w->kernel, l->tree, MAX_IRQS, take_desc, w);
	else
		status = walk_radix(w);
	if (status == KW_NOTFOUND)
		return status;
	for (unsigned int i = 0; !w->stopped && i < l->arch->nr; i++)
		if (kw_arch_irq_is_shown(w->ctx, l->arch, i))
			take_irq(w, 0, ARCH | i);
	return status;
}

static kw_status walk_irqs(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_row take,
			   void *arg)
{
	return walk(&(struct irq_walk){
		.ctx = ctx, .kernel = kernel, .layout = layout, .take = take, .arg = arg });
}

static kw_status walk_irq_cpus(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			       kw_take_row take, void *arg)
{
	return walk(&(struct irq_walk){
		.ctx = ctx, .kernel = kernel, .layout = layout, .take = take, .arg = arg, .per_cpu = true });
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
