/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files compressed as a whole, with gzip or zstd. There is no way to a place in the middle of one: it is unpacked into a
 * temporary file without a name, which is gone with the last that has it open, and what is in there is opened.
 *
 * Pages of zeros become holes. The file system must have room for the rest; a file that unpacks to more than MAX_SIZE
 * is none that could be read.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "memory/source.h"
#include "util/error.h"

#define MAX_SIZE (1ULL << 44)
#define PIECE	 (256U << 10)
#define GZIP	 (16 + 15) /* window bits that mean gzip's format */

/* The buffers of libzstd's streams. */
struct zstd_in {
	const void *bytes;
	size_t size, at;
};

struct zstd_out {
	void *bytes;
	size_t size, at;
};

/* One unpacking: a piece of the file after the other, and what comes of it. */
struct unpacking {
	kw_ctx *ctx;
	const struct kw_memory *memory;
	const struct kw_open_options *opts;
	int out;
	const char *folder;
	uint64_t done, written; /* bytes of the file, bytes of what it unpacks to */
	size_t len;		/* of in */
	uint8_t in[PIECE], piece[PIECE];
};

static bool is_gzip(const uint8_t *head, size_t len)
{
	return len >= 3 && !memcmp(head, "\x1f\x8b\x08", 3);
}

static bool is_zstd(const uint8_t *head, size_t len)
{
	return len >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4);
}

bool kw_is_packed_file(const uint8_t *head, size_t len)
{
	return is_gzip(head, len) || is_zstd(head, len);
}

static bool is_zeros(const uint8_t *bytes, size_t len)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, len - 1);
}

/* Write a piece, all of it or an error. */
static kw_status write_piece(struct unpacking *u, const uint8_t *bytes, size_t len)
{
	uint64_t at = u->written;

	u->written += len;
	if (u->written > MAX_SIZE)
		return kw_fail(u->ctx, KW_FORMAT, "%s: unpacks to more than 16 TiB: that is no memory",
			       u->memory->name);
	for (size_t done = 0; done < len;) {
		size_t part = len - done < PAGE_BYTES ? len - done : PAGE_BYTES;
		ssize_t put = (ssize_t)part;

		if (!is_zeros(bytes + done, part))
			put = pwrite(u->out, bytes + done, part, (off_t)(at + done));
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return kw_fail(
				u->ctx, KW_UNREADABLE,
				"%s: unpacking it into %s: %s after %llu MiB; set TMPDIR to a folder with "
				"more room, or unpack it yourself",
				u->memory->name, u->folder, strerror(put ? errno : ENOSPC),
				(unsigned long long)((at + done) >> 20));
		done += (size_t)put;
	}
	return KW_OK;
}

/* Read the next piece of the file; *ret_more is false at its end. */
static kw_status read_piece(struct unpacking *u, bool *ret_more)
{
	ssize_t got;

	do
		got = pread(u->memory->fd, u->in, sizeof(u->in), (off_t)u->done);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return kw_fail_errno(u->ctx, errno, "%s", u->memory->name);
	u->len = (size_t)got;
	u->done += (uint64_t)got;
	*ret_more = got > 0;
	if (u->opts && u->opts->progress)
		u->opts->progress(u->opts->progress_arg, u->done, u->memory->file_size);
	return KW_OK;
}

static kw_status damaged(struct unpacking *u, const char *with)
{
	return kw_fail(
		u->ctx, KW_FORMAT,
		"%s: what is compressed with %s in it is damaged, after %llu MiB of what it unpacks to",
		u->memory->name, with, (unsigned long long)(u->written >> 20));
}

static kw_status cut_short(struct unpacking *u, const char *with)
{
	return kw_fail(
		u->ctx, KW_FORMAT,
		"%s: what is compressed with %s in it was cut short, after %llu MiB of what it unpacks to",
		u->memory->name, with, (unsigned long long)(u->written >> 20));
}

/* Unpack what is in u->in; *ended is true between two streams, which may follow each other. */
static kw_status inflate_piece(struct unpacking *u, z_stream *z, bool *ended)
{
	kw_status status = KW_OK;

	z->next_in = u->in;
	z->avail_in = (uInt)u->len;
	while (status == KW_OK && z->avail_in) {
		int code;

		if (*ended && inflateReset(z) != Z_OK)
			return kw_fail_nomem(u->ctx);
		z->next_out = u->piece;
		z->avail_out = sizeof(u->piece);
		code = inflate(z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
			return damaged(u, "gzip");
		*ended = code == Z_STREAM_END;
		status = write_piece(u, u->piece, sizeof(u->piece) - z->avail_out);
	}
	return status;
}

static kw_status unpack_gzip(struct unpacking *u)
{
	z_stream z = { 0 };
	bool more = true, ended = false;
	kw_status status;

	if (inflateInit2(&z, GZIP) != Z_OK)
		return kw_fail_nomem(u->ctx);
	status = read_piece(u, &more);
	while (status == KW_OK && more) {
		status = inflate_piece(u, &z, &ended);
		if (status == KW_OK)
			status = read_piece(u, &more);
	}
	inflateEnd(&z);
	return status == KW_OK && !ended ? cut_short(u, "gzip") : status;
}

/* What is used of libzstd here. */
struct zstd {
	void *(*create)(void);
	size_t (*free)(void *stream);
	size_t (*unpack)(void *stream, struct zstd_out *out, struct zstd_in *in);
	unsigned int (*is_error)(size_t code);
};

static bool load_zstd(struct zstd *zstd)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&zstd->create = dlsym(library, "ZSTD_createDStream");
	*(void **)&zstd->free = dlsym(library, "ZSTD_freeDStream");
	*(void **)&zstd->unpack = dlsym(library, "ZSTD_decompressStream");
	*(void **)&zstd->is_error = dlsym(library, "ZSTD_isError");
	return zstd->create && zstd->free && zstd->unpack && zstd->is_error;
}

/* Unpack what is in u->in; *left is 0 between two frames, which may follow each other. */
static kw_status zstd_piece(struct unpacking *u, const struct zstd *zstd, void *stream, size_t *left)
{
	struct zstd_in in = { u->in, u->len, 0 };
	struct zstd_out out;
	kw_status status = KW_OK;

	do {
		out = (struct zstd_out){ u->piece, sizeof(u->piece), 0 };
		*left = zstd->unpack(stream, &out, &in);
		if (zstd->is_error(*left))
			return damaged(u, "zstd");
		status = write_piece(u, u->piece, out.at);
	} while (status == KW_OK && (in.at < in.size || (*left && out.at == out.size)));
	return status;
}

static kw_status unpack_zstd(struct unpacking *u)
{
	struct zstd zstd;
	void *stream;
	bool more = true;
	size_t left = 1;
	kw_status status;

	if (!load_zstd(&zstd))
		return kw_fail(
			u->ctx, KW_UNSUPPORTED,
			"%s: is compressed with zstd, and libzstd.so.1 is not there; install libzstd1, or "
			"unpack it first",
			u->memory->name);
	stream = zstd.create();
	if (!stream)
		return kw_fail_nomem(u->ctx);
	status = read_piece(u, &more);
	while (status == KW_OK && more) {
		status = zstd_piece(u, &zstd, stream, &left);
		if (status == KW_OK)
			status = read_piece(u, &more);
	}
	zstd.free(stream);
	return status == KW_OK && left ? cut_short(u, "zstd") : status;
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
	uint8_t head[4];
	kw_status status;

	if (!u)
		return kw_fail_nomem(ctx);
	u->ctx = ctx;
	u->memory = memory;
	u->opts = opts;
	u->folder = temporary_folder();
	u->out = make_temporary(u->folder);
	if (u->out < 0)
		status = kw_fail_errno(ctx, errno, "%s: making a file to unpack it into, in %s", memory->name,
				       u->folder);
	else if (kw_read_file(memory->fd, 0, head, sizeof(head)))
		status = cut_short(u, "gzip or zstd");
	else
		status = is_gzip(head, sizeof(head)) ? unpack_gzip(u) : unpack_zstd(u);
	if (status == KW_OK && ftruncate(u->out, (off_t)u->written))
		status = kw_fail_errno(ctx, errno, "%s: unpacking it", memory->name);
	if (status == KW_OK) {
		close(memory->fd);
		memory->fd = u->out;
		memory->file_size = u->written;
		memory->unpacked = true;
	} else if (u->out >= 0) {
		close(u->out);
	}
	free(u);
	return status;
}
