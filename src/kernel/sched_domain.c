/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source sched_domains: groups of CPUs among which tasks are balanced, of each CPU from the smallest to the largest.
 *
 *     per-CPU runqueues.sd -> struct sched_domain -> parent -> ... -> NULL
 *     sched_domain.span[]    its CPUs: a mask, as long as there are CPUs; since 7.0 or so it has no name, and lies right
 *                            behind the structure
 */
#include <stdio.h>

#include <kwalk/symbol.h>

#include "kernel/cpu.h"
#include "memory/memory.h"
#include "type/types.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_LEVELS   32
#define MASK_BYTES   (KW_MAX_CPUS / 8)

struct domain_layout {
	const struct kw_cpu_layout *cpu;
	uint64_t runqueues, sd;	       /* rq.sd */
	uint64_t parent, span, weight; /* struct sched_domain */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct domain_layout *l = layout;
	const struct kw_type *type;

	l->cpu = kw_layout_get(ctx, kernel, &kw_cpu_subject);
	if (!l->cpu)
		return ctx->status;
	l->runqueues = l->cpu->runqueues;
	l->sd = kw_offset_or_none(ctx, "rq", "sd");
	l->parent = kw_offset_or_none(ctx, "sched_domain", "parent");
	l->span = kw_offset_or_none(ctx, "sched_domain", "span");
	l->weight = kw_offset_or_none(ctx, "sched_domain", "span_weight");
	if (l->span == KW_NO_ADDR && kw_type_find(ctx, "struct sched_domain", &type) == KW_OK)
		l->span = kw_type_size(ctx, type);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct domain_layout), resolve };

static const struct kw_field_def place_fields[] = {
	KW_READ_FIELD("cpu", "CPU", "", UINT, NONE, PLAIN, OBJECT, "number of the CPU whose domain it is",
		      "__cpu_online_mask"),
	KW_READ_FIELD("domain", "DOMAIN", "", UINT, COUNT, PLAIN, OBJECT,
		      "how many smaller ones it is made of", "rq.sd, sched_domain.parent"),
	KW_READ_FIELD("span", "SPAN", "", STRING, NONE, PLAIN, OBJECT,
		      "its CPUs: a mask in hexadecimal digits, the last CPU first", "sched_domain.span[]"),
};

/* As the kernel writes a mask: words of 32 bits, the first with as many digits as the CPUs need. */
static size_t write_mask(const uint32_t *words, unsigned int nr_cpus, char *text, size_t size)
{
	unsigned int last = (nr_cpus - 1) / 32, digits = ((nr_cpus - 1) % 32) / 4 + 1;
	size_t used = (size_t)snprintf(text, size, "%0*x", (int)digits, words[last]);

	for (unsigned int i = last; i--;)
		used += (size_t)snprintf(text + used, size - used, ",%08x", words[i]);
	return used;
}

static unsigned int count_bits(const uint32_t *words, unsigned int nr)
{
	unsigned int bits = 0;

	while (nr--)
		bits += (unsigned int)__builtin_popcount(words[nr]);
	return bits;
}

/* The structure says how many CPUs there are: where it does not fit, that is no mask. */
static void set_span(struct kw_row *row, const struct domain_layout *l, struct kw_value *out)
{
	unsigned int nr = row->kernel->nr_cpus;
	uint32_t words[MASK_BYTES / 4], weight;
	char text[MASK_BYTES / 4 * 9 + 1];
	kw_status status;

	if (l->span == KW_NO_ADDR || l->weight == KW_NO_ADDR || !nr) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = kw_read(row->ctx, row->task + l->span, words, (nr + 63) / 64 * sizeof(uint64_t));
	if (!status)
		status = kw_read_u32(row->ctx, row->task + l->weight, &weight);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else if (count_bits(words, (nr + 63) / 64 * 2) != weight)
		kw_set_absent(out, KW_ABSENT_DAMAGED);
	else
		kw_row_put(row, out, text, write_mask(words, nr, text, sizeof(text)));
}

static void read_place(struct kw_row *row, const void *layout, struct kw_value *values)
{
	kw_set_uint(&values[0], row->cpu);
	kw_set_uint(&values[1], row->index);
	if (kw_row_wants(row, 2))
		set_span(row, layout, &values[2]);
}

static const struct kw_field_def name_fields[] = {
	KW_PATH_FIELD("name", "NAME", STRING, NONE, PLAIN, POINTER,
		      "what its CPUs share: SMT, MC (a cache), NUMA, ...", "sched_domain.name", "name", NULL),
};

static const struct kw_field_table place_table = { place_fields, COUNT(place_fields) };
static const struct kw_field_table name_table = { name_fields, COUNT(name_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &place_table, .subject = &subject, .read = read_place },
	{ .table = &name_table },
};

struct walk {
	kw_ctx *ctx;
	const struct domain_layout *layout;
	kw_take_rows take;
	void *arg;
	bool stopped;
};

static kw_status walk_cpu(struct walk *w, uint64_t rq, unsigned int cpu)
{
	uint64_t domain;
	kw_status status = kw_read_u64(w->ctx, rq + w->layout->sd, &domain);

	for (unsigned int level = 0; !status && domain && !w->stopped; level++) {
		if (level == MAX_LEVELS)
			return KW_FORMAT;
		w->stopped = !kw_take_row(w->take, domain, level, cpu, w->arg);
		status = kw_read_u64(w->ctx, domain + w->layout->parent, &domain);
	}
	return status;
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	struct walk w = { ctx, layout, take, arg, false };
	kw_status damage = KW_OK;

	if (!kernel->nr_cpus || w.layout->runqueues == KW_NO_ADDR || w.layout->sd == KW_NO_ADDR ||
	    w.layout->parent == KW_NO_ADDR)
		return KW_NOTFOUND;
	for (unsigned int cpu = 0; !w.stopped && cpu < kernel->nr_cpus; cpu++) {
		kw_status status = KW_OK;

		if (kw_cpu_is_online(ctx, kernel, w.layout->cpu, cpu))
			status = walk_cpu(&w, kw_percpu(kernel, w.layout->runqueues, cpu), cpu);
		damage = damage ? damage : status;
	}
	return damage;
}

const struct kw_source_def kw_sched_domain_source = {
	.pub = { "sched_domains", "CPUs among which tasks are balanced, of each CPU",
		 "cpu,domain,name,span" },
	.type = "struct sched_domain",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
