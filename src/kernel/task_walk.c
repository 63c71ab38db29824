/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking the PID table, the process list and thread lists. */
#include "kernel/task_walk.h"

#include <string.h>

#include "memory/view.h"
#include "util/error.h"

kw_status kw_pid_walk_begin(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk)
{
	return kw_pid_walk_begin_in(ctx, kernel, kernel->globals.init_pid_ns, walk);
}

kw_status kw_pid_walk_begin_in(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns,
			       struct kw_pid_walk *walk)
{
	kw_status status = kw_xa_begin(ctx, kernel, ns + kernel->task.idr_root, KW_PID_LIMIT, &walk->xa);

	walk->damaged = 0;
	walk->damage = KW_OK;
	/* A kernel that runs has at least one process: nothing is what damaged or cleared memory looks like. */
	if (!status && !walk->xa.depth && !walk->xa.single)
		status = kw_fail(ctx, KW_FORMAT, "there is nothing in it");
	return status ? kw_fail_in(ctx, "PID table (init_pid_ns.idr)") : KW_OK;
}

/* Read a struct pid's tasks[PIDTYPE_PID] and [PIDTYPE_TGID]: hlist heads, one pointer each. */
static kw_status read_pid(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t pid_struct, uint64_t first[2])
{
	uint64_t scratch[2];
	kw_status status = KW_OK;
	const void *tasks =
		kw_fetch(ctx, pid_struct + kernel->task.pid_tasks, sizeof(scratch), scratch, &status);

	if (tasks)
		memcpy(first, tasks, sizeof(scratch));
	return tasks ? KW_OK : status;
}

static void note_damage(struct kw_pid_walk *walk, kw_status status)
{
	if (!walk->damaged++)
		walk->damage = status;
}

/* Two pointers of each struct pid of a leaf. */
struct leaf_pids {
	uint64_t first[KW_XA_MAX_SLOTS][2];
	kw_status status[KW_XA_MAX_SLOTS];
	const uint8_t *mapped[KW_XA_MAX_SLOTS]; /* where they lie, NULL when they were copied */
};

static void copy_pids(kw_ctx *ctx, const struct kw_kernel *kernel, const uint64_t *entries, unsigned int nr,
		      struct leaf_pids *pids)
{
	struct kw_range ranges[KW_XA_MAX_SLOTS];
	unsigned int slot[KW_XA_MAX_SLOTS], used = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (!kw_xa_is_pointer(entries[i]))
			continue;
		ranges[used] = (struct kw_range){ .addr = entries[i] + kernel->task.pid_tasks,
						  .len = sizeof(pids->first[i]),
						  .buf = pids->first[i] };
		pids->mapped[i] = NULL;
		slot[used++] = i;
	}
	kw_gather(ctx, ranges, used);
	for (unsigned int k = 0; k < used; k++)
		pids->status[slot[k]] = ranges[k].status;
}

/* All are on their way before the first is looked at: they do not depend on each other. */
static void look_at_pids(kw_ctx *ctx, const struct kw_kernel *kernel, const uint64_t *entries,
			 unsigned int nr, struct leaf_pids *pids)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!kw_xa_is_pointer(entries[i]))
			continue;
		pids->mapped[i] =
			kw_view_near(ctx, entries[i] + kernel->task.pid_tasks, sizeof(pids->first[i]));
		if (pids->mapped[i])
			__builtin_prefetch(pids->mapped[i]);
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (!kw_xa_is_pointer(entries[i]))
			continue;
		pids->status[i] = KW_OK;
		if (pids->mapped[i])
			memcpy(pids->first[i], pids->mapped[i], sizeof(pids->first[i]));
		else
			pids->status[i] = read_pid(ctx, kernel, entries[i], pids->first[i]);
	}
}

/* Find the processes among the struct pids of a leaf. Returns how many. */
static unsigned int take_leaf(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
			      const uint64_t *entries, unsigned int nr, uint64_t base,
			      struct kw_task_ref *refs)
{
	struct leaf_pids pids;
	unsigned int used = 0;

	if (kw_memory_is_copied(ctx->target->memory))
		copy_pids(ctx, kernel, entries, nr, &pids);
	else
		look_at_pids(ctx, kernel, entries, nr, &pids);
	for (unsigned int i = 0; i < nr; i++) {
		if (!kw_xa_is_pointer(entries[i]))
			continue;
		if (pids.status[i]) {
			note_damage(walk, pids.status[i]);
			continue;
		}
		if (!pids.first[i][KW_PIDTYPE_PID] || !pids.first[i][KW_PIDTYPE_TGID])
			continue;
		refs[used++] = (struct kw_task_ref){
			.task = pids.first[i][KW_PIDTYPE_PID] - kernel->task.pid_links,
			.pid_struct = entries[i],
			.listed = pids.mapped[i],
			.pid = (int32_t)(base + i),
		};
	}
	return used;
}

bool kw_pid_walk_next(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
		      struct kw_task_ref *refs, unsigned int *ret_nr)
{
	uint64_t entries[KW_XA_MAX_SLOTS], base, faults = kw_fault_count(ctx), damaged = walk->damaged;
	unsigned int nr = kw_xa_next_leaf(ctx, &walk->xa, entries, &base);

	*ret_nr = 0;
	if (!nr)
		return false;
	*ret_nr = take_leaf(ctx, kernel, walk, entries, nr, base, refs);
	if (kw_fault_count(ctx) != faults) {
		/* A struct pid that could not be had read as zeros: now it is known as failed. */
		walk->damaged = damaged;
		*ret_nr = take_leaf(ctx, kernel, walk, entries, nr, base, refs);
	}
	return true;
}

kw_status kw_pid_lookup(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid, struct kw_task_ref *ret)
{
	return kw_pid_lookup_in(ctx, kernel, kernel->globals.init_pid_ns, pid, ret);
}

kw_status kw_pid_lookup_in(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns, int32_t pid,
			   struct kw_task_ref *ret)
{
	uint64_t entry, first[2];
	kw_status status;

	if (pid < 0 || pid >= KW_PID_LIMIT)
		return KW_NOTFOUND;
	status = kw_xa_load(ctx, kernel, ns + kernel->task.idr_root, (uint64_t)pid, &entry);
	if (!status && !kw_xa_is_pointer(entry))
		status = KW_NOTFOUND;
	if (!status)
		status = read_pid(ctx, kernel, entry, first);
	if (!status && (!first[KW_PIDTYPE_PID] || !first[KW_PIDTYPE_TGID]))
		status = KW_NOTFOUND;
	if (!status)
		*ret = (struct kw_task_ref){
			.task = first[KW_PIDTYPE_PID] - kernel->task.pid_links,
			.pid_struct = entry,
			.pid = pid,
		};
	return status;
}

/* True when a struct pid names the task as the one with its ID. */
static bool names(kw_ctx *ctx, const struct kw_task_layout *t, uint64_t pid_struct, uint64_t task)
{
	uint64_t first;

	kw_forget(ctx, pid_struct + t->pid_tasks, 8);
	return kw_read_u64(ctx, pid_struct + t->pid_tasks, &first) == KW_OK && first == task + t->pid_links;
}

bool kw_task_is_alive(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *ref)
{
	const struct kw_task_layout *t = &kernel->task;
	uint64_t thread_pid;

	kw_forget(ctx, ref->task + t->thread_pid, 8);
	if (kw_read_u64(ctx, ref->task + t->thread_pid, &thread_pid) != KW_OK || !thread_pid ||
	    (ref->pid_struct && thread_pid != ref->pid_struct))
		return false;
	return names(ctx, t, thread_pid, ref->task);
}

bool kw_task_is_listed(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *ref)
{
	return ref->pid_struct && names(ctx, &kernel->task, ref->pid_struct, ref->task);
}

void kw_tasks_are_listed(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *refs,
			 unsigned int nr, bool *ret_listed)
{
	const struct kw_task_layout *t = &kernel->task;
	struct kw_range ranges[KW_TASK_BATCH];
	uint64_t first[KW_TASK_BATCH];

	for (unsigned int i = 0; i < nr; i++)
		ranges[i] = (struct kw_range){ .addr = refs[i].pid_struct + t->pid_tasks,
					       .len = sizeof(*first),
					       .buf = &first[i] };
	kw_gather(ctx, ranges, nr);
	for (unsigned int i = 0; i < nr; i++)
		ret_listed[i] = ranges[i].status == KW_OK && first[i] == refs[i].task + t->pid_links;
}

/*
 * A list that ends at its head. Brent's method finds a cycle that does not go through the head: the anchor is moved
 * to the current element at each power of two steps, and meeting it again means going round.
 */
static kw_status list_each(kw_ctx *ctx, uint64_t head, uint64_t member, kw_thread_fn fn, void *arg)
{
	uint64_t at = head, next = 0, anchor = head, steps = 0, power = 1;
	kw_status status = kw_read_u64(ctx, head, &next);

	while (!status && next != head) {
		at = next;
		if (at == anchor || ++steps > KW_PID_LIMIT)
			return kw_fail(ctx, KW_FORMAT,
				       "the list at 0x%llx goes round without its head after %llu elements",
				       (unsigned long long)head, (unsigned long long)steps);
		if (steps == power) {
			anchor = at;
			power *= 2;
		}
		if (!fn(ctx, at - member, arg))
			return KW_OK;
		status = kw_read_u64(ctx, at, &next);
	}
	if (status)
		return kw_fail(ctx, status,
			       "the list at 0x%llx stops at 0x%llx, which can't be read, after %llu elements",
			       (unsigned long long)head, (unsigned long long)at, (unsigned long long)steps);
	return KW_OK;
}

kw_status kw_threads_each(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t leader, kw_thread_fn fn,
			  void *arg)
{
	uint64_t signal;
	kw_status status = kw_read_u64(ctx, leader + kernel->task.signal, &signal);

	if (status)
		return status;
	return list_each(ctx, signal + kernel->task.thread_head, kernel->task.thread_node, fn, arg);
}

kw_status kw_task_list_each(kw_ctx *ctx, const struct kw_kernel *kernel, kw_thread_fn fn, void *arg)
{
	uint64_t init = kernel->globals.init_task;
	kw_status status = list_each(ctx, init + kernel->task.tasks, kernel->task.tasks, fn, arg);

	return status ? kw_fail_in(ctx, "process list (init_task.tasks)") : KW_OK;
}
