/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPUs and memory nodes that a task may use, as masks and lists in the kernel's own writing:
 *
 *     mask  groups of 32 bits in hexadecimal, the highest first, as many bits as there can be CPUs: 3, f,ffffffff
 *     list  0-3,7
 *
 * Most tasks have the same few masks: their texts are kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/field_table.h"
#include "kernel/symbol_value.h"
#include "type/types.h"
#include "util/error.h"
#include "util/strbuf.h"

#define MAX_WORDS (KW_MAX_CPUS / 64)
#define NR_KEPT	  16

struct kept_text {
	char *str;
	size_t len;
	uint32_t bits;
	bool list;
	uint64_t word[MAX_WORDS];
};

struct masks {
	uint32_t cpus_bits, mems_bits; /* that are shown; 0: not known */
	struct kept_text kept[NR_KEPT];
	unsigned int nr;
};

/* The size of a mask in bits. */
static uint32_t capacity(kw_ctx *ctx, const struct kw_member *member)
{
	uint64_t size = kw_type_size(ctx, member->type);

	return size <= MAX_WORDS * 8 ? (uint32_t)size * 8 : 0;
}

/*
 * /proc shows nr_cpu_ids bits of the first, MAX_NUMNODES of the second; since 7.3 nr_node_ids, which can't be seen in a
 * structure: the series of that release that made task_struct.real_fs is taken for it.
 */
static void find_bits(kw_ctx *ctx, const struct kw_kernel *kernel, struct masks *m)
{
	struct kw_member member;
	uint64_t nodes;

	if (kw_type_offset(ctx, "task_struct", "cpus_mask", &member) == KW_OK) {
		uint32_t bits = capacity(ctx, &member);

		m->cpus_bits = kernel->nr_cpus < bits ? kernel->nr_cpus : bits;
	}
	if (kw_type_offset(ctx, "task_struct", "mems_allowed", &member) == KW_OK) {
		m->mems_bits = capacity(ctx, &member);
		if (kw_type_offset(ctx, "task_struct", "real_fs", &member) == KW_OK &&
		    kw_symbol_value(ctx, "nr_node_ids", 4, &nodes) == KW_OK && nodes && nodes < m->mems_bits)
			m->mems_bits = (uint32_t)nodes;
	}
	kw_clear_error(ctx);
}

static void *make_masks(struct kw_row *row)
{
	struct masks *m = calloc(1, sizeof(*m));

	if (m)
		find_bits(row->ctx, row->kernel, m);
	return m;
}

static void free_masks(void *state)
{
	struct masks *m = state;

	for (unsigned int i = 0; i < NR_KEPT; i++)
		free(m->kept[i].str);
	free(m);
}

static bool has_bit(const uint64_t *word, uint32_t bit)
{
	return word[bit / 64] >> (bit % 64) & 1;
}

/* As %*pb: the topmost group has as many digits as its bits need. */
static void write_mask(struct kw_strbuf *sb, const uint64_t *word, uint32_t bits)
{
	for (uint32_t group = (bits + 31) / 32; group-- > 0;) {
		uint32_t width = group == (bits - 1) / 32 && bits % 32 ? bits % 32 : 32;
		uint32_t value = (uint32_t)(word[group / 2] >> (group % 2 * 32));

		if (width < 32)
			value &= (1u << width) - 1;
		kw_strbuf_printf(sb, "%0*" PRIx32, (int)(width + 3) / 4, value);
		if (group)
			kw_strbuf_putc(sb, ',');
	}
}

/* As %*pbl */
static void write_list(struct kw_strbuf *sb, const uint64_t *word, uint32_t bits)
{
	for (uint32_t bit = 0, end; bit < bits; bit = end + 1) {
		for (end = bit; end < bits && has_bit(word, end); end++)
			;
		if (end == bit)
			continue;
		if (sb->len)
			kw_strbuf_putc(sb, ',');
		kw_strbuf_printf(sb, end - bit > 1 ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, bit, end - 1);
	}
}

static const struct kept_text *find_kept(const struct masks *m, const uint64_t *word, uint32_t bits,
					 bool list)
{
	for (unsigned int i = 0; i < NR_KEPT; i++) {
		const struct kept_text *k = &m->kept[i];

		if (k->bits == bits && k->list == list && !memcmp(k->word, word, (bits + 63) / 64 * 8))
			return k;
	}
	return NULL;
}

/* The text that is replaced may be in this row: the row has a copy of each. */
static void keep(struct masks *m, struct kw_strbuf *sb, const uint64_t *word, uint32_t bits, bool list)
{
	struct kept_text *k = &m->kept[m->nr++ % NR_KEPT];

	free(k->str);
	k->len = sb->len;
	k->str = kw_strbuf_take(sb);
	k->bits = k->str || !k->len ? bits : 0;
	k->list = list;
	memcpy(k->word, word, (bits + 63) / 64 * 8);
}

static void show(struct kw_row *row, struct masks *m, uint32_t bits, bool list, const char *mask,
		 struct kw_value *out)
{
	uint64_t word[MAX_WORDS];
	const struct kept_text *k;

	memcpy(word, mask, (bits + 63) / 64 * 8);
	k = find_kept(m, word, bits, list);
	if (k) {
		kw_row_put(row, out, k->str, k->len);
	} else {
		struct kw_strbuf sb = { 0 };

		if (list)
			write_list(&sb, word, bits);
		else
			write_mask(&sb, word, bits);
		kw_row_put(row, out, sb.str, sb.len);
		if (!sb.failed)
			keep(m, &sb, word, bits, list);
		kw_strbuf_free(&sb);
	}
}

static void show_mask(struct kw_row *row, const struct kw_value *in, struct kw_value *out, bool mems,
		      bool list)
{
	struct masks *m = kw_row_keep(row, KW_KEEP_MASKS, make_masks, free_masks);
	uint32_t bits = !m ? 0 : mems ? m->mems_bits : m->cpus_bits;

	if (kw_pass_absent(in, 1, out))
		return;
	if (!bits || bits > in[0].len * 8)
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
	else
		show(row, m, bits, list, in[0].str, out);
}

static void cpus_mask(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show_mask(row, in, out, false, false);
}

static void cpus_list(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show_mask(row, in, out, false, true);
}

static void mems_mask(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show_mask(row, in, out, true, false);
}

static void mems_list(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show_mask(row, in, out, true, true);
}

#define STRING KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_OBJECT

static const struct kw_field_def fields[] = {
	{ { "cpus_allowed", "CPUS", "Cpus_allowed", STRING, "CPUs it may run on, as a mask",
	    "task_struct.cpus_mask" },
	  { "cpus_mask.bits" },
	  cpus_mask,
	  0 },
	{ { "cpus_allowed_list", "CPULIST", "Cpus_allowed_list", STRING, "CPUs it may run on",
	    "task_struct.cpus_mask" },
	  { "cpus_mask.bits" },
	  cpus_list,
	  0 },
	{ { "mems_allowed", "MEMS", "Mems_allowed", STRING, "memory nodes it may use, as a mask",
	    "task_struct.mems_allowed" },
	  { "mems_allowed.bits" },
	  mems_mask,
	  0 },
	{ { "mems_allowed_list", "MEMLIST", "Mems_allowed_list", STRING, "memory nodes it may use",
	    "task_struct.mems_allowed" },
	  { "mems_allowed.bits" },
	  mems_list,
	  0 },
};

const struct kw_field_table kw_affinity_fields = { fields, sizeof(fields) / sizeof(fields[0]) };
