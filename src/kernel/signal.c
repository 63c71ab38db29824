/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals. A set of them is 64 bits, bit N - 1 being signal N.
 *
 * Which ones are ignored and which have a handler is not kept as a set: it is found from the 64 handlers of
 * sighand_struct, which both fields need and one look gives.
 */
#include <stdlib.h>

#include "kernel/field_table.h"
#include "type/types.h"
#include "util/bytes.h"
#include "util/error.h"

#define NR_SIGNALS 64
#define MAX_STRIDE 64
#define SIG_IGN	   1

struct handlers {
	uint64_t offset,
		stride;	 /* of sa.sa_handler in an action, and from one to the next; stride 0: not known */
	uint64_t serial; /* of the row whose sets these are */
	uint64_t ignored, caught;
};

static uint64_t offset_of(kw_ctx *ctx, const char *path)
{
	struct kw_member member;

	if (kw_type_offset(ctx, "sighand_struct", path, &member) == KW_OK)
		return member.bit_offset / 8;
	kw_clear_error(ctx);
	return 0;
}

static void *make_handlers(struct kw_row *row)
{
	struct handlers *h = calloc(1, sizeof(*h));
	uint64_t next;

	if (!h)
		return NULL;
	h->offset = offset_of(row->ctx, "action[0].sa.sa_handler") - offset_of(row->ctx, "action");
	next = offset_of(row->ctx, "action[1].sa.sa_handler") - offset_of(row->ctx, "action");
	if (next > h->offset && next - h->offset <= MAX_STRIDE)
		h->stride = next - h->offset;
	return h;
}

static void collect_one(struct handlers *h, unsigned int signal, uint64_t handler)
{
	if (handler == SIG_IGN)
		h->ignored |= 1ULL << signal;
	else if (handler)
		h->caught |= 1ULL << signal;
}

/* As collect_sigign_sigcatch(). Most signals have no handler: four are looked at in one. */
static void collect(struct handlers *h, const uint8_t *actions)
{
	const uint64_t stride = h->stride;

	h->ignored = h->caught = 0;
	for (unsigned int i = 0; i < NR_SIGNALS; i += 4, actions += 4 * stride) {
		uint64_t handler[4] = { kw_load_u64(actions), kw_load_u64(actions + stride),
					kw_load_u64(actions + 2 * stride),
					kw_load_u64(actions + 3 * stride) };

		if (__builtin_expect(!(handler[0] | handler[1] | handler[2] | handler[3]), 1))
			continue;
		for (unsigned int k = 0; k < 4; k++)
			collect_one(h, i + k, handler[k]);
	}
}

/* in[0] the actions */
static const struct handlers *get_handlers(struct kw_row *row, const struct kw_value *in,
					   struct kw_value *out)
{
	struct handlers *h = kw_row_keep(row, KW_KEEP_SIGNALS, make_handlers, free);

	if (kw_pass_absent(in, 1, out))
		return NULL;
	if (!h || !h->stride || h->offset + (NR_SIGNALS - 1) * h->stride + 8 > in[0].len) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return NULL;
	}
	if (h->serial == row->serial)
		return h;
	collect(h, (const uint8_t *)in[0].str + h->offset);
	h->serial = row->serial;
	return h;
}

static void ignored(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct handlers *h = get_handlers(row, in, out);

	if (h)
		kw_set_uint(out, h->ignored);
}

static void caught(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	const struct handlers *h = get_handlers(row, in, out);

	if (h)
		kw_set_uint(out, h->caught);
}

/* The kernel prints the lower 32 bits of a signed counter. */
static void queued(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_uint(out, (uint32_t)in[0].u);
}

/* Moved from user_struct to ucounts in 5.14, to an array of their own there in 6.0. */
#define SIGQ                                                                \
	"real_cred.ucounts.rlimit[rlimit_type.UCOUNT_RLIMIT_SIGPENDING] | " \
	"real_cred.ucounts.ucount[ucount_type.UCOUNT_RLIMIT_SIGPENDING] | " \
	"real_cred.user.sigpending"

static const struct kw_field_def fields[] = {
	{ { "pending", "PENDING", "SigPnd,sig", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_OBJECT, "signals that wait for this thread, a bit each", "task_struct.pending" },
	  { "pending.signal.sig[0]" },
	  NULL,
	  0 },
	{ { "shared_pending", "SHDPEND", "ShdPnd", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "signals that wait for the process", "signal_struct.shared_pending" },
	  { "signal.shared_pending.signal.sig[0]" },
	  NULL,
	  0 },
	{ { "blocked", "BLOCKED", "SigBlk,sig_block,sigmask", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX,
	    KW_SCOPE_BOTH, KW_COST_OBJECT, "blocked signals", "task_struct.blocked" },
	  { "blocked.sig[0]" },
	  NULL,
	  0 },
	{ { "ignored", "IGNORED", "SigIgn,sig_ignore,sigignore", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX,
	    KW_SCOPE_BOTH, KW_COST_POINTER, "ignored signals", "sighand_struct.action[].sa.sa_handler" },
	  { "sighand.action" },
	  ignored,
	  0 },
	{ { "caught", "CAUGHT", "SigCgt,sig_catch,sigcatch", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_HEX,
	    KW_SCOPE_BOTH, KW_COST_POINTER, "signals that have a handler",
	    "sighand_struct.action[].sa.sa_handler" },
	  { "sighand.action" },
	  caught,
	  0 },
	{ { "sigq", "SIGQ", "", KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_POINTER,
	    "signals queued for all processes of its user",
	    "ucounts.rlimit[UCOUNT_RLIMIT_SIGPENDING] (user_struct.sigpending to 5.13)" },
	  { SIGQ },
	  queued,
	  0 },
	{ { "sigq_limit", "SIGQLIM", "", KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "how many signals may be queued", "signal_struct.rlim[RLIMIT_SIGPENDING]" },
	  { "signal.rlim[11].rlim_cur" },
	  NULL,
	  0 },
	{ { "exit_signal", "EXITSIG", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_OBJECT, "signal that its end sends to the parent", "task_struct.exit_signal" },
	  { "exit_signal" },
	  NULL,
	  0 },
};

const struct kw_field_table kw_signal_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
