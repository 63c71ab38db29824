/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts. kw_types_find_origin() finds BTF when the first type is asked for: in the kernel's memory (__start_BTF,
 * else by its shape), /sys/kernel/btf/vmlinux for the live kernel, or the .BTF section of the -k vmlinux.
 *
 * Uses util, memory, symbol.
 */
#ifndef TYPE_TYPES_H
#define TYPE_TYPES_H

#include <kwalk/type.h>

#include "util/context.h"

/** Free a type set. NULL is accepted. */
void kw_types_free(struct kw_types *types);

/** Text for kwalk info: where types come from and how many; NULL with the context's error set when there are none. */
const char *kw_types_description(kw_ctx *ctx);

/** The void type. */
extern const struct kw_type kw_type_void;

/**
 * Find a structure's member by a dotted path of names and array indices ("rss_stat.count", "tasks[0].first") inside
 * the structure itself, following no pointer.
 *
 * @return KW_OK; KW_NOTFOUND with the nearest names in the error
 */
kw_status kw_type_offset(kw_ctx *ctx, const char *type, const char *path, struct kw_member *ret);

#endif
