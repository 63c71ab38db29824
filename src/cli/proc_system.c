/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of /proc that tell of the system: here those of a few values; the others have a maker each. */
#include "cli/proc_maker.h"
#include "cli/proc_text.h"

static const struct proc_item loadavg_items[] = {
	VALUE("", "load1", PROC_LOAD),
	VALUE(" ", "load5", PROC_LOAD),
	VALUE(" ", "load15", PROC_LOAD),
	VALUE(" ", "procs_running", PROC_DECIMAL),
	VALUE("/", "threads", PROC_DECIMAL),
	VALUE(" ", "last_pid", PROC_DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item uptime_items[] = {
	VALUE("", "uptime", PROC_SECONDS),
	VALUE(" ", "idle", PROC_SECONDS),
	TEXT_ONLY("\n"),
};

static const struct proc_item version_items[] = { VALUE("", "version", PROC_TEXT), TEXT_ONLY("\n") };

static const struct proc_item cmdline_items[] = { VALUE("", "cmdline", PROC_TEXT), TEXT_ONLY("\n") };

#define MADE(name)                                                      \
	{                                                               \
#name, PROC_SYSTEM, NULL, 0, 0, false, proc_make_##name \
	}

static const struct proc_file files[] = {
	PROC_FILE(PROC_SYSTEM, "loadavg", loadavg_items),
	PROC_FILE(PROC_SYSTEM, "uptime", uptime_items),
	PROC_FILE(PROC_SYSTEM, "version", version_items),
	PROC_FILE(PROC_SYSTEM, "cmdline", cmdline_items),
	MADE(stat),
	MADE(meminfo),
	MADE(vmstat),
	MADE(buddyinfo),
	MADE(zoneinfo),
	MADE(schedstat),
	MADE(interrupts),
	MADE(softirqs),
	MADE(modules),
	MADE(filesystems),
	MADE(mounts),
	MADE(slabinfo),
	MADE(swaps),
};

const struct proc_file_list proc_system_files = PROC_FILE_LIST(files);
