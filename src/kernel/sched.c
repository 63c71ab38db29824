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
	{ { "blkio_delay", "BLKDELAY", "", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN, BOTH,
	    KW_COST_POINTER, "time spent waiting for block devices; needs delay accounting",
	    "task_delay_info.blkio_delay" },
	  { "delays.blkio_delay" },
	  NULL,
	  0 },
	{ { "swapin_delay", "SWPDELAY", "", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN, BOTH,
	    KW_COST_POINTER, "time spent waiting for pages from swap; needs delay accounting",
	    "task_delay_info.swapin_delay" },
	  { "delays.swapin_delay" },
	  NULL,
	  0 },
	{ { "freepages_delay", "MEMDELAY", "", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN, BOTH,
	    KW_COST_POINTER, "time spent reclaiming memory; needs delay accounting",
	    "task_delay_info.freepages_delay" },
	  { "delays.freepages_delay" },
	  NULL,
	  0 },
};

const struct kw_field_table kw_sched_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
