/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines from a terminal with libedit, which is loaded for the prompt alone: linking it would cost every start of every
 * command its loading. Where it is not installed lines are read as they come.
 */
#include <dlfcn.h>
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/line_input.h"

#define HISTORY_LINES 1000
#define MAX_SHOWN     200 /* words */
#define WIDTH	      80

/* Each becomes a member of struct libedit, of its own type and name. */
#define FUNCTIONS(F)    \
	F(el_init)      \
	F(el_end)       \
	F(el_reset)     \
	F(el_gets)      \
	F(el_set)       \
	F(el_wset)      \
	F(el_line)      \
	F(el_insertstr) \
	F(history_init) \
	F(history_end)  \
	F(history)

struct libedit {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

struct line_input {
	struct libedit lib;
	EditLine *edit; /* NULL without libedit, as is history */
	History *history;
	char *path; /* of the history, or NULL */
	const char *prompt;
	line_complete_fn complete;
	void *arg;
	sigset_t waiting; /* signals that are blocked while it waits for a key; SIGINT is one of them at all other times */
};

static struct line_input *reader; /* libedit's callbacks have no other way to it than through libedit */

static bool load(struct libedit *lib)
{
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
	bool all = library != NULL;

#define FIND(name)                                                     \
	*(void **)&lib->name = library ? dlsym(library, #name) : NULL; \
	all &= lib->name != NULL;
	FUNCTIONS(FIND)
#undef FIND
	return all;
}

static char *give_prompt(EditLine *edit)
{
	(void)edit;
	return (char *)reader->prompt;
}

static bool is_interrupted(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

/*
 * Wait for a key. Ctrl-C ends that, whenever it comes: it is let in nowhere else, so that one typed while words are
 * completed is not lost. It comes before the keys that were typed behind it, which ppoll() alone would take first.
 */
static int get_key(EditLine *edit, wchar_t *ret)
{
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
	mbstate_t state = { 0 };
	size_t len = (size_t)-2;
	char byte;

	(void)edit;
	while (len == (size_t)-2) {
		ssize_t got = ppoll(&input, 1, NULL, &reader->waiting);

		if (got > 0 && is_interrupted())
			got = ppoll(NULL, 0, NULL, &reader->waiting);
		if (got > 0)
			got = read(STDIN_FILENO, &byte, 1);
		if (got <= 0)
			return (int)got;
		len = mbrtowc(ret, &byte, 1, &state);
	}
	if (len == (size_t)-1)
		*ret = L'?'; /* no character in this locale */
	return 1;
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
	struct line_input *in = reader;
	const LineInfo *line = in->lib.el_line(edit);
	struct completion c = { 0 };
	unsigned char done = CC_ERROR;
	char *text;

	(void)key;
	text = strndup(line->buffer, (size_t)(line->cursor - line->buffer));
	if (!text)
		return CC_ERROR;
	in->complete(text, &c, in->arg);
	if (c.nr && *c.insert) {
		done = in->lib.el_insertstr(edit, c.insert) ? CC_ERROR : CC_REFRESH;
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
	const struct libedit *lib = &in->lib;
	HistEvent event;

	lib->history(in->history, &event, H_SETSIZE, HISTORY_LINES);
	lib->history(in->history, &event, H_SETUNIQUE, 1);
	if (in->path)
		lib->history(in->history, &event, H_LOAD, in->path);
	lib->el_set(in->edit, EL_PROMPT, give_prompt);
	lib->el_set(in->edit, EL_EDITOR, "emacs");
	lib->el_set(in->edit, EL_SIGNAL, 0);
	lib->el_set(in->edit, EL_GETCFN, get_key);
	lib->el_set(in->edit, EL_HIST, lib->history, in->history);
	/* el_set() would copy the two texts and forget them. */
	lib->el_wset(in->edit, EL_ADDFN, L"kwalk-complete", L"complete a word", complete_word);
	lib->el_set(in->edit, EL_BIND, "^I", "kwalk-complete", NULL);
	lib->el_set(in->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
}

struct line_input *line_input_new(line_complete_fn complete, void *arg, const char *path)
{
	struct line_input *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->complete = complete;
	in->arg = arg;
	reader = in;
	if (!load(&in->lib))
		return in;
	in->path = path ? strdup(path) : NULL;
	in->history = in->lib.history_init();
	in->edit = in->lib.el_init("kwalk", stdin, stdout, stderr);
	if (!in->history || !in->edit) {
		line_input_free(in);
		return NULL;
	}
	set_up(in);
	return in;
}

static enum line_result read_plain(const char *prompt, char **ret)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

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

enum line_result line_input_read(struct line_input *in, const char *prompt, char **ret)
{
	const char *line;
	sigset_t interrupt;
	int len = 0;

	if (!in->edit)
		return read_plain(prompt, ret);
	in->prompt = prompt;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, &in->waiting);
	errno = 0;
	line = in->lib.el_gets(in->edit, &len);
	len = len < 0 && errno == EINTR ? -EINTR : len;
	pthread_sigmask(SIG_SETMASK, &in->waiting, NULL);
	if (!line || len <= 0) {
		bool dropped = len == -EINTR;

		fputs(dropped ? "^C\n" : "\n", stdout);
		in->lib.el_reset(in->edit);
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

	if (!in->edit)
		return;
	in->lib.history(in->history, &event, H_ENTER, text);
	if (!in->path)
		return;
	mask = umask(077);
	in->lib.history(in->history, &event, H_SAVE, in->path);
	umask(mask);
}

void line_input_free(struct line_input *in)
{
	if (!in)
		return;
	if (in->edit)
		in->lib.el_end(in->edit);
	if (in->history)
		in->lib.history_end(in->history);
	free(in->path);
	free(in);
}
