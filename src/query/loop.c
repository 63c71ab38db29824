/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Running a script.
 *
 * A loop keeps absolute time: tick n is due at its beginning plus n periods, however long the ticks before took. Ticks
 * whose time has passed are left out and counted. A tick is one pass, so that all it asks for is of one sample.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "query/script.h"
#include "util/error.h"
#include "util/strbuf.h"
#include "util/time.h"

static void run_list(struct kw_script *s, struct kw_statement *list);

static bool goes_on(const struct kw_script *s)
{
	return !s->stopped && !s->ended && !s->status;
}

/* False from the sink ends the script. */
static void heed(struct kw_script *s, bool goes_on)
{
	if (!goes_on)
		s->ended = true;
}

/* What could not be read wholly is told, and the script goes on. */
static void take_status(struct kw_script *s, kw_status status)
{
	if (!status)
		return;
	if (status != KW_INCOMPLETE) {
		s->status = status;
		return;
	}
	s->incomplete = true;
	if (s->sink->warn)
		s->sink->warn(status, s->sink->arg);
	kw_clear_error(s->ctx);
}

static const struct kw_sample *sample(const struct kw_script *s)
{
	return s->in_loop ? &s->sample : NULL;
}

/* Queries */

struct giving {
	struct kw_script *s;
	struct kw_statement *statement;
	bool given;
};

static bool give_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct giving *g = arg;
	const struct kw_script_sink *sink = g->s->sink;

	(void)row;
	if (sink->row)
		heed(g->s, sink->row(&g->statement->bound.block, values, !g->given, sink->arg));
	g->given = true;
	return goes_on(g->s);
}

static void begin_giving(struct giving *g)
{
	g->statement->bound.block.sample = sample(g->s);
}

static void end_giving(struct giving *g)
{
	const struct kw_script_sink *sink = g->s->sink;

	if (g->given && sink->end)
		heed(g->s, sink->end(&g->statement->bound.block, sink->arg));
}

static void run_query(struct kw_script *s, struct kw_statement *q)
{
	struct giving giving = { s, q, false };

	begin_giving(&giving);
	take_status(s, kw_query_run(q->bound.query, give_row, &giving));
	end_giving(&giving);
}

/*
 * Tasks that have ended
 *
 * Which these are, the watch tells; what they were is kept of each sample until the next. The rows are taken before the
 * watch looks: of those that it still finds then, each has a row, unless it has come in between and is younger than a
 * tick. The other way round, one that ends in between would be known to have been there and have no row.
 */

struct keeping {
	struct kw_pipe pipe;
	struct kw_store *rows;
	uint32_t nr; /* values of a row: the last two are the ID and the start */
};

static bool keep_row(const struct kw_value *values, const struct kw_row_identity *id, void *arg)
{
	struct keeping *k = arg;

	return kw_store_add(&k->pipe, k->rows, values, k->nr, id);
}

static void keep_rows(struct kw_script *s, struct kw_statement *e)
{
	struct kw_last_rows *last = e->bound.last;
	struct kw_store now = last->now;
	struct keeping k = { { .ctx = s->ctx }, &last->now, (uint32_t)e->bound.query->columns.nr };

	last->now = last->before;
	last->before = now;
	kw_store_reset(&last->now);
	take_status(s, kw_query_scan_all(e->bound.query, keep_row, &k));
	take_status(s, k.pipe.status);
}

static void hand_out_ended(const struct kw_statement *e, struct kw_pipe *pipe)
{
	const struct kw_store *store = &e->bound.last->before;
	struct kw_op *ops = e->bound.query->program->ops;
	size_t nr = e->bound.query->columns.nr;

	kw_op_reset(ops);
	for (size_t i = 0; i < store->rows.nr && !pipe->status; i++) {
		const struct kw_value *row = store->rows.item[i];

		if (kw_watch_has_ended(e->bound.watch, row[nr - 2].u, row[nr - 1].u) &&
		    !kw_op_push(pipe, ops, row, &store->ids.item[i]))
			break;
	}
	kw_op_finish(pipe, ops);
}

static void run_exited(struct kw_script *s, struct kw_statement *e)
{
	struct giving giving = { s, e, false };
	struct kw_pipe pipe = { .ctx = s->ctx, .clock = &s->clock, .fn = give_row, .arg = &giving };

	begin_giving(&giving);
	hand_out_ended(e, &pipe);
	end_giving(&giving);
	take_status(s, pipe.status);
}

/* Other statements */

static void evaluate(struct kw_script *s, const struct kw_expr *e, struct kw_value *ret)
{
	struct kw_eval env = { s->ctx, NULL, &s->clock, &s->scratch, NULL };

	kw_expr_eval(e, &env, ret);
}

static bool holds(struct kw_script *s, const struct kw_expr *e)
{
	struct kw_value value;

	evaluate(s, e, &value);
	return value.type == KW_VAL_BOOL && value.u;
}

static void run_when(struct kw_script *s, struct kw_statement *w)
{
	bool now = holds(s, w->bound.expr);

	if (!now)
		w->bound.since = 0;
	else if (!w->bound.since)
		w->bound.since = s->sample.monotonic + 1;
	if (now && s->sample.monotonic + 1 - w->bound.since >= w->span)
		run_list(s, w->body);
	else
		run_list(s, w->otherwise);
}

static bool has_changed(const struct kw_value *a, const struct kw_value *b)
{
	return (a->type == KW_VAL_ABSENT) != (b->type == KW_VAL_ABSENT) || kw_value_compare(a, b) != 0;
}

static void run_change(struct kw_script *s, struct kw_statement *c)
{
	struct kw_value now;
	bool changed;

	evaluate(s, c->bound.expr, &now);
	changed = c->bound.has_before && has_changed(&now, &c->bound.before);
	c->bound.has_before = true;
	c->bound.before = now;
	if (now.type == KW_VAL_STRING || now.type == KW_VAL_BYTES) {
		kw_arena_reset(&c->bound.text);
		c->bound.before.str = kw_arena_copy(&c->bound.text, now.str, now.len);
		if (!c->bound.before.str)
			s->status = kw_fail_nomem(s->ctx);
	}
	if (changed)
		run_list(s, c->body);
}

static void run_print(struct kw_script *s, const struct kw_statement *p)
{
	struct kw_strbuf line = { 0 };

	for (const struct kw_piece *piece = p->pieces; piece; piece = piece->next) {
		struct kw_value value;

		if (!piece->expr) {
			kw_strbuf_add(&line, piece->text, piece->len);
			continue;
		}
		evaluate(s, piece->expr, &value);
		kw_put_piece(&line, piece->expr, &value);
	}
	if (line.failed)
		s->status = kw_fail_nomem(s->ctx);
	else if (s->sink->print)
		heed(s, s->sink->print(line.len ? line.str : "", line.len, sample(s), s->sink->arg));
	kw_strbuf_free(&line);
}

static void run_exit(struct kw_script *s, const struct kw_statement *e)
{
	if (e->bound.expr && !holds(s, e->bound.expr))
		return;
	s->code = (int)e->code;
	s->ended = true;
}

/* Loops */

static uint64_t real_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Values that statements use are read once a tick, before all else; outside of a loop there is none. */
static void take_sample(struct kw_script *s, struct kw_statement *loop)
{
	const struct kw_kernel *kernel;

	s->sample.monotonic = kw_now_ns();
	s->sample.realtime = real_time();
	kw_arena_reset(&s->scratch);
	memset(&s->clock, 0, sizeof(s->clock));
	if (kw_kernel_get(s->ctx, &kernel) == KW_OK)
		kw_clock_read(s->ctx, kernel, &s->clock);
	kw_clear_error(s->ctx);
	kw_rates_next(s->rates);
	for (struct kw_statement *e = loop ? loop->bound.exits : NULL; e && goes_on(s); e = e->bound.exits)
		keep_rows(s, e);
	if (loop && s->processes.scan && goes_on(s))
		take_status(s, kw_watch_sample(&s->processes));
	if (loop && s->threads.scan && goes_on(s))
		take_status(s, kw_watch_sample(&s->threads));
	if (goes_on(s))
		take_status(s, kw_scalars_read(s->scalars));
	for (struct kw_rate *rate = loop ? s->rates : NULL; rate && goes_on(s); rate = rate->next) {
		struct kw_value unused;

		evaluate(s, rate->sample.expr, &unused);
	}
}

static void run_tick(struct kw_script *s, struct kw_statement *loop)
{
	kw_pass_begin(s->ctx);
	take_sample(s, loop);
	run_list(s, loop->body);
	kw_pass_end(s->ctx);
	if (s->sink->tick && !s->status)
		heed(s, s->sink->tick(&s->sample, s->sink->arg));
}

/* Sleep until a time of the monotonic clock, or until the script is stopped: a signal ends the sleep. */
static void sleep_until(const struct kw_script *s, uint64_t due)
{
	struct timespec ts = { (time_t)(due / 1000000000), (long)(due % 1000000000) };

	while (!s->stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void run_every(struct kw_script *s, struct kw_statement *loop)
{
	uint64_t start = kw_now_ns(), due = 0, done = 0;

	s->in_loop = true;
	s->sample = (struct kw_sample){ 0 };
	while (goes_on(s)) {
		uint64_t late;

		run_tick(s, loop);
		if (++done == loop->times)
			break;
		late = (kw_now_ns() - start) / loop->period;
		s->sample.missed = late > due ? late - due : 0;
		due += 1 + s->sample.missed;
		s->sample.tick = due;
		if ((loop->span && due * loop->period >= loop->span) || !goes_on(s))
			break;
		sleep_until(s, start + due * loop->period);
	}
	s->in_loop = false;
}

static void run_statement(struct kw_script *s, struct kw_statement *statement)
{
	const struct kw_script_sink *sink = s->sink;

	switch (statement->kind) {
	case KW_STATEMENT_EVERY: run_every(s, statement); break;
	case KW_STATEMENT_WHEN: run_when(s, statement); break;
	case KW_STATEMENT_EXITED: run_exited(s, statement); break;
	case KW_STATEMENT_CHANGE: run_change(s, statement); break;
	case KW_STATEMENT_PRINT: run_print(s, statement); break;
	case KW_STATEMENT_EXIT: run_exit(s, statement); break;
	case KW_STATEMENT_NEW:
	case KW_STATEMENT_QUERY: run_query(s, statement); break;
	case KW_STATEMENT_OUTPUT:
		if (sink->output)
			heed(s, sink->output(&statement->output, sink->arg));
		break;
	default: break;
	}
}

static void run_list(struct kw_script *s, struct kw_statement *list)
{
	for (; list && goes_on(s); list = list->next)
		run_statement(s, list);
}

/* Outside of a loop each statement is a sample of its own. */
static void run_outer(struct kw_script *s)
{
	for (struct kw_statement *at = s->first; at && goes_on(s); at = at->next) {
		if (at->kind == KW_STATEMENT_EVERY) {
			run_every(s, at);
			continue;
		}
		kw_pass_begin(s->ctx);
		if (s->scalars)
			take_sample(s, NULL);
		if (goes_on(s))
			run_statement(s, at);
		kw_pass_end(s->ctx);
	}
}

kw_status kw_script_run(kw_script *s, const struct kw_script_sink *sink, int *ret_exit)
{
	struct kw_script_sink all = { 0 };

	memcpy(&all, sink, sink->size < sizeof(all) ? sink->size : sizeof(all));
	s->sink = &all;
	s->ended = s->incomplete = false;
	s->code = 0;
	s->status = KW_OK;
	run_outer(s);
	s->sink = NULL;
	*ret_exit = s->code;
	return s->status ? s->status : s->incomplete ? KW_INCOMPLETE : KW_OK;
}

void kw_script_stop(kw_script *s)
{
	s->stopped = 1;
}
