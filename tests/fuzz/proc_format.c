/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzes what takes the kernel's own formats out of its constants, and writes numbers by them.
 *
 * Input: a part of the constants. What is found in it begins as it was asked for and ends in it; what is written are the
 * format's own characters and numbers, and these and the word that is not known are fit for a terminal.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/proc_format.h"

#define NUMBER_SIZE 21

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const beginnings[] = { "\n  pages free     %lu\n", "\n    cpu: %i\n", "\n", "x" };

static const struct kw_value count = { .type = KW_VAL_INT, .i = -1 },
			     bytes = { .type = KW_VAL_UINT, .u = 1 << 20 },
			     most = { .type = KW_VAL_UINT, .u = UINT64_MAX },
			     none = { .type = KW_VAL_ABSENT };

static const struct proc_number numbers[] = { { "free", &bytes, true },	  { "cpu", &count, false },
					      { "count", &most, false },  { "promo", &none, true },
					      { "spanned", &most, true }, { NULL, NULL, false } };

static void require(bool truth)
{
	if (!truth)
		abort();
}

static size_t count_of(const char *text, char c)
{
	size_t nr = 0;

	while ((text = strchr(text, c))) {
		text++;
		nr++;
	}
	return nr;
}

static void require_plain(const char *text)
{
	for (; *text; text++)
		require(*text == '\n' || (*text >= ' ' && *text <= '~'));
}

static void check_written(const char *format, const char *text, size_t len)
{
	require(strlen(text) == len && !strchr(text, '%'));
	require_plain(text);
	require(len <= strlen(format) + count_of(format, '%') * NUMBER_SIZE);
	require(count_of(format, '\n') == count_of(text, '\n'));
}

static void check_unknown(const char unknown[PROC_WORD_SIZE])
{
	require(strnlen(unknown, PROC_WORD_SIZE) < PROC_WORD_SIZE && strcmp(unknown, "free") != 0);
	require_plain(unknown);
}

static void check_put(const char *format)
{
	char unknown[PROC_WORD_SIZE], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool put;

	if (!out)
		return;
	put = proc_format_put(out, format, numbers, unknown);
	require(fclose(out) == 0);
	if (put)
		check_written(format, text, len);
	else
		check_unknown(unknown);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		char format[PROC_FORMAT_SIZE];

		if (!proc_format_find((const char *)data, size, beginnings[i], format))
			continue;
		require(strlen(format) < size && strncmp(format, beginnings[i], strlen(beginnings[i])) == 0);
		check_put(format);
	}
	return 0;
}
