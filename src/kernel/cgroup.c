/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control groups. A group is a folder of kernfs: its path is the names of it and of those above it, up to the root, which
 * has none above it. Paths are made once in a run.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/cgroup.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "util/text_map.h"

#define MAX_DEPTH 256
#define MAX_NAME  256
#define MAX_PATH  4096

struct cgroup_layout {
	uint64_t name, parent; /* of struct kernfs_node */
};

/* kernfs_node.parent became __parent in 6.15. */
static kw_status resolve_cgroups(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct cgroup_layout *l = layout;

	(void)kernel;
	l->name = kw_offset_or_none(ctx, "kernfs_node", "name");
	l->parent = kw_offset_or_none(ctx, "kernfs_node", "__parent");
	if (l->parent == KW_NO_ADDR)
		l->parent = kw_offset_or_none(ctx, "kernfs_node", "parent");
	return KW_OK;
}

static const struct kw_subject cgroups = { sizeof(struct cgroup_layout), resolve_cgroups };

struct cgroup_paths {
	uint64_t run;
	struct kw_text_map paths;
};

static void *make_paths(struct kw_row *row)
{
	(void)row;
	return calloc(1, sizeof(struct cgroup_paths));
}

static void free_paths(void *state)
{
	struct cgroup_paths *p = state;

	kw_text_map_clear(&p->paths);
	free(p);
}

static struct kw_text_map *get_paths(struct kw_row *row)
{
	struct cgroup_paths *p = kw_row_keep(row, KW_KEEP_CGROUPS, make_paths, free_paths);

	if (p && p->run != row->run) {
		kw_text_map_clear(&p->paths);
		p->run = row->run;
	}
	return p ? &p->paths : NULL;
}

static kw_status read_name(kw_ctx *ctx, const struct cgroup_layout *l, uint64_t node, char name[MAX_NAME])
{
	uint64_t at;
	kw_status status = __builtin_add_overflow(node, l->name, &at) ? KW_ABSENT : kw_read_u64(ctx, at, &at);

	return status ? status : kw_read_string(ctx, at, name, MAX_NAME);
}

/* Write the path to the end of buf, from where it is read: names come from the last to the first. */
static kw_status write_path(kw_ctx *ctx, const struct cgroup_layout *l, uint64_t node, char *buf,
			    size_t *ret_start)
{
	size_t start = MAX_PATH;
	char name[MAX_NAME];

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		uint64_t parent, at;
		kw_status status = __builtin_add_overflow(node, l->parent, &at)
					   ? KW_ABSENT
					   : kw_read_u64(ctx, at, &parent);
		size_t len;

		if (!status && !parent) {
			if (start == MAX_PATH)
				buf[--start] = '/';
			*ret_start = start;
			return KW_OK;
		}
		if (!status)
			status = read_name(ctx, l, node, name);
		if (status)
			return status;
		len = strlen(name);
		if (len + 1 > start)
			return KW_FORMAT;
		start -= len;
		memcpy(buf + start, name, len);
		buf[--start] = '/';
		node = parent;
	}
	return KW_FORMAT;
}

void kw_cgroup_path(struct kw_row *row, uint64_t node, struct kw_value *out)
{
	struct kw_text_map *paths = get_paths(row);
	const struct kw_text *text = paths ? kw_text_map_find(paths, node) : NULL;
	const struct cgroup_layout *l;
	char buf[MAX_PATH];
	size_t start;
	kw_status status;

	if (text) {
		kw_set_text(out, text);
		return;
	}
	l = kw_layout_get(row->ctx, row->kernel, &cgroups);
	if (!l || l->name == KW_NO_ADDR || l->parent == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = write_path(row->ctx, l, node, buf, &start);
	if (status) {
		kw_set_absent(out, kw_absent_of_status(status));
		return;
	}
	text = paths ? kw_text_map_put(paths, node, buf + start, MAX_PATH - start) : NULL;
	if (text)
		kw_set_text(out, text);
	else
		kw_row_put(row, out, buf + start, MAX_PATH - start);
}

/* in[0] the group's kernfs node, in[1] the flags of its own css: a removed group is offline. */
static void cgroup(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	static const char deleted[] = " (deleted)";
	char text[MAX_PATH + sizeof(deleted)];

	if (kw_pass_absent(in, 1, out) || kw_pass_missing(&in[1], out))
		return;
	kw_cgroup_path(row, in[0].u, out);
	if (out->type == KW_VAL_ABSENT || in[1].type == KW_VAL_ABSENT || in[1].u & KW_CSS_ONLINE)
		return;
	memcpy(text, out->str, out->len);
	memcpy(text + out->len, deleted, sizeof(deleted) - 1);
	kw_row_put(row, out, text, out->len + sizeof(deleted) - 1);
}

static void cpuset(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	if (!kw_pass_absent(in, 1, out))
		kw_cgroup_path(row, in[0].u, out);
}

#define PATH KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_WALK

static const struct kw_field_def fields[] = {
	{ { "cgroup", "CGROUP", "", PATH,
	    "control group (version 2), as /proc/PID/cgroup has it behind 0::", "css_set.dfl_cgrp->kn" },
	  { "cgroups.dfl_cgrp.kn", "cgroups.dfl_cgrp.self.flags" },
	  cgroup,
	  KW_USES_MORE },
	{ { "cpuset", "CPUSET", "", PATH, "group of the cpuset controller",
	    "css_set.subsys[cpuset_cgrp_id]->cgroup->kn" },
	  { "cgroups.subsys[cgroup_subsys_id.cpuset_cgrp_id].cgroup.kn" },
	  cpuset,
	  KW_USES_MORE },
};

const struct kw_field_table kw_cgroup_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
