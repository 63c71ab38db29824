/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that have no place in a directory have a dentry all the same, and a function that makes up a name from it:
 * dentry.d_op->d_dname. Which one it is tells the kind of file.
 *
 *     simple_dname      /memfd:NAME (deleted), /SYSV00000000 (deleted), /dev/zero (deleted)
 *     pipefs_dname      pipe:[INODE]
 *     sockfs_dname      socket:[INODE]
 *     anon_inodefs_dname  anon_inode:NAME
 *     ns_dname          KIND:[INODE] of a namespace
 *     pidfs_dname       anon_inode:[pidfd] (since 6.9)
 *     dmabuffs_dname    /DENTRY:NAME
 */
#include "kernel/file_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <kwalk/symbol.h>
#include <kwalk/type.h>

#include "kernel/source.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAY_BACK     (1u << 24 | 1u << 25) /* see is_below() */
#define MAX_NAME     256

enum maker { SIMPLE, PIPE, SOCKET, ANON, NAMESPACE, PIDFD, DMABUF, NR_MAKERS };

static const char *const maker_names[NR_MAKERS] = {
	[SIMPLE] = "simple_dname",     [PIPE] = "pipefs_dname",	 [SOCKET] = "sockfs_dname",
	[ANON] = "anon_inodefs_dname", [NAMESPACE] = "ns_dname", [PIDFD] = "pidfs_dname",
	[DMABUF] = "dmabuffs_dname",
};

/* Offsets; KW_NO_ADDR for what this kernel lacks. */
struct name_layout {
	uint64_t dentry, mnt, inode, mode;		   /* of struct file */
	uint64_t user_dentry, user_mnt;			   /* of struct backing_file */
	uint64_t ops, parent, name, dentry_inode, private; /* of struct dentry */
	uint64_t dname;					   /* of struct dentry_operations */
	uint64_t mnt_sb, dentry_sb;			   /* the file system of either */
	uint64_t mnt_root;				   /* of struct vfsmount */
	uint64_t ino, inode_private;			   /* of struct inode */
	uint64_t ns_ops, ns_name;			   /* of ns_common, proc_ns_operations */
	uint64_t dmabuf_name;				   /* of struct dma_buf */
	uint64_t maker[NR_MAKERS];			   /* addresses of functions */
	bool ns_in_inode;				   /* since 6.9 */
	bool is_whole;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct name_layout *l = layout;
	struct kw_symbol_query q[NR_MAKERS];
	struct kw_member stashed;
	const struct {
		const char *type, *path;
		uint64_t *offset;
	} wanted[] = {
		{ "file", "f_path.dentry", &l->dentry },
		{ "file", "f_path.mnt", &l->mnt },
		{ "file", "f_inode", &l->inode },
		{ "file", "f_mode", &l->mode },
		{ "dentry", "d_op", &l->ops },
		{ "dentry", "d_parent", &l->parent },
		{ "dentry", "d_name.name", &l->name },
		{ "dentry", "d_inode", &l->dentry_inode },
		{ "dentry", "d_fsdata", &l->private },
		{ "dentry_operations", "d_dname", &l->dname },
		{ "dentry", "d_sb", &l->dentry_sb },
		{ "vfsmount", "mnt_root", &l->mnt_root },
		{ "vfsmount", "mnt_sb", &l->mnt_sb },
		{ "inode", "i_ino", &l->ino },
		{ "inode", "i_private", &l->inode_private },
		{ "ns_common", "ops", &l->ns_ops },
		{ "proc_ns_operations", "name", &l->ns_name },
		{ "dma_buf", "name", &l->dmabuf_name }, /* from here on not in every kernel */
		{ "backing_file", "user_path.dentry", &l->user_dentry },
		{ "backing_file", "user_path.mnt", &l->user_mnt },
	};

	(void)kernel;
	l->is_whole = true;
	for (size_t i = 0; i < COUNT(wanted); i++) {
		*wanted[i].offset = kw_offset_or_none(ctx, wanted[i].type, wanted[i].path);
		l->is_whole = l->is_whole && (i >= COUNT(wanted) - 3 || *wanted[i].offset != KW_NO_ADDR);
	}
	for (size_t i = 0; i < NR_MAKERS; i++)
		q[i] = (struct kw_symbol_query){ maker_names[i], KW_NO_ADDR };
	kw_symbol_addresses(ctx, q, NR_MAKERS);
	for (size_t i = 0; i < NR_MAKERS; i++)
		l->maker[i] = q[i].addr;
	l->ns_in_inode = kw_type_offset(ctx, "ns_common", "stashed", &stashed) == KW_OK &&
			 kw_type_strip(ctx, stashed.type)->kind == KW_TYPE_POINTER;
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct name_layout), resolve };

static kw_status get(kw_ctx *ctx, uint64_t object, uint64_t offset, uint64_t *ret)
{
	uint64_t at;

	return !object || __builtin_add_overflow(object, offset, &at) ? KW_ABSENT : kw_read_u64(ctx, at, ret);
}

static kw_status get_name(kw_ctx *ctx, uint64_t object, uint64_t offset, char name[MAX_NAME])
{
	uint64_t at;
	kw_status status = get(ctx, object, offset, &at);

	return status ? status : kw_read_string(ctx, at, name, MAX_NAME);
}

/*
 * Does the file lie below one of overlayfs, whose path it knows (since 6.5)? FMODE_BACKING says so, bit 25 of f_mode until
 * 6.13, then 24, while 25 means something else: the path must be one, of a mount and a dentry of the same file system.
 */
static bool is_below(kw_ctx *ctx, const struct name_layout *l, uint64_t file)
{
	uint64_t dentry, mnt, dentry_sb, mnt_sb;
	uint32_t mode;

	return l->user_dentry != KW_NO_ADDR && l->user_mnt != KW_NO_ADDR &&
	       kw_read_u32(ctx, file + l->mode, &mode) == KW_OK && mode & MAY_BACK &&
	       get(ctx, file, l->user_dentry, &dentry) == KW_OK &&
	       get(ctx, file, l->user_mnt, &mnt) == KW_OK &&
	       get(ctx, dentry, l->dentry_sb, &dentry_sb) == KW_OK &&
	       get(ctx, mnt, l->mnt_sb, &mnt_sb) == KW_OK && dentry_sb && dentry_sb == mnt_sb;
}

/* What a file was opened as. */
static kw_status user_path(kw_ctx *ctx, const struct name_layout *l, uint64_t file, uint64_t *dentry,
			   uint64_t *mnt)
{
	bool below = is_below(ctx, l, file);
	kw_status status = get(ctx, file, below ? l->user_dentry : l->dentry, dentry);

	return status ? status : get(ctx, file, below ? l->user_mnt : l->mnt, mnt);
}

kw_status kw_file_inode(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t file, uint64_t *ret)
{
	const struct name_layout *l = kw_layout_get(ctx, kernel, &subject);
	uint64_t dentry, mnt;
	kw_status status;

	if (!l || !l->is_whole)
		return l ? KW_NOTFOUND : KW_NOMEM;
	if (!is_below(ctx, l, file))
		return get(ctx, file, l->inode, ret);
	status = user_path(ctx, l, file, &dentry, &mnt);
	return status ? status : get(ctx, dentry, l->dentry_inode, ret);
}

/* Find the function that makes up a name; 0 when the path is one. The root of a mount always has a path. */
static kw_status find_maker(kw_ctx *ctx, const struct name_layout *l, uint64_t dentry, uint64_t mnt,
			    uint64_t *ret)
{
	uint64_t ops, parent, root = 0;
	kw_status status = get(ctx, dentry, l->ops, &ops);

	*ret = 0;
	if (status || !ops)
		return status;
	status = get(ctx, ops, l->dname, ret);
	if (!status && *ret)
		status = get(ctx, dentry, l->parent, &parent);
	if (!status && *ret && parent == dentry)
		status = get(ctx, mnt, l->mnt_root, &root);
	if (root == dentry)
		*ret = 0;
	return status;
}

static kw_status put_inode_name(struct kw_row *row, const struct name_layout *l, uint64_t dentry,
				const char *kind, struct kw_value *out)
{
	char text[MAX_NAME + 32];
	uint64_t inode, ino;
	kw_status status = get(row->ctx, dentry, l->dentry_inode, &inode);

	if (!status)
		status = get(row->ctx, inode, l->ino, &ino);
	if (status)
		return status;
	snprintf(text, sizeof(text), "%s:[%" PRIu64 "]", kind, ino);
	kw_set_row_text(row, out, text);
	return KW_OK;
}

static kw_status put_namespace(struct kw_row *row, const struct name_layout *l, uint64_t dentry,
			       struct kw_value *out)
{
	char kind[MAX_NAME];
	uint64_t ops, inode, ns;
	kw_status status;

	if (l->ns_in_inode) {
		status = get(row->ctx, dentry, l->dentry_inode, &inode);
		if (!status)
			status = get(row->ctx, inode, l->inode_private, &ns);
		if (!status)
			status = get(row->ctx, ns, l->ns_ops, &ops);
	} else {
		status = get(row->ctx, dentry, l->private, &ops);
	}
	if (!status)
		status = get_name(row->ctx, ops, l->ns_name, kind);
	return status ? status : put_inode_name(row, l, dentry, kind, out);
}

static kw_status put_simple(struct kw_row *row, const struct name_layout *l, uint64_t dentry,
			    const char *before, const char *after, struct kw_value *out)
{
	char name[MAX_NAME], text[MAX_NAME + 32];
	kw_status status = get_name(row->ctx, dentry, l->name, name);

	if (status)
		return status;
	snprintf(text, sizeof(text), "%s%s%s", before, name, after);
	kw_set_row_text(row, out, text);
	return KW_OK;
}

static kw_status put_dmabuf(struct kw_row *row, const struct name_layout *l, uint64_t dentry,
			    struct kw_value *out)
{
	char name[MAX_NAME] = "", after[MAX_NAME + 1];
	uint64_t buf, at;
	kw_status status = get(row->ctx, dentry, l->private, &buf);

	if (!status && l->dmabuf_name != KW_NO_ADDR)
		status = get(row->ctx, buf, l->dmabuf_name, &at);
	if (!status && l->dmabuf_name != KW_NO_ADDR && at)
		status = kw_read_string(row->ctx, at, name, sizeof(name));
	if (status)
		return status;
	snprintf(after, sizeof(after), ":%s", name);
	return put_simple(row, l, dentry, "/", after, out);
}

/* One that none of the known makes has its dentry's own name, which is the most that can be said. */
static kw_status put_made(struct kw_row *row, const struct name_layout *l, uint64_t dentry, uint64_t maker,
			  struct kw_value *out)
{
	int i = 0;

	while (i < NR_MAKERS && l->maker[i] != maker)
		i++;
	switch (i) {
	case SIMPLE: return put_simple(row, l, dentry, "/", " (deleted)", out);
	case PIPE: return put_inode_name(row, l, dentry, "pipe", out);
	case SOCKET: return put_inode_name(row, l, dentry, "socket", out);
	case ANON: return put_simple(row, l, dentry, "anon_inode:", "", out);
	case NAMESPACE: return put_namespace(row, l, dentry, out);
	case PIDFD: kw_set_string(out, "anon_inode:[pidfd]"); return KW_OK;
	case DMABUF: return put_dmabuf(row, l, dentry, out);
	default: return put_simple(row, l, dentry, "", "", out);
	}
}

void kw_set_file_name(struct kw_row *row, uint64_t file, struct kw_value *out)
{
	const struct name_layout *l = kw_layout_get(row->ctx, row->kernel, &subject);
	uint64_t dentry, mnt, maker;
	kw_status status;

	if (!l || !l->is_whole) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = user_path(row->ctx, l, file, &dentry, &mnt);
	if (!status)
		status = find_maker(row->ctx, l, dentry, mnt, &maker);
	if (!status && !maker) {
		kw_set_path(row, dentry, mnt, out);
		return;
	}
	if (!status)
		status = put_made(row, l, dentry, maker, out);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
}
