/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name of a task as /proc prints it.
 *
 * task_struct.comm has 15 bytes. A kernel thread whose name is longer has all of it in its struct kthread (since 5.17).
 * A worker of a workqueue adds what it works at, "+" while it does and "-" after: kworker/0:1-events; since 6.11 the part
 * before that is made anew from the worker, so that it is not cut either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/source.h"
#include "kernel/xarray.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define PF_WQ_WORKER 0x00000020u
#define NAME_SIZE    64 /* with its NUL, as in proc_task_name() */
#define DESC_SIZE    64

/* Offsets; KW_NO_ADDR for what this kernel lacks. */
struct name_layout {
	uint64_t data, full_name;		  /* of struct kthread */
	uint64_t pool, current, desc, id, rescue; /* of struct worker */
	uint64_t pool_cpu, pool_id, pool_attrs, nice, wq_name;
	uint32_t desc_size;
	bool makes_id; /* since 6.11: see above; the function that does it is looked for */
};

static kw_status resolve_names(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct name_layout *l = layout;
	const struct {
		const char *type, *path;
		uint64_t *offset;
	} wanted[] = {
		{ "kthread", "data", &l->data },	 { "kthread", "full_name", &l->full_name },
		{ "worker", "pool", &l->pool },		 { "worker", "current_work", &l->current },
		{ "worker", "desc", &l->desc },		 { "worker", "id", &l->id },
		{ "worker", "rescue_wq", &l->rescue },	 { "worker_pool", "cpu", &l->pool_cpu },
		{ "worker_pool", "id", &l->pool_id },	 { "worker_pool", "attrs", &l->pool_attrs },
		{ "workqueue_attrs", "nice", &l->nice }, { "workqueue_struct", "name", &l->wq_name },
	};
	struct kw_member member;
	uint64_t addr;

	(void)kernel;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		*wanted[i].offset = kw_offset_or_none(ctx, wanted[i].type, wanted[i].path);
	if (kw_type_offset(ctx, "worker", "desc", &member) == KW_OK)
		l->desc_size = (uint32_t)kw_type_size(ctx, member.type);
	if (!l->desc_size || l->desc_size > DESC_SIZE)
		l->desc = KW_NO_ADDR;
	l->makes_id = kw_symbol_address(ctx, "format_worker_id", &addr) == KW_OK;
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject names = { sizeof(struct name_layout), resolve_names };

static bool member_at(uint64_t object, uint64_t offset, uint64_t *ret)
{
	return object && offset != KW_NO_ADDR && !__builtin_add_overflow(object, offset, ret);
}

/* What a name is made from: without a piece that the dump lacks there is none. Pointers to nowhere are none. */
struct reading {
	kw_ctx *ctx;
	kw_status status;
};

static uint64_t value_at(struct reading *r, uint64_t object, uint64_t offset, uint32_t size)
{
	uint64_t at, value = 0;
	kw_status status;

	if (!member_at(object, offset, &at))
		return 0;
	status = kw_read(r->ctx, at, &value, size);
	if (kw_is_lacking(status))
		r->status = status;
	return status ? 0 : value;
}

/* Follow a pointer in an object; 0 when there is none. */
static uint64_t pointer(struct reading *r, uint64_t object, uint64_t offset)
{
	return value_at(r, object, offset, 8);
}

static int32_t number(struct reading *r, uint64_t object, uint64_t offset)
{
	return (int32_t)value_at(r, object, offset, 4);
}

/* False when there is none. */
static bool string(struct reading *r, uint64_t object, uint64_t offset, char *buf, size_t size)
{
	kw_status status;
	uint64_t at;

	if (!member_at(object, offset, &at))
		return false;
	status = kw_read_string(r->ctx, at, buf, size);
	if (kw_is_lacking(status))
		r->status = status;
	return status == KW_OK;
}

/* As format_worker_id(). */
static void write_id(struct reading *r, const struct name_layout *l, uint64_t worker, uint64_t pool,
		     char name[NAME_SIZE])
{
	uint64_t rescue = pointer(r, worker, l->rescue);
	int32_t cpu = number(r, pool, l->pool_cpu), id = number(r, worker, l->id);
	char wq[DESC_SIZE] = "";

	if (rescue) {
		string(r, rescue, l->wq_name, wq, sizeof(wq));
		snprintf(name, NAME_SIZE, "kworker/R-%s", wq);
	} else if (!pool) {
		snprintf(name, NAME_SIZE, "kworker/dying");
	} else if (cpu >= 0) {
		snprintf(name, NAME_SIZE, "kworker/%d:%d%s", cpu, id,
			 number(r, pointer(r, pool, l->pool_attrs), l->nice) < 0 ? "H" : "");
	} else {
		snprintf(name, NAME_SIZE, "kworker/u%d:%d", number(r, pool, l->pool_id), id);
	}
}

/* As wq_worker_comm(). name holds the comm. */
static void write_worker(struct reading *r, const struct name_layout *l, uint64_t worker,
			 char name[NAME_SIZE])
{
	uint64_t pool = pointer(r, worker, l->pool);
	char desc[DESC_SIZE] = "";
	size_t len;

	if (l->makes_id)
		write_id(r, l, worker, pool, name);
	if (pool)
		string(r, worker, l->desc, desc, l->desc_size);
	if (!*desc)
		return;
	len = strlen(name);
	snprintf(name + len, NAME_SIZE - len, "%c%s", pointer(r, worker, l->current) ? '+' : '-', desc);
}

/* A kernel thread's; false when it is its comm. */
static bool write_name(struct reading *r, const struct name_layout *l, uint32_t flags, uint64_t kthread,
		       char name[NAME_SIZE])
{
	uint64_t worker, full_name;

	if (flags & PF_WQ_WORKER) {
		worker = pointer(r, kthread, l->data);
		if (worker)
			write_worker(r, l, worker, name);
		return worker;
	}
	full_name = pointer(r, kthread, l->full_name);
	return full_name && string(r, full_name, 0, name, NAME_SIZE);
}

/* in[0] the comm, in[1] the struct kthread. */
static void task_name(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	struct reading r = { .ctx = row->ctx };
	const struct name_layout *l;
	char name[NAME_SIZE] = "";
	bool is_other;

	if (kw_pass_absent(in, 1, out))
		return;
	*out = in[0];
	if (!(row->flags & KW_PF_KTHREAD) || kw_pass_missing(&in[1], out) || in[1].type == KW_VAL_ABSENT ||
	    !in[1].u || !(l = kw_layout_get(row->ctx, row->kernel, &names)))
		return;
	memcpy(name, in[0].str, in[0].len < NAME_SIZE ? in[0].len : NAME_SIZE - 1);
	is_other = write_name(&r, l, row->flags, in[1].u, name);
	if (r.status)
		kw_set_absent(out, kw_absent_of_status(r.status));
	else if (is_other)
		kw_set_row_text(row, out, name);
}

static const struct kw_field_def fields[] = {
	{ { "name", "NAME", "Name", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER,
	    "name as /proc prints it: comm, but all of a kernel thread's, and what a worker works at",
	    "task_struct.comm; kthread.full_name, worker.desc" },
	  { "comm", "worker_private | set_child_tid" },
	  task_name,
	  KW_USES_FLAGS },
};

const struct kw_field_table kw_name_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
