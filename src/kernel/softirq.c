/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sources softirqs and softirq_cpus: /proc/softirqs. The names are the kernel's own, in softirq_to_name[]. */
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "memory/memory.h"
#include "memory/view.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct softirq_layout {
	const struct kw_cpu_layout *cpu;
	char name[KW_MAX_SOFTIRQS][16];
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct softirq_layout *l = layout;
	struct kw_symbol_query q = { "softirq_to_name", KW_NO_ADDR };
	uint64_t text;

	l->cpu = kw_layout_get(ctx, kernel, &kw_cpu_subject);
	if (!l->cpu)
		return ctx->status;
	kw_symbol_addresses(ctx, &q, 1);
	for (uint32_t i = 0; q.addr != KW_NO_ADDR && i < l->cpu->nr_softirqs; i++)
		if (kw_read_near_u64(ctx, q.addr + 8ULL * i, &text) != KW_OK ||
		    kw_read_string(ctx, text, l->name[i], sizeof(l->name[i])) != KW_OK)
			*l->name[i] = '\0';
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct softirq_layout), resolve };

static const struct kw_field_def fields[] = {
	KW_READ_FIELD("softirq", "SOFTIRQ", "", UINT, NONE, PLAIN, OBJECT, "number",
		      "index in softirq_to_name"),
	KW_READ_FIELD("name", "NAME", "", STRING, NONE, PLAIN, OBJECT, "TIMER, NET_RX, ...",
		      "softirq_to_name[]"),
	KW_READ_FIELD("count", "COUNT", "", UINT, COUNT, PLAIN, PERCPU,
		      "times it was run since boot, on all CPUs", "kernel_stat.softirqs[]"),
};

static const struct kw_field_def cpu_fields[] = {
	KW_READ_FIELD("softirq", "SOFTIRQ", "", UINT, NONE, PLAIN, OBJECT, "number",
		      "index in softirq_to_name"),
	KW_READ_FIELD("name", "NAME", "", STRING, NONE, PLAIN, OBJECT, "TIMER, NET_RX, ...",
		      "softirq_to_name[]"),
	KW_READ_FIELD("count", "COUNT", "", UINT, COUNT, PLAIN, OBJECT,
		      "times it was run on this CPU since boot", "kernel_stat.softirqs[]"),
	KW_READ_FIELD("cpu", "CPU", "", UINT, NONE, PLAIN, OBJECT, "number of the CPU",
		      "__cpu_possible_mask"),
};

enum { SOFTIRQ, NAME, SOFTIRQ_COUNT, CPU };

static void set_name(const struct softirq_layout *l, uint64_t softirq, struct kw_value *out)
{
	if (*l->name[softirq])
		kw_set_string(out, l->name[softirq]);
	else
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
}

static void set_count(struct kw_value *out, kw_status status, uint32_t count)
{
	if (status)
		kw_set_absent(out, kw_absent_of_counter(status));
	else
		kw_set_uint(out, count);
}

/* The kernel adds up in 32 bits. */
static bool put_counts(const struct kw_row *row, const struct softirq_layout *l, const struct kw_rows *rows,
		       struct kw_value *column)
{
	const struct kw_found_row *found = rows->found, *end = found + rows->nr;
	const struct kw_cpu_kstat_sums *sums;
	size_t stride = rows->stride;
	kw_status status = kw_cpu_kstat_all(row->ctx, row->kernel, l->cpu, &sums);

	if (status) {
		kw_rows_set_absent(rows, column, kw_absent_of_counter(status));
		return true;
	}
	for (; found < end; found++, column += stride)
		kw_set_uint(column, (uint32_t)sums->softirqs[found->index]);
	return false;
}

static bool read_softirqs(struct kw_row *row, const void *layout, const struct kw_rows *rows)
{
	struct kw_value *number = rows->column[SOFTIRQ], *name = rows->column[NAME],
			*count = rows->column[SOFTIRQ_COUNT];

	if (number)
		kw_rows_put_index(rows, number);
	for (size_t i = 0; name && i < rows->nr; i++, name += rows->stride)
		set_name(layout, rows->found[i].index, name);
	return count && put_counts(row, layout, rows, count);
}

static void read_softirq_cpu(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct softirq_layout *l = layout;
	uint64_t addr = kw_percpu(row->kernel, l->cpu->kstat, row->cpu);
	uint32_t count = 0;
	kw_status status = KW_NOTFOUND;

	if (addr != KW_NO_ADDR && l->cpu->kstat_size)
		status = kw_read_near_u32(row->ctx, addr + l->cpu->softirqs + 4 * row->index, &count);
	kw_set_uint(&values[SOFTIRQ], row->index);
	if (kw_row_wants(row, NAME))
		set_name(l, row->index, &values[NAME]);
	set_count(&values[SOFTIRQ_COUNT], status, count);
	kw_set_uint(&values[CPU], row->cpu);
}

static const struct kw_field_table table = { fields, COUNT(fields) };
static const struct kw_field_table cpu_table = { cpu_fields, COUNT(cpu_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &table, .subject = &subject, .read_rows = read_softirqs },
};

static const struct kw_field_group cpu_groups[] = {
	{ .table = &cpu_table, .subject = &subject, .read = read_softirq_cpu },
};

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	const struct softirq_layout *l = layout;
	struct kw_row_list list;

	(void)ctx;
	(void)kernel;
	kw_row_list_begin(&list, take, arg);
	for (uint32_t i = 0; i < l->cpu->nr_softirqs; i++)
		kw_row_list_add(&list, 0, i, 0);
	kw_row_list_flush(&list);
	return l->cpu->nr_softirqs ? KW_OK : KW_NOTFOUND;
}

static kw_status walk_cpus(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
			   void *arg)
{
	const struct softirq_layout *l = layout;
	bool go_on = true;

	(void)ctx;
	for (uint32_t i = 0; i < l->cpu->nr_softirqs; i++)
		for (unsigned int cpu = 0; go_on && cpu < kernel->nr_cpus; cpu++)
			go_on = !kw_cpu_is_possible(kernel, cpu) || kw_take_row(take, 0, i, cpu, arg);
	return l->cpu->nr_softirqs ? KW_OK : KW_NOTFOUND;
}

const struct kw_source_def kw_softirq_source = {
	.pub = { "softirqs", "a kind of softirq", "softirq,name,count" },
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};

const struct kw_source_def kw_softirq_cpu_source = {
	.pub = { "softirq_cpus", "a kind of softirq on one CPU", "softirq,name,cpu,count" },
	.groups = cpu_groups,
	.nr_groups = COUNT(cpu_groups),
	.subject = &subject,
	.walk = walk_cpus,
};
