/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a writer consists of: the part that all formats share, and the operations of one format.
 */
#ifndef OUTPUT_WRITER_H
#define OUTPUT_WRITER_H

#include <kwalk/output.h>

#include "util/strbuf.h"

struct kw_writer {
	kw_ctx *ctx;
	FILE *out;
	const struct writer_ops *ops;
	struct kw_writer_options opts;
	const struct kw_column *columns;
	size_t nr;		/* columns */
	size_t rows;		/* written before this one */
	struct kw_strbuf buf;	/* text that out has not been given yet */
	bool broken;		/* out did not take everything */
	int err;		/* why: an errno, or 0 when it is not known */
	struct kw_strbuf *keys; /* of JSON: `"name":` of each column */
	struct table *table;	/* of a table: the rows so far */
};

/**
 * A format. Each function appends to buf, whose own flag tells when memory ran out; what else it allocates is in
 * the writer, and a false return tells that that failed.
 */
struct writer_ops {
	bool (*begin)(struct kw_writer *writer);
	bool (*row)(struct kw_writer *writer, const struct kw_value *values, unsigned int depth);
	bool (*end)(struct kw_writer *writer);
	void (*free)(struct kw_writer *writer); /* what begin() made, also when that failed midway; or NULL */
};

extern const struct writer_ops kw_table_ops, kw_json_ops, kw_jsonl_ops, kw_csv_ops, kw_tsv_ops;

/** Give buf to out and empty it; a failure is kept in the writer. */
void kw_writer_drain(struct kw_writer *writer);

#endif
