/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines from a terminal with libedit. */
#include <errno.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/line_input.h"

#define HISTORY_LINES 1000
#define MAX_SHOWN     200 /* words */
#define WIDTH	      80

struct line_input {
	EditLine *edit;
	History *history;
	char *path; /* of the history, or NULL */
	const char *prompt;
	line_complete_fn complete;
	void *arg;
};

static char *give_prompt(EditLine *edit)
{
	struct line_input *in;

	el_get(edit, EL_CLIENTDATA, &in);
	return (char *)in->prompt;
}

static void list_words(const struct completion *c)
{
	size_t width = 0, columns, shown = c->nr < MAX_SHOWN ? c->nr : MAX_SHOWN;

	for (size_t i = 0; i < shown; i++)
		width = strlen(c->words[i]) > width ? strlen(c->words[i]) : width;
	columns = width + 2 < WIDTH ? WIDTH / (width + 2) : 1;
	putchar('\n');
	for (size_t i = 0; i < shown; i++)
		printf("%-*s%s", (int)width + 2, c->words[i], (i + 1) % columns && i + 1 < shown ? "" : "\n");
	if (shown < c->nr)
		printf("... %zu more\n", c->nr - shown);
	fflush(stdout);
}

/* Insert what all words have in common, or show them when that is there already. */
static unsigned char complete_word(EditLine *edit, int key)
{
	const LineInfo *line = el_line(edit);
	struct completion c = { 0 };
	struct line_input *in;
	unsigned char done = CC_ERROR;
	char *text;

	(void)key;
	el_get(edit, EL_CLIENTDATA, &in);
	text = strndup(line->buffer, (size_t)(line->cursor - line->buffer));
	if (!text)
		return CC_ERROR;
	in->complete(text, &c, in->arg);
	if (c.nr && *c.insert) {
		done = el_insertstr(edit, c.insert) ? CC_ERROR : CC_REFRESH;
	} else if (c.nr > 1) {
		list_words(&c);
		done = CC_REDISPLAY;
	}
	completion_free(&c);
	free(text);
	return done;
}

static void set_up(struct line_input *in)
{
	el_set(in->edit, EL_CLIENTDATA, in);
	el_set(in->edit, EL_PROMPT, give_prompt);
	el_set(in->edit, EL_EDITOR, "emacs");
	el_set(in->edit, EL_SIGNAL, 0);
	el_set(in->edit, EL_HIST, history, in->history);
	el_set(in->edit, EL_ADDFN, "kwalk-complete", "complete a word", complete_word);
	el_set(in->edit, EL_BIND, "^I", "kwalk-complete", NULL);
	el_set(in->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
}

struct line_input *line_input_new(line_complete_fn complete, void *arg, const char *path)
{
	struct line_input *in = calloc(1, sizeof(*in));
	HistEvent event;

	if (!in)
		return NULL;
	in->complete = complete;
	in->arg = arg;
	in->path = path ? strdup(path) : NULL;
	in->history = history_init();
	in->edit = el_init("kwalk", stdin, stdout, stderr);
	if (!in->history || !in->edit) {
		line_input_free(in);
		return NULL;
	}
	history(in->history, &event, H_SETSIZE, HISTORY_LINES);
	history(in->history, &event, H_SETUNIQUE, 1);
	if (in->path)
		history(in->history, &event, H_LOAD, in->path);
	set_up(in);
	return in;
}

enum line_result line_input_read(struct line_input *in, const char *prompt, char **ret)
{
	const char *line;
	int len = 0;

	in->prompt = prompt;
	errno = 0;
	line = el_gets(in->edit, &len);
	if (!line || len <= 0) {
		bool dropped = len < 0 && errno == EINTR;

		fputs(dropped ? "^C\n" : "\n", stdout);
		el_reset(in->edit);
		return dropped ? LINE_DROPPED : LINE_END;
	}
	*ret = strndup(line, strcspn(line, "\n"));
	return *ret ? LINE_READ : LINE_END;
}

/* Written at once, for the program may end in many ways. */
void line_input_remember(struct line_input *in, const char *text)
{
	HistEvent event;
	mode_t mask;

	history(in->history, &event, H_ENTER, text);
	if (!in->path)
		return;
	mask = umask(077);
	history(in->history, &event, H_SAVE, in->path);
	umask(mask);
}

void line_input_free(struct line_input *in)
{
	if (!in)
		return;
	if (in->edit)
		el_end(in->edit);
	if (in->history)
		history_end(in->history);
	free(in->path);
	free(in);
}
