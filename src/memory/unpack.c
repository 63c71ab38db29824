/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decompressing blocks: zlib is there anyway, as libelf needs it; libzstd is loaded when the first block wants it, so
 * that no other start pays for it; LZO and snappy are small enough to be read here.
 */
#include "memory/unpack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

/* What is used of libzstd, whose interface has been stable since 1.0. */
static struct {
	void *(*create)(void);
	size_t (*free)(void *context);
	size_t (*unpack)(void *context, void *to, size_t size, const void *from, size_t len);
	unsigned int (*is_error)(size_t code);
	bool loaded;
} zstd;

static void load_zstd(void)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	*(void **)&zstd.create = dlsym(library, "ZSTD_createDCtx");
	*(void **)&zstd.free = dlsym(library, "ZSTD_freeDCtx");
	*(void **)&zstd.unpack = dlsym(library, "ZSTD_decompressDCtx");
	*(void **)&zstd.is_error = dlsym(library, "ZSTD_isError");
	zstd.loaded = zstd.create && zstd.free && zstd.unpack && zstd.is_error;
}

bool unpack_has_zstd(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_zstd);
	return zstd.loaded;
}

struct unpacker {
	z_stream zlib;
	bool has_zlib;
	void *zstd;
};

struct unpacker *unpacker_new(void)
{
	return calloc(1, sizeof(struct unpacker));
}

void unpacker_free(struct unpacker *unpacker)
{
	if (!unpacker)
		return;
	if (unpacker->has_zlib)
		inflateEnd(&unpacker->zlib);
	if (unpacker->zstd)
		zstd.free(unpacker->zstd);
	free(unpacker);
}

static bool unpack_zlib(struct unpacker *unpacker, const uint8_t *packed, size_t len, uint8_t *ret,
			size_t size)
{
	z_stream *z = &unpacker->zlib;

	if (len > UINT32_MAX || size > UINT32_MAX)
		return false;
	if (!unpacker->has_zlib)
		unpacker->has_zlib = inflateInit(z) == Z_OK;
	else if (inflateReset(z) != Z_OK)
		return false;
	if (!unpacker->has_zlib)
		return false;
	z->next_in = (Bytef *)packed;
	z->avail_in = (uInt)len;
	z->next_out = ret;
	z->avail_out = (uInt)size;
	/* The end of the stream holds a checksum, which this has compared. */
	return inflate(z, Z_FINISH) == Z_STREAM_END && !z->avail_out && !z->avail_in;
}

static bool unpack_zstd(struct unpacker *unpacker, const uint8_t *packed, size_t len, uint8_t *ret,
			size_t size)
{
	size_t got;

	if (!unpack_has_zstd())
		return false;
	if (!unpacker->zstd)
		unpacker->zstd = zstd.create();
	if (!unpacker->zstd)
		return false;
	got = zstd.unpack(unpacker->zstd, ret, size, packed, len);
	return !zstd.is_error(got) && got == size;
}

bool unpack(struct unpacker *unpacker, enum packing packing, const uint8_t *packed, size_t len, uint8_t *ret,
	    size_t size)
{
	switch (packing) {
	case PACKED_ZLIB: return unpack_zlib(unpacker, packed, len, ret, size);
	case PACKED_LZO: return unpack_lzo(packed, len, ret, size);
	case PACKED_SNAPPY: return unpack_snappy(packed, len, ret, size);
	case PACKED_ZSTD: return unpack_zstd(unpacker, packed, len, ret, size);
	}
	return false;
}
