/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's own formats, out of its constants: texts with numbers in them, each behind the word that names it.
 *
 *     "\n  pages free     %lu\n        boost    %lu\n"
 *
 * They are read from memory, and written to a terminal: nothing in them is trusted, and what is no plain text is none.
 */
#ifndef CLI_PROC_FORMAT_H
#define CLI_PROC_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include <kwalk/value.h>

#define PROC_FORMAT_SIZE 1024 /* with the NUL: longer ones are none */
#define PROC_WORD_SIZE	 32

/** A number that a format may ask for. An absent value is one that it must not. */
struct proc_number {
	const char *name;
	const struct kw_value *value; /* KW_VAL_INT, or unsigned */
	bool pages;		      /* it is in bytes, and shown in pages */
};

/**
 * Find the first format with a beginning in a part of the kernel's constants.
 *
 * @param ret  PROC_FORMAT_SIZE bytes: set when the format is there wholly
 */
bool proc_format_find(const char *bytes, size_t len, const char *beginning, char *ret);

/**
 * Write a format with the numbers that it asks for; all of them are %i, %u, %d or %lu.
 *
 * @param numbers  up to one without a name
 * @param ret_unknown  PROC_WORD_SIZE bytes: set on failure to the word of a number that is not known (its beginning); to "" when
 * the format asks for something else
 */
bool proc_format_put(FILE *out, const char *format, const struct proc_number *numbers, char *ret_unknown);

#endif
