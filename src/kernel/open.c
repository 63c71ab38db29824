/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a target: memory, then the kernel in it. Symbols and types are found when they are first asked for.
 */
#include <stdlib.h>
#include <string.h>

#include <kwalk/target.h>

#include "kernel/kernel.h"
#include "kernel/kept.h"
#include "memory/memory.h"
#include "symbol/symbols.h"
#include "type/types.h"
#include "util/error.h"
#include "util/time.h"

const char *kw_version(void)
{
	return KW_VERSION;
}

kw_ctx *kw_new(void)
{
	return calloc(1, sizeof(kw_ctx));
}

static void target_unref(struct kw_target *target)
{
	if (!target || __atomic_sub_fetch(&target->refs, 1, __ATOMIC_ACQ_REL))
		return;
	kw_kernel_free(target->kernel);
	kw_types_free(target->types);
	kw_symbols_free(target->symbols);
	kw_memory_close(target->memory);
	free(target->forced);
	free(target);
}

static void close_target(kw_ctx *ctx)
{
	kw_context_forget(ctx);
	kw_reader_free(ctx->reader);
	ctx->reader = NULL;
	ctx->clock.pass = 0;
	target_unref(ctx->target);
	ctx->target = NULL;
}

void kw_free(kw_ctx *ctx)
{
	if (!ctx)
		return;
	close_target(ctx);
	free(ctx->message);
	free(ctx);
}

static kw_status open_target(kw_ctx *ctx, const char *spec, const struct kw_open_options *opts)
{
	uint64_t start = kw_now_ns();
	kw_status status;

	ctx->target = calloc(1, sizeof(*ctx->target));
	if (!ctx->target)
		return kw_fail_nomem(ctx);
	ctx->target->refs = 1;
	ctx->target->force = opts->force;
	ctx->target->debuginfod = opts->debuginfod;
	status = kw_memory_open(ctx, spec, opts);
	if (status)
		return status;
	ctx->target->open_ns = kw_now_ns() - start;
	start = kw_now_ns();
	ctx->target->memory_only = opts->memory_only;
	kw_pass_begin(ctx);
	status = kw_kernel_locate(ctx, opts);
	if (!status && opts->types)
		status = kw_types_open(ctx, opts->types);
	kw_pass_end(ctx);
	ctx->target->locate_ns = kw_now_ns() - start;
	return status;
}

kw_status kw_open(kw_ctx *ctx, const char *spec, const struct kw_open_options *opts)
{
	struct kw_open_options all = { .size = sizeof(all) };
	kw_status status;

	if (ctx->target)
		return kw_fail(ctx, KW_INVALID, "the context has a target already: make another context");
	if (opts) {
		if (opts->size < sizeof(opts->size))
			return kw_fail(ctx, KW_INVALID, "kw_open_options.size is not set");
		memcpy(&all, opts, opts->size < sizeof(all) ? opts->size : sizeof(all));
	}
	status = open_target(ctx, spec, &all);
	if (status)
		close_target(ctx);
	return status;
}

const char *kw_forced(kw_ctx *ctx)
{
	return ctx->target ? __atomic_load_n(&ctx->target->forced, __ATOMIC_ACQUIRE) : NULL;
}

kw_status kw_clone(kw_ctx *ctx, kw_ctx **ret)
{
	kw_ctx *twin;

	if (!ctx->target)
		return kw_fail(ctx, KW_INVALID, "nothing is open: call kw_open() first");
	twin = kw_new();
	if (!twin)
		return kw_fail_nomem(ctx);
	twin->target = ctx->target;
	__atomic_add_fetch(&ctx->target->refs, 1, __ATOMIC_RELAXED);
	twin->reader = kw_reader_new(twin);
	if (!twin->reader) {
		kw_free(twin);
		return kw_fail_nomem(ctx);
	}
	*ret = twin;
	return KW_OK;
}
