/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing numbers by the kernel's own formats. */
#include "cli/proc_format.h"

#include <inttypes.h>
#include <string.h>

#define PAGE_SIZE 4096

/* The length of a text that is printable, fits, and ends within `room` bytes; 0 when it is none. */
static size_t text_length(const char *text, size_t room)
{
	size_t len = 0;

	while (len < room && (text[len] == '\n' || (text[len] >= ' ' && text[len] <= '~')))
		len++;
	return len < room && !text[len] && len < PROC_FORMAT_SIZE ? len : 0;
}

bool proc_format_find(const char *bytes, size_t len, const char *beginning, char *ret)
{
	const char *at = bytes, *end = bytes + len;

	while ((at = memmem(at, (size_t)(end - at), beginning, strlen(beginning)))) {
		size_t size = text_length(at, (size_t)(end - at));

		if (size) {
			memcpy(ret, at, size + 1);
			return true;
		}
		at++;
	}
	return false;
}

/* The last word before a number, without the colon behind it. */
static size_t word_before(const char *format, const char *percent, const char **ret)
{
	const char *end = percent, *begin;

	while (end > format && (end[-1] == ' ' || end[-1] == ':'))
		end--;
	begin = end;
	while (begin > format && begin[-1] != ' ' && begin[-1] != '\n')
		begin--;
	*ret = begin;
	return (size_t)(end - begin);
}

static const struct proc_number *find_number(const struct proc_number *numbers, const char *word, size_t len)
{
	for (; numbers->name; numbers++)
		if (strlen(numbers->name) == len && memcmp(numbers->name, word, len) == 0 &&
		    numbers->value->type != KW_VAL_ABSENT)
			return numbers;
	return NULL;
}

static bool put_number(FILE *out, const struct proc_number *number)
{
	if (!number)
		return false;
	if (number->value->type == KW_VAL_INT)
		fprintf(out, "%" PRId64, number->value->i);
	else
		fprintf(out, "%" PRIu64, number->pages ? number->value->u / PAGE_SIZE : number->value->u);
	return true;
}

bool proc_format_put(FILE *out, const char *format, const struct proc_number *numbers, char *ret_unknown)
{
	const char *at = format, *percent, *word;

	while ((percent = strchr(at, '%'))) {
		size_t len = word_before(format, percent, &word);

		fwrite(at, 1, (size_t)(percent - at), out);
		at = percent + 1 + strspn(percent + 1, "l");
		if (!*at || !strchr("iud", *at++)) {
			*ret_unknown = '\0';
			return false;
		}
		if (!put_number(out, find_number(numbers, word, len))) {
			snprintf(ret_unknown, PROC_WORD_SIZE, "%.*s", (int)len, word);
			return false;
		}
	}
	fputs(at, out);
	return true;
}
