/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of the memory manager's items. */
#include "kernel/meminfo_sums.h"

#include "kernel/cpu.h"

#define SUM(field, name, header, unit, first, second) { KW_MEM_##unit, { first, second } },
static const struct {
	enum kw_mem_unit unit;
	const char *items[KW_MEM_SUM_ITEMS];
} table[] = { KW_MEM_SUMS(SUM) };

kw_status kw_mem_sums_find(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_mem_sums *sums)
{
	sums->vm = kw_layout_get(ctx, kernel, &kw_vm_subject);
	if (!sums->vm)
		return ctx->status;
	for (size_t i = 0; i < KW_MEM_SUM_NR; i++)
		for (size_t k = 0; k < KW_MEM_SUM_ITEMS && table[i].items[k]; k++)
			sums->items[i][k] = kw_vm_find(ctx, table[i].items[k]);
	return KW_OK;
}

/* Bytes of one of an item. */
static uint64_t unit_bytes(const struct kw_vm_layout *l, enum kw_mem_unit unit)
{
	if (unit == KW_MEM_KIB)
		return 1024;
	return unit == KW_MEM_HUGE && !l->thps_in_pages ? KW_PAGE_SIZE * KW_HUGE_PAGES : KW_PAGE_SIZE;
}

kw_status kw_mem_sum(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_mem_sums *sums, size_t i,
		     bool exact, uint64_t *ret)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < KW_MEM_SUM_ITEMS && table[i].items[k]; k++) {
		uint64_t value = 0;
		kw_status status = exact ? kw_vm_exact(ctx, kernel, sums->vm, sums->items[i][k], &value)
					 : kw_vm_read(ctx, sums->vm, sums->items[i][k], &value);

		if (status)
			return status;
		sum += value;
	}
	*ret = sum * unit_bytes(sums->vm, table[i].unit);
	return KW_OK;
}
