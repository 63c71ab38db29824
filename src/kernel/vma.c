/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source vmas: areas of the memory of processes, the lines of /proc/PID/maps.
 *
 *     mm_struct.mmap -> vm_area_struct.vm_next -> ...    until 6.0, in the order of addresses
 *     mm_struct.mm_mt                                    a maple tree since 6.1
 *
 * Behind them a process may have one more that all share, gate_vma: [vsyscall].
 */
#include <stdio.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/file_name.h"
#include "kernel/maple.h"
#include "kernel/task_rows.h"
#include "memory/memory.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_AREAS    (1u << 22)
#define MAX_NAME     256

#define VM_READ	    0x1u
#define VM_WRITE    0x2u
#define VM_EXEC	    0x4u
#define VM_MAYSHARE 0x80u

#define VSYSCALL_NONE		2	  /* of vsyscall_mode: EMULATE, XONLY, NONE */
#define MM_CONTEXT_HAS_VSYSCALL (1u << 1) /* of mm_context_t.flags, since 5.12 */

/* Offsets and addresses; KW_NO_ADDR for what this kernel lacks. */
struct vma_layout {
	uint64_t mm, flags;						 /* of task_struct */
	uint64_t tree, list, context_flags, start_brk, brk, start_stack; /* of mm_struct */
	uint64_t start, end, next, owner, ops, file, private, anon_name; /* of vm_area_struct */
	uint64_t ops_name;						 /* of vm_operations_struct */
	uint64_t special_name;						 /* of vm_special_mapping */
	uint64_t anon_text;						 /* of anon_vma_name */
	uint64_t gate, vsyscall_mode, gate_name, special;		 /* symbols */
	bool heap_is_strict;						 /* since 6.6: see is_heap() */
	bool files_have_names;
	bool is_whole;
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct vma_layout *l = layout;
	struct kw_symbol_query q[] = { { "gate_vma", KW_NO_ADDR },
				       { "vsyscall_mode", KW_NO_ADDR },
				       { "gate_vma_name", KW_NO_ADDR },
				       { "special_mapping_name", KW_NO_ADDR } };
	const struct {
		const char *type, *path;
		uint64_t *offset;
		bool optional;
	} wanted[] = {
		{ "task_struct", "mm", &l->mm, false },
		{ "task_struct", "flags", &l->flags, false },
		{ "mm_struct", "mm_mt", &l->tree, true },
		{ "mm_struct", "mmap", &l->list, true },
		{ "mm_struct", "context.flags", &l->context_flags, true },
		{ "mm_struct", "start_brk", &l->start_brk, false },
		{ "mm_struct", "brk", &l->brk, false },
		{ "mm_struct", "start_stack", &l->start_stack, false },
		{ "vm_area_struct", "vm_start", &l->start, false },
		{ "vm_area_struct", "vm_end", &l->end, false },
		{ "vm_area_struct", "vm_next", &l->next, true },
		{ "vm_area_struct", "vm_mm", &l->owner, false },
		{ "vm_area_struct", "vm_ops", &l->ops, false },
		{ "vm_area_struct", "vm_file", &l->file, false },
		{ "vm_area_struct", "vm_private_data", &l->private, false },
		{ "vm_area_struct", "anon_name", &l->anon_name, true },
		{ "vm_operations_struct", "name", &l->ops_name, false },
		{ "vm_special_mapping", "name", &l->special_name, false },
		{ "anon_vma_name", "name", &l->anon_text, true },
	};

	(void)kernel;
	l->is_whole = true;
	for (size_t i = 0; i < COUNT(wanted); i++) {
		*wanted[i].offset = kw_offset_or_none(ctx, wanted[i].type, wanted[i].path);
		l->is_whole = l->is_whole && (wanted[i].optional || *wanted[i].offset != KW_NO_ADDR);
	}
	l->is_whole = l->is_whole &&
		      (l->tree != KW_NO_ADDR || (l->list != KW_NO_ADDR && l->next != KW_NO_ADDR));
	kw_symbol_addresses(ctx, q, COUNT(q));
	l->gate = q[0].addr;
	l->vsyscall_mode = q[1].addr;
	l->gate_name = q[2].addr;
	l->special = q[3].addr;
	/* Until 6.1 it lies where a file has its place in a tree: only areas without a file have one. */
	l->files_have_names = kw_offset_or_none(ctx, "vm_area_struct", "shared") != l->anon_name;
	l->heap_is_strict = kw_offset_or_none(ctx, "sched_entity", "vlag") != KW_NO_ADDR;
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct vma_layout), resolve };

struct area_walk {
	kw_ctx *ctx;
	const struct vma_layout *layout;
	kw_take_rows take;
	void *arg;
	uint32_t pid, nr;
	bool is_live, stopped;
	kw_status status;
};

/* What lies in the tree must be what its place says; on the live kernel it may have changed since. */
static bool take_entry(uint64_t first, uint64_t last, uint64_t area, void *arg)
{
	struct area_walk *w = arg;
	uint64_t start, end;
	kw_status status = kw_read_u64(w->ctx, area + w->layout->start, &start);

	if (!status)
		status = kw_read_u64(w->ctx, area + w->layout->end, &end);
	if (!status && (start != first || end - 1 != last))
		status = KW_FORMAT;
	if (status) {
		w->status = w->status || w->is_live ? w->status : status;
		return true;
	}
	w->stopped = !kw_take_row(w->take, area, w->nr++, w->pid, w->arg);
	return !w->stopped;
}

/* Each begins behind the one before, so that a circle is none. */
static kw_status walk_list(struct area_walk *w, uint64_t mm)
{
	uint64_t area, start, before = 0;
	kw_status status = kw_read_u64(w->ctx, mm + w->layout->list, &area);

	while (!status && area && !w->stopped) {
		status = kw_read_u64(w->ctx, area + w->layout->start, &start);
		if (!status && ((w->nr && start <= before) || w->nr == MAX_AREAS))
			return KW_FORMAT;
		if (status)
			break;
		before = start;
		w->stopped = !kw_take_row(w->take, area, w->nr++, w->pid, w->arg);
		status = kw_read_u64(w->ctx, area + w->layout->next, &area);
	}
	return status;
}

static bool has_gate(kw_ctx *ctx, const struct vma_layout *l, uint64_t mm)
{
	uint32_t mode;
	uint64_t flags;

	if (l->gate == KW_NO_ADDR || l->vsyscall_mode == KW_NO_ADDR ||
	    kw_read_u32(ctx, l->vsyscall_mode, &mode) != KW_OK || mode >= VSYSCALL_NONE)
		return false;
	return l->context_flags == KW_NO_ADDR ||
	       (kw_read_u64(ctx, mm + l->context_flags, &flags) == KW_OK && flags & MM_CONTEXT_HAS_VSYSCALL);
}

/* A kernel thread may have borrowed a memory, which is not its own. */
static kw_status find_mm(kw_ctx *ctx, const struct vma_layout *l, uint64_t task, uint64_t *ret)
{
	uint32_t flags;
	kw_status status = kw_read_u32(ctx, task + l->flags, &flags);

	*ret = 0;
	return status || flags & KW_PF_KTHREAD ? status : kw_read_u64(ctx, task + l->mm, ret);
}

static kw_status walk_task(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, uint64_t task,
			   int32_t pid, kw_take_rows take, void *arg)
{
	const struct vma_layout *l = layout;
	struct area_walk w = { ctx, l, take, arg, (uint32_t)pid, 0, kernel->is_live, false, KW_OK };
	uint64_t mm;
	kw_status status;

	if (!l->is_whole)
		return KW_NOTFOUND;
	status = find_mm(ctx, l, task, &mm);
	if (status || !mm)
		return status;
	if (l->tree != KW_NO_ADDR)
		status = kw_maple_each(ctx, kernel, mm + l->tree, UINT64_MAX, take_entry, &w);
	else
		status = walk_list(&w, mm);
	if (!w.stopped && has_gate(ctx, l, mm))
		kw_take_row(take, l->gate, w.nr, w.pid, arg);
	return status ? status : w.status;
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	return kw_walk_tasks(ctx, kernel, layout, walk_task, take, arg);
}

/* Fields */

static void address(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	*out = in[0];
	if (in[0].type != KW_VAL_ABSENT)
		out->type = KW_VAL_ADDRESS;
}

static void size(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 2, out))
		kw_set_uint(out, in[1].u - in[0].u);
}

static void permissions(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char text[5] = "---p";

	if (kw_pass_absent(in, 1, out))
		return;
	text[0] = in[0].u & VM_READ ? 'r' : '-';
	text[1] = in[0].u & VM_WRITE ? 'w' : '-';
	text[2] = in[0].u & VM_EXEC ? 'x' : '-';
	text[3] = in[0].u & VM_MAYSHARE ? 's' : 'p';
	kw_set_row_text(row, out, text);
}

/* in[0] the file. */
static void offset(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (kw_pass_absent(in, 2, out))
		return;
	if (in[0].u)
		kw_set_uint(out, in[1].u * KW_PAGE_SIZE);
	else
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
}

/* As vma_is_initial_heap(); until 6.5 an area that only touches the heap counted as well. */
static bool is_heap(const struct vma_layout *l, uint64_t start, uint64_t end, uint64_t start_brk,
		    uint64_t brk)
{
	return l->heap_is_strict ? start < brk && end > start_brk : start <= brk && end >= start_brk;
}

/* The name of what the kernel has put there itself: [vdso], [vvar], [uprobes]. */
static bool put_special(struct kw_row *row, const struct vma_layout *l, uint64_t area, struct kw_value *out)
{
	uint64_t ops, function, mapping, at;
	char name[MAX_NAME];

	if (kw_read_u64(row->ctx, area + l->ops, &ops) != KW_OK || !ops ||
	    kw_read_u64(row->ctx, ops + l->ops_name, &function) != KW_OK || !function)
		return false;
	if (function == l->gate_name) {
		kw_set_string(out, "[vsyscall]");
		return true;
	}
	if (function != l->special || kw_read_u64(row->ctx, area + l->private, &mapping) != KW_OK ||
	    kw_read_u64(row->ctx, mapping + l->special_name, &at) != KW_OK ||
	    kw_read_string(row->ctx, at, name, sizeof(name)) != KW_OK)
		return false;
	kw_set_row_text(row, out, name);
	return true;
}

static bool put_heap_or_stack(struct kw_row *row, const struct vma_layout *l, uint64_t area,
			      struct kw_value *out)
{
	uint64_t mm, start, end, start_brk, brk, stack;

	if (kw_read_u64(row->ctx, area + l->owner, &mm) != KW_OK || !mm ||
	    kw_read_u64(row->ctx, area + l->start, &start) != KW_OK ||
	    kw_read_u64(row->ctx, area + l->end, &end) != KW_OK ||
	    kw_read_u64(row->ctx, mm + l->start_brk, &start_brk) != KW_OK ||
	    kw_read_u64(row->ctx, mm + l->brk, &brk) != KW_OK ||
	    kw_read_u64(row->ctx, mm + l->start_stack, &stack) != KW_OK)
		return false;
	if (is_heap(l, start, end, start_brk, brk))
		kw_set_string(out, "[heap]");
	else if (start <= stack && end >= stack)
		kw_set_string(out, "[stack]");
	else
		return false;
	return true;
}

/* The name that the process gave, with prctl(PR_SET_VMA). */
static bool put_own_name(struct kw_row *row, const struct vma_layout *l, uint64_t area, const char *kind,
			 struct kw_value *out)
{
	char name[MAX_NAME], text[MAX_NAME + 32];
	uint64_t at;

	if (l->anon_name == KW_NO_ADDR || l->anon_text == KW_NO_ADDR ||
	    kw_read_u64(row->ctx, area + l->anon_name, &at) != KW_OK || !at ||
	    kw_read_string(row->ctx, at + l->anon_text, name, sizeof(name)) != KW_OK)
		return false;
	snprintf(text, sizeof(text), "[%s:%s]", kind, name);
	kw_set_row_text(row, out, text);
	return true;
}

/* As show_map_vma(). in[0] the file. */
static void area_name(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct vma_layout *l = kw_layout_get(row->ctx, row->kernel, &subject);

	if (kw_pass_absent(in, 1, out))
		return;
	if (!l || !l->is_whole)
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
	else if (in[0].u && !(l->files_have_names && put_own_name(row, l, row->task, "anon_shmem", out)))
		kw_set_file_name(row, in[0].u, out);
	else if (!in[0].u && !put_special(row, l, row->task, out) &&
		 !put_heap_or_stack(row, l, row->task, out) && !put_own_name(row, l, row->task, "anon", out))
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
}

static void inode_number(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_set_inode_value(row, in[0].u, KW_INODE_NUMBER, out);
}

static void device(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_set_inode_value(row, in[0].u, KW_INODE_DEVICE, out);
}

static const struct kw_field_def fields[] = {
	KW_PATH_FIELD("start", "START", ADDRESS, NONE, HEX, OBJECT, "its first address",
		      "vm_area_struct.vm_start", "vm_start", address),
	KW_PATH_FIELD("end", "END", ADDRESS, NONE, HEX, OBJECT, "the first address behind it",
		      "vm_area_struct.vm_end", "vm_end", address),
	{ { "size", "SIZE", "", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB, KW_SCOPE_ROW, KW_COST_OBJECT,
	    "how long it is", "vm_area_struct.vm_end - vm_start" },
	  { "vm_start", "vm_end" },
	  size,
	  0 },
	KW_PATH_FIELD("perms", "PERM", STRING, NONE, PLAIN, OBJECT,
		      "what it allows, rwx, and s for shared or p for private", "vm_area_struct.vm_flags",
		      "vm_flags", permissions),
	KW_PATH_FIELD("flags", "FLAGS", UINT, NONE, HEX, OBJECT, "VM_* flags", "vm_area_struct.vm_flags",
		      "vm_flags", NULL),
	{ { "offset", "OFFSET", "", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_HEX, KW_SCOPE_ROW, KW_COST_OBJECT,
	    "where in its file it begins", "vm_area_struct.vm_pgoff" },
	  { "vm_file", "vm_pgoff" },
	  offset,
	  0 },
	KW_PATH_FIELD("dev", "DEV", STRING, NONE, PLAIN, POINTER,
		      "device of its file, major and minor number in hexadecimal",
		      "vm_area_struct.vm_file: super_block.s_dev", "vm_file", device),
	KW_PATH_FIELD("inode", "INODE", UINT, NONE, PLAIN, POINTER, "inode number of its file",
		      "vm_area_struct.vm_file: inode.i_ino", "vm_file", inode_number),
	{ { "path", "PATH", "name", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_ROW, KW_COST_WALK,
	    "path of its file, or what it is: [heap], [stack], [vdso], [anon:NAME], ...",
	    "vm_area_struct.vm_file, vm_ops, anon_name; mm_struct.brk, start_stack" },
	  { "vm_file" },
	  area_name,
	  0 },
};

static const struct kw_field_table table = { fields, COUNT(fields) };

static const struct kw_field_group groups[] = {
	{ .table = &kw_owner_fields, .read = kw_owner_read },
	{ .table = &table },
};

const struct kw_source_def kw_vma_source = {
	.pub = { "vmas", "an area of the memory of a process", "pid,start,end,perms,offset,path" },
	.type = "struct vm_area_struct",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
	.walk_task = walk_task,
};
