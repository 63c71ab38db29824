/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the makers of files of the system have in common: rows of sources, single variables, CPUs. */
#include <stdlib.h>
#include <string.h>

#include "cli/proc_maker.h"

bool proc_missing(struct proc_maker *m, const char *what, const char *why)
{
	snprintf(m->what, sizeof(m->what), "%s", what);
	snprintf(m->why, sizeof(m->why), "%s", why);
	return false;
}

struct handing_out {
	struct proc_maker *m;
	const struct kw_column *columns;
	size_t nr;
	uint64_t optional;
	proc_row_fn fn;
	void *arg;
	bool missing;
};

static bool is_optional(const struct handing_out *h, size_t column)
{
	return h->optional == UINT64_MAX || (column < 64 && h->optional >> column & 1);
}

static bool take_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct handing_out *h = arg;

	(void)row;
	for (size_t i = 0; i < h->nr && !h->missing; i++)
		if (values[i].type == KW_VAL_ABSENT && !is_optional(h, i))
			h->missing =
				!proc_missing(h->m, h->columns[i].name, kw_absent_text(values[i].absent));
	if (!h->missing)
		h->fn(h->m, values, h->arg);
	return !h->missing;
}

static bool rows_of(struct proc_maker *m, const struct kw_row_identity *task, const char *source,
		    const char *columns, uint64_t optional, proc_row_fn fn, void *arg)
{
	struct kw_query_options options = { .size = sizeof(options), .source = source, .columns = columns };
	struct handing_out h = { .m = m, .optional = optional, .fn = fn, .arg = arg };
	kw_query *query;
	kw_status status = kw_query_new(m->ctx, &options, &query);

	if (status)
		return proc_missing(m, source, kw_error(m->ctx));
	h.columns = kw_query_columns(query, &h.nr);
	status = task ? kw_query_run_task(query, task, take_row, &h) : kw_query_run(query, take_row, &h);
	kw_query_free(query);
	return !h.missing && (!status || proc_missing(m, source, kw_error(m->ctx)));
}

bool proc_rows(struct proc_maker *m, const char *source, const char *columns, uint64_t optional,
	       proc_row_fn fn, void *arg)
{
	return rows_of(m, NULL, source, columns, optional, fn, arg);
}

bool proc_task_rows(struct proc_maker *m, const char *source, const char *columns, uint64_t optional,
		    proc_row_fn fn, void *arg)
{
	return rows_of(m, m->task, source, columns, optional, fn, arg);
}

bool proc_global(struct proc_maker *m, const char *symbol, size_t size, uint64_t *ret)
{
	uint64_t addr, value = 0;

	if (kw_symbol_address(m->ctx, symbol, &addr) != KW_OK || kw_read(m->ctx, addr, &value, size) != KW_OK)
		return false;
	*ret = value;
	return true;
}

bool proc_has_symbol(struct proc_maker *m, const char *symbol)
{
	uint64_t addr;

	return kw_symbol_address(m->ctx, symbol, &addr) == KW_OK;
}

void proc_put_escaped(FILE *out, const struct kw_value *text, const char *escape)
{
	for (uint32_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->str[i];

		if (c && strchr(escape, c))
			fprintf(out, "\\%03o", c);
		else
			fputc(c, out);
	}
}

struct finding {
	bool online, failed;
	struct proc_cpus *cpus;
};

static void take_cpu(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct finding *f = arg;
	uint32_t *grown;

	(void)m;
	if (f->failed || (f->online && !values[1].u))
		return;
	grown = reallocarray(f->cpus->number, f->cpus->nr + 1, sizeof(*grown));
	f->failed = !grown;
	if (!grown)
		return;
	f->cpus->number = grown;
	grown[f->cpus->nr++] = (uint32_t)values[0].u;
}

bool proc_find_cpus(struct proc_maker *m, bool online, struct proc_cpus *ret)
{
	struct proc_cpus cpus = { NULL, 0 };
	struct finding f = { .online = online, .cpus = &cpus };

	if (!proc_rows(m, "cpus", "cpu,online", online ? 0 : 2, take_cpu, &f)) {
		free(cpus.number);
		return false;
	}
	if (f.failed) {
		free(cpus.number);
		return proc_missing(m, "cpus", "out of memory");
	}
	*ret = cpus;
	return true;
}

void proc_put_cpus(FILE *out, const struct proc_cpus *cpus)
{
	for (size_t i = 0; i < cpus->nr; i++)
		fprintf(out, "CPU%-8" PRIu32, cpus->number[i]);
	fputc('\n', out);
}
