/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What subjects keep: in a row from one row of a query to the next (kernel/row.h), in a context from one pass to the next.
 *
 * A context's is where things that are looked at again and again lie, and what they were in the pass that is under way:
 * kw_pass_number() tells whether that is still so.
 */
#ifndef KERNEL_KEPT_H
#define KERNEL_KEPT_H

#include "kernel/kernel.h"

struct kw_kept {
	void *state;
	void (*free)(void *state);
};

/** Subjects that keep something in a context. */
enum kw_context_keep {
	KW_CONTEXT_CPUS,      /* cpu.c */
	KW_CONTEXT_ARCH_IRQS, /* irq_arch.c */
	KW_CONTEXT_IRQS,      /* irq_desc.c */
	KW_CONTEXT_KEEP_NR,
};

/** Make what a subject keeps in a context, if that has not been done. As kw_context_keep(). */
void *kw_context_make(kw_ctx *ctx, const struct kw_kernel *kernel, enum kw_context_keep which,
		      void *(*make)(const struct kw_kernel *kernel), void (*free_state)(void *state));

/**
 * Return what a subject keeps in a context, made by make() when it is first asked for.
 *
 * @param make  returns NULL when memory runs out
 * @return NULL with the error set when memory runs out
 */
static inline void *kw_context_keep(kw_ctx *ctx, const struct kw_kernel *kernel, enum kw_context_keep which,
				    void *(*make)(const struct kw_kernel *kernel),
				    void (*free_state)(void *state))
{
	void *state = ctx->kept ? ctx->kept[which].state : NULL;

	return state ? state : kw_context_make(ctx, kernel, which, make, free_state);
}

/** Free what is kept of the target that is being closed. */
void kw_context_forget(kw_ctx *ctx);

#endif
