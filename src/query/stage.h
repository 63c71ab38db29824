/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stage: a set of columns that are fetched together, with one access plan.
 *
 * All stages of a query share its value array. Places 0..n-1 are the columns that are shown; behind them come the
 * keys of the order and what computed fields need.
 */
#ifndef QUERY_STAGE_H
#define QUERY_STAGE_H

#include "kernel/source.h"
#include "kernel/thread_sums.h"
#include "query/expr.h"

/** What the rows of a query are. */
struct kw_root {
	const struct kw_kernel *kernel;
	const struct kw_source_def *source;
	const struct kw_type *type; /* of a row's object, NULL when it is none */
	bool in_ns;		    /* IDs are those in a PID namespace: kernel/pid_ns_view.h */
};

/** A column as bound: a field of the catalogue, a raw path, or an expression over such. */
struct kw_binding {
	const struct kw_expr *expr;	    /* owned by the program it is of; NULL: def or path */
	struct kw_expr *fields;		    /* first of those in the expression, by next_field */
	uint32_t uses;			    /* KW_USES_... of the expression */
	const struct kw_field_def *def;	    /* NULL for a raw path */
	const struct kw_field_group *group; /* of the field */
	struct kw_path path;		    /* of a raw path */
	struct kw_column column;	    /* what the writer needs to know */
};

/** The value array of a query and how much of it is used. */
struct kw_slots {
	/* allocated once all stages are bound; of KW_PLAN_ROWS rows when they are loaded together */
	struct kw_value *values;
	uint32_t nr;
};

struct kw_stage_item {
	const struct kw_field_def *def;
	void (*compute)(struct kw_row *row, const struct kw_value *in, struct kw_value *out); /* or NULL */
	const struct kw_type *enumeration; /* of a raw path to an enum; compute and def are NULL */
	uint32_t in;			   /* first of its needs, for compute() */
	uint32_t out;
};

struct kw_stage_items {
	struct kw_stage_item *item;
	size_t nr, cap;
};

/** A group of fields that are read together, and the values it gave for the row. */
struct kw_reading {
	const struct kw_field_group *group;
	/* the group's */
	void (*read)(struct kw_row *row, const void *layout, struct kw_value *values);
	bool (*read_rows)(struct kw_row *row, const void *layout, const struct kw_rows *rows);
	const void *layout;
	struct kw_value *values;
	uint64_t wanted;     /* row->wanted */
	struct kw_rows rows; /* where read_rows() puts what it makes of many */
};

/** One of them that is wanted. */
struct kw_pick {
	const struct kw_value *from; /* of the group's values */
	uint32_t out;
};

struct kw_constant {
	uint32_t slot;
	struct kw_value value;
};

/** A field or path whose value a stage gets into a slot. */
struct kw_input {
	const struct kw_field_def *def;
	const char *path; /* when def is NULL */
	uint32_t slot;
};

/** A value that is made of others: by an expression, or as a copy of the one that an earlier stage got. */
struct kw_making {
	const struct kw_expr *expr; /* NULL: a copy */
	uint32_t from, out;
};

struct kw_stage {
	struct kw_plan plan;
	const struct kw_stage
		*before; /* it has run on the same row, and its inputs need not be got again; NULL */
	struct {
		struct kw_input *item;
		size_t nr, cap;
	} inputs; /* of expressions */
	struct {
		struct kw_making *item;
		size_t nr, cap;
	} makings;
	struct kw_arena scratch;	       /* texts of the expressions: until the next row */
	struct kw_stage_items computed, of_mm; /* of_mm: absent for a kernel thread */
	struct {
		struct kw_sum_place *item;
		size_t nr, cap;
	} sums;
	struct {
		struct kw_constant *item;
		size_t nr, cap;
	} constants; /* needs that this kernel lacks */
	struct {
		struct kw_reading *item;
		size_t nr, cap;
	} readings;
	struct {
		struct kw_pick *item;
		size_t nr, cap;
	} picks;
	bool only_reads;     /* there is nothing but these readings */
	bool reads_rows;     /* and all of them of many rows at once, each field for one slot */
	uint64_t rows;	     /* that it has been run on since this was set to 0 */
	uint32_t uses;	     /* KW_USES_... of all fields */
	uint32_t flags_slot; /* of task_struct.flags, when a field uses them */
	uint32_t sums_slot;  /* first of KW_SUM_INPUTS, when a field uses sums over threads */
};

void kw_stage_deinit(struct kw_stage *stage);

/** Add a bound column; its value goes to slot `out`. */
kw_status kw_stage_add(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
		       struct kw_slots *slots, const struct kw_binding *binding, uint32_t out);

/**
 * Add a path of kwalk's own, which must exist.
 *
 * @param slot  where its value goes; set to another slot when the stage has it there already
 */
kw_status kw_stage_add_path(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage, const char *path,
			    uint32_t *slot);

/** Add what the fields use beside their paths, and lay the plan out: no more columns after this. */
kw_status kw_stage_finish(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			  struct kw_slots *slots);

/** Set what is the same in all rows: before the first one of a run. */
static inline void kw_stage_begin(const struct kw_stage *stage, struct kw_value *values)
{
	for (size_t i = 0; i < stage->constants.nr; i++)
		values[stage->constants.item[i].slot] = stage->constants.item[i].value;
}

/** Fetch and compute the columns of one row. Returns the state of the memory of the row's object. */
kw_status kw_stage_run(struct kw_stage *stage, struct kw_row *row, struct kw_value *values);

/** Prepare the readings of a stage that reads rows: slots->values has slots->nr values for each of KW_ROWS_MAX rows. */
void kw_stage_place_rows(struct kw_stage *stage, const struct kw_slots *slots);

/** Compute the fields of a row whose values have been loaded. */
void kw_stage_compute(struct kw_stage *stage, struct kw_row *row, struct kw_value *values);

/** As kw_stage_run(), of a row that kw_plan_fetch() has fetched. */
kw_status kw_stage_take(struct kw_stage *stage, struct kw_row *row, size_t fetched, struct kw_value *values);

/**
 * Bind a column by its name: a field, an alias, or a raw path.
 *
 * @param name  borrowed for the life of the binding (kw_column.name)
 */
kw_status kw_bind(kw_ctx *ctx, const struct kw_root *root, const char *name, struct kw_binding *ret);

/** Bind a raw path. As kw_bind(), without saying that it is a column's. */
kw_status kw_bind_path(kw_ctx *ctx, const struct kw_root *root, const char *name, struct kw_binding *ret);

/** Return what raw paths of a row may begin with: "task", or the name of its structure; NULL when it is none. */
const char *kw_root_name(const struct kw_root *root);

/** Return a raw path of a row without that. */
const char *kw_path_in_row(const struct kw_root *root, const char *name);

/** Make a KW_VAL_ENUM the name of its enumerator. A number that no enumerator has stays a number. */
void kw_name_enumerator(kw_ctx *ctx, const struct kw_type *type, struct kw_value *value);

#endif
