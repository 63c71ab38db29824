/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of the memory manager, and the nodes and zones that they are kept for.
 *
 * Items have an enumerator each, and move between zones and nodes and up and down from release to release: they are found
 * by name. A counter is kept in pages, globally and per zone or node; each CPU first collects changes in a signed byte
 * of its own. /proc leaves those out; here they can be added.
 */
#ifndef KERNEL_VMSTAT_H
#define KERNEL_VMSTAT_H

#include "kernel/source.h"

#define KW_MAX_VM_ITEMS 512 /* lines of /proc/vmstat, of which there are some 200 */
#define KW_MAX_NODES	1024
#define KW_MAX_ZONES	16 /* of a node; there are 5 or 6 kinds */

enum kw_vm_kind {
	KW_VM_NONE,
	KW_VM_ZONE,	 /* enum zone_stat_item */
	KW_VM_NUMA,	 /* enum numa_stat_item: hits and misses of allocations */
	KW_VM_NODE,	 /* enum node_stat_item */
	KW_VM_WRITEBACK, /* computed: thresholds; and numbers of their own */
	KW_VM_EVENT,	 /* enum vm_event_item, per-CPU */
};

/** Which counter. */
struct kw_vm_item {
	enum kw_vm_kind kind;
	uint32_t index;
};

struct kw_vm_layout {
	uint64_t zone_stat, node_stat, numa_stat; /* arrays of atomic_long_t */
	uint64_t event_states;			  /* per-CPU: struct vm_event_state */
	uint64_t text;				  /* vmstat_text[]: names of all lines */
	uint32_t nr_zone, nr_numa, nr_node, nr_writeback, nr_event;
	uint64_t online_mask; /* of CPUs */
	/* nodes: node_data[] is an array of pointers, contig_page_data the only one without NUMA */
	uint64_t node_data, contig_page_data, node_ids;
	uint32_t max_nodes;
	uint64_t node_zones, percpu_node; /* struct pglist_data */
	uint32_t max_zones;		  /* of a node */
	uint64_t node_diff;		  /* struct per_cpu_nodestat */
	/* struct zone */
	uint64_t zone_size, percpu_zone, present, managed, watermark, boost;
	uint64_t zone_diff; /* in what percpu_zone points to */
	uint64_t zone_numa; /* since 5.14: unfolded hits and misses there, else KW_NO_ADDR */
	/* thresholds of writeback */
	uint64_t reserve, dirty_ratio, dirty_background_ratio, dirty_bytes, dirty_background_bytes;
	uint64_t memmap, memmap_boot;
	struct kw_vm_item free, active_file, inactive_file;
	struct kw_vm_item anon_thps, file_thps, shmem_thps, shmem_mapped, file_mapped;
	int64_t pgpgin, pgpgout; /* events that are counted in sectors, -1: not there */
	bool thps_in_pages;	 /* counts of huge pages are kept in small ones */
};

#define KW_HUGE_PAGES 512 /* small pages of a huge one */

extern const struct kw_subject kw_vm_subject;

/** Find an item by its enumerator, in whichever enum this kernel has it. KW_VM_NONE when in none. */
struct kw_vm_item kw_vm_find(kw_ctx *ctx, const char *enumerator);

/** Read a zone's or node's item as /proc has it: in pages, below zero cut to 0. A read's state, KW_NOTFOUND for none. */
kw_status kw_vm_read(kw_ctx *ctx, const struct kw_vm_layout *l, struct kw_vm_item item, uint64_t *ret);

/** Read an item and add what the CPUs have not handed in yet. */
kw_status kw_vm_exact(kw_ctx *ctx, const struct kw_kernel *kernel, const struct kw_vm_layout *l,
		      struct kw_vm_item item, uint64_t *ret);

/** Set the name of an item of a zone or node, hits and misses included, as /proc/vmstat has it. */
void kw_vm_set_name(struct kw_row *row, const struct kw_vm_layout *l, struct kw_vm_item item,
		    struct kw_value *out);

/** True for an item that counts the pages of huge pages, which /proc/vmstat and zoneinfo show as so many of these. */
bool kw_vm_is_huge(const struct kw_vm_layout *l, struct kw_vm_item item);

/** Called with each zone of each node, also those without memory. False stops. */
typedef bool (*kw_zone_fn)(uint64_t zone, uint32_t node, uint32_t number, void *arg);

/** Visit the zones. KW_OK; a read's state; KW_NOTFOUND when this kernel's nodes are not understood. */
kw_status kw_zones_each(kw_ctx *ctx, const struct kw_vm_layout *l, kw_zone_fn fn, void *arg);

/** Tell whether a zone has memory. Also of one that can't be read, so that its rows tell why. */
bool kw_zone_is_populated(kw_ctx *ctx, const struct kw_vm_layout *l, uint64_t zone);

/** zone.c's: the number of the node and the name of the zone, from the zone. */
extern const struct kw_field_table kw_zone_id_fields;

/** Sum of the low watermarks, in pages. */
kw_status kw_vm_low_watermarks(kw_ctx *ctx, const struct kw_vm_layout *l, uint64_t *ret);

#endif
