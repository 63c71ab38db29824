/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words of a program in the query language, and messages that show where in its text something is wrong.
 *
 *     name     [A-Za-z_][A-Za-z0-9_]*
 *     number   10, 0x1f, 2.5, and with a unit: 100M (bytes: B K M G T), 5s (time: ns us ms s m h d), 80%
 *     text     "..." or '...', with \n \t \\ \" \' \xNN
 *     comment  # to the end of the line
 */
#ifndef QUERY_LEXER_H
#define QUERY_LEXER_H

#include <kwalk/value.h>

#include "util/context.h"

#define KW_PROGRAM_MAX (256 * 1024) /* bytes of a program */

/** The text of a program: NUL-terminated, without other NULs. */
struct kw_program_text {
	const char *name; /* "query", or of the file */
	const char *text;
	size_t len;
};

enum kw_token_kind {
	KW_TOKEN_END,
	KW_TOKEN_NAME,
	KW_TOKEN_NUMBER,
	KW_TOKEN_STRING,
	KW_TOKEN_MARK,	/* operators and punctuation: `mark` */
	KW_TOKEN_WRONG, /* the error has been set */
};

/** Marks of one character are that character. */
enum kw_mark {
	KW_MARK_EQ = 256, /* == */
	KW_MARK_NE,	  /* != */
	KW_MARK_LE,	  /* <= */
	KW_MARK_GE,	  /* >= */
	KW_MARK_SHL,	  /* << */
	KW_MARK_SHR,	  /* >> */
	KW_MARK_ARROW,	  /* -> */
	KW_MARK_NO_MATCH, /* !~ */
	KW_MARK_AND,	  /* && */
	KW_MARK_OR,	  /* || */
};

struct kw_token {
	enum kw_token_kind kind;
	int mark;
	const char *at; /* in the program's text */
	size_t len;
	bool first_on_line;
	bool glued;    /* nothing between it and the token before */
	bool is_float; /* a number: f, else u */
	enum kw_unit unit;
	uint64_t u;
	double f;
};

struct kw_lexer {
	kw_ctx *ctx;
	const struct kw_program_text *text;
	const char *at;
};

/** Read the next token. */
void kw_lexer_next(struct kw_lexer *lexer, struct kw_token *ret);

/** Tell whether a token is this name. */
bool kw_token_is(const struct kw_token *token, const char *name);

/**
 * Decode the escapes of a string token.
 *
 * @param buf  token->len bytes
 * @return how many were written
 */
size_t kw_token_string(const struct kw_token *token, char *buf);

/** Fail with a message that shows the line of `at` and a caret below it. */
kw_status kw_program_fail(kw_ctx *ctx, const struct kw_program_text *text, const char *at, kw_status status,
			  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** As kw_program_fail(), with the message that is on the context already. */
kw_status kw_program_fail_at(kw_ctx *ctx, const struct kw_program_text *text, const char *at);

#endif
