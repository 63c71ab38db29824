/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/modules, /proc/filesystems, /proc/mounts and /proc/swaps. */
#include <string.h>

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

/* Blanks, and what would be taken for the beginning of an escape or a comment, are octal. */
static void put_mount(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	static const struct kw_value none = { .str = "none", .len = 4 };
	const struct kw_value *device = &values[0], *own = &values[4];

	(void)arg;
	proc_put_escaped(m->out, device->type == KW_VAL_ABSENT ? &none : device, " \t\n\\#");
	fputc(' ', m->out);
	proc_put_escaped(m->out, &values[1], " \t\n\\");
	fputc(' ', m->out);
	proc_put_escaped(m->out, &values[2], " \t\n\\#");
	fprintf(m->out, " %.*s%s%.*s 0 0\n", (int)values[3].len, values[3].str, own->len ? "," : "",
		(int)own->len, own->str);
}

bool proc_make_mounts(struct proc_maker *m)
{
	return proc_rows(m, "mounts", "device,path,type,options,own_options,id", 1, put_mount, NULL);
}

/* Paths are filled up to 40 columns, as they are escaped; numbers below 8 digits have a tab more. */
static void put_swap(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	uint64_t size = values[2].u >> 10, used = values[3].u >> 10;
	uint32_t len = values[0].len;

	(void)arg;
	for (uint32_t i = 0; i < values[0].len; i++)
		len += strchr(" \t\n\\", values[0].str[i]) && values[0].str[i] ? 3 : 0;
	proc_put_escaped(m->out, &values[0], " \t\n\\");
	fprintf(m->out, "%*s%s\t%" PRIu64 "\t%s%" PRIu64 "\t%s%" PRId64 "\n", len < 40 ? (int)(40 - len) : 1,
		" ", values[1].u ? "partition" : "file\t", size, size < 10000000 ? "\t" : "", used,
		used < 10000000 ? "\t" : "", values[4].i);
}

bool proc_make_swaps(struct proc_maker *m)
{
	fputs("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n", m->out);
	return proc_rows(m, "swaps", "path,device,size,used,priority", 0, put_swap, NULL);
}
