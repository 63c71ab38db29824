/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding a kernel's debug file: what distributions install apart from the kernel, or hand out by debuginfod.
 */
#ifndef TYPE_DEBUG_FILE_H
#define TYPE_DEBUG_FILE_H

#include "util/context.h"

/** Where debug files are installed: /usr/lib/debug, or what KWALK_DEBUG_FOLDER in the environment names. */
const char *kw_debug_folder(void);

/** What to do with a file that may be the one: KW_OK ends the search. */
typedef kw_status kw_debug_file_try(kw_ctx *ctx, const char *path, void *arg);

/**
 * Try the places where the debug file of the target's kernel may lie: by its build ID, then by its release.
 *
 * @return KW_OK; KW_NOTFOUND when there is none, else what the last file that exists came to
 */
kw_status kw_debug_file_find(kw_ctx *ctx, kw_debug_file_try *try, void *arg);

/** Fetch the debug file of the target's kernel from the servers in DEBUGINFOD_URLS, and try it. As above. */
kw_status kw_debug_file_fetch(kw_ctx *ctx, kw_debug_file_try *try, void *arg);

/** Write "/lib/modules/RELEASE", with the target's; false when it has none that can be part of a path. */
bool kw_debug_file_modules(kw_ctx *ctx, char *buf, size_t size);

/** Write the path of the file with a build ID, given in hexadecimal, in a folder of debug files; false: too long. */
bool kw_debug_file_path(const char *folder, const char *hex, size_t len, char *buf, size_t size);

#endif
