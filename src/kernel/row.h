/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One row while its fields are computed, and what the subjects keep from row to row.
 *
 * Strings made for a row lie in the row: short ones in its buffer, others each in a block of its own; both are gone
 * with the next row. What several rows share (the path of a cgroup, the list of a CPU mask) a subject keeps; see
 * kw_row_keep().
 */
#ifndef KERNEL_ROW_H
#define KERNEL_ROW_H

#include "kernel/kept.h"

#define KW_PF_KTHREAD 0x00200000u /* of task_struct.flags */

#define KW_ROW_TEXT	16384	   /* 64 bytes for each of as many columns as a query can have */
#define KW_ROW_MAX_TEXT (8u << 20) /* bytes of one string */

/** Subjects that keep something. */
enum kw_keep {
	KW_KEEP_CGROUPS,     /* cgroup.c */
	KW_KEEP_HIERARCHIES, /* hierarchy.c */
	KW_KEEP_MASKS,	     /* affinity.c */
	KW_KEEP_GROUPS,	     /* cred.c */
	KW_KEEP_PIDS,	     /* pid_ns.c */
	KW_KEEP_SIGNALS,     /* signal.c */
	KW_KEEP_WCHANS,	     /* wchan.c */
	KW_KEEP_NR,
};

struct kw_row_block;
struct kw_pid_ns; /* kernel/pid_ns_view.h */

struct kw_row {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	uint64_t task;	/* address of the task_struct; in other sources of the row's object */
	uint64_t index; /* number of the row's CPU, interrupt, ... in sources that have one */
	uint32_t cpu; /* in sources with a row for each CPU of a thing; the process's ID where it has the thing */
	uint64_t run;	 /* number of the run: what was kept in another may be out of date */
	uint64_t serial; /* number of the row, never 0: what was found for another is not this one's */
	uint32_t flags;	 /* task_struct.flags, when a field uses them */
	uint64_t wanted; /* while a group is read, which of its fields: see kw_row_wants() */
	bool is_thread;	 /* a row of a thread: no sums */
	const struct kw_pid_ns *pid_ns;	   /* whose view this is, or NULL */
	const struct kw_clock *clock;	   /* of this run, NULL when not known */
	struct kw_thread_sums *sums;	   /* thread_sums.c's plan and the sums of this row */
	const struct kw_value *sum_inputs; /* KW_SUM_INPUTS values of this row */
	uint32_t sum_uses;		   /* bits of KW_SUM(): which of them were fetched */
	struct kw_users *users;		   /* user.c's names */
	struct kw_idle_memory *idle;	   /* cpu.c's: what the rows of the runs before showed */
	struct kw_kept kept[KW_KEEP_NR];
	struct kw_row_block *blocks;
	char text[KW_ROW_TEXT]; /* strings made by compute() */
	size_t text_used;
};

/** Free the strings that lie outside of the row, and forget its sums. */
void kw_row_clear(struct kw_row *row);

/** Forget the strings and sums of the row before. */
static inline void kw_row_begin(struct kw_row *row, uint64_t task)
{
	row->serial++;
	row->task = task;
	row->text_used = 0;
	if (row->blocks || row->sums)
		kw_row_clear(row);
}

/** Go on with the same row: its strings stay, but sums and what else was found are to be found again. */
void kw_row_go_on(struct kw_row *row);

/** The bit of a field of a group in row->wanted; fields from the 64th on share one. */
static inline uint64_t kw_wanted_bit(size_t field)
{
	return 1ULL << (field < 63 ? field : 63);
}

/** Tell whether a field of the group that is being read is asked for; the values of others need not be set. */
static inline bool kw_row_wants(const struct kw_row *row, size_t field)
{
	return row->wanted & kw_wanted_bit(field);
}

/** Free what a row holds: strings, sums, names, what subjects keep. */
void kw_row_deinit(struct kw_row *row);

/** Copy bytes into the row. When memory runs out the value is cut. */
void kw_row_put(struct kw_row *row, struct kw_value *out, const char *bytes, size_t len);

/** As kw_row_put(), of a string. */
void kw_set_row_text(struct kw_row *row, struct kw_value *out, const char *str);

/** Write a number in decimal; `text` has 21 bytes. Returns its length; there is no NUL. */
size_t kw_format_int(char *text, int64_t number);

/**
 * Return what a subject keeps, made by make() when it is first asked for.
 *
 * @param make  returns NULL when memory runs out, with the error set
 */
void *kw_row_keep(struct kw_row *row, enum kw_keep which, void *(*make)(struct kw_row *row),
		  void (*free_state)(void *state));

#endif
