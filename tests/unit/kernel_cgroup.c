/* Paths of control groups. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_cgroup, .fini = close_given);

static uint64_t text(struct kernel_image *k, const char *str)
{
	uint64_t at = kernel_alloc(k, strlen(str) + 1, 8);

	kernel_write(k, at, str, strlen(str) + 1);
	return at;
}

static const char *parent_path(const struct kernel_image *k)
{
	return kernel_has(k, "kernfs_node.parent") ? "kernfs_node.parent" : "kernfs_node.__parent";
}

static uint64_t new_node(struct kernel_image *k, const char *name, uint64_t parent)
{
	uint64_t node = kernel_alloc(k, 64, 64);

	kernel_set(k, node, "kernfs_node.count.counter", 1);
	kernel_set(k, node, "kernfs_node.name", text(k, name));
	kernel_set(k, node, parent_path(k), parent);
	return node;
}

static void put_in(struct kernel_image *k, int tid, uint64_t node, bool online)
{
	uint64_t set = kernel_alloc(k, 64, 64), group = kernel_alloc(k, 64, 64),
		 css = kernel_alloc(k, 64, 64);

	kernel_set(k, kernel_task(k, tid), "task_struct.cgroups", set);
	kernel_set(k, set, "css_set.dfl_cgrp", group);
	kernel_set(k, set, "css_set.subsys[0]", css);
	kernel_set(k, css, "cgroup_subsys_state.cgroup", group);
	kernel_set(k, group, "cgroup.kn", node);
	kernel_set(k, group, "cgroup.self.flags", online ? 2 : 0);
}

/* Above it is what is below it; nothing is above it; nothing is there. */
Test(kernel_cgroup, circles)
{
	uint64_t one, two;

	g = given_tasks(NULL, "1 a\n2 b\n");
	one = new_node(g.k, "one", 0);
	two = new_node(g.k, "two", one);
	kernel_set(g.k, one, parent_path(g.k), two);
	put_in(g.k, 1, two, true);
	put_in(g.k, 2, new_node(g.k, "c", 0xdead000000000100), true);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "<damaged structure>\n<no memory at that address>\n",
		    .columns = "cgroup");
}

Test(kernel_cgroup, too_long)
{
	char name[256];
	uint64_t node;

	g = given_tasks(NULL, "1 a\n");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	node = new_node(g.k, "", 0);
	for (int i = 0; i < 17; i++)
		node = new_node(g.k, name, node);
	put_in(g.k, 1, node, true);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "<damaged structure>\n", .columns = "cgroup");
}

static void expect_paths(struct given *given)
{
	uint64_t root = new_node(given->k, "", 0), slice = new_node(given->k, "system.slice", root);

	put_in(given->k, 1, root, true);
	put_in(given->k, 2, new_node(given->k, "ssh.service", slice), true);
	put_in(given->k, 3, slice, false);
	given_open(given, KERNEL_RAM);
	expect_rows(given, KW_OK,
		    "1 / /\n2 /system.slice/ssh.service /system.slice/ssh.service\n"
		    "3 /system.slice (deleted) /system.slice\n"
		    "4 <a pointer on the way is NULL> <a pointer on the way is NULL>\n",
		    .columns = "pid,cgroup,cpuset");
}

Test(kernel_cgroup, paths)
{
	in_every_style("1 a\n2 b\n3 c\n4 d\n", expect_paths);
}
