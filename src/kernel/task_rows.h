/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sources of what each process has: areas of its memory, open files. Their rows come process by process, and a row's
 * `cpu` is the ID of its process.
 */
#ifndef KERNEL_TASK_ROWS_H
#define KERNEL_TASK_ROWS_H

#include "kernel/source.h"

/** Find the rows of all processes: what such a source has for a walk(). */
kw_status kw_walk_tasks(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			kw_walk_task walk_task, kw_take_rows take, void *arg);

/** Find the rows of the process with an ID; KW_OK and no rows when there is none. */
kw_status kw_walk_pid(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_walk_task walk_task,
		      int32_t pid, kw_take_rows take, void *arg);

/** The fields that tell whose a row is: a group for each such source. */
extern const struct kw_field_table kw_owner_fields;

/** Read the group. */
void kw_owner_read(struct kw_row *row, const void *layout, struct kw_value *values);

#endif
