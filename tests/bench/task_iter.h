/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the BPF task iterators write: one record for each process, or with all fields one for each thread. */
#ifndef BENCH_TASK_ITER_H
#define BENCH_TASK_ITER_H

struct comm_record {
	unsigned int pid;
	char comm[16];
};

/* Of a thread; threads of one process follow its first, and their times are to be added to its. */
struct thread_record {
	int tgid, tid;
	unsigned long long utime, stime, gtime, sum_exec_runtime, minflt, majflt;
	unsigned long long rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

/* Of a process, after the record of its first thread. Sums in signal_struct are those of ended threads. */
struct process_record {
	struct thread_record thread;
	char comm[16];
	unsigned int state, exit_state, flags, policy, rt_priority, cpu;
	int ppid, pgid, sid, prio, static_prio, nlwp, exit_code, exit_signal;
	unsigned int ids[8]; /* ruid euid suid fsuid rgid egid sgid fsgid */
	unsigned long long starttime;
	unsigned long long utime, stime, gtime, sum_exec_runtime, minflt, majflt;
	unsigned long long cutime, cstime, cgtime, cminflt, cmajflt;
	unsigned long long rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
	unsigned long long run_delay, pcount, nvcsw, nivcsw;
	unsigned long long rsslim, pending, shared_pending, blocked, ignored, caught, atomic_flags;
	unsigned long long caps[5]; /* inheritable permitted effective bounding ambient */
	unsigned int umask, fdsize;
	int has_mm;
	int seccomp;
	long long pinned_vm, hugetlb;
	unsigned long long total_vm, locked_vm, data_vm, exec_vm, stack_vm, hiwater_vm, hiwater_rss;
	unsigned long long pgtables_bytes, start_code, end_code, start_data, end_data, start_brk, start_stack;
	unsigned long long arg_start, arg_end, env_start, env_end;
	long long rss[4]; /* file, anonymous, swap, shmem: pages */
};

#endif
