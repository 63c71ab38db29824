/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A script as bound. script.c makes it, loop.c runs it. */
#ifndef QUERY_SCRIPT_H
#define QUERY_SCRIPT_H

#include <signal.h>

#include "query/program.h"
#include "query/rate.h"
#include "query/scalar.h"
#include "query/statement.h"
#include "query/watch.h"
#include "util/strbuf.h"

/** The rows of the sample before, of which those that have ended are shown. */
struct kw_last_rows {
	struct kw_store now, before;
};

struct kw_script {
	kw_ctx *ctx;
	struct kw_arena arena; /* text, syntax, expressions of statements */
	struct kw_program_text text;
	struct kw_patterns patterns;
	struct kw_statement *first;
	struct kw_rate *rates; /* of expressions of statements */
	struct kw_scalar *scalars;
	struct kw_place *places;
	struct kw_watch processes, threads; /* scan is NULL while nobody asks for them */
	bool is_loop_bound;		    /* while binding: inside of every */
	/* the run under way */
	const struct kw_script_sink *sink;
	volatile sig_atomic_t stopped;
	bool ended, incomplete;
	int code;
	kw_status status; /* why it can't go on */
	struct kw_sample sample;
	bool in_loop;
	struct kw_clock clock;
	struct kw_arena scratch;
};

/** Bind the statements, with the values of parameters that were given: see kw_script_new(). */
kw_status kw_script_bind(struct kw_script *script, const char *const *args, size_t nr_args);

/** Give the statements' queries back. */
void kw_statements_deinit(struct kw_statement *list);

/** Append a value to a text for people: sizes and times with a fitting unit. */
void kw_put_piece(struct kw_strbuf *sb, const struct kw_expr *expr, const struct kw_value *value);

#endif
