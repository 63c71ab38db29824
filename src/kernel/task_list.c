/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lists of threads and of processes, and the second as a way to what a dump lacks of the PID table.
 *
 * Seen with makedumpfile 1.7.2, which does not know the slab pages of Linux 7.2 and takes nodes of the table for pages of
 * processes, while the task_structs are there.
 */
#include <stdlib.h>

#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "util/array.h"
#include "util/error.h"
#include "util/lap.h"

/* A list that ends at its head, and may go round without it where it is damaged. */
static kw_status list_each(kw_ctx *ctx, uint64_t head, uint64_t member, kw_thread_fn fn, void *arg,
			   uint64_t *ret_nr)
{
	struct kw_lap lap = { .mark = head };
	uint64_t at = head, next = 0;
	kw_status status = kw_read_u64(ctx, head, &next);

	*ret_nr = 0;
	while (!status && next != head) {
		at = next;
		if (kw_lap_is_round(&lap, at) || lap.steps > KW_PID_LIMIT)
			return kw_fail(ctx, KW_FORMAT,
				       "the list at 0x%llx goes round without its head after %llu elements",
				       (unsigned long long)head, (unsigned long long)lap.steps);
		++*ret_nr;
		if (!fn(ctx, at - member, arg))
			return KW_OK;
		status = kw_read_u64(ctx, at, &next);
	}
	if (status)
		return kw_fail(ctx, status,
			       "the list at 0x%llx stops at 0x%llx, which can't be read, after %llu elements",
			       (unsigned long long)head, (unsigned long long)at,
			       (unsigned long long)lap.steps);
	return KW_OK;
}

kw_status kw_threads_each(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t leader, kw_thread_fn fn,
			  void *arg)
{
	uint64_t signal, nr = 0;
	kw_status status = kw_read_u64(ctx, leader + kernel->task.signal, &signal);

	if (!status)
		status = list_each(ctx, signal + kernel->task.thread_head, kernel->task.thread_node, fn, arg,
				   &nr);
	if (!nr && kw_is_lacking(status) && !kernel->is_live)
		fn(ctx, leader, arg);
	return status;
}

kw_status kw_task_list_each(kw_ctx *ctx, const struct kw_kernel *kernel, kw_thread_fn fn, void *arg)
{
	uint64_t init = kernel->globals.init_task, nr;
	kw_status status = list_each(ctx, init + kernel->task.tasks, kernel->task.tasks, fn, arg, &nr);

	return status ? kw_fail_in(ctx, "process list (init_task.tasks)") : KW_OK;
}

struct rest {
	struct kw_task_ref *item;
	size_t nr, cap;
	const struct kw_kernel *kernel;
	int32_t wanted; /* 0: all */
	bool failed;
};

/* What the table lacks is no news about what it has: a task that is only in the list is left to kw_cross_check(). */
static bool is_lacking(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid)
{
	uint64_t entry, first;
	kw_status status = kw_pid_entry(ctx, kernel, kernel->globals.init_pid_ns, pid, &entry);

	if (!status)
		status = kw_read_u64(ctx, entry + kernel->task.pid_tasks, &first);
	return kw_is_lacking(status);
}

static bool add_rest(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct rest *rest = arg;
	const struct kw_task_layout *t = &rest->kernel->task;
	struct kw_task_ref ref = { .task = task };
	uint32_t pid;

	if (kw_read_u32(ctx, task + t->tgid, &pid) != KW_OK || pid >= KW_PID_LIMIT ||
	    (rest->wanted && pid != (uint32_t)rest->wanted) || !is_lacking(ctx, rest->kernel, (int32_t)pid))
		return true;
	ref.pid = (int32_t)pid;
	if (kw_read_u64(ctx, task + t->thread_pid, &ref.pid_struct) != KW_OK)
		ref.pid_struct = 0;
	rest->failed = !kw_array_push(rest, ref);
	return !rest->failed && !rest->wanted;
}

static int by_pid(const void *a, const void *b)
{
	const struct kw_task_ref *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

kw_status kw_task_list_rest(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid,
			    struct kw_task_ref **ret, size_t *ret_nr)
{
	struct rest rest = { .kernel = kernel, .wanted = pid };
	kw_status status = kw_task_list_each(ctx, kernel, add_rest, &rest);

	if (rest.nr)
		qsort(rest.item, rest.nr, sizeof(*rest.item), by_pid);
	*ret = rest.item;
	*ret_nr = rest.nr;
	return rest.failed ? kw_fail_nomem(ctx) : status;
}
