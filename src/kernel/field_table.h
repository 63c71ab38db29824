/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fields are fetched: the private half of the catalogue, one table per subject.
 *
 * A field names the paths it needs, from the task_struct. Without compute() its value is that of the first path. With
 * it, compute() makes the value from those of the paths; paths that this kernel lacks come as absent (no such member),
 * and a field whose first path is lacking is not available. A path to a structure or an array comes as its bytes in place
 * (KW_VAL_BYTES), which are looked at once: live memory changes. A field that uses a sum over threads and has no compute() is
 * that sum.
 *
 * Tables are added to the list in fields.c.
 */
#ifndef KERNEL_FIELD_TABLE_H
#define KERNEL_FIELD_TABLE_H

#include <kwalk/field.h>

#include "kernel/row.h"
#include "util/text_map.h"

#define KW_FIELD_MAX_NEEDS 10

/* What a field uses beside its paths: bits of kw_field_def.uses, with those of KW_SUM() in thread_sums.h. */
#define KW_USES_CLOCK 0x1u /* row->clock */
#define KW_USES_USERS 0x2u /* row->users */
#define KW_USES_FLAGS 0x4u /* row->flags */
#define KW_USES_MM    0x8u /* the mm: absent for a kernel thread, also for one that borrows an mm */
/* Memory that its paths don't lead to, or what was found there for other rows: the same inputs may give another value. */
#define KW_USES_MORE	 0x10u
#define KW_USES_CPU_BITS 0x20u /* of its first path only as many bits as there can be CPUs */

struct kw_field_def {
	struct kw_field pub;
	const char *needs[KW_FIELD_MAX_NEEDS];
	void (*compute)(struct kw_row *row, const struct kw_value *in, struct kw_value *out);
	uint32_t uses; /* a field of KW_COST_PERCPU also uses more where the kernel has the parts of its counters */
};

struct kw_field_table {
	const struct kw_field_def *fields;
	size_t nr;
};

extern const struct kw_field_table kw_task_fields;
extern const struct kw_field_table kw_mm_fields;
extern const struct kw_field_table kw_cputime_fields;
extern const struct kw_field_table kw_io_fields;
extern const struct kw_field_table kw_sched_fields;
extern const struct kw_field_table kw_signal_fields;
extern const struct kw_field_table kw_cred_fields;
extern const struct kw_field_table kw_tty_fields;
extern const struct kw_field_table kw_pid_ns_fields;
extern const struct kw_field_table kw_affinity_fields;
extern const struct kw_field_table kw_files_fields;
extern const struct kw_field_table kw_name_fields;
extern const struct kw_field_table kw_cgroup_fields;
extern const struct kw_field_table kw_cmdline_fields;
extern const struct kw_field_table kw_file_path_fields;
extern const struct kw_field_table kw_limits_fields;
extern const struct kw_field_table kw_hardening_fields;
extern const struct kw_field_table kw_hierarchy_fields;
extern const struct kw_field_table kw_wchan_fields;
extern const struct kw_field_table kw_register_fields;
extern const struct kw_field_table kw_oom_fields;

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

/** Set a string that a subject keeps for as long as the run. */
static inline void kw_set_text(struct kw_value *out, const struct kw_text *text)
{
	*out = (struct kw_value){ .type = KW_VAL_STRING, .len = (uint32_t)text->len, .str = text->bytes };
}

/** When one of the first nr inputs is absent, make out absent for the same reason and return true. */
static inline bool kw_pass_absent(const struct kw_value *in, size_t nr, struct kw_value *out)
{
	for (size_t i = 0; i < nr; i++) {
		if (in[i].type == KW_VAL_ABSENT) {
			*out = in[i];
			return true;
		}
	}
	return false;
}

/* True for a value that there is, or was, and of which nothing is known: its memory is not there. */
static inline bool kw_is_missing(const struct kw_value *value)
{
	return value->type == KW_VAL_ABSENT &&
	       (value->absent == KW_ABSENT_NOT_IN_DUMP || value->absent == KW_ABSENT_UNREADABLE ||
		value->absent == KW_ABSENT_UNMAPPED);
}

/* As kw_pass_absent(), of an input that a task may be without: only when it is missing. */
static inline bool kw_pass_missing(const struct kw_value *in, struct kw_value *out)
{
	if (!kw_is_missing(in))
		return false;
	*out = *in;
	return true;
}

/* user.c */

struct kw_users *kw_users_new(void);
void kw_users_free(struct kw_users *users);

/** Return the name of a user on this host, or NULL; cached. */
const char *kw_user_name(struct kw_users *users, uint32_t uid);

#endif
