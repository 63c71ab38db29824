/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files compressed as a whole, saved machines, and pipes. There is no way to a place in the middle of one: what is in it is written into
 * a temporary file without a name, which is gone with the last that has it open, and that is opened.
 *
 * Pages of zeros become holes. The file system must have room for the rest, and is not filled to its last byte: what a
 * file unpacks to may be a thousand times its size, and others use that file system, too. More than MAX_SIZE is no
 * memory that could be read.
 */
#include "memory/packed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/error.h"

#define MAX_SIZE  (1ULL << 44)
#define ROOM_STEP (16ULL << 20) /* between two looks at the room */
#define ROOM_LEFT (1ULL << 30)	/* this much, or a 20th of the file system, is left free */

static const struct file_packing *const packings[] = { &kw_packing_gzip, &kw_packing_libvirt,
						       &kw_packing_qemu, &kw_packing_xz, &kw_packing_zstd };

static const struct file_packing *packing_of(const uint8_t *head, size_t len)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (len >= packings[i]->magic_len &&
		    !memcmp(head, packings[i]->magic, packings[i]->magic_len))
			return packings[i];
	return NULL;
}

bool kw_is_packed_file(const uint8_t *head, size_t len)
{
	return packing_of(head, len) != NULL;
}

static bool is_zeros(const uint8_t *bytes, size_t len)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, len - 1);
}

static kw_status fail_writing(struct unpacking *u, const char *why, uint64_t at)
{
	return kw_fail(u->ctx, KW_UNREADABLE,
		       "%s: %s it into %s: %s after %llu MiB; set TMPDIR to a folder with more room, or %s",
		       u->memory->name, u->memory->is_pipe ? "copying" : "unpacking", u->folder, why,
		       (unsigned long long)(at >> 20),
		       u->memory->is_pipe ? "give kwalk a file" : "unpack it yourself");
}

/* See whether others still have room on the file system. */
static kw_status check_room(struct unpacking *u, uint64_t at)
{
	struct statvfs fs;
	uint64_t size, keep;

	if (u->put < u->checked + ROOM_STEP)
		return KW_OK;
	u->checked = u->put;
	if (fstatvfs(u->out, &fs) || !fs.f_blocks)
		return KW_OK;
	size = (uint64_t)fs.f_blocks * fs.f_frsize;
	keep = size / 20 < ROOM_LEFT ? size / 20 : ROOM_LEFT;
	if ((uint64_t)fs.f_bavail * fs.f_frsize >= keep)
		return KW_OK;
	return fail_writing(u, "the file system is nearly full", at);
}

kw_status packed_write_at(struct unpacking *u, uint64_t at, const uint8_t *bytes, size_t len, bool again)
{
	kw_status status = check_room(u, at);

	for (size_t done = 0; status == KW_OK && done < len;) {
		size_t part = len - done < PAGE_BYTES ? len - done : PAGE_BYTES;
		ssize_t put = (ssize_t)part;

		if (again || !is_zeros(bytes + done, part)) {
			put = pwrite(u->out, bytes + done, part, (off_t)(at + done));
			u->put += part;
		}
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			status = fail_writing(u, strerror(put ? errno : ENOSPC), at + done);
		else
			done += (size_t)put;
	}
	return status;
}

kw_status packed_write(struct unpacking *u, const uint8_t *bytes, size_t len)
{
	uint64_t at = u->written;

	u->written += len;
	if (u->written > MAX_SIZE)
		return kw_fail(u->ctx, KW_FORMAT, "%s: unpacks to more than 16 TiB: that is no memory",
			       u->memory->name);
	return packed_write_at(u, at, bytes, len, false);
}

kw_status packed_read(struct unpacking *u)
{
	u->len = 0;
	while (u->len < sizeof(u->in)) {
		ssize_t got = read(u->memory->fd, u->in + u->len, sizeof(u->in) - u->len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return kw_fail_errno(u->ctx, errno, "%s", u->memory->name);
		if (!got)
			break;
		u->len += (size_t)got;
	}
	u->done += u->len;
	if (u->opts && u->opts->progress)
		u->opts->progress(u->opts->progress_arg, u->done, u->memory->file_size);
	return KW_OK;
}

kw_status packed_damaged(struct unpacking *u, const struct file_packing *packing)
{
	return kw_fail(
		u->ctx, KW_FORMAT,
		"%s: what is compressed with %s in it is damaged, after %llu MiB of what it unpacks to",
		u->memory->name, packing->name, (unsigned long long)(u->written >> 20));
}

kw_status packed_cut_short(struct unpacking *u, const struct file_packing *packing)
{
	return kw_fail(
		u->ctx, KW_FORMAT,
		"%s: what is compressed with %s in it was cut short, after %llu MiB of what it unpacks to",
		u->memory->name, packing->name, (unsigned long long)(u->written >> 20));
}

kw_status packed_without(struct unpacking *u, const struct file_packing *packing, const char *library,
			 const char *package)
{
	return kw_fail(
		u->ctx, KW_UNSUPPORTED,
		"%s: is compressed with %s, and %s is not there; install %s, or unpack it first (%s -d)",
		u->memory->name, packing->name, library, package, packing->name);
}

/* What is in a pipe as it is. */
static kw_status copy(struct unpacking *u)
{
	kw_status status = KW_OK;

	if (!u->len)
		return kw_fail(u->ctx, KW_UNREADABLE,
			       "%s: nothing came out of the pipe; did the program before it fail?",
			       u->memory->name);
	while (status == KW_OK && u->len) {
		status = packed_write(u, u->in, u->len);
		if (status == KW_OK)
			status = packed_read(u);
	}
	return status;
}

static kw_status unpack_all(struct unpacking *u, const char **ret_what)
{
	const struct file_packing *packing;
	kw_status status = packed_read(u);

	if (status != KW_OK)
		return status;
	packing = packing_of(u->in, u->len);
	*ret_what = packing ? packing->what : "pipe";
	status = packing ? packing->unpack(u) : copy(u);
	if (status == KW_OK && !u->written)
		return kw_fail(u->ctx, KW_UNREADABLE, "%s: unpacks to nothing; was the dump finished?",
			       u->memory->name);
	if (status == KW_OK && ftruncate(u->out, (off_t)u->written))
		return kw_fail_errno(u->ctx, errno, "%s: unpacking it", u->memory->name);
	return status;
}

static const char *temporary_folder(void)
{
	const char *folder = secure_getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

static int make_temporary(const char *folder)
{
	char path[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	if (strlen(folder) + sizeof("/kwalk-XXXXXX") > sizeof(path))
		return -1;
	strcpy(stpcpy(path, folder), "/kwalk-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

kw_status kw_unpack_file(kw_ctx *ctx, struct kw_memory *memory, const struct kw_open_options *opts)
{
	struct unpacking *u = calloc(1, sizeof(*u));
	kw_status status;

	if (!u)
		return kw_fail_nomem(ctx);
	u->ctx = ctx;
	u->memory = memory;
	u->opts = opts;
	u->folder = temporary_folder();
	u->out = make_temporary(u->folder);
	if (u->out < 0)
		status = kw_fail_errno(ctx, errno, "%s: making a file to %s it into, in %s", memory->name,
				       memory->is_pipe ? "copy" : "unpack", u->folder);
	else
		status = unpack_all(u, &memory->wrapped_in);
	if (status == KW_OK) {
		close(memory->fd);
		memory->fd = u->out;
		memory->file_size = u->written;
	} else {
		memory->wrapped_in = NULL;
		if (u->out >= 0)
			close(u->out);
	}
	free(u);
	return status;
}
