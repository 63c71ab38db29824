/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source cgroups: the control groups of the unified hierarchy, each before those below it.
 *
 *     cgrp_dfl_root.cgrp            the root
 *     cgroup.self.children          list of those below, linked by .self.sibling
 *     cgroup.cset_links             which sets of tasks are in it, and css_set.nr_tasks of each
 *     cgroup.subsys[]               what the controllers keep: mem_cgroup.memory for one
 */
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cgroup.h"
#include "kernel/list.h"
#include "kernel/source.h"
#include "memory/memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_GROUPS   1000000 /* also ends a tree that goes round */
#define MAX_DEPTH    256
#define MAX_LINKS    1000000

struct cgroups_layout {
	uint64_t root;				 /* address of the root's struct cgroup */
	uint64_t self, children, sibling, flags; /* struct cgroup; the others from its self on */
	uint64_t links, link, cset, tasks; /* cset_links; cgrp_cset_link: cset_link, cset; css_set.nr_tasks */
	uint64_t memory, level, css, usage; /* the pointer in subsys[]; mem_cgroup: css, memory.usage */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct cgroups_layout *l = layout;
	struct kw_symbol_query q = { "cgrp_dfl_root", KW_NO_ADDR };
	uint64_t cgrp = kw_offset_or_none(ctx, "cgroup_root", "cgrp");
	int64_t memory = kw_enumerator_or_none(ctx, "enum cgroup_subsys_id", "memory_cgrp_id");

	(void)kernel;
	kw_symbol_addresses(ctx, &q, 1);
	l->root = q.addr == KW_NO_ADDR || cgrp == KW_NO_ADDR ? KW_NO_ADDR : q.addr + cgrp;
	l->self = kw_offset_or_none(ctx, "cgroup", "self");
	l->children = kw_offset_or_none(ctx, "cgroup_subsys_state", "children");
	l->sibling = kw_offset_or_none(ctx, "cgroup_subsys_state", "sibling");
	l->flags = kw_offset_or_none(ctx, "cgroup_subsys_state", "flags");
	l->links = kw_offset_or_none(ctx, "cgroup", "cset_links");
	l->link = kw_offset_or_none(ctx, "cgrp_cset_link", "cset_link");
	l->cset = kw_offset_or_none(ctx, "cgrp_cset_link", "cset");
	l->tasks = kw_offset_or_none(ctx, "css_set", "nr_tasks");
	l->memory = kw_offset_or_none(ctx, "cgroup", "subsys");
	if (l->memory != KW_NO_ADDR)
		l->memory = memory < 0 || memory > 64 ? KW_NO_ADDR : l->memory + 8 * (uint64_t)memory;
	l->level = kw_offset_or_none(ctx, "cgroup", "level");
	l->css = kw_offset_or_none(ctx, "mem_cgroup", "css");
	l->usage = kw_offset_or_none(ctx, "mem_cgroup", "memory.usage");
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct cgroups_layout), resolve };

/* Fields */

static void path(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_cgroup_path(row, in[0].u, out);
}

/* The root's is not counted: it would be that of the CPUs. */
static void cpu_time(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (kw_pass_absent(in, 2, out))
		return;
	if (!in[1].i)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_uint(out, in[0].u);
}

static const struct kw_field_def path_fields[] = {
	KW_PATH_FIELD("path", "PATH", STRING, NONE, PLAIN, POINTER, "its place in the hierarchy",
		      "kernfs_node.name, parent", "kn", path),
	KW_PATH_FIELD("id", "ID", UINT, NONE, PLAIN, POINTER, "number of the group, never used again",
		      "kernfs_node.id", "kn.id", NULL),
	KW_PATH_FIELD("level", "LEVEL", INT, NONE, PLAIN, OBJECT, "how far below the root it is",
		      "cgroup.level", "level", NULL),
	KW_PATH_FIELD("descendants", "BELOW", INT, NONE, PLAIN, OBJECT, "groups below it, at all levels",
		      "cgroup.nr_descendants", "nr_descendants", NULL),
	{ { "cpu_time", "CPUTIME", "", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_CPUTIME, KW_SCOPE_ROW,
	    KW_COST_OBJECT, "CPU time of its tasks and those below, when the kernel last added it up",
	    "cgroup.bstat.cputime.sum_exec_runtime" },
	  { "bstat.cputime.sum_exec_runtime", "level" },
	  cpu_time,
	  0 },
};

enum { TASKS, MEMORY };

static const struct kw_field_def read_fields[] = {
	[TASKS] = KW_READ_FIELD("tasks", "TASKS", "", UINT, COUNT, PLAIN, POINTER,
				"threads in it, not in those below", "cgroup.cset_links: css_set.nr_tasks"),
	[MEMORY] = KW_READ_FIELD("memory", "MEMORY", "", UINT, BYTES, KIB, POINTER,
				 "memory of its tasks and those below: memory.current",
				 "mem_cgroup.memory.usage"),
};

struct counting {
	const struct cgroups_layout *layout;
	uint64_t tasks;
	kw_status status;
};

static bool add_set(kw_ctx *ctx, uint64_t link, void *arg)
{
	struct counting *c = arg;
	uint64_t cset;
	uint32_t tasks = 0;

	c->status = kw_read_u64(ctx, link + c->layout->cset, &cset);
	if (!c->status)
		c->status = kw_read_u32(ctx, cset + c->layout->tasks, &tasks);
	if (!c->status && (int32_t)tasks > 0)
		c->tasks += tasks;
	return !c->status;
}

static void set_tasks(struct kw_row *row, const struct cgroups_layout *l, struct kw_value *out)
{
	struct counting c = { .layout = l };
	kw_status status;

	if (l->links == KW_NO_ADDR || l->link == KW_NO_ADDR || l->cset == KW_NO_ADDR ||
	    l->tasks == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = kw_list_each(row->ctx, row->task + l->links, l->link, MAX_LINKS, add_set, &c);
	status = status ? status : c.status;
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_uint(out, c.tasks);
}

/* There is a state of the controller where it is switched on in the group above; the root has no such file. */
static void set_memory(struct kw_row *row, const struct cgroups_layout *l, struct kw_value *out)
{
	uint64_t css, pages;
	uint32_t level;
	kw_status status;

	if (l->memory == KW_NO_ADDR || l->level == KW_NO_ADDR || l->css == KW_NO_ADDR ||
	    l->usage == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = kw_read_u32(row->ctx, row->task + l->level, &level);
	if (!status)
		status = kw_read_u64(row->ctx, row->task + l->memory, &css);
	if (!status && css && level)
		status = kw_read_u64(row->ctx, css - l->css + l->usage, &pages);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else if (!css || !level)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else
		kw_set_uint(out, pages * KW_PAGE_SIZE);
}

static void read_group(struct kw_row *row, const void *layout, struct kw_value *values)
{
	set_tasks(row, layout, &values[TASKS]);
	set_memory(row, layout, &values[MEMORY]);
}

static const struct kw_field_table path_table = { path_fields, COUNT(path_fields) };
static const struct kw_field_table read_table = { read_fields, COUNT(read_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &path_table },
	{ .table = &read_table, .subject = &subject, .read = read_group },
};

/* Walking */

/* Where a walk is: at a group's self, below those on the stack. */
struct place {
	uint64_t css, above[MAX_DEPTH];
	unsigned int depth;
};

/* Go to the next group; *ret_end behind the last one. */
static kw_status step(kw_ctx *ctx, const struct cgroups_layout *l, struct place *p, bool *ret_end)
{
	uint64_t next;
	kw_status status = kw_read_u64(ctx, p->css + l->children, &next);

	if (!status && next != p->css + l->children) {
		if (p->depth == MAX_DEPTH)
			return KW_FORMAT;
		p->above[p->depth++] = p->css;
		p->css = next - l->sibling;
		return KW_OK;
	}
	while (!status && p->depth) {
		status = kw_read_u64(ctx, p->css + l->sibling, &next);
		if (!status && next != p->above[p->depth - 1] + l->children) {
			p->css = next - l->sibling;
			return KW_OK;
		}
		p->css = p->above[--p->depth];
	}
	*ret_end = true;
	return status;
}

/* A group that was removed stays for as long as something holds it. */
static bool is_online(kw_ctx *ctx, const struct cgroups_layout *l, uint64_t css)
{
	uint32_t flags;

	return l->flags == KW_NO_ADDR || kw_read_u32(ctx, css + l->flags, &flags) != KW_OK ||
	       flags & KW_CSS_ONLINE;
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	const struct cgroups_layout *l = layout;
	struct place place = { 0 };
	kw_status status = KW_OK;
	bool end = false;

	(void)kernel;
	if (l->root == KW_NO_ADDR || l->self == KW_NO_ADDR || l->children == KW_NO_ADDR ||
	    l->sibling == KW_NO_ADDR)
		return KW_NOTFOUND;
	place.css = l->root + l->self;
	for (uint32_t nr = 0; !status && !end; nr++) {
		if (nr == MAX_GROUPS)
			return KW_FORMAT;
		if (is_online(ctx, l, place.css) && !kw_take_row(take, place.css - l->self, 0, 0, arg))
			return KW_OK;
		status = step(ctx, l, &place, &end);
	}
	return status;
}

const struct kw_source_def kw_cgroup_source = {
	.pub = { "cgroups", "a control group of the unified hierarchy", "path,tasks,memory,cpu_time" },
	.type = "struct cgroup",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
