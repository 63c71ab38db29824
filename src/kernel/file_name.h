/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of files as /proc has them: paths, and what stands for one where there is none. */
#ifndef KERNEL_FILE_NAME_H
#define KERNEL_FILE_NAME_H

#include "kernel/row.h"

/** Set the path from the root of the mount namespace to a dentry below a mount (struct vfsmount), as d_path(). */
void kw_set_path(struct kw_row *row, uint64_t dentry, uint64_t mnt, struct kw_value *out);

/** Set the name of an open file (struct file): its path, or what its kind has instead, as pipe:[4711]. */
void kw_set_file_name(struct kw_row *row, uint64_t file, struct kw_value *out);

/** Find the inode of an open file as its users see it; on overlayfs files have another one below. */
kw_status kw_file_inode(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t file, uint64_t *ret);

/** What an inode tells. */
enum kw_inode_value {
	KW_INODE_NUMBER,
	KW_INODE_DEVICE, /**< of its file system: MAJOR:MINOR, two hexadecimal digits or more each */
	KW_INODE_TYPE,	 /**< REG, DIR, ... as lsof has them */
};

/** Set a value of an open file's inode. There is none without a file. */
void kw_set_inode_value(struct kw_row *row, uint64_t file, enum kw_inode_value which, struct kw_value *out);

#endif
