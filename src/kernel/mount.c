/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source mounts: /proc/mounts as the first process sees it.
 *
 *     init_pid_ns.child_reaper -> nsproxy -> mnt_ns, and fs -> root: what is not below that is not shown
 *     mnt_namespace.list until 6.7; a red-black tree, .mounts, since 6.8
 *
 * A mount's path is put together from its end: names of dentries up to the root of a mount, then on from the mount point in
 * the mount above.
 */
#include <stdio.h>
#include <string.h>

#include "kernel/list.h"
#include "kernel/mount_options.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_MOUNTS   1000000
#define MAX_DEPTH    64	  /* of the tree, which is balanced */
#define MAX_STEPS    4096 /* of a path */
#define MAX_NAME     255
#define SB_RDONLY    0x1
#define MNT_READONLY 0x40

enum {
	REAPER,
	NSPROXY,
	MNT_NS,
	FS,
	ROOT_MNT,
	ROOT_DENTRY,
	MNT,
	MNT_PARENT,
	MNT_MOUNTPOINT,
	MNT_ROOT,
	D_PARENT,
	D_NAME,
	D_LEN,
	LAST_NEEDED = D_LEN,
	NS_LIST,
	MNT_LIST,
	NS_TREE,
	MNT_NODE,
	RB_LEFT,
	RB_RIGHT,
	NR_OFFSETS
};

static const char *const members[NR_OFFSETS][2] = {
	[REAPER] = { "pid_namespace", "child_reaper" },
	[NSPROXY] = { "task_struct", "nsproxy" },
	[MNT_NS] = { "nsproxy", "mnt_ns" },
	[FS] = { "task_struct", "fs" },
	[ROOT_MNT] = { "fs_struct", "root.mnt" },
	[ROOT_DENTRY] = { "fs_struct", "root.dentry" },
	[MNT] = { "mount", "mnt" },
	[MNT_PARENT] = { "mount", "mnt_parent" },
	[MNT_MOUNTPOINT] = { "mount", "mnt_mountpoint" },
	[MNT_ROOT] = { "mount", "mnt.mnt_root" },
	[D_PARENT] = { "dentry", "d_parent" },
	[D_NAME] = { "dentry", "d_name.name" },
	[D_LEN] = { "dentry", "d_name.len" },
	[NS_LIST] = { "mnt_namespace", "list" },
	[MNT_LIST] = { "mount", "mnt_list" },
	[NS_TREE] = { "mnt_namespace", "mounts.rb_node" },
	[MNT_NODE] = { "mount", "mnt_node" },
	[RB_LEFT] = { "rb_node", "rb_left" },
	[RB_RIGHT] = { "rb_node", "rb_right" },
};

struct mount_layout {
	uint64_t at[NR_OFFSETS];
	bool known;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct mount_layout *l = layout;

	(void)kernel;
	l->known = true;
	for (size_t i = 0; i < NR_OFFSETS; i++) {
		l->at[i] = kw_offset_or_none(ctx, members[i][0], members[i][1]);
		l->known = l->known && (i > LAST_NEEDED || l->at[i] != KW_NO_ADDR);
	}
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct mount_layout), resolve };

/* Follow pointers from an object, each at one of the offsets. */
static kw_status follow(kw_ctx *ctx, const struct mount_layout *l, uint64_t object, const int *way, size_t nr,
			uint64_t *ret)
{
	kw_status status = KW_OK;

	for (size_t i = 0; !status && i < nr; i++) {
		status = kw_read_u64(ctx, object + l->at[way[i]], &object);
		if (!status && !object)
			status = KW_ABSENT;
	}
	if (!status)
		*ret = object;
	return status;
}

#define FOLLOW(ctx, l, object, ret, ...)                                                                   \
	follow(ctx, l, object, (const int[]){ __VA_ARGS__ }, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), \
	       ret)

/* Paths */

struct place {
	uint64_t mount, dentry;
};

static kw_status find_root(kw_ctx *ctx, const struct kw_kernel *kernel, const struct mount_layout *l,
			   struct place *ret)
{
	uint64_t ns = kernel->globals.init_pid_ns;
	kw_status status = FOLLOW(ctx, l, ns, &ret->mount, REAPER, FS, ROOT_MNT);

	if (!status)
		status = FOLLOW(ctx, l, ns, &ret->dentry, REAPER, FS, ROOT_DENTRY);
	ret->mount -= l->at[MNT];
	return status;
}

/* Put "/NAME" before the text that ends at *at. */
static kw_status prepend(kw_ctx *ctx, const struct mount_layout *l, uint64_t dentry, char *text, size_t *at)
{
	char name[MAX_NAME];
	uint32_t len;
	uint64_t from;
	kw_status status = kw_read_u32(ctx, dentry + l->at[D_LEN], &len);

	if (!status)
		status = kw_read_u64(ctx, dentry + l->at[D_NAME], &from);
	if (!status && (len > MAX_NAME || len + 1 > *at))
		status = KW_FORMAT;
	if (!status)
		status = kw_read(ctx, from, name, len);
	if (status)
		return status;
	*at -= len + 1;
	text[*at] = '/';
	memcpy(text + *at + 1, name, len);
	return KW_OK;
}

/*
 * Write the path of a mount to the end of text.
 *
 * @param at  set to where it begins
 * @return KW_OK; KW_NOTFOUND when it is not below the root; a read's state, KW_FORMAT for a path without an end
 */
static kw_status find_path(kw_ctx *ctx, const struct mount_layout *l, const struct place *root,
			   uint64_t mount, char *text, size_t size, size_t *at)
{
	struct place here = { .mount = mount };
	uint64_t top;
	kw_status status = kw_read_u64(ctx, mount + l->at[MNT_ROOT], &here.dentry);

	*at = size;
	for (int steps = 0; !status; steps++) {
		if (here.mount == root->mount && here.dentry == root->dentry)
			return KW_OK;
		if (steps == MAX_STEPS)
			return KW_FORMAT;
		status = kw_read_u64(ctx, here.mount + l->at[MNT_ROOT], &top);
		if (!status && here.dentry == top) {
			uint64_t above;

			status = kw_read_u64(ctx, here.mount + l->at[MNT_PARENT], &above);
			if (!status && above == here.mount)
				return KW_NOTFOUND;
			if (!status)
				status = kw_read_u64(ctx, here.mount + l->at[MNT_MOUNTPOINT], &here.dentry);
			here.mount = above;
		} else if (!status) {
			status = prepend(ctx, l, here.dentry, text, at);
			if (!status)
				status = kw_read_u64(ctx, here.dentry + l->at[D_PARENT], &here.dentry);
		}
	}
	return status;
}

static const struct kw_field_def path_fields[] = {
	KW_READ_FIELD("path", "PATH", "", STRING, NONE, PLAIN, POINTER, "where it is mounted",
		      "mount.mnt_mountpoint, mnt_parent; dentry.d_name"),
};

static void read_path(struct kw_row *row, const void *layout, struct kw_value *values)
{
	char text[4096];
	struct place root;
	size_t at;
	kw_status status = find_root(row->ctx, row->kernel, layout, &root);

	if (!status)
		status = find_path(row->ctx, layout, &root, row->task, text, sizeof(text) - 1, &at);
	if (status) {
		kw_set_absent(&values[0],
			      status == KW_NOTFOUND ? KW_ABSENT_NOT_APPLICABLE : kw_absent_of_status(status));
		return;
	}
	text[sizeof(text) - 1] = '\0';
	kw_set_row_text(row, &values[0], text[at] ? text + at : "/");
}

/* The other fields */

static void type_name(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char text[128];

	if (kw_pass_absent(in, 1, out))
		return;
	snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(in[0].len < 60 ? in[0].len : 60), in[0].str,
		 in[1].type == KW_VAL_STRING && in[1].len ? "." : "",
		 in[1].type == KW_VAL_STRING ? (int)(in[1].len < 60 ? in[1].len : 60) : 0,
		 in[1].type == KW_VAL_STRING ? in[1].str : "");
	kw_set_row_text(row, out, text);
}

/* In the order of /proc/mounts: those of the file system, then those of the mount. */
static void options(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	static const struct {
		uint32_t flag;
		bool of_mount;
		const char *name;
	} names[] = {
		{ 1 << 4, false, ",sync" },	{ 1 << 7, false, ",dirsync" },
		{ 1 << 6, false, ",mand" },	{ 1 << 25, false, ",lazytime" },
		{ 0x01, true, ",nosuid" },	{ 0x02, true, ",nodev" },
		{ 0x04, true, ",noexec" },	{ 0x08, true, ",noatime" },
		{ 0x10, true, ",nodiratime" },	{ 0x20, true, ",relatime" },
		{ 0x80, true, ",nosymfollow" },
	};
	char text[160];

	if (kw_pass_absent(in, 2, out))
		return;
	strcpy(text, in[0].u & MNT_READONLY || in[1].u & SB_RDONLY ? "ro" : "rw");
	for (size_t i = 0; i < COUNT(names); i++)
		if ((names[i].of_mount ? in[0].u : in[1].u) & names[i].flag)
			strcat(text, names[i].name);
	kw_set_row_text(row, out, text);
}

static void own_options(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_mount_own_options(row, in[0].u, out);
}

static const struct kw_field_def other_fields[] = {
	KW_PATH_FIELD("id", "ID", INT, NONE, PLAIN, OBJECT, "number of the mount", "mount.mnt_id", "mnt_id",
		      NULL),
	KW_PATH_FIELD("parent_id", "PARENT", INT, NONE, PLAIN, POINTER, "that of the mount above",
		      "mount.mnt_parent->mnt_id", "mnt_parent.mnt_id", NULL),
	KW_PATH_FIELD("device", "DEVICE", STRING, NONE, PLAIN, POINTER, "what is mounted",
		      "mount.mnt_devname", "mnt_devname", NULL),
	{ { "type", "TYPE", "", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_ROW, KW_COST_POINTER,
	    "kind of file system", "super_block.s_type->name, s_subtype" },
	  { "mnt.mnt_sb.s_type.name", "mnt.mnt_sb.s_subtype" },
	  type_name,
	  0 },
	{ { "options", "OPTIONS", "", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_ROW,
	    KW_COST_POINTER, "options, but for those that only this kind of file system has",
	    "vfsmount.mnt_flags, super_block.s_flags" },
	  { "mnt.mnt_flags", "mnt.mnt_sb.s_flags" },
	  options,
	  0 },
	{ { "own_options", "OWN OPTIONS", "", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_ROW,
	    KW_COST_POINTER, "options that only this kind of file system has: size=, mode=, ...",
	    "super_block.s_op->show_options, s_fs_info" },
	  { "mnt.mnt_sb" },
	  own_options,
	  0 },
};

static const struct kw_field_table path_table = { path_fields, COUNT(path_fields) };
static const struct kw_field_table other_table = { other_fields, COUNT(other_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &path_table, .subject = &subject, .read = read_path },
	{ .table = &other_table },
};

/* Walking */

struct mount_walk {
	kw_ctx *ctx;
	const struct mount_layout *layout;
	struct place root;
	kw_take_rows take;
	void *arg;
};

/* Mounts above the root, and cursors of readers in the list, have no path: they are not shown. */
static bool take_mount(kw_ctx *ctx, uint64_t mount, void *arg)
{
	struct mount_walk *w = arg;
	char text[4096];
	size_t at;

	if (find_path(ctx, w->layout, &w->root, mount, text, sizeof(text), &at) == KW_NOTFOUND)
		return true;
	return kw_take_row(w->take, mount, 0, 0, w->arg);
}

/* In the order of the tree, which is that of the mounts' numbers. */
static kw_status walk_tree(struct mount_walk *w, uint64_t ns)
{
	const uint64_t *at = w->layout->at;
	uint64_t stack[MAX_DEPTH], node;
	unsigned int depth = 0;
	kw_status status = kw_read_u64(w->ctx, ns + at[NS_TREE], &node);

	for (uint64_t nr = 0; !status && (node || depth); nr++) {
		if (nr == 2ULL * MAX_MOUNTS)
			return KW_FORMAT;
		if (node) {
			if (depth == MAX_DEPTH)
				return KW_FORMAT;
			stack[depth++] = node;
			status = kw_read_u64(w->ctx, node + at[RB_LEFT], &node);
			continue;
		}
		node = stack[--depth];
		if (!take_mount(w->ctx, node - at[MNT_NODE], w))
			return KW_OK;
		status = kw_read_u64(w->ctx, node + at[RB_RIGHT], &node);
	}
	return status;
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	struct mount_walk w = { .ctx = ctx, .layout = layout, .take = take, .arg = arg };
	const uint64_t *at = w.layout->at;
	bool tree = at[NS_TREE] != KW_NO_ADDR && at[MNT_NODE] != KW_NO_ADDR && at[RB_LEFT] != KW_NO_ADDR &&
		    at[RB_RIGHT] != KW_NO_ADDR;
	uint64_t ns;
	kw_status status;

	if (!w.layout->known || (!tree && (at[NS_LIST] == KW_NO_ADDR || at[MNT_LIST] == KW_NO_ADDR)))
		return KW_NOTFOUND;
	status = FOLLOW(ctx, w.layout, kernel->globals.init_pid_ns, &ns, REAPER, NSPROXY, MNT_NS);
	if (!status)
		status = find_root(ctx, kernel, w.layout, &w.root);
	if (status)
		return status;
	return tree ? walk_tree(&w, ns)
		    : kw_list_each(ctx, ns + at[NS_LIST], at[MNT_LIST], MAX_MOUNTS, take_mount, &w);
}

const struct kw_source_def kw_mount_source = {
	.pub = { "mounts", "a mounted file system, as the first process sees it",
		 "device,path,type,options" },
	.type = "struct mount",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
