/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A compilation unit's types as BTF: the rest of the room then works on them as on the kernel's own.
 */
#ifndef TYPE_DWARF_UNIT_H
#define TYPE_DWARF_UNIT_H

#include "type/btf.h"
#include "type/libdw.h"

/**
 * Describe the types and variables at the top of a unit, or one entry, and whatever types they refer to, in BTF.
 *
 * What DWARF does not tell, or tells in a way that makes no sense, is left out or void; nothing here follows a circle.
 *
 * @param entry  the entry of the unit itself, or a type's, as those that are declared within functions
 * @param ret  a blob of its own; kw_btf_free() it
 */
kw_status kw_dwarf_unit(kw_ctx *ctx, const struct kw_libdw *dw, const Dwarf_Die *entry, struct kw_btf **ret);

#endif
