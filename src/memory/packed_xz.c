/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files compressed with xz: one stream, or several behind each other. The library is loaded when it is needed. */
#include <dlfcn.h>

#include "memory/packed_file.h"
#include "util/error.h"

/* What unpacking may take: xz -9 needs 65 MiB, a file that was made to harm could ask for 4 GiB. */
#define MAX_MEMORY (512ULL << 20)

/* liblzma's stream, as its ABI has it since 5.0. */
struct lzma_stream {
	const uint8_t *next_in;
	size_t avail_in;
	uint64_t total_in;
	uint8_t *next_out;
	size_t avail_out;
	uint64_t total_out;
	const void *allocator;
	void *internal;
	void *reserved_pointer[4];
	uint64_t seek_position, reserved_u64;
	size_t reserved_size[2];
	int reserved_enum[2];
};

enum lzma_action { LZMA_RUN = 0, LZMA_FINISH = 3 };
enum lzma_code {
	LZMA_OK = 0,
	LZMA_STREAM_END = 1,
	LZMA_MEM_ERROR = 5,
	LZMA_MEMLIMIT_ERROR = 6,
	LZMA_OPTIONS_ERROR = 8,
	LZMA_BUF_ERROR = 10,
};
#define LZMA_CONCATENATED 0x08U

/* What is used of liblzma here. */
struct lzma {
	int (*begin)(struct lzma_stream *stream, uint64_t max_memory, uint32_t flags);
	int (*code)(struct lzma_stream *stream, int action);
	void (*end)(struct lzma_stream *stream);
};

static bool load_lzma(struct lzma *lzma)
{
	void *library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&lzma->begin = dlsym(library, "lzma_stream_decoder");
	*(void **)&lzma->code = dlsym(library, "lzma_code");
	*(void **)&lzma->end = dlsym(library, "lzma_end");
	return lzma->begin && lzma->code && lzma->end;
}

static kw_status fail_of(struct unpacking *u, int code)
{
	switch (code) {
	case LZMA_MEM_ERROR: return kw_fail_nomem(u->ctx);
	case LZMA_MEMLIMIT_ERROR:
		return kw_fail(u->ctx, KW_UNSUPPORTED,
			       "%s: needs more than %u MiB of memory to be unpacked; unpack it first (xz -d)",
			       u->memory->name, (unsigned int)(MAX_MEMORY >> 20));
	case LZMA_OPTIONS_ERROR:
		return kw_fail(
			u->ctx, KW_UNSUPPORTED,
			"%s: is compressed with a newer xz than liblzma.so.5 knows; unpack it first (xz -d)",
			u->memory->name);
	/* There is no more to read. */
	case LZMA_BUF_ERROR: return packed_cut_short(u, &kw_packing_xz);
	default: return packed_damaged(u, &kw_packing_xz);
	}
}

/* Unpack what is in u->in; at the end of the file nothing is, and what the library has kept comes out. */
static kw_status lzma_piece(struct unpacking *u, const struct lzma *lzma, struct lzma_stream *stream)
{
	int action = u->len ? LZMA_RUN : LZMA_FINISH, code;
	kw_status status;

	stream->next_in = u->in;
	stream->avail_in = u->len;
	do {
		stream->next_out = u->piece;
		stream->avail_out = sizeof(u->piece);
		code = lzma->code(stream, action);
		if (code != LZMA_OK && code != LZMA_STREAM_END)
			return fail_of(u, code);
		status = packed_write(u, u->piece, sizeof(u->piece) - stream->avail_out);
	} while (status == KW_OK && code == LZMA_OK &&
		 (stream->avail_in || !stream->avail_out || action == LZMA_FINISH));
	return status;
}

static kw_status unpack_xz(struct unpacking *u)
{
	struct lzma_stream stream = { 0 };
	struct lzma lzma;
	kw_status status = KW_OK;
	bool more = true;

	if (!load_lzma(&lzma))
		return packed_without(u, &kw_packing_xz, "liblzma.so.5", "liblzma5");
	if (lzma.begin(&stream, MAX_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
		return kw_fail_nomem(u->ctx);
	while (status == KW_OK && more) {
		more = u->len;
		status = lzma_piece(u, &lzma, &stream);
		if (status == KW_OK && more)
			status = packed_read(u);
	}
	lzma.end(&stream);
	return status;
}

const struct file_packing kw_packing_xz = { "xz",
					    "\xfd"
					    "7zXZ\0",
					    6, "compressed file", unpack_xz };
