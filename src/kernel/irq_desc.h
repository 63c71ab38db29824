/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interrupts of devices: finding their descriptors, counting how often each came.
 *
 *     irq_desc_tree (a radix tree) until 6.4, sparse_irqs (a maple tree) since 6.5  -> struct irq_desc
 *     irq_desc.tot_count     all CPUs together; not kept for per-CPU interrupts and NMIs
 *     irq_desc.kstat_irqs    per-CPU: unsigned int until 6.9, struct irqstat since 6.10
 *
 * The tree is walked when it has changed: a context keeps the descriptors that it has found.
 */
#ifndef KERNEL_IRQ_DESC_H
#define KERNEL_IRQ_DESC_H

#include "kernel/kept.h"
#include "kernel/source.h"
#include "memory/view.h"

#define KW_IRQ_HIDDEN (1u << 20) /* of irq_desc.status_use_accessors */

struct kw_irq_layout {
	uint64_t tree; /* address: of a radix or of a maple tree */
	bool maple;
	uint64_t xa_head;
	/* struct irq_desc */
	uint64_t kstat_irqs, action, status, istate, tot_count, name, hwirq, chip, domain;
	uint64_t tot_count_size;
	/* bytes of it that hold what counting looks at; span 0: not all members are there */
	uint64_t first, span;
	uint64_t action_at, status_at, istate_at, total_at; /* in these bytes */
};

extern const struct kw_subject kw_irq_desc_subject;

/**
 * List the descriptors of interrupts that have a handler or have come, in the order of their numbers: `index` is the
 * number; they are counted where the kernel keeps a total.
 *
 * @return KW_OK; KW_NOTFOUND when this kernel has no such tree; a read's state or KW_FORMAT for the first damage: all
 *         else was listed. No message
 */
kw_status kw_irq_desc_list(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			   struct kw_row_list *list);

/** How often an interrupt came, on all CPUs. A read's state, KW_NOTFOUND when this kernel has no such counters. */
kw_status kw_irq_desc_count(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			    uint64_t desc, uint64_t *ret);

/** The same on one CPU. */
kw_status kw_irq_desc_count_on(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			       uint64_t desc, unsigned int cpu, uint32_t *ret);

#endif
