/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options that a file system prints itself in /proc/mounts (size=, mode=, ...).
 *
 * Which they are is code: super_block.s_op->show_options tells which function it is. Those of the kernel's own file
 * systems are known here; a mount of another that has such a function has options that are not known.
 *
 *     tmpfs, devtmpfs, rootfs    shmem_sb_info        debugfs, tracefs, ramfs    ..._fs_info
 *     proc                       proc_fs_info         devpts                     pts_fs_info
 *     cgroup, cgroup2            cgroup_root          bpf                        the root's inode, bpf_mount_opts
 */
#include "kernel/mount_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/list.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_SUPERS   1000000

/* Functions that print options, and what else they look at. */
enum {
	SHOW_SHMEM,
	SHOW_PROC,
	SHOW_DEVPTS,
	SHOW_KERNFS,
	SHOW_CGROUP2,
	SHOW_CGROUP1,
	SHOW_BPF,
	SHOW_TRACEFS,
	SHOW_DEBUGFS,
	SHOW_RAMFS,
	DFL_ROOT,
	SUBSYSTEMS,
	FAVOR_DYNMODS,
	SUPER_BLOCKS,
	SELINUX,
	TOTALRAM,
	NR_SYMBOLS
};

static const char *const symbols[NR_SYMBOLS] = {
	[SHOW_SHMEM] = "shmem_show_options",
	[SHOW_PROC] = "proc_show_options",
	[SHOW_DEVPTS] = "devpts_show_options",
	[SHOW_KERNFS] = "kernfs_sop_show_options",
	[SHOW_CGROUP2] = "cgroup_show_options",
	[SHOW_CGROUP1] = "cgroup1_show_options",
	[SHOW_BPF] = "bpf_show_options",
	[SHOW_TRACEFS] = "tracefs_show_options",
	[SHOW_DEBUGFS] = "debugfs_show_options",
	[SHOW_RAMFS] = "ramfs_show_options",
	[DFL_ROOT] = "cgrp_dfl_root",
	[SUBSYSTEMS] = "cgroup_subsys",
	[FAVOR_DYNMODS] = "cgroup_favor_dynmods",
	[SUPER_BLOCKS] = "super_blocks",
	[SELINUX] = "selinux_state",
	[TOTALRAM] = "_totalram_pages",
};

enum {
	SB_OP,
	SB_INFO,
	SB_ROOT,
	SB_LIST,
	SB_TYPE,
	SB_QUOTA,
	SB_ENCODING,
	OP_SHOW,
	OP_DEVNAME,
	TYPE_NAME,
	D_INODE,
	I_MODE,
	I_UID,
	I_GID,
	SHMEM_BLOCKS,
	SHMEM_INODES,
	SHMEM_MODE,
	SHMEM_UID,
	SHMEM_GID,
	SHMEM_INUMS,
	SHMEM_HUGE,
	SHMEM_MPOL,
	SHMEM_NOSWAP,
	PROC_GID,
	PROC_HIDE,
	PROC_PIDONLY,
	PTS_SETUID,
	PTS_SETGID,
	PTS_UID,
	PTS_GID,
	PTS_MODE,
	PTS_PTMXMODE,
	PTS_MAX,
	KERNFS_ROOT,
	KERNFS_OPS,
	KERNFS_SHOW,
	KERNFS_NODE,
	NODE_PRIV,
	CGROUP_ROOT,
	CGROUP_FLAGS,
	CGROUP_MASK,
	CGROUP_AGENT,
	CGROUP_NAME,
	CGROUP_GROUP_FLAGS,
	SUBSYSTEM_NAME,
	BPF_UID,
	BPF_CMDS,
	BPF_MAPS,
	BPF_PROGS,
	BPF_ATTACHS,
	TRACEFS_UID,
	TRACEFS_GID,
	TRACEFS_MODE,
	DEBUGFS_UID,
	DEBUGFS_GID,
	DEBUGFS_MODE,
	RAMFS_MODE,
	SELINUX_INITIALIZED,
	NR_MEMBERS
};

/* The last name is what the member was called before. */
static const char *const members[NR_MEMBERS][3] = {
	[SB_OP] = { "super_block", "s_op" },
	[SB_INFO] = { "super_block", "s_fs_info" },
	[SB_ROOT] = { "super_block", "s_root" },
	[SB_LIST] = { "super_block", "s_list" },
	[SB_TYPE] = { "super_block", "s_type" },
	[SB_QUOTA] = { "super_block", "s_dquot.flags" },
	[SB_ENCODING] = { "super_block", "s_encoding" },
	[OP_SHOW] = { "super_operations", "show_options" },
	[OP_DEVNAME] = { "super_operations", "show_devname" },
	[TYPE_NAME] = { "file_system_type", "name" },
	[D_INODE] = { "dentry", "d_inode" },
	[I_MODE] = { "inode", "i_mode" },
	[I_UID] = { "inode", "i_uid" },
	[I_GID] = { "inode", "i_gid" },
	[SHMEM_BLOCKS] = { "shmem_sb_info", "max_blocks" },
	[SHMEM_INODES] = { "shmem_sb_info", "max_inodes" },
	[SHMEM_MODE] = { "shmem_sb_info", "mode" },
	[SHMEM_UID] = { "shmem_sb_info", "uid" },
	[SHMEM_GID] = { "shmem_sb_info", "gid" },
	[SHMEM_INUMS] = { "shmem_sb_info", "full_inums" },
	[SHMEM_HUGE] = { "shmem_sb_info", "huge" },
	[SHMEM_MPOL] = { "shmem_sb_info", "mpol" },
	[SHMEM_NOSWAP] = { "shmem_sb_info", "noswap" },
	[PROC_GID] = { "proc_fs_info", "pid_gid" },
	[PROC_HIDE] = { "proc_fs_info", "hide_pid" },
	[PROC_PIDONLY] = { "proc_fs_info", "pidonly" },
	[PTS_SETUID] = { "pts_fs_info", "mount_opts.setuid" },
	[PTS_SETGID] = { "pts_fs_info", "mount_opts.setgid" },
	[PTS_UID] = { "pts_fs_info", "mount_opts.uid" },
	[PTS_GID] = { "pts_fs_info", "mount_opts.gid" },
	[PTS_MODE] = { "pts_fs_info", "mount_opts.mode" },
	[PTS_PTMXMODE] = { "pts_fs_info", "mount_opts.ptmxmode" },
	[PTS_MAX] = { "pts_fs_info", "mount_opts.max" },
	[KERNFS_ROOT] = { "kernfs_super_info", "root" },
	[KERNFS_OPS] = { "kernfs_root", "syscall_ops" },
	[KERNFS_SHOW] = { "kernfs_syscall_ops", "show_options" },
	[KERNFS_NODE] = { "kernfs_root", "kn" },
	[NODE_PRIV] = { "kernfs_node", "priv" },
	[CGROUP_ROOT] = { "cgroup", "root" },
	[CGROUP_FLAGS] = { "cgroup_root", "flags" },
	[CGROUP_MASK] = { "cgroup_root", "subsys_mask" },
	[CGROUP_AGENT] = { "cgroup_root", "release_agent_path" },
	[CGROUP_NAME] = { "cgroup_root", "name" },
	[CGROUP_GROUP_FLAGS] = { "cgroup_root", "cgrp.flags" },
	[SUBSYSTEM_NAME] = { "cgroup_subsys", "legacy_name" },
	[BPF_UID] = { "bpf_mount_opts", "uid" },
	[BPF_CMDS] = { "bpf_mount_opts", "delegate_cmds" },
	[BPF_MAPS] = { "bpf_mount_opts", "delegate_maps" },
	[BPF_PROGS] = { "bpf_mount_opts", "delegate_progs" },
	[BPF_ATTACHS] = { "bpf_mount_opts", "delegate_attachs" },
	[TRACEFS_UID] = { "tracefs_fs_info", "uid", "mount_opts.uid" },
	[TRACEFS_GID] = { "tracefs_fs_info", "gid", "mount_opts.gid" },
	[TRACEFS_MODE] = { "tracefs_fs_info", "mode", "mount_opts.mode" },
	[DEBUGFS_UID] = { "debugfs_fs_info", "uid", "mount_opts.uid" },
	[DEBUGFS_GID] = { "debugfs_fs_info", "gid", "mount_opts.gid" },
	[DEBUGFS_MODE] = { "debugfs_fs_info", "mode", "mount_opts.mode" },
	[RAMFS_MODE] = { "ramfs_fs_info", "mount_opts.mode" },
	[SELINUX_INITIALIZED] = { "selinux_state", "initialized" },
};

struct options_layout {
	uint64_t symbol[NR_SYMBOLS];
	struct {
		uint64_t offset; /* KW_NO_ADDR: this kernel has none */
		size_t size;
	} member[NR_MEMBERS];
};

static void resolve_member(kw_ctx *ctx, struct options_layout *l, size_t i)
{
	struct kw_member member;

	l->member[i].offset = KW_NO_ADDR;
	for (size_t k = 1; k < 3 && members[i][k] && l->member[i].offset == KW_NO_ADDR; k++) {
		uint64_t size;

		if (kw_type_offset(ctx, members[i][0], members[i][k], &member) != KW_OK)
			continue;
		size = kw_type_size(ctx, member.type);
		/* Of a text the first byte tells whether there is one. */
		if (size) {
			l->member[i].offset = member.bit_offset / 8;
			l->member[i].size = size <= 8 ? size : 1;
		}
	}
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct options_layout *l = layout;
	struct kw_symbol_query q[NR_SYMBOLS];

	(void)kernel;
	for (size_t i = 0; i < NR_SYMBOLS; i++)
		q[i] = (struct kw_symbol_query){ symbols[i], KW_NO_ADDR };
	kw_symbol_addresses(ctx, q, NR_SYMBOLS);
	for (size_t i = 0; i < NR_SYMBOLS; i++)
		l->symbol[i] = q[i].addr;
	for (size_t i = 0; i < NR_MEMBERS; i++)
		resolve_member(ctx, l, i);
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct options_layout), resolve };

/* The options of one mount, while they are put together. */
struct listing {
	kw_ctx *ctx;
	const struct options_layout *l;
	uint64_t super, info; /* super_block, and its s_fs_info */
	char text[256];
	size_t used;
	kw_status status; /* KW_NOTFOUND: not known; or a read's state */
};

/* Read a member; 0 after a failure, which is kept. */
static uint64_t member(struct listing *o, uint64_t object, int which)
{
	uint64_t value = 0;

	if (o->status)
		return 0;
	if (o->l->member[which].offset == KW_NO_ADDR)
		o->status = KW_NOTFOUND;
	else
		o->status = kw_read(o->ctx, object + o->l->member[which].offset, &value,
				    o->l->member[which].size);
	return o->status ? 0 : value;
}

static bool has_member(const struct listing *o, int which)
{
	return o->l->member[which].offset != KW_NO_ADDR;
}

/* A member that only some kernels have: 0 in the others. */
static uint64_t member_if_any(struct listing *o, uint64_t object, int which)
{
	return has_member(o, which) ? member(o, object, which) : 0;
}

__attribute__((format(printf, 2, 3))) static void add(struct listing *o, const char *format, ...)
{
	va_list args;

	if (o->status)
		return;
	if (o->used)
		o->text[o->used++] = ',';
	va_start(args, format);
	o->used += (size_t)vsnprintf(o->text + o->used, sizeof(o->text) - o->used, format, args);
	va_end(args);
	if (o->used >= sizeof(o->text) - 32)
		o->status = KW_FORMAT;
}

static void add_id(struct listing *o, const char *name, uint64_t id)
{
	if (id)
		add(o, "%s=%u", name, (unsigned int)id);
}

static void add_mode(struct listing *o, uint64_t mode, uint64_t standard)
{
	if (mode != standard)
		add(o, "mode=%o", (unsigned int)mode);
}

/* tmpfs */

struct searching {
	struct listing *o;
	uint64_t found; /* super_block of devtmpfs */
};

static bool is_devtmpfs(kw_ctx *ctx, uint64_t super, void *arg)
{
	struct searching *s = arg;
	uint64_t type = member(s->o, super, SB_TYPE), name = member(s->o, type, TYPE_NAME);
	char text[16];

	if (!s->o->status && kw_read_string(ctx, name, text, sizeof(text)) == KW_OK &&
	    strcmp(text, "devtmpfs") == 0)
		s->found = super;
	return !s->o->status && !s->found;
}

/*
 * The width of inode numbers is shown where it is that of CONFIG_TMPFS_INODE64, or where that is set. The kernel mounts
 * devtmpfs without asking for a width: what it has tells the configuration.
 */
static void add_inode_width(struct listing *o)
{
	struct searching s = { .o = o };
	uint64_t wide = has_member(o, SHMEM_INUMS) ? member(o, o->info, SHMEM_INUMS) : 2;

	if (o->status || wide == 2)
		return;
	if (!wide && (o->l->symbol[SUPER_BLOCKS] == KW_NO_ADDR || !has_member(o, SB_LIST)))
		return;
	if (!wide && kw_list_each(o->ctx, o->l->symbol[SUPER_BLOCKS], o->l->member[SB_LIST].offset,
				  MAX_SUPERS, is_devtmpfs, &s) != KW_OK)
		o->status = KW_FORMAT;
	if (wide || (s.found && member(o, member(o, s.found, SB_INFO), SHMEM_INUMS)))
		add(o, "inode%d", wide ? 64 : 32);
}

static void add_huge(struct listing *o)
{
	static const char *const names[] = { NULL, "always", "within_size", "advise" };
	uint64_t huge = member_if_any(o, o->info, SHMEM_HUGE);

	if (huge < COUNT(names) && names[huge])
		add(o, "huge=%s", names[huge]);
	else if (huge)
		o->status = KW_NOTFOUND;
}

static void list_shmem(struct listing *o)
{
	uint64_t ram = 0, blocks = member(o, o->info, SHMEM_BLOCKS);
	uint64_t inodes = member(o, o->info, SHMEM_INODES), mode = member(o, o->info, SHMEM_MODE);

	if (!o->status)
		o->status = o->l->symbol[TOTALRAM] == KW_NO_ADDR
				    ? KW_NOTFOUND
				    : kw_read_u64(o->ctx, o->l->symbol[TOTALRAM], &ram);
	if (blocks != ram / 2)
		add(o, "size=%lluk", (unsigned long long)blocks * (KW_PAGE_SIZE / 1024));
	if (inodes != ram / 2)
		add(o, "nr_inodes=%llu", (unsigned long long)inodes);
	if (mode != 01777)
		add(o, "mode=%03o", (unsigned int)mode);
	add_id(o, "uid", member(o, o->info, SHMEM_UID));
	add_id(o, "gid", member(o, o->info, SHMEM_GID));
	add_inode_width(o);
	add_huge(o);
	if (member_if_any(o, o->info, SHMEM_NOSWAP))
		add(o, "noswap");
	/* A memory policy, quotas and case folding have texts of their own. */
	if (member_if_any(o, o->info, SHMEM_MPOL) || member_if_any(o, o->super, SB_QUOTA) ||
	    member_if_any(o, o->super, SB_ENCODING))
		o->status = o->status ? o->status : KW_NOTFOUND;
}

/* The others */

static void list_proc(struct listing *o)
{
	static const char *const hide[] = { NULL, "noaccess", "invisible", NULL, "ptraceable" };
	uint64_t how;

	add_id(o, "gid", member(o, o->info, PROC_GID));
	how = member(o, o->info, PROC_HIDE);
	if (how < COUNT(hide) && hide[how])
		add(o, "hidepid=%s", hide[how]);
	else if (how)
		o->status = KW_NOTFOUND;
	if (member(o, o->info, PROC_PIDONLY))
		add(o, "subset=pid");
}

static void list_devpts(struct listing *o)
{
	uint64_t most = member(o, o->info, PTS_MAX);

	if (member(o, o->info, PTS_SETUID))
		add(o, "uid=%u", (unsigned int)member(o, o->info, PTS_UID));
	if (member(o, o->info, PTS_SETGID))
		add(o, "gid=%u", (unsigned int)member(o, o->info, PTS_GID));
	add(o, "mode=%03o", (unsigned int)member(o, o->info, PTS_MODE));
	add(o, "ptmxmode=%03o", (unsigned int)member(o, o->info, PTS_PTMXMODE));
	if (most < 1 << 20)
		add(o, "max=%d", (int)most);
}

/* The flags of the control groups' root have moved: with favordynmods, in 6.0. */
static void list_cgroup2(struct listing *o)
{
	static const struct {
		unsigned int before, since; /* 0: not there */
		const char *name;
	} flags[] = {
		{ 1 << 3, 1 << 3, "nsdelegate" },
		{ 0, 1 << 4, "favordynmods" },
		{ 1 << 5, 1 << 17, "memory_localevents" },
		{ 1 << 6, 1 << 18, "memory_recursiveprot" },
		{ 0, 1 << 19, "memory_hugetlb_accounting" },
		{ 0, 1 << 20, "pids_localevents" },
	};
	bool moved = o->l->symbol[FAVOR_DYNMODS] != KW_NO_ADDR;
	uint64_t set;

	if (o->l->symbol[DFL_ROOT] == KW_NO_ADDR) {
		o->status = KW_NOTFOUND;
		return;
	}
	set = member(o, o->l->symbol[DFL_ROOT], CGROUP_FLAGS);
	for (size_t i = 0; i < COUNT(flags); i++)
		if (set & (moved ? flags[i].since : flags[i].before))
			add(o, "%s", flags[i].name);
}

/* Add NAME=TEXT, or the text alone. One that would have to be escaped is left to others. */
static void add_text(struct listing *o, const char *name, uint64_t addr)
{
	char text[128];

	if (!o->status)
		o->status = kw_read_string(o->ctx, addr, text, sizeof(text));
	if (!o->status && (strlen(text) == sizeof(text) - 1 || strpbrk(text, ",= \t\n\\")))
		o->status = KW_NOTFOUND;
	if (!o->status && name)
		add(o, "%s=%s", name, text);
	else if (!o->status)
		add(o, "%s", text);
}

/* The version before: controllers, flags, and what else was given. */
static void list_cgroup1(struct listing *o, uint64_t kernfs_root)
{
	bool moved = o->l->symbol[FAVOR_DYNMODS] != KW_NO_ADDR;
	uint64_t group = member(o, member(o, kernfs_root, KERNFS_NODE), NODE_PRIV);
	uint64_t root = member(o, group, CGROUP_ROOT), mask = member(o, root, CGROUP_MASK);
	uint64_t flags = member(o, root, CGROUP_FLAGS), subsystem;

	if (!o->status && o->l->symbol[SUBSYSTEMS] == KW_NO_ADDR)
		o->status = KW_NOTFOUND;
	for (unsigned int i = 0; !o->status && i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		o->status = kw_read_u64(o->ctx, o->l->symbol[SUBSYSTEMS] + 8ULL * i, &subsystem);
		add_text(o, NULL, member(o, subsystem, SUBSYSTEM_NAME));
	}
	if (flags & 1 << 1)
		add(o, "noprefix");
	if (flags & 1 << 2)
		add(o, "xattr");
	if (flags & (moved ? 1 << 16 : 1 << 4))
		add(o, "cpuset_v2_mode");
	if (moved && flags & 1 << 4)
		add(o, "favordynmods");
	if (member(o, root, CGROUP_AGENT))
		add_text(o, "release_agent", root + o->l->member[CGROUP_AGENT].offset);
	if (member(o, root, CGROUP_GROUP_FLAGS) & 1 << 1)
		add(o, "clone_children");
	if (member(o, root, CGROUP_NAME))
		add_text(o, "name", root + o->l->member[CGROUP_NAME].offset);
}

static void list_kernfs(struct listing *o)
{
	uint64_t root = member(o, o->info, KERNFS_ROOT), ops = member(o, root, KERNFS_OPS), show;

	/* sysfs has none. */
	show = ops ? member(o, ops, KERNFS_SHOW) : 0;
	if (!o->status && show && show == o->l->symbol[SHOW_CGROUP2])
		list_cgroup2(o);
	else if (!o->status && show && show == o->l->symbol[SHOW_CGROUP1])
		list_cgroup1(o, root);
	else if (!o->status && show)
		o->status = KW_NOTFOUND;
}

/* Since 6.8 the owner is shown. What is delegated (since 6.9) has names of commands, maps and programs. */
static void list_bpf(struct listing *o)
{
	uint64_t inode = member(o, member(o, o->super, SB_ROOT), D_INODE);

	if (has_member(o, BPF_UID)) {
		add_id(o, "uid", member(o, inode, I_UID));
		add_id(o, "gid", member(o, inode, I_GID));
	}
	add_mode(o, member(o, inode, I_MODE) & 06777, 0777);
	if (!has_member(o, BPF_CMDS))
		return;
	for (int which = BPF_CMDS; which <= BPF_ATTACHS; which++)
		if (member(o, o->info, which))
			o->status = KW_NOTFOUND;
}

static void list_tracefs(struct listing *o)
{
	add_id(o, "uid", member(o, o->info, TRACEFS_UID));
	add_id(o, "gid", member(o, o->info, TRACEFS_GID));
	add_mode(o, member(o, o->info, TRACEFS_MODE), 0700);
}

static void list_debugfs(struct listing *o)
{
	add_id(o, "uid", member(o, o->info, DEBUGFS_UID));
	add_id(o, "gid", member(o, o->info, DEBUGFS_GID));
	add_mode(o, member(o, o->info, DEBUGFS_MODE), 0700);
}

static void list_ramfs(struct listing *o)
{
	add_mode(o, member(o, o->info, RAMFS_MODE), 0755);
}

static const struct {
	int show;
	void (*list)(struct listing *o);
} lists[] = {
	{ SHOW_SHMEM, list_shmem },	{ SHOW_PROC, list_proc },   { SHOW_DEVPTS, list_devpts },
	{ SHOW_KERNFS, list_kernfs },	{ SHOW_BPF, list_bpf },	    { SHOW_TRACEFS, list_tracefs },
	{ SHOW_DEBUGFS, list_debugfs }, { SHOW_RAMFS, list_ramfs },
};

static void list_options(struct listing *o)
{
	uint64_t op = member(o, o->super, SB_OP), show = member(o, op, OP_SHOW);
	size_t i = 0;

	o->info = member(o, o->super, SB_INFO);
	if (o->status || !show)
		return;
	while (i < COUNT(lists) && o->l->symbol[lists[i].show] != show)
		i++;
	if (i < COUNT(lists))
		lists[i].list(o);
	else
		o->status = KW_NOTFOUND;
}

/* SELinux has options of its own with every mount. */
static bool is_labelled(struct listing *o)
{
	return o->l->symbol[SELINUX] != KW_NO_ADDR &&
	       member_if_any(o, o->l->symbol[SELINUX], SELINUX_INITIALIZED);
}

void kw_mount_own_options(struct kw_row *row, uint64_t super, struct kw_value *out)
{
	struct listing o = { .ctx = row->ctx, .super = super };

	o.l = kw_layout_get(row->ctx, row->kernel, &subject);
	if (!o.l) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	list_options(&o);
	if (!o.status && is_labelled(&o))
		o.status = KW_NOTFOUND;
	if (!o.status)
		kw_set_row_text(row, out, o.text);
	else
		kw_set_absent(out,
			      o.status == KW_NOTFOUND ? KW_ABSENT_NOT_KNOWN : kw_absent_of_status(o.status));
}
