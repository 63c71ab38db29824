/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a context and a target consist of. Each room owns the part named after it and knows nothing of the others'
 * insides: here they are only pointers.
 *
 * Invariant: a target does not change after kw_open() has returned, but for what its rooms fill in lazily under
 * their own lock. Everything that changes while reading belongs to the context.
 */
#ifndef UTIL_CONTEXT_H
#define UTIL_CONTEXT_H

#include <kwalk/context.h>
#include <kwalk/memory.h>

struct kw_memory;  /* memory/memory.h */
struct kw_reader;  /* memory/memory.h */
struct kw_symbols; /* symbol/symbols.h */
struct kw_types;   /* type/types.h */
struct kw_kernel;  /* kernel/kernel.h */
struct kw_kept;	   /* kernel/kept.h */

/** What was opened; shared by contexts, counted. */
struct kw_target {
	unsigned int refs; /* atomic */
	struct kw_memory *memory;
	struct kw_symbols *symbols;
	struct kw_types *types;
	struct kw_kernel *kernel;
	char *forced;		     /* which file of another build is used since that was wanted, or NULL */
	bool force, debuginfod;	     /* as in kw_open_options */
	uint64_t open_ns, locate_ns; /* what opening the memory and finding the kernel took */
	bool memory_only;	     /* no kernel was looked for */
};

struct kw_ctx {
	struct kw_target *target; /* NULL until kw_open() */
	struct kw_reader *reader; /* this context's cache, translations and failed pages */
	struct kw_counters counters;
	uint64_t reads; /* calls for memory, other than those of plans */
	struct {
		uint64_t pass, monotonic;
	} clock;	      /* kernel/clock.c's: read once a pass; pass 0: not yet */
	struct kw_kept *kept; /* of the target's subjects, or NULL */
	kw_status status;     /* of the last failure */
	char *message;	      /* its text, or NULL */
};

#endif
