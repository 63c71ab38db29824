/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control groups that a task is in, of all hierarchies: /proc/PID/cgroup.
 *
 * Version 2 has one hierarchy, number 0, which counts from its first mount on. Those of version 1 have controllers, a
 * name, or both, and a group for each task. All roots are on a list, the newest first. Which groups a task is in says its
 * css_set, which many tasks share: through a list of links, but for init_css_set, which is in the root of each.
 *
 *     css_set.cgrp_links --> cgrp_cset_link.cgrp --> cgroup.root
 *                        --> cgrp_cset_link.cgrp --> ...
 */
#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/cgroup.h"
#include "kernel/list.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "util/error.h"
#include "util/strbuf.h"
#include "util/text_map.h"

#define PF_EXITING 0x00000004u

#define MAX_ROOTS	256
#define MAX_CONTROLLERS 32
#define MAX_NAME	64

struct hierarchy_layout {
	uint64_t roots, default_root, is_visible, controllers, init_set; /* symbols */
	uint64_t id, mask, list, top, name;				 /* of cgroup_root */
	uint64_t links, default_group;					 /* of css_set */
	uint64_t link_group, link;					 /* of cgrp_cset_link */
	uint64_t root, node, flags;					 /* of cgroup */
	uint64_t controller_name;					 /* of cgroup_subsys */
	bool is_whole;							 /* nothing is missing */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct hierarchy_layout *l = layout;
	struct kw_symbol_query symbols[] = { { "cgroup_roots", 0 },
					     { "cgrp_dfl_root", 0 },
					     { "cgrp_dfl_visible", 0 },
					     { "cgroup_subsys", 0 },
					     { "init_css_set", 0 } };
	uint64_t *const addresses[] = { &l->roots, &l->default_root, &l->is_visible, &l->controllers,
					&l->init_set };
	const struct {
		const char *type, *path;
		uint64_t *offset;
	} members[] = {
		{ "cgroup_root", "hierarchy_id", &l->id },
		{ "cgroup_root", "subsys_mask", &l->mask },
		{ "cgroup_root", "root_list", &l->list },
		{ "cgroup_root", "cgrp", &l->top },
		{ "cgroup_root", "name", &l->name },
		{ "css_set", "cgrp_links", &l->links },
		{ "css_set", "dfl_cgrp", &l->default_group },
		{ "cgrp_cset_link", "cgrp", &l->link_group },
		{ "cgrp_cset_link", "cgrp_link", &l->link },
		{ "cgroup", "root", &l->root },
		{ "cgroup", "kn", &l->node },
		{ "cgroup", "self.flags", &l->flags },
		{ "cgroup_subsys", "legacy_name", &l->controller_name },
	};

	(void)kernel;
	l->is_whole = kw_symbol_addresses(ctx, symbols, sizeof(symbols) / sizeof(symbols[0])) == KW_OK;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		*addresses[i] = symbols[i].addr;
		l->is_whole = l->is_whole && symbols[i].addr != KW_NO_ADDR;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		*members[i].offset = kw_offset_or_none(ctx, members[i].type, members[i].path);
		l->is_whole = l->is_whole && *members[i].offset != KW_NO_ADDR;
	}
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct hierarchy_layout), resolve };

/* A hierarchy, with the beginning of its line: NUMBER:CONTROLLERS: */
struct hierarchy {
	uint64_t root;
	char *begin;
};

/* What a run has seen: the hierarchies, and the texts of css_sets. Those of ending tasks have a key one higher. */
struct hierarchies {
	uint64_t run;
	kw_status status; /* of finding them */
	struct hierarchy item[MAX_ROOTS];
	size_t nr;
	struct kw_text_map texts;
};

static void forget(struct hierarchies *h)
{
	kw_text_map_clear(&h->texts);
	while (h->nr)
		free(h->item[--h->nr].begin);
}

static void *make_hierarchies(struct kw_row *row)
{
	(void)row;
	return calloc(1, sizeof(struct hierarchies));
}

static void free_hierarchies(void *state)
{
	forget(state);
	free(state);
}

struct finding {
	const struct hierarchy_layout *layout;
	struct hierarchies *found;
	bool shows_default;
};

static kw_status put_controllers(kw_ctx *ctx, const struct hierarchy_layout *l, uint64_t root,
				 struct kw_strbuf *sb, const char **between)
{
	uint32_t mask;
	kw_status status = kw_read_u32(ctx, root + l->mask, &mask);

	for (unsigned int i = 0; !status && i < MAX_CONTROLLERS; i++) {
		char name[MAX_NAME];
		uint64_t at;

		if (!(mask >> i & 1))
			continue;
		status = kw_read_u64(ctx, l->controllers + 8ULL * i, &at);
		if (!status)
			status = kw_read_u64(ctx, at + l->controller_name, &at);
		if (!status)
			status = kw_read_string(ctx, at, name, sizeof(name));
		if (status)
			break;
		kw_strbuf_printf(sb, "%s%s", *between, name);
		*between = ",";
	}
	return status;
}

static kw_status begin_line(kw_ctx *ctx, const struct hierarchy_layout *l, uint64_t root,
			    struct kw_strbuf *sb)
{
	const char *between = "";
	char name[MAX_NAME];
	uint32_t id;
	kw_status status = kw_read_u32(ctx, root + l->id, &id);

	if (status)
		return status;
	kw_strbuf_printf(sb, "%d:", (int32_t)id);
	if (root != l->default_root) {
		status = put_controllers(ctx, l, root, sb, &between);
		if (!status)
			status = kw_read_string(ctx, root + l->name, name, sizeof(name));
		if (!status && *name)
			kw_strbuf_printf(sb, "%sname=%s", between, name);
	}
	kw_strbuf_putc(sb, ':');
	return status;
}

static bool take_root(kw_ctx *ctx, uint64_t root, void *arg)
{
	struct finding *f = arg;
	struct hierarchies *h = f->found;
	struct kw_strbuf sb = { 0 };
	char *begin;

	if (root == f->layout->default_root && !f->shows_default)
		return true;
	h->status = begin_line(ctx, f->layout, root, &sb);
	begin = kw_strbuf_take(&sb);
	if (h->status || !begin) {
		h->status = h->status ? h->status : KW_NOMEM;
		free(begin);
		return false;
	}
	h->item[h->nr++] = (struct hierarchy){ root, begin };
	return true;
}

static void find_hierarchies(struct kw_row *row, const struct hierarchy_layout *l, struct hierarchies *h)
{
	struct finding f = { l, h, false };
	uint8_t is_visible;
	kw_status status;

	forget(h);
	h->run = row->run;
	h->status = kw_read(row->ctx, l->is_visible, &is_visible, sizeof(is_visible));
	if (h->status)
		return;
	f.shows_default = is_visible;
	status = kw_list_each(row->ctx, l->roots, l->list, MAX_ROOTS, take_root, &f);
	if (!h->status)
		h->status = status;
}

struct group_search {
	const struct hierarchy_layout *layout;
	uint64_t root, group; /* found: not 0 */
	kw_status status;
};

static bool is_group_of(kw_ctx *ctx, uint64_t link, void *arg)
{
	struct group_search *s = arg;
	uint64_t group, root;

	s->status = kw_read_u64(ctx, link + s->layout->link_group, &group);
	if (!s->status)
		s->status = kw_read_u64(ctx, group + s->layout->root, &root);
	if (!s->status && root == s->root)
		s->group = group;
	return !s->status && !s->group;
}

static kw_status find_group(kw_ctx *ctx, const struct hierarchy_layout *l, uint64_t set, uint64_t root,
			    uint64_t *ret)
{
	struct group_search s = { .layout = l, .root = root };
	kw_status status;

	if (set == l->init_set) {
		*ret = root + l->top;
		return KW_OK;
	}
	if (root == l->default_root)
		return kw_read_u64(ctx, set + l->default_group, ret);
	status = kw_list_each(ctx, set + l->links, l->link, MAX_ROOTS, is_group_of, &s);
	if (!status)
		status = s.status;
	*ret = s.group;
	return status || s.group ? status : KW_FORMAT;
}

/* Since a task leaves its groups of version 1 early while it ends, no path of these is shown then. */
static kw_status put_group(struct kw_row *row, const struct hierarchy_layout *l, uint64_t set, uint64_t root,
			   bool is_exiting, struct kw_strbuf *sb)
{
	uint64_t group, node;
	struct kw_value path;
	uint32_t flags = 0;
	kw_status status;

	if (is_exiting && root != l->default_root) {
		kw_strbuf_putc(sb, '/');
		return KW_OK;
	}
	status = find_group(row->ctx, l, set, root, &group);
	if (!status)
		status = kw_read_u64(row->ctx, group + l->node, &node);
	if (!status)
		status = kw_read_u32(row->ctx, group + l->flags, &flags);
	if (status)
		return status;
	kw_cgroup_path(row, node, &path);
	if (path.type == KW_VAL_ABSENT)
		return KW_FAILED;
	kw_strbuf_add(sb, path.str, path.len);
	if (root == l->default_root && !(flags & KW_CSS_ONLINE))
		kw_strbuf_puts(sb, " (deleted)");
	return KW_OK;
}

static void make_text(struct kw_row *row, const struct hierarchy_layout *l, struct hierarchies *h,
		      uint64_t set, bool is_exiting, struct kw_value *out)
{
	struct kw_strbuf sb = { 0 };
	kw_status status = h->status;

	for (size_t i = 0; !status && i < h->nr; i++) {
		kw_strbuf_printf(&sb, "%s%s", i ? "\n" : "", h->item[i].begin);
		status = put_group(row, l, set, h->item[i].root, is_exiting, &sb);
	}
	if (status || sb.failed) {
		kw_set_absent(out, status ? kw_absent_of_status(status) : KW_ABSENT_UNREADABLE);
	} else {
		kw_text_map_put(&h->texts, set + is_exiting, sb.str, sb.len);
		kw_row_put(row, out, sb.str, sb.len);
	}
	kw_strbuf_free(&sb);
}

/* in[0] the css_set */
static void cgroups(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct hierarchy_layout *l = kw_layout_get(row->ctx, row->kernel, &subject);
	struct hierarchies *h = kw_row_keep(row, KW_KEEP_HIERARCHIES, make_hierarchies, free_hierarchies);
	bool is_exiting = row->flags & PF_EXITING;
	const struct kw_text *text;

	if (kw_pass_absent(in, 1, out))
		return;
	if (!in[0].u || !l || !h || !l->is_whole) {
		kw_set_absent(out, in[0].u ? KW_ABSENT_NO_SYMBOL : KW_ABSENT_NULL);
		return;
	}
	if (h->run != row->run)
		find_hierarchies(row, l, h);
	text = kw_text_map_find(&h->texts, in[0].u + is_exiting);
	if (text)
		kw_set_text(out, text);
	else
		make_text(row, l, h, in[0].u, is_exiting, out);
}

static const struct kw_field_def fields[] = {
	{ { "cgroups", "CGROUPS", "", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_WALK,
	    "control groups of all hierarchies: the lines of /proc/PID/cgroup, NUMBER:CONTROLLERS:PATH",
	    "cgroup_roots, css_set.cgrp_links" },
	  { "cgroups" },
	  cgroups,
	  KW_USES_FLAGS | KW_USES_MORE },
};

const struct kw_field_table kw_hierarchy_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
