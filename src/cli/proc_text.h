/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of files of /proc, made of values of a query.
 *
 * A file is a list of items: text, and behind it the value of a column, each in the kernel's own notation. The columns
 * make the query that the file needs.
 */
#ifndef CLI_PROC_TEXT_H
#define CLI_PROC_TEXT_H

#include <stdio.h>

#include <kwalk/kwalk.h>

/** What a file tells of, or the directory that it lies in. */
enum proc_place {
	PROC_SYSTEM, /**< /proc */
	PROC_TASK,   /**< /proc/PID and /proc/PID/task/TID */
};

struct proc_item;

/** A file that can be made. All of it is static. */
struct proc_file {
	const char *name;
	enum proc_place place;
	const struct proc_item *items;
	size_t nr; /**< of items */
};

/** Return the i-th file, NULL past the last one. */
const struct proc_file *proc_file_at(size_t i);

/** How the files are looked at. */
struct proc_view {
	bool thread;	  /**< in /proc/PID/task/TID; false: a whole process, or the system */
	bool shows_waits; /**< this kernel's stat tells whether a task waits in a way that is known */
};

/** Find out how the kernel of an opened target shows its files. */
void proc_view_init(kw_ctx *ctx, bool thread, struct proc_view *ret);

/** Write the columns that a file needs, separated by commas: file->nr of them. */
void proc_file_columns(const struct proc_view *view, const struct proc_file *file, FILE *out);

/**
 * Write a file's text.
 *
 * @param values  of the file's columns
 * @param ret_column  set on failure to the column that is missing, a static string
 * @param ret_why  set on failure to the reason, a static string
 * @return false when a value is missing that the text can't do without; what was written until then is useless
 */
bool proc_file_print(const struct proc_view *view, const struct proc_file *file,
		     const struct kw_value *values, FILE *out, const char **ret_column, const char **ret_why);

#endif
