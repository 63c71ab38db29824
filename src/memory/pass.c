/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a context keeps while it reads: the reader, its passes, and the pages of the file that were read in this one.
 *
 * The cache holds pages by file offset, each in the one slot that its number gives. A read of a page or more goes
 * straight to the buffer of the caller, and so does one across two pages, or outside of a pass that the caller has
 * made. Measured on /proc/kcore of 6.1: 8 bytes cost 3.4 us, a page 4.7, so that a page pays with its second use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory/reader.h"
#include "util/error.h"

static const struct kw_segment nowhere = { .vaddr = KW_NO_ADDR, .paddr = KW_NO_ADDR };

/* Of a live memory before each pass: most need none. */
static void forget_translations(struct kw_reader *reader)
{
	if (!reader->has_translated)
		return;
	reader->has_translated = false;
	for (size_t i = 0; i < NR_TRANSLATIONS; i++)
		reader->translations[i].vaddr = KW_NO_ADDR;
}

void kw_reader_reset(struct kw_reader *reader)
{
	reader->virt_hit = reader->virt_before = &nowhere;
	reader->phys_hit = &nowhere;
	forget_translations(reader);
}

struct kw_reader *kw_reader_new(kw_ctx *ctx)
{
	struct kw_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->memory = ctx->target->memory;
	reader->epoch = 1;
	reader->has_translated = true; /* zeros are no empty entries */
	reader->faults_before = guard_faults(&reader->memory->guard);
	kw_reader_reset(reader);
	return reader;
}

void kw_reader_free(struct kw_reader *reader)
{
	if (!reader)
		return;
	free(reader->run);
	decoded_cache_free(reader->decoded);
	if (reader->page_bytes)
		munmap(reader->page_mapping, reader->page_mapping_size);
	free(reader);
}

/* Look for memory that has come or gone, not more often than a monitor could tell. */
static void follow(kw_ctx *ctx)
{
	struct kw_reader *reader = ctx->reader;
	struct timespec now;
	uint64_t ms;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (ms - reader->followed_ms < FOLLOW_MS)
		return;
	reader->followed_ms = ms;
	kw_kcore_follow(ctx, ctx->target->memory);
}

static void begin_epoch(kw_ctx *ctx)
{
	if (ctx->reader->memory->live)
		forget_translations(ctx->reader);
	if (ctx->reader->memory->kind == KW_SOURCE_LIVE)
		follow(ctx);
}

void kw_pass_begin(kw_ctx *ctx)
{
	struct kw_reader *reader = ctx->reader;

	if (!reader || reader->depth++)
		return;
	begin_epoch(ctx);
	if (reader->memory->guard.first)
		guard_enter();
}

static void count_faults(kw_ctx *ctx)
{
	ctx->counters.faults = guard_faults(&ctx->reader->memory->guard) - ctx->reader->faults_before;
}

void kw_pass_end(kw_ctx *ctx)
{
	struct kw_reader *reader = ctx->reader;

	if (!reader || !reader->depth || --reader->depth)
		return;
	if (reader->memory->guard.first)
		guard_leave();
	reader->epoch++;
	count_faults(ctx);
}

void kw_pass_renew(kw_ctx *ctx)
{
	if (!ctx->reader || !ctx->reader->depth)
		return;
	ctx->reader->epoch++;
	begin_epoch(ctx);
	count_faults(ctx);
}

uint64_t kw_fault_count(const kw_ctx *ctx)
{
	return guard_faults(&ctx->reader->memory->guard);
}

const struct kw_counters *kw_counters(kw_ctx *ctx)
{
	if (ctx->reader)
		count_faults(ctx);
	return &ctx->counters;
}

/* Read up to len bytes; -1 for an error, else how many there were. */
static ssize_t read_some(kw_ctx *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct kw_memory *memory = ctx->reader->memory;
	uint64_t shift = hotplug_shift(&memory->hotplug);
	size_t done = 0;

	if (memory->flat) {
		ctx->counters.preads++;
		ctx->counters.pread_bytes += len;
		return flat_read(memory->flat, memory->fd, offset, buf, len);
	}
	while (done < len) {
		ssize_t got =
			pread(memory->fd, (uint8_t *)buf + done, len - done, (off_t)(offset + shift + done));

		ctx->counters.preads++;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		ctx->counters.pread_bytes += (uint64_t)got;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

kw_status kw_read_straight(kw_ctx *ctx, uint64_t offset, void *buf, size_t len)
{
	if (ctx->reader->memory->decoded.source)
		return decoded_read(ctx, offset, buf, len);
	return read_some(ctx, offset, buf, len) == (ssize_t)len ? KW_OK : KW_FAILED;
}

static size_t slot_of(uint64_t offset)
{
	return offset / PAGE_BYTES % NR_CACHED_PAGES;
}

static bool is_cached(const struct kw_reader *reader, uint64_t offset)
{
	const struct cached_page *page = &reader->pages[slot_of(offset)];

	return page->epoch == reader->epoch && page->offset == offset;
}

/*
 * Only the pages that are used take memory, so that a short run costs little. Where much will be read, a huge page
 * saves a fault for each page.
 */
static bool make_cache(struct kw_reader *reader)
{
	size_t size = NR_CACHED_PAGES * PAGE_BYTES, spare = reader->memory->once ? size : 0;
	uint8_t *bytes = mmap(NULL, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return false;
	reader->page_mapping = bytes;
	reader->page_mapping_size = size + spare;
	reader->page_bytes = bytes;
	if (spare) {
		reader->page_bytes = bytes + (size - (uintptr_t)bytes % size) % size;
		madvise(reader->page_bytes, size, MADV_HUGEPAGE);
	}
	return true;
}

/*
 * Read the page at offset into its slot, and with it its neighbours when everything will be looked at once: objects of
 * a kind lie side by side. Neighbours have neighbouring slots.
 */
static bool read_pages(kw_ctx *ctx, uint64_t offset)
{
	struct kw_reader *reader = ctx->reader;
	uint64_t nr = reader->memory->once ? CLUSTER : 1, first = offset - offset % (nr * PAGE_BYTES);
	struct cached_page *page = &reader->pages[slot_of(first)];
	ssize_t got;

	for (uint64_t i = 0; i < nr; i++)
		page[i].epoch = 0;
	got = read_some(ctx, first, reader->page_bytes + slot_of(first) * PAGE_BYTES, nr * PAGE_BYTES);
	/* A neighbour that can't be read must not take the page with it. */
	if (got < 0 && nr > 1) {
		first = offset;
		nr = 1;
		page = &reader->pages[slot_of(first)];
		got = read_some(ctx, first, reader->page_bytes + slot_of(first) * PAGE_BYTES, PAGE_BYTES);
	}
	for (uint64_t i = 0; i < nr && got >= 0; i++) {
		uint64_t left = (uint64_t)got > i * PAGE_BYTES ? (uint64_t)got - i * PAGE_BYTES : 0;

		page[i] = (struct cached_page){ .offset = first + i * PAGE_BYTES,
						.epoch = reader->epoch,
						.len = (uint32_t)(left < PAGE_BYTES ? left : PAGE_BYTES) };
	}
	return got >= 0;
}

/* Return the bytes of the page at offset, from the cache or read into it; NULL when they can't be had. */
static const uint8_t *get_page(kw_ctx *ctx, uint64_t offset, uint32_t *ret_len)
{
	struct kw_reader *reader = ctx->reader;
	struct cached_page *page = &reader->pages[slot_of(offset)];
	uint8_t *bytes;

	if (!reader->page_bytes && !make_cache(reader))
		return NULL;
	bytes = reader->page_bytes + slot_of(offset) * PAGE_BYTES;
	if (is_cached(reader, offset)) {
		ctx->counters.cache_hits++;
	} else if (!read_pages(ctx, offset)) {
		return NULL;
	}
	*ret_len = page->len;
	return bytes;
}

/* True when one read of the range costs less than reading its pages. */
static bool goes_straight(const struct kw_reader *reader, uint64_t offset, size_t len)
{
	uint64_t skip = offset % PAGE_BYTES;

	if (reader->memory->decoded.source || reader->brief || len >= PAGE_BYTES ||
	    offset > INT64_MAX - 2 * PAGE_BYTES)
		return true;
	return !reader->memory->once && len > PAGE_BYTES - skip &&
	       !(is_cached(reader, offset - skip) && is_cached(reader, offset - skip + PAGE_BYTES));
}

kw_status kw_read_cached(kw_ctx *ctx, uint64_t offset, void *buf, size_t len)
{
	uint8_t *to = buf;

	if (goes_straight(ctx->reader, offset, len))
		return kw_read_straight(ctx, offset, buf, len);
	while (len) {
		uint64_t skip = offset % PAGE_BYTES;
		size_t part = len < PAGE_BYTES - skip ? len : PAGE_BYTES - skip;
		uint32_t have;
		const uint8_t *bytes = get_page(ctx, offset - skip, &have);

		/* The rest of the page may be what can't be read. */
		if (!bytes)
			return kw_read_straight(ctx, offset, to, len);
		if (skip + part > have)
			return KW_FAILED;
		memcpy(to, bytes + skip, part);
		offset += part;
		to += part;
		len -= part;
	}
	return KW_OK;
}

/* Forget the pages of a range of the file. */
static void forget_file_range(struct kw_reader *reader, uint64_t offset, uint64_t len)
{
	uint64_t first = offset / PAGE_BYTES, nr = (offset % PAGE_BYTES + len + PAGE_BYTES - 1) / PAGE_BYTES;

	for (uint64_t i = 0; i < nr && i < NR_CACHED_PAGES; i++)
		reader->pages[slot_of((first + i) * PAGE_BYTES)].epoch = 0;
}

void kw_forget(kw_ctx *ctx, uint64_t addr, size_t len)
{
	struct kw_reader *reader = ctx->reader;
	const struct kw_segment *segment = reader->virt_hit;

	if (!reader->page_bytes)
		return;
	if (addr - segment->vaddr >= segment->size)
		segment = segments_find(&reader->memory->virt, VIRTUAL, addr);
	if (segment && (!segment->map || reader->memory->once) && segment->offset != KW_NO_ADDR)
		forget_file_range(reader, segment->offset + (addr - segment->vaddr), len);
	else if (!segment)
		reader->epoch++;
}
