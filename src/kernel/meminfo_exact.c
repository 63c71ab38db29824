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

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	return kw_mem_sums_find(ctx, kernel, layout);
}

void kw_meminfo_exact_read(struct kw_row *row, const void *layout, struct kw_value *values)
{
	for (size_t i = 0; i < KW_MEM_SUM_NR; i++) {
		uint64_t sum;
		kw_status status = kw_mem_sum(row->ctx, row->kernel, layout, i, true, &sum);

		if (!status)
			kw_set_uint(&values[i], sum);
		else
			kw_set_absent(&values[i], status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER
									: kw_absent_of_status(status));
	}
}

const struct kw_field_table kw_meminfo_exact_fields = { fields, COUNT(fields) };
const struct kw_subject kw_meminfo_exact_subject = { sizeof(struct kw_mem_sums), resolve };
