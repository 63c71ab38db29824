/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asking for rows: processes, threads, or those of another source, with columns, selectors, order and limit.
 *
 * A query fetches what its selectors need, then what its order needs for the rows that are left, then the rest for
 * the rows that will be shown.
 */
#ifndef KWALK_QUERY_H
#define KWALK_QUERY_H

#include <kwalk/context.h>
#include <kwalk/field.h>
#include <kwalk/output.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A query, by its parts; begins with its own size. NULL and 0 mean: not restricted. Strings are read at once. */
struct kw_query_options {
	size_t size;
	const char *
		source; /**< "tasks" (default): processes; "threads": every thread, grouped by process; or one of
				  kw_source_at(): rows that have no forest, and can't be selected but by the
				  process whose they are */
	const char *
		columns; /**< names, aliases or raw paths (task.signal.oom_score_adj), separated by commas, each
				  with an optional =HEADER */
	const char *pids; /**< process IDs, separated by commas; also of sources of what each process has */
	const char
		*users; /**< effective users, by number, or by name on the live kernel, separated by commas */
	const char *names; /**< comm values, separated by commas */
	const char *sort;  /**< keys in order, separated by commas; `-` before one: descending */
	uint64_t limit;	   /**< at most this many rows, after sorting */
	bool forest;	   /**< children after their parents; rows tell their depth */
	int32_t pidns; /**< not 0: of tasks and threads, what the PID namespace sees that the process of this ID is in; IDs,
			    also `pids`, are those in it */
	bool anew; /**< each run makes all rows anew, and nothing is kept of them; else those of processes whose memory is
			as in the run before are handed out as they were, which takes a few KiB for each */
};

typedef struct kw_query kw_query;

/** What a row is, beside its values; of sources other than tasks and threads only the address is set. */
struct kw_row_identity {
	int32_t pid; /**< of the process (thread-group ID) */
	int32_t tid; /**< of the thread; pid for a row of a process */
	uint64_t start_time; /**< ns since boot: (tid, start_time) is the identity, tid alone is reused; 0 when the query did
				  not need it */
	uint64_t address;   /**< of the task_struct, or the row's object; 0 when it is none */
	unsigned int depth; /**< in the forest, else 0 */
};

/** Called with each row. values lives until it returns. Return false to stop. */
typedef bool (*kw_row_fn)(const struct kw_value *values, const struct kw_row_identity *row, void *arg);

/**
 * Bind a query to the target's layouts.
 *
 * @param ret  set to a query of this context, which the caller frees with kw_query_free()
 * @return KW_OK; KW_NOTFOUND for an unknown column (nearest names in kw_error()); KW_INVALID for a malformed list
 */
KW_API kw_status kw_query_new(kw_ctx *ctx, const struct kw_query_options *opts, kw_query **ret);

/**
 * Make a query of a text in the query language, kwalk-query(7): "tasks where rss > 100M select pid, comm sort -rss".
 *
 * @param text  read at once
 * @param ret  set to a query of this context, which the caller frees with kw_query_free()
 * @return KW_OK; KW_INVALID or KW_NOTFOUND with a message that shows the line and what was expected there
 */
KW_API kw_status kw_query_compile(kw_ctx *ctx, const char *text, kw_query **ret);

/**
 * Tell whether a query compares each row with what it was in the run before, by rate() or delta(): the values of its first
 * run are absent.
 */
KW_API bool kw_query_compares(const kw_query *query);

/** Free a query. NULL is accepted. */
KW_API void kw_query_free(kw_query *query);

/** Return the columns in the order of the values; live as long as the query. */
KW_API const struct kw_column *kw_query_columns(const kw_query *query, size_t *ret_nr);

/**
 * Run a query once and hand every row to fn; may be run again and again.
 *
 * @return KW_OK; KW_INCOMPLETE when some rows could not be read (said in kw_error(); all others were handed out);
 *         KW_UNREADABLE when the process list itself can't be read
 */
KW_API kw_status kw_query_run(kw_query *query, kw_row_fn fn, void *arg);

/**
 * Run a query of a source of what each process has (vmas, files) for one task only.
 *
 * @param task  as of a row of tasks or threads, in the same pass
 * @return as kw_query_run(); KW_INVALID for a query of another kind
 */
KW_API kw_status kw_query_run_task(kw_query *query, const struct kw_row_identity *task, kw_row_fn fn,
				   void *arg);

/** What the last run met. */
struct kw_query_counts {
	uint64_t rows;	  /**< handed out */
	uint64_t retried; /**< read again since they changed meanwhile */
	uint64_t gone;	  /**< ended while they were read: no rows */
	uint64_t torn;	  /**< still changing after the last try: handed out, values may not fit together */
	uint64_t damaged; /**< could not be read or not wholly */
	uint64_t listed; /**< processes found in the kernel's list, for a dump lacks their part of the PID table */
	/* How often values were fetched, with those that were read again: */
	uint64_t conditions; /**< of rows for `where` */
	uint64_t keys; /**< of rows of tasks or threads for their order, which comes before their columns */
	uint64_t columns; /**< of rows for their columns */
	uint64_t same;	  /**< of these, rows whose memory was as in the run before: shown as they were */
};

/** Return what the last run of a query met; lives as long as the query. */
KW_API const struct kw_query_counts *kw_query_counts(const kw_query *query);

/** Print the access plan for people. */
KW_API void kw_query_explain(const kw_query *query, FILE *out);

/** One process that only one of the two views of the process list has. */
struct kw_cross_difference {
	int32_t pid;
	uint64_t address; /**< of the task_struct */
	bool in_list;	  /**< in init_task.tasks, not among the PIDs; false: the other way round */
	char comm[16];	  /**< not necessarily terminated */
};

/**
 * Compare the PID table (init_pid_ns.idr) with the list of processes (init_task.tasks).
 *
 * On a changing target a difference must show up twice to count.
 *
 * @param ret  set to an array that the caller frees with free()
 * @param ret_pids, ret_listed  set to how many processes each view has
 */
KW_API kw_status kw_cross_check(kw_ctx *ctx, struct kw_cross_difference **ret, size_t *ret_nr,
				size_t *ret_pids, size_t *ret_listed);

#ifdef __cplusplus
}
#endif

#endif
