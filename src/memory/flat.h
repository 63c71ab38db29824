/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * makedumpfile's flattened form: a file cut into blocks that each say where they belong, for writing a dump into a pipe.
 *
 *   header     4096 bytes: "makedumpfile" in 16 bytes, then type 1 and version 1
 *   blocks     16 bytes: offset in the dump and size; the bytes
 *   end        offset and size are both -1
 *
 * Numbers are of 8 bytes, the highest first. Blocks come in any order, and a later one replaces what it overlaps. An
 * index of them lets the dump be read where it lies.
 */
#ifndef MEMORY_FLAT_H
#define MEMORY_FLAT_H

#include <sys/types.h>

#include "util/context.h"

struct flat;

/** True when the first bytes of a file are those of the flattened form. */
bool flat_probe(const uint8_t *head, size_t len);

/**
 * Make the index of a file.
 *
 * @param name  for messages
 * @param ret  set to an index, to be freed with flat_free()
 */
kw_status flat_open(kw_ctx *ctx, const char *name, int fd, uint64_t file_size, struct flat **ret);

/** Free an index. NULL is accepted. */
void flat_free(struct flat *flat);

/** The size of the dump that the blocks make. */
uint64_t flat_size(const struct flat *flat);

/** True when the file ends before the mark that ends it. */
bool flat_is_cut(const struct flat *flat);

/** True when blocks hold all of a range of the dump. */
bool flat_holds(const struct flat *flat, uint64_t offset, uint64_t len);

/**
 * Read from the dump.
 *
 * @return how many bytes could be had before the first that no block holds; -1 for an error, with errno
 */
ssize_t flat_read(const struct flat *flat, int fd, uint64_t offset, void *buf, size_t len);

#endif
