/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel/task_rows.h"

#include <string.h>

#include "kernel/task_walk.h"
#include "memory/memory.h"

#define COMM_SIZE 16

struct taking {
	kw_take_rows take;
	void *arg;
	bool stopped;
};

static bool take_on(const struct kw_found_row *found, size_t nr, void *arg)
{
	struct taking *t = arg;

	t->stopped = !t->take(found, nr, t->arg);
	return !t->stopped;
}

/* What a process that has ended meanwhile could not be asked is no damage. */
static kw_status walk_ref(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			  kw_walk_task walk_task, const struct kw_task_ref *ref, struct taking *t)
{
	kw_status status = walk_task(ctx, kernel, layout, ref->task, ref->pid, take_on, t);

	if (status && status != KW_NOTFOUND && kernel->is_live && !kw_task_is_alive(ctx, kernel, ref))
		status = KW_OK;
	return status;
}

kw_status kw_walk_tasks(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
			kw_walk_task walk_task, kw_take_rows take, void *arg)
{
	struct taking t = { .take = take, .arg = arg };
	struct kw_task_ref refs[KW_TASK_BATCH];
	struct kw_pid_walk walk;
	unsigned int nr;
	kw_status status = kw_task_walk_begin(ctx, kernel, kernel->globals.init_pid_ns, &walk),
		  damage = KW_OK;

	while (!status && !t.stopped && kw_pid_walk_next(ctx, kernel, &walk, refs, &nr)) {
		for (unsigned int i = 0; !status && !t.stopped && i < nr; i++) {
			kw_status one = walk_ref(ctx, kernel, layout, walk_task, &refs[i], &t);

			if (one == KW_NOTFOUND)
				status = one;
			damage = damage ? damage : one;
		}
	}
	kw_pid_walk_end(&walk);
	if (status || damage)
		return status ? status : damage;
	return walk.damaged ? walk.damage : walk.xa.damaged ? walk.xa.damage : KW_OK;
}

kw_status kw_walk_pid(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_walk_task walk_task,
		      int32_t pid, kw_take_rows take, void *arg)
{
	struct taking t = { .take = take, .arg = arg };
	struct kw_task_ref ref;
	kw_status status = kw_pid_lookup(ctx, kernel, pid, &ref);

	if (status)
		return status == KW_NOTFOUND ? KW_OK : status;
	return walk_ref(ctx, kernel, layout, walk_task, &ref, &t);
}

enum { PID, COMM };

static const struct kw_field_def fields[] = {
	[PID] = KW_READ_FIELD("pid", "PID", "PID", INT, NONE, PLAIN, OBJECT, "ID of its process",
			      "the process in whose tables it is"),
	[COMM] = KW_READ_FIELD("comm", "COMMAND", "ucmd,ucomm", STRING, NONE, PLAIN, POINTER,
			       "name of its process", "task_struct.comm"),
};

const struct kw_field_table kw_owner_fields = { fields, sizeof(fields) / sizeof(fields[0]) };

void kw_owner_read(struct kw_row *row, const void *layout, struct kw_value *values)
{
	struct kw_task_ref ref;
	char comm[COMM_SIZE];
	kw_status status;

	(void)layout;
	kw_set_int(&values[PID], (int32_t)row->cpu);
	status = kw_pid_lookup(row->ctx, row->kernel, (int32_t)row->cpu, &ref);
	if (!status)
		status = kw_read(row->ctx, ref.task + row->kernel->task.comm, comm, sizeof(comm));
	if (status)
		kw_set_absent(&values[COMM],
			      status == KW_NOTFOUND ? KW_ABSENT_NOT_APPLICABLE : kw_absent_of_status(status));
	else
		kw_row_put(row, &values[COMM], comm, strnlen(comm, sizeof(comm)));
}
