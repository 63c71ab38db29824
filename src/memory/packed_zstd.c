/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files compressed with zstd: one frame, or several behind each other. The library is loaded when it is needed. */
#include <dlfcn.h>

#include "memory/packed_file.h"
#include "util/error.h"

/* The buffers of libzstd's streams. */
struct zstd_in {
	const void *bytes;
	size_t size, at;
};

struct zstd_out {
	void *bytes;
	size_t size, at;
};

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

/* Unpack what is in u->in; *left is 0 between two frames. */
static kw_status zstd_piece(struct unpacking *u, const struct zstd *zstd, void *stream, size_t *left)
{
	struct zstd_in in = { u->in, u->len, 0 };
	struct zstd_out out;
	kw_status status = KW_OK;

	do {
		out = (struct zstd_out){ u->piece, sizeof(u->piece), 0 };
		*left = zstd->unpack(stream, &out, &in);
		if (zstd->is_error(*left))
			return packed_damaged(u, &kw_packing_zstd);
		status = packed_write(u, u->piece, out.at);
	} while (status == KW_OK && (in.at < in.size || (*left && out.at == out.size)));
	return status;
}

static kw_status unpack_zstd(struct unpacking *u)
{
	struct zstd zstd;
	void *stream;
	size_t left = 1;
	kw_status status = KW_OK;

	if (!load_zstd(&zstd))
		return packed_without(u, &kw_packing_zstd, "libzstd.so.1", "libzstd1");
	stream = zstd.create();
	if (!stream)
		return kw_fail_nomem(u->ctx);
	while (status == KW_OK && u->len) {
		status = zstd_piece(u, &zstd, stream, &left);
		if (status == KW_OK)
			status = packed_read(u);
	}
	zstd.free(stream);
	return status == KW_OK && left ? packed_cut_short(u, &kw_packing_zstd) : status;
}

const struct file_packing kw_packing_zstd = { "zstd", "\x28\xb5\x2f\xfd", 4, "compressed file", unpack_zstd };
