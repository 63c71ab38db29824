/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scheduling: schedstat, context switches, delays. /proc shows these of one thread also for a process: its leader's.
 *
 * Without delay accounting (the boot option delayacct) a task has no delays: absent, where /proc/PID/stat prints 0.
 */
#include "kernel/field_table.h"

#define BOTH	    KW_SCOPE_BOTH
#define NANOSECONDS KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN, BOTH, KW_COST_OBJECT
#define COUNT	    KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, BOTH, KW_COST_OBJECT

#define DELAY(kind, header, what, since)                                                      \
	{ { kind "_delay", header, "", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN, BOTH, \
	    KW_COST_POINTER, "time spent " what "; needs delay accounting",                   \
	    "task_delay_info." kind "_delay" since },                                         \
	  { "delays." kind "_delay" },                                                        \
	  NULL,                                                                               \
	  0 },                                                                                \
	{                                                                                     \
		{ kind "_count",                                                              \
		  header "#",                                                                 \
		  "",                                                                         \
		  KW_VAL_UINT,                                                                \
		  KW_UNIT_COUNT,                                                              \
		  KW_SHOW_PLAIN,                                                              \
		  BOTH,                                                                       \
		  KW_COST_POINTER,                                                            \
		  "how often it was " what "; needs delay accounting",                        \
		  "task_delay_info." kind "_count" since },                                   \
			{ "delays." kind "_count" }, NULL, 0                                  \
	}

static const struct kw_field_def fields[] = {
	{ { "exec_runtime", "RUNTIME", "sum_exec_runtime", NANOSECONDS,
	    "time spent on a CPU: the first number of schedstat", "sched_entity.sum_exec_runtime" },
	  { "se.sum_exec_runtime" },
	  NULL,
	  0 },
	{ { "run_delay", "RUNDELAY", "", NANOSECONDS,
	    "time spent waiting for a CPU: the second number of schedstat", "sched_info.run_delay" },
	  { "sched_info.run_delay" },
	  NULL,
	  0 },
	{ { "timeslices", "SLICES", "pcount", COUNT,
	    "times it was put on a CPU: the third number of schedstat", "sched_info.pcount" },
	  { "sched_info.pcount" },
	  NULL,
	  0 },
	{ { "nvcsw", "NVCSW", "voluntary_ctxt_switches", COUNT,
	    "context switches because it waited, of this thread", "task_struct.nvcsw" },
	  { "nvcsw" },
	  NULL,
	  0 },
	{ { "nivcsw", "NIVCSW", "nonvoluntary_ctxt_switches", COUNT,
	    "context switches because it was preempted, of this thread", "task_struct.nivcsw" },
	  { "nivcsw" },
	  NULL,
	  0 },
	{ { "vruntime", "VRUNTIME", "", NANOSECONDS,
	    "virtual run time, by which the fair scheduler compares tasks", "sched_entity.vruntime" },
	  { "se.vruntime" },
	  NULL,
	  0 },
	{ { "nr_migrations", "MIGR", "migrations", COUNT, "times it was moved to another CPU",
	    "sched_entity.nr_migrations" },
	  { "se.nr_migrations" },
	  NULL,
	  0 },
	{ { "sched_policy", "POLICY", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, BOTH, KW_COST_OBJECT,
	    "scheduling policy as a number; cls is its name", "task_struct.policy" },
	  { "policy" },
	  NULL,
	  0 },
	DELAY("blkio", "BLKDELAY", "waiting for block devices", ""),
	DELAY("swapin", "SWPDELAY", "waiting for pages from swap", ""),
	DELAY("freepages", "MEMDELAY", "reclaiming memory", ""),
	DELAY("thrashing", "THRDELAY", "waiting for pages of files that were just dropped", ""),
	DELAY("compact", "CMPDELAY", "moving pages to make room for large ones", " (since 5.17)"),
	DELAY("wpcopy", "CPYDELAY", "copying pages that were shared until written to", " (since 5.19)"),
	DELAY("irq", "IRQDELAY", "interrupted, by interrupts and softirqs", " (since 6.4)"),
};

const struct kw_field_table kw_sched_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
