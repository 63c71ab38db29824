/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source filesystems: /proc/filesystems, a list linked by file_system_type.next, and since 7.2 or so by .list (an
 * hlist: its head is the address of the first node).
 */
#include <kwalk/symbol.h>

#include "kernel/source.h"
#include "memory/memory.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define MAX_FILESYSTEMS 10000 /* also ends a list that goes round */
#define FS_REQUIRES_DEV 1

static void needs_device(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_bool(out, in[0].u & FS_REQUIRES_DEV);
}

static const struct kw_field_def fields[] = {
	KW_PATH_FIELD("name", "NAME", STRING, NONE, PLAIN, POINTER, "name", "file_system_type.name", "name",
		      NULL),
	KW_PATH_FIELD("device", "DEVICE", BOOL, NONE, PLAIN, OBJECT, "it needs a block device",
		      "file_system_type.fs_flags", "fs_flags", needs_device),
};

struct filesystem_layout {
	uint64_t first; /* address of the pointer to the first */
	uint64_t next;	/* offset of the pointer to the next */
	uint64_t node;	/* offset in the object of what they point to: 0 without hlist */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct filesystem_layout *l = layout;
	struct kw_symbol_query q = { "file_systems", KW_NO_ADDR };

	(void)kernel;
	kw_symbol_addresses(ctx, &q, 1);
	l->first = q.addr;
	l->next = kw_offset_or_none(ctx, "file_system_type", "next");
	if (l->next == KW_NO_ADDR) {
		l->next = kw_offset_or_none(ctx, "file_system_type", "list.next");
		l->node = l->next;
	}
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct filesystem_layout), resolve };
static const struct kw_field_table table = { fields, COUNT(fields) };
static const struct kw_field_group groups[] = { { .table = &table } };

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	const struct filesystem_layout *l = layout;
	uint64_t at;
	kw_status status;

	(void)kernel;
	if (l->first == KW_NO_ADDR || l->next == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_u64(ctx, l->first, &at);
	for (uint32_t i = 0; !status && at; i++) {
		uint64_t object = at - l->node;

		if (i == MAX_FILESYSTEMS)
			return KW_FORMAT;
		if (!kw_take_row(take, object, i, 0, arg))
			return KW_OK;
		status = kw_read_u64(ctx, object + l->next, &at);
	}
	return status;
}

const struct kw_source_def kw_filesystem_source = {
	.pub = { "filesystems", "a kind of file system that the kernel knows", "name,device" },
	.type = "struct file_system_type",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
