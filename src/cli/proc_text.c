/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making the text of a file of /proc of its items.
 *
 * Where the kernel prints a fixed text for something that is not there (no terminal, no memory), or leaves a line out,
 * the item says so; any other missing value is a failure, because 0 in its place would be a lie.
 */
#include <string.h>

#include "cli/proc_text.h"

static const struct proc_file_list *const lists[] = {
	&proc_task_files, &proc_status_files, &proc_limits_files, &proc_maps_files, &proc_system_files,
};

const struct proc_file *proc_file_at(size_t i)
{
	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		if (i < lists[l]->nr)
			return &lists[l]->file[i];
		i -= lists[l]->nr;
	}
	return NULL;
}

static bool has_symbol(kw_ctx *ctx, const char *name)
{
	uint64_t addr;

	return kw_symbol_address(ctx, name, &addr) == KW_OK;
}

static bool has_member(kw_ctx *ctx, const char *structure, const char *name)
{
	const struct kw_type *type;
	struct kw_member member;

	return kw_type_find(ctx, structure, &type) == KW_OK &&
	       kw_type_member(ctx, type, name, &member) == KW_OK;
}

/*
 * Most of these are told by what else came with the same release and stayed: the maple tree of interrupts in 6.5, the
 * sequence of mmap_lock in 6.4, thread_info's work at system calls in 5.11.
 */
void proc_view_init(kw_ctx *ctx, bool thread, struct proc_view *ret)
{
	*ret = (struct proc_view){ .thread = thread };
	if (has_symbol(ctx, "__get_wchan"))
		ret->has |= PROC_HAS_WAITS;
	if (has_symbol(ctx, "sparse_irqs"))
		ret->has |= PROC_HAS_KTHREAD;
	if (has_member(ctx, "struct mm_struct", "mm_lock_seq") ||
	    has_member(ctx, "mm_context_t", "untag_mask"))
		ret->has |= PROC_HAS_UNTAG_MASK;
	if (has_member(ctx, "struct thread_info", "syscall_work"))
		ret->has |= PROC_HAS_SPECULATION;
	if (has_symbol(ctx, "proc_cpuset_show"))
		ret->has |= PROC_HAS_CPUSET;
	if (!thread)
		ret->has |= PROC_IS_PROCESS;
	if (!thread && has_symbol(ctx, "proc_sched_autogroup_show_task"))
		ret->has |= PROC_HAS_AUTOGROUP;
}

bool proc_view_has(const struct proc_view *view, const struct proc_file *file)
{
	return (view->has & file->wants) == file->wants;
}

/* What has no column gets the first one once more, which nobody looks at. */
static bool is_asked(const struct proc_view *view, const struct proc_item *item)
{
	return item->column && (view->has & item->wants) == item->wants;
}

void proc_file_columns(const struct proc_view *view, const struct proc_file *file, FILE *out)
{
	for (size_t i = 0; i < file->nr; i++) {
		const struct proc_item *item = &file->items[is_asked(view, &file->items[i]) ? i : 0];

		bool is_old = item->notation == PROC_WAITS && !(view->has & PROC_HAS_WAITS);

		fprintf(out, "%s%s", i ? "," : "", is_old ? "proc_wchan" : item->column);
	}
}

/* The value of another column of the file, which must have it. */
static const struct kw_value *other(const struct proc_file *file, const struct kw_value *values,
				    const char *column)
{
	size_t i = 0;

	while (!file->items[i].column || strcmp(file->items[i].column, column) != 0)
		i++;
	return &values[i];
}

/*
 * Since 5.16 the kernel tells whether a task is off the run queue, before whether it found where; but nothing of several
 * threads at once.
 */
static void put_waits(const struct proc_view *view, bool one_thread, const struct kw_value *v, FILE *out)
{
	bool waits = view->has & PROC_HAS_WAITS ? v->u != 0 : v->len != 0;

	fputc(waits && (view->thread || one_thread) ? '1' : '0', out);
}

/* Write the value of an item; false with why when it is missing and the kernel prints no fixed text for that. */
static bool put_item(const struct proc_view *view, const struct proc_file *file, size_t i,
		     const struct kw_value *values, FILE *out, const char **ret_why)
{
	const struct proc_item *item = &file->items[i];
	const struct kw_value *v = &values[i];

	if (v->type == KW_VAL_ABSENT) {
		if (!(item->unless & 1u << v->absent)) {
			*ret_why = kw_absent_text(v->absent);
			return false;
		}
		fputs(item->fixed, out);
	} else if (item->notation == PROC_WAITS) {
		put_waits(view, other(file, values, "nlwp")->u < 2, v, out);
	} else if (!proc_put_value(out, item->notation, v)) {
		*ret_why = "a value of another type than expected";
		return false;
	}
	return true;
}

static bool is_left_out(const struct proc_view *view, const struct proc_item *item, const struct kw_value *v)
{
	if ((view->has & item->wants) != item->wants)
		return true;
	return item->column && !item->fixed && v->type == KW_VAL_ABSENT && item->unless & 1u << v->absent;
}

bool proc_file_print(const struct proc_view *view, const struct proc_file *file,
		     const struct kw_value *values, FILE *out, const char **ret_column, const char **ret_why)
{
	for (size_t i = 0; i < file->nr; i++) {
		if (is_left_out(view, &file->items[i], &values[i]))
			continue;
		fputs(file->items[i].before, out);
		if (file->items[i].column && !put_item(view, file, i, values, out, ret_why)) {
			*ret_column = file->items[i].column;
			return false;
		}
	}
	return true;
}
