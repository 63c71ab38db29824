/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LZO1X streams, as the kernel's documentation of the format (staging/lzo.rst) describes them.
 *
 *   first byte    18 and more: that less 17 literals
 *   0000....      how many literals went before tells: none, a run of literals of 3 and more; 1 to 3, a copy of 2 bytes
 *                 from at most 1 KiB back; 4 and more, a copy of 3 bytes from 2 to 3 KiB back
 *   0001HLLL      copy of 2 and more bytes from 16 to 48 KiB back; from 16 KiB exactly: the end of the stream
 *   001LLLLL      copy of 2 and more bytes from at most 16 KiB back
 *   01LDDDSS      copy of 3 or 4 bytes from at most 2 KiB back
 *   1LLDDDSS      copy of 5 to 8 bytes from at most 2 KiB back
 *
 * A length that does not fit its bits goes on in bytes: 255 for each zero, then the last. Every copy is followed by 0 to
 * 3 literals, which its lowest distance bits count.
 */
#include <string.h>

#include "memory/unpack.h"

#define MANY 4 /* literals, of which it does not matter how many */

struct stream {
	const uint8_t *in, *in_end;
	uint8_t *start, *out, *out_end;
	unsigned int literals; /* that the last instruction copied, MANY at most */
	bool ended;
};

static bool literals(struct stream *s, size_t size)
{
	if (size > (size_t)(s->in_end - s->in) || size > (size_t)(s->out_end - s->out))
		return false;
	memcpy(s->out, s->in, size);
	s->in += size;
	s->out += size;
	s->literals = size < MANY ? (unsigned int)size : MANY;
	return true;
}

static bool copy(struct stream *s, size_t size, size_t distance, unsigned int then)
{
	const uint8_t *from = s->out - distance;

	if (distance > (size_t)(s->out - s->start) || size > (size_t)(s->out_end - s->out))
		return false;
	/* It may overlap with what it makes. */
	for (size_t i = 0; i < size; i++)
		s->out[i] = from[i];
	s->out += size;
	return literals(s, then);
}

static bool next(struct stream *s, unsigned int *ret)
{
	if (s->in == s->in_end)
		return false;
	*ret = *s->in++;
	return true;
}

/* The length in the low bits of an instruction, or in the bytes behind it. */
static bool length(struct stream *s, unsigned int bits, unsigned int mask, size_t *ret)
{
	size_t size = bits & mask;
	unsigned int byte = 0;

	if (!size) {
		size = mask;
		while (next(s, &byte) && !byte)
			size += 255;
		if (!byte)
			return false;
		size += byte;
	}
	*ret = size;
	return true;
}

static bool far_copy(struct stream *s, unsigned int code)
{
	unsigned int low, high;
	size_t size, distance;

	if (!length(s, code, code < 32 ? 7 : 31, &size) || !next(s, &low) || !next(s, &high))
		return false;
	distance = low >> 2 | high << 6;
	if (code >= 32)
		return copy(s, size + 2, distance + 1, low & 3);
	distance += 16384 + ((size_t)(code & 8) << 11);
	if (distance != 16384)
		return copy(s, size + 2, distance, low & 3);
	s->ended = true;
	return size == 1;
}

static bool near_copy(struct stream *s, unsigned int code)
{
	unsigned int high;

	if (!next(s, &high))
		return false;
	if (code >= 64)
		return copy(s, (code >> 5) + 1, (high << 3) + (code >> 2 & 7) + 1, code & 3);
	if (s->literals == MANY)
		return copy(s, 3, (high << 2) + (code >> 2) + 2049, code & 3);
	return copy(s, 2, (high << 2) + (code >> 2) + 1, code & 3);
}

static bool instruction(struct stream *s)
{
	unsigned int code;
	size_t size;

	if (!next(s, &code))
		return false;
	if (code >= 16 && code < 64)
		return far_copy(s, code);
	if (code >= 64 || s->literals)
		return near_copy(s, code);
	return length(s, code, 15, &size) && literals(s, size + 3);
}

bool unpack_lzo(const uint8_t *packed, size_t len, uint8_t *ret, size_t size)
{
	struct stream s = { packed, packed + len, ret, ret, ret + size, 0, false };

	if (len && *packed > 17) {
		s.in++;
		if (!literals(&s, *packed - 17u))
			return false;
	}
	while (!s.ended)
		if (!instruction(&s))
			return false;
	return s.in == s.in_end && s.out == s.out_end;
}
