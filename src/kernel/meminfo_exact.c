/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields of the system: what /proc/meminfo would have if the CPUs handed in what they know. Each CPU collects changes of a
 * counter in a byte of its own before it adds them to the one that all share; the kernel leaves these bytes out.
 */
#include "kernel/meminfo_sums.h"

#include "kernel/cpu.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Behind the sums. */
enum { CACHED = KW_MEM_SUM_NR, AVAILABLE };

#define FIELD(field, name, header, unit, first, second)                         \
	KW_READ_FIELD(#name "_exact", header "+", "", UINT, BYTES, KIB, PERCPU, \
		      #name " with what the CPUs have not handed in yet",       \
		      first " and per_cpu_zonestat, per_cpu_nodestat"),
static const struct kw_field_def fields[] = { KW_MEM_SUMS(FIELD) FIELD(
	CACHED, cached, "CACHED", PAGES, "NR_FILE_PAGES - NR_SWAPCACHE - buffers",
	NULL) FIELD(AVAILABLE, mem_available, "AVAIL", PAGES, "free, watermarks, page cache, slab", NULL) };

struct exact_layout {
	struct kw_mem_sums sums;
	const void *meminfo;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct exact_layout *l = layout;

	l->meminfo = kw_layout_get(ctx, kernel, &kw_meminfo_subject);
	return l->meminfo ? kw_mem_sums_find(ctx, kernel, &l->sums) : ctx->status;
}

static kw_status read_one(const struct kw_row *row, const struct exact_layout *l, size_t i, uint64_t *ret)
{
	if (i == CACHED)
		return kw_meminfo_cached_exact(row, l->meminfo, ret);
	if (i == AVAILABLE)
		return kw_meminfo_available_exact(row, l->meminfo, ret);
	return kw_mem_sum(row->ctx, row->kernel, &l->sums, i, true, ret);
}

void kw_meminfo_exact_read(struct kw_row *row, const void *layout, struct kw_value *values)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		uint64_t bytes = 0;
		kw_status status = kw_row_wants(row, i) ? read_one(row, layout, i, &bytes) : KW_NOTFOUND;

		if (!status)
			kw_set_uint(&values[i], bytes);
		else
			kw_set_absent(&values[i], status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER
									: kw_absent_of_status(status));
	}
}

const struct kw_field_table kw_meminfo_exact_fields = { fields, COUNT(fields) };
const struct kw_subject kw_meminfo_exact_subject = { sizeof(struct exact_layout), resolve };
