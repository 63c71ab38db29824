/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values that /proc sums over the threads of a process: what ended threads left in signal_struct, and what each live one
 * has. Only the values that a query asks for are summed, in one walk over the threads.
 */
#ifndef KERNEL_THREAD_SUMS_H
#define KERNEL_THREAD_SUMS_H

#include "kernel/row.h"

enum kw_sum {
	KW_SUM_UTIME, /* ns, before scaling, as the two after it */
	KW_SUM_STIME,
	KW_SUM_RUNTIME,
	KW_SUM_MINFLT,
	KW_SUM_MAJFLT,
	KW_SUM_GTIME, /* ns */
	KW_SUM_RCHAR,
	KW_SUM_WCHAR,
	KW_SUM_SYSCR,
	KW_SUM_SYSCW,
	KW_SUM_READ_BYTES,
	KW_SUM_WRITE_BYTES,
	KW_SUM_CANCELLED,
	KW_SUM_NR,
};

/** The bit of kw_field_def.uses that asks for a sum. */
#define KW_SUM(which) (0x100u << (which))
#define KW_SUMS	      (~0u << 8)

/*
 * What a row's own object and its signal_struct give to the sums: places in an array of values, own ones from 0 on, those
 * of ended threads from KW_SUM_NR on, then pointers which tell whether the leader is alone.
 */
enum { KW_SUM_SIGNAL = 2 * KW_SUM_NR, KW_SUM_LIST_NEXT, KW_SUM_LEADER_NEXT, KW_SUM_INPUTS };

/** Return the path from the task_struct of the i-th of KW_SUM_INPUTS inputs, or NULL when `uses` needs it not. */
const char *kw_thread_sum_input(uint32_t uses, unsigned int i);

/** Make the plan for the sums in `uses`. NULL with the error set. */
struct kw_thread_sums *kw_thread_sums_new(kw_ctx *ctx, const struct kw_kernel *kernel, uint32_t uses);
void kw_thread_sums_free(struct kw_thread_sums *sums);

/** Forget the sums of the row before. NULL is accepted. */
void kw_thread_sums_next_row(struct kw_thread_sums *sums);

/**
 * Get a sum of the row's process, or the thread's own value when the row is one of a thread.
 *
 * @param out  set to absent when it can't be had
 */
bool kw_thread_sum(struct kw_row *row, enum kw_sum which, uint64_t *ret, struct kw_value *out);

/** A sum that is a value as it is. */
struct kw_sum_place {
	enum kw_sum which;
	uint32_t slot; /* of its value */
};

/** Set the values that are sums. */
void kw_thread_sums_put(struct kw_row *row, const struct kw_sum_place *places, size_t nr,
			struct kw_value *values);

/** Return the one sum that a field uses. */
static inline enum kw_sum kw_sum_of(uint32_t uses)
{
	return (enum kw_sum)(__builtin_ctz(uses & KW_SUMS) - __builtin_ctz(KW_SUM(0)));
}

#endif
