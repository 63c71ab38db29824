/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two steps of kallsyms_search(), on bytes. */
#ifndef SYMBOL_KALLSYMS_SEARCH_H
#define SYMBOL_KALLSYMS_SEARCH_H

#include "symbol/kallsyms.h"

/** Find a token table and its index; sets ret->token_table and token_index. `addr` is where the bytes are. */
bool kallsyms_search_tokens(const uint8_t *bytes, size_t len, uint64_t addr, struct kallsyms_tables *ret);

/**
 * Find the number of symbols and their names, in the bytes up to the token table; sets ret->num_syms and names.
 *
 * @param addr  where the bytes are, a multiple of 4
 */
bool kallsyms_search_names(const uint8_t *bytes, size_t len, uint64_t addr, struct kallsyms_tables *ret);

#endif
