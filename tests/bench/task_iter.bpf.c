/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Peer: BPF task iterators, which write a record for each process to whoever reads them.
 *
 * The structures have only those members that are used; where they lie is filled in when the program is loaded. They
 * are those of kernel 6.1.
 */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16, __sum16;
typedef __u32 __be32, __wsum;

enum { BPF_MAP_TYPE_PERCPU_ARRAY = 6 };

#include <bpf/bpf_helpers.h>

#include "task_iter.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

typedef struct {
	__s64 counter;
} atomic_long_t;

typedef struct {
	int counter;
} atomic_t;

struct upid {
	int nr;
};

struct pid {
	struct upid numbers[1];
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
};

/* Whole, since the distance of an array's elements is not filled in. */
struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
	void *sa_restorer;
	sigset_t sa_mask;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct rlimit {
	unsigned long rlim_cur;
};

struct fs_struct {
	int umask;
};

struct fdtable {
	unsigned int max_fds;
};

struct files_struct {
	struct fdtable *fdt;
};

typedef struct {
	__u32 cap[2];
} kernel_cap_t;

struct signal_struct {
	struct sigpending shared_pending;
	struct rlimit rlim[16];
	int nr_threads, group_exit_code;
	struct pid *pids[4];
	__u64 utime, stime, gtime, cutime, cstime, cgtime;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt, nvcsw, nivcsw;
	unsigned long long sum_sched_runtime;
	struct task_io_accounting ioac;
};

typedef struct {
	__u32 val;
} kuid_t;

typedef struct {
	__u32 val;
} kgid_t;

struct cred {
	kuid_t uid, euid, suid, fsuid;
	kgid_t gid, egid, sgid, fsgid;
	kernel_cap_t cap_inheritable, cap_permitted, cap_effective, cap_bset, cap_ambient;
};

struct mm_rss_stat {
	atomic_long_t count[4];
};

struct mm_struct {
	unsigned long total_vm, locked_vm, data_vm, exec_vm, stack_vm, hiwater_vm, hiwater_rss;
	atomic_long_t pgtables_bytes, pinned_vm, hugetlb_usage;
	unsigned long start_code, end_code, start_data, end_data, start_brk, start_stack;
	unsigned long arg_start, arg_end, env_start, env_end;
	struct mm_rss_stat rss_stat;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
};

struct thread_info {
	__u32 cpu;
};

struct seccomp {
	int mode;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state, flags, policy, rt_priority;
	int exit_state, pid, tgid, prio, static_prio, exit_code, exit_signal;
	__u64 utime, stime, gtime, start_boottime;
	unsigned long min_flt, maj_flt, nvcsw, nivcsw;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_struct *real_parent;
	struct signal_struct *signal;
	struct mm_struct *mm;
	const struct cred *real_cred;
	struct task_io_accounting ioac;
	struct seccomp seccomp;
	struct sigpending pending;
	sigset_t blocked;
	struct sighand_struct *sighand;
	struct fs_struct *fs;
	struct files_struct *files;
	unsigned long atomic_flags;
	char comm[16];
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* A record is larger than a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process_record);
} scratch SEC(".maps");

char LICENSE[] SEC("license") = "GPL";

/* Words: four loads are faster than the help of bpf_probe_read_kernel(). */
static inline void copy_comm(char *to, const struct task_struct *task)
{
	const __u32 *from = (const __u32 *)task->comm;

	for (int i = 0; i < 4; i++)
		((__u32 *)to)[i] = from[i];
}

SEC("iter/task")
int comm_of_processes(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct comm_record record;

	if (!task || task->pid != task->tgid)
		return 0;
	record.pid = task->pid;
	copy_comm(record.comm, task);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

static inline void take_io(struct thread_record *to, const struct task_struct *task)
{
	to->rchar = task->ioac.rchar;
	to->wchar = task->ioac.wchar;
	to->syscr = task->ioac.syscr;
	to->syscw = task->ioac.syscw;
	to->read_bytes = task->ioac.read_bytes;
	to->write_bytes = task->ioac.write_bytes;
	to->cancelled_write_bytes = task->ioac.cancelled_write_bytes;
}

static inline void take_thread(struct thread_record *to, const struct task_struct *task)
{
	to->tgid = task->tgid;
	to->tid = task->pid;
	to->utime = task->utime;
	to->stime = task->stime;
	to->gtime = task->gtime;
	to->sum_exec_runtime = task->se.sum_exec_runtime;
	to->minflt = task->min_flt;
	to->majflt = task->maj_flt;
	take_io(to, task);
}

static inline void take_task(struct process_record *to, const struct task_struct *task)
{
	copy_comm(to->comm, task);
	to->state = task->__state;
	to->exit_state = task->exit_state;
	to->flags = task->flags;
	to->policy = task->policy;
	to->rt_priority = task->rt_priority;
	to->cpu = task->thread_info.cpu;
	to->prio = task->prio;
	to->static_prio = task->static_prio;
	to->exit_signal = task->exit_signal;
	to->starttime = task->start_boottime;
	to->ppid = task->real_parent->tgid;
	to->run_delay = task->sched_info.run_delay;
	to->pcount = task->sched_info.pcount;
	to->nvcsw = task->nvcsw;
	to->nivcsw = task->nivcsw;
	to->seccomp = task->seccomp.mode;
}

static inline void take_signal(struct process_record *to, const struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;

	to->exit_code = signal->group_exit_code ? signal->group_exit_code : task->exit_code;
	to->nlwp = signal->nr_threads;
	to->pgid = signal->pids[2]->numbers[0].nr;
	to->sid = signal->pids[3]->numbers[0].nr;
	to->utime = signal->utime;
	to->stime = signal->stime;
	to->gtime = signal->gtime;
	to->cutime = signal->cutime;
	to->cstime = signal->cstime;
	to->cgtime = signal->cgtime;
	to->sum_exec_runtime = signal->sum_sched_runtime;
	to->minflt = signal->min_flt;
	to->majflt = signal->maj_flt;
	to->cminflt = signal->cmin_flt;
	to->cmajflt = signal->cmaj_flt;
	to->rchar = signal->ioac.rchar;
	to->wchar = signal->ioac.wchar;
	to->syscr = signal->ioac.syscr;
	to->syscw = signal->ioac.syscw;
	to->read_bytes = signal->ioac.read_bytes;
	to->write_bytes = signal->ioac.write_bytes;
	to->cancelled_write_bytes = signal->ioac.cancelled_write_bytes;
}

static inline void take_cap(unsigned long long *to, const kernel_cap_t *cap)
{
	*to = cap->cap[0] | (__u64)cap->cap[1] << 32;
}

static inline void take_cred(struct process_record *to, const struct cred *cred)
{
	to->ids[0] = cred->uid.val;
	to->ids[1] = cred->euid.val;
	to->ids[2] = cred->suid.val;
	to->ids[3] = cred->fsuid.val;
	to->ids[4] = cred->gid.val;
	to->ids[5] = cred->egid.val;
	to->ids[6] = cred->sgid.val;
	to->ids[7] = cred->fsgid.val;
	take_cap(&to->caps[0], &cred->cap_inheritable);
	take_cap(&to->caps[1], &cred->cap_permitted);
	take_cap(&to->caps[2], &cred->cap_effective);
	take_cap(&to->caps[3], &cred->cap_bset);
	take_cap(&to->caps[4], &cred->cap_ambient);
}

/* What /proc/PID/status tells of signals: SIG_IGN is 1, a handler is more. */
static inline void take_handlers(struct process_record *to, const struct sighand_struct *sighand)
{
	__u64 ignored = 0, caught = 0;

	to->ignored = to->caught = 0;
	if (!sighand)
		return;
	for (int i = 0; i < 64; i++) {
		__u64 handler = (__u64)sighand->action[i].sa.sa_handler;

		ignored |= (__u64)(handler == 1) << i;
		caught |= (__u64)(handler > 1) << i;
	}
	to->ignored = ignored;
	to->caught = caught;
}

static inline void take_rest(struct process_record *to, const struct task_struct *task)
{
	const struct fs_struct *fs = task->fs;
	const struct files_struct *files = task->files;

	to->pending = task->pending.signal.sig[0];
	to->blocked = task->blocked.sig[0];
	to->shared_pending = task->signal->shared_pending.signal.sig[0];
	to->rsslim = task->signal->rlim[5].rlim_cur;
	to->atomic_flags = task->atomic_flags;
	to->umask = fs ? fs->umask : 0;
	to->fdsize = files ? files->fdt->max_fds : 0;
	take_handlers(to, task->sighand);
}

static inline void take_mm(struct process_record *to, const struct mm_struct *mm)
{
	to->has_mm = mm != 0;
	if (!mm)
		return;
	to->total_vm = mm->total_vm;
	to->locked_vm = mm->locked_vm;
	to->data_vm = mm->data_vm;
	to->exec_vm = mm->exec_vm;
	to->stack_vm = mm->stack_vm;
	to->hiwater_vm = mm->hiwater_vm;
	to->hiwater_rss = mm->hiwater_rss;
	to->pgtables_bytes = mm->pgtables_bytes.counter;
	to->pinned_vm = mm->pinned_vm.counter;
	to->hugetlb = mm->hugetlb_usage.counter;
	to->start_code = mm->start_code;
	to->end_code = mm->end_code;
	to->start_data = mm->start_data;
	to->end_data = mm->end_data;
	to->start_brk = mm->start_brk;
	to->start_stack = mm->start_stack;
	to->arg_start = mm->arg_start;
	to->arg_end = mm->arg_end;
	to->env_start = mm->env_start;
	to->env_end = mm->env_end;
	/* The verifier of 6.1 follows no array of atomic_long_t. */
	bpf_probe_read_kernel(to->rss, sizeof(to->rss), &mm->rss_stat.count);
}

SEC("iter/task")
int all_of_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0;
	struct process_record *record = bpf_map_lookup_elem(&scratch, &zero);

	if (!task || !record)
		return 0;
	take_thread(&record->thread, task);
	if (task->pid != task->tgid) {
		bpf_seq_write(ctx->meta->seq, &record->thread, sizeof(record->thread));
		return 0;
	}
	take_task(record, task);
	take_signal(record, task);
	take_cred(record, task->real_cred);
	take_mm(record, task->mm);
	take_rest(record, task);
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}
