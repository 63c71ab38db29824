/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input and output of a process: /proc/PID/io. Kernels without CONFIG_TASK_IO_ACCOUNTING have a part of it. */
#include "kernel/field_table.h"
#include "kernel/thread_sums.h"

#define BYTES KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB, KW_SCOPE_BOTH, KW_COST_THREADS
#define COUNT KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_THREADS

static const struct kw_field_def fields[] = {
	{ { "rchar", "RCHAR", "", BYTES, "bytes read, by whatever means, all threads of a process",
	    "task_io_accounting.rchar of task_struct and signal_struct" },
	  { "ioac.rchar" },
	  NULL,
	  KW_SUM(KW_SUM_RCHAR) },
	{ { "wchar", "WCHAR", "", BYTES, "bytes written, by whatever means, all threads of a process",
	    "task_io_accounting.wchar of task_struct and signal_struct" },
	  { "ioac.wchar" },
	  NULL,
	  KW_SUM(KW_SUM_WCHAR) },
	{ { "syscr", "SYSCR", "", COUNT, "system calls that read, all threads of a process",
	    "task_io_accounting.syscr of task_struct and signal_struct" },
	  { "ioac.syscr" },
	  NULL,
	  KW_SUM(KW_SUM_SYSCR) },
	{ { "syscw", "SYSCW", "", COUNT, "system calls that wrote, all threads of a process",
	    "task_io_accounting.syscw of task_struct and signal_struct" },
	  { "ioac.syscw" },
	  NULL,
	  KW_SUM(KW_SUM_SYSCW) },
	{ { "read_bytes", "RBYTES", "", BYTES, "bytes fetched from storage, all threads of a process",
	    "task_io_accounting.read_bytes of task_struct and signal_struct" },
	  { "ioac.read_bytes" },
	  NULL,
	  KW_SUM(KW_SUM_READ_BYTES) },
	{ { "write_bytes", "WBYTES", "", BYTES, "bytes sent to storage, all threads of a process",
	    "task_io_accounting.write_bytes of task_struct and signal_struct" },
	  { "ioac.write_bytes" },
	  NULL,
	  KW_SUM(KW_SUM_WRITE_BYTES) },
	{ { "cancelled_write_bytes", "CWBYTES", "", BYTES,
	    "bytes written and truncated before they reached storage, all threads of a process",
	    "task_io_accounting.cancelled_write_bytes of task_struct and signal_struct" },
	  { "ioac.cancelled_write_bytes" },
	  NULL,
	  KW_SUM(KW_SUM_CANCELLED) },
};

const struct kw_field_table kw_io_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
