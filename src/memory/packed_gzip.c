/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files compressed with gzip: one stream, or several behind each other. */
#include <zlib.h>

#include "memory/packed_file.h"
#include "util/error.h"

#define GZIP (16 + 15) /* window bits that mean gzip's format */

/* Unpack what is in u->in; *ended is true between two streams. */
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
			return packed_damaged(u, &kw_packing_gzip);
		*ended = code == Z_STREAM_END;
		status = packed_write(u, u->piece, sizeof(u->piece) - z->avail_out);
	}
	return status;
}

static kw_status unpack_gzip(struct unpacking *u)
{
	z_stream z = { 0 };
	bool ended = false;
	kw_status status = KW_OK;

	if (inflateInit2(&z, GZIP) != Z_OK)
		return kw_fail_nomem(u->ctx);
	while (status == KW_OK && u->len) {
		status = inflate_piece(u, &z, &ended);
		if (status == KW_OK)
			status = packed_read(u);
	}
	inflateEnd(&z);
	return status == KW_OK && !ended ? packed_cut_short(u, &kw_packing_gzip) : status;
}

const struct file_packing kw_packing_gzip = { "gzip", "\x1f\x8b\x08", 3, "compressed file", unpack_gzip };
