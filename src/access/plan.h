/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access plans: the paths of a query merged, so that each object is fetched once.
 *
 * A plan is a list of nodes (objects) and a list of loads (values in them). Node 0 is the row's own object; every
 * other node is reached by a pointer in an earlier one. Only the span of an object that is used is fetched.
 *
 *     node 0  task_struct         +0x9a8..+0xbb8
 *     node 1  *(node 0 + 0xb70)   +0x8..+0xc         cred
 *     load    node 0 +0x9a8  4 bytes signed       -> slot 0
 *     load    node 1 +0x8    4 bytes unsigned     -> slot 1
 *
 * Rows are run one by one, or fetched many at once, object by object, and then taken one by one.
 *
 * A plan holds scratch memory: it belongs to one context.
 */
#ifndef ACCESS_PLAN_H
#define ACCESS_PLAN_H

#include <stdio.h>

#include "access/path.h"
#include "memory/memory.h"
#include "util/bytes.h"

/* A node's span is at most this long; values farther apart get a node each. */
#define KW_PLAN_MAX_SPAN 16384

/* Rows that are fetched at once, at most. */
#define KW_PLAN_ROWS 64

struct kw_plan_node {
	uint32_t parent;      /* index, lower than its own; of node 0 and its twins: itself */
	uint32_t null_reason; /* enum kw_absent when the pointer is NULL */
	uint64_t hop;	      /* offset of the pointer in the parent */
	uint64_t lo, hi;      /* bytes of the object that are used */
	size_t scratch;	      /* where a copy of the span lies among those of its row */
	size_t end_line; /* its cache lines end before this one; they begin where those of the node before end */
	/* So do its loads; and its numbers, of each kind, which are the same loads but for those from first_other on. */
	const struct kw_plan_load *first_other, *end_load;
	const struct kw_plan_number *end_u64, *end_u32, *end_s32;
};

/* A load of one of the three kinds that most are of, with nothing but what the loop over them needs. */
struct kw_plan_number {
	uint32_t offset; /* from the node's lo */
	uint32_t place;	 /* of its value, in bytes from the row's first */
	uint64_t head;	 /* what stands before the number in it */
};

struct kw_plan_load {
	uint32_t node;
	uint32_t slot;
	uint32_t size;
	uint8_t load; /* enum kw_load */
	uint8_t op;   /* enum op of plan_inner.h: how, and how many bytes */
	uint8_t type; /* enum kw_value_type */
	uint8_t shift, bits;
	uint64_t offset; /* from the node's lo once the plan is finished */
	uint64_t head;	 /* what stands before the number in its value */
	char *text;	 /* where a string or bytes are copied to */
};

/* What is looked at of a node to tell whether a row is as it was. */
struct kw_plan_look {
	uint32_t node;
	uint32_t first, nr; /* of its words in plan->word */
	uint32_t offset;    /* of the first one in the node's span, in bytes */
};

/* So many words are looked at at once. */
#define KW_PLAN_WITNESSES 4

/* A word that is mapped, and what it was when the row was made. */
struct kw_plan_witness {
	const uint8_t *at;
	uint64_t was;
};

/* A node's object in one row. */
struct kw_plan_object {
	const uint8_t *data; /* its span; NULL when it can't be had */
	uint64_t address;    /* 0 when there is none */
	uint8_t reason;	     /* enum kw_absent when data is NULL */
	uint8_t status;	     /* kw_status of reading it */
};

struct kw_plan {
	struct {
		struct kw_plan_node *item;
		size_t nr, cap;
	} nodes;
	struct {
		struct kw_plan_load *item;
		size_t nr, cap;
	} loads;
	struct kw_plan_number *number;
	uint8_t *text;	  /* of the loads; of a flat plan for each of KW_PLAN_ROWS rows */
	size_t text_size; /* of a row */
	uint8_t *scratch; /* row_size bytes for each row: spans that are not mapped */
	size_t row_size, rows;
	struct kw_plan_object *objects; /* one for each node, for each row */
	struct kw_plan_object *row;	/* those of the row that was run or taken last */
	struct kw_range *ranges;	/* of a fetch, and what a recheck reads */
	uint32_t *owners;		/* of the ranges: places in objects */
	uint64_t *pointers;
	uint32_t *line; /* cache lines with a value or a pointer in them: offsets in the nodes' spans, node by node */
	size_t nr_lines;
	size_t view_rows; /* so many rows are looked at together in mapped memory: see kw_plan_view_objects() */
	bool flat;	  /* one object with all values: see kw_plan_load() */
	bool doubts_zeros; /* memory that can't be had may read as zeros: see is_unshown() */
	bool in_words;	   /* set before it is finished: spans are made of whole words */
	struct kw_plan_look
		*look; /* of each node: those with many words first, then those with one, then others */
	size_t nr_many, nr_single;
	uint16_t *word; /* those that are compared: places in the nodes' spans, in words */
	size_t nr_words;
	uint8_t *image; /* a row's words in their places */
	bool finished;
};

/** Free what a plan holds. A zeroed plan is an empty one. */
void kw_plan_deinit(struct kw_plan *plan);

/**
 * Add a path from the row's object; its value goes to values[slot] of kw_plan_run().
 *
 * A path to a structure or an array (KW_LOAD_OBJECT) gives its bytes in place, as KW_VAL_BYTES: they may change where the
 * memory does, and a page of a mapping that fails reads as zeros.
 *
 * @return KW_OK; KW_INVALID for an object that is empty or too long; KW_NOMEM
 */
kw_status kw_plan_add(kw_ctx *ctx, struct kw_plan *plan, const struct kw_path *path, uint32_t slot);

/**
 * Find where a value of the row's own object goes that has been added.
 *
 * @param ret_slot  set to its slot
 * @return false when the path has not been added, or leads to another object
 */
bool kw_plan_has(kw_ctx *ctx, const struct kw_plan *plan, const struct kw_path *path, uint32_t *ret_slot);

/** Lay out the storage: no more paths after this. */
kw_status kw_plan_finish(kw_ctx *ctx, struct kw_plan *plan);

/**
 * Fetch the values of one row.
 *
 * @param addr  the row's object
 * @param values  every slot that was added is set; strings point into the plan until its next run
 * @return KW_OK when the row's object could be read, or a part of it with a value; else its state, and all values are
 * absent
 */
kw_status kw_plan_run(kw_ctx *ctx, struct kw_plan *plan, uint64_t addr, struct kw_value *values);

/**
 * Fetch the objects of many rows with few calls: for memory that is copied. kw_plan_take() gives their values.
 *
 * @param addrs  the rows' objects, KW_PLAN_ROWS at most
 * @param rows  which row each is to be, or NULL: from 0 on
 */
kw_status kw_plan_fetch(kw_ctx *ctx, struct kw_plan *plan, const uint64_t *addrs, const size_t *rows,
			size_t nr);

/**
 * Fetch objects again that rows had before, those that others are found by last: when they then point to the same ones,
 * these were the rows' own while they were copied.
 *
 * @param known  the rows' objects as they were
 */
kw_status kw_plan_fetch_known(kw_ctx *ctx, struct kw_plan *plan, const struct kw_plan_object *const *known,
			      const size_t *rows, size_t nr);

/** Give the values of a row that was fetched or viewed; as kw_plan_run(). */
kw_status kw_plan_take(kw_ctx *ctx, struct kw_plan *plan, size_t row, struct kw_value *values);

/** For each of nr rows that were fetched, tell what kw_plan_changed() tells of one; rows as for kw_plan_fetch(). */
void kw_plan_recheck(kw_ctx *ctx, struct kw_plan *plan, const size_t *rows, size_t nr, bool *ret_changed);

/**
 * Tell whether the objects that the last run followed pointers to are no longer the ones pointed to: reads the
 * pointers again, past the cache of the pass.
 */
bool kw_plan_changed(kw_ctx *ctx, const struct kw_plan *plan);

/** Forget what the pass has cached of the objects of the last run, so that the next one reads them afresh. */
void kw_plan_forget(kw_ctx *ctx, const struct kw_plan *plan);

/** Forget what the pass has cached of the object of a row that has not been run yet. */
void kw_plan_forget_root(kw_ctx *ctx, const struct kw_plan *plan, uint64_t addr);

/** Begin to fetch the objects of rows that will be loaded soon, where they are mapped. */
void kw_plan_view(kw_ctx *ctx, const struct kw_plan *plan, const uint64_t *addrs, size_t nr);

/**
 * Find the objects of many rows in mapped memory, one object of all rows after the other, and begin to fetch what will be
 * loaded from them. kw_plan_take() gives their values, as they are by then.
 *
 * @param addrs  the rows' objects, plan->view_rows at most: as many as the processor's cache has room for
 */
kw_status kw_plan_view_objects(kw_ctx *ctx, struct kw_plan *plan, const uint64_t *addrs, size_t nr);

/**
 * Put what is the same in all rows of a flat plan into the values of KW_PLAN_ROWS rows, of which kw_plan_load() will set the
 * rest.
 */
void kw_plan_load_begin(const struct kw_plan *plan, struct kw_value *values, size_t stride,
			uint32_t nr_slots);

/**
 * Load the values of rows of a flat plan from the mapped spans of their objects, as kw_plan_run(): one value of all rows
 * after the other, so that how it is loaded is decided once for all of them.
 *
 * @param nr  of rows, KW_PLAN_ROWS at most
 * @param values  slot s of row r is values[r * stride + s], begun; strings point into the plan until the next call
 * @param nr_slots  only the slots before this one are loaded
 */
void kw_plan_load(struct kw_plan *plan, const uint8_t *const *spans, size_t nr, struct kw_value *values,
		  size_t stride, uint32_t nr_slots);

/**
 * Choose the words that tell whether a row is as it was: those of the loads that are wanted, and of all pointers to objects.
 * Only of a plan in words.
 *
 * @param wanted  how many bytes, from the first on, of each of plan->loads
 */
kw_status kw_plan_choose_words(kw_ctx *ctx, struct kw_plan *plan, const uint32_t *wanted);

/** Tell whether the objects of a row, those that there are, have these plan->nr_words words. */
bool kw_plan_has_words(const struct kw_plan *plan, const struct kw_plan_object *objects,
		       const uint64_t *words);

/**
 * Copy the words of a row's objects, and let the objects be made of these copies: what is loaded from them then is what
 * the words say. Nothing else is in them. Good until the next call.
 */
void kw_plan_copy_words(const struct kw_plan *plan, struct kw_plan_object *objects, uint64_t *ret_words);

/**
 * Write down where the words of a row lie whose objects are mapped, for kw_plan_is_as_it_was(): first one of each cache line.
 *
 * @param words  as kw_plan_copy_words() has given them
 * @param ret  plan->nr_words places, rounded up to a multiple of KW_PLAN_WITNESSES
 * @param ret_lines  set to how many cache lines they lie in
 * @return how many there are, a multiple of KW_PLAN_WITNESSES: objects that there are none of have none, and some are there twice
 */
uint32_t kw_plan_call_witnesses(const struct kw_plan *plan, const struct kw_plan_object *objects,
				const uint64_t *words, struct kw_plan_witness *ret, uint32_t *ret_lines);

/** Begin to fetch the words that kw_plan_is_as_it_was() will look at; nr is that of their cache lines. */
static inline void kw_plan_prefetch(const struct kw_plan_witness *w, uint32_t nr)
{
	for (const struct kw_plan_witness *end = w + nr; w < end; w += KW_PLAN_WITNESSES) {
		__builtin_prefetch(w[0].at);
		__builtin_prefetch(w[1].at);
		__builtin_prefetch(w[2].at);
		__builtin_prefetch(w[3].at);
	}
}

/** Tell whether so many words are what they were. */
static inline bool kw_plan_is_as_it_was(const struct kw_plan_witness *w, uint32_t nr)
{
	uint64_t changed = 0;

	for (const struct kw_plan_witness *end = w + nr; w < end; w += KW_PLAN_WITNESSES)
		changed |= (kw_load_u64(w[0].at) ^ w[0].was) | (kw_load_u64(w[1].at) ^ w[1].was) |
			   (kw_load_u64(w[2].at) ^ w[2].was) | (kw_load_u64(w[3].at) ^ w[3].was);
	return !changed;
}

/** Tell whether some of a row's objects, none of them its own, are still the ones that are pointed to. */
bool kw_plan_points_to(const struct kw_plan *plan, const struct kw_plan_object *objects, const uint32_t *node,
		       size_t nr);

/** Make some of the loads, from the objects of a row each of which is there or has a reason not to be. */
void kw_plan_load_some(kw_ctx *ctx, const struct kw_plan_object *objects,
		       const struct kw_plan_load *const *load, size_t nr, struct kw_value *values);

/** Print the plan for people. `root` names the row's object. */
void kw_plan_explain(const struct kw_plan *plan, const char *root, FILE *out);

#endif
