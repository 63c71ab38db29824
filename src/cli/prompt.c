/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asking for queries on a terminal, of one target that stays open.
 *
 * A query is one of its own, and all else a script. What let and output say holds for what follows: they are put in front
 * of it as they were written.
 */
#include "cli/prompt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/line_input.h"

#define TEXT_MAX (256 * 1024)

static const char help[] =
	"A query, such as\n"
	"    tasks where rss > 1M select pid, comm, rss sort -rss limit 10\n"
	"    tasks where pid == 1 files\n"
	"    list(&modules, struct module, list) select name\n"
	"or a statement of a script:\n"
	"    let NAME = EXPRESSION         every 1s 5 times { ... }       print \"{system.load1}\"\n"
	"    when CONDITION { ... }        output json\n"
	"kwalk-query(7) describes both. One goes on in the next line while a bracket is open, and\n"
	"behind a comma or a backslash. Ctrl-C drops a line, or ends what runs; Tab completes.\n"
	"\n"
	"    help                this text\n"
	"    fields [SOURCE]     the sources, or the fields of one\n"
	"    explain QUERY       how its values would be fetched\n"
	"    format FORMAT       table, json, jsonl, csv or tsv\n"
	"    quit                as Ctrl-D\n";

struct prompt {
	struct cli *cli;
	struct line_input *input;
	char *pending; /* the lines of a statement so far */
	char *kept;    /* let and output */
	bool ended;
	int code;
};

static void interrupt(int number)
{
	(void)number;
	cli_interrupted = 1;
}

/* Scripts have a way of their own to be stopped, and leave the signal with it. */
static void catch_interrupt(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	cli_interrupted = 0;
	sigaction(SIGINT, &action, NULL);
}

/* Put a text behind another one, in a line of its own. False, and nothing done, without memory. */
static bool append(char **to, const char *text)
{
	char *both;

	if (asprintf(&both, "%s%s%s", *to ? *to : "", *to ? "\n" : "", text) < 0) {
		fputs("kwalk: out of memory\n", stderr);
		return false;
	}
	free(*to);
	*to = both;
	return true;
}

static void drop(char **text)
{
	free(*text);
	*text = NULL;
}

/* Words */

static size_t word_length(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	return len;
}

static bool begins_with(const char *text, const char *word)
{
	return word_length(text) == strlen(word) && strncmp(text, word, strlen(word)) == 0;
}

static const char *behind_word(const char *text)
{
	text += word_length(text);
	return text + strspn(text, " \t\n");
}

static bool has_word(const char *text, const char *word, size_t len)
{
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || !word_length(at - 1)) && word_length(at) == len)
			return true;
	return false;
}

/* Whether a statement ends here: no bracket is open, and no comma is the last. What is in quotes or a comment is none. */
static bool is_whole(const char *text)
{
	int depth = 0;
	char quote = 0, last = 0;

	for (; *text; text++) {
		if (quote) {
			if (*text == '\\' && text[1])
				text++;
			else if (*text == quote || *text == '\n')
				quote = 0;
		} else if (*text == '#') {
			text += strcspn(text, "\n");
			text -= !*text;
		} else {
			quote = *text == '"' || *text == '\'' ? *text : 0;
			depth += strchr("([{", *text) != NULL;
			depth -= strchr(")]}", *text) != NULL;
			last = isspace((unsigned char)*text) ? last : *text;
		}
	}
	return depth <= 0 && last != ',';
}

/* Statements */

static bool is_statement(const char *text)
{
	static const char *const words[] = { "param", "every", "when", "on", "print", "let", "output" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins_with(text, words[i]))
			return true;
	return false;
}

/* Whether it needs what was said before: an output, or a name that let gave to something. */
static bool uses_kept(const struct prompt *p, const char *text)
{
	for (const char *at = p->kept; at; at = strchr(at, '\n')) {
		char name[128];
		const char *word;
		size_t len;

		at += *at == '\n';
		word = behind_word(at);
		len = word_length(word);
		if (begins_with(at, "output"))
			return true;
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1),
			 word);
		if (begins_with(at, "let") && *name && has_word(text, name, len))
			return true;
	}
	return false;
}

static kw_status make_script(struct prompt *p, const char *text, kw_script **ret)
{
	char *all = p->kept ? strdup(p->kept) : NULL;
	kw_status status = KW_NOMEM;

	if (append(&all, text))
		status = kw_script_new(p->cli->ctx, "prompt", all, NULL, 0, ret);
	free(all);
	return status;
}

static void run_script(struct prompt *p, const char *text)
{
	kw_script *script;
	kw_status status = make_script(p, text, &script);

	if (status) {
		cli_fail(p->cli, status);
		return;
	}
	cli_script(p->cli, script);
	kw_script_free(script);
}

/* Keep what holds from now on, if it is well-formed. */
static void keep(struct prompt *p, const char *text)
{
	kw_script *script;
	kw_status status = make_script(p, text, &script);

	if (status) {
		cli_fail(p->cli, status);
		return;
	}
	kw_script_free(script);
	append(&p->kept, text);
}

static void run_query(struct prompt *p, const char *text, bool explain)
{
	kw_query *query;
	kw_status status = kw_query_compile(p->cli->ctx, text, &query);

	if (status)
		cli_fail(p->cli, status);
	else
		cli_query(p->cli, query, false, explain);
}

static void list_fields(const char *source)
{
	const struct kw_source *known;
	const struct kw_field *field;

	if (*source && !kw_source_find(source)) {
		fprintf(stderr, "kwalk: unknown source \"%s\"; fields lists all\n", source);
		return;
	}
	for (size_t i = 0; !*source && (known = kw_source_at(i)); i++)
		printf("%-15s %s\n", known->name, known->help);
	for (size_t i = 0; *source && (field = kw_field_at(source, i)); i++)
		printf("%-20s %s\n", field->name, field->help);
}

static void leave(struct prompt *p, const char *code)
{
	p->ended = true;
	p->code = isdigit((unsigned char)*code) ? atoi(code) & 255 : EXIT_OK;
}

static void obey(struct prompt *p, const char *text)
{
	const char *argument = behind_word(text);

	if (begins_with(text, "help"))
		fputs(help, stdout);
	else if (begins_with(text, "quit") || (begins_with(text, "exit") && !strstr(text, " if ")))
		leave(p, argument);
	else if (begins_with(text, "fields"))
		list_fields(argument);
	else if (begins_with(text, "explain"))
		run_query(p, argument, true);
	else if (begins_with(text, "format")) {
		if (!cli_format(p->cli, argument))
			fprintf(stderr, "kwalk: unknown format \"%s\": table, json, jsonl, csv or tsv\n",
				argument);
	} else if (begins_with(text, "let") || begins_with(text, "output"))
		keep(p, text);
	else if (is_statement(text) || uses_kept(p, text))
		run_script(p, text);
	else
		run_query(p, text, false);
}

/* Lines */

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t\n");
}

static void take_text(struct prompt *p)
{
	char *text = trim(p->pending);

	if (*text && *text != '#') {
		line_input_remember(p->input, text);
		obey(p, text);
		fflush(stdout);
	}
	drop(&p->pending);
}

static void take_line(struct prompt *p, char *line)
{
	size_t len = strlen(line);
	bool goes_on = len && line[len - 1] == '\\';

	if (goes_on)
		line[len - 1] = ' ';
	if (!append(&p->pending, line) || strlen(p->pending) > TEXT_MAX) {
		fputs("kwalk: this is too long\n", stderr);
		drop(&p->pending);
	} else if (!goes_on && is_whole(p->pending)) {
		take_text(p);
	}
}

static void complete(const char *text, struct completion *ret, void *arg)
{
	struct prompt *p = arg;
	char *all = p->pending ? strdup(p->pending) : NULL;

	if (append(&all, text))
		complete_text(p->cli, all, ret);
	free(all);
}

static void converse(struct prompt *p)
{
	while (!p->ended) {
		char *line = NULL;

		catch_interrupt();
		switch (line_input_read(p->input, p->pending ? "  ...> " : "kwalk> ", &line)) {
		case LINE_READ: take_line(p, line); break;
		case LINE_DROPPED: drop(&p->pending); break;
		case LINE_END: p->ended = true; break;
		}
		free(line);
	}
}

int prompt_run(struct cli *cli)
{
	struct prompt p = { .cli = cli };
	char *path;
	int code;

	cli->repeats = true;
	code = cli_open(cli);
	if (code)
		return code;
	path = history_path();
	p.input = line_input_new(complete, &p, path);
	free(path);
	if (!p.input) {
		fputs("kwalk: out of memory\n", stderr);
		return EXIT_UNREADABLE;
	}
	printf("kwalk %s: help tells what can be asked, Ctrl-D ends\n", kw_version());
	converse(&p);
	line_input_free(p.input);
	drop(&p.pending);
	drop(&p.kept);
	return p.code;
}
