/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the inodes of open files tell. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/file_name.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define MINOR_BITS 20 /* of a dev_t inside of the kernel */
#define S_IFMT	   0170000u

struct inode_layout {
	uint64_t number, mode, super_block; /* of struct inode */
	uint64_t device;		    /* of struct super_block */
	bool is_whole;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct inode_layout *l = layout;

	(void)kernel;
	l->number = kw_offset_or_none(ctx, "inode", "i_ino");
	l->mode = kw_offset_or_none(ctx, "inode", "i_mode");
	l->super_block = kw_offset_or_none(ctx, "inode", "i_sb");
	l->device = kw_offset_or_none(ctx, "super_block", "s_dev");
	l->is_whole = l->number != KW_NO_ADDR && l->mode != KW_NO_ADDR && l->super_block != KW_NO_ADDR &&
		      l->device != KW_NO_ADDR;
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct inode_layout), resolve };

static kw_status set_number(struct kw_row *row, const struct inode_layout *l, uint64_t inode,
			    struct kw_value *out)
{
	uint64_t number;
	kw_status status = kw_read_u64(row->ctx, inode + l->number, &number);

	if (!status)
		kw_set_uint(out, number);
	return status;
}

static kw_status set_device(struct kw_row *row, const struct inode_layout *l, uint64_t inode,
			    struct kw_value *out)
{
	uint64_t super_block;
	uint32_t device;
	char text[32];
	kw_status status = kw_read_u64(row->ctx, inode + l->super_block, &super_block);

	if (!status)
		status = kw_read_u32(row->ctx, super_block + l->device, &device);
	if (status)
		return status;
	snprintf(text, sizeof(text), "%02" PRIx32 ":%02" PRIx32, device >> MINOR_BITS,
		 device & ((1u << MINOR_BITS) - 1));
	kw_set_row_text(row, out, text);
	return KW_OK;
}

/* Those of the kernel's own that are nothing of the kind have no type at all. */
static kw_status set_type(struct kw_row *row, const struct inode_layout *l, uint64_t inode,
			  struct kw_value *out)
{
	static const char *const types[16] = {
		[001] = "FIFO", [002] = "CHR", [004] = "DIR",  [006] = "BLK",
		[010] = "REG",	[012] = "LNK", [014] = "SOCK",
	};
	uint16_t mode;
	kw_status status = kw_read(row->ctx, inode + l->mode, &mode, sizeof(mode));

	if (!status) {
		const char *type = types[(mode & S_IFMT) >> 12];

		kw_set_string(out, type ? type : "anon");
	}
	return status;
}

void kw_set_inode_value(struct kw_row *row, uint64_t file, enum kw_inode_value which, struct kw_value *out)
{
	const struct inode_layout *l = kw_layout_get(row->ctx, row->kernel, &subject);
	uint64_t inode;
	kw_status status;

	if (!file) {
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
		return;
	}
	status = l && l->is_whole ? kw_file_inode(row->ctx, row->kernel, file, &inode) : KW_NOTFOUND;
	if (!status && !inode)
		status = KW_ABSENT;
	if (!status)
		status = which == KW_INODE_NUMBER   ? set_number(row, l, inode, out)
			 : which == KW_INODE_DEVICE ? set_device(row, l, inode, out)
						    : set_type(row, l, inode, out);
	if (status)
		kw_set_absent(out, status == KW_NOTFOUND ? KW_ABSENT_NO_MEMBER : kw_absent_of_status(status));
}
