/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names nearest to a misspelt one, by edit distance (adjacent swaps count once). */
#include "util/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 48 /* longer names are not compared */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

static unsigned int edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned int row[3][NAME_MAX_LEN + 1];

	for (size_t j = 0; j <= lb; j++)
		row[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int *cur = row[i % 3], *prev = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		cur[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
	}
	return row[la % 3][lb];
}

void kw_nearest_offer(struct kw_nearest *n, const char *name)
{
	size_t lw = strlen(n->want), ln = strlen(name), at;
	size_t gap = lw > ln ? lw - ln : ln - lw, limit = 1 + lw / 3;
	unsigned int d;

	if (!ln || lw > NAME_MAX_LEN || ln > NAME_MAX_LEN || gap > limit)
		return;
	d = edit_distance(n->want, lw, name, ln);
	if (d > limit)
		return;
	for (size_t i = 0; i < n->nr; i++)
		if (strcmp(n->name[i], name) == 0)
			return;
	for (at = n->nr; at > 0 && n->distance[at - 1] > d; at--)
		;
	if (at == KW_NEAREST_MAX)
		return;
	if (n->nr < KW_NEAREST_MAX)
		n->nr++;
	for (size_t i = n->nr - 1; i > at; i--) {
		n->name[i] = n->name[i - 1];
		n->distance[i] = n->distance[i - 1];
	}
	n->name[at] = name;
	n->distance[at] = d;
}

const char *kw_nearest_text(const struct kw_nearest *n, char *buf, size_t size)
{
	static const char *const forms[] = { "", "; did you mean %s?", "; did you mean %s or %s?",
					     "; did you mean %s, %s or %s?" };

	snprintf(buf, size, forms[n->nr], n->name[0], n->name[1], n->name[2]);
	return buf;
}
