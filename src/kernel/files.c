/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Open files and what belongs to them. Kernel threads have files too; a task that is past its end has none. */
#include "kernel/field_table.h"
#include "memory/memory.h"

#define MAX_FILES (1u << 30)
#define CHUNK	  64 /* words of the bitmap read at a time */

/* How many of the 64 files from `files` on are open; those of accept() and its like have a number before they are. */
static kw_status count_files(kw_ctx *ctx, uint64_t files, uint64_t bits, uint64_t *nr)
{
	uint64_t file[64];
	unsigned int used = 64 - (unsigned int)__builtin_clzll(bits);
	kw_status status = kw_read(ctx, files, file, used * 8);

	for (unsigned int i = 0; !status && i < used; i++)
		*nr += bits >> i & 1 && file[i];
	return status;
}

static kw_status count_open(kw_ctx *ctx, uint64_t words, uint64_t bitmap, uint64_t files, uint64_t *nr)
{
	uint64_t bits[CHUNK];

	for (uint64_t at = 0, some; at < words; at += some) {
		kw_status status;

		some = words - at < CHUNK ? words - at : CHUNK;
		status = kw_read(ctx, bitmap + at * 8, bits, some * 8);
		for (uint64_t i = 0; !status && i < some; i++)
			if (bits[i])
				status = count_files(ctx, files + (at + i) * 512, bits[i], nr);
		if (status)
			return status;
	}
	return KW_OK;
}

/* in: how many files there is room for, the bitmap of those in use, the array of them. */
static void open_files(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t nr = 0;
	kw_status status;

	if (kw_pass_absent(in, 3, out))
		return;
	status = in[0].u > MAX_FILES ? KW_FORMAT : count_open(row->ctx, in[0].u / 64, in[1].u, in[2].u, &nr);
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_uint(out, nr);
}

static const struct kw_field_def fields[] = {
	{ { "umask", "UMASK", "Umask", KW_VAL_INT, KW_UNIT_NONE, KW_SHOW_OCTAL, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "permissions that new files do not get", "fs_struct.umask" },
	  { "real_fs.umask | fs.umask" },
	  NULL,
	  0 },
	{ { "fdsize", "FDSIZE", "FDSize", KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH,
	    KW_COST_POINTER, "room for open files", "files_struct.fdt->max_fds" },
	  { "files.fdt.max_fds" },
	  NULL,
	  0 },
	{ { "fds", "FDS", "nr_fds", KW_VAL_UINT, KW_UNIT_COUNT, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_WALK,
	    "number of open files", "files_struct.fdt->open_fds, fd[]" },
	  { "files.fdt.max_fds", "files.fdt.open_fds", "files.fdt.fd" },
	  open_files,
	  KW_USES_MORE },
};

const struct kw_field_table kw_files_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
