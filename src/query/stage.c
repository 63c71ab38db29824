/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding names to fields and paths, and running what was bound. */
#include "query/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/error.h"
#include "util/nearest.h"

void kw_stage_deinit(struct kw_stage *stage)
{
	kw_plan_deinit(&stage->plan);
	free(stage->computed.item);
	free(stage->constants.item);
	*stage = (struct kw_stage){ 0 };
}

static kw_status unknown_column(kw_ctx *ctx, const struct kw_kernel *kernel, const char *name)
{
	struct kw_nearest nearest = { .want = name };
	const struct kw_field *field;
	struct kw_member member;
	char text[256];

	if (kw_type_member(ctx, kernel->task_struct, name, &member) == KW_OK)
		return kw_fail(ctx, KW_NOTFOUND,
			       "unknown column \"%s\"; the member of task_struct is task.%s", name, name);
	for (size_t i = 0; (field = kw_field_at(i)); i++)
		kw_nearest_offer(&nearest, field->name);
	kw_nearest_text(&nearest, text, sizeof(text));
	return kw_fail(ctx, KW_NOTFOUND, "unknown column \"%s\"%s", name,
		       *text ? text : "; kwalk fields lists all, task.MEMBER is a raw path");
}

static kw_status bind_path(kw_ctx *ctx, const struct kw_kernel *kernel, const char *name,
			   struct kw_binding *ret)
{
	bool rooted = strncmp(name, "task.", 5) == 0 || strncmp(name, "task->", 6) == 0;
	const char *text = !rooted ? name : name[4] == '.' ? name + 5 : name + 6;
	enum kw_value_type type;
	kw_status status = kw_path_compile(ctx, kernel->task_struct, text, &ret->path);

	if (status)
		return kw_fail_in(ctx, "column");
	type = kw_path_value_type(ctx, &ret->path);
	if (type == KW_VAL_ABSENT) {
		char kind[128];

		kw_type_name(ctx, ret->path.type, kind, sizeof(kind));
		return kw_fail(ctx, KW_INVALID,
			       "column \"%s\": is of type %s, not a value; name a member of it", name, kind);
	}
	ret->def = NULL;
	ret->column = (struct kw_column){
		.name = name,
		.header = name,
		.type = type == KW_VAL_ENUM ? KW_VAL_STRING : type,
		.display = type == KW_VAL_ADDRESS ? KW_SHOW_HEX : KW_SHOW_PLAIN,
	};
	return KW_OK;
}

kw_status kw_bind(kw_ctx *ctx, const struct kw_kernel *kernel, const char *name, struct kw_binding *ret)
{
	const struct kw_field *field = kw_field_find(name);

	if (!field)
		return strpbrk(name, ".[>|") ? bind_path(ctx, kernel, name, ret)
					     : unknown_column(ctx, kernel, name);
	*ret = (struct kw_binding){
		.def = kw_field_def(field),
		.column = { .name = name,
			    .header = field->header,
			    .type = field->type,
			    .unit = field->unit,
			    .display = field->display },
	};
	return KW_OK;
}

static kw_status add_need(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_stage *stage,
			  const char *text, uint32_t slot)
{
	struct kw_path path;
	kw_status status = kw_path_compile(ctx, kernel->task_struct, text, &path);
	struct kw_constant missing = { slot, { .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NO_MEMBER } };

	if (!status)
		return kw_plan_add(ctx, &stage->plan, &path, slot);
	if (status == KW_NOMEM)
		return status;
	kw_clear_error(ctx);
	return kw_array_push(&stage->constants, missing) ? KW_OK : kw_fail_nomem(ctx);
}

static kw_status add_computed(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_stage *stage,
			      struct kw_slots *slots, const struct kw_field_def *def, uint32_t out)
{
	struct kw_stage_item item = { .def = def, .in = slots->nr, .out = out };

	for (size_t i = 0; i < KW_FIELD_MAX_NEEDS && def->needs[i]; i++) {
		kw_status status = add_need(ctx, kernel, stage, def->needs[i], slots->nr++);

		if (status)
			return status;
	}
	stage->needs_clock |= def->needs_clock;
	stage->needs_cputime |= def->pub.cost == KW_COST_THREADS;
	stage->needs_users |= strstr(def->pub.name, "user") != NULL;
	return kw_array_push(&stage->computed, item) ? KW_OK : kw_fail_nomem(ctx);
}

kw_status kw_stage_add(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_stage *stage,
		       struct kw_slots *slots, const struct kw_binding *binding, uint32_t out)
{
	const struct kw_type *type;
	struct kw_stage_item item = { .in = out, .out = out };

	if (binding->def && binding->def->compute)
		return add_computed(ctx, kernel, stage, slots, binding->def, out);
	if (binding->def)
		return add_need(ctx, kernel, stage, binding->def->needs[0], out);
	type = kw_type_strip(ctx, binding->path.type);
	if (type->kind == KW_TYPE_ENUM) {
		item.enumeration = type;
		if (!kw_array_push(&stage->computed, item))
			return kw_fail_nomem(ctx);
	}
	return kw_plan_add(ctx, &stage->plan, &binding->path, out);
}

kw_status kw_stage_add_path(kw_ctx *ctx, const struct kw_kernel *kernel, struct kw_stage *stage,
			    const char *path, uint32_t out)
{
	struct kw_path compiled;
	kw_status status = kw_path_compile(ctx, kernel->task_struct, path, &compiled);

	return status ? status : kw_plan_add(ctx, &stage->plan, &compiled, out);
}

kw_status kw_stage_finish(kw_ctx *ctx, struct kw_stage *stage)
{
	return kw_plan_finish(ctx, &stage->plan);
}

/* A number that no enumerator has stays a number. */
static void name_enumerator(kw_ctx *ctx, const struct kw_type *type, struct kw_value *value)
{
	const char *name;
	int64_t number;

	if (value->type != KW_VAL_ENUM)
		return;
	for (uint32_t i = 0; i < type->count; i++) {
		if (kw_enumerator_at(ctx, type, i, &name, &number) == KW_OK && (uint64_t)number == value->u) {
			kw_set_string(value, name);
			return;
		}
	}
	value->type = type->encoding == KW_INT_SIGNED ? KW_VAL_INT : KW_VAL_UINT;
}

static void compute(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	for (size_t i = 0; i < stage->constants.nr; i++)
		values[stage->constants.item[i].slot] = stage->constants.item[i].value;
	for (size_t i = 0; i < stage->computed.nr; i++) {
		const struct kw_stage_item *item = &stage->computed.item[i];

		if (item->def)
			item->def->compute(row, &values[item->in], &values[item->out]);
		else
			name_enumerator(row->ctx, item->enumeration, &values[item->out]);
	}
}

kw_status kw_stage_run(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	kw_status status = kw_plan_run(row->ctx, &stage->plan, row->task, values);

	compute(stage, row, values);
	return status;
}

kw_status kw_stage_take(struct kw_stage *stage, struct kw_row *row, size_t fetched, struct kw_value *values)
{
	kw_status status = kw_plan_take(row->ctx, &stage->plan, fetched, values);

	compute(stage, row, values);
	return status;
}
