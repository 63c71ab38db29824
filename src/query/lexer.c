/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cutting a program into words. */
#include "query/lexer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define SHOWN_WIDTH 100 /* columns of a line that a message shows */

/* Messages */

struct place {
	const char *line; /* where it begins */
	size_t len, number, column;
};

static struct place find_place(const struct kw_program_text *text, const char *at)
{
	struct place p = { .line = text->text, .number = 1 };

	for (const char *c = text->text; c < at; c++) {
		if (*c == '\n') {
			p.line = c + 1;
			p.number++;
		}
	}
	p.len = strcspn(p.line, "\n");
	p.column = (size_t)(at - p.line);
	return p;
}

/* The line, or the part of a long one that is around the place; what is not printable as a blank. */
static void show_line(const struct place *p, char *buf, size_t *ret_caret)
{
	size_t first = p->column > SHOWN_WIDTH / 2 && p->len > SHOWN_WIDTH ? p->column - SHOWN_WIDTH / 2 : 0;
	size_t len = p->len - first > SHOWN_WIDTH ? SHOWN_WIDTH : p->len - first;

	for (size_t i = 0; i < len; i++)
		buf[i] = isprint((unsigned char)p->line[first + i]) ? p->line[first + i] : ' ';
	while (len && buf[len - 1] == ' ')
		len--;
	buf[len] = '\0';
	*ret_caret = p->column - first;
}

static kw_status fail_at(kw_ctx *ctx, const struct kw_program_text *text, const char *at, kw_status status,
			 const char *message)
{
	struct place p = find_place(text, at);
	char line[SHOWN_WIDTH + 1];
	size_t caret;

	show_line(&p, line, &caret);
	return kw_fail(ctx, status, "%s:%zu:%zu: %s\n    %s\n    %*s^", text->name, p.number, p.column + 1,
		       message, line, (int)caret, "");
}

kw_status kw_program_fail(kw_ctx *ctx, const struct kw_program_text *text, const char *at, kw_status status,
			  const char *fmt, ...)
{
	va_list args;
	char *message = NULL;

	va_start(args, fmt);
	if (vasprintf(&message, fmt, args) < 0)
		message = NULL;
	va_end(args);
	status = message ? fail_at(ctx, text, at, status, message) : kw_fail_nomem(ctx);
	free(message);
	return status;
}

kw_status kw_program_fail_at(kw_ctx *ctx, const struct kw_program_text *text, const char *at)
{
	char *message = strdup(kw_error(ctx));
	kw_status status = message ? fail_at(ctx, text, at, ctx->status, message) : kw_fail_nomem(ctx);

	free(message);
	return status;
}

/* Tokens */

static const struct {
	char text[3];
	int mark;
} marks[] = {
	{ "==", KW_MARK_EQ },  { "!=", KW_MARK_NE },  { "<=", KW_MARK_LE },    { ">=", KW_MARK_GE },
	{ "<<", KW_MARK_SHL }, { ">>", KW_MARK_SHR }, { "->", KW_MARK_ARROW }, { "!~", KW_MARK_NO_MATCH },
	{ "&&", KW_MARK_AND }, { "||", KW_MARK_OR },
};

static const struct {
	const char *name;
	enum kw_unit unit;
	uint64_t factor;
} units[] = {
	{ "B", KW_UNIT_BYTES, 1 },
	{ "K", KW_UNIT_BYTES, 1ULL << 10 },
	{ "M", KW_UNIT_BYTES, 1ULL << 20 },
	{ "G", KW_UNIT_BYTES, 1ULL << 30 },
	{ "T", KW_UNIT_BYTES, 1ULL << 40 },
	{ "KiB", KW_UNIT_BYTES, 1ULL << 10 },
	{ "MiB", KW_UNIT_BYTES, 1ULL << 20 },
	{ "GiB", KW_UNIT_BYTES, 1ULL << 30 },
	{ "TiB", KW_UNIT_BYTES, 1ULL << 40 },
	{ "ns", KW_UNIT_NANOSECONDS, 1 },
	{ "us", KW_UNIT_NANOSECONDS, 1000 },
	{ "ms", KW_UNIT_NANOSECONDS, 1000000 },
	{ "s", KW_UNIT_NANOSECONDS, 1000000000 },
	{ "m", KW_UNIT_NANOSECONDS, 60ULL * 1000000000 },
	{ "h", KW_UNIT_NANOSECONDS, 3600ULL * 1000000000 },
	{ "d", KW_UNIT_NANOSECONDS, 86400ULL * 1000000000 },
};

#define NR_UNITS (sizeof(units) / sizeof(units[0]))

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void wrong(struct kw_lexer *lexer, struct kw_token *token, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void wrong(struct kw_lexer *lexer, struct kw_token *token, const char *at, const char *fmt, ...)
{
	char message[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	kw_program_fail(lexer->ctx, lexer->text, at, KW_INVALID, "%s", message);
	token->kind = KW_TOKEN_WRONG;
}

static void skip_blanks(struct kw_lexer *lexer, struct kw_token *token)
{
	const char *at = lexer->at;

	token->first_on_line = at == lexer->text->text;
	for (;; at++) {
		if (*at == '\n')
			token->first_on_line = true;
		else if (*at == '#')
			at += strcspn(at, "\n") - 1;
		else if (*at != ' ' && *at != '\t' && *at != '\r')
			break;
	}
	token->glued = at == lexer->at;
	lexer->at = at;
}

static void unknown_unit(struct kw_lexer *lexer, struct kw_token *token, const char *at, size_t len)
{
	wrong(lexer, token, at,
	      "unknown unit \"%.*s\"; sizes are in B K M G T, times in ns us ms s m h d, shares in %%",
	      (int)(len > 40 ? 40 : len), at);
}

static void scale(struct kw_lexer *lexer, struct kw_token *token, size_t unit)
{
	token->unit = units[unit].unit;
	if (token->is_float)
		token->f *= (double)units[unit].factor;
	else if (__builtin_mul_overflow(token->u, units[unit].factor, &token->u))
		wrong(lexer, token, token->at, "the number is too large: it has to be below 2^64");
}

/* The unit behind a number. A % in front of an operand is the remainder's. */
static void take_unit(struct kw_lexer *lexer, struct kw_token *token)
{
	const char *at = lexer->at;
	size_t len = 0;

	if (*at == '%' && !is_name_char(at[1]) && at[1] != '(') {
		lexer->at++;
		token->unit = KW_UNIT_PERCENT;
		return;
	}
	while (is_name_char(at[len]))
		len++;
	if (!len)
		return;
	lexer->at += len;
	for (size_t i = 0; i < NR_UNITS; i++) {
		if (strlen(units[i].name) == len && memcmp(units[i].name, at, len) == 0) {
			scale(lexer, token, i);
			return;
		}
	}
	unknown_unit(lexer, token, at, len);
}

static bool take_digits(struct kw_lexer *lexer, struct kw_token *token, unsigned int base)
{
	bool fits = true;

	for (;; lexer->at++) {
		int c = (unsigned char)*lexer->at;
		unsigned int digit = isdigit(c) ? (unsigned int)c - '0' : (unsigned int)(c | 0x20) - 'a' + 10;

		if (!isxdigit(c) || digit >= base)
			break;
		if (__builtin_mul_overflow(token->u, base, &token->u) ||
		    __builtin_add_overflow(token->u, digit, &token->u))
			fits = false;
	}
	return fits;
}

static void take_hex(struct kw_lexer *lexer, struct kw_token *token)
{
	lexer->at += 2;
	if (!isxdigit((unsigned char)*lexer->at))
		wrong(lexer, token, token->at, "expected hexadecimal digits behind 0x");
	else if (!take_digits(lexer, token, 16))
		wrong(lexer, token, token->at, "the number is too large: it has to be below 2^64");
	else if (is_name_char(*lexer->at))
		wrong(lexer, token, lexer->at, "\"%c\" is no hexadecimal digit", *lexer->at);
}

static void take_number(struct kw_lexer *lexer, struct kw_token *token)
{
	bool fits;

	token->kind = KW_TOKEN_NUMBER;
	if (lexer->at[0] == '0' && (lexer->at[1] | 0x20) == 'x') {
		take_hex(lexer, token);
		return;
	}
	fits = take_digits(lexer, token, 10);
	if (*lexer->at == '.' && isdigit((unsigned char)lexer->at[1])) {
		/* The digits alone: strtod() would take an exponent, which a unit may look like, and a locale's comma. */
		double place = 1;

		token->is_float = true;
		token->f = (double)token->u;
		for (lexer->at++; isdigit((unsigned char)*lexer->at); lexer->at++)
			token->f += (*lexer->at - '0') * (place /= 10);
	}
	if (!fits)
		wrong(lexer, token, token->at, "the number is too large: it has to be below 2^64");
	else
		take_unit(lexer, token);
}

/* \xNN, or one character. Returns its length, 0 for none. */
static size_t escape_at(const char *at, char *ret)
{
	static const char from[] = "nt\\\"'", to[] = "\n\t\\\"'";
	const char *known = at[1] ? strchr(from, at[1]) : NULL;
	char digits[3] = { 0 };

	if (known) {
		*ret = to[known - from];
		return 2;
	}
	if (at[1] != 'x' || !isxdigit((unsigned char)at[2]) || !isxdigit((unsigned char)at[3]))
		return 0;
	memcpy(digits, at + 2, 2);
	*ret = (char)strtoul(digits, NULL, 16);
	return 4;
}

static void take_string(struct kw_lexer *lexer, struct kw_token *token)
{
	char quote = *lexer->at++, unused;

	token->kind = KW_TOKEN_STRING;
	while (*lexer->at != quote) {
		size_t len = *lexer->at == '\\' ? escape_at(lexer->at, &unused) : 1;

		if (!*lexer->at || *lexer->at == '\n') {
			wrong(lexer, token, token->at,
			      "the text is not closed: expected %c before the line ends", quote);
			return;
		}
		if (!len) {
			wrong(lexer, token, lexer->at,
			      "unknown escape; there are \\n \\t \\\\ \\\" \\' and \\xNN, and a regular expression's "
			      "backslash is written twice");
			return;
		}
		lexer->at += len;
	}
	lexer->at++;
}

size_t kw_token_string(const struct kw_token *token, char *buf)
{
	const char *at = token->at + 1, *end = token->at + token->len - 1;
	size_t len = 0;

	while (at < end) {
		if (*at == '\\')
			at += escape_at(at, &buf[len++]);
		else
			buf[len++] = *at++;
	}
	return len;
}

static void take_mark(struct kw_lexer *lexer, struct kw_token *token)
{
	unsigned char c = (unsigned char)*lexer->at;

	token->kind = KW_TOKEN_MARK;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (strncmp(lexer->at, marks[i].text, 2) == 0) {
			token->mark = marks[i].mark;
			lexer->at += 2;
			return;
		}
	}
	token->mark = c;
	if (!strchr("()[]{},;:?.<>=+-*/%&|~!", c) && isprint(c))
		wrong(lexer, token, lexer->at, "unexpected character \"%c\"", c);
	else if (!isprint(c))
		wrong(lexer, token, lexer->at, "unexpected byte 0x%02x", c);
	lexer->at++;
}

void kw_lexer_next(struct kw_lexer *lexer, struct kw_token *ret)
{
	*ret = (struct kw_token){ 0 };
	skip_blanks(lexer, ret);
	ret->at = lexer->at;
	if (!*lexer->at) {
		ret->kind = KW_TOKEN_END;
		ret->first_on_line = true;
	} else if (isdigit((unsigned char)*lexer->at)) {
		take_number(lexer, ret);
	} else if (is_name_char(*lexer->at)) {
		ret->kind = KW_TOKEN_NAME;
		while (is_name_char(*lexer->at))
			lexer->at++;
	} else if (*lexer->at == '"' || *lexer->at == '\'') {
		take_string(lexer, ret);
	} else {
		take_mark(lexer, ret);
	}
	ret->len = (size_t)(lexer->at - ret->at);
}

bool kw_token_is(const struct kw_token *token, const char *name)
{
	return token->kind == KW_TOKEN_NAME && strlen(name) == token->len &&
	       memcmp(token->at, name, token->len) == 0;
}
