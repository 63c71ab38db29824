/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/vmstat, /proc/buddyinfo and /proc/slabinfo. */
#include <string.h>

#include "cli/proc_maker.h"

static bool is_text(const struct kw_value *v, const char *text)
{
	return v->len == strlen(text) && memcmp(v->str, text, v->len) == 0;
}

static void put_counter(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	bool *has_unstable = arg;

	*has_unstable = *has_unstable || is_text(&values[0], "nr_unstable");
	fprintf(m->out, "%.*s %" PRIu64 "\n", (int)values[0].len, values[0].str, values[1].u);
}

bool proc_make_vmstat(struct proc_maker *m)
{
	bool has_unstable = false;

	if (!proc_rows(m, "vmstat", "name,value", 0, put_counter, &has_unstable))
		return false;
	/* Not counted since 5.8, and printed all the same. */
	if (!has_unstable)
		fputs("nr_unstable 0\n", m->out);
	return true;
}

/* The first order begins a line. */
static void put_blocks(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	bool *begun = arg;

	if (!values[2].u) {
		fprintf(m->out, "%sNode %" PRId64 ", zone %8.*s ", *begun ? "\n" : "", values[0].i,
			(int)values[1].len, values[1].str);
		*begun = true;
	}
	fprintf(m->out, "%6" PRIu64 " ", values[3].u);
}

bool proc_make_buddyinfo(struct proc_maker *m)
{
	bool begun = false;

	if (!proc_rows(m, "buddies", "node,zone,order,blocks", 0, put_blocks, &begun))
		return false;
	fputs(begun ? "\n" : "", m->out);
	return true;
}

/* SLUB has neither tunables nor slabs without an object. */
static void put_cache(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	(void)arg;
	fprintf(m->out, "%-17.*s %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %4" PRIu64 " %4" PRIu64,
		(int)values[0].len, values[0].str, values[1].u, values[2].u, values[3].u, values[4].u,
		values[5].u);
	fprintf(m->out, " : tunables %4d %4d %4d : slabdata %6" PRIu64 " %6" PRIu64 " %6d\n", 0, 0, 0,
		values[6].u, values[6].u, 0);
}

bool proc_make_slabinfo(struct proc_maker *m)
{
	fputs("slabinfo - version: 2.1\n"
	      "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>"
	      " : tunables <limit> <batchcount> <sharedfactor>"
	      " : slabdata <active_slabs> <num_slabs> <sharedavail>\n",
	      m->out);
	return proc_rows(m, "slabs", "name,active,objects,slot_size,per_slab,pages,slabs", 0, put_cache,
			 NULL);
}
