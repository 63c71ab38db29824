/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle of the library and its errors.
 *
 * One kw_ctx belongs to one thread. What it has opened (memory, symbols, types) is a target, which is immutable
 * after kw_open() and may be shared by several contexts: see kw_clone().
 */
#ifndef KWALK_CONTEXT_H
#define KWALK_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KW_API __attribute__((visibility("default")))

/** Library version, also returned by kw_version(). */
#define KW_VERSION "0.1.0"

/** What a call returns; the message that goes with it is kw_error(). */
typedef enum kw_status {
	KW_OK = 0,
	KW_NOMEM,	/**< out of memory */
	KW_INVALID,	/**< the caller's words are wrong: option, column, path, expression */
	KW_NOTFOUND,	/**< a name that does not exist here: symbol, type, member, process */
	KW_UNREADABLE,	/**< the target cannot be opened or is no kernel memory */
	KW_DENIED,	/**< no privilege, or the kernel is locked down */
	KW_FORMAT,	/**< a structure that was read is damaged or not understood */
	KW_UNSUPPORTED, /**< understood, but not handled by this build */
	KW_ABSENT,	/**< no such memory */
	KW_EXCLUDED,	/**< filtered out when the dump was made */
	KW_FAILED,	/**< input/output error, truncated file */
	KW_INCOMPLETE,	/**< finished, but something could not be had */
} kw_status;

typedef struct kw_ctx kw_ctx;

/** Return the version of the library that is linked, a static string. */
KW_API const char *kw_version(void);

/** Make an empty context; NULL when memory runs out. Free it with kw_free(). */
KW_API kw_ctx *kw_new(void);

/** Free a context, and the target with it when no other context uses it. NULL is accepted. */
KW_API void kw_free(kw_ctx *ctx);

/**
 * Make a second context on the same target, for another thread.
 *
 * @param ret  set on success to a context that the caller frees; untouched on failure
 */
KW_API kw_status kw_clone(kw_ctx *ctx, kw_ctx **ret);

/**
 * Return the message of the last failed call on this context.
 *
 * It names the thing, the reason and, where there is one, the remedy. The string lives until the next call on the
 * context; it is "" when nothing failed.
 */
KW_API const char *kw_error(kw_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
