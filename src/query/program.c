/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiling the text of a query, and running what comes of it. */
#include "query/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/parser.h"
#include "query/pattern.h"
#include "query/place.h"
#include "query/rate.h"
#include "query/scalar.h"
#include "util/error.h"

void kw_program_free(struct kw_program *program)
{
	if (!program)
		return;
	kw_op_deinit(program->ops);
	kw_scalars_deinit(program->scalars);
	kw_places_deinit(program->places);
	for (struct kw_rate *rate = program->rates; rate; rate = rate->next)
		kw_rate_deinit(rate);
	for (size_t i = 0; i < program->patterns.nr; i++)
		kw_pattern_free(program->patterns.item[i]);
	free(program->patterns.item);
	kw_arena_free(&program->arena);
	free(program);
}

const struct kw_column *kw_program_columns(const struct kw_program *program, size_t *ret_nr)
{
	*ret_nr = program->nr_columns;
	return program->columns;
}

static kw_status take_text(kw_ctx *ctx, struct kw_program *program, const char *text)
{
	size_t len = strlen(text);

	if (len > KW_PROGRAM_MAX)
		return kw_fail(ctx, KW_INVALID, "the query is longer than %d bytes", KW_PROGRAM_MAX);
	program->text.name = "query";
	program->text.text = kw_arena_copy(&program->arena, text, len);
	program->text.len = len;
	return program->text.text ? KW_OK : kw_fail_nomem(ctx);
}

kw_status kw_query_compile(kw_ctx *ctx, const char *text, kw_query **ret)
{
	struct kw_program *program = calloc(1, sizeof(*program));
	const struct kw_assembly_options options = { 0 };
	struct kw_query_syntax *syntax = NULL;
	struct kw_parser parser;
	kw_status status;

	if (!program)
		return kw_fail_nomem(ctx);
	status = take_text(ctx, program, text);
	if (!status) {
		kw_parser_begin(&parser, ctx, &program->text, &program->arena);
		syntax = kw_parse_query_alone(&parser);
		status = syntax ? KW_OK : ctx->status;
	}
	if (status) {
		kw_program_free(program);
		return status;
	}
	kw_pass_begin(ctx);
	status = kw_query_assemble(ctx, program, syntax, &options, ret);
	kw_pass_end(ctx);
	return status;
}

bool kw_query_compares(const kw_query *q)
{
	return q->program && (q->program->rates || (q->outer && kw_query_compares(q->outer)));
}

struct chain {
	struct kw_pipe pipe;
	struct kw_op *ops;
};

static bool push_first(const struct kw_value *values, const struct kw_row_identity *id, void *arg)
{
	struct chain *chain = arg;

	return kw_op_push(&chain->pipe, chain->ops, values, id);
}

kw_status kw_program_scan(struct kw_query *q)
{
	kw_status status = kw_scalars_read(q->program->scalars), scan;

	if (status && status != KW_INCOMPLETE)
		return status;
	kw_rates_next(q->program->rates);
	scan = kw_query_scan(q);
	return scan ? scan : status;
}

kw_status kw_program_run(struct kw_query *q)
{
	struct chain chain = { .ops = q->program->ops };
	kw_status status;

	if (!chain.ops)
		return kw_program_scan(q);
	chain.pipe = (struct kw_pipe){ .ctx = q->ctx, .clock = &q->clock, .fn = q->fn, .arg = q->arg };
	kw_op_reset(chain.ops);
	q->fn = push_first;
	q->arg = &chain;
	status = kw_program_scan(q);
	if (!status || status == KW_INCOMPLETE)
		kw_op_finish(&chain.pipe, chain.ops);
	q->counts.rows = chain.pipe.rows;
	return chain.pipe.status ? chain.pipe.status : status;
}

void kw_program_explain(const struct kw_program *program, FILE *out)
{
	static const char *const names[] = { "keep rows where a value is true", "sort", "limit", "distinct",
					     "group" };

	for (const struct kw_op *op = program->ops; op; op = op->next) {
		fprintf(out, "then %s", names[op->kind]);
		if (op->kind == KW_OP_LIMIT)
			fprintf(out, " %" PRIu64, op->limit);
		if (op->kind == KW_OP_GROUP)
			fprintf(out, " by %u values, with %u aggregates", op->nr_keys,
				op->grouping->nr_aggregates);
		if (op->kind == KW_OP_SORT)
			fprintf(out, " by %u values", op->nr_keys);
		fputc('\n', out);
	}
}
