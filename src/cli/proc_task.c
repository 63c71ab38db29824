/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of a task that are one line: what it does and has used, and the small ones of one value each. */
#include "cli/proc_text.h"

static const struct proc_item stat_items[] = {
	VALUE("", "tid", PROC_DECIMAL),
	VALUE(" (", "name", PROC_TEXT),
	VALUE(") ", "state", PROC_TEXT),
	VALUE(" ", "ppid", PROC_DECIMAL),
	VALUE(" ", "pgid", PROC_DECIMAL),
	VALUE(" ", "sid", PROC_DECIMAL),
	VALUE_OR(" ", "tty_nr", PROC_DECIMAL, NO_OBJECT, "0"),
	VALUE_OR(" ", "tpgid", PROC_DECIMAL, NO_OBJECT, "-1"),
	VALUE(" ", "flags", PROC_DECIMAL),
	VALUE(" ", "minflt", PROC_DECIMAL),
	VALUE(" ", "cminflt", PROC_DECIMAL),
	VALUE(" ", "majflt", PROC_DECIMAL),
	VALUE(" ", "cmajflt", PROC_DECIMAL),
	VALUE(" ", "utime", PROC_TICKS),
	VALUE(" ", "stime", PROC_TICKS),
	VALUE(" ", "cutime", PROC_TICKS),
	VALUE(" ", "cstime", PROC_TICKS),
	VALUE(" ", "priority", PROC_DECIMAL),
	VALUE(" ", "ni", PROC_DECIMAL),
	VALUE(" ", "nlwp", PROC_DECIMAL),
	VALUE(" 0 ", "starttime", PROC_TICKS),
	VALUE_OR(" ", "vsz", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "stat_rss", PROC_PAGES, NO_MM, "0"),
	VALUE(" ", "rsslim", PROC_DECIMAL),
	VALUE_OR(" ", "start_code", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "end_code", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "start_stack", PROC_DECIMAL, NO_MM, "0"),
	VALUE(" ", "kstkesp", PROC_DECIMAL),
	VALUE(" ", "kstkeip", PROC_DECIMAL),
	VALUE(" ", "pending", PROC_SIGNALS),
	VALUE(" ", "blocked", PROC_SIGNALS),
	VALUE(" ", "ignored", PROC_SIGNALS),
	VALUE(" ", "caught", PROC_SIGNALS),
	VALUE_OR(" ", "task.__state", PROC_WAITS, NO_OBJECT, "0"), /* wchan */
	VALUE(" 0 0 ", "exit_signal", PROC_DECIMAL),
	VALUE(" ", "psr", PROC_DECIMAL),
	VALUE_OR(" ", "rtprio", PROC_DECIMAL, NO_OBJECT, "0"),
	VALUE(" ", "sched_policy", PROC_DECIMAL),
	VALUE_OR(" ", "blkio_delay", PROC_TICKS, NOT_COUNTED, "0"),
	VALUE(" ", "guest_time", PROC_TICKS),
	VALUE(" ", "cguest_time", PROC_TICKS),
	VALUE_OR(" ", "start_data", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "end_data", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "start_brk", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "arg_start", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "arg_end", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "env_start", PROC_DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "env_end", PROC_DECIMAL, NO_MM, "0"),
	VALUE(" ", "exit_code", PROC_DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item statm_items[] = {
	VALUE_OR("", "vsz", PROC_PAGES, NO_MM, "0"),
	VALUE_OR(" ", "rss", PROC_PAGES, NO_MM, "0"),
	VALUE_OR(" ", "shared", PROC_PAGES, NO_MM, "0"),
	VALUE_OR(" ", "statm_text", PROC_PAGES, NO_MM, "0"),
	VALUE_OR(" 0 ", "statm_data", PROC_PAGES, NO_MM, "0"),
	TEXT_ONLY(" 0\n"),
};

static const struct proc_item io_items[] = {
	VALUE("rchar: ", "rchar", PROC_DECIMAL),
	VALUE("\nwchar: ", "wchar", PROC_DECIMAL),
	VALUE("\nsyscr: ", "syscr", PROC_DECIMAL),
	VALUE("\nsyscw: ", "syscw", PROC_DECIMAL),
	VALUE("\nread_bytes: ", "read_bytes", PROC_DECIMAL),
	VALUE("\nwrite_bytes: ", "write_bytes", PROC_DECIMAL),
	VALUE("\ncancelled_write_bytes: ", "cancelled_write_bytes", PROC_DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item schedstat_items[] = {
	VALUE("", "exec_runtime", PROC_DECIMAL),
	VALUE(" ", "run_delay", PROC_DECIMAL),
	VALUE(" ", "timeslices", PROC_DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item comm_items[] = { VALUE("", "name", PROC_TEXT), TEXT_ONLY("\n") };

/* Of no memory the kernel makes an empty command line. */
static const struct proc_item cmdline_items[] = { VALUE_OR("", "cmdline", PROC_TEXT, NO_MM, "") };

static const struct proc_item oom_score_adj_items[] = { VALUE("", "oom_score_adj", PROC_DECIMAL),
							TEXT_ONLY("\n") };

static const struct proc_item loginuid_items[] = { VALUE("", "loginuid", PROC_DECIMAL) };

static const struct proc_item sessionid_items[] = { VALUE("", "sessionid", PROC_DECIMAL) };

static const struct proc_item personality_items[] = { VALUE("", "personality", PROC_HEX8), TEXT_ONLY("\n") };

/* Without any hierarchy, not even that of version 2, there is no line. */
static const struct proc_item cgroup_items[] = { VALUE("", "cgroups", PROC_LINES) };

static const struct proc_item cpuset_items[] = { VALUE("", "cpuset", PROC_TEXT), TEXT_ONLY("\n") };

static const struct proc_item wchan_items[] = { VALUE_OR("", "proc_wchan", PROC_TEXT, NO_OBJECT, "0") };

static const struct proc_item environ_items[] = { VALUE_OR("", "environ", PROC_TEXT, NO_MM, "") };

static const struct proc_item oom_score_items[] = { VALUE("", "oom_score", PROC_DECIMAL), TEXT_ONLY("\n") };

static const struct proc_item timerslack_items[] = { VALUE("", "timerslack", PROC_DECIMAL), TEXT_ONLY("\n") };

/* Of a task without one there is no line. */
static const struct proc_item autogroup_items[] = {
	VALUE_UNLESS("/autogroup-", "autogroup", PROC_DECIMAL, NO_OBJECT),
	VALUE_UNLESS(" nice ", "autogroup_nice", PROC_DECIMAL, NO_OBJECT),
	VALUE_UNLESS("\n", "autogroup", PROC_NOTHING, NO_OBJECT),
};

static const struct proc_file files[] = {
	PROC_FILE(PROC_TASK, "stat", stat_items),
	PROC_FILE(PROC_TASK, "statm", statm_items),
	PROC_FILE(PROC_TASK, "io", io_items),
	PROC_FILE(PROC_TASK, "schedstat", schedstat_items),
	PROC_FILE(PROC_TASK, "comm", comm_items),
	PROC_FILE(PROC_TASK, "cmdline", cmdline_items),
	PROC_FILE(PROC_TASK, "oom_score_adj", oom_score_adj_items),
	PROC_FILE(PROC_TASK, "loginuid", loginuid_items),
	PROC_FILE(PROC_TASK, "sessionid", sessionid_items),
	PROC_FILE(PROC_TASK, "personality", personality_items),
	PROC_FILE(PROC_TASK, "wchan", wchan_items),
	PROC_FILE(PROC_TASK, "oom_score", oom_score_items),
	PROC_FILE_WHERE(PROC_TASK, "timerslack_ns", timerslack_items, PROC_IS_PROCESS),
	PROC_FILE_WHERE(PROC_TASK, "autogroup", autogroup_items, PROC_HAS_AUTOGROUP),
	PROC_FILE_PRIVATE(PROC_TASK, "environ", environ_items),
	PROC_FILE(PROC_TASK, "cgroup", cgroup_items),
	PROC_FILE_WHERE(PROC_TASK, "cpuset", cpuset_items, PROC_HAS_CPUSET),
};

const struct proc_file_list proc_task_files = PROC_FILE_LIST(files);
