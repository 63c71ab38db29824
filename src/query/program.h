/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query that was written in the query language: what of it is not the scan of rows itself (where, columns, order and
 * limit, which the query's stages do) is a chain of operators, through which rows are pushed.
 */
#ifndef QUERY_PROGRAM_H
#define QUERY_PROGRAM_H

#include "query/bind.h"
#include "query/operator.h"
#include "query/query.h"

struct kw_program {
	struct kw_arena arena; /* syntax, expressions, operators */
	struct kw_program_text text;
	struct kw_patterns patterns;
	struct kw_op *ops, **end;
	struct kw_rate *rates;
	struct kw_place *places;
	struct kw_scalar *scalars; /* read before the rows */
	unsigned int depth;	   /* how many queries this one is inside of */
	struct kw_column *columns; /* of the rows that come out at the end of ops */
	uint32_t nr_columns;
};

/** What a script wants of a query beside its text. */
struct kw_assembly_options {
	const struct kw_alias *lets;
	const struct kw_watch *only_new; /* rows that were not there in the sample before, or NULL */
	bool keeps_rows; /* rows are kept, with ID and start as their last columns: order and limit come later */
	bool no_rates; /* it runs only once */
};

/** Free a program. NULL is accepted. */
void kw_program_free(struct kw_program *program);

/** Return the columns that are shown. */
const struct kw_column *kw_program_columns(const struct kw_program *program, size_t *ret_nr);

/** Scan the rows of a query and push them through its operators. */
kw_status kw_program_run(struct kw_query *q);

/** Scan the rows of a query, after the values of other queries that it uses. */
kw_status kw_program_scan(struct kw_query *q);

/** Tell for people what is done with the rows. */
void kw_program_explain(const struct kw_program *program, FILE *out);

/**
 * Make a query of its syntax.
 *
 * @param program  owns the syntax; owned by the query, or freed on failure
 */
kw_status kw_query_assemble(kw_ctx *ctx, struct kw_program *program, const struct kw_query_syntax *syntax,
			    const struct kw_assembly_options *options, kw_query **ret);

#endif
