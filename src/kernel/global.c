/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel/global.h"
#include "kernel/module_symbol.h"

#include <string.h>

#include <kwalk/symbol.h>

#include "type/types.h"
#include "util/error.h"

/* BTF describes no plain variables: the types of those that people ask for most. Others are looked for in DWARF. */
static const struct {
	const char *symbol, *type;
} known_globals[] = {
	{ "init_task", "struct task_struct" },
	{ "init_pid_ns", "struct pid_namespace" },
	{ "init_uts_ns", "struct uts_namespace" },
	{ "init_user_ns", "struct user_namespace" },
	{ "init_net", "struct net" },
	{ "init_mm", "struct mm_struct" },
	{ "init_cred", "struct cred" },
	{ "init_css_set", "struct css_set" },
	{ "init_nsproxy", "struct nsproxy" },
	{ "cgrp_dfl_root", "struct cgroup_root" },
	{ "modules", "struct list_head" },
	{ "jiffies", "long unsigned int" },
	{ "jiffies_64", "u64" },
	{ "nr_threads", "int" },
	{ "total_forks", "long unsigned int" },
	{ "max_pfn", "long unsigned int" },
	{ "nr_cpu_ids", "unsigned int" },
	{ "pid_max", "int" },
	{ "panic_timeout", "int" },
	{ "runqueues", "struct rq" },
	{ "kernel_cpustat", "struct kernel_cpustat" },
	{ "kstat", "struct kernel_stat" },
	{ "tick_cpu_sched", "struct tick_sched" },
};

/* As kw_symbol_address(); *module is "" for a symbol of the kernel itself. */
static kw_status find_symbol(kw_ctx *ctx, const char *symbol, uint64_t *ret_addr, char *module)
{
	kw_status status = kw_symbol_address(ctx, symbol, ret_addr);

	*module = '\0';
	if (status != KW_NOTFOUND || kw_module_symbol(ctx, symbol, ret_addr, module) == KW_OK)
		return status == KW_NOTFOUND ? KW_OK : status;
	/* For the message. */
	return kw_symbol_address(ctx, symbol, ret_addr);
}

kw_status kw_global_address(kw_ctx *ctx, const char *symbol, uint64_t *ret)
{
	char module[KW_MODULE_NAME_SIZE];

	return find_symbol(ctx, symbol, ret, module);
}

kw_status kw_global_type(kw_ctx *ctx, const char *symbol, const struct kw_type **ret)
{
	char module[KW_MODULE_NAME_SIZE];
	kw_status status;
	uint64_t addr;

	for (size_t i = 0; i < sizeof(known_globals) / sizeof(known_globals[0]); i++)
		if (strcmp(known_globals[i].symbol, symbol) == 0)
			return kw_type_find(ctx, known_globals[i].type, ret);
	status = find_symbol(ctx, symbol, &addr, module);
	if (!status)
		status = *module ? kw_type_of_module_variable(ctx, module, symbol, ret)
				 : kw_type_of_variable(ctx, symbol, addr, ret);
	if (status != KW_NOTFOUND)
		return status;
	return kw_fail(ctx, KW_INVALID, "the type of \"%s\" is not known", symbol);
}
