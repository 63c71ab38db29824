/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of files of /proc, made of values of a query.
 *
 * A file is a list of items: text, and behind it the value of a column, each in the kernel's own notation. The columns
 * make the query that the file needs. Files lie in tables by subject, proc_task.c, proc_status.c, ...; all tables are
 * listed in proc_text.c.
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

/** How the kernel writes a value. */
enum proc_notation {
	PROC_TEXT,
	PROC_ESCAPED, /**< text with \n and \\ in the place of line ends and backslashes */
	PROC_TABS,    /**< words with tabs between */
	PROC_LINES,   /**< text with an end of line behind it, unless it is empty */
	PROC_WORDS,   /**< words with a blank behind each */
	PROC_STATE,   /**< the letter of a state, and its name in parentheses */
	PROC_DECIMAL,
	PROC_TICKS,   /**< nanoseconds in ticks */
	PROC_SECONDS, /**< nanoseconds in seconds with two decimals */
	PROC_PAGES,   /**< bytes in pages */
	PROC_KIB,     /**< bytes in KiB, in 8 columns, and the unit */
	PROC_SIGNALS, /**< the first 31 of a set of signals */
	PROC_OCTAL,   /**< four octal digits */
	PROC_HEX8,    /**< eight hexadecimal digits */
	PROC_HEX16,   /**< sixteen */
	PROC_HEX,     /**< as many as it takes, behind 0x */
	PROC_LIMIT,   /**< a limit of a resource, in 20 columns and a blank */
	PROC_LOAD,    /**< an average of load */
	PROC_NOTHING, /**< only what stands before it */
	PROC_WAITS,   /**< whether it waits: of its state, or of proc_wchan before 5.16 */
};

/** What files look like differs: bits of proc_view.has and of proc_item.wants. */
enum proc_feature {
	PROC_HAS_WAITS = 1,	  /**< stat tells whether a task waits, in a way that is known: since 5.16 */
	PROC_HAS_KTHREAD = 2,	  /**< status tells whether it is a kernel thread: since 6.5 */
	PROC_HAS_UNTAG_MASK = 4,  /**< status tells what bits of a pointer are an address: since 6.4 */
	PROC_HAS_AUTOGROUP = 32,  /**< there is a file autogroup, of processes only: CONFIG_SCHED_AUTOGROUP */
	PROC_IS_PROCESS = 64,	  /**< it is not in /proc/PID/task/TID */
	PROC_HAS_CPUSET = 16,	  /**< there is a file cpuset: CONFIG_PROC_PID_CPUSET */
	PROC_HAS_SPECULATION = 8, /**< status tells of speculation at indirect branches: since 5.11 */
};

struct proc_maker;

struct proc_item {
	const char *before;
	const char *column;
	enum proc_notation notation;
	unsigned int unless; /* missing for one of these reasons: `fixed` is printed */
	const char *fixed;   /* NULL: nothing at all, not even what stands before it */
	unsigned int wants;  /* only where the kernel has these features */
};

/* A value is missing for a reason for which the kernel prints a fixed text. */
#define NO_MM	    (1u << KW_ABSENT_NO_MM)
#define NO_MEMBER   (1u << KW_ABSENT_NO_MEMBER)
#define NO_OBJECT   (1u << KW_ABSENT_NULL | 1u << KW_ABSENT_NOT_APPLICABLE)
#define NOT_COUNTED (NO_OBJECT | NO_MEMBER)

#define VALUE_WHERE(before, column, notation, unless, fixed, wants) \
	{                                                           \
		before, column, notation, unless, fixed, wants      \
	}
#define VALUE_OR(before, column, notation, unless, fixed) \
	VALUE_WHERE(before, column, notation, unless, fixed, 0)
#define VALUE_UNLESS(before, column, notation, unless) VALUE_OR(before, column, notation, unless, NULL)
#define VALUE(before, column, notation)		       VALUE_OR(before, column, notation, 0, NULL)
#define TEXT_ONLY(text)				       VALUE_OR(text, NULL, PROC_TEXT, 0, NULL)

/** A file that can be made. All of it is static. */
struct proc_file {
	const char *name;
	enum proc_place place;
	const struct proc_item *items;
	size_t nr;	    /**< of items */
	unsigned int wants; /**< where the kernel has these features: enum proc_feature */
	bool is_private;    /**< only when it is asked for by its very name */
	bool (*make)(
		struct proc_maker *m); /**< writes the whole text instead of the items: see proc_maker.h */
};

#define PROC_FILE_WHERE(place, name, items, wants)                                         \
	{                                                                                  \
		name, place, items, sizeof(items) / sizeof((items)[0]), wants, false, NULL \
	}
#define PROC_FILE(place, name, items) PROC_FILE_WHERE(place, name, items, 0)
#define PROC_FILE_PRIVATE(place, name, items)                                         \
	{                                                                             \
		name, place, items, sizeof(items) / sizeof((items)[0]), 0, true, NULL \
	}
#define PROC_FILE_MADE(place, name, make)            \
	{                                            \
		name, place, NULL, 0, 0, false, make \
	}

/** The files of a subject. */
struct proc_file_list {
	const struct proc_file *file;
	size_t nr;
};

#define PROC_FILE_LIST(files)                           \
	{                                               \
		files, sizeof(files) / sizeof(files[0]) \
	}

extern const struct proc_file_list proc_task_files;
extern const struct proc_file_list proc_status_files;
extern const struct proc_file_list proc_limits_files;
extern const struct proc_file_list proc_maps_files;
extern const struct proc_file_list proc_system_files;

/** Return the i-th file, NULL past the last one. */
const struct proc_file *proc_file_at(size_t i);

/** How the files are looked at. */
struct proc_view {
	bool thread;	  /**< in /proc/PID/task/TID; false: a whole process, or the system */
	unsigned int has; /**< enum proc_feature */
};

/** Find out how the kernel of an opened target shows its files. */
void proc_view_init(kw_ctx *ctx, bool thread, struct proc_view *ret);

/** Tell whether that kernel has a file. */
bool proc_view_has(const struct proc_view *view, const struct proc_file *file);

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

/**
 * Write a value in a notation that looks at nothing else.
 *
 * @return false when it is of a type that can't be written so
 */
bool proc_put_value(FILE *out, enum proc_notation notation, const struct kw_value *v);

#endif
