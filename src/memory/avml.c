/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The snappy streams of AVML images (version 2), read through an index of their chunks.
 *
 *   a chunk   a byte for its kind, three for its size, then so many bytes
 *     0xff    "sNaPpY": a stream begins
 *     0, 1    a checksum of 4 bytes, then up to 64 KiB of data, packed (0) or not (1)
 *     0x80-   to be passed over
 *   8 bytes   behind the last chunk of a range: the size of its stream
 *
 * The checksum is CRC-32C of the unpacked bytes, turned by 15 bits and moved on.
 */
#include <string.h>

#include "memory/lime.h"
#include "util/array.h"
#include "util/error.h"

#define CRC_SIZE   4
#define MAX_PACKED (AVML_CHUNK + AVML_CHUNK / 6 + 32)

struct chunk {
	uint64_t at; /* of the checksum */
	uint32_t packed, size;
	bool is_packed;
};

struct avml {
	struct chunk *item;
	size_t nr, cap;
	int fd;
	uint64_t file_size;
};

struct avml *avml_new(int fd, uint64_t file_size)
{
	struct avml *avml = calloc(1, sizeof(*avml));

	if (avml) {
		avml->fd = fd;
		avml->file_size = file_size;
	}
	return avml;
}

void avml_free(void *source)
{
	struct avml *avml = source;

	free(avml->item);
	free(avml);
}

static bool add_segment(const struct avml *avml, struct kw_memory *memory, uint64_t paddr, uint64_t size)
{
	struct kw_segment segment = {
		.vaddr = KW_NO_ADDR,
		.paddr = paddr,
		.size = size,
		.offset = (uint64_t)avml->nr * AVML_CHUNK,
		.kind = KW_SEG_RAM,
	};

	return segments_add(&memory->phys, PHYSICAL, &segment);
}

/* How many bytes a block of snappy says that it unpacks to; 0 when it says nothing that can be. */
static uint32_t unpacked_size(const uint8_t *bytes, size_t len)
{
	uint32_t size = 0;

	for (size_t i = 0; i < len && i < 3; i++) {
		size |= (uint32_t)(bytes[i] & 0x7f) << 7 * i;
		if (!(bytes[i] & 0x80))
			return size <= AVML_CHUNK ? size : 0;
	}
	return 0;
}

/* A chunk's header and the first bytes behind it. */
struct head {
	uint8_t bytes[4 + CRC_SIZE + 3];
	size_t len;
	unsigned int kind;
	uint32_t size;
};

static bool read_head(const struct avml *avml, uint64_t at, struct head *ret)
{
	uint64_t left = at < avml->file_size ? avml->file_size - at : 0;

	ret->len = left < sizeof(ret->bytes) ? (size_t)left : sizeof(ret->bytes);
	if (ret->len < 4 || kw_read_file(avml->fd, at, ret->bytes, ret->len))
		return false;
	ret->kind = ret->bytes[0];
	ret->size = ret->bytes[1] | (uint32_t)ret->bytes[2] << 8 | (uint32_t)ret->bytes[3] << 16;
	return ret->size <= left - 4;
}

/* Fill in a chunk of data; false when it can't be one. */
static bool take_chunk(const struct head *head, uint64_t at, struct chunk *ret)
{
	if (head->size <= CRC_SIZE || head->size - CRC_SIZE > MAX_PACKED || head->len <= 4 + CRC_SIZE)
		return false;
	*ret = (struct chunk){ at + 4, head->size - CRC_SIZE, head->size - CRC_SIZE, head->kind == 0 };
	if (ret->is_packed)
		ret->size = unpacked_size(head->bytes + 4 + CRC_SIZE, head->len - 4 - CRC_SIZE);
	return ret->size && ret->size <= AVML_CHUNK;
}

static bool check_size(const struct avml *avml, uint64_t begin, uint64_t end)
{
	uint64_t size;

	/* The size itself may be what is cut off. */
	return kw_read_file(avml->fd, end, &size, sizeof(size)) || size == end - begin;
}

kw_status avml_add(kw_ctx *ctx, struct avml *avml, struct kw_memory *memory, const struct lime_header *header,
		   uint64_t begin, uint64_t *ret_end)
{
	uint64_t left = header->last - header->start + 1, at = begin;
	struct head head;

	while (left && read_head(avml, at, &head)) {
		struct chunk chunk;

		if (head.kind <= 1) {
			if (!take_chunk(&head, at, &chunk) || chunk.size > left)
				return KW_FORMAT;
			if (!add_segment(avml, memory, header->last - left + 1, chunk.size) ||
			    !kw_array_push(avml, chunk))
				return kw_fail_nomem(ctx);
			left -= chunk.size;
		} else if (head.kind < 0x80) {
			return KW_FORMAT;
		}
		at += 4 + (uint64_t)head.size;
	}
	*ret_end = left ? avml->file_size : at + 8;
	if (!left)
		return check_size(avml, begin, at) ? KW_OK : KW_FORMAT;
	/* The rest is behind the last chunk: it has failed. */
	memory->cut_off += left;
	return add_segment(avml, memory, header->last - left + 1, left) ? KW_OK : kw_fail_nomem(ctx);
}

static uint32_t crc32c(const uint8_t *bytes, size_t len)
{
	static const uint32_t half[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ half[crc & 15];
		crc = crc >> 4 ^ half[crc & 15];
	}
	return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc32c_fast(const uint8_t *bytes, size_t len)
{
	uint64_t crc = UINT32_MAX, word;

	for (; len >= sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		crc = __builtin_ia32_crc32di(crc, word);
	}
	while (len--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *bytes++);
	return ~(uint32_t)crc;
}
#endif

static bool is_sum_of(uint32_t masked, const uint8_t *bytes, size_t len)
{
	uint32_t crc;

#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		crc = crc32c_fast(bytes, len);
	else
#endif
		crc = crc32c(bytes, len);
	return masked == (crc >> 15 | crc << 17) + 0xa282ead8;
}

kw_status avml_decode(kw_ctx *ctx, const void *source, uint64_t nr, struct unpacker *unpacker, uint8_t *room,
		      uint8_t *ret)
{
	const struct avml *avml = source;
	const struct chunk *chunk;
	uint32_t masked;

	if (nr >= avml->nr)
		return KW_FAILED;
	chunk = &avml->item[nr];
	if (kw_read_file(avml->fd, chunk->at, room, CRC_SIZE + chunk->packed))
		return KW_FAILED;
	ctx->counters.preads++;
	ctx->counters.pread_bytes += CRC_SIZE + chunk->packed;
	memcpy(&masked, room, sizeof(masked));
	if (!chunk->is_packed)
		memcpy(ret, room + CRC_SIZE, chunk->size);
	else if (!unpack(unpacker, PACKED_SNAPPY, room + CRC_SIZE, chunk->packed, ret, chunk->size))
		return KW_FAILED;
	return is_sum_of(masked, ret, chunk->size) ? KW_OK : KW_FAILED;
}
