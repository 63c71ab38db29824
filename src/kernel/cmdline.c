/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line and the environment of a process: read from its own memory, by its own page table.
 *
 *     arg_start                 arg_end = env_start            env_end
 *     | argv[0] 0 argv[1] 0 ... | HOME=/root 0 PATH=... 0 ... |
 *
 * A program may write its title over them (setproctitle()). Where the last byte of the arguments is not 0 any more, the
 * title has run into the environment, and /proc shows one string from arg_start on.
 *
 * A page that is swapped out, or that the dump lacks, makes the whole value absent for that reason.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/field_table.h"
#include "memory/memory.h"

#define MAX_AREA \
	(6u << 20) /* MAX_ARG_STRLEN etc. allow no more: three quarters of the largest stack for it */

/* What is in[0..]: arg_start, arg_end, env_start, env_end, pgd, and of a kernel thread or zombie the comm. */
enum { ARG_START, ARG_END, ENV_START, ENV_END, PGD, COMM };

struct user_memory {
	kw_ctx *ctx;
	uint64_t pgd; /* physical */
};

/* Read user memory; *ret_reason says why not. */
static bool read_user(const struct user_memory *m, uint64_t addr, char *buf, size_t len,
		      enum kw_absent *ret_reason)
{
	while (len) {
		size_t part = KW_PAGE_SIZE - addr % KW_PAGE_SIZE;
		uint64_t paddr, entry = 0;
		kw_status status = kw_walk_page_table(m->ctx, m->pgd, addr, &paddr, &entry);

		part = part < len ? part : len;
		if (status == KW_ABSENT && entry) {
			*ret_reason = KW_ABSENT_SWAPPED;
			return false;
		}
		if (!status)
			status = kw_read_phys(m->ctx, paddr, buf, part);
		if (status) {
			*ret_reason = kw_absent_of_status(status);
			return false;
		}
		addr += part;
		buf += part;
		len -= part;
	}
	return true;
}

static bool begin_memory(struct kw_row *row, const struct kw_value *in, struct user_memory *m,
			 struct kw_value *out)
{
	kw_status status;

	m->ctx = row->ctx;
	status = kw_translate(row->ctx, in[PGD].u, &m->pgd);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	return !status;
}

/* Take an area of user memory as the value; `title`: only its first page, up to and with the first NUL. */
static void take_area(struct kw_row *row, const struct user_memory *m, uint64_t start, uint64_t end,
		      bool title, struct kw_value *out)
{
	enum kw_absent reason = KW_ABSENT_UNREADABLE;
	uint64_t len = end > start ? end - start : 0;
	char *buf;

	if (title && len > KW_PAGE_SIZE)
		len = KW_PAGE_SIZE;
	buf = len <= MAX_AREA ? malloc(len + 1) : NULL;
	if (!buf || !read_user(m, start, buf, len, &reason)) {
		kw_set_absent(out, reason);
		free(buf);
		return;
	}
	if (title) {
		size_t whole = strnlen(buf, len);

		len = whole < len ? whole + 1 : whole;
	}
	kw_row_put(row, out, buf, len);
	free(buf);
}

/* As get_mm_cmdline(). */
static void cmdline(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t arg_start = in[ARG_START].u, arg_end = in[ARG_END].u, env_end = in[ENV_END].u;
	enum kw_absent reason;
	struct user_memory m;
	char last;

	if (kw_pass_absent(in, 5, out))
		return;
	if (arg_start >= arg_end) {
		kw_set_string(out, "");
		return;
	}
	if (!begin_memory(row, in, &m, out))
		return;
	if (in[ENV_START].u != arg_end || env_end < arg_end)
		env_end = arg_end;
	if (!read_user(&m, arg_end - 1, &last, 1, &reason))
		kw_set_absent(out, reason);
	else if (last)
		take_area(row, &m, arg_start, env_end, true, out);
	else
		take_area(row, &m, arg_start, arg_end, false, out);
}

static void environment(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	struct user_memory m;

	if (kw_pass_absent(in, 5, out))
		return;
	if (in[ENV_START].u >= in[ENV_END].u)
		kw_set_string(out, "");
	else if (begin_memory(row, in, &m, out))
		take_area(row, &m, in[ENV_START].u, in[ENV_END].u, false, out);
}

static void bracketed(struct kw_row *row, const struct kw_value *comm, struct kw_value *out)
{
	char text[KW_PATH_MAX_STRING + 2];
	size_t len = comm->len < KW_PATH_MAX_STRING ? comm->len : KW_PATH_MAX_STRING;

	text[0] = '[';
	memcpy(text + 1, comm->str, len);
	text[len + 1] = ']';
	kw_row_put(row, out, text, len + 2);
}

/* As ps has it: blanks between the arguments, and the name in brackets where there are none. */
static void args(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char *text;

	if (row->flags & KW_PF_KTHREAD)
		kw_set_absent(out, KW_ABSENT_NO_MM);
	else
		cmdline(row, in, out);
	if (out->type == KW_VAL_STRING && out->len) {
		/* The row's own copy, or the empty string. */
		text = (char *)out->str;
		while (out->len && !text[out->len - 1])
			out->len--;
		for (uint32_t i = 0; i < out->len; i++)
			if (!text[i])
				text[i] = ' ';
	}
	if (in[COMM].type == KW_VAL_STRING &&
	    ((out->type == KW_VAL_STRING && !out->len) ||
	     (out->type == KW_VAL_ABSENT && out->absent == KW_ABSENT_NO_MM)))
		bracketed(row, &in[COMM], out);
}

#define TEXT  KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_WALK
#define AREAS "mm.arg_start", "mm.arg_end", "mm.env_start", "mm.env_end", "mm.pgd"

static const struct kw_field_def fields[] = {
	{ { "cmdline", "CMDLINE", "", TEXT, "arguments as the process has them, each ended by a zero byte",
	    "memory of the process from mm_struct.arg_start on" },
	  { AREAS },
	  cmdline,
	  KW_USES_MM | KW_USES_MORE },
	{ { "args", "COMMAND", "cmd,command", TEXT,
	    "arguments with blanks between, or the name in brackets when there are none",
	    "memory of the process from mm_struct.arg_start on; task_struct.comm" },
	  { AREAS, "comm" },
	  args,
	  KW_USES_FLAGS | KW_USES_MORE },
	{ { "environ", "ENVIRON", "environment", TEXT,
	    "environment it was started with, each variable ended by a zero byte",
	    "memory of the process from mm_struct.env_start on" },
	  { AREAS },
	  environment,
	  KW_USES_MM | KW_USES_MORE },
};

const struct kw_field_table kw_cmdline_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
