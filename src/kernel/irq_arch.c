/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interrupts that x86 counts itself, in the per-CPU variable irq_stat.
 *
 * Until 7.1 or so each has a member of irq_cpustat_t, and what /proc shows of it is code: it is the table below. Since
 * then there is an array, irq_stat.counts[], and irq_stat_info[] has labels and texts.
 */
#include "kernel/irq.h"

#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/bytes.h"
#include "util/error.h"

/* In the order of /proc/interrupts. */
static const struct {
	const char *member, *label, *text;
	bool summed;
	uint8_t vector;	      /* shown only when this one is taken, 0: always */
	const char *callback; /* shown and summed only when this pointer is set, or NULL */
} members[] = {
	{ "__nmi_count", "NMI", "Non-maskable interrupts", true, 0, NULL },
	{ "apic_timer_irqs", "LOC", "Local timer interrupts", true, 0, NULL },
	{ "irq_spurious_count", "SPU", "Spurious interrupts", true, 0, NULL },
	{ "apic_perf_irqs", "PMI", "Performance monitoring interrupts", true, 0, NULL },
	{ "apic_irq_work_irqs", "IWI", "IRQ work interrupts", true, 0, NULL },
	{ "icr_read_retry_count", "RTR", "APIC ICR read retries", true, 0, NULL },
	{ "x86_platform_ipis", "PLT", "Platform interrupts", true, 0, "x86_platform_ipi_callback" },
	{ "irq_resched_count", "RES", "Rescheduling interrupts", true, 0, NULL },
	{ "irq_call_count", "CAL", "Function call interrupts", true, 0, NULL },
	{ "irq_tlb_count", "TLB", "TLB shootdowns", false, 0, NULL },
	{ "irq_thermal_count", "TRM", "Thermal event interrupts", true, 0, NULL },
	{ "irq_threshold_count", "THR", "Threshold APIC interrupts", true, 0, NULL },
	{ "irq_deferred_error_count", "DFR", "Deferred Error APIC interrupts", false, 0, NULL },
	{ "mce_exception_count", "MCE", "Machine check exceptions", true, 0, NULL },
	{ "mce_poll_count", "MCP", "Machine check polls", true, 0, NULL },
	{ "irq_hv_callback_count", "HYP", "Hypervisor callback interrupts", false, 0xf3, NULL },
	{ "irq_hv_reenlightenment_count", "HRE", "Hyper-V reenlightenment interrupts", false, 0xee, NULL },
	{ "hyperv_stimer0_count", "HVS", "Hyper-V stimer0 interrupts", false, 0xed, NULL },
	{ "irq_err_count", "ERR", "", true, 0, NULL },
	{ "irq_mis_count", "MIS", "", false, 0, NULL },
	{ "kvm_posted_intr_ipis", "PIN", "Posted-interrupt notification event", false, 0, NULL },
	{ "kvm_posted_intr_nested_ipis", "NPI", "Nested posted-interrupt event", false, 0, NULL },
	{ "kvm_posted_intr_wakeup_ipis", "PIW", "Posted-interrupt wakeup event", false, 0, NULL },
};

#define NR_MEMBERS (sizeof(members) / sizeof(members[0]))

enum { IRQ_STAT, MCE_EXCEPTION, MCE_POLL, ERR_COUNT, MIS_COUNT, PLATFORM_CALLBACK, VECTORS, INFO, SHOWN };

static bool vector_is_taken(kw_ctx *ctx, uint64_t vectors, uint8_t vector)
{
	uint64_t word = 0;

	return vectors != KW_NO_ADDR && kw_read_near_u64(ctx, vectors + vector / 64 * 8, &word) == KW_OK &&
	       word >> (vector % 64) & 1;
}

static bool is_set(kw_ctx *ctx, uint64_t pointer)
{
	uint64_t value = 0;

	return pointer != KW_NO_ADDR && kw_read_near_u64(ctx, pointer, &value) == KW_OK && value;
}

/* Variables of their own, beside the members of irq_stat. */
static uint64_t own_symbol(const struct kw_symbol_query *q, const char *member, bool *global)
{
	*global = strcmp(member, "irq_err_count") == 0 || strcmp(member, "irq_mis_count") == 0;
	for (int i = MCE_EXCEPTION; i <= MIS_COUNT; i++)
		if (strcmp(q[i].name, member) == 0)
			return q[i].addr;
	return KW_NO_ADDR;
}

static void take_members(kw_ctx *ctx, const struct kw_symbol_query *q, struct kw_arch_irq_layout *l)
{
	for (size_t i = 0; i < NR_MEMBERS; i++) {
		bool global, shown = true;
		uint64_t symbol = own_symbol(q, members[i].member, &global), offset = 0;

		if (symbol == KW_NO_ADDR) {
			symbol = q[IRQ_STAT].addr;
			offset = kw_offset_or_none(ctx, "irq_cpustat_t", members[i].member);
		}
		if (members[i].vector)
			shown = vector_is_taken(ctx, q[VECTORS].addr, members[i].vector);
		if (members[i].callback)
			shown = is_set(ctx, q[PLATFORM_CALLBACK].addr);
		if (symbol == KW_NO_ADDR || offset == KW_NO_ADDR ||
		    (symbol == l->irq_stat && offset + 4 > l->irq_stat_size))
			continue;
		l->irq[l->nr] = (struct kw_arch_irq){
			.symbol = symbol,
			.offset = offset,
			.global = global,
			.summed = members[i].summed && (shown || !members[i].callback),
		};
		l->shown_first |= (uint64_t)shown << l->nr;
		strcpy(l->irq[l->nr].label, members[i].label);
		strcpy(l->irq[l->nr].text, members[i].text);
		l->nr++;
	}
}

/* The text of irq_stat_info[] has two blanks before it and a newline behind. */
static void read_text(kw_ctx *ctx, uint64_t pointer, char *buf, size_t size)
{
	uint64_t addr;
	size_t blanks, len;

	*buf = '\0';
	if (kw_read_near_u64(ctx, pointer, &addr) != KW_OK || kw_read_string(ctx, addr, buf, size) != KW_OK)
		return;
	blanks = strspn(buf, " ");
	len = strcspn(buf + blanks, "\n");
	memmove(buf, buf + blanks, len);
	buf[len] = '\0';
}

static void take_array(kw_ctx *ctx, const struct kw_symbol_query *q, const struct kw_member *counts,
		       struct kw_arch_irq_layout *l)
{
	uint32_t nr = kw_type_strip(ctx, counts->type)->count;
	uint64_t symbol = kw_offset_or_none(ctx, "irq_stat_info", "symbol");
	uint64_t text = kw_offset_or_none(ctx, "irq_stat_info", "text");
	const struct kw_type *info;

	if (kw_type_find(ctx, "struct irq_stat_info", &info) != KW_OK || symbol == KW_NO_ADDR ||
	    text == KW_NO_ADDR || q[INFO].addr == KW_NO_ADDR || nr > KW_MAX_ARCH_IRQS ||
	    counts->bit_offset / 8 + 4ULL * nr > l->irq_stat_size)
		return;
	l->shown = q[SHOWN].addr;
	l->shown_first = UINT64_MAX;
	if (l->shown != KW_NO_ADDR)
		l->shown_first = kw_arch_irqs_shown(ctx, l);
	for (uint32_t i = 0; i < nr; i++) {
		struct kw_arch_irq *irq = &l->irq[i];
		uint64_t entry = q[INFO].addr + i * info->size;

		*irq = (struct kw_arch_irq){
			.symbol = q[IRQ_STAT].addr,
			.offset = counts->bit_offset / 8 + 4ULL * i,
			.summed = true,
		};
		read_text(ctx, entry + symbol, irq->label, sizeof(irq->label));
		read_text(ctx, entry + text, irq->text, sizeof(irq->text));
	}
	l->nr = nr;
}

_Static_assert(MIS_COUNT - IRQ_STAT < KW_MAX_IRQ_AREAS, "each of these variables is an area");

static void note_area(struct kw_arch_irq_layout *l, const struct kw_arch_irq *irq)
{
	for (unsigned int i = 0; i < l->nr_areas; i++)
		if (l->area[i].symbol == irq->symbol)
			return;
	l->area[l->nr_areas++] = (struct kw_irq_area){
		.symbol = irq->symbol,
		.size = irq->symbol == l->irq_stat ? l->irq_stat_size : 4,
	};
}

/* Add the counters of an area that are part of the total, or those that are not. Returns how many there are now. */
static unsigned int place_counters(struct kw_arch_irq_layout *l, const struct kw_irq_area *area, bool summed,
				   unsigned int nr)
{
	for (unsigned int i = 0; i < l->nr; i++)
		if (l->irq[i].symbol == area->symbol && l->irq[i].summed == summed)
			l->counter[nr++] = (struct kw_irq_counter){ (uint32_t)l->irq[i].offset, i };
	return nr;
}

static void sort_out(struct kw_arch_irq_layout *l)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < l->nr; i++)
		if (!l->irq[i].global)
			note_area(l, &l->irq[i]);
	l->nr_per_cpu = l->nr_areas;
	for (unsigned int i = 0; i < l->nr; i++)
		note_area(l, &l->irq[i]);
	for (unsigned int i = 0; i < l->nr_areas; i++) {
		struct kw_irq_area *area = &l->area[i];

		area->first = nr;
		nr = place_counters(l, area, true, nr);
		area->nr_summed = nr - area->first;
		nr = place_counters(l, area, false, nr);
		area->nr = nr - area->first;
	}
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct kw_arch_irq_layout *l = layout;
	struct kw_symbol_query q[] = {
		[IRQ_STAT] = { "irq_stat", KW_NO_ADDR },
		[MCE_EXCEPTION] = { "mce_exception_count", KW_NO_ADDR },
		[MCE_POLL] = { "mce_poll_count", KW_NO_ADDR },
		[ERR_COUNT] = { "irq_err_count", KW_NO_ADDR },
		[MIS_COUNT] = { "irq_mis_count", KW_NO_ADDR },
		[PLATFORM_CALLBACK] = { "x86_platform_ipi_callback", KW_NO_ADDR },
		[VECTORS] = { "system_vectors", KW_NO_ADDR },
		[INFO] = { "irq_stat_info", KW_NO_ADDR },
		[SHOWN] = { "irq_stat_count_show", KW_NO_ADDR },
	};
	const struct kw_type *type;
	struct kw_member counts;

	(void)kernel;
	kw_symbol_addresses(ctx, q, sizeof(q) / sizeof(q[0]));
	l->shown = KW_NO_ADDR;
	l->irq_stat = q[IRQ_STAT].addr;
	if (l->irq_stat == KW_NO_ADDR || kw_type_find(ctx, "irq_cpustat_t", &type) != KW_OK ||
	    kw_type_size(ctx, type) > KW_MAX_IRQ_STAT)
		return KW_OK;
	l->irq_stat_size = (uint32_t)kw_type_size(ctx, type);
	if (kw_type_offset(ctx, "irq_cpustat_t", "counts", &counts) == KW_OK)
		take_array(ctx, q, &counts, l);
	else
		take_members(ctx, q, l);
	sort_out(l);
	return KW_OK;
}

const struct kw_subject kw_arch_irq_subject = { sizeof(struct kw_arch_irq_layout), resolve };

kw_status kw_arch_irq_count(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_arch_irq *irq,
			    unsigned int cpu, uint32_t *ret)
{
	uint64_t addr = irq->global ? irq->symbol : kw_percpu(kernel, irq->symbol, cpu);

	return addr == KW_NO_ADDR ? KW_NOTFOUND : kw_read_near_u32(ctx, addr + irq->offset, ret);
}

/* What a context keeps. */
struct arch_irqs {
	struct kw_arch_irq_counts counts;	   /* first: kw_arch_irq_counts() */
	struct kw_pin global[KW_MAX_IRQ_AREAS];	   /* of variables that all CPUs share */
	struct kw_pin per_cpu[][KW_MAX_IRQ_AREAS]; /* of each CPU's */
};

static void *make_kept(const struct kw_kernel *kernel)
{
	return calloc(1,
		      sizeof(struct arch_irqs) + kernel->nr_cpus * sizeof(struct kw_pin[KW_MAX_IRQ_AREAS]));
}

static void fail(const struct kw_arch_irq_layout *l, const struct kw_irq_area *area,
		 struct kw_arch_irq_counts *counts, kw_status status)
{
	for (unsigned int i = area->first; i < area->first + area->nr; i++)
		if (!counts->status[l->counter[i].place])
			counts->status[l->counter[i].place] = status;
	if (area->nr_summed && !counts->summed_status)
		counts->summed_status = status;
}

/* Add counters to those of other CPUs. Returns their sum. */
static inline uint64_t add(const uint8_t *at, const struct kw_irq_counter *counter, unsigned int nr,
			   uint64_t *counts)
{
	const struct kw_irq_counter *end = counter + nr;
	uint64_t sum = 0;

	for (; counter < end; counter++) {
		uint32_t count = kw_load_u32(at + counter->offset);

		counts[counter->place] += count;
		sum += count;
	}
	return sum;
}

/* Add those of a range of areas; `offset` is what a CPU's lie behind the symbols. */
static void add_areas(kw_ctx *ctx, const struct kw_arch_irq_layout *l, unsigned int first, unsigned int end,
		      uint64_t offset, struct kw_pin *pin, struct kw_arch_irq_counts *counts)
{
	for (const struct kw_irq_area *area = &l->area[first]; area < &l->area[end]; area++, pin++) {
		const struct kw_irq_counter *counter = &l->counter[area->first];
		uint8_t copy[KW_MAX_IRQ_STAT];
		kw_status status;
		const uint8_t *at =
			kw_look_pinned(ctx, pin, offset + area->symbol, area->size, copy, &status);

		if (!at) {
			fail(l, area, counts, status);
			continue;
		}
		counts->summed += add(at, counter, area->nr_summed, counts->count);
		add(at, counter + area->nr_summed, area->nr - area->nr_summed, counts->count);
	}
}

/* CPU by CPU, for what a CPU has lies together. */
static void add_all(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_arch_irq_layout *l,
		    struct arch_irqs *kept)
{
	struct kw_arch_irq_counts *counts = &kept->counts;

	for (size_t i = 0, nr = l->nr; i < nr; i++) {
		counts->count[i] = 0;
		counts->status[i] = KW_OK;
	}
	counts->summed = 0;
	counts->summed_status = l->nr ? KW_OK : KW_NOTFOUND;
	add_areas(ctx, l, l->nr_per_cpu, l->nr_areas, 0, kept->global, counts);
	for (unsigned int i = 0; !kernel->nr_cpus && i < l->nr_per_cpu; i++)
		fail(l, &l->area[i], counts, KW_NOTFOUND);
	for (unsigned int cpu = 0; cpu < kernel->nr_cpus; cpu++)
		if (kw_cpu_is_possible(kernel, cpu))
			add_areas(ctx, l, 0, l->nr_per_cpu, kernel->percpu_offset[cpu], kept->per_cpu[cpu],
				  counts);
}

const struct kw_arch_irq_counts *kw_arch_irq_read(kw_ctx *ctx, const struct kw_kernel *kernel,
						  const struct kw_arch_irq_layout *l)
{
	struct arch_irqs *kept = kw_context_keep(ctx, kernel, KW_CONTEXT_ARCH_IRQS, make_kept, free);
	uint64_t faults;

	if (!kept)
		return NULL;
	do {
		faults = kw_faults_now(ctx);
		add_all(ctx, kernel, l, kept);
	} while (kw_faults_since(ctx, faults));
	kept->counts.pass = kw_pass_number(ctx);
	return &kept->counts;
}

kw_status kw_arch_irq_sum(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_arch_irq_layout *l,
			  unsigned int cpu, uint64_t *sum)
{
	kw_status status = l->nr ? KW_OK : KW_NOTFOUND;

	for (unsigned int i = 0; !status && i < l->nr; i++) {
		uint32_t count = 0;

		if (l->irq[i].summed && !l->irq[i].global)
			status = kw_arch_irq_count(ctx, kernel, &l->irq[i], cpu, &count);
		*sum += count;
	}
	return status;
}
