/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The controlling terminal of a process. Most have none: the fields are absent then; /proc/PID/stat prints 0 and -1. */
#include <inttypes.h>
#include <stdio.h>

#include "kernel/field_table.h"

/* The majors of pseudo-terminals, 256 each. */
#define UNIX98_FIRST 136
#define UNIX98_LAST  143

struct device {
	uint32_t major, minor;
};

/* in: the terminal, its driver's major and minor_start, its index. */
static bool get_device(const struct kw_value *in, struct kw_value *out, struct device *ret)
{
	if (in[0].type != KW_VAL_ABSENT && !in[0].u) {
		kw_set_absent(out, KW_ABSENT_NULL);
		return false;
	}
	if (kw_pass_absent(in, 4, out))
		return false;
	*ret = (struct device){ (uint32_t)in[1].u, (uint32_t)in[2].u + (uint32_t)in[3].u };
	return true;
}

/* As new_encode_dev(). */
static void tty_nr(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	struct device dev;

	(void)row;
	if (get_device(in, out, &dev))
		kw_set_uint(out, (dev.minor & 0xff) | dev.major << 8 | (dev.minor & ~0xffu) << 12);
}

static void tty_name(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	char text[32];
	struct device dev;

	if (!get_device(in, out, &dev))
		return;
	if (dev.major < UNIX98_FIRST || dev.major > UNIX98_LAST) {
		*out = in[4];
		return;
	}
	snprintf(text, sizeof(text), "pts/%" PRIu32, (dev.major - UNIX98_FIRST) * 256 + dev.minor);
	kw_set_row_text(row, out, text);
}

/* A terminal without a foreground group gives 0, as in /proc. */
static void tpgid(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (kw_pass_absent(in, 1, out))
		return;
	if (!in[0].u)
		kw_set_absent(out, KW_ABSENT_NULL);
	else if (in[1].type == KW_VAL_ABSENT && in[1].absent == KW_ABSENT_NULL)
		kw_set_int(out, 0);
	else
		*out = in[1];
}

#define TTY "signal.tty", "signal.tty.driver.major", "signal.tty.driver.minor_start", "signal.tty.index"

static const struct kw_field_def fields[] = {
	{ { "tty_nr", "TTYNR", "", KW_VAL_UINT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_POINTER,
	    "device number of the controlling terminal, as /proc/PID/stat has it",
	    "signal_struct.tty: tty_driver.major, minor_start, tty_struct.index" },
	  { TTY },
	  tty_nr,
	  0 },
	{ { "tty", "TT", "tt,tname", KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "controlling terminal", "tty_struct.name" },
	  { TTY, "signal.tty.name" },
	  tty_name,
	  0 },
	{ { "tpgid", "TPGID", "", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_POINTER,
	    "foreground process group of the controlling terminal", "tty_struct.ctrl.pgrp (pgrp to 5.15)" },
	  { "signal.tty", "signal.tty.ctrl.pgrp.numbers[0].nr | signal.tty.pgrp.numbers[0].nr" },
	  tpgid,
	  0 },
};

const struct kw_field_table kw_tty_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
