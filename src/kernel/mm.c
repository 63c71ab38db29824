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
#include <kwalk/symbol.h>

#include "kernel/field_table.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "util/error.h"

/* A member that counts pages. */
static void pages(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, in[0].u * KW_PAGE_SIZE);
}

/* A counter of bytes that is signed, as atomic_long_t is. */
static void bytes(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, in[0].i > 0 ? in[0].u : 0);
}

static uint64_t page_align(uint64_t addr)
{
	return (addr + KW_PAGE_SIZE - 1) & ~(KW_PAGE_SIZE - 1);
}

/* in[0] start_code, in[1] end_code */
static uint64_t code_bytes(const struct kw_value *in)
{
	return page_align(in[1].u) - (in[0].u & ~(KW_PAGE_SIZE - 1));
}

/* As task_mem(): the text is what start_code..end_code spans, but not more than is mapped executable. */
static uint64_t text_bytes(const struct kw_value *in)
{
	uint64_t code = code_bytes(in), exec = in[2].u * KW_PAGE_SIZE;

	return code < exec ? code : exec;
}

static void text(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 3, out))
		kw_set_uint(out, text_bytes(in));
}

static void lib(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 3, out))
		kw_set_uint(out, in[2].u * KW_PAGE_SIZE - text_bytes(in));
}

/* As task_statm(), which does not look at what is mapped. */
static void statm_text(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 2, out))
		kw_set_uint(out, code_bytes(in));
}

static void sum_of_pages(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 2, out))
		kw_set_uint(out, (in[0].u + in[1].u) * KW_PAGE_SIZE);
}

/* The kernel raises the mark only when it is about to lower the value: what is higher now was the highest. */
static void peak(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 2, out))
		kw_set_uint(out, (in[0].u > in[1].u ? in[0].u : in[1].u) * KW_PAGE_SIZE);
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

/* Sum nr counters whose parts on each CPU have to be added. */
__attribute__((noinline)) static bool percpu_counters(struct kw_row *row, const struct kw_value *in,
						      struct kw_value *out, size_t nr, uint64_t *ret)
{
	uint64_t total = 0;

	/* Without the parts the sum would be wrong, not just small. */
	if (!row->kernel->nr_cpus) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return false;
	}
	for (size_t i = 0; i < nr; i++) {
		int64_t count = in[i].i;

		if (in[nr + i].type == KW_VAL_ABSENT) {
			if (kw_pass_missing(&in[nr + i], out))
				return false;
		} else if (!add_percpu(row, in[nr + i].u, &count)) {
			kw_set_absent(out, KW_ABSENT_UNMAPPED);
			return false;
		}
		total += count > 0 ? (uint64_t)count : 0;
	}
	*ret = total;
	return true;
}

/*
 * Sum nr counters, in pages: in[0..nr-1] the shared counts, in[nr..2 nr - 1] the per-CPU parts' addresses (absent to
 * 6.1). Each counter is clamped to 0 by itself, as the kernel does.
 */
static inline bool counters(struct kw_row *row, const struct kw_value *in, struct kw_value *out, size_t nr,
			    uint64_t *ret)
{
	uint64_t total = 0;

	if (kw_pass_absent(in, nr, out))
		return false;
	if (in[nr].type != KW_VAL_ABSENT || kw_is_missing(&in[nr]))
		return percpu_counters(row, in, out, nr, ret);
	for (size_t i = 0; i < nr; i++)
		total += in[i].i > 0 ? in[i].u : 0;
	*ret = total;
	return true;
}

static void one_counter(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t nr;

	if (counters(row, in, out, 1, &nr))
		kw_set_uint(out, nr * KW_PAGE_SIZE);
}

static void two_counters(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t nr;

	if (counters(row, in, out, 2, &nr))
		kw_set_uint(out, nr * KW_PAGE_SIZE);
}

static void resident(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t nr;

	if (counters(row, in, out, 3, &nr))
		kw_set_uint(out, nr * KW_PAGE_SIZE);
}

static kw_status find_total(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	(void)kernel;
	if (kw_symbol_address(ctx, "_totalram_pages", layout) != KW_OK)
		*(uint64_t *)layout = KW_NO_ADDR;
	kw_clear_error(ctx);
	return KW_OK;
}

/* The address of the number of all pages. */
static const struct kw_subject total = { sizeof(uint64_t), find_total };

static void memory_share(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const uint64_t *at = kw_layout_get(row->ctx, row->kernel, &total);
	uint64_t nr, all;
	kw_status status;

	if (!counters(row, in, out, 3, &nr))
		return;
	if (!at || *at == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	status = kw_read_u64(row->ctx, *at, &all);
	if (!status && !all)
		status = KW_FORMAT;
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		*out = (struct kw_value){ .type = KW_VAL_FLOAT, .f = (double)nr * 100 / (double)all };
}

/* in[6] hiwater_rss: see peak() */
static void resident_peak(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t nr;

	if (!kw_pass_absent(in + 6, 1, out) && counters(row, in, out, 3, &nr))
		kw_set_uint(out, (nr > in[6].u ? nr : in[6].u) * KW_PAGE_SIZE);
}

/* As get_mm_rss(): the shared counts alone, each clamped. */
static void rough_resident(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t total = 0;

	(void)row;
	if (kw_pass_absent(in, 3, out))
		return;
	for (size_t i = 0; i < 3; i++)
		total += in[i].i > 0 ? (uint64_t)in[i].i : 0;
	kw_set_uint(out, total * KW_PAGE_SIZE);
}

static void address(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	*out = in[0];
	if (in[0].type != KW_VAL_ABSENT)
		out->type = KW_VAL_ADDRESS;
}

/* MMF_DISABLE_THP, since 6.18 MMF_DISABLE_THP_COMPLETELY: the same bit. */
#define DISABLE_THP 24

static void thp_enabled(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_bool(out, !(in[0].u >> DISABLE_THP & 1));
}

/* in[0] stands for the mm. */
static void core_dumping(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 2, out))
		kw_set_bool(out, in[1].u != 0);
}

/* A kernel without CONFIG_ADDRESS_MASKING has no such member: no pointer has tags. */
static void untag_mask(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out) && !kw_pass_missing(&in[1], out))
		kw_set_uint(out, in[1].type == KW_VAL_ABSENT ? UINT64_MAX : in[1].u);
}

/* MM_FILEPAGES 0, MM_ANONPAGES 1, MM_SWAPENTS 2, MM_SHMEMPAGES 3: an anonymous enum, the same in all kernels. */
#define COUNT(n)    "mm.rss_stat.count[" #n "] | mm.rss_stat[" #n "].count"
#define COUNTERS(n) "mm.rss_stat[" #n "].counters"
#define ADDRESS	    KW_VAL_ADDRESS, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH, KW_COST_POINTER
#define BYTES	    KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB, KW_SCOPE_BOTH

static const struct kw_field_def fields[] = {
	{ { "vsz", "VSZ", "vsize,VmSize", BYTES, KW_COST_POINTER, "size of the address space",
	    "mm_struct.total_vm" },
	  { "mm.total_vm" },
	  pages,
	  KW_USES_MM },
	{ { "rss", "RSS", "rssize,rsz,VmRSS", BYTES, KW_COST_PERCPU,
	    "resident memory: anonymous, file and shared pages", "mm_struct.rss_stat, per-CPU parts added" },
	  { COUNT(0), COUNT(1), COUNT(3), COUNTERS(0), COUNTERS(1), COUNTERS(3) },
	  resident,
	  KW_USES_MM },
	{ { "pmem", "%MEM", "%mem", KW_VAL_FLOAT, KW_UNIT_PERCENT, KW_SHOW_PERCENT, KW_SCOPE_BOTH,
	    KW_COST_PERCPU, "resident memory as a share of all memory", "rss / _totalram_pages" },
	  { COUNT(0), COUNT(1), COUNT(3), COUNTERS(0), COUNTERS(1), COUNTERS(3) },
	  memory_share,
	  KW_USES_MM | KW_USES_MORE },
	{ { "rss_anon", "RSSANON", "RssAnon", BYTES, KW_COST_PERCPU, "resident anonymous pages",
	    "mm_struct.rss_stat[MM_ANONPAGES]" },
	  { COUNT(1), COUNTERS(1) },
	  one_counter,
	  KW_USES_MM },
	{ { "rss_file", "RSSFILE", "RssFile", BYTES, KW_COST_PERCPU, "resident pages of files",
	    "mm_struct.rss_stat[MM_FILEPAGES]" },
	  { COUNT(0), COUNTERS(0) },
	  one_counter,
	  KW_USES_MM },
	{ { "rss_shmem", "RSSSHMEM", "RssShmem", BYTES, KW_COST_PERCPU, "resident shared memory",
	    "mm_struct.rss_stat[MM_SHMEMPAGES]" },
	  { COUNT(3), COUNTERS(3) },
	  one_counter,
	  KW_USES_MM },
	{ { "swap", "SWAP", "VmSwap", BYTES, KW_COST_PERCPU, "swapped-out memory",
	    "mm_struct.rss_stat[MM_SWAPENTS]" },
	  { COUNT(2), COUNTERS(2) },
	  one_counter,
	  KW_USES_MM },
	{ { "locked", "LOCKED", "VmLock,VmLck", BYTES, KW_COST_POINTER, "locked memory",
	    "mm_struct.locked_vm" },
	  { "mm.locked_vm" },
	  pages,
	  KW_USES_MM },
	{ { "data", "DATA", "VmData", BYTES, KW_COST_POINTER, "private writable memory",
	    "mm_struct.data_vm" },
	  { "mm.data_vm" },
	  pages,
	  KW_USES_MM },
	{ { "stack", "STACK", "VmStack,VmStk", BYTES, KW_COST_POINTER, "stack", "mm_struct.stack_vm" },
	  { "mm.stack_vm" },
	  pages,
	  KW_USES_MM },
	{ { "text", "TEXT", "VmExe", BYTES, KW_COST_POINTER, "program text",
	    "mm_struct.start_code, end_code, exec_vm" },
	  { "mm.start_code", "mm.end_code", "mm.exec_vm" },
	  text,
	  KW_USES_MM },
	{ { "lib", "LIB", "VmLib", BYTES, KW_COST_POINTER, "executable memory beside the program text",
	    "mm_struct.exec_vm - text" },
	  { "mm.start_code", "mm.end_code", "mm.exec_vm" },
	  lib,
	  KW_USES_MM },
	{ { "stat_rss", "STATRSS", "", BYTES, KW_COST_POINTER,
	    "resident memory as /proc/PID/stat shows it: since 6.2 without the parts that the CPUs keep",
	    "mm_struct.rss_stat" },
	  { COUNT(0), COUNT(1), COUNT(3) },
	  rough_resident,
	  KW_USES_MM },
	{ { "shared", "SHARED", "shr", BYTES, KW_COST_PERCPU,
	    "resident pages of files and shared memory, as in statm",
	    "mm_struct.rss_stat[MM_FILEPAGES, MM_SHMEMPAGES]" },
	  { COUNT(0), COUNT(3), COUNTERS(0), COUNTERS(3) },
	  two_counters,
	  KW_USES_MM },
	{ { "vsz_peak", "VSZPEAK", "VmPeak", BYTES, KW_COST_POINTER, "largest size the address space has had",
	    "mm_struct.hiwater_vm, total_vm" },
	  { "mm.hiwater_vm", "mm.total_vm" },
	  peak,
	  KW_USES_MM },
	{ { "rss_peak", "RSSPEAK", "VmHWM,hwm", BYTES, KW_COST_PERCPU, "most resident memory it has had",
	    "mm_struct.hiwater_rss, rss_stat" },
	  { COUNT(0), COUNT(1), COUNT(3), COUNTERS(0), COUNTERS(1), COUNTERS(3), "mm.hiwater_rss" },
	  resident_peak,
	  KW_USES_MM },
	{ { "pinned", "PINNED", "VmPin", BYTES, KW_COST_POINTER, "pinned memory", "mm_struct.pinned_vm" },
	  { "mm.pinned_vm" },
	  pages,
	  KW_USES_MM },
	{ { "page_tables", "PTE", "VmPTE", BYTES, KW_COST_POINTER, "memory of its page tables",
	    "mm_struct.pgtables_bytes" },
	  { "mm.pgtables_bytes" },
	  bytes,
	  KW_USES_MM },
	{ { "hugetlb", "HUGETLB", "HugetlbPages", BYTES, KW_COST_POINTER, "pages of hugetlbfs",
	    "mm_struct.hugetlb_usage" },
	  { "mm.hugetlb_usage" },
	  pages,
	  KW_USES_MM },
	{ { "statm_text", "TRS", "trs", BYTES, KW_COST_POINTER,
	    "program text as statm shows it: all that start_code to end_code spans",
	    "mm_struct.start_code, end_code" },
	  { "mm.start_code", "mm.end_code" },
	  statm_text,
	  KW_USES_MM },
	{ { "statm_data", "DRS", "drs", BYTES, KW_COST_POINTER, "data and stack, as in statm",
	    "mm_struct.data_vm + stack_vm" },
	  { "mm.data_vm", "mm.stack_vm" },
	  sum_of_pages,
	  KW_USES_MM },
	{ { "vmas", "VMAS", "map_count", KW_VAL_INT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "number of memory areas: the lines of /proc/PID/maps, vsyscall left out",
	    "mm_struct.map_count" },
	  { "mm.map_count" },
	  NULL,
	  KW_USES_MM },
	{ { "start_code", "STARTCODE", "startcode", ADDRESS, "beginning of the program text",
	    "mm_struct.start_code" },
	  { "mm.start_code" },
	  address,
	  KW_USES_MM },
	{ { "end_code", "ENDCODE", "endcode", ADDRESS, "end of the program text", "mm_struct.end_code" },
	  { "mm.end_code" },
	  address,
	  KW_USES_MM },
	{ { "start_stack", "STACKP", "startstack,stackp", ADDRESS, "beginning of the stack",
	    "mm_struct.start_stack" },
	  { "mm.start_stack" },
	  address,
	  KW_USES_MM },
	{ { "start_data", "STARTDATA", "", ADDRESS, "beginning of initialised data", "mm_struct.start_data" },
	  { "mm.start_data" },
	  address,
	  KW_USES_MM },
	{ { "end_data", "ENDDATA", "", ADDRESS, "end of initialised data", "mm_struct.end_data" },
	  { "mm.end_data" },
	  address,
	  KW_USES_MM },
	{ { "start_brk", "STARTBRK", "", ADDRESS, "beginning of the heap", "mm_struct.start_brk" },
	  { "mm.start_brk" },
	  address,
	  KW_USES_MM },
	{ { "brk", "BRK", "", ADDRESS, "end of the heap", "mm_struct.brk" },
	  { "mm.brk" },
	  address,
	  KW_USES_MM },
	{ { "arg_start", "ARGSTART", "", ADDRESS, "beginning of the command line", "mm_struct.arg_start" },
	  { "mm.arg_start" },
	  address,
	  KW_USES_MM },
	{ { "arg_end", "ARGEND", "", ADDRESS, "end of the command line", "mm_struct.arg_end" },
	  { "mm.arg_end" },
	  address,
	  KW_USES_MM },
	{ { "env_start", "ENVSTART", "", ADDRESS, "beginning of the environment", "mm_struct.env_start" },
	  { "mm.env_start" },
	  address,
	  KW_USES_MM },
	{ { "env_end", "ENVEND", "", ADDRESS, "end of the environment", "mm_struct.env_end" },
	  { "mm.env_end" },
	  address,
	  KW_USES_MM },
	{ { "core_dumping", "COREDUMP", "CoreDumping", KW_VAL_BOOL, KW_UNIT_NONE, KW_SHOW_PLAIN,
	    KW_SCOPE_BOTH, KW_COST_POINTER, "a core dump is being written",
	    "signal_struct.core_state (of mm_struct to 5.16)" },
	  { "mm.total_vm", "signal.core_state | mm.core_state" },
	  core_dumping,
	  KW_USES_MM },
	{ { "thp_enabled", "THP", "THP_enabled", KW_VAL_BOOL, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "may have transparent huge pages", "mm_struct.flags" },
	  { "mm.flags.__mm_flags[0] | mm.flags" },
	  thp_enabled,
	  KW_USES_MM },
	{ { "untag_mask", "UNTAGMASK", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "bits of a pointer that are an address",
	    "mm_struct.context.untag_mask (since 6.4)" },
	  { "mm.total_vm", "mm.context.untag_mask" },
	  untag_mask,
	  KW_USES_MM },
};

const struct kw_field_table kw_mm_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
