/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields of the system: what /proc/meminfo would have if the CPUs handed in what they know. Each CPU collects changes of a
 * counter in a byte of its own before it adds them to the one that all share; the kernel leaves these bytes out.
 */
#include "kernel/meminfo_sums.h"

#include "kernel/cpu.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FIELD(field, name, header, unit, first, second)                         \
	KW_READ_FIELD(#name "_exact", header "+", "", UINT, BYTES, KIB, PERCPU, \
		      #name " with what the CPUs have not handed in yet",       \
		      first " and per_cpu_zonestat, per_cpu_nodestat"),
static const struct kw_field_def fields[] = { KW_MEM_SUMS(FIELD) };

#define SUM(field, name, header, unit, first, second) { KW_MEM_##unit, { first, second } },
static const struct {
	enum kw_mem_unit unit;
	const char *items[KW_MEM_SUM_ITEMS];
} sums[] = { KW_MEM_SUMS(SUM) };

struct exact_layout {
	const struct kw_vm_layout *vm;
	struct kw_vm_item items[COUNT(sums)][KW_MEM_SUM_ITEMS];
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct exact_layout *l = layout;

	l->vm = kw_layout_get(ctx, kernel, &kw_vm_subject);
	if (!l->vm)
		return ctx->status;
	for (size_t i = 0; i < COUNT(sums); i++)
		for (size_t k = 0; k < KW_MEM_SUM_ITEMS && sums[i].items[k]; k++)
			l->items[i][k] = kw_vm_find(ctx, sums[i].items[k]);
	return KW_OK;
}

void kw_meminfo_exact_read(struct kw_row *row, const void *layout, struct kw_value *values)
{
	const struct exact_layout *l = layout;

	for (size_t i = 0; i < COUNT(sums); i++) {
		uint64_t sum = 0;
		kw_status status = KW_OK;

		for (size_t k = 0; !status && k < KW_MEM_SUM_ITEMS && sums[i].items[k]; k++) {
			uint64_t value = 0;

			status = kw_vm_exact(row->ctx, row->kernel, l->vm, l->items[i][k], &value);
			sum += value;
		}
		if (!status)
			kw_set_uint(&values[i], sum * kw_mem_unit_bytes(l->vm, sums[i].unit));
		else
			kw_set_absent(&values[i], status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER
									: kw_absent_of_status(status));
	}
}

const struct kw_field_table kw_meminfo_exact_fields = { fields, COUNT(fields) };
const struct kw_subject kw_meminfo_exact_subject = { sizeof(struct exact_layout), resolve };
