/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "query/place.h"

#include <string.h>

#include "kernel/source.h"
#include "query/stage.h"
#include "util/error.h"

#define MAX_TRIES 3

void kw_places_deinit(struct kw_place *places)
{
	for (; places; places = places->next)
		kw_plan_deinit(&places->plan);
}

/* Follow the path's pointers; the place itself is not read. */
static void find(kw_ctx *ctx, const struct kw_path *path, uint64_t addr, struct kw_value *out)
{
	for (uint32_t i = 0; i < path->nr_hops; i++) {
		kw_status status = kw_read_u64(ctx, addr + path->hop[i], &addr);

		if (status || !addr) {
			kw_set_absent(out, status ? kw_absent_of_status(status) : path->null_reason[i]);
			return;
		}
	}
	*out = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = addr + path->offset };
}

/* What changes while it is read is read again. */
static void load(kw_ctx *ctx, struct kw_place *place, uint64_t addr, struct kw_value *out)
{
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		kw_plan_run(ctx, &place->plan, addr, out);
		if (!place->is_live || !kw_plan_changed(ctx, &place->plan)) {
			if (place->enumeration)
				kw_name_enumerator(ctx, place->enumeration, out);
			return;
		}
		kw_plan_forget(ctx, &place->plan);
	}
	kw_set_absent(out, KW_ABSENT_TORN);
}

static void read_string(struct kw_eval *env, uint64_t addr, struct kw_value *out)
{
	char text[KW_PATH_MAX_STRING];
	kw_status status = kw_read_string(env->ctx, addr, text, sizeof(text));
	char *copy;

	if (status) {
		kw_set_absent(out, kw_absent_of_status(status));
		return;
	}
	copy = kw_arena_copy(env->scratch, text, strlen(text));
	*out = (struct kw_value){ .type = KW_VAL_STRING,
				  .len = copy ? (uint32_t)strlen(text) : 0,
				  .str = copy ? copy : "" };
}

static void truncate_number(const struct kw_expr *e, uint64_t number, struct kw_value *out)
{
	unsigned int unused = 64 - (unsigned int)e->value.u;

	number <<= unused;
	if (e->type == KW_VAL_INT)
		kw_set_int(out, (int64_t)number >> unused);
	else
		kw_set_uint(out, number >> unused);
	if (e->type == KW_VAL_BOOL)
		kw_set_bool(out, number != 0);
}

static void name_number(const struct kw_expr *e, kw_ctx *ctx, uint64_t number, struct kw_value *out)
{
	*out = (struct kw_value){ .type = KW_VAL_ENUM, .u = number };
	kw_name_enumerator(ctx, e->enumeration, out);
}

/* `a` is the CPU; `b` the address in the area of each of them, else the offset of the symbol is known. */
static void find_per_cpu(const struct kw_expr *e, struct kw_eval *env, uint64_t cpu, struct kw_value *out)
{
	struct kw_value base = e->value;
	uint64_t address;

	if (e->b)
		kw_expr_eval(e->b, env, &base);
	if (base.type == KW_VAL_ABSENT) {
		*out = base;
		return;
	}
	address = cpu > UINT32_MAX ? KW_NO_ADDR : kw_percpu(e->kernel, base.u, (unsigned int)cpu);
	if (address == KW_NO_ADDR || base.type == KW_VAL_FLOAT)
		kw_set_absent(out, KW_ABSENT_NOT_APPLICABLE);
	else
		*out = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = address };
}

void kw_place_eval(const struct kw_expr *e, struct kw_eval *env, const struct kw_value *a,
		   struct kw_value *out)
{
	/* What grew beyond 64 bits is no address. */
	if (a->type == KW_VAL_FLOAT) {
		kw_set_absent(out, KW_ABSENT_UNMAPPED);
		return;
	}
	switch (e->op) {
	case KW_EXPR_POINTER: *out = (struct kw_value){ .type = KW_VAL_ADDRESS, .u = a->u }; return;
	case KW_EXPR_TRUNCATE: truncate_number(e, a->u, out); return;
	case KW_EXPR_ENUMERATOR: name_number(e, env->ctx, a->u, out); return;
	case KW_EXPR_PER_CPU: find_per_cpu(e, env, a->u, out); return;
	default: break;
	}
	if (!a->u)
		kw_set_absent(out, KW_ABSENT_NULL);
	else if (e->op == KW_EXPR_PLACE)
		find(env->ctx, &e->place->path, a->u, out);
	else if (e->op == KW_EXPR_STRING)
		read_string(env, a->u, out);
	else
		load(env->ctx, e->place, a->u, out);
}
