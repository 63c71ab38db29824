/* What every format has in common: full disks, closed pipes, wrong options. */
#include "unit/output_capture.h"

#include <signal.h>
#include <unistd.h>

static const struct kw_column columns[] = { NUMBER_COLUMN("pid", "PID"), STRING_COLUMN("comm", "CMD") };
static const struct kw_value values[] = { UINT(1), STRING("init") };

static void expect_failure(FILE *out, enum kw_format format, size_t rows, const char *why)
{
	struct kw_ctx ctx = { 0 };
	kw_writer *writer = NULL;

	cr_assert_eq(kw_writer_begin(&ctx, out, OPTIONS(.format = format), columns, 2, &writer), KW_OK);
	for (size_t i = 0; i < rows; i++) {
		kw_status status = kw_writer_row(writer, values, 0);

		cr_assert(status == KW_OK || status == KW_FAILED);
	}
	cr_expect_eq(kw_writer_end(writer), KW_FAILED, "format %d, %zu rows", format, rows);
	cr_expect(strstr(kw_error(&ctx), why), "format %d, %zu rows: %s", format, rows, kw_error(&ctx));
	free(ctx.message);
}

Test(output_writer, full_disk)
{
	static const size_t rows[] = { 1, 100000 };

	for (int format = KW_FORMAT_TABLE; format <= KW_FORMAT_TSV; format++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			FILE *out = fopen("/dev/full", "w");

			cr_assert(out);
			expect_failure(out, (enum kw_format)format, rows[i], "No space left on device");
			fclose(out);
		}
	}
}

Test(output_writer, closed_pipe)
{
	signal(SIGPIPE, SIG_IGN);
	for (int format = KW_FORMAT_TABLE; format <= KW_FORMAT_TSV; format++) {
		int ends[2];
		FILE *out;

		cr_assert_eq(pipe(ends), 0);
		close(ends[0]);
		out = fdopen(ends[1], "w");
		cr_assert(out);
		expect_failure(out, (enum kw_format)format, 100000, "Broken pipe");
		fclose(out);
	}
}

Test(output_writer, a_stream_that_failed_before)
{
	FILE *out = fopen("/dev/full", "w");

	cr_assert(out);
	setvbuf(out, NULL, _IONBF, 0);
	fputc('x', out);
	expect_failure(out, KW_FORMAT_JSONL, 0, "failed");
	fclose(out);
}

Test(output_writer, a_row_tells_that_the_disk_is_full)
{
	FILE *out = fopen("/dev/full", "w");
	struct kw_ctx ctx = { 0 };
	kw_writer *writer;
	kw_status status = KW_OK;

	cr_assert_eq(kw_writer_begin(&ctx, out, OPTIONS(.format = KW_FORMAT_JSONL), columns, 2, &writer),
		     KW_OK);
	for (size_t i = 0; i < 100000 && status == KW_OK; i++)
		status = kw_writer_row(writer, values, 0);
	cr_expect_eq(status, KW_FAILED);
	kw_writer_end(writer);
	fclose(out);
	free(ctx.message);
}

Test(output_writer, rows_reach_the_stream_as_they_come)
{
	static const enum kw_format formats[] = { KW_FORMAT_JSON, KW_FORMAT_JSONL, KW_FORMAT_CSV,
						  KW_FORMAT_TSV };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct kw_ctx ctx = { 0 };
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		kw_writer *writer;

		cr_assert_eq(kw_writer_begin(&ctx, out, OPTIONS(.format = formats[i]), columns, 2, &writer),
			     KW_OK);
		cr_assert_eq(kw_writer_row(writer, values, 0), KW_OK);
		fflush(out);
		cr_expect(strstr(text, "init"), "format %d", formats[i]);
		kw_writer_end(writer);
		fclose(out);
		free(text);
	}
}

static void expect_refused(const struct kw_writer_options *opts, const struct kw_column *some, size_t nr)
{
	struct kw_ctx ctx = { 0 };
	kw_writer *writer = NULL;

	cr_expect_eq(kw_writer_begin(&ctx, stdout, opts, some, nr, &writer), KW_INVALID);
	cr_expect_null(writer);
	cr_expect_neq(kw_error(&ctx)[0], '\0');
	free(ctx.message);
}

Test(output_writer, wrong_options)
{
	static const struct kw_column nameless[] = { STRING_COLUMN(NULL, "X") };
	static const struct kw_column odd[] = {
		{ .name = "x", .header = "X", .display = (enum kw_display)50 }
	};

	expect_refused(NULL, columns, 0);
	expect_refused(OPTIONS(.format = (enum kw_format)17), columns, 2);
	expect_refused(&(struct kw_writer_options){ .format = KW_FORMAT_JSON }, columns, 2);
	expect_refused(NULL, nameless, 1);
	expect_refused(NULL, odd, 1);
}

Test(output_writer, no_writer_is_no_error)
{
	cr_expect_eq(kw_writer_end(NULL), KW_OK);
}
