/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fields are fetched: the private half of the catalogue, one table per subject.
 *
 * A field names the paths it needs, from the task_struct. Without compute() its value is that of the first path. With
 * it, compute() makes the value from those of the paths; paths that this kernel lacks come as absent (no such member),
 * and a field whose first path is lacking is not available.
 *
 * Tables are added to the list in fields.c.
 */
#ifndef KERNEL_FIELD_TABLE_H
#define KERNEL_FIELD_TABLE_H

#include <kwalk/field.h>

#include "kernel/kernel.h"

#define KW_FIELD_MAX_NEEDS 10
#define KW_ROW_TEXT	   16384 /* 64 bytes for each of as many columns as a query can have */

/** Sums over the threads of a process, dead ones included, as thread_group_cputime() and do_task_stat() make them. */
struct kw_thread_sums {
	uint64_t utime, stime, runtime; /* ns, before scaling */
	uint64_t minflt, majflt;
};

/** One row while its fields are computed. */
struct kw_row {
	kw_ctx *ctx;
	const struct kw_kernel *kernel;
	uint64_t task;		      /* address of the task_struct; in other sources of the row's object */
	uint32_t index;		      /* number of the row's CPU, interrupt, ... in sources that have one */
	uint32_t cpu;		      /* in sources with a row for each CPU of a thing */
	bool is_thread;		      /* a row of a thread: no sums */
	const struct kw_clock *clock; /* of this run, NULL when not known */
	struct kw_cputime *cputime;   /* cputime.c's plan and the sums of this row */
	struct kw_users *users;	      /* user.c's names */
	struct kw_idle_memory *idle;  /* cpu_time.c's: what the rows of the runs before showed */
	char text[KW_ROW_TEXT];	      /* strings made by compute() */
	size_t text_used;
};

struct kw_field_def {
	struct kw_field pub;
	const char *needs[KW_FIELD_MAX_NEEDS];
	void (*compute)(struct kw_row *row, const struct kw_value *in, struct kw_value *out);
	bool needs_clock;
};

struct kw_field_table {
	const struct kw_field_def *fields;
	size_t nr;
};

extern const struct kw_field_table kw_task_fields;
extern const struct kw_field_table kw_mm_fields;
extern const struct kw_field_table kw_cputime_fields;

/** Return the definition behind a public field. */
const struct kw_field_def *kw_field_def(const struct kw_field *field);

/* Making values. */

static inline void kw_set_uint(struct kw_value *out, uint64_t u)
{
	*out = (struct kw_value){ .type = KW_VAL_UINT, .u = u };
}

static inline void kw_set_int(struct kw_value *out, int64_t i)
{
	*out = (struct kw_value){ .type = KW_VAL_INT, .i = i };
}

static inline void kw_set_bool(struct kw_value *out, bool b)
{
	*out = (struct kw_value){ .type = KW_VAL_BOOL, .u = b };
}

static inline void kw_set_absent(struct kw_value *out, enum kw_absent reason)
{
	*out = (struct kw_value){ .type = KW_VAL_ABSENT, .absent = (uint8_t)reason };
}

/** Set a string that outlives the row (static). */
void kw_set_string(struct kw_value *out, const char *str);

/** Copy a string into the row. */
void kw_set_row_text(struct kw_row *row, struct kw_value *out, const char *str);

/** When one of the first nr inputs is absent, make out absent for the same reason and return true. */
bool kw_pass_absent(const struct kw_value *in, size_t nr, struct kw_value *out);

/* cputime.c */

/** Make the plan for thread sums, all absent where this kernel lacks a member. NULL with the error set. */
struct kw_cputime *kw_cputime_new(kw_ctx *ctx, const struct kw_kernel *kernel);
void kw_cputime_free(struct kw_cputime *cputime);

/** Forget the sums of the previous row. */
void kw_cputime_next_row(struct kw_cputime *cputime);

/* user.c */

struct kw_users *kw_users_new(void);
void kw_users_free(struct kw_users *users);

/** Return the name of a user on this host, or NULL; cached. */
const char *kw_user_name(struct kw_users *users, uint32_t uid);

#endif
