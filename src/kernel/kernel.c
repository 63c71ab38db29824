/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resolving globals, layouts and CPUs, once per target. */
#include "kernel/kernel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

static pthread_mutex_t resolve_lock = PTHREAD_MUTEX_INITIALIZER;

static kw_status resolve_globals(kw_ctx *ctx, struct kw_globals *g)
{
	struct kw_symbol_query q[] = {
		{ "init_pid_ns", 0 },	      { "init_task", 0 },	 { "tk_core", 0 },
		{ "timekeeper_data", 0 },     { "__per_cpu_offset", 0 }, { "nr_cpu_ids", 0 },
		{ "__cpu_possible_mask", 0 }, { "__per_cpu_start", 0 },	 { "__per_cpu_end", 0 },
	};
	kw_status status = kw_symbol_addresses(ctx, q, sizeof(q) / sizeof(q[0]));

	if (status)
		return status;
	*g = (struct kw_globals){
		.init_pid_ns = q[0].addr,
		.init_task = q[1].addr,
		.tk_core = q[2].addr,
		.timekeeper_data = q[3].addr,
		.per_cpu_offset = q[4].addr,
		.nr_cpu_ids = q[5].addr,
		.cpu_possible = q[6].addr,
		.percpu_start = q[7].addr,
		.percpu_end = q[8].addr,
	};
	if (g->init_pid_ns == KW_NO_ADDR || g->init_task == KW_NO_ADDR)
		return kw_fail(ctx, KW_UNREADABLE,
			       "%s: the symbols lack init_pid_ns or init_task; pass the kernel's "
			       "vmlinux or System.map with -k",
			       kw_memory_name(ctx->target->memory));
	return KW_OK;
}

static kw_status resolve_task_layout(kw_ctx *ctx, struct kw_task_layout *t)
{
	const struct {
		const char *type, *path;
		uint64_t *offset;
	} wanted[] = {
		{ "pid_namespace", "idr.idr_rt.xa_head", &t->idr_root },
		{ "xa_node", "shift", &t->node_shift },
		{ "xa_node", "slots", &t->node_slots },
		{ "pid", "tasks", &t->pid_tasks },
		{ "task_struct", "pid_links", &t->pid_links },
		{ "task_struct", "thread_pid", &t->thread_pid },
		{ "task_struct", "tasks", &t->tasks },
		{ "task_struct", "signal", &t->signal },
		{ "task_struct", "thread_node", &t->thread_node },
		{ "signal_struct", "thread_head", &t->thread_head },
		{ "task_struct", "pid", &t->pid },
		{ "task_struct", "tgid", &t->tgid },
		{ "task_struct", "comm", &t->comm },
	};
	struct kw_member member;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		kw_status status = kw_type_offset(ctx, wanted[i].type, wanted[i].path, &member);

		if (status)
			return kw_fail_in(ctx, "struct %s", wanted[i].type);
		*wanted[i].offset = member.bit_offset / 8;
		if (wanted[i].offset == &t->node_slots) {
			uint32_t count = kw_type_strip(ctx, member.type)->count;

			if (count < 2 || count > 1024 || count & (count - 1))
				return kw_fail(ctx, KW_FORMAT, "struct xa_node: %u slots are no power of two",
					       count);
			t->chunk_shift = (uint32_t)__builtin_ctz(count);
		}
	}
	return KW_OK;
}

static bool is_possible(const uint64_t *mask, unsigned int cpu)
{
	return mask[cpu / 64] >> (cpu % 64) & 1;
}

/* nr_cpu_ids is a constant in kernels built for one CPU or with FORCE_NR_CPUS: then the possible mask alone tells. */
static kw_status resolve_cpus(kw_ctx *ctx, struct kw_kernel *kernel)
{
	const struct kw_globals *g = &kernel->globals;
	uint64_t mask[KW_MAX_CPUS / 64] = { 0 };
	uint32_t nr = 0;
	const struct kw_type *cpumask;

	if (g->per_cpu_offset == KW_NO_ADDR || g->cpu_possible == KW_NO_ADDR ||
	    kw_type_find(ctx, "struct cpumask", &cpumask) != KW_OK || !cpumask->size ||
	    cpumask->size > sizeof(mask) || kw_read(ctx, g->cpu_possible, mask, cpumask->size) != KW_OK) {
		kw_clear_error(ctx);
		return KW_OK;
	}
	if (g->nr_cpu_ids == KW_NO_ADDR || kw_read(ctx, g->nr_cpu_ids, &nr, sizeof(nr)) != KW_OK || !nr ||
	    nr > cpumask->size * 8)
		nr = (uint32_t)cpumask->size * 8;
	kernel->percpu_offset = calloc(nr, sizeof(uint64_t));
	if (!kernel->percpu_offset)
		return kw_fail_nomem(ctx);
	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		kernel->percpu_offset[cpu] = KW_NO_ADDR;
		if (!is_possible(mask, cpu))
			continue;
		/* One CPU's parts missing make every sum wrong: then none is known. */
		if (kw_read(ctx, g->per_cpu_offset + 8ULL * cpu, &kernel->percpu_offset[cpu], 8) != KW_OK) {
			kernel->nr_cpus = 0;
			return KW_OK;
		}
		kernel->nr_cpus = cpu + 1;
	}
	return KW_OK;
}

static bool type_has(kw_ctx *ctx, const char *type, const char *path)
{
	struct kw_member member;
	bool has = kw_type_offset(ctx, type, path, &member) == KW_OK;

	kw_clear_error(ctx);
	return has;
}

static kw_status resolve(kw_ctx *ctx, struct kw_kernel *kernel)
{
	kw_status status = kw_type_find(ctx, "struct task_struct", &kernel->task_struct);

	if (!status)
		status = resolve_globals(ctx, &kernel->globals);
	if (!status)
		status = resolve_task_layout(ctx, &kernel->task);
	if (!status)
		status = resolve_cpus(ctx, kernel);
	/* The series that made /proc/PID/stat show the group's exit code also moved core_state to signal_struct (5.17). */
	kernel->has_group_exit_code_in_stat = !status && type_has(ctx, "signal_struct", "core_state");
	kernel->is_live = kw_memory_is_live(ctx->target->memory);
	return status;
}

kw_status kw_kernel_get(kw_ctx *ctx, const struct kw_kernel **ret)
{
	struct kw_kernel *kernel;
	kw_status status = KW_OK;

	if (!ctx->target)
		return kw_fail(ctx, KW_INVALID, "nothing is open: call kw_open() first");
	pthread_mutex_lock(&resolve_lock);
	if (!ctx->target->kernel) {
		kernel = calloc(1, sizeof(*kernel));
		status = kernel ? resolve(ctx, kernel) : kw_fail_nomem(ctx);
		if (status)
			kw_kernel_free(kernel);
		else
			ctx->target->kernel = kernel;
	}
	pthread_mutex_unlock(&resolve_lock);
	if (!status)
		*ret = ctx->target->kernel;
	return status;
}

void kw_kernel_free(struct kw_kernel *kernel)
{
	if (!kernel)
		return;
	kw_layouts_free(kernel->layouts);
	free(kernel->percpu_offset);
	free(kernel);
}
