/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes and threads of a kernel, and whether one is still there.
 *
 * Two views exist. The PID table, init_pid_ns.idr: an XArray of struct pid, whose tasks[PIDTYPE_PID].first points at
 * pid_links[0] of the thread with that ID, and whose tasks[PIDTYPE_TGID].first is set only for a process. And the
 * list of processes, init_task.tasks, each with the list of its threads, signal->thread_head. kwalk walks the first:
 * its entries are independent of each other, so that a damaged or racing one costs only itself.
 */
#ifndef KERNEL_TASK_WALK_H
#define KERNEL_TASK_WALK_H

#include "kernel/xarray.h"
#include "util/bytes.h"

#define KW_TASK_BATCH KW_XA_MAX_SLOTS

/** A task that was found, and through what. */
struct kw_task_ref {
	uint64_t task;	       /* address of the task_struct */
	uint64_t pid_struct;   /* address of its struct pid; 0: found by the list */
	const uint8_t *listed; /* where the struct pid's pointer to the task is mapped; NULL: nowhere */
	int32_t pid;	       /* the ID under which it was found */
};

/** Progress of a walk over the PID table. */
struct kw_pid_walk {
	struct kw_xa_walk xa;
	uint64_t damaged; /* struct pids that could not be read */
	uint64_t lacking; /* of these, those that a dump lacks */
	kw_status damage;
	bool is_ended;
	bool may_list;		    /* what a dump lacks of the table is looked for in the process list */
	struct kw_task_ref *listed; /* what was found there, in the order of PIDs */
	size_t nr_listed, next_listed;
};

/** What stood in a leaf beside processes: struct pids of threads, and of tasks that are not yet or no longer there. */
struct kw_pid_others {
	uint64_t pid_struct[KW_TASK_BATCH];
	unsigned int nr;
};

/** Begin a walk over the PID table of the initial namespace. */
kw_status kw_pid_walk_begin(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk);

/** As kw_pid_walk_begin(), over the table of another namespace; IDs are those in it. */
kw_status kw_pid_walk_begin_in(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns,
			       struct kw_pid_walk *walk);

/**
 * As kw_pid_walk_begin_in(), but where a dump lacks parts of the table of the initial namespace, the processes that
 * would be found there come last, out of the process list.
 */
kw_status kw_task_walk_begin(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns,
			     struct kw_pid_walk *walk);

/** Free what a walk has found in the process list. */
void kw_pid_walk_end(struct kw_pid_walk *walk);

/**
 * Get the next batch of processes (thread-group leaders) in the order of their PIDs.
 *
 * @param refs  KW_TASK_BATCH places
 * @param ret_nr  set to how many, which may be 0 in mid-walk
 * @return false at the end
 */
bool kw_pid_walk_next(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
		      struct kw_task_ref *refs, unsigned int *ret_nr);

/**
 * Find the processes behind a leaf of the table, walk->xa, as kw_pid_walk_next().
 *
 * @param others  set, unless it is NULL
 * @return how many there are
 */
unsigned int kw_pid_walk_look(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_pid_walk *walk,
			      const struct kw_xa_leaf *leaf, struct kw_task_ref *refs,
			      struct kw_pid_others *others);

/** Whether these are the first two of a struct pid's pointers to tasks, by kind of ID, when it is that of a process. */
static inline bool kw_pid_is_process(const uint64_t *first)
{
	return first[KW_PIDTYPE_PID] && first[KW_PIDTYPE_TGID];
}

/**
 * Find the process with a PID: where a dump lacks its place in the table, by the process list.
 *
 * @return KW_OK; KW_NOTFOUND (without a message) when there is none, or only a thread of that ID
 */
kw_status kw_pid_lookup(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid, struct kw_task_ref *ret);

/** As kw_pid_lookup(), by the ID that the process has in another namespace; it is ret->pid, too. */
kw_status kw_pid_lookup_in(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns, int32_t pid,
			   struct kw_task_ref *ret);

/**
 * Tell whether a task is still the one that was found: its struct pid points back at it.
 *
 * Asked after its values have been copied, this tells that they were not those of a half-born or freed task.
 */
bool kw_task_is_alive(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *ref);

/**
 * Tell whether the struct pid that a task was found through still names it. One that is not alive and is named all the
 * same has not ended: its memory is damaged, or can't be read.
 */
bool kw_task_is_listed(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *ref);

/** As kw_task_is_listed(), at once where its struct pid is mapped. */
static inline bool kw_task_is_still_listed(kw_ctx *ctx, const struct kw_kernel *kernel,
					   const struct kw_task_ref *ref)
{
	if (!ref->listed)
		return kw_task_is_listed(ctx, kernel, ref);
	return kw_load_u64(ref->listed) == ref->task + kernel->task.pid_links;
}

/**
 * Tell whether the PID table no longer has the struct pid under the ID that a task was found by. Where IDs come and go
 * quickly, both the struct pid and the task_struct may be those of another ID and name each other: the table alone tells.
 */
bool kw_task_has_left_table(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *ref);

/** For each of KW_TASK_BATCH tasks at most, tell what kw_task_is_listed() tells of one; in few calls. */
void kw_tasks_are_listed(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_task_ref *refs,
			 unsigned int nr, bool *ret_listed);

/**
 * Look up a PID in the table of a namespace, and nowhere else.
 *
 * @param ret_entry  set to the struct pid
 * @return KW_OK; KW_NOTFOUND, or a read's state, without a message
 */
kw_status kw_pid_entry(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t ns, int32_t pid,
		       uint64_t *ret_entry);

/**
 * Find the processes of the process list whose place in the PID table, or whose struct pid, a dump lacks.
 *
 * @param pid  only that one; 0: all
 * @param ret  set to an array, in the order of PIDs, that the caller frees with free(); NULL when there is none
 * @return KW_OK; else the list could not be walked to its end, and what was found before is there all the same
 */
kw_status kw_task_list_rest(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid,
			    struct kw_task_ref **ret, size_t *ret_nr);

/** Called with the address of each thread's task_struct; false stops. */
typedef bool (*kw_thread_fn)(kw_ctx *ctx, uint64_t task, void *arg);

/**
 * Visit the threads of a process in the order of their creation, the leader first: it at least where a dump lacks the
 * list.
 *
 * @param leader  address of the leader's task_struct
 * @return KW_OK, a read's state, or KW_FORMAT for a cyclic or endless list; threads before the damage were visited
 */
kw_status kw_threads_each(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t leader, kw_thread_fn fn,
			  void *arg);

/** Visit the processes of init_task.tasks (init_task itself, which has no PID, left out). As kw_threads_each(). */
kw_status kw_task_list_each(kw_ctx *ctx, const struct kw_kernel *kernel, kw_thread_fn fn, void *arg);

#endif
