/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of a BTF blob: see btf_names.c. */
#ifndef TYPE_BTF_NAMES_H
#define TYPE_BTF_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>

#include "util/context.h"

struct kw_btf;

/** A name that can be looked up. */
struct kw_btf_named {
	uint32_t own;  /* number of its type, from 0 */
	uint32_t name; /* offset of the string, which is within the sections */
};

/** The names of a blob, all of them, and a hash of the first of them. */
struct kw_btf_index {
	struct kw_btf_named *item;
	size_t nr;
	pthread_mutex_t lock; /* for what follows */
	size_t hashed;
	uint32_t *slots; /* the own number plus 1, and 8 bits of the hash above; 0 is free */
	uint32_t slot_mask;
};

/** Make room for the names of a blob whose records have been counted. */
kw_status kw_btf_index_init(kw_ctx *ctx, struct kw_btf *btf);

void kw_btf_index_deinit(struct kw_btf_index *index);

#endif
