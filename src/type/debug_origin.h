/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a target's DWARF comes from.
 */
#ifndef TYPE_DEBUG_ORIGIN_H
#define TYPE_DEBUG_ORIGIN_H

#include "type/dwarf.h"

/**
 * Find and open the DWARF of the target's kernel.
 *
 * @param path  a vmlinux; NULL: the one given for symbols, else what is installed, else, where that is allowed, what
 *              debuginfod has
 * @return KW_OK; else the message says what to give
 */
kw_status kw_debug_origin(kw_ctx *ctx, const char *path, struct kw_dwarf **ret);

#endif
