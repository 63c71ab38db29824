/* Mounts and their options, swap areas, control groups, zswap: what is right, and what can't be. */
#include "fixtures/holdings.h"
#include "unit/kernel_given.h"

static struct given g;
static struct holdings h;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_holdings, .fini = close_given, .timeout = 60);

static void given_holdings(void)
{
	g = given_config(&(struct kernel_config){
		.types = HOLDINGS_TYPES, .variables = HOLDINGS_VARIABLES, .tasks = "1 init\n" });
	holdings_make(g.k, &h);
}

static void expect_options_of(unsigned int which, const char *want)
{
	char all[512];
	static const char *const usual[] = {
		"/ rw,nosuid size=40k,mode=755,uid=7\n",
		"/proc ro gid=4,hidepid=invisible\n",
		"/pts rw gid=5,mode=620,ptmxmode=000\n",
	};

	*all = '\0';
	for (unsigned int i = 0; i < NR_MOUNTS; i++)
		strcat(all, i == which ? want : usual[i]);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_OK, all, .source = "mounts", .columns = "path,options,own_options");
	kw_free(g.ctx);
	g.ctx = NULL;
}

Test(kernel_holdings, mounts)
{
	given_holdings();
	expect_options_of(NR_MOUNTS, "");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "20 20 none tmpfs\n21 20 none proc\n22 20 none devpts\n", .source = "mounts",
		    .columns = "id,parent_id,device,type");
}

Test(kernel_holdings, options_of_tmpfs)
{
	uint64_t info;

	given_holdings();
	info = h.info[MOUNT_ROOT];
	kernel_set(g.k, info, "shmem_sb_info.max_blocks", 100);
	kernel_set(g.k, info, "shmem_sb_info.max_inodes", 50);
	kernel_set(g.k, info, "shmem_sb_info.mode", 01777);
	kernel_set(g.k, info, "shmem_sb_info.uid", 0);
	kernel_set(g.k, info, "shmem_sb_info.full_inums", 1);
	kernel_set(g.k, info, "shmem_sb_info.huge", 2);
	kernel_set(g.k, info, "shmem_sb_info.noswap", 1);
	expect_options_of(MOUNT_ROOT, "/ rw,nosuid nr_inodes=50,inode64,huge=within_size,noswap\n");
	/* A policy has a text that is not known. */
	kernel_set(g.k, info, "shmem_sb_info.mpol", 1);
	expect_options_of(MOUNT_ROOT, "/ rw,nosuid <not known how the kernel makes it>\n");
}

Test(kernel_holdings, options_that_are_not_known)
{
	given_holdings();
	kernel_set(g.k, h.super[MOUNT_PTS], "super_block.s_op.show_options",
		   kernel_symbol(g.k, "other_show_options"));
	expect_options_of(MOUNT_PTS, "/pts rw <not known how the kernel makes it>\n");
	kernel_set(g.k, h.super[MOUNT_PTS], "super_block.s_op.show_options", 0);
	expect_options_of(MOUNT_PTS, "/pts rw \n");
	kernel_set(g.k, h.info[MOUNT_PROC], "proc_fs_info.hide_pid", 3);
	kernel_set(g.k, h.super[MOUNT_PTS], "super_block.s_op.show_options",
		   kernel_symbol(g.k, "devpts_show_options"));
	expect_options_of(MOUNT_PROC, "/proc ro <not known how the kernel makes it>\n");
}

Test(kernel_holdings, mounts_that_go_round)
{
	given_holdings();
	kernel_set(g.k, h.mount[MOUNT_PROC], "mount.mnt_parent", h.mount[MOUNT_PTS]);
	kernel_set(g.k, h.mount[MOUNT_PTS], "mount.mnt_parent", h.mount[MOUNT_PROC]);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE,
		    "20 /\n21 <damaged structure>\n"
		    "22 <damaged structure>\n",
		    .source = "mounts", .columns = "id,path");
}

Test(kernel_holdings, swaps)
{
	given_holdings();
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "/dev/vda2 true 40960 12288 5\n/swap false 81920 0 -2\n", .source = "swaps",
		    .columns = "path,device,size,used,priority");
}

/* One is given up, one is just being set up. */
Test(kernel_holdings, swaps_that_are_none)
{
	given_holdings();
	kernel_set(g.k, h.swap[0], "swap_info_struct.flags", 2);
	kernel_set(g.k, h.swap[1], "swap_info_struct.swap_map", 0);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_OK, "", .source = "swaps", .columns = "path");
	kw_free(g.ctx);
	kernel_write(g.k, kernel_symbol(g.k, "nr_swapfiles"), &(uint32_t){ 33 }, 4);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, KW_INCOMPLETE, "", .source = "swaps", .columns = "path");
}

static const char groups[] = "/ 1 1 <does not apply here> 2\n"
			     "/a 2 2 24576 1\n"
			     "/a/b 3 0 <does not apply here> 0\n";

Test(kernel_holdings, groups)
{
	given_holdings();
	kernel_set(g.k, h.group[GROUP_ROOT], "cgroup.nr_descendants", 2);
	kernel_set(g.k, h.group[GROUP_A], "cgroup.nr_descendants", 1);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, groups, .source = "cgroups", .columns = "path,id,tasks,memory,descendants");
	expect_rows(&g, KW_OK, "0 <does not apply here>\n1 5000\n2 0\n", .source = "cgroups",
		    .columns = "level,cpu_time");
}

/* One that was removed is not there; what is below it still is while something holds it. */
Test(kernel_holdings, removed_groups)
{
	given_holdings();
	kernel_set(g.k, h.group[GROUP_B], "cgroup.self.flags", 0);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "/\n/a\n", .source = "cgroups", .columns = "path");
}

Test(kernel_holdings, groups_without_an_end)
{
	uint64_t a, sibling;

	given_holdings();
	a = h.group[GROUP_A];
	sibling = kernel_at(g.k, a, "cgroup.self.sibling");
	/* It is below itself. */
	kernel_set(g.k, kernel_at(g.k, a, "cgroup.self.children"), "list_head.next", sibling);
	given_open(&g, KERNEL_RAM);
	{
		kw_query *query = bind_query(&g, OPTIONS(.source = "cgroups", .columns = "id", .limit = 300));
		struct printer p = { 0 };
		kw_status status;

		free(run_query(query, &p, &status));
		cr_expect_eq(status, KW_INCOMPLETE, "%d", status);
		kw_query_free(query);
	}
	kw_free(g.ctx);
	/* Its sets of tasks go round, and one can't be read. */
	kernel_set(g.k, kernel_at(g.k, a, "cgroup.self.children"), "list_head.next",
		   kernel_at(g.k, h.group[GROUP_B], "cgroup.self.sibling"));
	kernel_set(g.k, h.link[GROUP_A], "cgrp_cset_link.cset_link.next",
		   kernel_at(g.k, h.link[GROUP_A], "cgrp_cset_link.cset_link"));
	kernel_set(g.k, h.link[GROUP_B], "cgrp_cset_link.cset", 0xdead000000000100);
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_INCOMPLETE, "1\n<damaged structure>\n<no memory at that address>\n",
		    .source = "cgroups", .columns = "tasks");
}

static void expect_zswap(kw_status status, const char *want)
{
	given_open(&g, KERNEL_RAM_LIVE);
	expect_rows(&g, status, want, .source = "system", .columns = "zswap");
	kw_free(g.ctx);
	g.ctx = NULL;
}

Test(kernel_holdings, zswap)
{
	uint64_t zpool;

	given_holdings();
	expect_zswap(KW_OK, "12288\n");
	/* Of another driver the size is not known. */
	zpool = kernel_get(g.k, h.pool, "zswap_pool.zpool");
	kernel_write(g.k, kernel_get(g.k, kernel_get(g.k, zpool, "zpool.driver"), "zpool_driver.type"),
		     "zbud", 5);
	expect_zswap(KW_OK, "<this kernel has no such symbol>\n");
	kernel_set(g.k, h.pool, "zswap_pool.zpool", 0xdead000000000100);
	expect_zswap(KW_INCOMPLETE, "<no memory at that address>\n");
	kernel_write(g.k, kernel_get(g.k, kernel_get(g.k, zpool, "zpool.driver"), "zpool_driver.type"),
		     "zsmalloc", 9);
	kernel_set(g.k, h.pool, "zswap_pool.zpool", zpool);
	kernel_set(g.k, h.pool, "zswap_pool.list.next", kernel_at(g.k, h.pool, "zswap_pool.list"));
	expect_zswap(KW_INCOMPLETE, "<damaged structure>\n");
}
