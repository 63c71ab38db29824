/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source files: open files of processes, the links in /proc/PID/fd.
 *
 *     task_struct.files -> files_struct.fdt -> fdtable { max_fds, open_fds: bits, close_on_exec: bits, fd[] -> file }
 *
 * A number may be taken before there is a file: accept() does so. It is no row.
 */
#include <string.h>

#include "kernel/file_name.h"
#include "kernel/task_rows.h"
#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_FILES    (1u << 30) /* sysctl_nr_open_max, about */

struct file_layout {
	uint64_t files;			 /* of task_struct */
	uint64_t table;			 /* of files_struct */
	uint64_t max, open, on_exec, fd; /* of fdtable */
	bool is_whole;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct file_layout *l = layout;
	const struct {
		const char *type, *path;
		uint64_t *offset;
	} wanted[] = {
		{ "task_struct", "files", &l->files },	     { "files_struct", "fdt", &l->table },
		{ "fdtable", "max_fds", &l->max },	     { "fdtable", "open_fds", &l->open },
		{ "fdtable", "close_on_exec", &l->on_exec }, { "fdtable", "fd", &l->fd },
	};

	(void)kernel;
	l->is_whole = true;
	for (size_t i = 0; i < COUNT(wanted); i++) {
		*wanted[i].offset = kw_offset_or_none(ctx, wanted[i].type, wanted[i].path);
		l->is_whole = l->is_whole && *wanted[i].offset != KW_NO_ADDR;
	}
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct file_layout), resolve };

/* 0: a task that is past its end has no files any more. */
static kw_status find_table(kw_ctx *ctx, const struct file_layout *l, uint64_t task, uint64_t *ret)
{
	uint64_t files;
	kw_status status = kw_read_u64(ctx, task + l->files, &files);

	*ret = 0;
	return status || !files ? status : kw_read_u64(ctx, files + l->table, ret);
}

/* The files whose numbers are the bits of a word, which begins at number `first`. False when no more are wanted. */
static bool take_word(kw_ctx *ctx, uint64_t fd, uint64_t bits, uint32_t first, uint32_t pid,
		      kw_take_rows take, void *arg, kw_status *status)
{
	uint64_t file[64];
	unsigned int used = 64 - (unsigned int)__builtin_clzll(bits);

	*status = kw_read(ctx, fd + first * 8ULL, file, used * 8);
	for (unsigned int i = 0; !*status && i < used; i++)
		if (bits >> i & 1 && file[i] && !kw_take_row(take, file[i], first + i, pid, arg))
			return false;
	return !*status;
}

static kw_status walk_task(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, uint64_t task,
			   int32_t pid, kw_take_rows take, void *arg)
{
	const struct file_layout *l = layout;
	uint64_t table, open, fd, bits;
	uint32_t max;
	kw_status status;

	(void)kernel;
	if (!l->is_whole)
		return KW_NOTFOUND;
	status = find_table(ctx, l, task, &table);
	if (status || !table)
		return status;
	status = kw_read_u32(ctx, table + l->max, &max);
	if (!status)
		status = kw_read_u64(ctx, table + l->open, &open);
	if (!status)
		status = kw_read_u64(ctx, table + l->fd, &fd);
	if (!status && max > MAX_FILES)
		return KW_FORMAT;
	for (uint32_t first = 0; !status && first < max; first += 64) {
		status = kw_read_u64(ctx, open + first / 8, &bits);
		if (!status && bits && !take_word(ctx, fd, bits, first, (uint32_t)pid, take, arg, &status))
			break;
	}
	return status;
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	return kw_walk_tasks(ctx, kernel, layout, walk_task, take, arg);
}

/* What the table says of a number. */

enum { FD, CLOEXEC };

static const struct kw_field_def number_fields[] = {
	[FD] = KW_READ_FIELD("fd", "FD", "", UINT, NONE, PLAIN, OBJECT, "number of the file",
			     "fdtable.open_fds"),
	[CLOEXEC] = KW_READ_FIELD("cloexec", "CLOEXEC", "", BOOL, NONE, PLAIN, POINTER, "exec closes it",
				  "fdtable.close_on_exec"),
};

static const struct kw_field_table number_table = { number_fields, COUNT(number_fields) };

static kw_status read_on_exec(struct kw_row *row, const struct file_layout *l, uint64_t *ret)
{
	struct kw_task_ref ref;
	uint64_t table, at;
	kw_status status = kw_pid_lookup(row->ctx, row->kernel, (int32_t)row->cpu, &ref);

	if (!status)
		status = find_table(row->ctx, l, ref.task, &table);
	if (!status && !table)
		status = KW_NOTFOUND;
	if (!status)
		status = kw_read_u64(row->ctx, table + l->on_exec, &at);
	return status ? status : kw_read_u64(row->ctx, at + row->index / 64 * 8, ret);
}

static void read_numbers(struct kw_row *row, const void *layout, struct kw_value *values)
{
	uint64_t bits;
	kw_status status = read_on_exec(row, layout, &bits);

	kw_set_uint(&values[FD], row->index);
	if (status)
		kw_set_absent(&values[CLOEXEC],
			      status == KW_NOTFOUND ? KW_ABSENT_NOT_APPLICABLE : kw_absent_of_status(status));
	else
		kw_set_bool(&values[CLOEXEC], bits >> row->index % 64 & 1);
}

/* What the file itself says. The row's object is the struct file. */

static void inode_number(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_set_inode_value(row, row->task, KW_INODE_NUMBER, out);
}

static void device(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_set_inode_value(row, row->task, KW_INODE_DEVICE, out);
}

static void type(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_set_inode_value(row, row->task, KW_INODE_TYPE, out);
}

static void file_name(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_set_file_name(row, row->task, out);
}

static const struct kw_field_def file_fields[] = {
	KW_PATH_FIELD("type", "TYPE", STRING, NONE, PLAIN, POINTER,
		      "kind: REG DIR CHR BLK FIFO SOCK LNK, anon for the kernel's own", "inode.i_mode",
		      "f_inode", type),
	KW_PATH_FIELD("flags", "FLAGS", UINT, NONE, OCTAL, OBJECT, "how it was opened, as open(2) has them",
		      "file.f_flags", "f_flags", NULL),
	KW_PATH_FIELD("pos", "POS", INT, BYTES, PLAIN, OBJECT, "where it will be read or written next",
		      "file.f_pos", "f_pos", NULL),
	KW_PATH_FIELD("dev", "DEV", STRING, NONE, PLAIN, POINTER,
		      "device of its file system, major and minor number in hexadecimal", "super_block.s_dev",
		      "f_inode", device),
	KW_PATH_FIELD("inode", "INODE", UINT, NONE, PLAIN, POINTER, "inode number", "inode.i_ino", "f_inode",
		      inode_number),
	KW_PATH_FIELD("path", "PATH", STRING, NONE, PLAIN, WALK,
		      "path, or what /proc/PID/fd has instead: pipe:[1], socket:[2], anon_inode:[eventpoll]",
		      "file.f_path", "f_inode", file_name),
};

static const struct kw_field_table file_table = { file_fields, COUNT(file_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &kw_owner_fields, .read = kw_owner_read },
	{ .table = &number_table, .subject = &subject, .read = read_numbers },
	{ .table = &file_table },
};

const struct kw_source_def kw_file_source = {
	.pub = { "files", "an open file of a process", "pid,fd,type,flags,path" },
	.type = "struct file",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
	.walk_task = walk_task,
};
