/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding and counting the interrupts of devices. */
#include "kernel/irq_desc.h"

#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/maple.h"
#include "kernel/xarray.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_IRQS     (1u << 20) /* NR_IRQS is some 500,000 with 8192 CPUs */
#define MAX_SPAN     512	/* it has 200 bytes */

/* irq_desc.status_use_accessors, and core_internal_state__do_not_mess_with_it */
#define IRQ_PER_CPU	  (1u << 9)
#define IRQ_PER_CPU_DEVID (1u << 17)
#define IRQS_NMI	  0x2000u

static void find_span(struct kw_irq_layout *l)
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
	l->action_at = l->action - l->first;
	l->status_at = l->status - l->first;
	l->istate_at = l->istate - l->first;
	l->total_at = l->tot_count - l->first;
}

static void resolve_offsets(kw_ctx *ctx, struct kw_irq_layout *l)
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
	struct kw_irq_layout *l = layout;
	struct kw_symbol_query q[] = { { "sparse_irqs", KW_NO_ADDR }, { "irq_desc_tree", KW_NO_ADDR } };

	(void)kernel;
	kw_symbol_addresses(ctx, q, COUNT(q));
	l->maple = q[0].addr != KW_NO_ADDR;
	l->tree = l->maple ? q[0].addr : q[1].addr;
	l->xa_head = kw_offset_or_none(ctx, "xarray", "xa_head");
	resolve_offsets(ctx, l);
	return KW_OK;
}

const struct kw_subject kw_irq_desc_subject = { sizeof(struct kw_irq_layout), resolve };

/* Counting */

kw_status kw_irq_desc_count_on(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
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
static kw_status count_on_all(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			      uint64_t desc, uint64_t *ret)
{
	kw_status status = KW_OK;
	uint32_t sum = 0;

	for (unsigned int cpu = 0; !status && cpu < kernel->nr_cpus; cpu++) {
		uint32_t count = 0;

		if (kw_cpu_is_possible(kernel, cpu))
			status = kw_irq_desc_count_on(ctx, kernel, l, desc, cpu, &count);
		sum += count;
	}
	*ret = sum;
	return status;
}

/* Per-CPU interrupts and NMIs have no total. */
static inline bool counts_total(uint32_t settings, uint32_t internal)
{
	return !(settings & (IRQ_PER_CPU | IRQ_PER_CPU_DEVID)) && !(internal & IRQS_NMI);
}

/* A descriptor, and where it is mapped. */
struct found {
	uint64_t desc;
	struct kw_pin pin;
	uint32_t irq;
};

/* What is in it. */
struct look {
	bool is_used; /* it has a handler, its total is not 0, or it can't be read: that is to be seen */
	bool has_total;
	uint64_t total;
};

static inline struct look take_from(const struct kw_irq_layout *l, const uint8_t *at)
{
	uint64_t total = l->tot_count_size == 8 ? kw_load_u64(at + l->total_at)
						: kw_load_u32(at + l->total_at);
	bool has_total = counts_total(kw_load_u32(at + l->status_at), kw_load_u32(at + l->istate_at));

	return (struct look){ kw_load_u64(at + l->action_at) || (has_total && total), has_total, total };
}

static struct look look_for(kw_ctx *ctx, const struct kw_irq_layout *l, struct found *found)
{
	struct look look;
	uint8_t copy[MAX_SPAN];
	const uint8_t *at;
	kw_status status;

	do {
		look = (struct look){ .is_used = true };
		at = l->span ? kw_pin(ctx, &found->pin, found->desc + l->first, l->span, copy, &status)
			     : NULL;
		if (at)
			look = take_from(l, at);
	} while (at && kw_look_failed(ctx, at, copy));
	return look;
}

static inline struct look look_at(kw_ctx *ctx, const struct kw_irq_layout *l, struct found *found)
{
	struct look look = { 0 };

	if (found->pin.at)
		look = take_from(l, found->pin.at);
	return found->pin.at && !kw_look_failed(ctx, found->pin.at, NULL) ? look : look_for(ctx, l, found);
}

/* Finding */

struct irqs {
	struct {
		struct found *item;
		size_t nr, cap;
	} found;
	struct kw_tree_watch watch;
	bool is_busy; /* that is under way */
	bool failed;  /* out of memory */
};

static void *make_irqs(const struct kw_kernel *kernel)
{
	(void)kernel;
	return calloc(1, sizeof(struct irqs));
}

static void deinit_irqs(struct irqs *irqs)
{
	kw_tree_watch_deinit(&irqs->watch);
	free(irqs->found.item);
}

static void free_irqs(void *state)
{
	deinit_irqs(state);
	free(state);
}

/* An entry stands for one interrupt; another range is damage, and what it says of others is not believed. */
static bool add(uint64_t first, uint64_t last, uint64_t entry, void *arg)
{
	struct irqs *irqs = arg;
	struct found found = { .desc = entry, .irq = (uint32_t)first };

	irqs->failed = first == last && !kw_array_push(&irqs->found, found);
	return !irqs->failed;
}

static kw_status walk_radix(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			    struct irqs *irqs)
{
	uint64_t entries[KW_XA_MAX_SLOTS], base;
	struct kw_xa_walk xa;
	unsigned int nr;
	kw_status status =
		kw_xa_begin_watched(ctx, kernel, l->tree + l->xa_head, MAX_IRQS, &xa, &irqs->watch);

	if (status) {
		kw_clear_error(ctx);
		return status;
	}
	while (!irqs->failed && (nr = kw_xa_next_leaf(ctx, &xa, entries, &base)))
		for (unsigned int i = 0; i < nr && !irqs->failed; i++)
			if (kw_xa_is_pointer(entries[i]))
				add(base + i, base + i, entries[i], irqs);
	return xa.damaged ? xa.damage : KW_OK;
}

static kw_status find_all(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			  struct irqs *irqs)
{
	kw_status status;

	kw_tree_watch_clear(&irqs->watch);
	irqs->found.nr = 0;
	irqs->failed = false;
	if (l->maple)
		status = kw_maple_each_watched(ctx, kernel, l->tree, MAX_IRQS, add, irqs, &irqs->watch);
	else
		status = walk_radix(ctx, kernel, l, irqs);
	/* What was not walked wholly is to be walked again. */
	if (status || irqs->failed)
		kw_tree_watch_clear(&irqs->watch);
	return irqs->failed ? kw_fail_nomem(ctx) : status;
}

static bool came_to_a_cpu(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			  uint64_t desc)
{
	uint64_t count;

	return count_on_all(ctx, kernel, l, desc, &count) != KW_OK || count;
}

static inline void list_one(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			    struct found *found, struct kw_row_list *list)
{
	struct look look = look_at(ctx, l, found);
	struct kw_found_row *row;

	if (!look.is_used && (look.has_total || !came_to_a_cpu(ctx, kernel, l, found->desc)))
		return;
	row = kw_row_list_add(list, found->desc, found->irq, 0);
	row->is_counted = look.has_total;
	row->count = look.total;
}

static kw_status list_all(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			  struct irqs *irqs, struct kw_row_list *list)
{
	kw_status status = kw_tree_watch_same(ctx, &irqs->watch) ? KW_OK : find_all(ctx, kernel, l, irqs);
	struct found *one = irqs->found.item, *end = one + irqs->found.nr;

	irqs->is_busy = true;
	for (; one < end && !list->stopped; one++)
		list_one(ctx, kernel, l, one, list);
	irqs->is_busy = false;
	return status;
}

kw_status kw_irq_desc_list(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			   struct kw_row_list *list)
{
	struct irqs *kept = kw_context_keep(ctx, kernel, KW_CONTEXT_IRQS, make_irqs, free_irqs);
	struct irqs own = { 0 };
	kw_status status;

	if (l->tree == KW_NO_ADDR || (!l->maple && l->xa_head == KW_NO_ADDR))
		return KW_NOTFOUND;
	if (!kept)
		return KW_NOMEM;
	/* Whoever is handed a row may ask for rows. */
	if (!kept->is_busy)
		return list_all(ctx, kernel, l, kept, list);
	status = list_all(ctx, kernel, l, &own, list);
	deinit_irqs(&own);
	return status;
}

kw_status kw_irq_desc_count(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_irq_layout *l,
			    uint64_t desc, uint64_t *ret)
{
	struct found found = { .desc = desc };
	struct look look = look_for(ctx, l, &found);

	if (!look.has_total)
		return count_on_all(ctx, kernel, l, desc, ret);
	*ret = look.total;
	return KW_OK;
}
