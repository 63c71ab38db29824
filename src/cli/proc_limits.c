/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/PID/limits */
#include "cli/proc_text.h"

static const struct proc_item limits_items[] = {
	VALUE("Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              ",
	      "limit_cpu", PROC_LIMIT),
	VALUE("", "limit_cpu_hard", PROC_LIMIT),
	VALUE("seconds   \nMax file size             ", "limit_fsize", PROC_LIMIT),
	VALUE("", "limit_fsize_hard", PROC_LIMIT),
	VALUE("bytes     \nMax data size             ", "limit_data", PROC_LIMIT),
	VALUE("", "limit_data_hard", PROC_LIMIT),
	VALUE("bytes     \nMax stack size            ", "limit_stack", PROC_LIMIT),
	VALUE("", "limit_stack_hard", PROC_LIMIT),
	VALUE("bytes     \nMax core file size        ", "limit_core", PROC_LIMIT),
	VALUE("", "limit_core_hard", PROC_LIMIT),
	VALUE("bytes     \nMax resident set          ", "limit_rss", PROC_LIMIT),
	VALUE("", "limit_rss_hard", PROC_LIMIT),
	VALUE("bytes     \nMax processes             ", "limit_nproc", PROC_LIMIT),
	VALUE("", "limit_nproc_hard", PROC_LIMIT),
	VALUE("processes \nMax open files            ", "limit_nofile", PROC_LIMIT),
	VALUE("", "limit_nofile_hard", PROC_LIMIT),
	VALUE("files     \nMax locked memory         ", "limit_memlock", PROC_LIMIT),
	VALUE("", "limit_memlock_hard", PROC_LIMIT),
	VALUE("bytes     \nMax address space         ", "limit_as", PROC_LIMIT),
	VALUE("", "limit_as_hard", PROC_LIMIT),
	VALUE("bytes     \nMax file locks            ", "limit_locks", PROC_LIMIT),
	VALUE("", "limit_locks_hard", PROC_LIMIT),
	VALUE("locks     \nMax pending signals       ", "limit_sigpending", PROC_LIMIT),
	VALUE("", "limit_sigpending_hard", PROC_LIMIT),
	VALUE("signals   \nMax msgqueue size         ", "limit_msgqueue", PROC_LIMIT),
	VALUE("", "limit_msgqueue_hard", PROC_LIMIT),
	VALUE("bytes     \nMax nice priority         ", "limit_nice", PROC_LIMIT),
	VALUE("", "limit_nice_hard", PROC_LIMIT),
	VALUE("\nMax realtime priority     ", "limit_rtprio", PROC_LIMIT),
	VALUE("", "limit_rtprio_hard", PROC_LIMIT),
	VALUE("\nMax realtime timeout      ", "limit_rttime", PROC_LIMIT),
	VALUE("", "limit_rttime_hard", PROC_LIMIT),
	TEXT_ONLY("us        \n"),
};

static const struct proc_file files[] = {
	PROC_FILE(PROC_TASK, "limits", limits_items),
};

const struct proc_file_list proc_limits_files = PROC_FILE_LIST(files);
