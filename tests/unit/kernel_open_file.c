/* Open files of processes, and what they are called. */
#include "fixtures/belongings.h"
#include "unit/kernel_given.h"

static struct given g;
static struct belongings b;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_open_file, .fini = close_given, .timeout = 60);

static void have_files(const char *variables)
{
	char all[512];

	snprintf(all, sizeof(all), "%s%s", BELONGINGS_VARIABLES, variables);
	g = given_config(&(struct kernel_config){ .tasks = "1 a\n2 z\n", .variables = all });
	belongings_make(g.k, 1, &b);
}

/* A table that has room for more than can be, one that ends in nothing, one that is none. */
Test(kernel_open_file, damage)
{
	have_files("");
	kernel_set(g.k, b.table, "fdtable.max_fds", 0xffffffc0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "", .source = "files", .columns = "fd");
	given_close(&g);
	have_files("");
	kernel_set(g.k, b.table, "fdtable.fd", 0xdead000000000100);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "", .source = "files", .columns = "fd");
	given_close(&g);
	have_files("");
	kernel_set(g.k, kernel_get(g.k, kernel_task(g.k, 1), "task_struct.files"), "files_struct.fdt", 8);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "", .source = "files", .columns = "fd");
	given_close(&g);
	have_files("");
	kernel_set(g.k, b.pipe, "file.f_path.dentry", 0xdead000000000100);
	kernel_set(g.k, b.pipe, "file.f_inode", 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "0 77 /bin/x\n3 <no memory at that address> <no memory at that address>\n65 77 /bin/x\n",
		    .source = "files", .columns = "fd,inode,path");
}

Test(kernel_open_file, all_fields)
{
	have_files("");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK,
		    "1 a 0 REG 2 770 false 08:02 77 /bin/x\n"
		    "1 a 3 FIFO 2 47110 true 08:02 4711 pipe:[4711]\n"
		    "1 a 65 REG 2 770 false 08:02 77 /bin/x\n",
		    .source = "files", .columns = "pid,comm,fd,type,flags,pos,cloexec,dev,inode,path");
	expect_rows(&g, KW_OK, "", .source = "files", .columns = "fd", .pids = "2");
}

static void expect_name(const char *function, const char *name, const char *variables, const char *want)
{
	uint64_t dentry, file;

	have_files(variables);
	dentry = belongings_dentry(g.k, &b, name, 0);
	file = belongings_file(g.k, &b, dentry, 5);
	belongings_named_by(g.k, dentry, function);
	kernel_write(g.k, kernel_get(g.k, b.table, "fdtable.fd"), &file, 8);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, want, .source = "files", .columns = "path", .limit = 1);
	given_close(&g);
}

Test(kernel_open_file, names_that_are_made_up)
{
	expect_name("simple_dname", "memfd:x", "", "/memfd:x (deleted)\n");
	expect_name("sockfs_dname", "", "sockfs_dname 8\n", "socket:[5]\n");
	expect_name("anon_inodefs_dname", "[eventpoll]", "anon_inodefs_dname 8\n",
		    "anon_inode:[eventpoll]\n");
	expect_name("pidfs_dname", "", "pidfs_dname 8\n", "anon_inode:[pidfd]\n");
	expect_name("other_dname", "of its own", "other_dname 8\n", "of its own\n");
}

/* The namespace hangs at the inode since 6.9, at the dentry before. */
Test(kernel_open_file, namespaces)
{
	for (int old = 0; old < 2; old++) {
		uint64_t dentry, file, ops, ns;

		g = given_config(&(struct kernel_config){
			.types =
				old ? "struct ns_common { atomic_long_t stashed; const struct proc_ns_operations *ops;"
				      "	unsigned int inum; };"
				    : NULL,
			.tasks = "1 a\n",
			.variables = BELONGINGS_VARIABLES });
		belongings_make(g.k, 1, &b);
		dentry = belongings_dentry(g.k, &b, "", 0);
		file = belongings_file(g.k, &b, dentry, 4026531840);
		belongings_named_by(g.k, dentry, "ns_dname");
		ops = kernel_alloc(g.k, 64, 8);
		ns = kernel_alloc(g.k, 64, 8);
		kernel_set(g.k, ops, "proc_ns_operations.name", belongings_text(g.k, "mnt"));
		kernel_set(g.k, ns, "ns_common.ops", ops);
		kernel_set(g.k, dentry, "dentry.d_fsdata", old ? ops : 8);
		kernel_set(g.k, dentry, "dentry.d_inode.i_private", old ? 8 : ns);
		kernel_write(g.k, kernel_get(g.k, b.table, "fdtable.fd"), &file, 8);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, "mnt:[4026531840]\n", .source = "files", .columns = "path",
			    .limit = 1);
		given_close(&g);
	}
}

/* Of a mount's root there is a path, whatever makes up the names of the others. */
Test(kernel_open_file, root_of_a_mount)
{
	uint64_t file;

	have_files("");
	file = belongings_file(g.k, &b, b.root, 2);
	belongings_named_by(g.k, b.root, "simple_dname");
	kernel_write(g.k, kernel_get(g.k, b.table, "fdtable.fd"), &file, 8);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "2 /\n", .source = "files", .columns = "inode,path", .limit = 1);
}

/* Below overlayfs a file knows what was opened; the bit that says so has had two places, and one of them two meanings. */
Test(kernel_open_file, below_overlayfs)
{
	static const uint32_t modes[] = { 1u << 25, 1u << 24, 0 };

	for (int right = 0; right < 2; right++) {
		for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
			uint64_t file, upper, dentry;
			bool below = modes[i] && right;

			have_files("");
			dentry = belongings_dentry(g.k, &b, "upper", b.root);
			upper = belongings_file(g.k, &b, dentry, 6);
			file = belongings_file(g.k, &b, belongings_dentry(g.k, &b, "lower", b.root), 5);
			kernel_set(g.k, file, "file.f_mode", modes[i]);
			kernel_set(g.k, file, "backing_file.user_path.dentry", dentry);
			kernel_set(g.k, file, "backing_file.user_path.mnt",
				   right ? kernel_get(g.k, upper, "file.f_path.mnt") : 7);
			kernel_write(g.k, kernel_get(g.k, b.table, "fdtable.fd"), &file, 8);
			given_open(&g, KERNEL_RAM);
			expect_rows(&g, KW_OK, below ? "6 /upper\n" : "5 /lower\n", .source = "files",
				    .columns = "inode,path", .limit = 1);
			given_close(&g);
		}
	}
}
