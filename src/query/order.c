/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of rows: by keys, or children after their parents. */
#include "query/query.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_ROWS 16

static int by_keys(const void *a, const void *b, void *arg)
{
	const kw_query *q = arg;
	const struct pending *x = a, *y = b;

	for (size_t i = 0; i < q->sort.nr; i++) {
		const struct kw_value *keys = q->key_values.item;
		int order =
			kw_value_compare(&keys[x->order * q->sort.nr + i], &keys[y->order * q->sort.nr + i]);

		if (order)
			return q->sort.item[i].descending ? -order : order;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_pid(const void *a, const void *b, void *arg)
{
	const struct pending *p = arg, *x = &p[*(const size_t *)a], *y = &p[*(const size_t *)b];

	return x->pid != y->pid				 ? (x->pid < y->pid ? -1 : 1)
	       : *(const size_t *)a < *(const size_t *)b ? -1
							 : 1;
}

#define NONE SIZE_MAX

/* Find the row of a process by bisection over the indices that are sorted by PID. */
static size_t find_process(const struct pending *p, const size_t *sorted, size_t nr, int32_t pid)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p[sorted[mid]].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && p[sorted[lo]].pid == pid ? sorted[lo] : NONE;
}

/*
 * The rows as a forest, by their indices: of the row above, of the first and last row below, of the next one beside.
 * Siblings keep the order they had.
 */
struct forest {
	const struct pending *rows;
	size_t nr;
	size_t *sorted; /* rows by PID */
	size_t *parent, *first, *last, *next;
};

static bool forest_init(struct forest *f, const struct pending *rows, size_t nr)
{
	size_t *memory = calloc(nr * 5, sizeof(*memory));

	if (!memory)
		return false;
	*f =
		(struct forest){ rows,		 nr, memory, memory + nr, memory + 2 * nr, memory + 3 * nr,
				 memory + 4 * nr };
	for (size_t i = 0; i < nr; i++) {
		f->sorted[i] = i;
		f->first[i] = f->last[i] = f->next[i] = NONE;
	}
	qsort_r(f->sorted, nr, sizeof(*f->sorted), by_pid, (void *)rows);
	return true;
}

/* A thread hangs below the first row of its process, a process below its parent's row. */
static void find_parents(struct forest *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		const struct pending *p = &f->rows[i];
		size_t own = find_process(f->rows, f->sorted, f->nr, p->pid);

		if (own != i)
			f->parent[i] = own;
		else
			f->parent[i] = p->ppid == p->pid ? NONE
							 : find_process(f->rows, f->sorted, f->nr, p->ppid);
	}
}

/*
 * Make roots of rows whose parents lead back to themselves. Each row is visited once: `mark` tells in which walk it
 * was first seen, and meeting a row of the same walk again means going round.
 */
static bool cut_cycles(struct forest *f)
{
	size_t *mark = calloc(f->nr, sizeof(*mark));

	if (!mark)
		return false;
	for (size_t i = 0; i < f->nr; i++) {
		size_t at = i;

		while (!mark[at]) {
			mark[at] = i + 1;
			if (f->parent[at] == NONE)
				break;
			if (mark[f->parent[at]] == i + 1) {
				f->parent[at] = NONE;
				break;
			}
			at = f->parent[at];
		}
	}
	free(mark);
	return true;
}

static void link_children(struct forest *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		size_t up = f->parent[i];

		if (up == NONE)
			continue;
		if (f->first[up] == NONE)
			f->first[up] = i;
		else
			f->next[f->last[up]] = i;
		f->last[up] = i;
	}
}

/* The row after `at` in the tree of root, or NONE at its end. */
static size_t step(const struct forest *f, size_t root, size_t at, uint32_t *depth)
{
	if (f->first[at] != NONE) {
		++*depth;
		return f->first[at];
	}
	while (at != root && f->next[at] == NONE) {
		at = f->parent[at];
		--*depth;
	}
	return at == root ? NONE : f->next[at];
}

static size_t write_out(const struct forest *f, struct pending *out)
{
	size_t nr = 0;

	for (size_t root = 0; root < f->nr; root++) {
		uint32_t depth = 0;

		if (f->parent[root] != NONE)
			continue;
		for (size_t at = root; at != NONE; at = step(f, root, at, &depth)) {
			out[nr] = f->rows[at];
			out[nr++].depth = depth;
		}
	}
	return nr;
}

/* Put children after their parents; a row whose parent is not among the rows is a root. */
static bool order_as_forest(kw_query *q)
{
	struct pending *ordered = calloc(q->pending.nr, sizeof(*ordered));
	struct forest f = { 0 };
	bool done = ordered && forest_init(&f, q->pending.item, q->pending.nr);

	if (done) {
		find_parents(&f);
		done = cut_cycles(&f);
	}
	if (!done) {
		free(ordered);
		free(f.sorted);
		return false;
	}
	link_children(&f);
	q->pending.nr = q->pending.cap = write_out(&f, ordered);
	free(q->pending.item);
	q->pending.item = ordered;
	free(f.sorted);
	return true;
}

static void sort_from(struct kw_query *q, size_t first)
{
	if (first < q->pending.nr)
		qsort_r(q->pending.item + first, q->pending.nr - first, sizeof(*q->pending.item), by_keys, q);
	q->ordered = q->pending.nr;
}

/* Move the row at the top of a heap of nr rows down to its place: none comes after the one above it. */
static void sift_down(struct kw_query *q, size_t nr, size_t at)
{
	struct pending *heap = q->pending.item, moved = heap[at];

	for (size_t below; (below = 2 * at + 1) < nr; at = below) {
		if (below + 1 < nr && by_keys(&heap[below + 1], &heap[below], q) > 0)
			below++;
		if (by_keys(&heap[below], &moved, q) <= 0)
			break;
		heap[at] = heap[below];
	}
	heap[at] = moved;
}

/* Put the first nr rows in order to the front: of a heap of so many rows, the last one gives way to each that is before it. */
static void sort_first(struct kw_query *q, size_t nr)
{
	struct pending *heap = q->pending.item;

	for (size_t i = nr / 2; i > 0; i--)
		sift_down(q, nr, i - 1);
	for (size_t i = nr; i < q->pending.nr; i++) {
		struct pending last = heap[0];

		if (by_keys(&heap[i], &last, q) >= 0)
			continue;
		heap[0] = heap[i];
		heap[i] = last;
		sift_down(q, nr, 0);
	}
	qsort_r(heap, nr, sizeof(*heap), by_keys, q);
	q->ordered = nr;
}

void kw_query_order_rest(struct kw_query *q)
{
	sort_from(q, q->ordered);
}

bool kw_query_order(struct kw_query *q)
{
	/* Rows may be gone when they are to be shown: a few more than those. */
	size_t first = q->limit && q->limit < q->pending.nr ? (size_t)q->limit + SPARE_ROWS : q->pending.nr;

	q->ordered = q->pending.nr;
	if (q->sort.nr && !q->forest && first < q->pending.nr / 4)
		sort_first(q, first);
	else if (q->sort.nr)
		sort_from(q, 0);
	return !q->forest || !q->pending.nr || order_as_forest(q);
}
