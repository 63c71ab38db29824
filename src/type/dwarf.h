/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types and variables by name out of DWARF: each unit that holds a wanted name becomes a blob of BTF, which is kept.
 */
#ifndef TYPE_DWARF_H
#define TYPE_DWARF_H

#include "type/btf.h"
#include "type/dwarf_file.h"

struct kw_dwarf;

/** Open a file's DWARF, and the supplementary file that it shares with others when it has one. As kw_dwarf_file_open(). */
kw_status kw_dwarf_open(kw_ctx *ctx, const char *path, kw_dwarf_check *check, void *arg,
			struct kw_dwarf **ret);

/** The path of its file. */
const char *kw_dwarf_path(const struct kw_dwarf *dwarf);

/** Free it with all types made from it. NULL is accepted. */
void kw_dwarf_free(struct kw_dwarf *dwarf);

/**
 * Find the definition of a type, in the units read before or else in the next one that has it.
 *
 * @return the blob that has it; NULL when there is none, with ctx's error set only when memory or the file failed
 */
const struct kw_btf *kw_dwarf_find(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
				   enum kw_btf_class class, uint32_t *ret_id);

/**
 * Find a variable's type.
 *
 * @param addr  where it was linked to lie: tells it from others of its name; without meaning for a relocatable file, of
 *              which only variables are known that are alone of their name
 * @param ret_id  set to the number of its type
 */
const struct kw_btf *kw_dwarf_find_variable(kw_ctx *ctx, struct kw_dwarf *dwarf, const char *name,
					    uint64_t addr, uint32_t *ret_id);

/** True when a blob was made from this file. */
bool kw_dwarf_made(struct kw_dwarf *dwarf, const struct kw_btf *btf);

/** Offer the names of the units read so far to a search for the nearest ones. */
void kw_dwarf_offer_names(struct kw_dwarf *dwarf, enum kw_btf_class class, struct kw_nearest *nearest);

/** Write where it is from, and how much of it was read, for kwalk info. */
void kw_dwarf_describe(struct kw_dwarf *dwarf, char *buf, size_t size);

#endif
