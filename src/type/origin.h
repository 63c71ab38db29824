/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the types come from: the BTF blobs of a target, found when the first type is asked for and kept with it.
 */
#ifndef TYPE_ORIGIN_H
#define TYPE_ORIGIN_H

#include "type/btf.h"
#include "type/types.h"

struct kw_module_debug; /* module_debug.h */

/** Return the target's types, finding them the first time; NULL with the error set (each time) when there are none. */
struct kw_types *kw_types_get(kw_ctx *ctx);

/** The kernel's own blob; NULL where types come from DWARF. */
const struct kw_btf *kw_types_kernel(const struct kw_types *types);

/**
 * The kernel's DWARF: what types come from, or else what tells of variables, looked for the first time that is asked for.
 *
 * @return NULL when there is none
 */
struct kw_dwarf *kw_types_dwarf(kw_ctx *ctx, struct kw_types *types);

/** The DWARF that types come from; NULL where they come from BTF. */
struct kw_dwarf *kw_types_from_dwarf(const struct kw_types *types);

/** The modules' blobs, loaded the first time; *ret_nr may be 0. Never fails: a module that can't be read is missing. */
const struct kw_btf *const *kw_types_modules(kw_ctx *ctx, struct kw_types *types, size_t *ret_nr);

/** The module's DWARF that a blob was made from; NULL when it is no module's. */
struct kw_dwarf *kw_types_module_origin(struct kw_types *types, const struct kw_btf *btf);

/** The DWARF of modules, looked for the first time; NULL when there is none. */
struct kw_module_debug *kw_types_module_debug(kw_ctx *ctx, struct kw_types *types);

/**
 * Give a target its types instead of having them found: for tests.
 *
 * @param data  a BTF blob; copied
 */
kw_status kw_types_take(kw_ctx *ctx, const void *data, size_t size);

/** Give a target the DWARF of a file for its types, whatever that is of, a module for instance: for tests. */
kw_status kw_types_take_dwarf(kw_ctx *ctx, const char *path);

#endif
