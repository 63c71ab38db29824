/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kallsyms, decoded in memory. Tables, whose order and neighbours differ by release:
 *
 *   num_syms      u32
 *   names         for each symbol: length (one byte, or two when the top bit is set), then as many token numbers
 *   markers       u32: offset in names of every 256th symbol (not needed: VMCOREINFO does not tell it)
 *   token_table   256 strings, each ended by a NUL
 *   token_index   u16 for each token: offset of its string
 *   offsets       s32 for each symbol: see enum kallsyms_form
 *   relative_base u64 (until 6.19)
 *
 * A name is the sequence of its tokens' strings; its first character is the type letter, as nm prints it. Symbols
 * are sorted by address.
 *
 * To find names, the first and the last token of each entry are looked up in tables that say which of the wanted
 * names can begin and end so; only where one name passes both are strings compared. This costs about 5 ns a symbol.
 * Where the kernel has a table in the order of names, they are found in it instead (kallsyms_order.c).
 *
 * Invariant: nothing in the tables is believed twice. They may lie in a live guest's memory, so that a check made
 * earlier means nothing; tokens are copied for that reason.
 */
#include "symbol/kallsyms.h"
#include "symbol/kallsyms_markers.h"
#include "symbol/kallsyms_order.h"

#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "symbol/set.h"
#include "util/bytes.h"
#include "util/error.h"

#define TOKENS		256
#define PAGE_BYTES	4096
#define MAX_NAMES_BYTES (64u << 20)
#define QUERIES_AT_ONCE 64

struct token {
	const char *text;
	uint16_t len;
};

struct kallsyms {
	struct kallsyms_bytes bytes;
	enum kallsyms_form form;
	struct token tokens[TOKENS];
	char *token_text;
	uint32_t *markers; /* offset of every 256th name, made when first needed */
	uint8_t *copies[2];
	bool in_order; /* bisection can be trusted as far as anything here */
};

const struct kallsyms_bytes *kallsyms_bytes_of(const struct kallsyms *kallsyms)
{
	return &kallsyms->bytes;
}

uint32_t kallsyms_count(const struct kallsyms *kallsyms)
{
	return kallsyms->bytes.num_syms;
}

enum kallsyms_form kallsyms_form(const struct kallsyms *kallsyms)
{
	return kallsyms->form;
}

uint64_t kallsyms_address(const struct kallsyms *kallsyms, uint32_t i)
{
	int64_t offset = (int32_t)kw_load_u32(kallsyms->bytes.offsets + 4 * (size_t)i);

	switch (kallsyms->form) {
	case KALLSYMS_PLACE_RELATIVE:
		return kallsyms->bytes.offsets_addr + 4 * (uint64_t)i + (uint64_t)offset;
	case KALLSYMS_PERCPU_ABSOLUTE:
		return offset >= 0 ? (uint64_t)offset : kallsyms->bytes.relative_base - 1 - (uint64_t)offset;
	default: return kallsyms->bytes.relative_base + (uint32_t)offset;
	}
}

/* Without a base the entry's own place counts. An image is smaller than 2 GiB: negative offsets are the per-CPU form. */
static enum kallsyms_form detect_form(const struct kallsyms_bytes *bytes)
{
	if (bytes->relative_base == KW_NO_ADDR)
		return KALLSYMS_PLACE_RELATIVE;
	for (uint32_t i = bytes->num_syms; i--;)
		if ((int32_t)kw_load_u32(bytes->offsets + 4 * (size_t)i) < 0)
			return KALLSYMS_PERCPU_ABSOLUTE;
	return KALLSYMS_BASE_RELATIVE;
}

static bool copy_tokens(struct kallsyms *kallsyms)
{
	const struct kallsyms_bytes *bytes = &kallsyms->bytes;
	char *text = malloc(bytes->token_table_len + 1);

	kallsyms->token_text = text;
	if (!text)
		return false;
	memcpy(text, bytes->token_table, bytes->token_table_len);
	text[bytes->token_table_len] = '\0';
	return true;
}

static bool index_tokens(struct kallsyms *kallsyms)
{
	size_t next = 0;

	for (size_t i = 0; i < TOKENS; i++) {
		size_t start = kw_load_u16(kallsyms->bytes.token_index + 2 * i);
		const char *text = kallsyms->token_text + start;

		if (start != next || start >= kallsyms->bytes.token_table_len)
			return false;
		kallsyms->tokens[i].text = text;
		kallsyms->tokens[i].len = (uint16_t)strnlen(text, KW_SYMBOL_NAME_SIZE);
		next = start + kallsyms->tokens[i].len + 1;
	}
	return true;
}

kw_status kallsyms_new(kw_ctx *ctx, const struct kallsyms_bytes *bytes, struct kallsyms **ret)
{
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));

	if (!kallsyms)
		return kw_fail_nomem(ctx);
	kallsyms->bytes = *bytes;
	if (!copy_tokens(kallsyms)) {
		kallsyms_free(kallsyms);
		return kw_fail_nomem(ctx);
	}
	if (!index_tokens(kallsyms)) {
		kallsyms_free(kallsyms);
		return kw_fail(ctx, KW_FORMAT, "kallsyms: the token index does not fit the token table");
	}
	kallsyms->form = detect_form(bytes);
	kallsyms->in_order = kallsyms_order_holds(kallsyms);
	*ret = kallsyms;
	return KW_OK;
}

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	free(kallsyms->copies[0]);
	free(kallsyms->copies[1]);
	free(kallsyms->token_text);
	free(kallsyms->markers);
	free(kallsyms);
}

/* Loading. */

/* A view of memory, or a copy in *copy. */
static kw_status get_bytes(kw_ctx *ctx, uint64_t addr, size_t len, uint8_t **copy, const uint8_t **ret)
{
	kw_status status;

	*ret = kw_view(ctx, addr, len);
	if (*ret)
		return KW_OK;
	*copy = malloc(len);
	if (!*copy)
		return kw_fail_nomem(ctx);
	status = kw_read(ctx, addr, *copy, len);
	if (status != KW_OK)
		return kw_fail(ctx, status, "kallsyms: 0x%llx: can't read %zu bytes",
			       (unsigned long long)addr, len);
	*ret = *copy;
	return KW_OK;
}

static kw_status read_numbers(kw_ctx *ctx, const struct kallsyms_tables *tables, struct kallsyms_bytes *bytes)
{
	kw_status status = kw_read_u32(ctx, tables->num_syms, &bytes->num_syms);

	bytes->offsets_addr = tables->offsets;
	bytes->relative_base = KW_NO_ADDR;
	if (status == KW_OK && tables->relative_base != KW_NO_ADDR)
		status = kw_read_u64(ctx, tables->relative_base, &bytes->relative_base);
	if (status != KW_OK)
		return kw_fail(ctx, status, "kallsyms: the number of symbols can't be read");
	if (!bytes->num_syms || bytes->num_syms > KALLSYMS_MAX_SYMBOLS)
		return kw_fail(ctx, KW_FORMAT, "kallsyms: %u symbols are not possible", bytes->num_syms);
	return KW_OK;
}

/* In all releases the tokens come after the names, near enough to bound them. */
static kw_status measure_names(kw_ctx *ctx, const struct kallsyms_tables *tables,
			       struct kallsyms_bytes *bytes)
{
	uint64_t len = tables->token_table - tables->names;

	if (tables->token_table <= tables->names || len > MAX_NAMES_BYTES || len / 2 < bytes->num_syms)
		return kw_fail(ctx, KW_FORMAT, "kallsyms: the tables are in no order that is known");
	bytes->names_len = len;
	return KW_OK;
}

static kw_status open_bytes(kw_ctx *ctx, const struct kallsyms_tables *tables, struct kallsyms_bytes *bytes,
			    uint8_t *copies[2], uint8_t *index, char *tokens)
{
	kw_status status = read_numbers(ctx, tables, bytes);

	if (status == KW_OK)
		status = measure_names(ctx, tables, bytes);
	if (status == KW_OK && kw_read(ctx, tables->token_index, index, 2 * TOKENS) != KW_OK)
		status = kw_fail(ctx, KW_FAILED, "kallsyms: the token index can't be read");
	if (status != KW_OK)
		return status;
	/* The index follows the table, so that a few bytes too many are there. */
	bytes->token_index = index;
	bytes->token_table = (const uint8_t *)tokens;
	bytes->token_table_len = (size_t)kw_load_u16(index + 2 * (TOKENS - 1)) + 2 * TOKENS;
	if (kw_read(ctx, tables->token_table, tokens, bytes->token_table_len) != KW_OK)
		return kw_fail(ctx, KW_FAILED, "kallsyms: the token table can't be read");
	status = get_bytes(ctx, tables->names, bytes->names_len, &copies[0], &bytes->names);
	if (status == KW_OK)
		status = get_bytes(ctx, tables->offsets, 4 * (size_t)bytes->num_syms, &copies[1],
				   &bytes->offsets);
	return status;
}

kw_status kallsyms_open(kw_ctx *ctx, const struct kallsyms_tables *tables, struct kallsyms **ret)
{
	struct kallsyms_bytes bytes = { 0 };
	uint8_t index[2 * TOKENS], *copies[2] = { NULL, NULL };
	char *tokens = malloc(UINT16_MAX + 2 * TOKENS);
	kw_status status = tokens ? open_bytes(ctx, tables, &bytes, copies, index, tokens)
				  : kw_fail_nomem(ctx);

	if (status == KW_OK) {
		kallsyms_order_locate(ctx, tables, &bytes);
		status = kallsyms_new(ctx, &bytes, ret);
	}
	free(tokens);
	if (status != KW_OK) {
		free(copies[0]);
		free(copies[1]);
		return status;
	}
	(*ret)->bytes.token_table = NULL;
	(*ret)->bytes.token_index = NULL;
	memcpy((*ret)->copies, copies, sizeof(copies));
	return KW_OK;
}

/* Names. */

void kallsyms_unpack(const struct kallsyms *kallsyms, const uint8_t *entry, size_t len, char *name,
		     char *ret_letter)
{
	size_t at = 0;
	char letter = '?';
	bool first = true;

	for (size_t i = 0; i < len; i++) {
		const struct token *token = &kallsyms->tokens[entry[i]];

		for (size_t k = 0; k < token->len; k++) {
			if (first)
				letter = token->text[k];
			else if (at < KW_SYMBOL_NAME_SIZE - 1)
				name[at++] = token->text[k];
			first = false;
		}
	}
	name[at] = '\0';
	*ret_letter = letter;
}

int kallsyms_compare(const struct kallsyms *kallsyms, const uint8_t *entry, size_t len, const char *name)
{
	bool first = true;

	for (size_t i = 0; i < len; i++) {
		const struct token *token = &kallsyms->tokens[entry[i]];
		size_t skip = first && token->len;

		first = first && !token->len;
		/* No token holds a NUL, so that a difference ends the comparison before name does. */
		for (size_t k = skip; k < token->len; k++, name++)
			if (*name != token->text[k])
				return (unsigned char)token->text[k] - (unsigned char)*name;
	}
	/* Without a letter it is no name. */
	return first || *name ? -1 : 0;
}

/* Which of up to 64 names can begin and end with a token: a bit for each. */
struct filter {
	uint64_t first[TOKENS], last[TOKENS];
	size_t len[QUERIES_AT_ONCE];
};

static bool can_begin(const struct token *token, const char *name)
{
	return !token->len || !strncmp(name, token->text + 1, token->len - 1u);
}

static bool can_end(const struct token *token, const char *name, size_t len)
{
	size_t part = token->len;

	if (part == len + 1)
		return !memcmp(token->text + 1, name, len);
	return part <= len && !memcmp(name + len - part, token->text, part);
}

static void make_filter(const struct kallsyms *kallsyms, struct filter *filter,
			const struct kw_symbol_query *queries, size_t nr)
{
	memset(filter, 0, sizeof(*filter));
	for (size_t q = 0; q < nr; q++) {
		const char *name = queries[q].name;
		size_t len = strlen(name);

		for (size_t i = 0; i < TOKENS; i++) {
			filter->first[i] |= (uint64_t)can_begin(&kallsyms->tokens[i], name) << q;
			filter->last[i] |= (uint64_t)can_end(&kallsyms->tokens[i], name, len) << q;
		}
	}
}

/* Set the address of the wanted symbols that an entry is; return their bits. */
static uint64_t match(const struct kallsyms *kallsyms, const uint8_t *entry, size_t len, uint32_t i,
		      uint64_t maybe, struct kw_symbol_query *queries)
{
	uint64_t found = 0;

	for (; maybe; maybe &= maybe - 1) {
		unsigned int q = (unsigned int)__builtin_ctzll(maybe);

		if (kallsyms_compare(kallsyms, entry, len, queries[q].name))
			continue;
		queries[q].addr = kallsyms_address(kallsyms, i);
		found |= 1ULL << q;
	}
	return found;
}

static bool find_some(const struct kallsyms *kallsyms, struct kw_symbol_query *queries, size_t nr)
{
	const uint8_t *p = kallsyms->bytes.names, *end = p + kallsyms->bytes.names_len;
	uint64_t left = nr == 64 ? UINT64_MAX : (1ULL << nr) - 1;
	struct filter filter;

	make_filter(kallsyms, &filter, queries, nr);
	for (uint32_t i = 0; left && i < kallsyms->bytes.num_syms; i++) {
		size_t len;
		uint64_t maybe;

		p = kallsyms_entry(p, end, &len);
		if (!p)
			return false;
		maybe = filter.first[p[0]] & filter.last[p[len - 1]] & left;
		if (__builtin_expect(maybe != 0, 0))
			left &= ~match(kallsyms, p, len, i, maybe, queries);
		p += len;
	}
	return true;
}

static bool find_in_order(const struct kallsyms *kallsyms, struct kw_symbol_query *queries, size_t nr)
{
	bool sound = kallsyms->in_order;

	for (size_t i = 0; i < nr && sound; i++)
		sound = kallsyms_order_find(kallsyms, queries[i].name, &queries[i].addr);
	return sound;
}

bool kallsyms_find(const struct kallsyms *kallsyms, struct kw_symbol_query *queries, size_t nr)
{
	bool sound = true;

	if (find_in_order(kallsyms, queries, nr))
		return true;
	for (size_t i = 0; i < nr; i++)
		queries[i].addr = KW_NO_ADDR;
	for (size_t i = 0; i < nr && sound; i += QUERIES_AT_ONCE)
		sound = find_some(kallsyms, queries + i, nr - i < QUERIES_AT_ONCE ? nr - i : QUERIES_AT_ONCE);
	return sound;
}

kw_status kallsyms_each(const struct kallsyms *kallsyms,
			bool (*fn)(const char *name, uint64_t addr, char letter, void *arg), void *arg)
{
	const uint8_t *p = kallsyms->bytes.names, *end = p + kallsyms->bytes.names_len;
	char name[KW_SYMBOL_NAME_SIZE], letter;

	for (uint32_t i = 0; i < kallsyms->bytes.num_syms; i++) {
		size_t len;

		p = kallsyms_entry(p, end, &len);
		if (!p)
			return KW_FORMAT;
		kallsyms_unpack(kallsyms, p, len, name, &letter);
		if (!fn(name, kallsyms_address(kallsyms, i), letter, arg))
			return KW_OK;
		p += len;
	}
	return KW_OK;
}

/* Addresses. */

static kw_status make_markers(struct kallsyms *kallsyms)
{
	const uint8_t *names = kallsyms->bytes.names, *p = names, *end = p + kallsyms->bytes.names_len;
	uint32_t nr = kallsyms->bytes.num_syms;
	uint32_t *markers = calloc((size_t)nr / KALLSYMS_MARKER_STEP + 1, sizeof(*markers));

	if (!markers)
		return KW_NOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		size_t len;

		if (i % KALLSYMS_MARKER_STEP == 0)
			markers[i / KALLSYMS_MARKER_STEP] = (uint32_t)(p - names);
		p = kallsyms_entry(p, end, &len);
		if (!p) {
			free(markers);
			return KW_FORMAT;
		}
		p += len;
	}
	kallsyms->markers = markers;
	return KW_OK;
}

static kw_status unpack_nth(struct kallsyms *kallsyms, uint32_t nth, char *name)
{
	const uint8_t *p, *names = kallsyms->bytes.names;
	size_t len;
	char letter;

	if (!kallsyms->markers) {
		kw_status status = make_markers(kallsyms);

		if (status != KW_OK)
			return status;
	}
	p = kallsyms_entry_behind(names + kallsyms->markers[nth / KALLSYMS_MARKER_STEP],
				  names + kallsyms->bytes.names_len, nth % KALLSYMS_MARKER_STEP, &len);
	if (!p)
		return KW_FORMAT;
	kallsyms_unpack(kallsyms, p, len, name, &letter);
	return KW_OK;
}

/* The first symbol above addr. */
static uint32_t upper_bound(const struct kallsyms *kallsyms, uint64_t addr)
{
	uint32_t low = 0, high = kallsyms->bytes.num_syms;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (kallsyms_address(kallsyms, middle) <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

kw_status kallsyms_at(struct kallsyms *kallsyms, uint64_t addr, char *name, uint64_t *ret_offset)
{
	uint32_t last = kallsyms->bytes.num_syms - 1, i = upper_bound(kallsyms, addr);
	uint64_t start;
	kw_status status;

	/* Below the image there are only per-CPU offsets; behind the last symbol, which ends it, nothing. */
	if (!i || addr < KERNEL_MAP || (i > last && addr - kallsyms_address(kallsyms, last) >= PAGE_BYTES))
		return KW_NOTFOUND;
	start = kallsyms_address(kallsyms, --i);
	if (start < KERNEL_MAP)
		return KW_NOTFOUND;
	if (i)
		i = upper_bound(kallsyms, start - 1);
	status = unpack_nth(kallsyms, i < last ? i : last, name);
	if (status == KW_OK)
		*ret_offset = addr - start;
	return status;
}
