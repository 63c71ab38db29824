/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading: a virtual address is looked up among the virtual segments, then in the page table; what it leads to is a
 * pointer into a mapping, or bytes copied from one or read from the file.
 *
 * A copy from a mapping is checked after it was made: a page that failed while it was copied reads as zeros, and the
 * count of failed pages tells.
 */
#include <string.h>

#include "memory/view.h"
#include "util/error.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline void populate_segment(const struct kw_memory *memory, const struct kw_segment *segment,
				    uint64_t skip, size_t len)
{
	if (__builtin_expect(!len || populate_done(&memory->populate, segment->offset + skip, len), 1))
		return;
	populate_range(&memory->populate, segment->map, segment->offset, segment->size,
		       segment->offset + skip, len);
}

/* The pointer that a segment gives to a range which lies in it, or NULL. */
static inline const void *view_in(const struct kw_memory *memory, const struct kw_segment *segment,
				  uint64_t skip, size_t len)
{
	const uint8_t *start;

	if (!segment->map)
		return NULL;
	populate_segment(memory, segment, skip, len);
	start = segment->map + skip;
	if (__builtin_expect(guard_faults(&memory->guard) != 0, 0) &&
	    guard_range_failed(&memory->guard, start, len))
		return NULL;
	return start;
}

static inline bool holds(const struct kw_segment *segment, uint64_t skip, size_t len)
{
	return skip < segment->size && len <= segment->size - skip;
}

static const struct kw_segment *find_virtual(struct kw_reader *reader, uint64_t addr)
{
	const struct kw_segment *last = reader->virt_hit, *segment = reader->virt_before;

	if (addr - last->vaddr < last->size)
		return last;
	if (addr - segment->vaddr >= segment->size)
		segment = segments_find(&reader->memory->virt, VIRTUAL, addr);
	if (!segment)
		segment = hotplug_find(&reader->memory->hotplug, VIRTUAL, addr);
	if (segment) {
		reader->virt_before = last;
		reader->virt_hit = segment;
	}
	return segment;
}

static const struct kw_segment *find_physical(struct kw_reader *reader, uint64_t paddr)
{
	const struct kw_segment *segment = reader->phys_hit;

	if (paddr - segment->paddr < segment->size)
		return segment;
	segment = segments_find(&reader->memory->phys, PHYSICAL, paddr);
	if (!segment)
		segment = hotplug_find(&reader->memory->hotplug, PHYSICAL, paddr);
	if (segment)
		reader->phys_hit = segment;
	return segment;
}

const void *kw_view_phys(kw_ctx *ctx, uint64_t paddr, size_t len)
{
	const struct kw_segment *segment = find_physical(ctx->reader, paddr);

	if (!segment || !holds(segment, paddr - segment->paddr, len))
		return NULL;
	return view_in(ctx->reader->memory, segment, paddr - segment->paddr, len);
}

static const void *view_elsewhere(kw_ctx *ctx, uint64_t addr, size_t len)
{
	const struct kw_segment *segment = find_virtual(ctx->reader, addr);
	uint64_t paddr, left;

	if (segment && holds(segment, addr - segment->vaddr, len))
		return view_in(ctx->reader->memory, segment, addr - segment->vaddr, len);
	if (segment || kw_translate_page(ctx, addr, &paddr, &left) != KW_OK || len > left)
		return NULL;
	return kw_view_phys(ctx, paddr, len);
}

static inline const void *view(kw_ctx *ctx, uint64_t addr, size_t len)
{
	const struct kw_reader *reader = ctx->reader;
	const struct kw_segment *segment = reader->virt_hit;
	uint64_t skip = addr - segment->vaddr;

	if (__builtin_expect(holds(segment, skip, len) && segment->map, 1))
		return view_in(reader->memory, segment, skip, len);
	return view_elsewhere(ctx, addr, len);
}

const void *kw_view(kw_ctx *ctx, uint64_t addr, size_t len)
{
	return ctx->reader ? view(ctx, addr, len) : NULL;
}

static kw_status copy_mapped(const struct kw_memory *memory, const uint8_t *start, void *buf, size_t len)
{
	uint64_t before = guard_faults(&memory->guard);

	if (before && guard_range_failed(&memory->guard, start, len))
		return KW_FAILED;
	memcpy(buf, start, len);
	/* Pairs with the handler, which counts before it puts zeros in place. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (guard_faults(&memory->guard) != before && guard_range_failed(&memory->guard, start, len))
		return KW_FAILED;
	return KW_OK;
}

/* Copy a range that lies in one segment. */
static kw_status read_segment(kw_ctx *ctx, const struct kw_segment *segment, uint64_t skip, void *buf,
			      size_t len)
{
	if (segment->offset == KW_NO_ADDR)
		return KW_EXCLUDED;
	if (segment->map && !ctx->reader->memory->once) {
		populate_segment(ctx->reader->memory, segment, skip, len);
		/* What the mapping refuses, the file may give: the module's device refuses more than /proc/kcore does. */
		if (copy_mapped(ctx->reader->memory, segment->map + skip, buf, len) == KW_OK)
			return KW_OK;
	}
	return kw_read_cached(ctx, segment->offset + skip, buf, len);
}

static kw_status read_physical(kw_ctx *ctx, uint64_t paddr, uint8_t *buf, size_t len)
{
	while (len) {
		const struct kw_segment *segment = find_physical(ctx->reader, paddr);
		uint64_t skip, part;
		kw_status status;

		if (!segment)
			return KW_ABSENT;
		skip = paddr - segment->paddr;
		part = min_u64(len, segment->size - skip);
		status = read_segment(ctx, segment, skip, buf, part);
		if (status != KW_OK)
			return status;
		paddr += part;
		buf += part;
		len -= part;
	}
	return KW_OK;
}

/* Copy the beginning of a range whose first byte is in no virtual segment. */
static kw_status read_translated(kw_ctx *ctx, uint64_t addr, void *buf, size_t len, size_t *ret_part)
{
	uint64_t paddr, left, next = segments_next_start(&ctx->reader->memory->virt, VIRTUAL, addr);
	kw_status status = kw_translate_page(ctx, addr, &paddr, &left);

	if (status != KW_OK)
		return status;
	*ret_part = min_u64(len, left);
	/* Without a next one, the last byte of all would be left with a part of none. */
	if (next != UINT64_MAX)
		*ret_part = min_u64(*ret_part, next - addr);
	return read_physical(ctx, paddr, buf, *ret_part);
}

static kw_status read_virtual(kw_ctx *ctx, uint64_t addr, uint8_t *buf, size_t len)
{
	while (len) {
		const struct kw_segment *segment = find_virtual(ctx->reader, addr);
		kw_status status;
		size_t part = 0;

		if (segment) {
			part = min_u64(len, segment->size - (addr - segment->vaddr));
			status = read_segment(ctx, segment, addr - segment->vaddr, buf, part);
		} else {
			status = read_translated(ctx, addr, buf, len, &part);
		}
		if (status != KW_OK)
			return status;
		addr += part;
		buf += part;
		len -= part;
	}
	return KW_OK;
}

typedef kw_status (*read_function)(kw_ctx *ctx, uint64_t addr, uint8_t *buf, size_t len);

static kw_status read_in_pass(kw_ctx *ctx, uint64_t addr, void *buf, size_t len, read_function read)
{
	kw_status status;

	if (!ctx->reader)
		return kw_fail(ctx, KW_INVALID, "nothing is open");
	/* A range that wraps has no memory at its end. */
	if (len && addr > UINT64_MAX - (len - 1))
		return KW_ABSENT;
	if (ctx->reader->depth)
		return read(ctx, addr, buf, len);
	kw_pass_begin(ctx);
	ctx->reader->brief = true;
	status = read(ctx, addr, buf, len);
	ctx->reader->brief = false;
	kw_pass_end(ctx);
	return status;
}

kw_status kw_read(kw_ctx *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct kw_reader *reader = ctx->reader;
	const struct kw_segment *segment = reader ? reader->virt_hit : NULL;
	uint64_t skip = segment ? addr - segment->vaddr : 0;

	ctx->reads++;
	if (segment && reader->depth && holds(segment, skip, len) && segment->map)
		return read_segment(ctx, segment, skip, buf, len);
	return read_in_pass(ctx, addr, buf, len, read_virtual);
}

kw_status kw_read_phys(kw_ctx *ctx, uint64_t paddr, void *buf, size_t len)
{
	ctx->reads++;
	return read_in_pass(ctx, paddr, buf, len, read_physical);
}

kw_status kw_scan_phys(kw_ctx *ctx, uint64_t paddr, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		const struct kw_segment *segment = find_physical(ctx->reader, paddr);
		uint64_t skip, part;
		kw_status status;

		if (!segment)
			return KW_ABSENT;
		skip = paddr - segment->paddr;
		part = min_u64(len, segment->size - skip);
		status = segment->offset == KW_NO_ADDR
				 ? KW_EXCLUDED
				 : kw_read_cached(ctx, segment->offset + skip, to, part);
		if (status != KW_OK)
			return status;
		paddr += part;
		to += part;
		len -= part;
	}
	return KW_OK;
}

size_t kw_scan_around(kw_ctx *ctx, uint64_t paddr, void *buf, size_t len)
{
	uint8_t *to = buf;
	size_t missing = 0;

	if (kw_scan_phys(ctx, paddr, buf, len) == KW_OK)
		return 0;
	while (len) {
		size_t part = min_u64(len, PAGE_BYTES - paddr % PAGE_BYTES);

		if (kw_scan_phys(ctx, paddr, to, part) != KW_OK) {
			memset(to, KW_SCAN_GAP, part);
			missing += part;
		}
		paddr += part;
		to += part;
		len -= part;
	}
	return missing;
}

const void *kw_fetch(kw_ctx *ctx, uint64_t addr, size_t len, void *scratch, kw_status *ret_status)
{
	const void *found = ctx->reader->memory->once ? NULL : view(ctx, addr, len);
	kw_status status;

	if (found)
		return found;
	status = kw_read(ctx, addr, scratch, len);
	if (status == KW_OK)
		return scratch;
	*ret_status = status;
	return NULL;
}

/* The first look finds the segment, so that the second sees it at hand: what was translated is not. */
const uint8_t *kw_pin(kw_ctx *ctx, struct kw_pin *pin, uint64_t addr, size_t len, void *scratch,
		      kw_status *ret_status)
{
	if (!kw_faults_now(ctx) && view(ctx, addr, len))
		pin->at = kw_view_at_hand(ctx, addr, len);
	return kw_faults_now(ctx) || !pin->at ? kw_look(ctx, addr, len, scratch, ret_status) : pin->at;
}

/* Read a string page by page; *ret_len is what has been had, whatever is returned. */
static kw_status read_string(kw_ctx *ctx, uint64_t addr, char *buf, size_t size, size_t *ret_len)
{
	size_t len = 0;
	kw_status status = KW_OK;

	while (len < size) {
		size_t part = min_u64(size - len, PAGE_BYTES - addr % PAGE_BYTES);
		const char *end;

		status = kw_read(ctx, addr, buf + len, part);
		if (status != KW_OK)
			break;
		end = memchr(buf + len, '\0', part);
		if (end) {
			len = (size_t)(end - buf);
			break;
		}
		len += part;
		addr += part;
	}
	*ret_len = len;
	return len ? KW_OK : status;
}

kw_status kw_read_string(kw_ctx *ctx, uint64_t addr, char *buf, size_t size)
{
	size_t len;
	kw_status status;

	if (!size || !ctx->reader)
		return kw_fail(ctx, KW_INVALID, size ? "nothing is open" : "no room for a string");
	kw_pass_begin(ctx);
	status = read_string(ctx, addr, buf, size - 1, &len);
	kw_pass_end(ctx);
	buf[len] = '\0';
	return status;
}

kw_status kw_translate(kw_ctx *ctx, uint64_t addr, uint64_t *ret_paddr)
{
	const struct kw_segment *segment;
	uint64_t left;
	kw_status status;

	if (!ctx->reader)
		return kw_fail(ctx, KW_INVALID, "nothing is open");
	segment = find_virtual(ctx->reader, addr);
	if (segment && segment->paddr != KW_NO_ADDR) {
		*ret_paddr = segment->paddr + (addr - segment->vaddr);
		return KW_OK;
	}
	kw_pass_begin(ctx);
	status = kw_translate_page(ctx, addr, ret_paddr, &left);
	kw_pass_end(ctx);
	return status;
}
