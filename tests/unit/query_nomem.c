/*
 * Memory that runs out: opening, binding, running and looking around with the first allocation failing, then with the
 * second, and so on until none fails. Each time there is an error with a message, no crash, and nothing is left behind.
 *
 * malloc() and its kin are replaced for this program; sanitizers, which do the same, have to do without it.
 */
#include "unit/kernel_given.h"

#include <errno.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define REPLACED 0
#else
#define REPLACED 1
#endif

static struct {
	bool on;
	long countdown; /* of allocations that succeed */
	long failed;
	long live; /* allocations that have not been freed, made while on */
} memory;

#if REPLACED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static bool runs_out(void)
{
	if (!memory.on || memory.countdown-- > 0)
		return false;
	memory.failed++;
	errno = ENOMEM;
	return true;
}

static void *count(void *allocated)
{
	memory.live += memory.on && allocated;
	return allocated;
}

void *malloc(size_t size)
{
	return runs_out() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t nr, size_t size)
{
	return runs_out() ? NULL : count(__libc_calloc(nr, size));
}

void *realloc(void *old, size_t size)
{
	if (runs_out())
		return NULL;
	return old ? __libc_realloc(old, size) : count(__libc_realloc(old, size));
}

void free(void *old)
{
	memory.live -= memory.on && old;
	__libc_free(old);
}
#endif

static bool take_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	(void)values;
	(void)row;
	++*(size_t *)arg;
	return true;
}

static kw_status query_all(kw_ctx *ctx, size_t *rows)
{
	struct kw_query_options opts = { .size = sizeof(opts),
					 .source = "threads",
					 .columns =
						 "pid,comm,user,rss,time,start,task.signal.oom_score_adj=X",
					 .sort = "-time,comm,user",
					 .users = "0,1000",
					 .names = "init",
					 .forest = true };
	kw_query *query = NULL;
	kw_status status = kw_query_new(ctx, &opts, &query);

	if (!status)
		status = kw_query_run(query, take_row, rows);
	kw_query_free(query);
	return status;
}

static kw_status look_around(kw_ctx *ctx)
{
	struct kw_cross_difference *difference = NULL;
	struct kw_fact *facts = NULL;
	struct kw_object object;
	size_t nr, pids, listed;
	kw_ctx *twin = NULL;
	kw_status status = kw_cross_check(ctx, &difference, &nr, &pids, &listed);

	if (!status)
		status = kw_facts(ctx, &facts, &nr);
	if (!status)
		status = kw_object_find(ctx, "task(100).mm->total_vm", &object);
	if (!status)
		status = kw_clone(ctx, &twin);
	free(difference);
	free(facts);
	kw_free(twin);
	return status;
}

/* Returns what came of it; `message` gets the error. */
static kw_status do_all(const char *path, bool once, char *message, size_t size, size_t *rows)
{
	struct kw_open_options opts = { .size = sizeof(opts), .once = once, .no_mmap = !once };
	kw_ctx *ctx = kw_new();
	kw_status status;

	message[0] = '\0';
	if (!ctx)
		return KW_NOMEM;
	status = kw_open(ctx, path, &opts);
	if (!status)
		status = query_all(ctx, rows);
	if (!status)
		status = look_around(ctx);
	/* Without an allocation: none would succeed. */
	if (status)
		strncpy(message, kw_error(ctx), size - 1);
	kw_free(ctx);
	return status;
}

static void fail_each(const char *style, bool once)
{
	struct kernel_image *k = kernel_new(&(struct kernel_config){ .style = style, .tasks = SOME_TASKS });
	char path[] = "/var/tmp/kwalk-nomem-XXXXXX", message[512] = "";
	int fd = mkstemp(path);
	struct image file = kernel_file(k, KERNEL_RAM);
	FILE *out = fdopen(fd, "wb");
	long n = 0, failed, live;
	size_t rows = 0;

	fwrite(file.bytes, 1, file.size, out);
	fclose(out);
	image_free(&file);
	/* What is kept for the whole process is made by the first use. */
	cr_assert_eq(do_all(path, once, message, sizeof(message), &rows), KW_OK, "%s", message);
	do {
		kw_status status;

		rows = 0;
		memory.countdown = n++;
		memory.failed = memory.live = 0;
		memory.on = true;
		status = do_all(path, once, message, sizeof(message), &rows);
		memory.on = false;
		failed = memory.failed;
		live = memory.live;
		cr_assert_eq(live, 0, "%ld allocations are left after the %ldth failed", live, n);
		if (!failed)
			cr_assert(status == KW_OK && rows == 6, "%d, %zu rows: %s", status, rows, message);
		else if (status)
			cr_assert(message[0] || status == KW_NOMEM, "status %d without a message, %ldth",
				  status, n);
	} while (failed && n < 100000);
	unlink(path);
	kernel_free(k);
}

TestSuite(query_nomem, .timeout = 120);

Test(query_nomem, copied)
{
	if (!REPLACED)
		cr_skip("a sanitizer has replaced malloc()");
	fail_each("6.12", true);
}

Test(query_nomem, read_with_pread)
{
	if (!REPLACED)
		cr_skip("a sanitizer has replaced malloc()");
	fail_each("5.10", false);
}
