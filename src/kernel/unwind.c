/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ORC: two tables of as many rows, sorted by address. The first has where the code begins that the same row of the
 * second is of, as the distance from the number itself.
 *
 *     __start_orc_unwind_ip   int            ip - &ip
 *     __start_orc_unwind      struct orc_entry  { sp_offset, bp_offset; sp_reg, bp_reg, type, ... : bits }
 *
 * Only the frames of C functions are followed: what lies between the scheduler and whoever called it.
 */
#include "kernel/unwind.h"

#include <string.h>

#include <kwalk/symbol.h>
#include <kwalk/type.h>

#include "memory/memory.h"
#include "type/types.h"
#include "util/bytes.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_ENTRIES (1u << 24)
#define SAMPLES	    512

/* Registers of orc_entry. In 7.1 some were renumbered: SP from 5, PREV_SP from 1. */
enum { REG_UNDEFINED = 0, REG_BP = 4, REG_SP_OLD = 5, REG_PREV_SP_OLD = 1, REG_SP = 3, REG_PREV_SP = 8 };

/* Types: until 6.3 functions were 0, and the end of the stack had a bit of its own. */
enum { TYPE_CALL_OLD = 0, TYPE_CALL = 2 };

static bool member_of(kw_ctx *ctx, const struct kw_type *type, const char *name, struct kw_orc_member *ret)
{
	struct kw_member member;
	uint64_t bits;

	if (kw_type_member(ctx, type, name, &member) != KW_OK)
		return false;
	bits = member.bit_size ? member.bit_size : kw_type_size(ctx, member.type) * 8;
	if (!bits || bits > 32 || member.bit_offset + bits > KW_ORC_BYTES * 8)
		return false;
	*ret = (struct kw_orc_member){ (uint32_t)member.bit_offset, (uint32_t)bits };
	return true;
}

static void resolve_entry(kw_ctx *ctx, struct kw_unwind_layout *l)
{
	const struct kw_type *type;

	if (kw_type_find(ctx, "struct orc_entry", &type) != KW_OK || type->size > KW_ORC_BYTES)
		return;
	if (!member_of(ctx, type, "sp_offset", &l->sp_offset) ||
	    !member_of(ctx, type, "bp_offset", &l->bp_offset) ||
	    !member_of(ctx, type, "sp_reg", &l->sp_reg) || !member_of(ctx, type, "bp_reg", &l->bp_reg) ||
	    !member_of(ctx, type, "type", &l->type))
		return;
	l->entry_size = (uint32_t)type->size;
	l->type_call = member_of(ctx, type, "end", &l->end) ? TYPE_CALL_OLD : TYPE_CALL;
}

static uint64_t nr_entries(const struct kw_unwind_layout *l)
{
	return l->ips == KW_NO_ADDR || l->ips_end <= l->ips ? 0 : (l->ips_end - l->ips) / 4;
}

static uint32_t bits_of(const uint8_t *entry, const struct kw_orc_member *member)
{
	uint64_t word = kw_load_u64(entry + member->shift / 8);

	return (uint32_t)(word >> member->shift % 8 & ((1ULL << member->bits) - 1));
}

static kw_status read_entry(kw_ctx *ctx, const struct kw_unwind_layout *l, uint64_t i,
			    uint8_t entry[KW_ORC_BYTES + 8])
{
	memset(entry, 0, KW_ORC_BYTES + 8);
	return kw_read(ctx, l->entries + i * l->entry_size, entry, l->entry_size);
}

/*
 * How the stack pointer is numbered can't be seen in any structure. But nearly all code finds its caller's from its own,
 * and 3 was DI before, which hardly any does: what a sample of entries has more of is taken for it.
 */
static void find_registers(kw_ctx *ctx, struct kw_unwind_layout *l)
{
	uint64_t nr = nr_entries(l), step = nr / SAMPLES + 1;
	unsigned int now = 0, old = 0;
	uint8_t entry[KW_ORC_BYTES + 8];

	for (uint64_t i = 0; i < nr && read_entry(ctx, l, i, entry) == KW_OK; i += step) {
		now += bits_of(entry, &l->sp_reg) == REG_SP;
		old += bits_of(entry, &l->sp_reg) == REG_SP_OLD;
	}
	l->reg_sp = now > old ? REG_SP : REG_SP_OLD;
	l->reg_prev_sp = now > old ? REG_PREV_SP : REG_PREV_SP_OLD;
}

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct kw_unwind_layout *l = layout;
	const struct kw_type *frame;
	struct {
		const char *name;
		uint64_t *address;
	} wanted[] = {
		{ "__start_orc_unwind_ip", &l->ips },
		{ "__stop_orc_unwind_ip", &l->ips_end },
		{ "__start_orc_unwind", &l->entries },
		{ "__stop_orc_unwind", &l->entries_end },
		{ "__sched_text_start", &l->sched },
		{ "__sched_text_end", &l->sched_end },
		{ "__lock_text_start", &l->locks },
		{ "__lock_text_end", &l->locks_end },
		{ "_stext", &l->text },
		{ "_etext", &l->text_end },
	};
	struct kw_symbol_query q[COUNT(wanted)];

	(void)kernel;
	for (size_t i = 0; i < COUNT(wanted); i++)
		q[i] = (struct kw_symbol_query){ wanted[i].name, KW_NO_ADDR };
	kw_symbol_addresses(ctx, q, COUNT(q));
	for (size_t i = 0; i < COUNT(wanted); i++)
		*wanted[i].address = q[i].addr;
	l->frame_bp = kw_offset_or_none(ctx, "inactive_task_frame", "bp");
	l->frame_return = kw_offset_or_none(ctx, "inactive_task_frame", "ret_addr");
	l->frame_size = kw_type_find(ctx, "struct inactive_task_frame", &frame) == KW_OK ? frame->size : 0;
	resolve_entry(ctx, l);
	if (l->entry_size && nr_entries(l) <= MAX_ENTRIES &&
	    l->entries_end - l->entries >= nr_entries(l) * l->entry_size)
		find_registers(ctx, l);
	else
		l->ips = KW_NO_ADDR;
	kw_clear_error(ctx);
	return KW_OK;
}

const struct kw_subject kw_unwind_subject = { sizeof(struct kw_unwind_layout), resolve };

bool kw_in_scheduler(const struct kw_unwind_layout *l, uint64_t ip)
{
	return (l->sched <= ip && ip < l->sched_end) || (l->locks <= ip && ip < l->locks_end);
}

static bool read_stack(kw_ctx *ctx, const struct kw_frame *f, uint64_t addr, uint64_t *ret)
{
	return addr >= f->stack && addr <= f->stack_end - sizeof(*ret) &&
	       kw_read_u64(ctx, addr, ret) == KW_OK;
}

kw_status kw_unwind_begin(kw_ctx *ctx, const struct kw_unwind_layout *l, uint64_t sp, uint64_t stack,
			  struct kw_frame *ret)
{
	struct kw_frame f = { .stack = stack, .stack_end = stack + KW_STACK_SIZE };

	if (l->frame_bp == KW_NO_ADDR || l->frame_return == KW_NO_ADDR || l->sched == KW_NO_ADDR ||
	    l->sched_end == KW_NO_ADDR)
		return KW_NOTFOUND;
	if (stack > UINT64_MAX - KW_STACK_SIZE || sp < stack || sp >= f.stack_end - l->frame_size)
		return KW_FORMAT;
	if (!read_stack(ctx, &f, sp + l->frame_return, &f.ip) ||
	    !read_stack(ctx, &f, sp + l->frame_bp, &f.bp))
		return KW_ABSENT;
	f.sp = sp + l->frame_size;
	*ret = f;
	return KW_OK;
}

/* Find the entry of an address: the last that begins at or before it. */
static bool find_entry(kw_ctx *ctx, const struct kw_unwind_layout *l, uint64_t ip,
		       uint8_t entry[KW_ORC_BYTES + 8])
{
	uint64_t first = 0, end = nr_entries(l);

	while (first < end) {
		uint64_t middle = first + (end - first) / 2, at = l->ips + middle * 4;
		int32_t distance;

		if (kw_read(ctx, at, &distance, sizeof(distance)) != KW_OK)
			return false;
		if (at + (uint64_t)(int64_t)distance <= ip)
			first = middle + 1;
		else
			end = middle;
	}
	return first && read_entry(ctx, l, first - 1, entry) == KW_OK;
}

/* The same, through the cache; NULL when it can't be had. */
static const uint8_t *cached_entry(kw_ctx *ctx, const struct kw_unwind_layout *l, struct kw_orc_cache *cache,
				   uint64_t ip)
{
	struct kw_orc_cached *c = &cache->item[(ip ^ ip >> 8) % COUNT(cache->item)];

	if (c->ip == ip)
		return c->entry;
	c->ip = 0;
	if (!find_entry(ctx, l, ip, c->entry))
		return NULL;
	c->ip = ip;
	return c->entry;
}

static bool next_bp(kw_ctx *ctx, const struct kw_unwind_layout *l, const uint8_t *entry,
		    const struct kw_frame *f, uint64_t caller_sp, uint64_t *ret)
{
	uint64_t offset = (uint64_t)(int16_t)bits_of(entry, &l->bp_offset);
	uint32_t reg = bits_of(entry, &l->bp_reg);

	if (reg == l->reg_prev_sp)
		return read_stack(ctx, f, caller_sp + offset, ret);
	if (reg == REG_BP)
		return read_stack(ctx, f, f->bp + offset, ret);
	*ret = f->bp;
	return reg == REG_UNDEFINED;
}

static bool next_by_orc(kw_ctx *ctx, const struct kw_unwind_layout *l, struct kw_orc_cache *cache,
			struct kw_frame *f)
{
	/* What it returns to is behind the call, and may be another function's. */
	const uint8_t *entry = cached_entry(ctx, l, cache, f->ip - 1);
	struct kw_frame caller = *f;
	uint32_t reg;

	if (!entry || bits_of(entry, &l->type) != l->type_call)
		return false;
	reg = bits_of(entry, &l->sp_reg);
	if (reg != l->reg_sp && reg != REG_BP)
		return false;
	caller.sp = (reg == REG_BP ? f->bp : f->sp) + (uint64_t)(int16_t)bits_of(entry, &l->sp_offset);
	if (caller.sp <= f->sp || !read_stack(ctx, f, caller.sp - 8, &caller.ip) ||
	    !next_bp(ctx, l, entry, f, caller.sp, &caller.bp))
		return false;
	*f = caller;
	return true;
}

bool kw_unwind_by_frame_pointer(kw_ctx *ctx, struct kw_frame *f)
{
	struct kw_frame caller = *f;

	if (!read_stack(ctx, f, f->bp + 8, &caller.ip) || !read_stack(ctx, f, f->bp, &caller.bp))
		return false;
	caller.sp = f->bp + 16;
	*f = caller;
	return true;
}

bool kw_unwind_next(kw_ctx *ctx, const struct kw_unwind_layout *l, struct kw_orc_cache *cache,
		    struct kw_frame *f)
{
	return l->ips != KW_NO_ADDR ? next_by_orc(ctx, l, cache, f) : kw_unwind_by_frame_pointer(ctx, f);
}
