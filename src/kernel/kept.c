/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What subjects keep in a context. */
#include "kernel/kept.h"

#include <stdlib.h>

#include "util/error.h"

void *kw_context_make(kw_ctx *ctx, const struct kw_kernel *kernel, enum kw_context_keep which,
		      void *(*make)(const struct kw_kernel *kernel), void (*free_state)(void *state))
{
	if (!ctx->kept)
		ctx->kept = calloc(KW_CONTEXT_KEEP_NR, sizeof(*ctx->kept));
	if (ctx->kept && !ctx->kept[which].state) {
		ctx->kept[which].state = make(kernel);
		ctx->kept[which].free = free_state;
	}
	if (ctx->kept && ctx->kept[which].state)
		return ctx->kept[which].state;
	kw_fail_nomem(ctx);
	return NULL;
}

void kw_context_forget(kw_ctx *ctx)
{
	for (size_t i = 0; ctx->kept && i < KW_CONTEXT_KEEP_NR; i++)
		if (ctx->kept[i].state)
			ctx->kept[i].free(ctx->kept[i].state);
	free(ctx->kept);
	ctx->kept = NULL;
}
