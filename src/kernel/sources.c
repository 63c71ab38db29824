/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The catalogue: all sources, the fields of each, and looking things up in them. */
#include "kernel/source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "memory/view.h"
#include "type/types.h"
#include "util/error.h"

static const struct kw_field_group task_groups[] = {
	{ .table = &kw_task_fields },	   { .table = &kw_mm_fields },
	{ .table = &kw_cputime_fields },   { .table = &kw_io_fields },
	{ .table = &kw_sched_fields },	   { .table = &kw_signal_fields },
	{ .table = &kw_cred_fields },	   { .table = &kw_tty_fields },
	{ .table = &kw_pid_ns_fields },	   { .table = &kw_affinity_fields },
	{ .table = &kw_files_fields },	   { .table = &kw_name_fields },
	{ .table = &kw_cgroup_fields },	   { .table = &kw_cmdline_fields },
	{ .table = &kw_file_path_fields }, { .table = &kw_limits_fields },
	{ .table = &kw_hardening_fields }, { .table = &kw_hierarchy_fields },
	{ .table = &kw_wchan_fields },	   { .table = &kw_register_fields },
	{ .table = &kw_oom_fields },
};

#define NR_TASK_GROUPS (sizeof(task_groups) / sizeof(task_groups[0]))

static const struct kw_source_def tasks = {
	.pub = { "tasks", "a process", "pid,comm" },
	.type = "struct task_struct",
	.groups = task_groups,
	.nr_groups = NR_TASK_GROUPS,
};

static const struct kw_source_def threads = {
	.pub = { "threads", "a thread", "pid,tid,comm" },
	.type = "struct task_struct",
	.groups = task_groups,
	.nr_groups = NR_TASK_GROUPS,
};

static const struct kw_source_def *const sources[] = {
	&tasks,
	&threads,
	&kw_system_source,
	&kw_cpu_source,
	&kw_irq_source,
	&kw_irq_cpu_source,
	&kw_softirq_source,
	&kw_softirq_cpu_source,
	&kw_vmstat_source,
	&kw_zone_source,
	&kw_zone_item_source,
	&kw_node_item_source,
	&kw_buddy_source,
	&kw_pageset_source,
	&kw_numa_item_source,
	&kw_sched_domain_source,
	&kw_module_source,
	&kw_slab_source,
	&kw_filesystem_source,
	&kw_mount_source,
	&kw_swap_source,
	&kw_cgroup_source,
	&kw_vma_source,
	&kw_file_source,
};

#define NR_SOURCES (sizeof(sources) / sizeof(sources[0]))

const struct kw_source_def *kw_source_def(const char *name)
{
	for (size_t i = 0; name && i < NR_SOURCES; i++)
		if (strcmp(sources[i]->pub.name, name) == 0)
			return sources[i];
	return name ? NULL : &tasks;
}

const struct kw_source *kw_source_find(const char *name)
{
	const struct kw_source_def *source = name ? kw_source_def(name) : NULL;

	return source ? &source->pub : NULL;
}

const struct kw_source *kw_source_at(size_t i)
{
	return i < NR_SOURCES ? &sources[i]->pub : NULL;
}

static bool has_alias(const char *aliases, const char *name)
{
	size_t len = strlen(name);

	while (*aliases) {
		size_t span = strcspn(aliases, ",");

		if (span == len && memcmp(aliases, name, len) == 0)
			return true;
		aliases += span + (aliases[span] == ',');
	}
	return false;
}

static bool answers_to(const struct kw_field *field, const char *name)
{
	return strcmp(field->name, name) == 0 || (*name && has_alias(field->aliases, name));
}

const struct kw_field_def *kw_table_field(const struct kw_field_table *table, const char *name)
{
	for (size_t i = 0; i < table->nr; i++)
		if (answers_to(&table->fields[i].pub, name))
			return &table->fields[i];
	return NULL;
}

const struct kw_field_def *kw_source_field(const struct kw_source_def *source, const char *name,
					   const struct kw_field_group **ret_group)
{
	for (size_t g = 0; g < source->nr_groups; g++) {
		const struct kw_field_def *field = kw_table_field(source->groups[g].table, name);

		if (field) {
			*ret_group = &source->groups[g];
			return field;
		}
	}
	return NULL;
}

const struct kw_field *kw_field_find(const char *source, const char *name)
{
	const struct kw_source_def *def = kw_source_def(source);
	const struct kw_field_group *group;
	const struct kw_field_def *field = def ? kw_source_field(def, name, &group) : NULL;

	return field ? &field->pub : NULL;
}

const struct kw_field *kw_field_at(const char *source, size_t i)
{
	const struct kw_source_def *def = kw_source_def(source);

	for (size_t g = 0; def && g < def->nr_groups; g++) {
		if (i < def->groups[g].table->nr)
			return &def->groups[g].table->fields[i].pub;
		i -= def->groups[g].table->nr;
	}
	return NULL;
}

kw_status kw_source_type(kw_ctx *ctx, const struct kw_source_def *source, const struct kw_type **ret)
{
	*ret = NULL;
	return source->type ? kw_type_find(ctx, source->type, ret) : KW_OK;
}

void kw_group_read(const struct kw_field_group *group, struct kw_row *row, const void *layout,
		   struct kw_value *values)
{
	const struct kw_found_row found = { .object = row->task, .index = row->index, .cpu = row->cpu };
	struct kw_rows rows = { .found = &found, .nr = 1 };

	if (group->read) {
		group->read(row, layout, values);
		return;
	}
	for (size_t i = 0; i < group->table->nr; i++)
		rows.column[i] = kw_row_wants(row, i) ? &values[i] : NULL;
	group->read_rows(row, layout, &rows);
}

struct first_row {
	struct kw_row row;
	bool found;
};

static bool take_first(const struct kw_found_row *found, size_t nr, void *arg)
{
	struct first_row *first = arg;

	(void)nr;
	first->row.task = found->object;
	first->row.index = found->index;
	first->row.cpu = found->cpu;
	first->found = true;
	return false;
}

/* What a group that is read lacks shows in the first row. */
static kw_status is_read(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_source_def *source,
			 const struct kw_field_group *group, const struct kw_field_def *field)
{
	const void *places = NULL, *layout = NULL;
	struct first_row *first = calloc(1, sizeof(*first));
	struct kw_value *values = calloc(group->table->nr, sizeof(*values));
	kw_status status = KW_OK;

	if (!first || !values)
		status = kw_fail_nomem(ctx);
	if (!status && source->subject && !(places = kw_layout_get(ctx, kernel, source->subject)))
		status = ctx->status;
	if (!status && group->subject && !(layout = kw_layout_get(ctx, kernel, group->subject)))
		status = ctx->status;
	if (!status) {
		const struct kw_value *value = &values[field - group->table->fields];

		first->row.ctx = ctx;
		first->row.kernel = kernel;
		first->row.wanted = UINT64_MAX;
		status = source->walk(ctx, kernel, places, take_first, first);
		if (status == KW_NOTFOUND)
			status = kw_fail(ctx, KW_NOTFOUND, "%s: %s", field->pub.origin,
					 kw_absent_text(KW_ABSENT_NO_SYMBOL));
		else
			status = KW_OK;
		if (first->found)
			kw_group_read(group, &first->row, layout, values);
		if (!status)
			kw_clear_error(ctx);
		if (first->found && value->type == KW_VAL_ABSENT &&
		    (value->absent == KW_ABSENT_NO_MEMBER || value->absent == KW_ABSENT_NO_SYMBOL))
			status = kw_fail(ctx, KW_NOTFOUND, "%s: %s", field->pub.origin,
					 kw_absent_text(value->absent));
	}
	if (first)
		kw_row_deinit(&first->row);
	free(values);
	free(first);
	return status;
}

kw_status kw_field_available(kw_ctx *ctx, const char *source, const struct kw_field *field)
{
	const struct kw_source_def *def = kw_source_def(source);
	const struct kw_field_group *group;
	const struct kw_field_def *found = def ? kw_source_field(def, field->name, &group) : NULL;
	const struct kw_kernel *kernel;
	const struct kw_type *type;
	struct kw_path path;
	kw_status status = kw_kernel_get(ctx, &kernel);

	if (status)
		return status;
	if (!found)
		return kw_fail(ctx, KW_INVALID, "\"%s\" is no field of %s", field->name, source);
	if (kw_group_is_read(group)) {
		kw_pass_begin(ctx);
		status = is_read(ctx, kernel, def, group, found);
		kw_pass_end(ctx);
		return status;
	}
	status = kw_source_type(ctx, def, &type);
	return status ? status : kw_path_compile(ctx, type, found->needs[0], &path);
}

/* Layouts */

struct kw_layout {
	struct kw_layout *next;
	const struct kw_subject *subject;
	uint64_t bytes[];
};

/* Recursive: a subject may use another's layout. */
static pthread_mutex_t layout_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static struct kw_layout *resolve(kw_ctx *ctx, const struct kw_kernel *kernel,
				 const struct kw_subject *subject)
{
	struct kw_layout *layout = calloc(1, sizeof(*layout) + subject->layout_size);

	if (!layout) {
		kw_fail_nomem(ctx);
		return NULL;
	}
	layout->subject = subject;
	if (subject->resolve(ctx, kernel, layout->bytes)) {
		free(layout);
		return NULL;
	}
	kw_clear_error(ctx);
	return layout;
}

/* Entries are put in front and stay as they are, so that looking needs no lock. */
static struct kw_layout *find_layout(const struct kw_kernel *owner, const struct kw_subject *subject)
{
	struct kw_layout *layout = __atomic_load_n(&owner->layouts, __ATOMIC_ACQUIRE);

	while (layout && layout->subject != subject)
		layout = layout->next;
	return layout;
}

const void *kw_layout_get(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_subject *subject)
{
	struct kw_kernel *owner = ctx->target->kernel;
	struct kw_layout *layout = find_layout(owner, subject);

	if (layout)
		return layout->bytes;
	pthread_mutex_lock(&layout_lock);
	layout = find_layout(owner, subject);
	if (!layout) {
		layout = resolve(ctx, kernel, subject);
		if (layout) {
			layout->next = owner->layouts;
			__atomic_store_n(&owner->layouts, layout, __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&layout_lock);
	return layout ? layout->bytes : NULL;
}

void kw_layouts_free(struct kw_layout *layouts)
{
	while (layouts) {
		struct kw_layout *next = layouts->next;

		free(layouts);
		layouts = next;
	}
}

void kw_read_global(kw_ctx *ctx, uint64_t addr, size_t size, struct kw_value *out)
{
	uint64_t number = 0;
	kw_status status;

	if (addr == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	status = kw_read_near(ctx, addr, &number, size);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_uint(out, number);
}

uint64_t kw_offset_or_none(kw_ctx *ctx, const char *type, const char *path)
{
	struct kw_member member;
	kw_status status = kw_type_offset(ctx, type, path, &member);

	kw_clear_error(ctx);
	return status ? KW_NO_ADDR : member.bit_offset / 8;
}

int64_t kw_enumerator_or_none(kw_ctx *ctx, const char *enumeration, const char *name)
{
	int64_t value;
	kw_status status = kw_enum_value(ctx, enumeration, name, &value);

	kw_clear_error(ctx);
	return status ? -1 : value;
}
