/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The message of a context, with its chain of causes. */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format(const char *fmt, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

static void set_message(kw_ctx *ctx, kw_status status, char *text)
{
	free(ctx->message);
	ctx->message = text;
	ctx->status = status;
}

kw_status kw_fail(kw_ctx *ctx, kw_status status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_message(ctx, status, format(fmt, args));
	va_end(args);
	return status;
}

kw_status kw_fail_in(kw_ctx *ctx, const char *fmt, ...)
{
	va_list args;
	char *front, *whole = NULL;

	va_start(args, fmt);
	front = format(fmt, args);
	va_end(args);
	if (front && asprintf(&whole, "%s: %s", front, ctx->message ? ctx->message : "failed") >= 0)
		set_message(ctx, ctx->status, whole);
	free(front);
	return ctx->status;
}

kw_status kw_fail_errno(kw_ctx *ctx, int err, const char *fmt, ...)
{
	kw_status status = err == EACCES || err == EPERM ? KW_DENIED
			   : err == ENOMEM		 ? KW_NOMEM
							 : KW_UNREADABLE;
	va_list args;
	char *front;

	va_start(args, fmt);
	front = format(fmt, args);
	va_end(args);
	kw_fail(ctx, status, "%s: %s", front ? front : "?", strerror(err));
	free(front);
	return status;
}

kw_status kw_fail_nomem(kw_ctx *ctx)
{
	return kw_fail(ctx, KW_NOMEM, "out of memory");
}

void kw_clear_error(kw_ctx *ctx)
{
	set_message(ctx, KW_OK, NULL);
}

const char *kw_error(kw_ctx *ctx)
{
	if (ctx->status == KW_NOMEM && !ctx->message)
		return "out of memory";
	return ctx->message ? ctx->message : "";
}
