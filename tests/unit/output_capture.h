/* Writes rows in a format and keeps what comes out. Included by the tests of src/output. */
#ifndef UNIT_OUTPUT_CAPTURE_H
#define UNIT_OUTPUT_CAPTURE_H

#include <criterion/criterion.h>
#include <kwalk/output.h>
#include <stdlib.h>
#include <string.h>

#include "util/context.h"

#define UINT(n)                               \
	{                                     \
		.type = KW_VAL_UINT, .u = (n) \
	}
#define INT(n)                               \
	{                                    \
		.type = KW_VAL_INT, .i = (n) \
	}
#define FLOAT(n)                               \
	{                                      \
		.type = KW_VAL_FLOAT, .f = (n) \
	}
#define BOOL(n)                               \
	{                                     \
		.type = KW_VAL_BOOL, .u = (n) \
	}
#define ADDRESS(n)                               \
	{                                        \
		.type = KW_VAL_ADDRESS, .u = (n) \
	}
#define ENUM(n)                               \
	{                                     \
		.type = KW_VAL_ENUM, .u = (n) \
	}
#define BYTES(s)                                                       \
	{                                                              \
		.type = KW_VAL_BYTES, .str = (s), .len = sizeof(s) - 1 \
	}
#define STRING(s)                                                       \
	{                                                               \
		.type = KW_VAL_STRING, .str = (s), .len = sizeof(s) - 1 \
	}
#define ABSENT                                                   \
	{                                                        \
		.type = KW_VAL_ABSENT, .absent = KW_ABSENT_NO_MM \
	}

#define NUMBER_COLUMN(n, h)                                     \
	{                                                       \
		.name = (n), .header = (h), .type = KW_VAL_UINT \
	}
#define STRING_COLUMN(n, h)                                       \
	{                                                         \
		.name = (n), .header = (h), .type = KW_VAL_STRING \
	}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Returns the output, which the caller frees; depths may be NULL. */
static inline char *capture(const struct kw_writer_options *opts, const struct kw_column *columns, size_t nr,
			    const struct kw_value *values, const unsigned int *depths, size_t rows)
{
	struct kw_ctx ctx = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	kw_writer *writer = NULL;

	cr_assert(out);
	cr_assert_eq(kw_writer_begin(&ctx, out, opts, columns, nr, &writer), KW_OK);
	for (size_t i = 0; i < rows; i++)
		cr_assert_eq(kw_writer_row(writer, values + i * nr, depths ? depths[i] : 0), KW_OK);
	cr_assert_eq(kw_writer_end(writer), KW_OK);
	fclose(out);
	return text;
}

static inline void expect_rows(const struct kw_writer_options *opts, const struct kw_column *columns,
			       size_t nr, const struct kw_value *values, const unsigned int *depths,
			       size_t rows, const char *want)
{
	char *text = capture(opts, columns, nr, values, depths, rows);

	cr_expect_str_eq(text, want, "got:\n%s\nwant:\n%s", text, want);
	free(text);
}

#define OPTIONS(...) (&(struct kw_writer_options){ .size = sizeof(struct kw_writer_options), __VA_ARGS__ })

#endif
