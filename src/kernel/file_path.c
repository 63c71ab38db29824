/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths of files: from a dentry up to the root of its mount, from there on at the place where that is mounted, until
 * there is no mount below.
 *
 *     dentry ls -> bin -> / of the mount --mounted on--> usr -> / of the root mount
 *
 * A name that was removed has " (deleted)" behind it, as in /proc. Paths are seen from the root of the mount namespace,
 * also of a process that has changed its root.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/file_name.h"
#include "kernel/source.h"
#include "memory/memory.h"

#define MAX_STEPS 1024
#define MAX_NAME  256
#define MAX_PATH  4096

struct path_layout {
	uint64_t parent, name, hashed;	      /* of struct dentry: d_parent, d_name.name, d_hash.pprev */
	uint64_t mnt, mnt_parent, mountpoint; /* of struct mount */
	uint64_t root;			      /* of struct vfsmount: mnt_root */
	bool known;
};

static kw_status resolve_paths(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct path_layout *l = layout;

	(void)kernel;
	l->parent = kw_offset_or_none(ctx, "dentry", "d_parent");
	l->name = kw_offset_or_none(ctx, "dentry", "d_name.name");
	l->hashed = kw_offset_or_none(ctx, "dentry", "d_hash.pprev");
	l->mnt = kw_offset_or_none(ctx, "mount", "mnt");
	l->mnt_parent = kw_offset_or_none(ctx, "mount", "mnt_parent");
	l->mountpoint = kw_offset_or_none(ctx, "mount", "mnt_mountpoint");
	l->root = kw_offset_or_none(ctx, "vfsmount", "mnt_root");
	l->known = l->parent != KW_NO_ADDR && l->name != KW_NO_ADDR && l->hashed != KW_NO_ADDR &&
		   l->mnt != KW_NO_ADDR && l->mnt_parent != KW_NO_ADDR && l->mountpoint != KW_NO_ADDR &&
		   l->root != KW_NO_ADDR;
	return KW_OK;
}

static const struct kw_subject paths = { sizeof(struct path_layout), resolve_paths };

struct path_walk {
	kw_ctx *ctx;
	const struct path_layout *l;
	uint64_t dentry, mount; /* struct mount */
	char *buf;
	size_t start;
};

static kw_status get(kw_ctx *ctx, uint64_t object, uint64_t offset, uint64_t *ret)
{
	uint64_t at;

	return __builtin_add_overflow(object, offset, &at) ? KW_ABSENT : kw_read_u64(ctx, at, ret);
}

static kw_status prepend(struct path_walk *w, const char *text, size_t len)
{
	if (len > w->start)
		return KW_FORMAT;
	w->start -= len;
	memcpy(w->buf + w->start, text, len);
	return KW_OK;
}

static kw_status prepend_name(struct path_walk *w)
{
	char name[MAX_NAME];
	uint64_t at;
	kw_status status = get(w->ctx, w->dentry, w->l->name, &at);

	if (!status)
		status = kw_read_string(w->ctx, at, name, sizeof(name));
	if (!status)
		status = prepend(w, name, strlen(name));
	return status ? status : prepend(w, "/", 1);
}

/* Go a step up; *ret_end at the top. */
static kw_status step(struct path_walk *w, bool *ret_end)
{
	uint64_t root, parent;
	kw_status status = get(w->ctx, w->mount + w->l->mnt, w->l->root, &root);

	if (!status && w->dentry == root) {
		status = get(w->ctx, w->mount, w->l->mnt_parent, &parent);
		*ret_end = !status && parent == w->mount;
		if (!status && !*ret_end)
			status = get(w->ctx, w->mount, w->l->mountpoint, &w->dentry);
		w->mount = status ? w->mount : parent;
		return status;
	}
	if (!status)
		status = get(w->ctx, w->dentry, w->l->parent, &parent);
	/* The root of a file system that is not the mount's: nothing leads on from it. */
	if (!status && parent == w->dentry) {
		*ret_end = true;
		return KW_OK;
	}
	if (!status)
		status = prepend_name(w);
	w->dentry = status ? w->dentry : parent;
	return status;
}

/* As d_unlinked(): not in its folder any more, and no root. */
static kw_status mark_deleted(struct path_walk *w)
{
	static const char deleted[] = " (deleted)";
	uint64_t hashed, parent;
	kw_status status = get(w->ctx, w->dentry, w->l->hashed, &hashed);

	if (!status)
		status = get(w->ctx, w->dentry, w->l->parent, &parent);
	if (!status && !hashed && parent != w->dentry)
		status = prepend(w, deleted, sizeof(deleted) - 1);
	return status;
}

static kw_status walk(struct path_walk *w)
{
	kw_status status = mark_deleted(w);
	size_t empty = w->start;
	bool end = false;

	for (int i = 0; !status && !end && i < MAX_STEPS; i++)
		status = step(w, &end);
	if (!status && !end)
		status = KW_FORMAT;
	if (!status && w->start == empty)
		status = prepend(w, "/", 1);
	return status;
}

void kw_set_path(struct kw_row *row, uint64_t dentry, uint64_t mnt, struct kw_value *out)
{
	const struct path_layout *l = kw_layout_get(row->ctx, row->kernel, &paths);
	char buf[MAX_PATH];
	struct path_walk w = { .ctx = row->ctx, .l = l, .buf = buf, .start = MAX_PATH };
	kw_status status;

	if (!l || !l->known) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	if (!dentry || !mnt) {
		kw_set_absent(out, KW_ABSENT_NULL);
		return;
	}
	w.dentry = dentry;
	w.mount = mnt - l->mnt;
	status = walk(&w);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_row_put(row, out, buf + w.start, MAX_PATH - w.start);
}

/* in: the dentry and the vfsmount of a struct path. */
static void file_path(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 2, out))
		kw_set_path(row, in[0].u, in[1].u, out);
}

#define PATH	 KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_WALK
#define FS(what) "real_fs." #what ".dentry | fs." #what ".dentry", "real_fs." #what ".mnt | fs." #what ".mnt"

static const struct kw_field_def fields[] = {
	{ { "exe", "EXE", "", PATH, "program file", "mm_struct.exe_file->f_path" },
	  { "mm.exe_file.f_path.dentry", "mm.exe_file.f_path.mnt" },
	  file_path,
	  KW_USES_MM | KW_USES_MORE },
	{ { "cwd", "CWD", "", PATH, "working directory", "fs_struct.pwd" },
	  { FS(pwd) },
	  file_path,
	  KW_USES_MORE },
	{ { "root", "ROOT", "", PATH, "root directory", "fs_struct.root" },
	  { FS(root) },
	  file_path,
	  KW_USES_MORE },
};

const struct kw_field_table kw_file_path_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
