/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Failing with a message. A function that fails says what went wrong with kw_fail(); each caller that knows more
 * puts its part in front with kw_fail_in(). The result reads from the outside in: "guest.ram: VMCOREINFO: ...".
 */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

#include "util/context.h"

/** Set the context's status and message; return status, so that a function can end with it. */
kw_status kw_fail(kw_ctx *ctx, kw_status status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** Put "TEXT: " in front of the message of the failure under way; return its status. */
kw_status kw_fail_in(kw_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** As kw_fail(), for a failed system call: KW_DENIED for EACCES and EPERM, else KW_UNREADABLE; adds strerror. */
kw_status kw_fail_errno(kw_ctx *ctx, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** Say that memory ran out. */
kw_status kw_fail_nomem(kw_ctx *ctx);

/** Forget the last failure: a thing was tried that may fail. */
void kw_clear_error(kw_ctx *ctx);

#endif
