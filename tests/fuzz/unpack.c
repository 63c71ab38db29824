/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packed blocks: the first byte says how, the next two how much is to come out. Nothing is read or written beside the
 * buffers, and what comes out is the same twice.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/unpack.h"

#define MAX_OUT 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unpacker *unpacker;
	uint8_t *in, *out[2];
	size_t want;
	bool done[2];

	if (size < 3 || data[0] > PACKED_ZSTD)
		return -1;
	want = data[1] | (size_t)data[2] << 8;
	unpacker = unpacker_new();
	/* Of the exact sizes, so that a sanitizer sees a byte beside them. */
	in = malloc(size - 3 + !(size - 3));
	if (!unpacker || !in)
		abort();
	memcpy(in, data + 3, size - 3);
	for (int i = 0; i < 2; i++) {
		out[i] = malloc(want + !want);
		if (!out[i])
			abort();
		memset(out[i], i ? 0x55 : 0xaa, want + !want);
		done[i] = unpack(unpacker, data[0], in, size - 3, out[i], want);
	}
	if (done[0] != done[1] || (done[0] && memcmp(out[0], out[1], want)))
		abort();
	free(out[0]);
	free(out[1]);
	free(in);
	unpacker_free(unpacker);
	return 0;
}
