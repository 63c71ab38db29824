/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of kernel symbols to addresses, and back. */
#ifndef KWALK_SYMBOL_H
#define KWALK_SYMBOL_H

#include <kwalk/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Longest symbol name with its NUL (KSYM_NAME_LEN is 512 since 6.1). */
#define KW_SYMBOL_NAME_SIZE 512

/**
 * Find the address of a symbol.
 *
 * Per-CPU symbols give their offset in the per-CPU area (see kw_percpu_address()).
 *
 * @return KW_OK; KW_NOTFOUND when there is none of that name; KW_UNSUPPORTED when the target has no symbols at all
 */
KW_API kw_status kw_symbol_address(kw_ctx *ctx, const char *name, uint64_t *ret_addr);

/** One name of a kw_symbol_addresses() call. */
struct kw_symbol_query {
	const char *name; /**< in: the symbol */
	uint64_t addr;	  /**< out: its address, KW_NO_ADDR when there is none */
};

/**
 * Find several symbols in one pass over the table: far cheaper than one by one.
 *
 * Names that do not exist are no error.
 */
KW_API kw_status kw_symbol_addresses(kw_ctx *ctx, struct kw_symbol_query *queries, size_t nr);

/**
 * Find the symbol that holds an address: the nearest one at or below it.
 *
 * @param name  KW_SYMBOL_NAME_SIZE bytes
 * @param ret_offset  set to addr minus the symbol's address
 */
KW_API kw_status kw_symbol_at(kw_ctx *ctx, uint64_t addr, char *name, uint64_t *ret_offset);

/**
 * Call fn for every symbol, in the order of the table; fn returns false to stop.
 */
KW_API kw_status kw_symbols_each(kw_ctx *ctx,
				 bool (*fn)(const char *name, uint64_t addr, char letter, void *arg),
				 void *arg);

/** Return the address of a per-CPU symbol's instance (`per_cpu__offset[cpu] + offset`). */
KW_API kw_status kw_percpu_address(kw_ctx *ctx, const char *name, unsigned int cpu, uint64_t *ret_addr);

#ifdef __cplusplus
}
#endif

#endif
