/* Paths of files. */
#include "unit/kernel_given.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_file_path, .fini = close_given);

static uint64_t new_dentry(struct kernel_image *k, const char *name, uint64_t parent)
{
	uint64_t at = kernel_alloc(k, 128, 64), bytes = kernel_alloc(k, strlen(name) + 1, 8);

	kernel_write(k, bytes, name, strlen(name) + 1);
	kernel_set(k, at, "dentry.d_name.name", bytes);
	kernel_set(k, at, "dentry.d_hash.pprev", 1);
	kernel_set(k, at, "dentry.d_parent", parent ? parent : at);
	return at;
}

static uint64_t new_mount(struct kernel_image *k, uint64_t root, uint64_t below, uint64_t place)
{
	uint64_t at = kernel_alloc(k, 128, 64);

	kernel_set(k, at, "mount.mnt.mnt_root", root);
	kernel_set(k, at, "mount.mnt_parent", below ? below : at);
	kernel_set(k, at, "mount.mnt_mountpoint", place ? place : root);
	return at;
}

static void set_cwd(struct kernel_image *k, int tid, uint64_t mount, uint64_t dentry)
{
	uint64_t fs = kernel_alloc(k, 128, 64);

	kernel_set(k, fs, "fs_struct.users", 1);
	kernel_set(k, kernel_task(k, tid), "task_struct.fs", fs);
	kernel_set(k, fs, "fs_struct.pwd.mnt", mount ? kernel_at(k, mount, "mount.mnt") : 0);
	kernel_set(k, fs, "fs_struct.pwd.dentry", dentry);
}

Test(kernel_file_path, circles)
{
	uint64_t one, two, root, mount, other;

	g = given_tasks(NULL, "1 a\n2 b\n3 c\n");
	root = new_dentry(g.k, "/", 0);
	mount = new_mount(g.k, root, 0, 0);
	one = new_dentry(g.k, "", root);
	two = new_dentry(g.k, "", one);
	kernel_set(g.k, one, "dentry.d_parent", two);
	set_cwd(g.k, 1, mount, one);
	other = new_mount(g.k, root, mount, root);
	set_cwd(g.k, 2, other, root);
	set_cwd(g.k, 3, mount, 0xdead000000000100);
	/* After it was said where each is: from one to the other and back. */
	kernel_set(g.k, mount, "mount.mnt_parent", other);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "<damaged structure>\n<damaged structure>\n"
		    "<no memory at that address>\n",
		    .columns = "cwd");
}

Test(kernel_file_path, mounts_and_deleted_names)
{
	uint64_t root, usr, rootfs, other, bin, mount, gone;

	g = given_tasks(NULL, "1 a\n2 b\n3 c\n4 d\n5 e\n6 f\n");
	root = new_dentry(g.k, "/", 0);
	usr = new_dentry(g.k, "usr", root);
	rootfs = new_mount(g.k, root, 0, 0);
	other = new_dentry(g.k, "/", 0);
	bin = new_dentry(g.k, "bin", other);
	mount = new_mount(g.k, other, rootfs, usr);
	gone = new_dentry(g.k, "ls\033", bin);
	kernel_set(g.k, gone, "dentry.d_hash.pprev", 0);
	set_cwd(g.k, 1, rootfs, root);
	set_cwd(g.k, 2, rootfs, usr);
	set_cwd(g.k, 3, mount, bin);
	set_cwd(g.k, 4, mount, gone);
	set_cwd(g.k, 5, 0, 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 /\n2 /usr\n3 /usr/bin\n4 /usr/bin/ls\\e (deleted)\n"
		    "5 <a pointer on the way is NULL>\n6 <a pointer on the way is NULL>\n",
		    .columns = "pid,cwd");
}
