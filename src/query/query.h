/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query as bound, and the run under way. query.c binds, run.c walks tasks and hands out rows, batch.c looks at many of
 * them together, leaves.c remembers where they are, rows.c walks the other sources, order.c sorts rows and puts children
 * after their parents.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include <kwalk/query.h>

#include "kernel/pid_ns_view.h"
#include "kernel/task_walk.h"
#include "query/batch.h"
#include "query/leaves.h"
#include "query/remembered.h"
#include "query/stage.h"

struct names {
	char **item;
	size_t nr, cap;
};

struct bindings {
	struct kw_binding *item;
	size_t nr, cap;
};

struct sort_key {
	struct kw_binding binding;
	bool descending;
};

struct sort_keys {
	struct sort_key *item;
	size_t nr, cap;
};

struct numbers {
	uint32_t *item;
	size_t nr, cap;
};

/* A row whose keys have been fetched; the keys themselves lie in one array, nr_keys a row. */
struct pending {
	struct kw_task_ref ref;
	int32_t pid, tid, ppid;
	uint64_t start_time;
	size_t order; /* of being found: the last key */
	uint32_t depth;
	bool damaged; /* a key could not be read, which has been counted */
};

struct pendings {
	struct pending *item;
	size_t nr, cap;
};

struct key_values {
	struct kw_value *item;
	size_t nr, cap;
};

struct kw_program; /* query/program.h */
struct kw_walker;  /* query/walker.h */

struct kw_query {
	kw_ctx *ctx;
	struct kw_program *program;	/* what was written in the query language, or NULL */
	const struct kw_walker *walker; /* finds the rows, or NULL: the source does; owned by the program */
	struct kw_query *outer;		/* of a join: rows are of what each row of this query has, or NULL */
	const struct kw_value *outer_values; /* of that row */
	const void *layout;		     /* of walk(), once it is known */
	uint64_t walked;		     /* by the walker, of all of them */
	const struct kw_kernel *kernel;
	struct kw_root root;
	bool threads, forest;
	bool is_plain; /* rows are shown as they are found: none is selected, none is kept for later */
	bool is_flat; /* so it is, and all that is asked for lies in the task itself: rows are loaded a batch at a time */
	bool reads_rows; /* of a source other than tasks and threads: rows are read and handed out many at a time */
	uint64_t limit;
	struct names text; /* everything cut from the options */
	struct bindings columns;
	struct kw_column *shown;
	struct sort_keys sort;
	struct numbers pids, users;
	struct kw_pid_ns pid_ns;     /* whose view this is; address 0: the initial one's */
	struct numbers initial_pids; /* what the IDs asked for are in the initial one: of a run */
	struct names names;
	bool selects_pids, selects_users, selects_names;
	struct kw_slots slots;
	uint32_t first_key;					  /* slot of the first sort key */
	uint32_t tid_slot, start_slot, ppid_slot;		  /* of the key stage */
	uint32_t select_uid, select_comm, check_pid, check_start; /* other hidden slots */
	struct kw_stage select, where, keys, show;
	struct kw_binding condition; /* of where; condition.expr is NULL without one */
	uint32_t where_slot, where_pid;
	bool passed; /* the row under way has passed where: its values are those of the same row */
	struct kw_row row;
	struct kw_clock clock;
	struct kw_query_counts counts;
	kw_status damage; /* state of the first damaged row */
	/* the run under way */
	kw_row_fn fn;
	void *arg;
	bool stop, failed;
	uint64_t one_task; /* of a source of what each process has: only this task's rows; 0: all */
	int32_t one_pid;
	struct batch batch;
	struct kw_remembered *remembered; /* rows of the runs before, or NULL */
	bool anew;			  /* there shall be none */
	struct kw_leaves leaves; /* of the PID table: what was found through them in the runs before */
	bool is_flat_begun;	 /* of the run: what is the same in all flat rows stands in slots.values */
	int32_t leader_pid;
	struct {
		struct kw_task_ref *item;
		size_t nr, cap;
	} found; /* threads of that process, on a target that changes */
	struct pendings pending;
	size_t ordered; /* of them, from the first on */
	struct key_values key_values;
	struct names key_text;
	struct key_values kept_values; /* the columns of all rows, of sources other than tasks and threads */
};

/** Copy text into a list that owns its strings; NULL when memory runs out. */
char *kw_names_add(struct names *names, const char *from, size_t len);

/** Free the strings; the list stays usable. */
void kw_names_clear(struct names *names);

/** True when rows have an order, so that keys are fetched first. */
static inline bool kw_query_is_ordered(const struct kw_query *q)
{
	return q->sort.nr || q->forest;
}

/** Note a row that could not be read, or not wholly. */
void kw_query_damage(struct kw_query *q, kw_status status);

/** Return why the first of nr values that could not be read is not there; KW_OK when there is none. */
kw_status kw_damage_among(const struct kw_value *values, size_t nr);

/** Hand a row to the caller, and stop with the last one that the limit allows. */
static inline void kw_query_hand_out(kw_query *q, const struct kw_value *values,
				     const struct kw_row_identity *id)
{
	q->counts.rows++;
	if (!q->fn(values, id, q->arg) || (q->limit && q->counts.rows == q->limit))
		q->stop = true;
}

/** Bind the query's columns, conditions and keys, which have been collected, to stages. */
kw_status kw_query_build(struct kw_query *q);

/** Walk the rows and hand them to q->fn. */
kw_status kw_query_scan(struct kw_query *q);

/** Walk the rows and hand them to fn as the scan gives them, in front of the operators of a program. */
kw_status kw_query_scan_all(struct kw_query *q, kw_row_fn fn, void *arg);

/** Make room for an empty query and set it to its source. */
kw_status kw_query_begin(kw_ctx *ctx, const char *source, kw_query **ret);

/** Set a query to a source that is not in the catalogue. */
kw_status kw_query_set_source(struct kw_query *q, const struct kw_source_def *source);

/** Add to the stage that sees every row what takes the values that the query compares into its samples. */
kw_status kw_query_add_samples(struct kw_query *q, struct kw_stage *stage);

/** Tell whether where holds for the row whose stage has run; notes when it can't be told. */
bool kw_query_row_passes(struct kw_query *q);

/** Hand each thread of a process, whose ID is q->leader_pid, to a function; until q->stop is set. */
void kw_query_each_thread(struct kw_query *q, const struct kw_task_ref *leader,
			  void (*take)(struct kw_query *q, const struct kw_task_ref *thread));

/** Take a process that was found: select it, and its row, or its threads'. */
void kw_query_take_process(struct kw_query *q, const struct kw_task_ref *ref);

/** Bind the columns and keys of a source other than tasks and threads. */
kw_status kw_rows_build(struct kw_query *q);

/** Walk such a source, order its rows and hand them out. */
kw_status kw_rows_run(struct kw_query *q);

/**
 * Put q->pending into its order: the first q->ordered of them, where only the first are wanted. False when memory runs
 * out.
 */
bool kw_query_order(struct kw_query *q);

/** Put those behind the first q->ordered into their order, too. */
void kw_query_order_rest(struct kw_query *q);

#endif
