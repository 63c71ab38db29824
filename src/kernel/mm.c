/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields of a process's memory, from mm_struct.
 *
 * A kernel thread has no memory of its own, even while it borrows an mm (kthread_use_mm(), vhost): PF_KTHREAD decides,
 * as in get_task_mm(). An exiting task keeps its values until its mm is gone.
 *
 * The resident-set counters were atomic longs, from which single tasks' unsynchronised differences may make a sum
 * negative, until 6.1; since 6.2 they are percpu_counters: the true value is the shared count plus every CPU's part.
 */
#include "kernel/field_table.h"
#include "memory/memory.h"

#define PF_KTHREAD 0x00200000

/* in[0] is task_struct.flags: a kernel thread's mm is not its own. */
static bool has_no_mm(const struct kw_value *in, size_t nr, struct kw_value *out)
{
	if (in[0].type != KW_VAL_ABSENT && in[0].u & PF_KTHREAD) {
		kw_set_absent(out, KW_ABSENT_NO_MM);
		return true;
	}
	return kw_pass_absent(in, nr, out);
}

/* A member that counts pages. */
static void pages(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!has_no_mm(in, 2, out))
		kw_set_uint(out, in[1].u * KW_PAGE_SIZE);
}

static uint64_t page_align(uint64_t addr)
{
	return (addr + KW_PAGE_SIZE - 1) & ~(KW_PAGE_SIZE - 1);
}

/* As task_mem(): the text is what start_code..end_code spans, but not more than is mapped executable. */
static uint64_t text_bytes(const struct kw_value *in)
{
	uint64_t text = page_align(in[2].u) - (in[1].u & ~(KW_PAGE_SIZE - 1)), exec = in[3].u * KW_PAGE_SIZE;

	return text < exec ? text : exec;
}

static void text(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!has_no_mm(in, 4, out))
		kw_set_uint(out, text_bytes(in));
}

static void lib(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!has_no_mm(in, 4, out))
		kw_set_uint(out, in[3].u * KW_PAGE_SIZE - text_bytes(in));
}

/* Add every CPU's part of a percpu_counter. Returns false when one can't be read. */
static bool add_percpu(struct kw_row *row, uint64_t counters, int64_t *sum)
{
	for (unsigned int cpu = 0; cpu < row->kernel->nr_cpus; cpu++) {
		uint64_t offset = row->kernel->percpu_offset[cpu];
		int32_t part;

		if (offset == KW_NO_ADDR)
			continue;
		if (kw_read(row->ctx, counters + offset, &part, sizeof(part)) != KW_OK)
			return false;
		*sum += part;
	}
	return true;
}

/*
 * Sum nr counters: in[1..nr] the shared counts, in[nr + 1..2 nr] the per-CPU parts' addresses (absent to 6.1).
 * Each counter is clamped to 0 by itself, as the kernel does.
 */
static void counters(struct kw_row *row, const struct kw_value *in, struct kw_value *out, size_t nr)
{
	uint64_t total = 0;

	if (has_no_mm(in, 1 + nr, out))
		return;
	/* Without the parts the sum would be wrong, not just small. */
	if (in[nr + 1].type != KW_VAL_ABSENT && !row->kernel->nr_cpus) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	for (size_t i = 1; i <= nr; i++) {
		int64_t count = in[i].i;

		if (in[nr + i].type != KW_VAL_ABSENT && !add_percpu(row, in[nr + i].u, &count)) {
			kw_set_absent(out, KW_ABSENT_UNMAPPED);
			return;
		}
		total += count > 0 ? (uint64_t)count : 0;
	}
	kw_set_uint(out, total * KW_PAGE_SIZE);
}

static void one_counter(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	counters(row, in, out, 1);
}

static void resident(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	counters(row, in, out, 3);
}

/* MM_FILEPAGES 0, MM_ANONPAGES 1, MM_SWAPENTS 2, MM_SHMEMPAGES 3: an anonymous enum, the same in all kernels. */
#define COUNT(n)    "mm.rss_stat.count[" #n "] | mm.rss_stat[" #n "].count"
#define COUNTERS(n) "mm.rss_stat[" #n "].counters"
#define BYTES	    KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB, KW_SCOPE_BOTH

static const struct kw_field_def fields[] = {
	{ { "vsz", "VSZ", "vsize,VmSize", BYTES, KW_COST_POINTER, "size of the address space",
	    "mm_struct.total_vm" },
	  { "flags", "mm.total_vm" },
	  pages,
	  false },
	{ { "rss", "RSS", "rssize,rsz,VmRSS", BYTES, KW_COST_PERCPU,
	    "resident memory: anonymous, file and shared pages", "mm_struct.rss_stat, per-CPU parts added" },
	  { "flags", COUNT(0), COUNT(1), COUNT(3), COUNTERS(0), COUNTERS(1), COUNTERS(3) },
	  resident,
	  false },
	{ { "rss_anon", "RSSANON", "RssAnon", BYTES, KW_COST_PERCPU, "resident anonymous pages",
	    "mm_struct.rss_stat[MM_ANONPAGES]" },
	  { "flags", COUNT(1), COUNTERS(1) },
	  one_counter,
	  false },
	{ { "rss_file", "RSSFILE", "RssFile", BYTES, KW_COST_PERCPU, "resident pages of files",
	    "mm_struct.rss_stat[MM_FILEPAGES]" },
	  { "flags", COUNT(0), COUNTERS(0) },
	  one_counter,
	  false },
	{ { "rss_shmem", "RSSSHMEM", "RssShmem", BYTES, KW_COST_PERCPU, "resident shared memory",
	    "mm_struct.rss_stat[MM_SHMEMPAGES]" },
	  { "flags", COUNT(3), COUNTERS(3) },
	  one_counter,
	  false },
	{ { "swap", "SWAP", "VmSwap", BYTES, KW_COST_PERCPU, "swapped-out memory",
	    "mm_struct.rss_stat[MM_SWAPENTS]" },
	  { "flags", COUNT(2), COUNTERS(2) },
	  one_counter,
	  false },
	{ { "locked", "LOCKED", "VmLock,VmLck", BYTES, KW_COST_POINTER, "locked memory",
	    "mm_struct.locked_vm" },
	  { "flags", "mm.locked_vm" },
	  pages,
	  false },
	{ { "data", "DATA", "VmData", BYTES, KW_COST_POINTER, "private writable memory",
	    "mm_struct.data_vm" },
	  { "flags", "mm.data_vm" },
	  pages,
	  false },
	{ { "stack", "STACK", "VmStack,VmStk", BYTES, KW_COST_POINTER, "stack", "mm_struct.stack_vm" },
	  { "flags", "mm.stack_vm" },
	  pages,
	  false },
	{ { "text", "TEXT", "VmExe", BYTES, KW_COST_POINTER, "program text",
	    "mm_struct.start_code, end_code, exec_vm" },
	  { "flags", "mm.start_code", "mm.end_code", "mm.exec_vm" },
	  text,
	  false },
	{ { "lib", "LIB", "VmLib", BYTES, KW_COST_POINTER, "executable memory beside the program text",
	    "mm_struct.exec_vm - text" },
	  { "flags", "mm.start_code", "mm.end_code", "mm.exec_vm" },
	  lib,
	  false },
};

const struct kw_field_table kw_mm_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
