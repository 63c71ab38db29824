/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols as a list: sorted by address, with a hash table over the names.
 *
 * Invariant: once finished, `item` is sorted by address (the order of addition among equals), and each slot of the
 * hash table is 0 or one more than an index into it.
 */
#include "symbol/list.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms.h"
#include "symbol/set.h"
#include "util/array.h"
#include "util/strbuf.h"

#define PAGE_BYTES 4096

struct listed {
	uint64_t addr;
	uint32_t name; /* offset in the text */
	uint32_t order;
	char letter;
};

struct symbol_list {
	struct listed *item;
	size_t nr, cap;
	struct kw_strbuf names;
	uint32_t *slots;
	size_t nr_slots; /* a power of two */
};

struct symbol_list *symbol_list_new(void)
{
	return calloc(1, sizeof(struct symbol_list));
}

void symbol_list_free(struct symbol_list *list)
{
	if (!list)
		return;
	kw_strbuf_free(&list->names);
	free(list->item);
	free(list->slots);
	free(list);
}

bool symbol_list_add(struct symbol_list *list, const char *name, size_t len, uint64_t addr, char letter)
{
	struct listed listed = {
		.addr = addr,
		.name = (uint32_t)list->names.len,
		.order = (uint32_t)list->nr,
		.letter = letter,
	};

	if (list->nr >= KALLSYMS_MAX_SYMBOLS || list->names.len > UINT32_MAX / 2)
		return false;
	if (len > KW_SYMBOL_NAME_SIZE - 1)
		len = KW_SYMBOL_NAME_SIZE - 1;
	kw_strbuf_add(&list->names, name, len);
	kw_strbuf_add(&list->names, "", 1);
	return !list->names.failed && kw_array_push(list, listed);
}

static const char *name_of(const struct symbol_list *list, const struct listed *listed)
{
	return list->names.str + listed->name;
}

static int compare(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_sorted(const struct symbol_list *list)
{
	for (size_t i = 1; i < list->nr; i++)
		if (list->item[i - 1].addr > list->item[i].addr)
			return false;
	return true;
}

static uint64_t hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

/* The slot of a name: the one that holds it, or the free one where it belongs. */
static uint32_t *slot_of(const struct symbol_list *list, const char *name)
{
	size_t i = hash(name) & (list->nr_slots - 1);

	while (list->slots[i] && strcmp(name_of(list, &list->item[list->slots[i] - 1]), name) != 0)
		i = (i + 1) & (list->nr_slots - 1);
	return &list->slots[i];
}

bool symbol_list_finish(struct symbol_list *list)
{
	if (!is_sorted(list))
		qsort(list->item, list->nr, sizeof(*list->item), compare);
	for (list->nr_slots = 64; list->nr_slots < 2 * list->nr;)
		list->nr_slots *= 2;
	list->slots = calloc(list->nr_slots, sizeof(*list->slots));
	if (!list->slots)
		return false;
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t *slot = slot_of(list, name_of(list, &list->item[i]));

		if (!*slot)
			*slot = (uint32_t)i + 1;
	}
	return true;
}

void symbol_list_slide(struct symbol_list *list, uint64_t from, uint64_t slide)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->item[i].addr >= from)
			list->item[i].addr += slide;
}

size_t symbol_list_count(const struct symbol_list *list)
{
	return list->nr;
}

bool symbol_list_find(const struct symbol_list *list, const char *name, uint64_t *ret_addr)
{
	uint32_t slot = *slot_of(list, name);

	if (!slot)
		return false;
	*ret_addr = list->item[slot - 1].addr;
	return true;
}

static size_t upper_bound(const struct symbol_list *list, uint64_t addr)
{
	size_t low = 0, high = list->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->item[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool symbol_list_at(const struct symbol_list *list, uint64_t addr, char *name, uint64_t *ret_offset)
{
	size_t i = upper_bound(list, addr);
	uint64_t start;

	/* Below the image there are only per-CPU offsets; behind the last symbol, which ends it, nothing. */
	if (!i || addr < KERNEL_MAP || (i == list->nr && addr - list->item[i - 1].addr >= PAGE_BYTES))
		return false;
	start = list->item[i - 1].addr;
	if (start < KERNEL_MAP)
		return false;
	i = upper_bound(list, start - 1);
	strcpy(name, name_of(list, &list->item[i]));
	*ret_offset = addr - start;
	return true;
}

void symbol_list_each(const struct symbol_list *list,
		      bool (*fn)(const char *name, uint64_t addr, char letter, void *arg), void *arg)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!fn(name_of(list, &list->item[i]), list->item[i].addr, list->item[i].letter, arg))
			return;
}
