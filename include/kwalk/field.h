/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The field catalogue: what can be asked for by name, with type, unit, cost and source.
 *
 * Fields are data. Tables, JSON, `kwalk fields`, completion and the query binder all read this one catalogue.
 */
#ifndef KWALK_FIELD_H
#define KWALK_FIELD_H

#include <kwalk/context.h>
#include <kwalk/output.h>
#include <kwalk/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A source of rows: what a query can be asked of. All strings are static. */
struct kw_source {
	const char *name;    /**< "tasks", "cpus", ... */
	const char *help;    /**< one line: what a row is */
	const char *columns; /**< shown when a query names none */
};

/** Return the source of this name, or NULL. */
KW_API const struct kw_source *kw_source_find(const char *name);

/** Return the i-th source, NULL past the last one. */
KW_API const struct kw_source *kw_source_at(size_t i);

/** What a field belongs to: one row of that source has one value of it. */
enum kw_scope {
	KW_SCOPE_TASK = 1,   /**< a process: sums over its threads where /proc sums */
	KW_SCOPE_THREAD = 2, /**< a single thread */
	KW_SCOPE_BOTH = 3,
	KW_SCOPE_ROW = 4, /**< a row of a source other than tasks and threads */
};

/** What a field costs to fetch. */
enum kw_cost {
	KW_COST_OBJECT,	 /**< lies in the task, or the row's object, itself */
	KW_COST_POINTER, /**< in an object that it points to */
	KW_COST_THREADS, /**< every thread of the process is visited */
	KW_COST_PERCPU,	 /**< a value per CPU is added up */
	KW_COST_WALK,	 /**< a list, a path or a page table is followed */
};

/** A field of the catalogue. All strings are static. */
struct kw_field {
	const char *name;    /**< ps's name where ps has one */
	const char *header;  /**< heading of a table's column */
	const char *aliases; /**< other names, separated by commas: ps's synonyms, nproc's labels */
	enum kw_value_type type;
	enum kw_unit unit;	 /**< base unit, as JSON shows it */
	enum kw_display display; /**< how a table shows it */
	enum kw_scope scope;
	enum kw_cost cost;
	const char *help;   /**< one line */
	const char *origin; /**< kernel structure and member, or how it is computed */
};

/**
 * Return the field of a source with this name or alias, or NULL.
 *
 * @param source  a source's name; NULL: tasks. tasks and threads have the same fields
 */
KW_API const struct kw_field *kw_field_find(const char *source, const char *name);

/** Return the i-th field of a source (NULL: tasks), NULL past its last one. */
KW_API const struct kw_field *kw_field_at(const char *source, size_t i);

/**
 * Tell whether the kernel in the target has what a field of a source needs.
 *
 * @return KW_OK; KW_NOTFOUND with the missing member or symbol in kw_error()
 */
KW_API kw_status kw_field_available(kw_ctx *ctx, const char *source, const struct kw_field *field);

#ifdef __cplusplus
}
#endif

#endif
