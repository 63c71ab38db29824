/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/zoneinfo.
 *
 * What it says of a zone differs from release to release, and no member tells how. But the kernel's own formats do, which
 * lie in its constants: "\n  pages free     %lu\n        boost    %lu\n ...". The word before each number tells which
 * it is; one that kwalk does not know makes the file one that can't be made.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/proc_format.h"
#include "cli/proc_maker.h"

#define MAX_CONSTANTS (64u << 20) /* bytes; kernels have some 10 MiB */
#define CHUNK	      (256u << 10)

enum { OF_ZONE, OF_PAGESET, OF_END, NR_FORMATS };

/* How they begin. */
static const char *const beginnings[NR_FORMATS] = {
	[OF_ZONE] = "\n  pages free     %lu\n",
	[OF_PAGESET] = "\n    cpu: %i\n",
	[OF_END] = "\n  node_unreclaimable:  %u",
};

struct formats {
	char text[NR_FORMATS][PROC_FORMAT_SIZE];
};

/* Rows of one zone or node, in the text that they become. */
struct section {
	struct section *before;
	int64_t node;
	char zone[16];
	FILE *out;
	char *text;
	size_t len;
};

struct sections {
	struct section *last;
	bool of_nodes, failed;
	const char *format; /* of a pageset */
};

/* Finding the formats */

static void take_formats(const char *chunk, size_t len, struct formats *formats)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!*formats->text[i])
			proc_format_find(chunk, len, beginnings[i], formats->text[i]);
}

/* Chunks overlap, so that a format is whole in one of them. */
static bool find_formats(struct proc_maker *m, struct formats *formats)
{
	uint64_t start, end;
	bool is_whole = true;
	char *chunk;

	if (kw_symbol_address(m->ctx, "__start_rodata", &start) != KW_OK ||
	    kw_symbol_address(m->ctx, "__end_rodata", &end) != KW_OK || end < start ||
	    end - start > MAX_CONSTANTS)
		return proc_missing(m, "__start_rodata", "it is not known where the kernel's constants lie");
	chunk = malloc(CHUNK + PROC_FORMAT_SIZE);
	if (!chunk)
		return proc_missing(m, "zones", "out of memory");
	for (uint64_t at = start; at < end; at += CHUNK) {
		size_t len = end - at < CHUNK + PROC_FORMAT_SIZE ? (size_t)(end - at)
								 : CHUNK + PROC_FORMAT_SIZE;

		if (kw_read(m->ctx, at, chunk, len) == KW_OK)
			take_formats(chunk, len, formats);
		else
			is_whole = false;
	}
	free(chunk);
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!*formats->text[i])
			return proc_missing(m, "its format",
					    is_whole ? "this kernel's constants have none that is known"
						     : "the kernel's constants can't be read wholly");
	return true;
}

static bool put_format(struct proc_maker *m, FILE *out, const char *format, const struct proc_number *numbers)
{
	char unknown[PROC_WORD_SIZE];

	if (proc_format_put(out, format, numbers, unknown))
		return true;
	if (!*unknown)
		return proc_missing(m, "its format", "this kernel's is none that kwalk understands");
	return proc_missing(m, unknown, "this kernel has it in the file, and kwalk does not know it");
}

/* Sections */

static bool is_of(const struct section *section, const struct kw_value *node, const struct kw_value *zone)
{
	return section->node == node->i && (!zone || (strlen(section->zone) == zone->len &&
						      memcmp(section->zone, zone->str, zone->len) == 0));
}

static struct section *add_section(struct sections *sections, const struct kw_value *node,
				   const struct kw_value *zone)
{
	struct section *section = calloc(1, sizeof(*section));

	if (!section)
		return NULL;
	section->out = open_memstream(&section->text, &section->len);
	if (!section->out || (zone && zone->len >= sizeof(section->zone))) {
		if (section->out)
			fclose(section->out);
		free(section->text);
		free(section);
		return NULL;
	}
	section->node = node->i;
	if (zone)
		memcpy(section->zone, zone->str, zone->len);
	section->before = sections->last;
	sections->last = section;
	return section;
}

/* The section that a row goes to: rows of a zone come one behind the other. NULL: out of memory. */
static FILE *section_of(struct sections *sections, const struct kw_value *node, const struct kw_value *zone)
{
	struct section *last = sections->last;

	if (!last || !is_of(last, node, zone))
		last = add_section(sections, node, zone);
	return last ? last->out : NULL;
}

static void free_sections(struct sections *sections)
{
	while (sections->last) {
		struct section *before = sections->last->before;

		fclose(sections->last->out);
		free(sections->last->text);
		free(sections->last);
		sections->last = before;
	}
}

static void put_section(FILE *out, const struct sections *sections, const struct kw_value *node,
			const struct kw_value *zone)
{
	struct section *section = sections->last;

	while (section && !is_of(section, node, zone))
		section = section->before;
	if (section && fflush(section->out) == 0)
		fwrite(section->text, 1, section->len, out);
}

/* A counter: node, its name and value, and where it is one of a zone that. */
static void take_item(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct sections *sections = arg;
	FILE *out = section_of(sections, &values[0], sections->of_nodes ? NULL : &values[3]);

	(void)m;
	if (out)
		fprintf(out, "\n      %-12.*s %" PRIu64, (int)values[1].len, values[1].str, values[2].u);
	else
		sections->failed = true;
}

static void take_pageset(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	const struct proc_number numbers[] = {
		{ "cpu", &values[2], false },
		{ "count", &values[3], false },
		{ "high", &values[4], false },
		{ "batch", &values[5], false },
		{ "high_min", &values[6], false },
		{ "high_max", &values[7], false },
		{ NULL, NULL, false },
	};
	struct sections *sections = arg;
	FILE *out = section_of(sections, &values[0], &values[1]);

	if (!out || !put_format(m, out, sections->format, numbers))
		sections->failed = true;
	else
		fprintf(out, "\n  vm stats threshold: %" PRId64, values[8].i);
}

struct zoneinfo {
	struct formats formats;
	struct sections nodes, items, numa, pagesets;
	int64_t last_node; /* whose counters have been written */
	bool has_node, failed;
};

static void put_node(struct proc_maker *m, struct zoneinfo *info, const struct kw_value *node)
{
	if (info->has_node && info->last_node == node->i)
		return;
	info->has_node = true;
	info->last_node = node->i;
	fputs("\n  per-node stats", m->out);
	put_section(m->out, &info->nodes, node, NULL);
}

static bool put_zone(struct proc_maker *m, struct zoneinfo *info, const struct kw_value *v)
{
	const struct kw_value none = { .type = KW_VAL_UINT };
	const struct proc_number numbers[] = {
		{ "free", &v[2], true },
		{ "boost", &v[3], true },
		{ "min", &v[4], true },
		{ "low", &v[5], true },
		{ "high", &v[6], true },
		{ "promo", &v[7], true },
		{ "spanned", &v[8], true },
		{ "present", &v[9], true },
		{ "managed", &v[10], true },
		/* Kernels without CMA print it all the same. */
		{ "cma", v[11].type == KW_VAL_ABSENT ? &none : &v[11], true },
		{ "node_unreclaimable", &v[13], false },
		{ "start_pfn", &v[14], false },
		{ "reserved_highatomic", &v[15], true },
		{ "free_highatomic", &v[16], true },
		{ NULL, NULL, false },
	};
	bool is_populated = v[9].u;

	fprintf(m->out, "Node %" PRId64 ", zone %8.*s", v[0].i, (int)v[1].len, v[1].str);
	if (is_populated)
		put_node(m, info, &v[0]);
	if (!put_format(m, m->out, info->formats.text[OF_ZONE], numbers))
		return false;
	fprintf(m->out, "\n        protection: (%.*s)", (int)v[12].len, v[12].str);
	if (is_populated) {
		put_section(m->out, &info->items, &v[0], &v[1]);
		put_section(m->out, &info->numa, &v[0], &v[1]);
		fputs("\n  pagesets", m->out);
		put_section(m->out, &info->pagesets, &v[0], &v[1]);
		if (!put_format(m, m->out, info->formats.text[OF_END], numbers))
			return false;
	}
	fputc('\n', m->out);
	return true;
}

static void take_zone(struct proc_maker *m, const struct kw_value *values, void *arg)
{
	struct zoneinfo *info = arg;

	info->failed = info->failed || !put_zone(m, info, values);
}

/* What no release before some had. */
#define PROMO	       (1ULL << 7)
#define CMA	       (1ULL << 11)
#define HIGHATOMIC     (3ULL << 15)
#define PAGESET_LIMITS (3ULL << 6)

static bool make(struct proc_maker *m, struct zoneinfo *info)
{
	info->nodes.of_nodes = true;
	info->pagesets.format = info->formats.text[OF_PAGESET];
	if (!find_formats(m, &info->formats) ||
	    !proc_rows(m, "node_items", "node,name,value", 0, take_item, &info->nodes) ||
	    !proc_rows(m, "zone_items", "node,name,value,zone", 0, take_item, &info->items) ||
	    (proc_has_symbol(m, "vm_numa_event") || proc_has_symbol(m, "vm_numa_stat")
		     ? !proc_rows(m, "numa_items", "node,name,value,zone", 0, take_item, &info->numa)
		     : false) ||
	    !proc_rows(m, "pagesets", "node,zone,cpu,count,high,batch,high_min,high_max,threshold",
		       PAGESET_LIMITS, take_pageset, &info->pagesets))
		return false;
	if (info->nodes.failed || info->items.failed || info->numa.failed || info->pagesets.failed)
		return *m->what ? false : proc_missing(m, "zones", "out of memory");
	return proc_rows(m, "zones",
			 "node,zone,free,boost,min,low,high,promo,spanned,present,managed,cma,protection,"
			 "unreclaimable,start_pfn,reserved_highatomic,free_highatomic",
			 PROMO | CMA | HIGHATOMIC, take_zone, info) &&
	       !info->failed;
}

bool proc_make_zoneinfo(struct proc_maker *m)
{
	struct zoneinfo *info = calloc(1, sizeof(*info));
	bool made = info ? make(m, info) : proc_missing(m, "zones", "out of memory");

	if (info) {
		free_sections(&info->nodes);
		free_sections(&info->items);
		free_sections(&info->numa);
		free_sections(&info->pagesets);
	}
	free(info);
	return made;
}
