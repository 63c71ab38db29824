/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts. kw_types_find_origin() finds BTF when the first type is asked for: in the kernel's memory (__start_BTF,
 * else by its shape), /sys/kernel/btf/vmlinux for the live kernel, or the .BTF section of the -k vmlinux; where there is
 * none, and for what BTF does not tell, the kernel's DWARF.
 *
 * Uses util, memory, symbol.
 */
#ifndef TYPE_TYPES_H
#define TYPE_TYPES_H

#include <kwalk/type.h>

#include "util/context.h"

/**
 * Find the target's types where kw_open_options.types says.
 *
 * @return KW_OK; else the message says what to give
 */
kw_status kw_types_open(kw_ctx *ctx, const char *from);

/** Free a type set. NULL is accepted. */
void kw_types_free(struct kw_types *types);

/** Text for kwalk info: where types come from and how many; NULL with the context's error set when there are none. */
const char *kw_types_description(kw_ctx *ctx);

/** True when there is a type of that name, as for kw_type_find(), which makes more of it when there is none. */
bool kw_type_exists(kw_ctx *ctx, const char *name);

/**
 * Find the type of a global or per-CPU variable, in BTF (which has the latter) or in DWARF.
 *
 * @param addr  the symbol's address
 * @return KW_OK; KW_NOTFOUND without a message when neither tells
 */
kw_status kw_type_of_variable(kw_ctx *ctx, const char *name, uint64_t addr, const struct kw_type **ret);

/**
 * Find the type of a module's variable in its DWARF.
 *
 * @return KW_OK; KW_NOTFOUND without a message when there is none, or the module has several variables of that name
 */
kw_status kw_type_of_module_variable(kw_ctx *ctx, const char *module, const char *name,
				     const struct kw_type **ret);

/** Write which files of modules were refused, or that there are none, once they were looked for: "; ...", else "". */
const char *kw_type_module_remark(kw_ctx *ctx, char *buf, size_t size);

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
