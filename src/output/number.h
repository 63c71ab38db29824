/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers as text, exact, in base units, whatever the locale is.
 */
#ifndef OUTPUT_NUMBER_H
#define OUTPUT_NUMBER_H

#include <kwalk/value.h>

#include "util/strbuf.h"

/** Append an unsigned number in decimal. */
void kw_put_uint(struct kw_strbuf *sb, uint64_t u);

/** Append a signed number in decimal. */
void kw_put_int(struct kw_strbuf *sb, int64_t i);

/** Append 0x and the number in hexadecimal, without leading zeros. */
void kw_put_hex(struct kw_strbuf *sb, uint64_t u);

/** Append a finite number with the fewest digits, of 15 to 17, with which reading it gives the same double again. */
void kw_put_double(struct kw_strbuf *sb, double f);

/** Append bytes as pairs of hexadecimal digits. */
void kw_put_bytes(struct kw_strbuf *sb, const char *bytes, size_t len);

/**
 * Append any value but a string in its base unit: numbers and enums in decimal, true and false, addresses as 0x...,
 * bytes as hexadecimal digits.
 *
 * @return false, and nothing is appended, for a string, an absent value and a number that is not finite
 */
bool kw_put_base(struct kw_strbuf *sb, const struct kw_value *value);

#endif
