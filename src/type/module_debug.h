/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The DWARF of loaded modules: what neither the kernel's types have nor BTF of modules. Their files are found and opened
 * when a name is asked for that is nowhere else; those of another build are refused.
 */
#ifndef TYPE_MODULE_DEBUG_H
#define TYPE_MODULE_DEBUG_H

#include "type/dwarf.h"
#include "type/origin.h"

struct kw_module_debug;

/**
 * Look which modules are loaded, and where their files may lie: beside the kernel's, in `kernel/`; where debug
 * files are installed, by build ID or by release; or, where modules are installed unstripped, in /lib/modules.
 *
 * @param vmlinux  the kernel's file, or NULL
 * @return NULL when there are no such places, or memory ran out
 */
struct kw_module_debug *kw_module_debug_new(kw_ctx *ctx, struct kw_types *types, const char *vmlinux);

/** Free it with all types made from it. NULL is accepted. */
void kw_module_debug_free(struct kw_module_debug *modules);

/** Find the definition of a type in a module's file; as kw_dwarf_find(). */
const struct kw_btf *kw_module_debug_find(kw_ctx *ctx, struct kw_module_debug *modules, const char *name,
					  enum kw_btf_class class, uint32_t *ret_id);

/** Find the type of a module's variable; as kw_dwarf_find_variable(). */
const struct kw_btf *kw_module_debug_variable(kw_ctx *ctx, struct kw_module_debug *modules,
					      const char *module, const char *name, uint32_t *ret_id);

/** The file that a blob was made from; NULL when it is no module's. */
struct kw_dwarf *kw_module_debug_origin(struct kw_module_debug *modules, const struct kw_btf *btf);

/** Offer the names of the units read so far to a search for the nearest ones. */
void kw_module_debug_offer_names(struct kw_module_debug *modules, enum kw_btf_class class,
				 struct kw_nearest *nearest);

/** Write what to know when a name was not found: "; ...", or "" when all modules' files were looked through. */
const char *kw_module_debug_remark(struct kw_module_debug *modules, char *buf, size_t size);

#endif
