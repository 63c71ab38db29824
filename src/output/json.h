/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON text of values.
 */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include <kwalk/value.h>

#include "util/strbuf.h"

/**
 * Append bytes as a JSON string, quotes included.
 *
 * The text stays on one line and is safe for a terminal: what kw_put_safe() would not let through is \uNNNN. A byte
 * that is not UTF-8 becomes \udcNN, a lone surrogate that no valid text holds (Python's surrogateescape), so the
 * bytes can be had back.
 */
void kw_json_string(struct kw_strbuf *sb, const char *bytes, size_t len);

/** Append a value in its base unit; null for an absent one and for a number that is not finite. */
void kw_json_value(struct kw_strbuf *sb, const struct kw_value *value);

#endif
