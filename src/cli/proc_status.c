/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/PID/status: a line for each value.
 *
 * What a task or a kernel lacks has no line: a kernel thread none of memory, a task that is past its end no umask, and
 * what came with a release is in later ones only. Lines begin with the end of the one before, so that each can be left
 * out.
 */
#include "cli/proc_text.h"

static const struct proc_item status_items[] = {
	VALUE("Name:\t", "name", PROC_ESCAPED),
	VALUE_UNLESS("\nUmask:\t", "umask", PROC_OCTAL, NO_OBJECT),
	VALUE("\nState:\t", "state", PROC_STATE),
	VALUE("\nTgid:\t", "tgid", PROC_DECIMAL),
	VALUE_OR("\nNgid:\t", "ngid", PROC_DECIMAL, NO_MEMBER, "0"),
	VALUE("\nPid:\t", "tid", PROC_DECIMAL),
	VALUE("\nPPid:\t", "ppid", PROC_DECIMAL),
	VALUE("\nTracerPid:\t", "tracer", PROC_DECIMAL),
	VALUE("\nUid:\t", "ruid", PROC_DECIMAL),
	VALUE("\t", "euid", PROC_DECIMAL),
	VALUE("\t", "suid", PROC_DECIMAL),
	VALUE("\t", "fsuid", PROC_DECIMAL),
	VALUE("\nGid:\t", "rgid", PROC_DECIMAL),
	VALUE("\t", "gid", PROC_DECIMAL),
	VALUE("\t", "sgid", PROC_DECIMAL),
	VALUE("\t", "fsgid", PROC_DECIMAL),
	VALUE_OR("\nFDSize:\t", "fdsize", PROC_DECIMAL, NO_OBJECT, "0"),
	VALUE("\nGroups:\t", "groups", PROC_TEXT),
	VALUE(" \nNStgid:\t", "nstgid", PROC_TABS),
	VALUE("\nNSpid:\t", "nspid", PROC_TABS),
	VALUE("\nNSpgid:\t", "nspgid", PROC_TABS),
	VALUE("\nNSsid:\t", "nssid", PROC_TABS),
	VALUE_WHERE("\nKthread:\t", "kthread", PROC_DECIMAL, 0, NULL, PROC_HAS_KTHREAD),
	VALUE_UNLESS("\nVmPeak:\t", "vsz_peak", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmSize:\t", "vsz", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmLck:\t", "locked", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmPin:\t", "pinned", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmHWM:\t", "rss_peak", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmRSS:\t", "rss", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nRssAnon:\t", "rss_anon", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nRssFile:\t", "rss_file", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nRssShmem:\t", "rss_shmem", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmData:\t", "data", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmStk:\t", "stack", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmExe:\t", "text", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmLib:\t", "lib", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmPTE:\t", "page_tables", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nVmSwap:\t", "swap", PROC_KIB, NO_MM),
	VALUE_UNLESS("\nHugetlbPages:\t", "hugetlb", PROC_KIB, NO_MM | NO_MEMBER),
	VALUE_UNLESS("\nCoreDumping:\t", "core_dumping", PROC_DECIMAL, NO_MM),
	VALUE_UNLESS("\nTHP_enabled:\t", "thp_enabled", PROC_DECIMAL, NO_MM),
	VALUE_WHERE("\nuntag_mask:\t", "untag_mask", PROC_HEX, NO_MM, NULL, PROC_HAS_UNTAG_MASK),
	VALUE("\nThreads:\t", "nlwp", PROC_DECIMAL),
	VALUE("\nSigQ:\t", "sigq", PROC_DECIMAL),
	VALUE("/", "sigq_limit", PROC_DECIMAL),
	VALUE("\nSigPnd:\t", "pending", PROC_HEX16),
	VALUE("\nShdPnd:\t", "shared_pending", PROC_HEX16),
	VALUE("\nSigBlk:\t", "blocked", PROC_HEX16),
	VALUE("\nSigIgn:\t", "ignored", PROC_HEX16),
	VALUE("\nSigCgt:\t", "caught", PROC_HEX16),
	VALUE("\nCapInh:\t", "cap_inheritable", PROC_HEX16),
	VALUE("\nCapPrm:\t", "cap_permitted", PROC_HEX16),
	VALUE("\nCapEff:\t", "cap_effective", PROC_HEX16),
	VALUE("\nCapBnd:\t", "cap_bounding", PROC_HEX16),
	VALUE("\nCapAmb:\t", "cap_ambient", PROC_HEX16),
	VALUE("\nNoNewPrivs:\t", "no_new_privs", PROC_DECIMAL),
	VALUE_UNLESS("\nSeccomp:\t", "seccomp", PROC_DECIMAL, NO_MEMBER),
	VALUE_UNLESS("\nSeccomp_filters:\t", "seccomp_filters", PROC_DECIMAL, NO_MEMBER),
	VALUE("\nSpeculation_Store_Bypass:\t", "store_bypass", PROC_TEXT),
	VALUE_WHERE("\nSpeculationIndirectBranch:\t", "indirect_branch", PROC_TEXT, 0, NULL,
		    PROC_HAS_SPECULATION),
	VALUE("\nCpus_allowed:\t", "cpus_allowed", PROC_TEXT),
	VALUE("\nCpus_allowed_list:\t", "cpus_allowed_list", PROC_TEXT),
	VALUE_UNLESS("\nMems_allowed:\t", "mems_allowed", PROC_TEXT, NO_MEMBER),
	VALUE_UNLESS("\nMems_allowed_list:\t", "mems_allowed_list", PROC_TEXT, NO_MEMBER),
	VALUE("\nvoluntary_ctxt_switches:\t", "nvcsw", PROC_DECIMAL),
	VALUE("\nnonvoluntary_ctxt_switches:\t", "nivcsw", PROC_DECIMAL),
	VALUE_UNLESS("\nx86_Thread_features:\t", "thread_features", PROC_WORDS, NO_MEMBER),
	VALUE_UNLESS("\nx86_Thread_features_locked:\t", "thread_features_locked", PROC_WORDS, NO_MEMBER),
	TEXT_ONLY("\n"),
};

static const struct proc_file files[] = {
	PROC_FILE(PROC_TASK, "status", status_items),
};

const struct proc_file_list proc_status_files = PROC_FILE_LIST(files);
