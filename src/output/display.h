/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers the way ps(1) shows them.
 */
#ifndef OUTPUT_DISPLAY_H
#define OUTPUT_DISPLAY_H

#include <kwalk/output.h>

#include "util/strbuf.h"

/** The day that KW_SHOW_START calls today, in local time. */
struct kw_today {
	int year, day; /**< as in struct tm */
};

/** Return the day of a moment (ns since the epoch); of the host's clock when it is 0. */
struct kw_today kw_today_of(uint64_t now);

/**
 * Append a value as a table shows it: strings safe for a terminal, "-" for an absent value.
 *
 * A display that does not suit the value's type is ignored.
 *
 * @return its width in cells
 */
size_t kw_display(struct kw_strbuf *sb, enum kw_display how, const struct kw_value *value,
		  const struct kw_today *today);

#endif
