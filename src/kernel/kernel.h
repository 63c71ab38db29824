/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every subject of the kernel needs: addresses of the globals that kwalk knows, offsets of the members that
 * walkers follow, CPUs, time.
 *
 * BTF has no types for plain globals, so the type of each global used is written down here. Everything is resolved
 * once per target, when the first subject needs it.
 *
 * Uses util, memory, symbol, type, access.
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "access/plan.h"
#include "util/context.h"

#define KW_MAX_CPUS  8192
#define KW_PID_LIMIT (4 * 1024 * 1024) /* PID_MAX_LIMIT on 64-bit kernels */
#define KW_PAGE_SIZE 4096ULL

/** struct pid_type: the slots of pid.tasks and signal_struct.pids. The same since 4.19. */
enum { KW_PIDTYPE_PID, KW_PIDTYPE_TGID, KW_PIDTYPE_PGID, KW_PIDTYPE_SID };

/** Addresses of globals, KW_NO_ADDR when the kernel has none of that name. */
struct kw_globals {
	uint64_t init_pid_ns;	  /* struct pid_namespace */
	uint64_t init_task;	  /* struct task_struct */
	uint64_t tk_core;	  /* { seqcount; struct timekeeper } to 6.12, struct tk_data in 6.13..6.16 */
	uint64_t timekeeper_data; /* struct tk_data [] since 6.17 */
	uint64_t per_cpu_offset;  /* unsigned long __per_cpu_offset[NR_CPUS] */
	uint64_t nr_cpu_ids;	  /* unsigned int; absent where it is a constant */
	uint64_t cpu_possible;	  /* struct cpumask __cpu_possible_mask */
	uint64_t percpu_start, percpu_end; /* where per-CPU symbols lie: from 0 on until 6.14, on x86-64 */
};

/** Offsets and sizes in bytes of what the task walkers touch. */
struct kw_task_layout {
	uint64_t idr_root;    /* pid_namespace.idr.idr_rt.xa_head */
	uint64_t node_shift;  /* xa_node.shift */
	uint64_t node_slots;  /* xa_node.slots */
	uint32_t chunk_shift; /* log2 of the number of slots */
	uint64_t pid_tasks;   /* pid.tasks */
	uint64_t pid_links;   /* task_struct.pid_links */
	uint64_t thread_pid;  /* task_struct.thread_pid */
	uint64_t tasks;	      /* task_struct.tasks */
	uint64_t signal;      /* task_struct.signal */
	uint64_t thread_node; /* task_struct.thread_node */
	uint64_t thread_head; /* signal_struct.thread_head */
	uint64_t pid, tgid;   /* task_struct.pid, tgid */
	uint64_t comm;	      /* task_struct.comm */
};

struct kw_layout; /* kernel/source.h */

struct kw_kernel {
	const struct kw_type *task_struct;
	struct kw_globals globals;
	struct kw_task_layout task;
	uint64_t *percpu_offset;	  /* of each possible CPU; KW_NO_ADDR for an impossible one */
	unsigned int nr_cpus;		  /* length of percpu_offset; 0 when it is not known */
	bool has_group_exit_code_in_stat; /* since 5.17: see kernel/task.c */
	bool is_live;
	struct kw_layout *layouts; /* of the subjects that were asked for, under a lock of sources.c */
};

/**
 * Return the target's kernel, resolving it on the first call.
 *
 * @param ret  owned by the target
 */
kw_status kw_kernel_get(kw_ctx *ctx, const struct kw_kernel **ret);

/** Free a kernel. NULL is accepted. */
void kw_kernel_free(struct kw_kernel *kernel);

/** Free the layouts of subjects. NULL is accepted. */
void kw_layouts_free(struct kw_layout *layouts);

/** The kernel's clocks at the moment of its last update, in nanoseconds. */
struct kw_clock {
	uint64_t boottime;  /* since boot, suspend included */
	uint64_t realtime;  /* since the epoch */
	uint64_t monotonic; /* since boot, without suspend */
};

/** Read the kernel's clocks: the host's own for the live kernel, else the timekeeper's last update. */
kw_status kw_clock_read(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_clock *ret);

/** As kw_clock_read(), the monotonic clock alone, which is read once a pass. */
kw_status kw_clock_monotonic(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret);

/** When the system was started, by its own clock: timekeeper.offs_real - offs_boot, also of the live kernel. */
kw_status kw_clock_started(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret);

#endif
