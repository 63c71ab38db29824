/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing rows in the format asked for.
 *
 * JSON, CSV and TSV hand each row to the stream at once, whose buffering is the caller's business, so a reader at the
 * other end of a pipe sees rows as they come. A table has to know all rows first.
 */
#include "output/writer.h"

#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct writer_ops *ops_of(enum kw_format format)
{
	switch (format) {
	case KW_FORMAT_TABLE: return &kw_table_ops;
	case KW_FORMAT_JSON: return &kw_json_ops;
	case KW_FORMAT_JSONL: return &kw_jsonl_ops;
	case KW_FORMAT_CSV: return &kw_csv_ops;
	case KW_FORMAT_TSV: return &kw_tsv_ops;
	}
	return NULL;
}

void kw_writer_drain(struct kw_writer *writer)
{
	struct kw_strbuf *buf = &writer->buf;

	errno = 0;
	if (!writer->broken && !buf->failed && buf->len &&
	    fwrite(buf->str, 1, buf->len, writer->out) < buf->len) {
		writer->broken = true;
		writer->err = errno;
	}
	buf->len = 0;
}

static kw_status status_of(struct kw_writer *writer, bool had_memory)
{
	if (!had_memory || writer->buf.failed)
		return kw_fail_nomem(writer->ctx);
	if (writer->broken)
		return kw_fail(writer->ctx, KW_FAILED, "writing the output: %s",
			       writer->err ? strerror(writer->err) : "failed");
	return KW_OK;
}

static void writer_free(struct kw_writer *writer)
{
	if (writer->ops->free)
		writer->ops->free(writer);
	kw_strbuf_free(&writer->buf);
	free(writer);
}

static kw_status check_columns(kw_ctx *ctx, const struct kw_column *columns, size_t nr)
{
	if (!nr)
		return kw_fail(ctx, KW_INVALID, "no columns to write");
	for (size_t i = 0; i < nr; i++)
		if (!columns[i].name || !columns[i].header || columns[i].display > KW_SHOW_ROUNDED)
			return kw_fail(ctx, KW_INVALID,
				       "column %zu has no name, no heading or an unknown display", i + 1);
	return KW_OK;
}

kw_status kw_writer_begin(kw_ctx *ctx, FILE *out, const struct kw_writer_options *opts,
			  const struct kw_column *columns, size_t nr, kw_writer **ret)
{
	struct kw_writer_options own = { .size = sizeof(own) };
	const struct writer_ops *ops;
	struct kw_writer *writer;
	kw_status status = check_columns(ctx, columns, nr);

	if (status)
		return status;
	if (opts && opts->size < sizeof(own))
		return kw_fail(ctx, KW_INVALID, "size of the writer's options is not set");
	if (opts)
		own = *opts;
	ops = ops_of(own.format);
	if (!ops)
		return kw_fail(ctx, KW_INVALID, "unknown output format %d", (int)own.format);
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return kw_fail_nomem(ctx);
	*writer = (struct kw_writer){
		.ctx = ctx, .out = out, .ops = ops, .opts = own, .columns = columns, .nr = nr
	};
	if (!ops->begin(writer) || writer->buf.failed) {
		writer_free(writer);
		return kw_fail_nomem(ctx);
	}
	*ret = writer;
	return KW_OK;
}

kw_status kw_writer_row(kw_writer *writer, const struct kw_value *values, unsigned int depth)
{
	bool ok = writer->ops->row(writer, values, depth);

	writer->rows++;
	kw_writer_drain(writer);
	return status_of(writer, ok);
}

kw_status kw_writer_end(kw_writer *writer)
{
	kw_status status;
	bool ok;

	if (!writer)
		return KW_OK;
	ok = writer->ops->end(writer);
	kw_writer_drain(writer);
	errno = 0;
	if ((fflush(writer->out) || ferror(writer->out)) && !writer->broken) {
		writer->broken = true;
		writer->err = errno;
	}
	status = status_of(writer, ok);
	writer_free(writer);
	return status;
}
