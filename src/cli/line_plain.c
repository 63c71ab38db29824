/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines from a terminal as they come: what is there without libedit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/line_input.h"

struct line_input {
	int unused;
};

struct line_input *line_input_new(line_complete_fn complete, void *arg, const char *history)
{
	(void)complete;
	(void)arg;
	(void)history;
	return calloc(1, sizeof(struct line_input));
}

enum line_result line_input_read(struct line_input *in, const char *prompt, char **ret)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	(void)in;
	fputs(prompt, stdout);
	fflush(stdout);
	errno = 0;
	len = getline(&line, &size, stdin);
	if (len < 0) {
		bool dropped = errno == EINTR;

		free(line);
		clearerr(stdin);
		putchar('\n');
		return dropped ? LINE_DROPPED : LINE_END;
	}
	line[strcspn(line, "\n")] = '\0';
	*ret = line;
	return LINE_READ;
}

void line_input_remember(struct line_input *in, const char *text)
{
	(void)in;
	(void)text;
}

void line_input_free(struct line_input *in)
{
	free(in);
}
