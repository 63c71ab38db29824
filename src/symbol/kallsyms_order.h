/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names found by bisection, where the kernel has a table of its symbols in the order of their names. */
#ifndef SYMBOL_KALLSYMS_ORDER_H
#define SYMBOL_KALLSYMS_ORDER_H

#include "symbol/kallsyms.h"

/**
 * Find the tables that bisection takes by where the others are, and set `markers` and `seqs` of bytes, which has the
 * rest set. They stay NULL where the kernel has none or where they can't be viewed; that is no error.
 */
void kallsyms_order_locate(kw_ctx *ctx, const struct kallsyms_tables *tables, struct kallsyms_bytes *bytes);

/** True when the order is one: samples of it ascend. */
bool kallsyms_order_holds(const struct kallsyms *kallsyms);

/**
 * Find the first symbol with a name.
 *
 * @param ret  its address, KW_NO_ADDR when there is none
 * @return false when the tables are damaged
 */
bool kallsyms_order_find(const struct kallsyms *kallsyms, const char *name, uint64_t *ret);

#endif
