/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sources of rows: what a query can be asked of.
 *
 * A source is a walker that finds rows, and the fields that a row has. A row is an object of a structure (a module, a
 * zone), or just a number (of a CPU, of an interrupt), or the only one (the system). Fields come in groups, of two kinds:
 *
 *     paths    as those of tasks: each names the paths that it needs, from the row's object
 *     read()   makes the values of the group at once, once a row: those of the fields that are asked for
 *              (kw_row_wants()), and of others where that costs nothing; field i of the table is values[i].
 *              Or read_rows(), of many rows at once, each value where it is handed out
 *
 * Addresses and offsets that walkers and read() use make up a subject's layout, which is resolved once per target.
 * What this kernel lacks is KW_NO_ADDR in the layout, and its values are absent: resolve() fails only when memory runs
 * out.
 */
#ifndef KERNEL_SOURCE_H
#define KERNEL_SOURCE_H

#include <string.h>

#include "kernel/field_table.h"

/** What has a layout of its own. */
struct kw_subject {
	size_t layout_size;
	kw_status (*resolve)(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout);
};

/**
 * Return a subject's layout, resolving it on the first call.
 *
 * @return owned by the target; NULL with the error set
 */
const void *kw_layout_get(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_subject *subject);

/** A row as a walk finds it: what goes to row->task, row->index and row->cpu. */
struct kw_found_row {
	uint64_t object, index;
	uint32_t cpu;
	bool is_counted; /* the walk has read how often it came, which need not be done again: count */
	uint64_t count;
};

#define KW_ROWS_MAX	   64 /* whose values are made together */
#define KW_ROWS_MAX_FIELDS 16 /* of a group that makes them so */

/**
 * Rows whose values are made together. The struct kw_row that goes with them is none of theirs: it has what is the same
 * for all, and room for texts.
 */
struct kw_rows {
	const struct kw_found_row *found;
	size_t nr, stride;			     /* stride: from a row's value to that of the next one */
	struct kw_value *column[KW_ROWS_MAX_FIELDS]; /* of each field of the first row; NULL: not asked for */
};

struct kw_field_group {
	const struct kw_field_table *table;
	const struct kw_subject *subject; /* of read(), or NULL */
	/* One of these two, or none: paths. The second tells whether something could not be read. */
	void (*read)(struct kw_row *row, const void *layout, struct kw_value *values);
	bool (*read_rows)(struct kw_row *row, const void *layout, const struct kw_rows *rows);
};

/** Tell whether a group is read, by the one function or the other. */
static inline bool kw_group_is_read(const struct kw_field_group *group)
{
	return group->read || group->read_rows;
}

/** Read a group of one row, whichever function it has. row->wanted is set. */
void kw_group_read(const struct kw_field_group *group, struct kw_row *row, const void *layout,
		   struct kw_value *values);

/** A row of the table of a group that is read. */
#define KW_READ_FIELD(name, header, aliases, type, unit, display, cost, help, origin)                      \
	{                                                                                                  \
		{ name,		header,		aliases, KW_VAL_##type, KW_UNIT_##unit, KW_SHOW_##display, \
		  KW_SCOPE_ROW, KW_COST_##cost, help,	 origin },                                         \
			{ NULL }, NULL, 0                                                                  \
	}

/** A row of a table of paths: one path, and what makes the value of it, or NULL. */
#define KW_PATH_FIELD(name, header, type, unit, display, cost, help, origin, path, fn)                  \
	{                                                                                               \
		{ name,		header,		"",   KW_VAL_##type, KW_UNIT_##unit, KW_SHOW_##display, \
		  KW_SCOPE_ROW, KW_COST_##cost, help, origin },                                         \
			{ path }, fn, 0                                                                 \
	}

/** Called with rows as they are found: with one, or with as many as KW_ROWS_MAX. False stops. */
typedef bool (*kw_take_rows)(const struct kw_found_row *found, size_t nr, void *arg);

/** Hand on one row. */
static inline bool kw_take_row(kw_take_rows take, uint64_t object, uint64_t index, uint32_t cpu, void *arg)
{
	return take(&(struct kw_found_row){ .object = object, .index = index, .cpu = cpu }, 1, arg);
}

/** Rows on their way: handed on when there are many. */
struct kw_row_list {
	kw_take_rows take;
	void *arg;
	bool stopped;
	struct kw_found_row *next; /* place */
	struct kw_found_row found[KW_ROWS_MAX];
};

static inline void kw_row_list_begin(struct kw_row_list *list, kw_take_rows take, void *arg)
{
	list->take = take;
	list->arg = arg;
	list->stopped = false;
	list->next = list->found;
}

/** Hand on what is left. */
static inline void kw_row_list_flush(struct kw_row_list *list)
{
	size_t nr = (size_t)(list->next - list->found);

	if (nr && !list->stopped)
		list->stopped = !list->take(list->found, nr, list->arg);
	list->next = list->found;
}

/** Add a row, which is not handed on before the next one comes. Once the list is stopped rows go nowhere. */
static inline struct kw_found_row *kw_row_list_add(struct kw_row_list *list, uint64_t object, uint64_t index,
						   uint32_t cpu)
{
	struct kw_found_row *found;

	if (list->next == list->found + KW_ROWS_MAX)
		kw_row_list_flush(list);
	found = list->next++;
	found->object = object;
	found->index = index;
	found->cpu = cpu;
	found->is_counted = false;
	return found;
}

/** Add at most KW_ROWS_MAX rows. */
static inline void kw_row_list_add_all(struct kw_row_list *list, const struct kw_found_row *found, size_t nr)
{
	if (nr > (size_t)(list->found + KW_ROWS_MAX - list->next))
		kw_row_list_flush(list);
	memcpy(list->next, found, nr * sizeof(*found));
	list->next += nr;
}

/**
 * Find the rows of one task; a row's `cpu` is `pid`.
 *
 * @return KW_OK; KW_NOTFOUND when this kernel has nothing of the kind; a read's state or KW_FORMAT, without a message
 */
typedef kw_status (*kw_walk_task)(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout,
				  uint64_t task, int32_t pid, kw_take_rows take, void *arg);

struct kw_source_def {
	struct kw_source pub;
	const char *
		type; /* structure that a row's object is, where raw paths start; NULL: rows are no objects */
	const struct kw_field_group *groups;
	size_t nr_groups;
	const struct kw_subject *subject; /* of walk(), or NULL */
	/*
	 * Find the rows; KW_OK, or why not all were found: a read's state or KW_FORMAT, without a message. NULL in tasks
	 * and threads, which the query room walks itself.
	 */
	kw_status (*walk)(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
			  void *arg);
	kw_walk_task walk_task; /* in sources of what each process has, else NULL: see task_rows.h */
};

/** Return the definition of a source, NULL when there is none of that name. NULL as a name means tasks. */
const struct kw_source_def *kw_source_def(const char *name);

/** Find a field by name or alias. NULL when the source has none. */
const struct kw_field_def *kw_source_field(const struct kw_source_def *source, const char *name,
					   const struct kw_field_group **ret_group);

/** Find a field of a table by name or alias, or NULL. */
const struct kw_field_def *kw_table_field(const struct kw_field_table *table, const char *name);

/** Find the structure that a source's rows are. NULL when they are none; fails as kw_type_find(). */
kw_status kw_source_type(kw_ctx *ctx, const struct kw_source_def *source, const struct kw_type **ret);

extern const struct kw_source_def kw_system_source;
extern const struct kw_source_def kw_cpu_source;
extern const struct kw_source_def kw_irq_source;
extern const struct kw_source_def kw_irq_cpu_source;
extern const struct kw_source_def kw_softirq_source;
extern const struct kw_source_def kw_softirq_cpu_source;
extern const struct kw_source_def kw_vmstat_source;
extern const struct kw_source_def kw_zone_source;
extern const struct kw_source_def kw_zone_item_source;
extern const struct kw_source_def kw_node_item_source;
extern const struct kw_source_def kw_buddy_source;
extern const struct kw_source_def kw_pageset_source;
extern const struct kw_source_def kw_numa_item_source;
extern const struct kw_source_def kw_sched_domain_source;
extern const struct kw_source_def kw_module_source;
extern const struct kw_source_def kw_slab_source;
extern const struct kw_source_def kw_filesystem_source;
extern const struct kw_source_def kw_mount_source;
extern const struct kw_source_def kw_swap_source;
extern const struct kw_source_def kw_cgroup_source;
extern const struct kw_source_def kw_vma_source;
extern const struct kw_source_def kw_file_source;

/* meminfo.c: a group of the system */

extern const struct kw_field_table kw_meminfo_fields;
extern const struct kw_subject kw_meminfo_subject;

/** Read the group. */
void kw_meminfo_read(struct kw_row *row, const void *layout, struct kw_value *values);

/* meminfo_exact.c: another one */

extern const struct kw_field_table kw_meminfo_exact_fields;
extern const struct kw_subject kw_meminfo_exact_subject;

/** Read the group. */
void kw_meminfo_exact_read(struct kw_row *row, const void *layout, struct kw_value *values);

/* zswap.c */

/** Read how many bytes zswap takes. KW_NOTFOUND when this kernel has none, or another allocator than zsmalloc. */
kw_status kw_zswap_size(kw_ctx *ctx, const struct kw_kernel *kernel, uint64_t *ret);

/* What several subjects need. */

/** Address of a per-CPU variable on a CPU; KW_NO_ADDR for an impossible CPU, or when `symbol` is that. */
static inline uint64_t kw_percpu(const struct kw_kernel *kernel, uint64_t symbol, unsigned int cpu)
{
	if (symbol == KW_NO_ADDR || cpu >= kernel->nr_cpus || kernel->percpu_offset[cpu] == KW_NO_ADDR)
		return KW_NO_ADDR;
	return kernel->percpu_offset[cpu] + symbol;
}

static inline bool kw_cpu_is_possible(const struct kw_kernel *kernel, unsigned int cpu)
{
	return cpu < kernel->nr_cpus && kernel->percpu_offset[cpu] != KW_NO_ADDR;
}

/** Make a value of an unsigned number of 4 or 8 bytes. KW_NO_ADDR stands for a symbol that this kernel lacks. */
void kw_read_global(kw_ctx *ctx, uint64_t addr, size_t size, struct kw_value *out);

/** Byte offset of a member inside a structure, KW_NO_ADDR when this kernel has none. Clears the error. */
uint64_t kw_offset_or_none(kw_ctx *ctx, const char *type, const char *path);

/** Value of an enumerator, or -1 when this kernel has none. Clears the error. */
int64_t kw_enumerator_or_none(kw_ctx *ctx, const char *enumeration, const char *name);

/** Put the number of each row into a column. */
static inline void kw_rows_put_index(const struct kw_rows *rows, struct kw_value *column)
{
	const struct kw_found_row *found = rows->found, *end = found + rows->nr;
	size_t stride = rows->stride;

	for (; found < end; found++, column += stride)
		kw_set_uint(column, found->index);
}

/** Set a column absent for one reason. */
static inline void kw_rows_set_absent(const struct kw_rows *rows, struct kw_value *column,
				      enum kw_absent reason)
{
	for (size_t i = 0; i < rows->nr; i++)
		kw_set_absent(&column[i * rows->stride], reason);
}

/** Set all values of a group absent for one reason. */
static inline void kw_set_all_absent(struct kw_value *values, size_t nr, enum kw_absent reason)
{
	for (size_t i = 0; i < nr; i++)
		kw_set_absent(&values[i], reason);
}

#endif
