/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snappy blocks.
 *
 *   length      of what comes out: 7 bits a byte, the lowest first, the top bit set in all but the last
 *   elements    the low two bits of the first byte tell the kind:
 *     0         literal: length - 1 in the upper six bits, or, from 60 on, in the 1 to 4 bytes that follow; the bytes
 *     1         copy: length - 4 in three bits, distance in the upper three bits and a byte
 *     2, 3      copy: length - 1 in six bits, distance in 2 or 4 bytes
 */
#include <string.h>

#include "memory/unpack.h"

struct stream {
	const uint8_t *in, *in_end;
	uint8_t *start, *out, *out_end;
};

static bool read_length(struct stream *s, uint64_t *ret)
{
	uint64_t length = 0;

	for (unsigned int shift = 0; shift < 35; shift += 7) {
		if (s->in == s->in_end)
			return false;
		length |= (uint64_t)(*s->in & 0x7f) << shift;
		if (!(*s->in++ & 0x80)) {
			*ret = length;
			return true;
		}
	}
	return false;
}

/* Read a number of `size` bytes, the lowest first. */
static bool read_number(struct stream *s, size_t size, uint32_t *ret)
{
	uint32_t number = 0;

	if ((size_t)(s->in_end - s->in) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		number |= (uint32_t)*s->in++ << 8 * i;
	*ret = number;
	return true;
}

static bool literal(struct stream *s, uint32_t code)
{
	uint32_t last = code;
	size_t size;

	if (code >= 60 && !read_number(s, code - 59, &last))
		return false;
	if (last >= (size_t)(s->in_end - s->in) || last >= (size_t)(s->out_end - s->out))
		return false;
	size = (size_t)last + 1;
	memcpy(s->out, s->in, size);
	s->out += size;
	s->in += size;
	return true;
}

static bool copy(struct stream *s, size_t size, size_t distance)
{
	const uint8_t *from = s->out - distance;

	if (!distance || distance > (size_t)(s->out - s->start) || size > (size_t)(s->out_end - s->out))
		return false;
	/* It may overlap with what it makes. */
	for (size_t i = 0; i < size; i++)
		s->out[i] = from[i];
	s->out += size;
	return true;
}

static bool element(struct stream *s)
{
	uint8_t tag = *s->in++;
	uint32_t distance;

	switch (tag & 3) {
	case 0: return literal(s, tag >> 2);
	case 1:
		if (!read_number(s, 1, &distance))
			return false;
		return copy(s, (size_t)(tag >> 2 & 7) + 4, (size_t)(tag >> 5) << 8 | distance);
	default:
		if (!read_number(s, (tag & 3) == 2 ? 2 : 4, &distance))
			return false;
		return copy(s, (size_t)(tag >> 2) + 1, distance);
	}
}

bool unpack_snappy(const uint8_t *packed, size_t len, uint8_t *ret, size_t size)
{
	struct stream s = { packed, packed + len, ret, ret, ret + size };
	uint64_t promised;

	if (!read_length(&s, &promised) || promised != size)
		return false;
	while (s.in < s.in_end)
		if (!element(&s))
			return false;
	return s.out == s.out_end;
}
