/* The control groups of all hierarchies. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_hierarchy, .fini = close_given);

static uint64_t text(const char *str)
{
	uint64_t at = kernel_alloc(g.k, strlen(str) + 1, 8);

	kernel_write(g.k, at, str, strlen(str) + 1);
	return at;
}

static uint64_t new_node(const char *name, uint64_t parent)
{
	uint64_t node = kernel_alloc(g.k, 64, 64);

	kernel_set(g.k, node, "kernfs_node.name", text(name));
	kernel_set(g.k, node,
		   kernel_has(g.k, "kernfs_node.parent") ? "kernfs_node.parent" : "kernfs_node.__parent",
		   parent);
	return node;
}

static void put_controller(unsigned int id, const char *name)
{
	uint64_t at = kernel_alloc(g.k, 64, 8);

	kernel_set(g.k, at, "cgroup_subsys.legacy_name", text(name));
	kernel_write(g.k, kernel_symbol(g.k, "cgroup_subsys") + 8 * id, &at, 8);
}

static void set_list(uint64_t head, const uint64_t *node, size_t nr)
{
	for (size_t i = 0; i <= nr; i++)
		kernel_write(g.k, i ? node[i - 1] : head, i == nr ? &head : &node[i], 8);
}

static uint64_t set_root(uint64_t root, int id, uint32_t mask, const char *name)
{
	kernel_set(g.k, root, "cgroup_root.hierarchy_id", (uint64_t)id);
	kernel_set(g.k, root, "cgroup_root.subsys_mask", mask);
	kernel_write(g.k, kernel_at(g.k, root, "cgroup_root.name"), name, strlen(name) + 1);
	kernel_set(g.k, root, "cgroup_root.cgrp.kn", new_node("", 0));
	kernel_set(g.k, root, "cgroup_root.cgrp.root", root);
	kernel_set(g.k, root, "cgroup_root.cgrp.self.flags", 2);
	return root;
}

static uint64_t new_group(uint64_t root, const char *name)
{
	uint64_t group = kernel_alloc(g.k, 64, 64);

	kernel_set(g.k, group, "cgroup.kn", new_node(name, kernel_get(g.k, root, "cgroup_root.cgrp.kn")));
	kernel_set(g.k, group, "cgroup.root", root);
	kernel_set(g.k, group, "cgroup.self.flags", 2);
	return group;
}

/* The roots: of version 2, of two controllers, of none but with a name; and a set of a group in each. */
struct groups {
	uint64_t root[3], group[3], set;
};

static struct groups make_groups(void)
{
	uint64_t size = 256, node[3], link[3];
	struct groups all;

	put_controller(0, "cpu");
	put_controller(3, "cpuacct");
	all.root[0] = set_root(kernel_symbol(g.k, "cgrp_dfl_root"), 0, 0xffff, "");
	all.root[1] = set_root(kernel_alloc(g.k, size, 64), 1, 9, "");
	all.root[2] = set_root(kernel_alloc(g.k, size, 64), 12, 0, "own name");
	all.set = kernel_alloc(g.k, 64, 64);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "two", "one", "named" };
		uint64_t at = kernel_alloc(g.k, 64, 64);

		all.group[i] = new_group(all.root[i], names[i]);
		kernel_set(g.k, at, "cgrp_cset_link.cgrp", all.group[i]);
		link[i] = kernel_at(g.k, at, "cgrp_cset_link.cgrp_link");
		node[2 - i] = kernel_at(g.k, all.root[i], "cgroup_root.root_list");
	}
	set_list(kernel_symbol(g.k, "cgroup_roots"), node, 3);
	set_list(kernel_at(g.k, all.set, "css_set.cgrp_links"), link, 3);
	kernel_set(g.k, all.set, "css_set.dfl_cgrp", all.group[0]);
	kernel_set(g.k, kernel_task(g.k, 1), "task_struct.cgroups", all.set);
	kernel_set(g.k, kernel_task(g.k, 2), "task_struct.cgroups", kernel_symbol(g.k, "init_css_set"));
	kernel_set(g.k, kernel_task(g.k, 3), "task_struct.cgroups", all.set);
	return all;
}

#define TASKS "1 a\n2 b\n3 c flags=4\n"

static void show_version_2(void)
{
	kernel_write(g.k, kernel_symbol(g.k, "cgrp_dfl_visible"), "\1", 1);
}

/* A list that leads nowhere, or round and round; a set without a group of a hierarchy. */
Test(kernel_hierarchy, damage)
{
	static const uint64_t bad[] = { 0, 0xdead000000000122, KERNEL_VMALLOC };
	struct groups all;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(bad); i++) {
		uint64_t value = bad[i / 2];

		g = given_tasks(NULL, TASKS);
		all = make_groups();
		kernel_write(g.k,
			     i % 2 ? kernel_symbol(g.k, "cgroup_roots")
				   : kernel_at(g.k, all.set, "css_set.cgrp_links"),
			     &value, 8);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_INCOMPLETE,
			    value ? "<no memory at that address>\n" : "<damaged structure>\n",
			    .columns = "cgroups", .pids = "1");
		given_close(&g);
	}
	g = given_tasks(NULL, TASKS);
	all = make_groups();
	kernel_set(g.k, all.group[1], "cgroup.root", all.root[2]);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "<damaged structure>\n", .columns = "cgroups", .pids = "1");
}

Test(kernel_hierarchy, version_1_only)
{
	g = given_tasks(NULL, TASKS);
	make_groups();
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "12:name=own name:/named\\n1:cpu,cpuacct:/one\n"
		    "12:name=own name:/\\n1:cpu,cpuacct:/\n"
		    /* It ends: see hierarchy.c. */
		    "12:name=own name:/\\n1:cpu,cpuacct:/\n",
		    .columns = "cgroups");
}

Test(kernel_hierarchy, both_versions)
{
	struct groups all;

	g = given_tasks("5.10", TASKS);
	all = make_groups();
	show_version_2();
	kernel_set(g.k, all.group[0], "cgroup.self.flags", 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "12:name=own name:/named\\n1:cpu,cpuacct:/one\\n0::/two (deleted)\n"
		    "12:name=own name:/\\n1:cpu,cpuacct:/\\n0::/\n"
		    "12:name=own name:/\\n1:cpu,cpuacct:/\\n0::/two (deleted)\n",
		    .columns = "cgroups");
}

Test(kernel_hierarchy, none_mounted)
{
	g = given_tasks(NULL, TASKS);
	make_groups();
	set_list(kernel_symbol(g.k, "cgroup_roots"),
		 (uint64_t[]){ kernel_at(g.k, kernel_symbol(g.k, "cgrp_dfl_root"), "cgroup_root.root_list") },
		 1);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "1 \n2 \n3 \n", .columns = "pid,cgroups");
}

/* What was found in one run does not count in the next. */
Test(kernel_hierarchy, mounted_between_two_runs)
{
	struct printer printer = { 0 };
	kw_query *query;

	g = given_tasks(NULL, TASKS);
	make_groups();
	given_open(&g, KERNEL_RAM_LIVE);
	query = bind_query(&g, OPTIONS(.columns = "cgroups", .pids = "1"));
	expect_run(&g, query, &printer, KW_OK, "12:name=own name:/named\\n1:cpu,cpuacct:/one\n");
	show_version_2();
	expect_run(&g, query, &printer, KW_OK, "12:name=own name:/named\\n1:cpu,cpuacct:/one\\n0::/two\n");
	kw_query_free(query);
}

Test(kernel_hierarchy, without_a_symbol)
{
	g = given_config(&(struct kernel_config){ .tasks = TASKS, .hidden = "cgrp_dfl_visible" });
	make_groups();
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such symbol>\n", .columns = "cgroups", .pids = "1");
}

/* Built without CONFIG_CGROUPS: nothing of it is there, which is not the same as being in no group. */
Test(kernel_hierarchy, kernel_without_control_groups)
{
	g = given_config(&(struct kernel_config){ .types = "struct css_set { int nothing; };",
						  .tasks = "1 a cgroups=8\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "<this kernel has no such member> <this kernel has no such member> "
		    "<this kernel has no such symbol>\n",
		    .columns = "cgroup,cpuset,cgroups");
}
