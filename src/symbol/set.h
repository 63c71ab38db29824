/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a symbol set consists of: what kw_kernel_locate() has found out, and the table, which comes later.
 *
 * Invariant: everything above `lock` stays as it is once the target is open; everything below it is filled in when
 * the first symbol is asked for, and is only looked at with the lock held.
 */
#ifndef SYMBOL_SET_H
#define SYMBOL_SET_H

#include <pthread.h>

#include "memory/memory.h"
#include "symbol/symbols.h"

struct kallsyms;     /* symbol/kallsyms.h */
struct symbol_list;  /* symbol/list.h */
struct known_symbol; /* symbol/symbols.c */

/* x86-64: where the kernel image is linked to run, before KASLR moves it in steps of 2 MiB. */
#define KERNEL_MAP 0xffffffff80000000ULL

struct kw_symbols {
	char *vmcoreinfo; /* its text, NUL-terminated, or NULL */
	size_t vmcoreinfo_len;
	char vmcoreinfo_origin[128];
	struct kw_kernel_map map;
	uint64_t data;	   /* where the image's read-only data begin, perhaps a little later; 0: not known */
	bool trust_tables; /* the kallsyms tables may be taken from VMCOREINFO; false only in tests */

	pthread_mutex_t lock;
	bool looked; /* for the table; it is there, or `failure` says why not */
	kw_status status;
	char *failure;
	enum kw_symbol_origin origin;
	struct kallsyms *kallsyms; /* origin KALLSYMS_MEMORY */
	struct symbol_list *list;  /* the other origins */
	char *file;		   /* what the user gave, or NULL */
	bool is_vmlinux;	   /* it is an ELF file */
	struct known_symbol *known;
	char description[192];
};

/** Make an empty symbol set in ctx->target->symbols; KW_NOMEM. */
kw_status kw_symbols_new(kw_ctx *ctx);

#endif
