/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a task was in its program when it entered the kernel: the registers that it left at the top of its stack.
 *
 *     task_struct.stack ... | struct pt_regs | padding | stack + KW_STACK_SIZE
 *
 * The padding is 16 bytes in kernels that can use FRED.
 */
#include <kwalk/symbol.h>

#include "kernel/unwind.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define FRED_PADDING 16

/* PF_EXITING, PF_POSTCOREDUMP (since 5.16), PF_DUMPCORE: only then /proc/PID/stat shows them. */
#define SHOWN (0x4u | 0x8u | 0x200u)

struct register_layout {
	uint64_t ip, sp; /* from the beginning of the stack; KW_NO_ADDR when not known */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct register_layout *l = layout;
	const struct kw_type *regs;
	uint64_t addr, begin = KW_STACK_SIZE;

	(void)kernel;
	*l = (struct register_layout){ KW_NO_ADDR, KW_NO_ADDR };
	if (kw_symbol_address(ctx, "fred_entry_from_user", &addr) == KW_OK)
		begin -= FRED_PADDING;
	if (kw_type_find(ctx, "struct pt_regs", &regs) == KW_OK && regs->size < begin) {
		uint64_t ip = kw_offset_or_none(ctx, "pt_regs", "ip"),
			 sp = kw_offset_or_none(ctx, "pt_regs", "sp");

		begin -= regs->size;
		if (ip != KW_NO_ADDR && sp != KW_NO_ADDR)
			*l = (struct register_layout){ begin + ip, begin + sp };
	}
	kw_clear_error(ctx);
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct register_layout), resolve };

static void read_register(struct kw_row *row, const struct kw_value *stack, bool is_sp, struct kw_value *out)
{
	const struct register_layout *l = kw_layout_get(row->ctx, row->kernel, &subject);
	uint64_t at, value;
	kw_status status;

	if (kw_pass_absent(stack, 1, out))
		return;
	if (!stack->u || !l || l->ip == KW_NO_ADDR) {
		kw_set_absent(out, stack->u ? KW_ABSENT_NO_MEMBER : KW_ABSENT_NULL);
		return;
	}
	status = __builtin_add_overflow(stack->u, is_sp ? l->sp : l->ip, &at)
			 ? KW_ABSENT
			 : kw_read_u64(row->ctx, at, &value);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		*out = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = value };
}

static void user_sp(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	read_register(row, in, true, out);
}

static void user_ip(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	read_register(row, in, false, out);
}

/* in[1] stands for the mm. */
static void shown_register(struct kw_row *row, const struct kw_value *in, bool is_sp, struct kw_value *out)
{
	if (row->flags & SHOWN && kw_pass_missing(&in[1], out))
		return;
	if (row->flags & SHOWN && in[1].type != KW_VAL_ABSENT)
		read_register(row, in, is_sp, out);
	else
		*out = (struct kw_value){ .type = KW_VAL_ADDRESS };
	if (out->type == KW_VAL_ABSENT && out->absent == KW_ABSENT_NULL)
		*out = (struct kw_value){ .type = KW_VAL_ADDRESS };
}

static void shown_sp(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	shown_register(row, in, true, out);
}

static void shown_ip(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	shown_register(row, in, false, out);
}

#define ADDRESS KW_VAL_ADDRESS, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH, KW_COST_POINTER

static const struct kw_field_def fields[] = {
	{ { "esp", "ESP", "", ADDRESS, "stack pointer of its program when it last entered the kernel",
	    "pt_regs.sp at the top of task_struct.stack" },
	  { "stack" },
	  user_sp,
	  KW_USES_MM | KW_USES_MORE },
	{ { "eip", "EIP", "", ADDRESS, "where its program was when it last entered the kernel",
	    "pt_regs.ip at the top of task_struct.stack" },
	  { "stack" },
	  user_ip,
	  KW_USES_MM | KW_USES_MORE },
	{ { "kstkesp", "KSTKESP", "", ADDRESS,
	    "esp as /proc/PID/stat has it: 0 unless it ends or a core dump of it is written",
	    "pt_regs.sp at the top of task_struct.stack" },
	  { "stack", "mm.total_vm" },
	  shown_sp,
	  KW_USES_FLAGS | KW_USES_MORE },
	{ { "kstkeip", "KSTKEIP", "", ADDRESS,
	    "eip as /proc/PID/stat has it: 0 unless it ends or a core dump of it is written",
	    "pt_regs.ip at the top of task_struct.stack" },
	  { "stack", "mm.total_vm" },
	  shown_ip,
	  KW_USES_FLAGS | KW_USES_MORE },
};

const struct kw_field_table kw_register_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
