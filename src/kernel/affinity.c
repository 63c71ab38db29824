/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPUs and memory nodes that a task may use, as masks and lists in the kernel's own writing:
 *
 *     mask  groups of 32 bits in hexadecimal, the highest first, as many bits as there can be CPUs: 3, f,ffffffff
 *     list  0-3,7
 *
 * Most tasks have the same few masks: the texts of so many are kept as there is room for, for as long as the run.
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
#define NR_KEPT	  8

struct kept_text {
	struct kw_text *text;
	uint64_t word[MAX_WORDS];
};

enum { CPUS_MASK, CPUS_LIST, MEMS_MASK, MEMS_LIST, NR_WRITINGS };

/* One way to write one of the two masks, and what it gave. */
struct writing {
	struct kept_text kept[NR_KEPT];
	unsigned int nr;
	uint32_t bits; /* that are shown; 0: not known */
};

struct masks {
	struct writing writing[NR_WRITINGS];
	uint64_t run; /* whose texts they are, and those of earlier ones */
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
static void find_bits(kw_ctx *ctx, const struct kw_kernel *kernel, uint32_t *cpus, uint32_t *mems)
{
	struct kw_member member;
	uint64_t nodes;

	if (kw_type_offset(ctx, "task_struct", "cpus_mask", &member) == KW_OK) {
		uint32_t bits = capacity(ctx, &member);

		*cpus = kernel->nr_cpus < bits ? kernel->nr_cpus : bits;
	}
	if (kw_type_offset(ctx, "task_struct", "mems_allowed", &member) == KW_OK) {
		*mems = capacity(ctx, &member);
		if (kw_type_offset(ctx, "task_struct", "real_fs", &member) == KW_OK &&
		    kw_symbol_value(ctx, "nr_node_ids", 4, &nodes) == KW_OK && nodes && nodes < *mems)
			*mems = (uint32_t)nodes;
	}
	kw_clear_error(ctx);
}

static void *make_masks(struct kw_row *row)
{
	struct masks *m = calloc(1, sizeof(*m));
	uint32_t cpus = 0, mems = 0;

	if (!m)
		return NULL;
	find_bits(row->ctx, row->kernel, &cpus, &mems);
	m->writing[CPUS_MASK].bits = m->writing[CPUS_LIST].bits = cpus;
	m->writing[MEMS_MASK].bits = m->writing[MEMS_LIST].bits = mems;
	return m;
}

static void forget_texts(struct writing *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		free(w->kept[i].text);
	w->nr = 0;
}

static void free_masks(void *state)
{
	struct masks *m = state;

	for (size_t i = 0; i < NR_WRITINGS; i++)
		forget_texts(&m->writing[i]);
	free(m);
}

/* Room is made between runs: the rows of one hold what is kept. */
static void begin_run(struct masks *m, uint64_t run)
{
	m->run = run;
	for (size_t i = 0; i < NR_WRITINGS; i++)
		if (m->writing[i].nr == NR_KEPT)
			forget_texts(&m->writing[i]);
}

static struct masks *get_masks(struct kw_row *row)
{
	struct masks *m = kw_row_keep(row, KW_KEEP_MASKS, make_masks, free_masks);

	if (m && m->run != row->run)
		begin_run(m, row->run);
	return m;
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

static const struct kw_text *find_kept(const struct writing *w, const uint64_t *word, uint32_t nr)
{
	for (unsigned int i = 0; i < w->nr; i++) {
		const struct kept_text *k = &w->kept[i];

		if (k->word[0] == word[0] && !memcmp(k->word, word, nr * sizeof(*word)))
			return k->text;
	}
	return NULL;
}

static void keep(struct writing *w, const struct kw_strbuf *sb, const uint64_t *word, uint32_t nr)
{
	struct kept_text *k = &w->kept[w->nr];

	if (w->nr == NR_KEPT || sb->failed || !(k->text = malloc(sizeof(*k->text) + sb->len + 1)))
		return;
	k->text->len = sb->len;
	memcpy(k->text->bytes, sb->str ? sb->str : "", sb->len);
	memcpy(k->word, word, nr * sizeof(*word));
	w->nr++;
}

/* in[0] the mask */
static void show(struct kw_row *row, unsigned int which, const struct kw_value *in, struct kw_value *out)
{
	struct masks *m = get_masks(row);
	struct writing *w = m ? &m->writing[which] : NULL;
	uint32_t nr;
	uint64_t word[MAX_WORDS];
	const struct kw_text *text;
	struct kw_strbuf sb = { 0 };

	if (kw_pass_absent(in, 1, out))
		return;
	if (!w || !w->bits || w->bits > in[0].len * 8) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	nr = (w->bits + 63) / 64;
	memcpy(word, in[0].str, nr * sizeof(*word));
	text = find_kept(w, word, nr);
	if (text) {
		kw_set_text(out, text);
		return;
	}
	if (which == CPUS_LIST || which == MEMS_LIST)
		write_list(&sb, word, w->bits);
	else
		write_mask(&sb, word, w->bits);
	kw_row_put(row, out, sb.str, sb.len);
	keep(w, &sb, word, nr);
	kw_strbuf_free(&sb);
}

static void cpus_mask(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show(row, CPUS_MASK, in, out);
}

static void cpus_list(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show(row, CPUS_LIST, in, out);
}

static void mems_mask(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show(row, MEMS_MASK, in, out);
}

static void mems_list(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	show(row, MEMS_LIST, in, out);
}

#define STRING KW_VAL_STRING, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_BOTH, KW_COST_OBJECT

static const struct kw_field_def fields[] = {
	{ { "cpus_allowed", "CPUS", "Cpus_allowed", STRING, "CPUs it may run on, as a mask",
	    "task_struct.cpus_mask" },
	  { "cpus_mask.bits" },
	  cpus_mask,
	  KW_USES_CPU_BITS },
	{ { "cpus_allowed_list", "CPULIST", "Cpus_allowed_list", STRING, "CPUs it may run on",
	    "task_struct.cpus_mask" },
	  { "cpus_mask.bits" },
	  cpus_list,
	  KW_USES_CPU_BITS },
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
