/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of kwalk ps as a query in the query language. */
#ifndef CLI_PS_QUERY_H
#define CLI_PS_QUERY_H

#include <kwalk/query.h>

/**
 * Write a query that gives the rows of these options, but for a forest and a PID namespace, which the language does not
 * have.
 *
 * @param where  one more condition, or NULL
 * @return the caller frees it; NULL when memory runs out
 */
char *ps_query_text(const struct kw_query_options *q, const char *where);

#endif
