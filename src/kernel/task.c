/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields of a task itself: IDs, credentials, state, scheduling. */
#include <stdio.h>
#include <string.h>

#include "kernel/field_table.h"

#define MAX_RT_PRIO  100
#define DEFAULT_PRIO 120

/* Bits of task_struct.__state; the reported ones are the same in all supported kernels. */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_NOLOAD	     0x0400
#define TASK_RTLOCK_WAIT     0x1000 /* since 5.15 */
#define TASK_FROZEN	     0x8000 /* since 6.1 */
#define TASK_REPORT	     0x007f
#define TASK_IDLE	     (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)

/* signal_struct.flags */
#define SIGNAL_STOP_STOPPED 0x1
#define SIGNAL_GROUP_EXIT   0x4

/* The letter that /proc shows: the highest reported bit of state and exit_state names it. */
static char state_letter(uint64_t state, uint64_t exit_state)
{
	static const char letters[] = "RSDTtXZP";
	unsigned int reported = (unsigned int)(state | exit_state) & TASK_REPORT;

	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		return 'D';
	if ((state & TASK_IDLE) == TASK_IDLE)
		return 'I';
	return letters[reported ? 32 - __builtin_clz(reported) : 0];
}

static void state(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char letter[2] = { 0 };

	if (kw_pass_absent(in, 2, out))
		return;
	letter[0] = state_letter(in[0].u, in[1].u);
	kw_set_row_text(row, out, letter);
}

/* Whether there is an input of a kind; one that is missing is noted. */
static inline bool has(const struct kw_value *in, enum kw_value_type type, const struct kw_value **missing)
{
	if (in->type == type)
		return true;
	if (kw_is_missing(in))
		*missing = in;
	return false;
}

/* ps's STAT: the state, then < N L s l +. Without a letter that may be there it would say something else. */
static void stat_flags(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char text[8], *at = text;
	const struct kw_value *missing = NULL;
	int64_t nice = in[2].i - DEFAULT_PRIO;

	if (kw_pass_absent(in, 2, out))
		return;
	*at++ = state_letter(in[0].u, in[1].u);
	if (has(&in[2], KW_VAL_INT, &missing) && nice)
		*at++ = nice < 0 ? '<' : 'N';
	if (has(&in[3], KW_VAL_UINT, &missing) && in[3].u)
		*at++ = 'L';
	if (has(&in[4], KW_VAL_INT, &missing) && has(&in[5], KW_VAL_INT, &missing) && in[4].i == in[5].i)
		*at++ = 's';
	if (has(&in[6], KW_VAL_INT, &missing) && in[6].i > 1)
		*at++ = 'l';
	if (has(&in[7], KW_VAL_ADDRESS, &missing) && in[7].u && has(&in[8], KW_VAL_ADDRESS, &missing) &&
	    in[7].u == in[8].u)
		*at++ = '+';
	*at = '\0';
	if (missing)
		*out = *missing;
	else
		kw_set_row_text(row, out, text);
}

static void user_name(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const char *name;
	char number[16];

	if (kw_pass_absent(in, 1, out))
		return;
	name = row->users ? kw_user_name(row->users, (uint32_t)in[0].u) : NULL;
	if (!name) {
		snprintf(number, sizeof(number), "%u", (uint32_t)in[0].u);
		name = number;
	}
	kw_set_row_text(row, out, name);
}

static void nice_value(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_int(out, in[0].i - DEFAULT_PRIO);
}

static void priority(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_int(out, in[0].i - MAX_RT_PRIO);
}

static void ps_priority(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_int(out, 39 - (in[0].i - MAX_RT_PRIO));
}

static const char *class_name(uint64_t policy)
{
	static const char *const names[] = { "TS", "FF", "RR", "B", "ISO", "IDL", "DLN", "EXT" };

	return policy < sizeof(names) / sizeof(names[0]) ? names[policy] : "?";
}

static void sched_class(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_string(out, class_name(in[0].u));
}

static bool is_realtime(uint64_t policy)
{
	return policy == 1 || policy == 2;
}

static void rt_priority(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (kw_pass_absent(in, 2, out))
		return;
	if (is_realtime(in[0].u))
		kw_set_uint(out, in[1].u);
	else
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
}

static void kthread(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_bool(out, in[0].u & KW_PF_KTHREAD);
}

static void tracer(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (in[0].type != KW_VAL_ABSENT && !in[0].u)
		kw_set_int(out, 0);
	else if (!kw_pass_absent(in, 2, out))
		kw_set_int(out, in[1].i);
}

/* Number 0 is that of the tasks that have none. */
static void autogroup(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (in[0].type != KW_VAL_ABSENT && !in[0].u)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, in[0].u);
}

static void autogroup_nice(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	autogroup(row, in + 1, out);
	if (out->type != KW_VAL_ABSENT)
		*out = in[0];
}

static void numa_group(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (in[0].type == KW_VAL_ABSENT && in[0].absent == KW_ABSENT_NULL)
		kw_set_int(out, 0);
	else
		*out = in[0];
}

/*
 * /proc/PID/stat shows the group's code for a process that is exiting or stopped as a whole (since 5.17), else the
 * task's own.
 */
static void exit_code(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	bool whole = !row->is_thread && row->kernel->has_group_exit_code_in_stat;

	if (kw_pass_absent(in, 1, out) || (whole && kw_pass_missing(&in[1], out)))
		return;
	*out = in[0];
	if (whole && in[1].type == KW_VAL_UINT && in[1].u & (SIGNAL_GROUP_EXIT | SIGNAL_STOP_STOPPED))
		*out = in[2];
}

static void start(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (kw_pass_absent(in, 1, out))
		return;
	if (row->clock)
		kw_set_uint(out, row->clock->realtime - row->clock->boottime + in[0].u);
	else
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
}

/* The last update of the clock may be older than a task that was just born. */
static void elapsed(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (kw_pass_absent(in, 1, out))
		return;
	if (row->clock)
		kw_set_uint(out, row->clock->boottime > in[0].u ? row->clock->boottime - in[0].u : 0);
	else
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
}

#define STATE	"__state | state" /* long until 5.13, unsigned int since 5.14 */
#define BOTH	KW_SCOPE_BOTH
#define OBJECT	KW_COST_OBJECT
#define POINTER KW_COST_POINTER

static const struct kw_field_def fields[] = {
	{ { "pid", "PID", "PID", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT, "process ID",
	    "task_struct.tgid" },
	  { "tgid" },
	  NULL,
	  0 },
	{ { "tid", "TID", "lwp,spid", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT, "thread ID",
	    "task_struct.pid" },
	  { "pid" },
	  NULL,
	  0 },
	{ { "tgid", "TGID", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "thread-group ID, the same as pid", "task_struct.tgid" },
	  { "tgid" },
	  NULL,
	  0 },
	{ { "ppid", "PPID", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "process ID of the parent", "task_struct.real_parent->tgid" },
	  { "real_parent.tgid" },
	  NULL,
	  0 },
	{ { "pgid", "PGID", "pgrp", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "process-group ID", "signal_struct.pids[PIDTYPE_PGID]->numbers[0].nr" },
	  { "signal.pids[pid_type.PIDTYPE_PGID].numbers[0].nr" },
	  NULL,
	  0 },
	{ { "sid", "SID", "sess,session", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "session ID", "signal_struct.pids[PIDTYPE_SID]->numbers[0].nr" },
	  { "signal.pids[pid_type.PIDTYPE_SID].numbers[0].nr" },
	  NULL,
	  0 },
	{ { "uid", "UID", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "effective user ID, as in ps", "task_struct.real_cred->euid" },
	  { "real_cred.euid" },
	  NULL,
	  0 },
	{ { "euid", "EUID", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER, "effective user ID",
	    "task_struct.real_cred->euid" },
	  { "real_cred.euid" },
	  NULL,
	  0 },
	{ { "ruid", "RUID", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER, "real user ID",
	    "task_struct.real_cred->uid" },
	  { "real_cred.uid" },
	  NULL,
	  0 },
	{ { "suid", "SUID", "svuid", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER, "saved user ID",
	    "task_struct.real_cred->suid" },
	  { "real_cred.suid" },
	  NULL,
	  0 },
	{ { "fsuid", "FUID", "fuid", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "user ID of file-system access", "task_struct.real_cred->fsuid" },
	  { "real_cred.fsuid" },
	  NULL,
	  0 },
	{ { "gid", "GID", "egid", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "effective group ID, as in ps", "task_struct.real_cred->egid" },
	  { "real_cred.egid" },
	  NULL,
	  0 },
	{ { "rgid", "RGID", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER, "real group ID",
	    "task_struct.real_cred->gid" },
	  { "real_cred.gid" },
	  NULL,
	  0 },
	{ { "sgid", "SGID", "svgid", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "saved group ID", "task_struct.real_cred->sgid" },
	  { "real_cred.sgid" },
	  NULL,
	  0 },
	{ { "fsgid", "FGID", "fgid", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "group ID of file-system access", "task_struct.real_cred->fsgid" },
	  { "real_cred.fsgid" },
	  NULL,
	  0 },
	{ { "user", "USER", "euser,uname", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "effective user: its name on the live kernel, its number in a guest or dump",
	    "task_struct.real_cred->euid" },
	  { "real_cred.euid" },
	  user_name,
	  KW_USES_USERS },
	{ { "ruser", "RUSER", "", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "real user, as user", "task_struct.real_cred->uid" },
	  { "real_cred.uid" },
	  user_name,
	  KW_USES_USERS },
	{ { "state", "S", "s", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "state: R S D T t X Z P I, as in /proc", "task_struct.__state (state to 5.13), exit_state" },
	  { STATE, "exit_state" },
	  state,
	  0 },
	{ { "stat", "STAT", "stat-flags", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "state with ps's flags: < high priority, N nice, L locked memory, s session leader, l threads, + foreground",
	    "state, static_prio, mm->locked_vm, signal" },
	  { STATE, "exit_state", "static_prio", "mm.locked_vm",
	    "signal.pids[pid_type.PIDTYPE_SID].numbers[0].nr", "tgid", "signal.nr_threads",
	    "signal.tty.ctrl.pgrp | signal.tty.pgrp", /* struct ctrl since 5.16 */
	    "signal.pids[pid_type.PIDTYPE_PGID]" },
	  stat_flags,
	  0 },
	{ { "comm", "COMMAND", "ucmd,ucomm", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "name of the program, at most 15 bytes", "task_struct.comm" },
	  { "comm" },
	  NULL,
	  0 },
	{ { "nlwp", "NLWP", "thcount,num_threads", KW_VAL_INT, KW_UNIT_COUNT, KW_SHOW_PLAIN, BOTH, POINTER,
	    "number of threads", "signal_struct.nr_threads" },
	  { "signal.nr_threads" },
	  NULL,
	  0 },
	{ { "ni", "NI", "nice", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "nice value, -20 to 19", "task_struct.static_prio - 120" },
	  { "static_prio" },
	  nice_value,
	  0 },
	{ { "pri", "PRI", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "priority as ps shows it: 39 - priority", "task_struct.prio" },
	  { "prio" },
	  ps_priority,
	  0 },
	{ { "priority", "PRIORITY", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "priority as /proc/PID/stat shows it", "task_struct.prio - 100" },
	  { "prio" },
	  priority,
	  0 },
	{ { "cls", "CLS", "class,policy", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "scheduling class: TS FF RR B ISO IDL DLN EXT", "task_struct.policy" },
	  { "policy" },
	  sched_class,
	  0 },
	{ { "rtprio", "RTPRIO", "rt_priority", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "real-time priority, 1 to 99, of FF and RR tasks", "task_struct.rt_priority" },
	  { "policy", "rt_priority" },
	  rt_priority,
	  0 },
	{ { "psr", "PSR", "cpuid,processor", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "CPU it runs or last ran on", "task_struct.thread_info.cpu (cpu to 5.15)" },
	  { "thread_info.cpu | cpu" },
	  NULL,
	  0 },
	{ { "flags", "F", "f,flag", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, BOTH, OBJECT, "PF_* flags",
	    "task_struct.flags" },
	  { "flags" },
	  NULL,
	  0 },
	{ { "kthread", "KTHREAD", "", KW_VAL_BOOL, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, OBJECT,
	    "is a kernel thread", "task_struct.flags & PF_KTHREAD" },
	  { "flags" },
	  kthread,
	  0 },
	{ { "exit_code", "EXIT", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "exit code in the form of wait(2), as /proc/PID/stat shows it",
	    "task_struct.exit_code, signal_struct.group_exit_code" },
	  { "exit_code", "signal.flags", "signal.group_exit_code" },
	  exit_code,
	  0 },
	{ { "starttime", "STARTTIME", "start_time", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN, BOTH,
	    OBJECT, "time from boot to its start", "task_struct.start_boottime" },
	  { "start_boottime" },
	  NULL,
	  0 },
	{ { "start", "START", "lstart,bsdstart", KW_VAL_UINT, KW_UNIT_TIMESTAMP, KW_SHOW_START, BOTH, OBJECT,
	    "when it started", "task_struct.start_boottime, timekeeper.offs_real - offs_boot" },
	  { "start_boottime" },
	  start,
	  KW_USES_CLOCK },
	{ { "etime", "ELAPSED", "etimes", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_ELAPSED, BOTH, OBJECT,
	    "time since its start", "timekeeper's boot time - task_struct.start_boottime" },
	  { "start_boottime" },
	  elapsed,
	  KW_USES_CLOCK },
	{ { "tracer", "TRACER", "TracerPid", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "process ID of the tracer; 0 when not traced", "task_struct.parent->pid, when ptrace is set" },
	  { "ptrace", "parent.pid" },
	  tracer,
	  0 },
	{ { "ngid", "NGID", "Ngid", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "NUMA group ID; 0 when it has none", "numa_group.gid" },
	  { "numa_group.gid" },
	  numa_group,
	  0 },
	{ { "personality", "PERSONALITY", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, BOTH, OBJECT,
	    "execution domain, as personality(2) sets it", "task_struct.personality" },
	  { "personality" },
	  NULL,
	  0 },
	{ { "oom_score_adj", "OOMADJ", "oomadj", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "what is added to its score when memory runs out, -1000 to 1000", "signal_struct.oom_score_adj" },
	  { "signal.oom_score_adj" },
	  NULL,
	  0 },
	{ { "timerslack", "SLACK", "timer_slack_ns,timerslack_ns", KW_VAL_UINT, KW_UNIT_NANOSECONDS,
	    KW_SHOW_PLAIN, BOTH, OBJECT, "how late its timers may be", "task_struct.timer_slack_ns" },
	  { "timer_slack_ns" },
	  NULL,
	  0 },
	{ { "rsslim", "RSSLIM", "", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB, BOTH, POINTER,
	    "soft limit of its resident memory, 18446744073709551615 for none",
	    "signal_struct.rlim[RLIMIT_RSS].rlim_cur" },
	  { "signal.rlim[5].rlim_cur" },
	  NULL,
	  0 },
	{ { "autogroup", "AUTOGROUP", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "number of its automatic scheduling group", "autogroup.id" },
	  { "signal.autogroup.id" },
	  autogroup,
	  0 },
	{ { "autogroup_nice", "AGNI", "agni", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, POINTER,
	    "nice value of its automatic scheduling group", "autogroup.nice" },
	  { "signal.autogroup.nice", "signal.autogroup.id" },
	  autogroup_nice,
	  0 },
};

const struct kw_field_table kw_task_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
