/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interrupts.
 *
 * Those of devices have a struct irq_desc each. The others (timer, calls between CPUs, machine checks) are counted by
 * the architecture, x86 here, and have a label instead of a number.
 */
#ifndef KERNEL_IRQ_H
#define KERNEL_IRQ_H

#include "kernel/source.h"
#include "memory/view.h"

#define KW_MAX_ARCH_IRQS 64 /* bits of a word */
#define KW_MAX_IRQ_AREAS 8
#define KW_MAX_IRQ_STAT	 512 /* bytes of irq_cpustat_t, which has 128 */

/** One of the interrupts that the architecture counts. */
struct kw_arch_irq {
	char label[16];	 /* "NMI", "LOC", ... */
	char text[80];	 /* as /proc/interrupts describes it */
	uint64_t symbol; /* of the variable: per-CPU, but for a global one */
	uint64_t offset; /* of the 32-bit counter in it */
	bool global;	 /* one counter for all CPUs */
	bool summed;	 /* part of the total in /proc/stat */
};

/** A variable that has one or more of these counters. */
struct kw_irq_area {
	uint64_t symbol;
	uint32_t size;
	/* its part of counter[]: first come those that are part of the total in /proc/stat */
	unsigned int first, nr_summed, nr;
};

struct kw_arch_irq_layout {
	struct kw_arch_irq irq[KW_MAX_ARCH_IRQS];
	unsigned int nr;
	uint64_t irq_stat; /* per-CPU */
	uint32_t irq_stat_size;
	uint64_t shown; /* address of the bitmap of those that are shown, or KW_NO_ADDR: it does not change */
	uint64_t shown_first; /* the bitmap when this was resolved */
	/* the same counters, as they lie together */
	struct kw_irq_area area[KW_MAX_IRQ_AREAS]; /* first come those that are per-CPU */
	unsigned int nr_areas, nr_per_cpu;
	struct kw_irq_counter {
		uint32_t offset; /* in its variable */
		uint32_t place;	 /* in irq[] */
	} counter[KW_MAX_ARCH_IRQS];
};

extern const struct kw_subject kw_arch_irq_subject;

/** Tell which of them /proc/interrupts shows: a bitmap. */
static inline uint64_t kw_arch_irqs_shown(kw_ctx *ctx, const struct kw_arch_irq_layout *l)
{
	uint64_t word;

	if (l->shown == KW_NO_ADDR)
		return l->shown_first;
	return kw_read_near_u64(ctx, l->shown, &word) == KW_OK ? word : UINT64_MAX; /* rather too many */
}

/** Read a counter on a CPU (any for a global one). A read's state, KW_NOTFOUND for an impossible CPU. */
kw_status kw_arch_irq_count(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_arch_irq *irq,
			    unsigned int cpu, uint32_t *ret);

/** What was counted, on all CPUs together. */
struct kw_arch_irq_counts {
	uint64_t pass; /* in which they were read */
	uint64_t count[KW_MAX_ARCH_IRQS];
	kw_status status[KW_MAX_ARCH_IRQS]; /* as of kw_arch_irq_count() */
	uint64_t summed;		    /* those that are part of the total in /proc/stat */
	kw_status summed_status;	    /* of the first of them that could not be read */
};

/** Read all counters, as kw_arch_irq_counts(). */
const struct kw_arch_irq_counts *kw_arch_irq_read(kw_ctx *ctx, const struct kw_kernel *kernel,
						  const struct kw_arch_irq_layout *l);

/** Get all counters, read once a pass: good until the next call. NULL when memory runs out, with the error set. */
static inline const struct kw_arch_irq_counts *kw_arch_irq_counts(kw_ctx *ctx, const struct kw_kernel *kernel,
								  const struct kw_arch_irq_layout *l)
{
	const struct kw_arch_irq_counts *kept = ctx->kept ? ctx->kept[KW_CONTEXT_ARCH_IRQS].state : NULL;

	return kept && kept->pass == kw_pass_number(ctx) ? kept : kw_arch_irq_read(ctx, kernel, l);
}

/** Add the counters of a CPU that are part of the total in /proc/stat. */
kw_status kw_arch_irq_sum(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_arch_irq_layout *l,
			  unsigned int cpu, uint64_t *sum);

#endif
