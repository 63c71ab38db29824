/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Completing words of the query language, by what stands in front of them:
 *
 *     the first word of a statement      sources, walkers, statements
 *     behind "struct"                    structures
 *     & and the first of per_cpu(        symbols
 *     a path                             members
 *     elsewhere                          clauses, fields of the sources of the statement, functions
 */
#include "cli/complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS   5000
#define MAX_NAME    128
#define MAX_NESTING 4 /* of anonymous structures */

struct search {
	struct cli *cli;
	const char *text, *word; /* the word under way, at the end of the text */
	const char *prefix;	 /* of it, what is looked for: the part behind & or the last dot */
	struct completion *found;
};

static void offer(struct search *s, const char *name)
{
	struct completion *c = s->found;

	if (!*name || strncmp(name, s->prefix, strlen(s->prefix)) != 0 || c->nr == MAX_WORDS)
		return;
	if (c->nr == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 64;
		char **words = realloc(c->words, cap * sizeof(*words));

		if (!words)
			return;
		c->words = words;
		c->cap = cap;
	}
	c->words[c->nr] = strdup(name);
	c->nr += c->words[c->nr] != NULL;
}

static void offer_all(struct search *s, const char *const *names)
{
	for (; *names; names++)
		offer(s, *names);
}

/* What is offered */

static void offer_beginnings(struct search *s)
{
	static const char *const words[] = { "list(",  "hlist(",  "rbtree(", "xarray(", "maple(",
					     "array(", "percpu(", "let",     "every",	"when",
					     "on",     "print",	  "output",  "exit",	"help",
					     "fields", "explain", "format",  "quit",	NULL };
	const struct kw_source *source;

	for (size_t i = 0; (source = kw_source_at(i)); i++)
		offer(s, source->name);
	offer_all(s, words);
}

static void offer_clauses(struct search *s)
{
	static const char *const words[] = {
		"where",  "select", "group", "by",   "sort",	"limit",  "distinct", "as",	 "and",
		"or",	  "not",    "in",    "is",   "absent",	"like",	  "struct",   "hex(",	 "str(",
		"len(",	  "age(",   "sym(",  "abs(", "rate(",	"delta(", "per_cpu(", "count(",	 "sum(",
		"min(",	  "max(",   "avg(",  "p50(", "p99(",	"list(",  "hlist(",   "rbtree(", "xarray(",
		"maple(", "array(", "files", "vmas", "system.", "outer.", NULL
	};

	offer_all(s, words);
}

static bool offer_symbol(const char *name, uint64_t addr, char letter, void *arg)
{
	struct search *s = arg;

	(void)addr;
	(void)letter;
	offer(s, name);
	return s->found->nr < MAX_WORDS;
}

static void offer_struct(const char *name, void *arg)
{
	offer(arg, name);
}

static void offer_members(struct search *s, const struct kw_type *type, unsigned int depth)
{
	struct kw_member member;

	for (uint32_t i = 0; kw_type_member_at(s->cli->ctx, type, i, &member) == KW_OK; i++) {
		const struct kw_type *inner = kw_type_strip(s->cli->ctx, member.type);
		bool compound = inner->kind == KW_TYPE_STRUCT || inner->kind == KW_TYPE_UNION;

		if (*member.name)
			offer(s, member.name);
		else if (compound && depth < MAX_NESTING)
			offer_members(s, inner, depth + 1);
	}
}

/* Paths */

static const struct kw_type *target_of(struct cli *cli, const struct kw_type *type)
{
	type = kw_type_strip(cli->ctx, type);
	while (type->kind == KW_TYPE_POINTER || type->kind == KW_TYPE_ARRAY)
		type = kw_type_strip(cli->ctx, kw_type_target(cli->ctx, type));
	return type;
}

/* Cut the next name off a path; what is between them (dots, arrows, indices) is passed by. */
static const char *next_name(const char *at, char *name)
{
	size_t len = 0;

	while (*at && !isalpha((unsigned char)*at) && *at != '_')
		at += *at == '[' ? strcspn(at, "]") : 1;
	while ((isalnum((unsigned char)at[len]) || at[len] == '_') && len + 1 < MAX_NAME) {
		name[len] = at[len];
		len++;
	}
	name[len] = '\0';
	return at + len;
}

/* Paths begin in the row: of tasks and threads a task_struct, which may be called so. */
static void offer_path(struct search *s)
{
	const char *at = s->word + (*s->word == '&'), *next;
	const struct kw_type *type;
	struct kw_member member;
	char name[MAX_NAME];

	if (kw_type_find(s->cli->ctx, "struct task_struct", &type) != KW_OK)
		return;
	if (strncmp(at, "task.", 5) == 0 || strncmp(at, "task->", 6) == 0)
		at += 4;
	for (;;) {
		next = next_name(at, name);
		if (!*name || next > s->prefix)
			break;
		if (kw_type_member(s->cli->ctx, type, name, &member) != KW_OK)
			return;
		type = target_of(s->cli, member.type);
		at = next;
	}
	offer_members(s, type, 0);
}

/* Where the word stands */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '&' || c == '[' || c == ']';
}

/* The statement under way begins behind the last of { } ; */
static const char *statement(const char *text)
{
	const char *begin = text;

	for (; *text; text++)
		if (strchr("{};", *text))
			begin = text + 1;
	return begin + strspn(begin, " \t\n");
}

static bool follows(const struct search *s, const char *word)
{
	const char *end = s->word;
	size_t len = strlen(word);

	while (end > s->text && isspace((unsigned char)end[-1]))
		end--;
	return (size_t)(end - s->text) >= len && memcmp(end - len, word, len) == 0;
}

static void offer_fields_of(struct search *s, const char *source)
{
	const struct kw_field *field;

	for (size_t i = 0; kw_source_find(source) && (field = kw_field_at(source, i)); i++)
		offer(s, field->name);
}

/* Those of each source that is named in the statement. */
static void offer_fields(struct search *s)
{
	const char *at = statement(s->text);
	char name[MAX_NAME];

	if (strncmp(s->word, "system.", 7) == 0) {
		offer_fields_of(s, "system");
		return;
	}
	while (at < s->word) {
		at = next_name(at, name);
		if (at < s->word)
			offer_fields_of(s, name);
	}
}

static bool is_path(const struct search *s)
{
	return strpbrk(s->word, ".>") && strncmp(s->word, "system.", 7) != 0 &&
	       strncmp(s->word, "outer.", 6) != 0;
}

static void look(struct search *s)
{
	if ((*s->word == '&' && !is_path(s)) || follows(s, "per_cpu(") || follows(s, "percpu("))
		kw_symbols_each(s->cli->ctx, offer_symbol, s);
	else if (follows(s, "struct"))
		kw_structs_each(s->cli->ctx, offer_struct, s);
	else if (is_path(s))
		offer_path(s);
	else if (s->word == statement(s->text) || follows(s, "on new") || follows(s, "on exit") ||
		 follows(s, "explain") || follows(s, "fields"))
		offer_beginnings(s);
	else {
		if (!strchr(s->word, '.'))
			offer_clauses(s);
		offer_fields(s);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_words(struct completion *c)
{
	size_t kept = 0;

	if (c->nr)
		qsort(c->words, c->nr, sizeof(*c->words), by_text);
	for (size_t i = 0; i < c->nr; i++) {
		if (kept && strcmp(c->words[kept - 1], c->words[i]) == 0)
			free(c->words[i]);
		else
			c->words[kept++] = c->words[i];
	}
	c->nr = kept;
}

/* What all words go on with behind the prefix, and a blank behind one that is alone. */
static void find_insert(struct completion *c, size_t prefix)
{
	const char *first = c->nr ? c->words[0] : "", *last = c->nr ? c->words[c->nr - 1] : "";
	size_t common = 0, len;

	while (first[common] && first[common] == last[common])
		common++;
	len = common > prefix ? common - prefix : 0;
	c->insert = calloc(1, len + 2);
	if (!c->insert)
		return;
	memcpy(c->insert, first + prefix * (len > 0), len);
	if (c->nr == 1 && !strchr("(.", first[common ? common - 1 : 0]))
		c->insert[len] = ' ';
}

void complete_text(struct cli *cli, const char *text, struct completion *ret)
{
	struct search s = { cli, text, text + strlen(text), NULL, ret };

	while (s.word > text &&
	       (is_word_char(s.word[-1]) || (s.word - text > 1 && s.word[-1] == '>' && s.word[-2] == '-') ||
		(s.word[-1] == '-' && s.word[0] == '>')))
		s.word--;
	s.prefix = text + strlen(text);
	while (s.prefix > s.word && (isalnum((unsigned char)s.prefix[-1]) || s.prefix[-1] == '_'))
		s.prefix--;
	look(&s);
	sort_words(ret);
	find_insert(ret, strlen(s.prefix));
}

void completion_free(struct completion *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->words[i]);
	free(c->words);
	free(c->insert);
	*c = (struct completion){ 0 };
}
