/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/modules and /proc/filesystems. */
#include "cli/proc_maker.h"

enum { NAME, SIZE, REFCNT, USERS, PERMANENT, STATE, ADDRESS, FLAGS };

/* Users have a comma behind each; what can't be unloaded counts as one. */
static void put_module(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	const struct kw_value *users = &values[USERS];

	(void)arg;
	fprintf(m->out, "%.*s %" PRIu64 " %" PRId64 " ", (int)values[NAME].len, values[NAME].str,
		values[SIZE].u, values[REFCNT].i);
	if (users->len)
		fprintf(m->out, "%.*s,", (int)users->len, users->str);
	if (values[PERMANENT].u)
		fputs("[permanent],", m->out);
	if (!users->len && !values[PERMANENT].u)
		fputc('-', m->out);
	fprintf(m->out, " %.*s 0x%016" PRIx64, (int)values[STATE].len, values[STATE].str, values[ADDRESS].u);
	if (values[FLAGS].len)
		fprintf(m->out, " %.*s", (int)values[FLAGS].len, values[FLAGS].str);
	fputc('\n', m->out);
}

bool proc_make_modules(struct proc_maker *m)
{
	return proc_rows(m, "modules", "name,size,refcnt,users,permanent,state,address,flags", 0, put_module,
			 NULL);
}

static void put_filesystem(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	(void)arg;
	fprintf(m->out, "%s\t%.*s\n", values[1].u ? "" : "nodev", (int)values[0].len, values[0].str);
}

bool proc_make_filesystems(struct proc_maker *m)
{
	return proc_rows(m, "filesystems", "name,device", 0, put_filesystem, NULL);
}
