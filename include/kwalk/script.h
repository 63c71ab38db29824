/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scripts in the query language: programs that watch. kwalk-query(7) describes the language.
 *
 * A script runs in the caller's thread and hands what it gives to a sink: the rows of its queries, printed texts, and
 * where its output is to go. Each tick of a loop is one pass over memory: all of its queries see one sample.
 */
#ifndef KWALK_SCRIPT_H
#define KWALK_SCRIPT_H

#include <kwalk/context.h>
#include <kwalk/output.h>
#include <kwalk/query.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_script kw_script;

/** One tick of a loop. */
struct kw_sample {
	uint64_t tick;	    /**< number, from 0 on */
	uint64_t monotonic; /**< host's CLOCK_MONOTONIC when it began, in ns */
	uint64_t realtime;  /**< host's CLOCK_REALTIME, in ns since the epoch */
	uint64_t missed;    /**< ticks since the one before that could not be kept */
};

/** A statement that gives rows. */
struct kw_script_block {
	unsigned int line; /**< in the script: tells statements apart */
	const struct kw_column *columns;
	size_t nr_columns;
	const struct kw_sample *sample; /**< NULL outside of a loop */
};

/** Where output is to go from here on, as an output statement says it. */
struct kw_script_output {
	enum kw_format format;
	const char *path;     /**< NULL: standard output */
	uint64_t rotate_size; /**< begin a new file before one grows beyond so many bytes; 0: not by size */
	uint64_t rotate_time; /**< begin a new file after so many ns; 0: not by time */
	unsigned int keep;    /**< old files that are kept */
	bool go_on;	      /**< the script goes on when the file takes nothing any more */
};

/** Who takes what a script gives; begins with its own size. Each returns false to end the script. */
struct kw_script_sink {
	size_t size;
	void *arg;
	/** A row of a block; the first row of a run comes with first set. */
	bool (*row)(const struct kw_script_block *block, const struct kw_value *values, bool first,
		    void *arg);
	/** The rows of a block have been handed out, if there were any. */
	bool (*end)(const struct kw_script_block *block, void *arg);
	/** A printed text, without a newline at its end. */
	bool (*print)(const char *text, size_t len, const struct kw_sample *sample, void *arg);
	bool (*output)(const struct kw_script_output *output, void *arg);
	/** A tick is over: what is buffered can be written. */
	bool (*tick)(const struct kw_sample *sample, void *arg);
	/** Something could not be read wholly, or a query failed: the message is kw_error()'s. */
	void (*warn)(kw_status status, void *arg);
};

/**
 * Make a script of its text: all of it is parsed and bound, and nothing is read.
 *
 * @param name  of the text in messages, such as the file's
 * @param args  values of its parameters: NAME=VALUE, or values in the order of the parameters
 * @param ret  set to a script of this context, which the caller frees with kw_script_free()
 * @return KW_OK; KW_INVALID or KW_NOTFOUND with a message that shows the line and what was expected there
 */
KW_API kw_status kw_script_new(kw_ctx *ctx, const char *name, const char *text, const char *const *args,
			       size_t nr_args, kw_script **ret);

/** Free a script. NULL is accepted. */
KW_API void kw_script_free(kw_script *script);

/**
 * Run a script to its end.
 *
 * @param ret_exit  set to the code of the exit statement that ended it, else 0
 * @return KW_OK; KW_INCOMPLETE when something could not be read, which the sink was told; why it could not go on
 */
KW_API kw_status kw_script_run(kw_script *script, const struct kw_script_sink *sink, int *ret_exit);

/** End a script that is running, after the statement that it is at. May be called by a signal handler. */
KW_API void kw_script_stop(kw_script *script);

#ifdef __cplusplus
}
#endif

#endif
