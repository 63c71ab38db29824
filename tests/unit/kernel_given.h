/*
 * A small kernel opened, and rows of it as text: a line each, values separated by blanks, what is absent as <reason>.
 * Included by the tests of src/kernel and src/query.
 */
#ifndef UNIT_KERNEL_GIVEN_H
#define UNIT_KERNEL_GIVEN_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/kernel_image.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* 1 init, 2 a kernel thread, 100 a shell with three threads, 300 its child. */
#define SOME_TASKS                                                   \
	"1 init vsz=100 rss=10,20,0,5 cpu=1\n"                       \
	"2 kthreadd kthread state=I\n"                               \
	"100 bash ppid=1 uid=1000 gid=1000 state=S nice=5 utime=7\n" \
	"100.101 worker state=D cpu=1\n"                             \
	"100.102 worker2\n"                                          \
	"300 sleep ppid=100 uid=1000 state=S\n"

struct given {
	struct kernel_image *k;
	kw_ctx *ctx;
};

static inline struct given given_config(const struct kernel_config *config)
{
	return (struct given){ .k = kernel_new(config) };
}

static inline struct given given_tasks(const char *style, const char *tasks)
{
	return given_config(&(struct kernel_config){ .style = style, .tasks = tasks });
}

static inline void given_open(struct given *g, enum kernel_form form)
{
	kw_status status = kernel_open(g->k, form, &g->ctx);

	cr_assert_eq(status, KW_OK, "%d: %s", status, kw_error(g->ctx));
}

static inline void given_close(struct given *g)
{
	kw_free(g->ctx);
	kernel_free(g->k);
	*g = (struct given){ 0 };
}

static inline void print_value(FILE *out, const struct kw_value *v)
{
	switch (v->type) {
	case KW_VAL_ABSENT: fprintf(out, "<%s>", kw_absent_text(v->absent)); break;
	case KW_VAL_STRING: kw_put_safe(out, v->str, v->len); break;
	case KW_VAL_BYTES:
		for (uint32_t i = 0; i < v->len; i++)
			fprintf(out, "%02x", (unsigned char)v->str[i]);
		break;
	case KW_VAL_INT: fprintf(out, "%" PRId64, v->i); break;
	case KW_VAL_FLOAT: fprintf(out, "%g", v->f); break;
	case KW_VAL_BOOL: fputs(v->u ? "true" : "false", out); break;
	case KW_VAL_ADDRESS: fprintf(out, "0x%" PRIx64, v->u); break;
	default: fprintf(out, "%" PRIu64, v->u); break;
	}
}

struct printer {
	FILE *out;
	size_t nr;
	bool (*hook)(const struct kw_row_identity *row, void *arg);
	void *arg;
};

static inline bool print_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct printer *p = arg;

	fprintf(p->out, "%*s", (int)row->depth, "");
	for (size_t i = 0; i < p->nr; i++) {
		fputs(i ? " " : "", p->out);
		print_value(p->out, &values[i]);
	}
	fputc('\n', p->out);
	return p->hook ? p->hook(row, p->arg) : true;
}

/* Run a bound query; the caller frees the text. */
static inline char *run_query(kw_query *query, struct printer *p, kw_status *ret_status)
{
	char *text = NULL;
	size_t size;

	p->out = open_memstream(&text, &size);
	cr_assert(p->out);
	kw_query_columns(query, &p->nr);
	*ret_status = kw_query_run(query, print_row, p);
	fclose(p->out);
	return text;
}

static inline kw_query *bind_query(struct given *g, const struct kw_query_options *opts)
{
	kw_query *query = NULL;
	kw_status status = kw_query_new(g->ctx, opts, &query);

	cr_assert_eq(status, KW_OK, "%s: %d: %s", opts->columns, status, kw_error(g->ctx));
	return query;
}

static inline void expect_run(struct given *g, kw_query *query, struct printer *p, kw_status want_status,
			      const char *want)
{
	kw_status status;
	char *text = run_query(query, p, &status);

	cr_expect_eq(status, want_status, "status %d instead of %d: %s", status, want_status,
		     kw_error(g->ctx));
	cr_expect_str_eq(text, want, "got:\n%swant:\n%s", text, want);
	free(text);
}

static inline void expect_options(struct given *g, kw_status want_status, const char *want,
				  const struct kw_query_options *opts)
{
	kw_query *query = bind_query(g, opts);
	struct printer printer = { 0 };

	expect_run(g, query, &printer, want_status, want);
	kw_query_free(query);
}

/* expect_rows(&g, KW_OK, "1 init\n", .columns = "pid,comm", .pids = "1"); */
#define OPTIONS(...)			  (&(struct kw_query_options){ .size = sizeof(struct kw_query_options), __VA_ARGS__ })
#define expect_rows(g, status, want, ...) expect_options(g, status, want, OPTIONS(__VA_ARGS__))

/* The query can't be bound, and the error says exactly this. */
static inline void expect_refused(struct given *g, kw_status want_status, const char *want,
				  const struct kw_query_options *opts)
{
	kw_query *query = NULL;
	kw_status status = kw_query_new(g->ctx, opts, &query);

	cr_expect_eq(status, want_status, "status %d instead of %d", status, want_status);
	cr_expect_str_eq(kw_error(g->ctx), want, "got:  %s\nwant: %s", kw_error(g->ctx), want);
	kw_query_free(query);
}

#define expect_refusal(g, status, want, ...) expect_refused(g, status, want, OPTIONS(__VA_ARGS__))

/* In every style and every form, as the tasks of the text; `expect` may change the kernel and opens it. */
static inline void in_every_style(const char *tasks, void (*expect)(struct given *g))
{
	static const char *const styles[] = { "5.10", "6.12", "7.2" };

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		struct given g = given_tasks(styles[i], tasks);

		expect(&g);
		given_close(&g);
	}
}

#endif
