/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of globals that have a plain type. */
#include "kernel/symbol_value.h"

#include <kwalk/symbol.h>

#include "memory/memory.h"

kw_status kw_symbol_value(kw_ctx *ctx, const char *symbol, size_t size, uint64_t *ret)
{
	uint64_t addr, value = 0;
	kw_status status = kw_symbol_address(ctx, symbol, &addr);

	if (!status)
		status = kw_read(ctx, addr, &value, size);
	if (!status)
		*ret = value;
	return status;
}
