/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/PID/maps: a line for each area of memory, the name in column 74.
 *
 *     00400000-00401000 r--p 00000000 00:02 20                                 /init
 */
#include <string.h>

#include "cli/proc_maker.h"
#include "cli/proc_text.h"

#define NAME_AT 73 /* columns before the blank and the name */

enum { START, END, PERMS, OFFSET, DEV, INODE, PATH };

#define COLUMNS	 "start,end,perms,offset,dev,inode,path"
#define OPTIONAL (1u << OFFSET | 1u << DEV | 1u << INODE | 1u << PATH)

static void put_path(FILE *out, int used, const struct kw_value *path)
{
	fprintf(out, "%*s", used < NAME_AT ? NAME_AT - used : 1, "");
	proc_put_escaped(out, path, "\n");
}

/* What has no file has zeros in its place. */
static void put_area(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	static const struct kw_value none = { .str = "00:00", .len = 5 };
	const struct kw_value *dev = values[DEV].type == KW_VAL_ABSENT ? &none : &values[DEV];
	uint64_t offset = values[OFFSET].type == KW_VAL_ABSENT ? 0 : values[OFFSET].u,
		 inode = values[INODE].type == KW_VAL_ABSENT ? 0 : values[INODE].u;
	int used = fprintf(m->out, "%08" PRIx64 "-%08" PRIx64 " %.*s %08" PRIx64 " %.*s %" PRIu64 " ",
			   values[START].u, values[END].u, (int)values[PERMS].len, values[PERMS].str, offset,
			   (int)dev->len, dev->str, inode);

	(void)arg;
	if (values[PATH].type != KW_VAL_ABSENT)
		put_path(m->out, used, &values[PATH]);
	fputc('\n', m->out);
}

/* Of no memory there are no lines. */
static bool make_maps(struct proc_maker *m)
{
	return proc_task_rows(m, "vmas", COLUMNS, OPTIONAL, put_area, NULL);
}

static const struct proc_file files[] = {
	PROC_FILE_MADE(PROC_TASK, "maps", make_maps),
};

const struct proc_file_list proc_maps_files = PROC_FILE_LIST(files);
