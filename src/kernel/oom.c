/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How likely a process is to be killed when memory runs out: /proc/PID/oom_score, since 5.9 nearly the same on all kernels.
 *
 *     points = resident, swapped out and page-table pages + oom_score_adj / 1000 of all memory and swap
 *     score  = (1000 + 1000 * points / all memory and swap) * 2 / 3
 *
 * Until 6.19 the parts of the counters that the CPUs keep are left out, as in /proc/PID/stat; since 7.0 they are added. That
 * shows in no structure: vm_area_struct.flags, which is hardly older, is taken for it.
 *
 * It is 0 of what is never killed: the first process, kernel threads, a process without memory, or with the lowest
 * oom_score_adj. The memory is that of any thread that has one: the leader may have ended before the others.
 */
#include <kwalk/symbol.h>

#include "kernel/source.h"
#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "util/error.h"

#define COUNT(array)	  (sizeof(array) / sizeof((array)[0]))
#define OOM_SCORE_ADJ_MIN (-1000)
#define MMF_OOM_SKIP	  (1ULL << 21)
#define NR_COUNTERS	  4

struct oom_layout {
	uint64_t total_ram, total_swap;		      /* symbols: pages */
	uint64_t mm, vfork_done, real_parent;	      /* of task_struct */
	uint64_t counter[NR_COUNTERS], tables, flags; /* of mm_struct */
	uint64_t parts; /* of a counter, behind it: those of the CPUs; or KW_NO_ADDR */
	bool is_whole;
};

static uint64_t first_of(kw_ctx *ctx, const char *one, const char *other)
{
	uint64_t offset = kw_offset_or_none(ctx, "mm_struct", one);

	return offset != KW_NO_ADDR ? offset : kw_offset_or_none(ctx, "mm_struct", other);
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	static const char *const counters[NR_COUNTERS][2] = { /* percpu_counter since 6.2 */
							      { "rss_stat[0].count", "rss_stat.count[0]" },
							      { "rss_stat[1].count", "rss_stat.count[1]" },
							      { "rss_stat[2].count", "rss_stat.count[2]" },
							      { "rss_stat[3].count", "rss_stat.count[3]" }
	};
	struct kw_symbol_query q[] = { { "_totalram_pages", KW_NO_ADDR },
				       { "total_swap_pages", KW_NO_ADDR } };
	struct oom_layout *l = layout;

	(void)kernel;
	kw_symbol_addresses(ctx, q, COUNT(q));
	l->total_ram = q[0].addr;
	l->total_swap = q[1].addr;
	l->mm = kw_offset_or_none(ctx, "task_struct", "mm");
	l->vfork_done = kw_offset_or_none(ctx, "task_struct", "vfork_done");
	l->real_parent = kw_offset_or_none(ctx, "task_struct", "real_parent");
	l->tables = kw_offset_or_none(ctx, "mm_struct", "pgtables_bytes");
	l->flags = first_of(ctx, "flags.__mm_flags[0]", "flags");
	l->parts = KW_NO_ADDR;
	if (kw_offset_or_none(ctx, "vm_area_struct", "flags") != KW_NO_ADDR) {
		uint64_t counters = kw_offset_or_none(ctx, "percpu_counter", "counters"),
			 count = kw_offset_or_none(ctx, "percpu_counter", "count");

		l->parts = counters == KW_NO_ADDR || count == KW_NO_ADDR ? KW_NO_ADDR : counters - count;
	}
	l->is_whole = l->mm != KW_NO_ADDR && l->vfork_done != KW_NO_ADDR && l->real_parent != KW_NO_ADDR &&
		      l->tables != KW_NO_ADDR && l->flags != KW_NO_ADDR && l->total_ram != KW_NO_ADDR;
	for (size_t i = 0; i < NR_COUNTERS; i++) {
		l->counter[i] = first_of(ctx, counters[i][0], counters[i][1]);
		l->is_whole = l->is_whole && l->counter[i] != KW_NO_ADDR;
	}
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct oom_layout), resolve };

/* A kernel without CONFIG_SWAP has no swap, and no symbol for it. */
static kw_status read_total(kw_ctx *ctx, const struct oom_layout *l, int64_t *ret)
{
	uint64_t ram, swap = 0;
	kw_status status = kw_read_u64(ctx, l->total_ram, &ram);

	if (!status && l->total_swap != KW_NO_ADDR)
		status = kw_read_u64(ctx, l->total_swap, &swap);
	if (!status && (ram + swap > INT64_MAX / 2048 || ram + swap < 1000))
		status = KW_FORMAT;
	*ret = status ? 0 : (int64_t)(ram + swap);
	return status;
}

struct mm_search {
	const struct oom_layout *layout;
	uint64_t task, mm; /* found: not 0 */
	kw_status status;
};

static bool has_mm(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct mm_search *s = arg;

	s->status = kw_read_u64(ctx, task + s->layout->mm, &s->mm);
	s->task = task;
	return !s->status && !s->mm;
}

/* As find_lock_task_mm(): that of the task itself first of all. */
static kw_status find_mm(struct kw_row *row, const struct oom_layout *l, uint64_t leader, struct mm_search *s)
{
	kw_status status;

	*s = (struct mm_search){ .layout = l };
	if (!has_mm(row->ctx, row->task, s) || !leader)
		return s->status;
	status = kw_threads_each(row->ctx, row->kernel, leader, has_mm, s);
	return status ? status : s->status;
}

/* Between vfork() and exec() the child has its parent's memory. */
static kw_status is_in_vfork(kw_ctx *ctx, const struct oom_layout *l, const struct mm_search *s, bool *ret)
{
	uint64_t done, parent, mm = 0;
	kw_status status = kw_read_u64(ctx, s->task + l->vfork_done, &done);

	if (!status && done)
		status = kw_read_u64(ctx, s->task + l->real_parent, &parent);
	if (!status && done)
		status = kw_read_u64(ctx, parent + l->mm, &mm);
	*ret = !status && done && mm == s->mm;
	return status;
}

static kw_status add_parts(struct kw_row *row, uint64_t counter, const struct oom_layout *l, int64_t *count)
{
	const struct kw_kernel *kernel = row->kernel;
	uint64_t parts;
	kw_status status = kw_read_u64(row->ctx, counter + l->parts, &parts);

	for (unsigned int cpu = 0; !status && cpu < kernel->nr_cpus; cpu++) {
		int32_t part;

		if (!kw_cpu_is_possible(kernel, cpu))
			continue;
		status = kw_read(row->ctx, parts + kernel->percpu_offset[cpu], &part, sizeof(part));
		*count += status ? 0 : part;
	}
	return status;
}

static kw_status count_pages(struct kw_row *row, const struct oom_layout *l, uint64_t mm, int64_t *ret)
{
	uint64_t bytes;
	kw_status status = kw_read_u64(row->ctx, mm + l->tables, &bytes);
	int64_t pages = (int64_t)(bytes / KW_PAGE_SIZE);

	for (size_t i = 0; !status && i < NR_COUNTERS; i++) {
		int64_t count = 0;

		status = kw_read(row->ctx, mm + l->counter[i], &count, sizeof(count));
		if (!status && l->parts != KW_NO_ADDR)
			status = add_parts(row, mm + l->counter[i], l, &count);
		pages += !status && count > 0 ? count : 0;
	}
	*ret = pages;
	return status;
}

/* As oom_badness(), of the memory that was found. *ret_spared: it is never killed. */
static kw_status weigh(struct kw_row *row, const struct oom_layout *l, const struct mm_search *s, int64_t adj,
		       int64_t total, int64_t *ret, bool *ret_spared)
{
	uint64_t flags;
	int64_t pages;
	kw_status status = is_in_vfork(row->ctx, l, s, ret_spared);

	if (!status)
		status = kw_read_u64(row->ctx, s->mm + l->flags, &flags);
	if (!status)
		status = count_pages(row, l, s->mm, &pages);
	if (status)
		return status;
	*ret_spared = *ret_spared || flags & MMF_OOM_SKIP;
	*ret = pages + adj * (total / 1000);
	return KW_OK;
}

static uint64_t score_of(int64_t points, int64_t total)
{
	int64_t score = 1000 + (int64_t)((__int128)points * 1000 / total);

	return (uint64_t)score * 2 / 3;
}

enum { ADJ, PID, LEADER };

static bool is_spared(const struct kw_row *row, const struct kw_value *in)
{
	return row->flags & KW_PF_KTHREAD || in[PID].i == 1 || in[ADJ].i <= OOM_SCORE_ADJ_MIN;
}

static void oom_score(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct oom_layout *l = kw_layout_get(row->ctx, row->kernel, &subject);
	struct mm_search found;
	int64_t total, points = 0;
	bool spared = false;
	kw_status status;

	if (kw_pass_absent(in, 3, out))
		return;
	if (!l || !l->is_whole) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	if (is_spared(row, in)) {
		kw_set_uint(out, 0);
		return;
	}
	status = read_total(row->ctx, l, &total);
	if (!status)
		status = find_mm(row, l, in[LEADER].u, &found);
	if (!status && found.mm)
		status = weigh(row, l, &found, in[ADJ].i, total, &points, &spared);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_uint(out, !found.mm || spared ? 0 : score_of(points, total));
}

static const struct kw_field_def fields[] = {
	{ { "oom_score", "OOM", "oom", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "how likely it is killed when memory runs out, 0 to 2000; 0: never",
	    "mm_struct.rss_stat, pgtables_bytes; signal_struct.oom_score_adj" },
	  { "signal.oom_score_adj", "tgid", "group_leader" },
	  oom_score,
	  KW_USES_FLAGS | KW_USES_MORE },
};

const struct kw_field_table kw_oom_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
