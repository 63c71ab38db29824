/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The modules that the target has loaded, as far as finding their debug files takes. */
#ifndef TYPE_LOADED_H
#define TYPE_LOADED_H

#include <stdbool.h>
#include <stddef.h>

#include "type/origin.h"

#define KW_LOADED_NAME	   56 /* bytes, in all releases */
#define KW_LOADED_BUILD_ID 64

/** A module. */
struct kw_loaded {
	char name[KW_LOADED_NAME];
	unsigned char id[KW_LOADED_BUILD_ID];
	size_t id_len; /* 0: its build ID is not known */
	bool has_btf;
};

/** Those found. Free with kw_loaded_free(). */
struct kw_loaded_list {
	struct kw_loaded *item;
	size_t nr, cap;
};

/** Read the list of modules out of memory; what can't be read is missing. False when memory runs out. */
bool kw_loaded_read(kw_ctx *ctx, struct kw_types *types, struct kw_loaded_list *ret);

void kw_loaded_free(struct kw_loaded_list *list);

#endif
