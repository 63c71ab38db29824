/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines from a terminal: with editing, history and completion where libedit is installed, else as they come. */
#ifndef CLI_LINE_INPUT_H
#define CLI_LINE_INPUT_H

#include "cli/complete.h"

enum line_result { LINE_READ, LINE_DROPPED /* by Ctrl-C */, LINE_END };

struct line_input;

/** Called with what stands in front of the cursor. */
typedef void (*line_complete_fn)(const char *text, struct completion *ret, void *arg);

/**
 * Begin to read from the terminal.
 *
 * @param history  a file, or NULL for none that lasts
 * @return to be freed with line_input_free(); NULL when memory runs out
 */
struct line_input *line_input_new(line_complete_fn complete, void *arg, const char *history);

/**
 * Read a line.
 *
 * @param prompt  lives until the call returns
 * @param ret  without its newline; to be freed by the caller
 */
enum line_result line_input_read(struct line_input *in, const char *prompt, char **ret);

/** Add a text to the history. */
void line_input_remember(struct line_input *in, const char *text);

void line_input_free(struct line_input *in);

/** Return the name of the history file, to be freed; NULL when there is no place for one that is the user's own. */
char *history_path(void);

#endif
