/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What file systems tell of themselves in /proc/mounts. */
#ifndef KERNEL_MOUNT_OPTIONS_H
#define KERNEL_MOUNT_OPTIONS_H

#include "kernel/source.h"

/**
 * Set the options that a mount's file system prints itself, in its order, separated by commas.
 *
 * @param super  its struct super_block
 * @param out  a text; absent for a file system whose options are not known
 */
void kw_mount_own_options(struct kw_row *row, uint64_t super, struct kw_value *out);

#endif
