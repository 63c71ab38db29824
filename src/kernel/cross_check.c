/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Comparing the two views of the process list. A process that only one of them has is hidden, or half-born, or
 * ending: on a changing target both are looked at again, and only what differs twice is reported.
 */
#include <stdlib.h>
#include <string.h>

#include <kwalk/query.h>

#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "util/array.h"
#include "util/error.h"

struct seen {
	uint64_t task;
	int32_t pid;
};

struct view {
	struct seen *item;
	size_t nr, cap;
	const struct kw_kernel *kernel;
	bool failed;
};

static bool add(struct view *view, uint64_t task, int32_t pid)
{
	if (!kw_array_push(view, (struct seen){ task, pid }))
		view->failed = true;
	return !view->failed;
}

static bool add_listed(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct view *view = arg;
	uint32_t pid;

	if (kw_read_u32(ctx, task + view->kernel->task.tgid, &pid) != KW_OK)
		pid = 0;
	return add(view, task, (int32_t)pid);
}

static int by_task(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static kw_status collect_pids(kw_ctx *ctx, const struct kw_kernel *kernel, struct view *view)
{
	struct kw_task_ref refs[KW_TASK_BATCH];
	struct kw_pid_walk walk;
	unsigned int nr;
	kw_status status = kw_pid_walk_begin(ctx, kernel, &walk);

	while (!status && kw_pid_walk_next(ctx, kernel, &walk, refs, &nr))
		for (unsigned int i = 0; i < nr; i++)
			if (!add(view, refs[i].task, refs[i].pid))
				return kw_fail_nomem(ctx);
	if (!status && (walk.damaged || walk.xa.damaged))
		status = kw_fail(ctx, KW_INCOMPLETE, "PID table: %llu entries can't be read",
				 (unsigned long long)(walk.damaged + walk.xa.damaged));
	return status;
}

static kw_status collect(kw_ctx *ctx, const struct kw_kernel *kernel, struct view *pids, struct view *list)
{
	kw_status status;

	pids->nr = list->nr = 0;
	list->kernel = kernel;
	status = collect_pids(ctx, kernel, pids);
	if (!status)
		status = kw_task_list_each(ctx, kernel, add_listed, list);
	if (!status && list->failed)
		status = kw_fail_nomem(ctx);
	if (pids->nr)
		qsort(pids->item, pids->nr, sizeof(*pids->item), by_task);
	if (list->nr)
		qsort(list->item, list->nr, sizeof(*list->item), by_task);
	return status;
}

struct differences {
	struct kw_cross_difference *item;
	size_t nr, cap;
};

static bool push_difference(kw_ctx *ctx, const struct kw_kernel *kernel, struct differences *out,
			    const struct seen *s, bool in_list)
{
	struct kw_cross_difference d = { .pid = s->pid, .address = s->task, .in_list = in_list };

	if (kw_read(ctx, s->task + kernel->task.comm, d.comm, sizeof(d.comm)) != KW_OK)
		memset(d.comm, 0, sizeof(d.comm));
	return kw_array_push(out, d);
}

/* Merge the two sorted views. */
static kw_status compare(kw_ctx *ctx, const struct kw_kernel *kernel, const struct view *pids,
			 const struct view *list, struct differences *out)
{
	size_t i = 0, j = 0;

	out->nr = 0;
	while (i < pids->nr || j < list->nr) {
		bool only_pids = j == list->nr || (i < pids->nr && pids->item[i].task < list->item[j].task);
		bool only_list = i == pids->nr || (j < list->nr && list->item[j].task < pids->item[i].task);

		if (only_pids && !push_difference(ctx, kernel, out, &pids->item[i], false))
			return kw_fail_nomem(ctx);
		if (only_list && !push_difference(ctx, kernel, out, &list->item[j], true))
			return kw_fail_nomem(ctx);
		i += !only_list;
		j += !only_pids;
	}
	return KW_OK;
}

/* Keep what the first look had found as well. */
static void keep_common(struct differences *now, const struct differences *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->nr; i++)
		for (size_t j = 0; j < before->nr; j++)
			if (now->item[i].address == before->item[j].address &&
			    now->item[i].in_list == before->item[j].in_list) {
				now->item[kept++] = now->item[i];
				break;
			}
	now->nr = kept;
}

kw_status kw_cross_check(kw_ctx *ctx, struct kw_cross_difference **ret, size_t *ret_nr, size_t *ret_pids,
			 size_t *ret_listed)
{
	const struct kw_kernel *kernel;
	struct view pids = { 0 }, list = { 0 };
	struct differences found = { 0 }, again = { 0 };
	kw_status status = kw_kernel_get(ctx, &kernel);

	if (status)
		return status;
	kw_pass_begin(ctx);
	status = collect(ctx, kernel, &pids, &list);
	if (!status)
		status = compare(ctx, kernel, &pids, &list, &found);
	kw_pass_end(ctx);
	if (!status && found.nr && kernel->is_live) {
		kw_pass_begin(ctx);
		status = collect(ctx, kernel, &pids, &list);
		if (!status)
			status = compare(ctx, kernel, &pids, &list, &again);
		kw_pass_end(ctx);
		keep_common(&again, &found);
		free(found.item);
		found = again;
		again = (struct differences){ 0 };
	}
	free(pids.item);
	free(list.item);
	free(again.item);
	if (status) {
		free(found.item);
		return status;
	}
	*ret_pids = pids.nr;
	*ret_listed = list.nr;
	*ret = found.item;
	*ret_nr = found.nr;
	return KW_OK;
}
