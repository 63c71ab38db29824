/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of a task that sleeps, frame by frame.
 *
 * Where the kernel was built with ORC tables (most are), they tell for each address of code where the caller's stack
 * pointer was and where the return address lies. Otherwise frame pointers are followed:
 *
 *     ... | saved bp | return address | ...
 *           ^ bp
 */
#ifndef KERNEL_UNWIND_H
#define KERNEL_UNWIND_H

#include "kernel/source.h"

#define KW_STACK_SIZE 16384 /* THREAD_SIZE */

/** What the kernel's tables look like, and where code lies. */
struct kw_unwind_layout {
	uint64_t ips, ips_end, entries, entries_end; /* symbols: the tables, KW_NO_ADDR without ORC */
	uint64_t sched, sched_end, locks, locks_end; /* the scheduler's own code, and that of spinlocks */
	uint64_t text, text_end;		     /* of the kernel itself */
	uint64_t frame_bp, frame_return, frame_size; /* of struct inactive_task_frame */
	struct kw_orc_member {
		uint32_t shift, bits;			   /* bits 0: there is none */
	} sp_offset, bp_offset, sp_reg, bp_reg, type, end; /* of struct orc_entry */
	uint32_t entry_size;				   /* 0: not known */
	uint32_t type_call;				   /* the type of functions */
	uint32_t reg_sp, reg_prev_sp;			   /* numbers of registers */
};

extern const struct kw_subject kw_unwind_subject;

#define KW_ORC_BYTES 16 /* of struct orc_entry at most; it has 6 */

/** Entries of the kernel's tables by address: all tasks sleep in few places. Begins zeroed; the tables never change. */
struct kw_orc_cache {
	struct kw_orc_cached {
		uint64_t ip;			 /* 0: none */
		uint8_t entry[KW_ORC_BYTES + 8]; /* eight bytes can be taken from any of the entry's */
	} item[256];
};

/** Where a task's stack has been unwound to. */
struct kw_frame {
	uint64_t ip, sp, bp;
	uint64_t stack, stack_end; /* nothing outside is looked at */
};

/**
 * Find the first frame of a task that does not run: the function that switched to another task.
 *
 * @param sp  task_struct.thread.sp
 * @param stack  task_struct.stack
 * @return KW_OK; KW_NOTFOUND when this kernel has not what it takes; a read's state; KW_FORMAT for a stack pointer
 *         outside the stack
 */
kw_status kw_unwind_begin(kw_ctx *ctx, const struct kw_unwind_layout *l, uint64_t sp, uint64_t stack,
			  struct kw_frame *ret);

/** Go to the caller; false when there is none, or it can't be found. */
bool kw_unwind_next(kw_ctx *ctx, const struct kw_unwind_layout *l, struct kw_orc_cache *cache,
		    struct kw_frame *frame);

/** As kw_unwind_next(), by frame pointers even where there are tables. */
bool kw_unwind_by_frame_pointer(kw_ctx *ctx, struct kw_frame *frame);

/** Tell whether an address lies in the scheduler or in a lock, where every task sleeps. */
bool kw_in_scheduler(const struct kw_unwind_layout *l, uint64_t ip);

#endif
