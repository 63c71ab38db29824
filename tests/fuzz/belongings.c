/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tasks have, in memory that is changed where the input says: areas, open files, groups, and the stack on which one
 * sleeps with the tables by which it is unwound; and what the kernel as a whole has: mounts, swap areas, control groups.
 * Nothing may crash, go on for ever, or be an error without a message.
 *
 * Input: a byte, whose lowest bit chooses a kernel with a list of areas or one with a tree, and whose next one chooses that
 * with mounts instead, then changes (fixtures/changes.h).
 */
#include <kwalk/kwalk.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/belongings.h"
#include "fixtures/changes.h"
#include "fixtures/holdings.h"

#define ROWS_MAX   100000
#define NR_KERNELS 3
#define NR_QUERIES 4
#define ENTRIES	   1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char types[] =
	"struct orc_entry { short sp_offset, bp_offset; unsigned int sp_reg : 4, bp_reg : 4, type : 3, signal : 1; };"
	"struct inactive_task_frame { unsigned long r15, r14, r13, r12, bx, bp, ret_addr; };"
	"struct pt_regs { unsigned long r15, ip, cs, flags, sp, ss; };";

static const char variables[] = BELONGINGS_VARIABLES
	"_stext 64\nread_pipe 64\n__sched_text_start 0\n__schedule 64\nschedule 64\n__sched_text_end 64\n_etext 64\n"
	"__start_orc_unwind_ip 4096\n__stop_orc_unwind_ip 4\n__start_orc_unwind 8192\n__stop_orc_unwind 4\n"
	"gate_vma 128\nvsyscall_mode 4\n";

#define QUERY(...)                                                   \
	{                                                            \
		.size = sizeof(struct kw_query_options), __VA_ARGS__ \
	}

static const struct kw_query_options of_tasks[NR_QUERIES] = {
	QUERY(.source = "vmas", .columns = "pid,start,end,size,perms,flags,offset,dev,inode,path,comm"),
	QUERY(.source = "files", .columns = "fd,type,flags,pos,dev,inode,path,cloexec"),
	QUERY(.columns = "pid,wchan,proc_wchan,esp,kstkeip,cgroups,exe,cwd,fds,store_bypass"),
	QUERY(.columns = "pid,comm"),
};

static const struct kw_query_options of_kernel[NR_QUERIES] = {
	QUERY(.source = "mounts", .columns = "id,parent_id,device,path,type,options,own_options"),
	QUERY(.source = "swaps", .columns = "path,device,size,used,priority"),
	QUERY(.source = "cgroups", .columns = "path,id,level,descendants,tasks,memory,cpu_time"),
	QUERY(.source = "system", .columns = "zswap"),
};

static struct fuzzed {
	struct kernel_image *kernel;
	struct changed part;
	kw_ctx *ctx;
	kw_query *queries[NR_QUERIES];
} kernels[NR_KERNELS];

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* Sleeps in read_pipe(), by schedule() and __schedule(), which have no frame of their own. */
static void make_stack(struct kernel_image *k, uint64_t stack)
{
	uint64_t at = stack + 16384 - 512, ips = kernel_symbol(k, "__start_orc_unwind_ip"),
		 entries = kernel_symbol(k, "__start_orc_unwind");
	const uint64_t words[] = { kernel_symbol(k, "__schedule") + 9, kernel_symbol(k, "schedule") + 9,
				   kernel_symbol(k, "read_pipe") + 9 };
	static const uint8_t entry[8] = { 8, 0, 0, 0, 5, 2 };

	kernel_set(k, kernel_task(k, 1), "task_struct.stack", stack);
	kernel_set(k, kernel_task(k, 1), "task_struct.thread.sp", at);
	kernel_write(k, at + 48, words, sizeof(words));
	for (uint64_t i = 0; i < ENTRIES; i++) {
		int32_t distance = (int32_t)(kernel_symbol(k, i < 2 ? "_stext" : "_etext") - (ips + i * 4));

		kernel_write(k, ips + i * 4, &distance, 4);
		kernel_write(k, entries + i * 8, entry, 8);
	}
}

/* Remember what will be changed, and open. */
static void open_kernel(struct fuzzed *f, uint64_t first, uint64_t end,
			const struct kw_query_options *options)
{
	f->part = changed_part(f->kernel, first, end);
	require(kernel_open(f->kernel, KERNEL_RAM_LIVE, &f->ctx) == KW_OK);
	for (size_t i = 0; i < NR_QUERIES; i++)
		require(kw_query_new(f->ctx, &options[i], &f->queries[i]) == KW_OK);
}

static void prepare_kernel(struct fuzzed *f)
{
	struct holdings h;
	uint64_t first;

	f->kernel = kernel_new(&(struct kernel_config){
		.types = HOLDINGS_TYPES, .variables = HOLDINGS_VARIABLES, .tasks = "1 a\n" });
	first = kernel_alloc(f->kernel, 4096, 4096);
	holdings_make(f->kernel, &h);
	open_kernel(f, first, kernel_alloc(f->kernel, 4096, 4096), of_kernel);
}

static void prepare_tasks(struct fuzzed *f, const char *style)
{
	struct belongings b;
	uint64_t stack, first;

	f->kernel = kernel_new(
		&(struct kernel_config){ .style = style,
					 .types = types,
					 .variables = variables,
					 .tasks = "1 a state=S\n2 k kthread state=S\n3 z state=Z nomm\n" });
	first = kernel_alloc(f->kernel, 4096, 4096);
	belongings_make(f->kernel, 1, &b);
	stack = kernel_alloc(f->kernel, 16384, 4096);
	make_stack(f->kernel, stack);
	open_kernel(f, first, stack + 16384, of_tasks);
}

static bool look(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	size_t *rows = arg;

	require(row && values[0].type <= KW_VAL_ENUM);
	return ++*rows < ROWS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed *f;

	if (!size || size > 1 + CHANGE_BYTES * CHANGES_MAX)
		return 0;
	f = &kernels[data[0] & 2 ? 2 : data[0] & 1];
	if (!f->kernel && data[0] & 2)
		prepare_kernel(f);
	else if (!f->kernel)
		prepare_tasks(f, data[0] & 1 ? "5.10" : "6.12");
	changed_make(&f->part, data + 1, size - 1);
	for (size_t i = 0; i < NR_QUERIES; i++) {
		size_t rows = 0;
		kw_status status = kw_query_run(f->queries[i], look, &rows);

		require(status == KW_OK || *kw_error(f->ctx));
		require(data[0] & 2 || i < 2 || rows == 3);
	}
	changed_undo(&f->part);
	return 0;
}
