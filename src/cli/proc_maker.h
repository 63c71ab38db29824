/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of /proc that are more than a row: each is made by a function of its own, from rows of one or more sources.
 */
#ifndef CLI_PROC_MAKER_H
#define CLI_PROC_MAKER_H

#include <inttypes.h>
#include <stdio.h>

#include <kwalk/kwalk.h>

#define PROC_TICK_NS 10000000 /* of the kernel's USER_HZ, which is 100 on x86 */

/** A file that is being made. */
struct proc_maker {
	kw_ctx *ctx;
	FILE *out;
	const struct kw_row_identity *task; /* whose file it is, in /proc/PID */
	char what[64];			    /* that is missing: set on failure */
	char why[512];
};

/** Called with the values of each row; those that are not optional are there. */
typedef void (*proc_row_fn)(struct proc_maker *m, const struct kw_value *values, void *arg);

/**
 * Hand out the rows of a source.
 *
 * @param optional  a bit for each of the first 64 columns that may be absent; all: any may
 * @return false when a value is missing, or not all rows were found: m->what and m->why are set
 */
bool proc_rows(struct proc_maker *m, const char *source, const char *columns, uint64_t optional,
	       proc_row_fn fn, void *arg);

/** As proc_rows(), of what the task has: of the sources vmas, files. */
bool proc_task_rows(struct proc_maker *m, const char *source, const char *columns, uint64_t optional,
		    proc_row_fn fn, void *arg);

/** Note what is missing and why; returns false. */
bool proc_missing(struct proc_maker *m, const char *what, const char *why);

/** Read a global variable of at most 8 bytes. False when this kernel has none, or it can't be read. */
bool proc_global(struct proc_maker *m, const char *symbol, size_t size, uint64_t *ret);

/** True when this kernel has a symbol. */
bool proc_has_symbol(struct proc_maker *m, const char *symbol);

/** Write a text, with some characters (and no others) as \ooo. */
void proc_put_escaped(FILE *out, const struct kw_value *text, const char *escape);

/** CPUs by number. The caller frees the array with free(). */
struct proc_cpus {
	uint32_t *number;
	size_t nr;
};

/** Find the CPUs that are online, or all that there may be. */
bool proc_find_cpus(struct proc_maker *m, bool online, struct proc_cpus *ret);

/** Write the names of CPUs as the head of a table. */
void proc_put_cpus(FILE *out, const struct proc_cpus *cpus);

bool proc_make_stat(struct proc_maker *m);
bool proc_make_softirqs(struct proc_maker *m);
bool proc_make_interrupts(struct proc_maker *m);
bool proc_make_meminfo(struct proc_maker *m);
bool proc_make_vmstat(struct proc_maker *m);
bool proc_make_buddyinfo(struct proc_maker *m);
bool proc_make_zoneinfo(struct proc_maker *m);
bool proc_make_schedstat(struct proc_maker *m);
bool proc_make_modules(struct proc_maker *m);
bool proc_make_filesystems(struct proc_maker *m);
bool proc_make_mounts(struct proc_maker *m);
bool proc_make_slabinfo(struct proc_maker *m);
bool proc_make_swaps(struct proc_maker *m);

#endif
