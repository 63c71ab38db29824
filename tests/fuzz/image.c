/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small kernel's memory, changed where the input says, then asked for everything: processes, threads, the
 * cross-check, an object. Nothing may crash, go on for ever, or be an error without a message.
 *
 * Input: a byte that says what to do, then changes of 12 bytes each:
 *
 *     where:32     an offset in what is used of RAM; with the top bit set, object:8 and an offset in it:16
 *     what:8       a byte, a word, a long, an object's address, zeros, or a copy of what lies elsewhere
 *     object:8     whose address
 *     ...:16       what is added to the address, how many zeros
 *     value:32     the byte or word; both halves of a long; where the copy comes from
 *
 * Most inputs look at a context that stays open, which is fast: by bits 3 and 4 one of a live target with a mapping, one of
 * a live target whose objects are copied, or one of a frozen target, where rows take a shorter way.
 * With 15 in the low bits the target is opened anew, so that the changes meet the search for kernel, symbols and types
 * as well.
 */
#include <kwalk/kwalk.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/kernel_image.h"
#include "memory/source.h"

#define CHANGE_BYTES 12
#define CHANGES_MAX  24
#define OBJECTS_MAX  64
#define ROWS_MAX     100000
#define NR_QUERIES   6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tasks[] = "1 init rss=1,2,3,4 percpu=0:1:5 vsz=100\n"
			    "1.5 thread\n"
			    "1.6 thread\n"
			    "2 kthreadd kthread state=I\n"
			    "100 bash ppid=1 uid=1000 nice=5 utime=7 runtime=9\n"
			    "100.101 worker stime=3 runtime=4\n"
			    "300 sleep ppid=100 uid=1000 sid=100 pgid=100\n"
			    "4100 far ppid=300 state=Z nomm\n";

static const int tids[] = { 1, 5, 6, 2, 100, 101, 300, 4100 };

#define NR_TIDS (sizeof(tids) / sizeof(tids[0]))

static const struct kw_query_options query_options[NR_QUERIES] = {
	{ .size = sizeof(struct kw_query_options),
	  .columns =
		  "pid,tid,ppid,pgid,sid,uid,fsgid,user,state,stat,comm,nlwp,ni,pri,cls,rtprio,psr,flags,exit_code,"
		  "starttime,start,etime,vsz,rss,swap,locked,text,lib,utime,stime,time,minflt" },
	{ .size = sizeof(struct kw_query_options),
	  .source = "threads",
	  .columns = "pid,tid,comm,time,rss,stat" },
	{ .size = sizeof(struct kw_query_options), .columns = "pid,comm", .sort = "-time,user,-rss,comm" },
	{ .size = sizeof(struct kw_query_options),
	  .source = "threads",
	  .columns = "pid,tid,comm",
	  .forest = true,
	  .sort = "state" },
	{ .size = sizeof(struct kw_query_options),
	  .columns = "pid,vsz,mm.owner.comm",
	  .pids = "1,2,100,300,4100,9" },
	{ .size = sizeof(struct kw_query_options),
	  .columns = "pid,uid",
	  .users = "1000,0",
	  .names = "init",
	  .limit = 3 },
};

static struct kernel_image *kernel;
static uint8_t *ram, *pristine;
static size_t ram_size;
static uint64_t objects[OBJECTS_MAX];
static size_t nr_objects;
enum { LIVE, ONCE, FROZEN, NR_CONTEXTS };
static kw_ctx *ctxs[NR_CONTEXTS];
static kw_query *queries[NR_CONTEXTS][NR_QUERIES];

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void add_object(uint64_t addr)
{
	require(nr_objects < OBJECTS_MAX);
	objects[nr_objects++] = addr;
}

static void add_task(int tid)
{
	uint64_t task = kernel_task(kernel, tid);

	add_object(task);
	add_object(kernel_pid(kernel, tid));
	add_object(kernel_get(kernel, task, "task_struct.signal"));
	if (kernel_get(kernel, task, "task_struct.mm"))
		add_object(kernel_get(kernel, task, "task_struct.mm"));
}

static void find_objects(void)
{
	static const char *const symbols[] = { "init_pid_ns",	   "init_task",		 "tk_core",
					       "__per_cpu_offset", "nr_cpu_ids",	 "swapper_pg_dir",
					       "__start_BTF",	   "__cpu_possible_mask" };
	uint64_t root =
		kernel_get(kernel, kernel_symbol(kernel, "init_pid_ns"), "pid_namespace.idr.idr_rt.xa_head");

	for (size_t i = 0; i < NR_TIDS; i++)
		add_task(tids[i]);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		add_object(kernel_symbol(kernel, symbols[i]));
	add_object(root);
	add_object(kernel_get(kernel, root - 2, "xa_node.slots[0]"));
	add_object(kernel_get(kernel, root - 2, "xa_node.slots[1]"));
	add_object(0);
	add_object(0xdead000000000100);
	add_object(0xdead000000000122);
	add_object(KERNEL_DIRECT + ram_size - 8);
	add_object(UINT64_MAX - 7);
	add_object(KERNEL_VMALLOC);
}

static kw_status open_kernel(bool once, kw_ctx **ret)
{
	return kernel_open(kernel, once ? KERNEL_RAM_LIVE_ONCE : KERNEL_RAM_LIVE, ret);
}

static void prepare(void)
{
	kernel = kernel_new(&(struct kernel_config){ .tasks = tasks, .on_disk = true });
	ram = kernel_ram(kernel, &ram_size);
	pristine = malloc(ram_size);
	require(pristine);
	memcpy(pristine, ram, ram_size);
	find_objects();
	for (size_t c = 0; c < NR_CONTEXTS; c++) {
		require(open_kernel(c == ONCE, &ctxs[c]) == KW_OK);
		/* Frozen, as far as it is told. */
		if (c == FROZEN)
			ctxs[c]->target->memory->live = false;
		for (size_t i = 0; i < NR_QUERIES; i++)
			require(kw_query_new(ctxs[c], &query_options[i], &queries[c][i]) == KW_OK);
	}
}

/* Changes */

static uint32_t get32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static size_t place_of(uint32_t where)
{
	uint64_t addr;

	if (!(where & 0x80000000))
		return where % ram_size;
	addr = objects[(where >> 16 & 0x7f) % nr_objects] + (where & 0x3ff);
	addr -= addr >= KERNEL_IMAGE ? KERNEL_IMAGE : KERNEL_DIRECT;
	return addr % ram_size;
}

/* Where RAM differs from what it was. */
static struct {
	size_t at, len;
} dirty[CHANGES_MAX];
static size_t nr_dirty;

/* Write bytes, or zeros where there are none. */
static void put(size_t at, const void *bytes, size_t len)
{
	if (len > ram_size - at)
		len = ram_size - at;
	dirty[nr_dirty].at = at;
	dirty[nr_dirty++].len = len;
	if (bytes)
		memcpy(ram + at, bytes, len);
	else
		memset(ram + at, 0, len);
}

static void restore(void)
{
	while (nr_dirty--)
		memcpy(ram + dirty[nr_dirty].at, pristine + dirty[nr_dirty].at, dirty[nr_dirty].len);
	nr_dirty = 0;
}

static void change(const uint8_t *c)
{
	size_t at = place_of(get32(c)), from = place_of(get32(c + 8));
	uint32_t value = get32(c + 8);
	uint64_t wide = value | (uint64_t)value << 32, addr;

	switch (c[4] % 6) {
	case 0: put(at, &value, 1); break;
	case 1: put(at, &value, 4); break;
	case 2: put(at & ~7ULL, &wide, 8); break;
	case 3:
		addr = objects[c[5] % nr_objects] + (uint64_t)(int16_t)get16(c + 6);
		put(at & ~7ULL, &addr, 8);
		break;
	case 4: put(at, NULL, get16(c + 6)); break;
	default: put(at, pristine + from, ram_size - from < 64 ? ram_size - from : 64); break;
	}
}

/* Looking */

static bool look(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	static char text[KW_SYMBOL_NAME_SIZE];
	size_t *rows = arg;

	require(row->address && values[0].type <= KW_VAL_ENUM);
	if (values[1].type == KW_VAL_STRING && values[1].len < sizeof(text))
		memcpy(text, values[1].str, values[1].len);
	return ++*rows < ROWS_MAX;
}

static void run_query(kw_ctx *on, kw_query *query)
{
	size_t rows = 0;
	kw_status status = kw_query_run(query, look, &rows);

	require(status == KW_OK || *kw_error(on));
	require(rows == kw_query_counts(query)->rows);
}

static void cross_check(kw_ctx *on)
{
	struct kw_cross_difference *found;
	size_t nr, pids, listed;
	kw_status status = kw_cross_check(on, &found, &nr, &pids, &listed);

	require(status == KW_OK || *kw_error(on));
	if (status == KW_OK)
		free(found);
}

static void find_objects_by_name(kw_ctx *on)
{
	static const char *const exprs[] = { "task(100).mm->total_vm", "init_task.comm",
					     "task(4100).real_parent->comm",
					     "per_cpu(runqueues, 1).nr_running",
					     "(struct task_struct *)init_pid_ns.pid" };

	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		struct kw_object object;

		require(kw_object_find(on, exprs[i], &object) == KW_OK || *kw_error(on));
	}
}

static void look_anew(uint8_t what)
{
	struct kw_fact *facts;
	size_t nr;
	kw_query *query;
	kw_ctx *fresh;

	if (open_kernel(what & 8, &fresh) == KW_OK) {
		if (kw_query_new(fresh, &query_options[what % NR_QUERIES], &query) == KW_OK) {
			run_query(fresh, query);
			kw_query_free(query);
		}
		cross_check(fresh);
		find_objects_by_name(fresh);
		if (kw_facts(fresh, &facts, &nr) == KW_OK)
			free(facts);
	} else {
		require(*kw_error(fresh));
	}
	kw_free(fresh);
}

static void look_at_all(uint8_t what)
{
	size_t c = (what >> 3 & 3) % NR_CONTEXTS;

	if ((what & 15) == 15)
		look_anew(what >> 4);
	else if (what % 8 < NR_QUERIES)
		run_query(ctxs[c], queries[c][what % 8]);
	else if (what % 8 == NR_QUERIES)
		cross_check(ctxs[c]);
	else
		find_objects_by_name(ctxs[c]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr;

	if (!kernel)
		prepare();
	if (!size)
		return 0;
	nr = (size - 1) / CHANGE_BYTES;
	if (nr > CHANGES_MAX)
		nr = CHANGES_MAX;
	for (size_t i = 0; i < nr; i++)
		change(data + 1 + i * CHANGE_BYTES);
	look_at_all(data[0]);
	restore();
	return 0;
}
