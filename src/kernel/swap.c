/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source swaps: /proc/swaps, from swap_info[], an array of pointers to struct swap_info_struct. */
#include <kwalk/symbol.h>

#include "kernel/file_name.h"
#include "kernel/source.h"
#include "memory/memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_SWAPS    32 /* MAX_SWAPFILES is below that */
#define SWP_USED     1
#define OFF_LIST     (1ULL << 30) /* a flag in inuse_pages since it is an atomic_long_t (6.13) */
#define S_IFMT	     0170000
#define S_IFBLK	     0060000

static void path(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 2, out))
		kw_set_path(row, in[0].u, in[1].u, out);
}

static void is_device(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_bool(out, (in[0].u & S_IFMT) == S_IFBLK);
}

static void pages(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, (in[0].u & ~OFF_LIST) * KW_PAGE_SIZE);
}

static const struct kw_field_def fields[] = {
	{ { "path", "PATH", "", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_ROW, KW_COST_POINTER,
	    "the device or file", "swap_info_struct.swap_file" },
	  { "swap_file.f_path.dentry", "swap_file.f_path.mnt" },
	  path,
	  0 },
	KW_PATH_FIELD("device", "DEVICE", BOOL, NONE, PLAIN, POINTER, "it is a device, no file",
		      "swap_info_struct.swap_file->f_inode->i_mode", "swap_file.f_inode.i_mode", is_device),
	KW_PATH_FIELD("size", "SIZE", UINT, BYTES, KIB, OBJECT, "what there is room for",
		      "swap_info_struct.pages", "pages", pages),
	KW_PATH_FIELD("used", "USED", UINT, BYTES, KIB, OBJECT, "of that, in use",
		      "swap_info_struct.inuse_pages", "inuse_pages", pages),
	KW_PATH_FIELD("priority", "PRIORITY", INT, NONE, PLAIN, OBJECT, "higher ones are used first",
		      "swap_info_struct.prio", "prio", NULL),
};

struct swap_layout {
	uint64_t info, nr;	   /* addresses: swap_info[], nr_swapfiles */
	uint64_t flags, map, file; /* struct swap_info_struct; map: swap_map, until 7.1 or so */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct swap_layout *l = layout;
	struct kw_symbol_query q[] = { { "swap_info", KW_NO_ADDR }, { "nr_swapfiles", KW_NO_ADDR } };

	(void)kernel;
	kw_symbol_addresses(ctx, q, COUNT(q));
	l->info = q[0].addr;
	l->nr = q[1].addr;
	l->flags = kw_offset_or_none(ctx, "swap_info_struct", "flags");
	l->map = kw_offset_or_none(ctx, "swap_info_struct", "swap_map");
	l->file = kw_offset_or_none(ctx, "swap_info_struct", "swap_file");
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct swap_layout), resolve };

/* One that is given up, or just being taken, has an entry as well. */
static kw_status is_in_use(kw_ctx *ctx, const struct swap_layout *l, uint64_t info, bool *ret)
{
	uint64_t flags, map = 1, file;
	kw_status status = kw_read_u64(ctx, info + l->flags, &flags);

	if (!status && l->map != KW_NO_ADDR)
		status = kw_read_u64(ctx, info + l->map, &map);
	if (!status)
		status = kw_read_u64(ctx, info + l->file, &file);
	*ret = !status && flags & SWP_USED && map && file;
	return status;
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	const struct swap_layout *l = layout;
	uint32_t nr;
	kw_status status;

	(void)kernel;
	if (l->info == KW_NO_ADDR || l->nr == KW_NO_ADDR || l->flags == KW_NO_ADDR || l->file == KW_NO_ADDR)
		return KW_NOTFOUND;
	status = kw_read_u32(ctx, l->nr, &nr);
	if (!status && nr > MAX_SWAPS)
		return KW_FORMAT;
	for (uint32_t i = 0; !status && i < nr; i++) {
		uint64_t info;
		bool in_use = false;

		status = kw_read_u64(ctx, l->info + 8ULL * i, &info);
		if (!status && info)
			status = is_in_use(ctx, l, info, &in_use);
		if (in_use && !kw_take_row(take, info, i, 0, arg))
			break;
	}
	return status;
}

static const struct kw_field_table table = { fields, COUNT(fields) };
static const struct kw_field_group groups[] = { { .table = &table } };

const struct kw_source_def kw_swap_source = {
	.pub = { "swaps", "a device or file to swap to", "path,device,size,used,priority" },
	.type = "struct swap_info_struct",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
