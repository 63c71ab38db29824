/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers out of bytes that need not be aligned, in the byte order of x86-64, the kernel's and ours. */
#ifndef UTIL_BYTES_H
#define UTIL_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t kw_load_u16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t kw_load_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t kw_load_u64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

#endif
