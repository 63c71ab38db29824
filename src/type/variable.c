/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types of variables: in BTF those of each CPU, in DWARF all. */
#include "type/btf.h"
#include "type/dwarf.h"
#include "type/module_debug.h"
#include "type/origin.h"
#include "type/types.h"

#include "memory/memory.h"
#include "symbol/symbols.h"
#include "util/error.h"

#define KERNEL_IMAGE 0xffffffff80000000ULL /* where the kernel's own symbols begin */

/* Where a symbol was linked to lie: KASLR moves the image as a whole, and a per-CPU variable's address is an offset. */
static uint64_t linked_address(kw_ctx *ctx, uint64_t addr)
{
	uint64_t slide;

	if (addr >= KERNEL_IMAGE && kw_vmcoreinfo_number(ctx, "KERNELOFFSET", &slide))
		addr -= slide;
	return addr;
}

static const struct kw_btf *find_variable(kw_ctx *ctx, struct kw_types *types, const char *name,
					  uint64_t addr, uint32_t *ret_type)
{
	const struct kw_btf *kernel = kw_types_kernel(types);
	struct kw_dwarf *dwarf;

	if (kernel && kw_btf_find_variable(kernel, name, ret_type))
		return kernel;
	dwarf = kw_types_dwarf(ctx, types);
	return dwarf ? kw_dwarf_find_variable(ctx, dwarf, name, linked_address(ctx, addr), ret_type) : NULL;
}

/* Give the type that was found, with the status of looking for it when none was. */
static kw_status give_type(kw_ctx *ctx, const struct kw_btf *btf, uint32_t id, const struct kw_type **ret)
{
	const struct kw_type *type = btf ? kw_btf_type(ctx, btf, id) : NULL;

	if (!type)
		return ctx->status ? ctx->status : KW_NOTFOUND;
	*ret = type;
	return KW_OK;
}

kw_status kw_type_of_variable(kw_ctx *ctx, const char *name, uint64_t addr, const struct kw_type **ret)
{
	struct kw_types *types = kw_types_get(ctx);
	const struct kw_btf *btf;
	kw_status status;
	uint32_t id = 0;

	if (!types)
		return ctx->status;
	kw_clear_error(ctx);
	kw_pass_begin(ctx);
	btf = find_variable(ctx, types, name, addr, &id);
	status = give_type(ctx, btf, id, ret);
	kw_pass_end(ctx);
	return status;
}

kw_status kw_type_of_module_variable(kw_ctx *ctx, const char *module, const char *name,
				     const struct kw_type **ret)
{
	struct kw_types *types = kw_types_get(ctx);
	struct kw_module_debug *modules = types ? kw_types_module_debug(ctx, types) : NULL;
	const struct kw_btf *btf = NULL;
	kw_status status;
	uint32_t id = 0;

	if (!types)
		return ctx->status;
	kw_clear_error(ctx);
	kw_pass_begin(ctx);
	if (modules)
		btf = kw_module_debug_variable(ctx, modules, module, name, &id);
	status = give_type(ctx, btf, id, ret);
	kw_pass_end(ctx);
	return status;
}

const char *kw_type_module_remark(kw_ctx *ctx, char *buf, size_t size)
{
	struct kw_types *types = kw_types_get(ctx);
	struct kw_module_debug *modules = types ? kw_types_module_debug(ctx, types) : NULL;

	*buf = '\0';
	return modules ? kw_module_debug_remark(modules, buf, size) : buf;
}
