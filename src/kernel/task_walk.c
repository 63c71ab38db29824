/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking the PID table, and whether a task is still there. */
#include "kernel/task_walk.h"

#include <stdlib.h>
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

	walk->damaged = walk->lacking = 0;
	walk->damage = KW_OK;
	walk->is_ended = walk->may_list = false;
	walk->listed = NULL;
	walk->nr_listed = walk->next_listed = 0;
	/* A kernel that runs has at least one process: nothing is what damaged or cleared memory looks like. */
	if (!status && !walk->xa.depth && !walk->xa.single)
		status = kw_fail(ctx, KW_FORMAT, "there is nothing in it");
	return status ? kw_fail_in(ctx, "PID table (init_pid_ns.idr)") : KW_OK;
}

static void note_damage(struct kw_pid_walk *walk, kw_status status)
{
	if (!walk->damaged++)
		walk->damage = status;
	walk->lacking += kw_is_lacking(status);
}

/* Look in the list for what is lacking; when the list is whole, nothing is lacking any longer. */
static kw_status find_rest(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk)
{
	kw_status status = kw_task_list_rest(ctx, kernel, 0, &walk->listed, &walk->nr_listed);

	walk->is_ended = true;
	if (status) {
		kw_clear_error(ctx);
		return status;
	}
	walk->xa.damaged -= walk->xa.lacking;
	walk->xa.lacking = 0;
	walk->damaged -= walk->lacking;
	walk->lacking = 0;
	if (walk->xa.damaged)
		walk->xa.damage = KW_FORMAT;
	return KW_OK;
}

kw_status kw_task_walk_begin(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns,
			     struct kw_pid_walk *walk)
{
	bool may_list = !kernel->is_live && ns == kernel->globals.init_pid_ns;
	kw_status status = kw_pid_walk_begin_in(ctx, kernel, ns, walk), rest;

	walk->may_list = may_list;
	if (!may_list || !kw_is_lacking(status))
		return status;
	walk->xa.depth = 0;
	walk->xa.single = 0;
	rest = find_rest(ctx, kernel, walk);
	if (!walk->nr_listed)
		return kw_pid_walk_begin_in(ctx, kernel, ns, walk);
	if (rest)
		note_damage(walk, status);
	return KW_OK;
}

void kw_pid_walk_end(struct kw_pid_walk *walk)
{
	free(walk->listed);
	walk->listed = NULL;
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

/* The struct pids of a leaf, and where what is known of them goes. */
struct leaf {
	const struct kw_kernel *kernel;
	struct kw_pid_walk *walk;
	uint64_t base; /* ID of the first slot */
	uint64_t entries[KW_XA_MAX_SLOTS];
	uint8_t slot[KW_XA_MAX_SLOTS]; /* of each entry */
	unsigned int nr;	       /* of entries */
	struct kw_task_ref *refs;
	unsigned int used;
	struct kw_pid_others *others;
};

/* Keep the pointers to struct pids, each with the slot it stood in. */
static void keep_pointers(struct leaf *leaf, const uint64_t *slots, unsigned int nr)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < nr; i++) {
		leaf->entries[kept] = slots[i];
		leaf->slot[kept] = (uint8_t)i;
		kept += kw_xa_is_pointer(slots[i]);
	}
	leaf->nr = kept;
}

/* Take a struct pid's task, when it is a process. `first` are its pointers to tasks, by kind of ID. */
static inline void take_pid(struct leaf *leaf, unsigned int k, const uint64_t *first, const uint8_t *mapped)
{
	if (!kw_pid_is_process(first)) {
		if (leaf->others)
			leaf->others->pid_struct[leaf->others->nr++] = leaf->entries[k];
		return;
	}
	leaf->refs[leaf->used++] = (struct kw_task_ref){
		.task = first[KW_PIDTYPE_PID] - leaf->kernel->task.pid_links,
		.pid_struct = leaf->entries[k],
		.listed = mapped,
		.pid = (int32_t)(leaf->base + leaf->slot[k]),
	};
}

static void copy_pids(kw_ctx *ctx, struct leaf *leaf)
{
	struct kw_range ranges[KW_XA_MAX_SLOTS];
	uint64_t first[KW_XA_MAX_SLOTS][2];

	for (unsigned int k = 0; k < leaf->nr; k++)
		ranges[k] = (struct kw_range){ .addr = leaf->entries[k] + leaf->kernel->task.pid_tasks,
					       .len = sizeof(first[k]),
					       .buf = first[k] };
	kw_gather(ctx, ranges, leaf->nr);
	for (unsigned int k = 0; k < leaf->nr; k++)
		if (ranges[k].status == KW_OK)
			take_pid(leaf, k, first[k], NULL);
		else
			note_damage(leaf->walk, ranges[k].status);
}

static void read_one_pid(kw_ctx *ctx, struct leaf *leaf, unsigned int k)
{
	uint64_t first[2];
	kw_status status = read_pid(ctx, leaf->kernel, leaf->entries[k], first);

	if (status)
		note_damage(leaf->walk, status);
	else
		take_pid(leaf, k, first, NULL);
}

/* All are on their way before the first is looked at: they do not depend on each other. */
static void look_at_pids(kw_ctx *ctx, struct leaf *leaf)
{
	const uint8_t *mapped[KW_XA_MAX_SLOTS];
	uint64_t first[2], tasks = leaf->kernel->task.pid_tasks;
	struct kw_window window;

	if (!leaf->nr)
		return;
	window = kw_window_open(ctx, leaf->entries[0] + tasks, sizeof(first));
	for (unsigned int k = 0; k < leaf->nr; k++) {
		mapped[k] = kw_window_view(ctx, &window, leaf->entries[k] + tasks);
		__builtin_prefetch(mapped[k]);
	}
	for (unsigned int k = 0; k < leaf->nr; k++) {
		if (!mapped[k]) {
			read_one_pid(ctx, leaf, k);
			continue;
		}
		memcpy(first, mapped[k], sizeof(first));
		take_pid(leaf, k, first, mapped[k]);
	}
}

static void take_leaf(kw_ctx *ctx, struct leaf *leaf)
{
	leaf->used = 0;
	if (leaf->others)
		leaf->others->nr = 0;
	if (kw_memory_is_copied(ctx->target->memory))
		copy_pids(ctx, leaf);
	else
		look_at_pids(ctx, leaf);
}

/* Once the table has ended: the next of those that it lacks. */
static bool next_listed(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
			struct kw_task_ref *refs, unsigned int *ret_nr)
{
	size_t left;

	if (!walk->is_ended && walk->may_list && (walk->lacking || walk->xa.lacking))
		find_rest(ctx, kernel, walk);
	walk->is_ended = true;
	left = walk->nr_listed - walk->next_listed;
	*ret_nr = left < KW_TASK_BATCH ? (unsigned int)left : KW_TASK_BATCH;
	if (left)
		memcpy(refs, walk->listed + walk->next_listed, *ret_nr * sizeof(*refs));
	walk->next_listed += *ret_nr;
	return left != 0;
}

unsigned int kw_pid_walk_look(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
			      const struct kw_xa_leaf *leaf, struct kw_task_ref *refs,
			      struct kw_pid_others *others)
{
	uint64_t faults = kw_fault_count(ctx), damaged = walk->damaged, lacking = walk->lacking;
	struct leaf found;

	found.kernel = kernel;
	found.walk = walk;
	found.base = leaf->base;
	found.refs = refs;
	found.others = others;
	kw_xa_check_leaf(&walk->xa, leaf);
	keep_pointers(&found, leaf->slots, leaf->nr);
	take_leaf(ctx, &found);
	if (kw_fault_count(ctx) != faults) {
		/* A struct pid that could not be had read as zeros: now it is known as failed. */
		walk->damaged = damaged;
		walk->lacking = lacking;
		take_leaf(ctx, &found);
	}
	return found.used;
}

bool kw_pid_walk_next(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
		      struct kw_task_ref *refs, unsigned int *ret_nr)
{
	struct kw_xa_leaf leaf;

	*ret_nr = 0;
	if (!kw_xa_find_leaf(ctx, &walk->xa, &leaf))
		return next_listed(ctx, kernel, walk, refs, ret_nr);
	*ret_nr = kw_pid_walk_look(ctx, kernel, walk, &leaf, refs, NULL);
	return true;
}

kw_status kw_pid_lookup(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid, struct kw_task_ref *ret)
{
	return kw_pid_lookup_in(ctx, kernel, kernel->globals.init_pid_ns, pid, ret);
}

kw_status kw_pid_entry(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns, int32_t pid,
		       uint64_t *ret_entry)
{
	uint64_t entry;
	kw_status status;

	if (pid < 0 || pid >= KW_PID_LIMIT)
		return KW_NOTFOUND;
	status = kw_xa_load(ctx, kernel, ns + kernel->task.idr_root, (uint64_t)pid, &entry);
	if (!status && !kw_xa_is_pointer(entry))
		status = KW_NOTFOUND;
	if (!status)
		*ret_entry = entry;
	return status;
}

/* status is what the table says. */
static kw_status lookup_in_list(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid, kw_status status,
				struct kw_task_ref *ret)
{
	struct kw_task_ref *found;
	size_t nr;
	kw_status list = kw_task_list_rest(ctx, kernel, pid, &found, &nr);

	if (list)
		kw_clear_error(ctx);
	if (nr)
		*ret = *found;
	free(found);
	return nr ? KW_OK : list ? status : KW_NOTFOUND;
}

kw_status kw_pid_lookup_in(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns, int32_t pid,
			   struct kw_task_ref *ret)
{
	uint64_t entry, first[2];
	kw_status status = kw_pid_entry(ctx, kernel, ns, pid, &entry);

	if (!status)
		status = read_pid(ctx, kernel, entry, first);
	if (kw_is_lacking(status) && !kernel->is_live && ns == kernel->globals.init_pid_ns)
		return lookup_in_list(ctx, kernel, pid, status, ret);
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

bool kw_task_has_left_table(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *ref)
{
	uint64_t table = kernel->globals.init_pid_ns + kernel->task.idr_root, entry;

	return ref->pid_struct && ref->pid >= 0 &&
	       kw_xa_load_again(ctx, kernel, table, (uint64_t)ref->pid, &entry) == KW_OK &&
	       entry != ref->pid_struct;
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
