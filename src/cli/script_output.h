/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the rows and texts of a script go: standard output, or a file that is rotated.
 *
 * What goes to a file is collected in memory and written at the end of each tick in one piece; what can't be written
 * whole is taken back, so that no file ends in half a row.
 */
#ifndef CLI_SCRIPT_OUTPUT_H
#define CLI_SCRIPT_OUTPUT_H

#include "cli/cli.h"

struct script_output {
	struct cli *cli;
	struct kw_script_output how;
	FILE *out;     /* standard output, or memory */
	char *buffer;  /* of a file */
	size_t length; /* of it */
	int fd;	       /* of the file, else -1 */
	uint64_t size, opened;
	kw_writer *writer;
	unsigned int line; /* of the statement whose rows are written */
	bool has_columns;  /* the file holds the heading of these columns */
	size_t nr_columns;
	char *heading; /* of a file that is rotated: of the columns that are written; NULL: there is none */
	char *amid_heading; /* what rows without one at the beginning of the buffer go on with; NULL: it begins with one */
	struct kw_column *columns;
	struct kw_value *values;
	bool is_time_shown, is_anything_shown;
	bool is_failing; /* the last write failed, which has been told */
	int code;	 /* worst exit code so far */
};

/** Begin with standard output and the format of the command line. */
void script_output_begin(struct script_output *o, struct cli *cli);

/** Write what is left; returns the worst exit code. */
int script_output_end(struct script_output *o);

/* The sink's functions, with the script_output as arg. */

bool script_output_row(const struct kw_script_block *block, const struct kw_value *values, bool first,
		       void *arg);
bool script_output_end_block(const struct kw_script_block *block, void *arg);
bool script_output_print(const char *text, size_t len, const struct kw_sample *sample, void *arg);
bool script_output_change(const struct kw_script_output *how, void *arg);
bool script_output_tick(const struct kw_sample *sample, void *arg);

#endif
