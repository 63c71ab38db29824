/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a task sleeps: the function that called the scheduler, for itself or for a lock.
 *
 * Kernels before 5.16 follow frame pointers for this, which most of them do not have: /proc/PID/wchan says 0 there, or
 * what is found by chance. The field wchan is right on all, proc_wchan is what the kernel says.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/code_symbol.h"
#include "kernel/unwind.h"
#include "memory/memory.h"
#include "util/error.h"
#include "util/text_map.h"

#define TASK_WAKING 0x200u
#define MAX_FRAMES  64
#define MAX_OLD	    17 /* frames that the old way looks at */

/* Names of addresses, for a run: modules come and go. */
struct names {
	uint64_t run;
	bool by_frame_pointer; /* the kernel's own way */
	struct kw_text_map texts;
	struct kw_orc_cache orc;
};

static void *make_names(struct kw_row *row)
{
	struct names *n = calloc(1, sizeof(*n));
	uint64_t addr;

	if (n)
		n->by_frame_pointer = kw_symbol_address(row->ctx, "__get_wchan", &addr) != KW_OK;
	kw_clear_error(row->ctx);
	return n;
}

static void free_names(void *state)
{
	struct names *n = state;

	kw_text_map_clear(&n->texts);
	free(n);
}

static struct names *get_names(struct kw_row *row)
{
	struct names *n = kw_row_keep(row, KW_KEEP_WCHANS, make_names, free_names);

	if (n && n->run != row->run) {
		kw_text_map_clear(&n->texts);
		n->run = row->run;
	}
	return n;
}

static void put_name(struct kw_row *row, const struct kw_unwind_layout *l, struct names *n, uint64_t ip,
		     struct kw_value *out)
{
	const struct kw_text *text = kw_text_map_find(&n->texts, ip);
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;
	kw_status status;

	if (text) {
		kw_set_text(out, text);
		return;
	}
	if (l->text <= ip && ip < l->text_end)
		status = kw_symbol_at(row->ctx, ip, name, &offset);
	else
		status = kw_module_symbol_at(row->ctx, row->kernel, ip, name);
	kw_clear_error(row->ctx);
	if (status) {
		kw_set_absent(out,
			      status == KW_NOTFOUND ? KW_ABSENT_NOT_APPLICABLE : kw_absent_of_status(status));
		return;
	}
	kw_text_map_put(&n->texts, ip, name, strlen(name));
	kw_set_row_text(row, out, name);
}

/* The first address outside of the scheduler; the last one inside where the stack can't be unwound further. */
static uint64_t sleeping_at(kw_ctx *ctx, const struct kw_unwind_layout *l, struct kw_orc_cache *cache,
			    struct kw_frame *f)
{
	for (int i = 0; i < MAX_FRAMES && kw_in_scheduler(l, f->ip) && kw_unwind_next(ctx, l, cache, f); i++)
		;
	return f->ip;
}

static uint64_t sleeping_by_frame_pointer(kw_ctx *ctx, const struct kw_unwind_layout *l, struct kw_frame *f)
{
	for (int i = 0; i < MAX_OLD && kw_unwind_by_frame_pointer(ctx, f); i++)
		if (!kw_in_scheduler(l, f->ip))
			return f->ip;
	return 0;
}

enum { STATE, ON_RQ, SP, STACK };

/* A task that runs, or is about to, sleeps nowhere. One past its end may have no stack any more. */
static bool begin(struct kw_row *row, const struct kw_unwind_layout *l, const struct kw_value *in,
		  struct kw_frame *frame, struct kw_value *out)
{
	kw_status status;

	if (kw_pass_absent(in, 4, out))
		return false;
	if (!in[STATE].u || in[STATE].u == TASK_WAKING || in[ON_RQ].i || !in[STACK].u) {
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
		return false;
	}
	status = l ? kw_unwind_begin(row->ctx, l, in[SP].u, in[STACK].u, frame) : KW_NOMEM;
	if (status == KW_NOTFOUND)
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
	else if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	return !status;
}

static void set_wchan(struct kw_row *row, const struct kw_value *in, struct kw_value *out, bool as_kernel)
{
	const struct kw_unwind_layout *l = kw_layout_get(row->ctx, row->kernel, &kw_unwind_subject);
	struct names *n = get_names(row);
	struct kw_frame frame;
	uint64_t ip;

	if (!begin(row, l, in, &frame, out))
		return;
	if (!n) {
		kw_set_absent(out, KW_ABSENT_UNREADABLE);
		return;
	}
	if (as_kernel && n->by_frame_pointer)
		ip = sleeping_by_frame_pointer(row->ctx, l, &frame);
	else
		ip = sleeping_at(row->ctx, l, &n->orc, &frame);
	if (ip)
		put_name(row, l, n, ip, out);
	else
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
}

static void wchan(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	set_wchan(row, in, out, false);
}

static void proc_wchan(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	set_wchan(row, in, out, true);
}

#define NEEDS "__state | state", "on_rq", "thread.sp", "stack"
#define TEXT  KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_WALK

static const struct kw_field_def fields[] = {
	{ { "wchan", "WCHAN", "wname", TEXT, "function of the kernel in which it sleeps",
	    "the stack below task_struct.thread.sp, unwound; symbols" },
	  { NEEDS },
	  wchan,
	  KW_USES_MORE },
	{ { "proc_wchan", "PROCWCHAN", "", TEXT,
	    "wchan as /proc/PID/wchan has it: until 5.15 by frame pointers, mostly of no use",
	    "the stack below task_struct.thread.sp; symbols" },
	  { NEEDS },
	  proc_wchan,
	  KW_USES_MORE },
};

const struct kw_field_table kw_wchan_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
