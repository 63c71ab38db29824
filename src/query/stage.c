/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding names to fields and paths, and running what was bound. */
#include "query/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/pid_ns_view.h"
#include "memory/view.h"
#include "util/array.h"
#include "util/error.h"
#include "util/nearest.h"

#define NEEDS_FLAGS (KW_USES_FLAGS | KW_USES_MM)

void kw_stage_deinit(struct kw_stage *stage)
{
	kw_plan_deinit(&stage->plan);
	free(stage->inputs.item);
	free(stage->makings.item);
	kw_arena_free(&stage->scratch);
	free(stage->computed.item);
	free(stage->of_mm.item);
	free(stage->sums.item);
	free(stage->constants.item);
	for (size_t i = 0; i < stage->readings.nr; i++)
		free(stage->readings.item[i].values);
	free(stage->readings.item);
	free(stage->picks.item);
	*stage = (struct kw_stage){ 0 };
}

const char *kw_root_name(const struct kw_root *root)
{
	if (!root->type)
		return NULL;
	return root->type == root->kernel->task_struct ? "task" : root->type->name;
}

static kw_status unknown_column(kw_ctx *ctx, const struct kw_root *root, const char *name)
{
	const char *source = root->source->pub.name, *object = kw_root_name(root);
	struct kw_nearest nearest = { .want = name };
	const struct kw_field *field;
	struct kw_member member;
	char text[256];

	if (object && kw_type_member(ctx, root->type, name, &member) == KW_OK)
		return kw_fail(ctx, KW_NOTFOUND, "unknown column \"%s\"; the member of %s is %s.%s", name,
			       root->type->name, object, name);
	for (size_t i = 0; (field = kw_field_at(source, i)); i++)
		kw_nearest_offer(&nearest, field->name);
	kw_nearest_text(&nearest, text, sizeof(text));
	if (*text)
		return kw_fail(ctx, KW_NOTFOUND, "unknown column \"%s\"%s", name, text);
	if (root->type == root->kernel->task_struct)
		return kw_fail(ctx, KW_NOTFOUND,
			       "unknown column \"%s\"; kwalk fields lists all, task.MEMBER is a raw path",
			       name);
	return kw_fail(ctx, KW_NOTFOUND, "unknown column \"%s\"; kwalk fields %s lists all", name, source);
}

const char *kw_path_in_row(const struct kw_root *root, const char *name)
{
	const char *object = kw_root_name(root);
	size_t len = strlen(object);

	if (strncmp(name, object, len) != 0)
		return name;
	return name[len] == '.' ? name + len + 1 : strncmp(name + len, "->", 2) == 0 ? name + len + 2 : name;
}

kw_status kw_bind_path(kw_ctx *ctx, const struct kw_root *root, const char *name, struct kw_binding *ret)
{
	enum kw_value_type type;
	kw_status status = kw_path_compile(ctx, root->type, kw_path_in_row(root, name), &ret->path);

	ret->def = NULL;
	ret->group = NULL;
	ret->expr = NULL;
	if (status)
		return status;
	type = kw_path_value_type(ctx, &ret->path);
	if (type == KW_VAL_ABSENT) {
		char kind[128];

		kw_type_name(ctx, ret->path.type, kind, sizeof(kind));
		return kw_fail(ctx, KW_INVALID, "\"%s\": is of type %s, not a value; name a member of it",
			       name, kind);
	}
	ret->column = (struct kw_column){
		.name = name,
		.header = name,
		.type = type == KW_VAL_ENUM ? KW_VAL_STRING : type,
		.display = type == KW_VAL_ADDRESS ? KW_SHOW_HEX : KW_SHOW_PLAIN,
	};
	return KW_OK;
}

/* The columns of an option are known by their place in the message. */
static kw_status in_column(kw_ctx *ctx)
{
	char *message = strdup(kw_error(ctx));
	kw_status status = ctx->status;

	if (!message)
		return kw_fail_nomem(ctx);
	kw_fail(ctx, status, *message == '"' ? "column %s" : "column: %s", message);
	free(message);
	return status;
}

kw_status kw_bind(kw_ctx *ctx, const struct kw_root *root, const char *name, struct kw_binding *ret)
{
	const struct kw_field_group *group;
	const struct kw_field_def *def = kw_source_field(root->source, name, &group), *in_ns;

	if (root->in_ns && (in_ns = kw_table_field(&kw_pid_ns_view_fields, name)))
		def = in_ns;
	if (!def && root->type && strpbrk(name, ".[>|"))
		return kw_bind_path(ctx, root, name, ret) ? in_column(ctx) : KW_OK;
	if (!def)
		return unknown_column(ctx, root, name);
	*ret = (struct kw_binding){
		.def = def,
		.group = group,
		.column = { .name = name,
			    .header = def->pub.header,
			    .type = def->pub.type,
			    .unit = def->pub.unit,
			    .display = def->pub.display },
	};
	return KW_OK;
}

static kw_status add_need(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage, const char *text,
			  uint32_t slot)
{
	struct kw_path path;
	/* A kernel without the structure lacks all of its members. */
	kw_status status = root->type ? kw_path_compile(ctx, root->type, text, &path) : KW_NOTFOUND;
	struct kw_constant missing = { slot, { .type = KW_VAL_ABSENT, .absent = KW_ABSENT_NO_MEMBER } };

	if (!status)
		return kw_plan_add(ctx, &stage->plan, &path, slot);
	if (status == KW_NOMEM)
		return status;
	kw_clear_error(ctx);
	return kw_array_push(&stage->constants, missing) ? KW_OK : kw_fail_nomem(ctx);
}

static bool have_same_needs(const struct kw_field_def *one, const struct kw_field_def *other)
{
	for (size_t i = 0; i < KW_FIELD_MAX_NEEDS; i++) {
		if (!one->needs[i] || !other->needs[i])
			return one->needs[i] == other->needs[i];
		if (strcmp(one->needs[i], other->needs[i]) != 0)
			return false;
	}
	return true;
}

/* The first of the needs of a field, where another has the very same ones. */
static bool find_needs(const struct kw_stage_items *items, const struct kw_field_def *def, uint32_t *ret_in)
{
	for (size_t i = 0; i < items->nr; i++) {
		if (!items->item[i].def || !have_same_needs(items->item[i].def, def))
			continue;
		*ret_in = items->item[i].in;
		return true;
	}
	return false;
}

static kw_status add_needs(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			   struct kw_slots *slots, const struct kw_field_def *def, uint32_t *ret_in)
{
	kw_status status = KW_OK;

	if (find_needs(&stage->computed, def, ret_in) || find_needs(&stage->of_mm, def, ret_in))
		return KW_OK;
	*ret_in = slots->nr;
	for (size_t i = 0; !status && i < KW_FIELD_MAX_NEEDS && def->needs[i]; i++)
		status = add_need(ctx, root, stage, def->needs[i], slots->nr++);
	return status;
}

static kw_status add_computed(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			      struct kw_slots *slots, const struct kw_field_def *def, uint32_t out)
{
	struct kw_stage_items *items = def->uses & KW_USES_MM ? &stage->of_mm : &stage->computed;
	struct kw_stage_item item = { .def = def, .compute = def->compute, .out = out };
	kw_status status = add_needs(ctx, root, stage, slots, def, &item.in);

	if (status)
		return status;
	if (def->uses & NEEDS_FLAGS && !(stage->uses & NEEDS_FLAGS)) {
		status = add_need(ctx, root, stage, "flags", stage->flags_slot = slots->nr++);
		if (status)
			return status;
	}
	stage->uses |= def->uses;
	return kw_array_push(items, item) ? KW_OK : kw_fail_nomem(ctx);
}

/* Its inputs are added when all that is summed is known. */
static kw_status add_sum(kw_ctx *ctx, struct kw_stage *stage, const struct kw_field_def *def, uint32_t out)
{
	struct kw_sum_place place = { kw_sum_of(def->uses), out };

	stage->uses |= def->uses;
	return kw_array_push(&stage->sums, place) ? KW_OK : kw_fail_nomem(ctx);
}

static kw_status find_reading(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			      const struct kw_field_group *group, uint32_t *ret)
{
	struct kw_reading reading = { .group = group, .read = group->read, .read_rows = group->read_rows };

	for (*ret = 0; *ret < stage->readings.nr; ++*ret)
		if (stage->readings.item[*ret].group == group)
			return KW_OK;
	if (group->subject) {
		reading.layout = kw_layout_get(ctx, root->kernel, group->subject);
		if (!reading.layout)
			return ctx->status;
	}
	reading.values = calloc(group->table->nr, sizeof(*reading.values));
	if (!reading.values || !kw_array_push(&stage->readings, reading)) {
		free(reading.values);
		return kw_fail_nomem(ctx);
	}
	return KW_OK;
}

static kw_status add_reading(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			     const struct kw_binding *binding, uint32_t out)
{
	size_t field = (size_t)(binding->def - binding->group->table->fields);
	struct kw_pick pick = { .out = out };
	uint32_t i;
	kw_status status = find_reading(ctx, root, stage, binding->group, &i);

	if (status)
		return status;
	stage->readings.item[i].wanted |= kw_wanted_bit(field);
	pick.from = &stage->readings.item[i].values[field];
	return kw_array_push(&stage->picks, pick) ? KW_OK : kw_fail_nomem(ctx);
}

static const struct kw_input *find_input(const struct kw_stage *stage, const struct kw_binding *binding)
{
	for (size_t i = 0; stage && i < stage->inputs.nr; i++) {
		const struct kw_input *input = &stage->inputs.item[i];

		if (binding->def ? input->def == binding->def
				 : input->path && strcmp(input->path, binding->column.name) == 0)
			return input;
	}
	return stage ? find_input(stage->before, binding) : NULL;
}

static kw_status add_making(kw_ctx *ctx, struct kw_stage *stage, const struct kw_making *making)
{
	return kw_array_push(&stage->makings, *making) ? KW_OK : kw_fail_nomem(ctx);
}

static kw_status add_field(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			   struct kw_slots *slots, const struct kw_binding *binding, uint32_t out);

static kw_status add_input(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			   struct kw_slots *slots, struct kw_expr *field)
{
	const struct kw_binding *binding = field->binding;
	const struct kw_input *known = find_input(stage, binding);
	struct kw_input input = { binding->def, binding->def ? NULL : binding->column.name, slots->nr };

	if (known) {
		field->slot = known->slot;
		return KW_OK;
	}
	field->slot = slots->nr++;
	if (!kw_array_push(&stage->inputs, input))
		return kw_fail_nomem(ctx);
	return add_field(ctx, root, stage, slots, binding, field->slot);
}

kw_status kw_stage_add(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
		       struct kw_slots *slots, const struct kw_binding *binding, uint32_t out)
{
	const struct kw_input *known;

	if (binding->expr) {
		struct kw_making making = { .expr = binding->expr, .out = out };

		for (struct kw_expr *field = binding->fields; field; field = field->next_field) {
			kw_status status = add_input(ctx, root, stage, slots, field);

			if (status)
				return status;
		}
		stage->uses |= binding->uses;
		return add_making(ctx, stage, &making);
	}
	known = find_input(stage->before, binding);
	if (known) {
		struct kw_making copy = { .from = known->slot, .out = out };

		return add_making(ctx, stage, &copy);
	}
	return add_field(ctx, root, stage, slots, binding, out);
}

static kw_status add_field(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			   struct kw_slots *slots, const struct kw_binding *binding, uint32_t out)
{
	const struct kw_type *type;
	struct kw_stage_item item = { .in = out, .out = out };

	if (binding->group && kw_group_is_read(binding->group))
		return add_reading(ctx, root, stage, binding, out);
	if (binding->def && !binding->def->compute && binding->def->uses & KW_SUMS)
		return add_sum(ctx, stage, binding->def, out);
	if (binding->def && (binding->def->compute || binding->def->uses))
		return add_computed(ctx, root, stage, slots, binding->def, out);
	if (binding->def)
		return add_need(ctx, root, stage, binding->def->needs[0], out);
	type = kw_type_strip(ctx, binding->path.type);
	if (type->kind == KW_TYPE_ENUM) {
		item.enumeration = type;
		if (!kw_array_push(&stage->computed, item))
			return kw_fail_nomem(ctx);
	}
	return kw_plan_add(ctx, &stage->plan, &binding->path, out);
}

kw_status kw_stage_add_path(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage, const char *path,
			    uint32_t *slot)
{
	struct kw_path compiled;
	kw_status status = kw_path_compile(ctx, root->type, path, &compiled);

	if (status || kw_plan_has(ctx, &stage->plan, &compiled, slot))
		return status;
	return kw_plan_add(ctx, &stage->plan, &compiled, *slot);
}

static kw_status add_sum_inputs(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
				struct kw_slots *slots)
{
	kw_status status = KW_OK;

	stage->sums_slot = slots->nr;
	slots->nr += KW_SUM_INPUTS;
	for (unsigned int i = 0; !status && i < KW_SUM_INPUTS; i++) {
		const char *path = kw_thread_sum_input(stage->uses, i);

		if (path)
			status = add_need(ctx, root, stage, path, stage->sums_slot + i);
	}
	return status;
}

/* Whether groups that are read are all that a stage has. */
static bool only_reads(const struct kw_stage *stage)
{
	return !stage->plan.loads.nr && !stage->uses && !stage->computed.nr && !stage->of_mm.nr &&
	       !stage->makings.nr;
}

static bool reads_rows(const struct kw_stage *stage)
{
	if (!stage->only_reads || stage->constants.nr || !stage->readings.nr)
		return false;
	for (size_t i = 0; i < stage->readings.nr; i++)
		if (!stage->readings.item[i].group->read_rows)
			return false;
	for (size_t i = 0; i < stage->picks.nr; i++)
		for (size_t k = 0; k < i; k++)
			if (stage->picks.item[k].from == stage->picks.item[i].from)
				return false;
	return true;
}

kw_status kw_stage_finish(kw_ctx *ctx, const struct kw_root *root, struct kw_stage *stage,
			  struct kw_slots *slots)
{
	kw_status status = stage->uses & KW_SUMS ? add_sum_inputs(ctx, root, stage, slots) : KW_OK;

	if (status)
		return status;
	stage->only_reads = only_reads(stage);
	stage->reads_rows = reads_rows(stage);
	return kw_plan_finish(ctx, &stage->plan);
}

void kw_name_enumerator(kw_ctx *ctx, const struct kw_type *type, struct kw_value *value)
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

static inline void read_groups(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	const struct kw_reading *r = stage->readings.item, *last_reading = r + stage->readings.nr;
	const struct kw_pick *pick = stage->picks.item, *last_pick = pick + stage->picks.nr;

	for (; r < last_reading; r++) {
		row->wanted = r->wanted;
		if (r->read)
			r->read(row, r->layout, r->values);
		else
			kw_group_read(r->group, row, r->layout, r->values);
	}
	for (; pick < last_pick; pick++)
		values[pick->out] = *pick->from;
}

static void compute_fields(struct kw_row *row, const struct kw_stage_items *items, struct kw_value *values)
{
	const struct kw_stage_item *item = items->item, *end = item + items->nr;

	for (; item < end; item++) {
		if (item->compute)
			item->compute(row, &values[item->in], &values[item->out]);
		else if (item->def)
			values[item->out] = values[item->in];
		else
			kw_name_enumerator(row->ctx, item->enumeration, &values[item->out]);
	}
}

/* False when they are missing. */
static bool set_flags(const struct kw_stage *stage, struct kw_row *row, const struct kw_value *values)
{
	const struct kw_value *flags = &values[stage->flags_slot];

	row->flags = flags->type == KW_VAL_ABSENT ? 0 : (uint32_t)flags->u;
	return flags->type != KW_VAL_ABSENT;
}

/* Without the flags there is nothing that depends on them. */
static void deny_flags(const struct kw_stage *stage, const struct kw_stage_items *items,
		       struct kw_value *values)
{
	for (size_t i = 0; i < items->nr; i++) {
		const struct kw_stage_item *item = &items->item[i];

		if (item->def && item->def->uses & NEEDS_FLAGS)
			values[item->out] = values[stage->flags_slot];
	}
}

static void compute_of_mm(struct kw_row *row, const struct kw_stage_items *items, struct kw_value *values)
{
	if (!(row->flags & KW_PF_KTHREAD)) {
		compute_fields(row, items, values);
		return;
	}
	for (size_t i = 0; i < items->nr; i++)
		kw_set_absent(&values[items->item[i].out], KW_ABSENT_NO_MM);
}

static void make(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	struct kw_eval env = { row->ctx, values, row->clock, &stage->scratch, row };

	kw_arena_reset(&stage->scratch);
	for (size_t i = 0; i < stage->makings.nr; i++) {
		const struct kw_making *making = &stage->makings.item[i];

		if (making->expr)
			kw_expr_eval(making->expr, &env, &values[making->out]);
		else
			values[making->out] = values[making->from];
	}
}

void kw_stage_compute(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	bool has_flags;

	stage->rows++;
	if (stage->readings.nr)
		read_groups(stage, row, values);
	has_flags = !(stage->uses & NEEDS_FLAGS) || set_flags(stage, row, values);
	row->sum_inputs = &values[stage->sums_slot];
	row->sum_uses = stage->uses;
	compute_fields(row, &stage->computed, values);
	kw_thread_sums_put(row, stage->sums.item, stage->sums.nr, values);
	if (stage->of_mm.nr)
		compute_of_mm(row, &stage->of_mm, values);
	if (__builtin_expect(!has_flags, 0)) {
		deny_flags(stage, &stage->computed, values);
		deny_flags(stage, &stage->of_mm, values);
	}
	if (stage->makings.nr)
		make(stage, row, values);
}

static kw_status run_once(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	kw_status status = KW_OK;

	/* A row that is no object has nothing to load. */
	if (!row->task)
		for (size_t i = 0; i < stage->plan.loads.nr; i++)
			kw_set_absent(&values[stage->plan.loads.item[i].slot], KW_ABSENT_NOT_APPLICABLE);
	else if (stage->plan.loads.nr)
		status = kw_plan_run(row->ctx, &stage->plan, row->task, values);
	kw_stage_compute(stage, row, values);
	return status;
}

kw_status kw_stage_run(struct kw_stage *stage, struct kw_row *row, struct kw_value *values)
{
	uint64_t faults = kw_faults_now(row->ctx);
	kw_status status = KW_OK;

	if (stage->only_reads) {
		stage->rows++;
		read_groups(stage, row, values);
	} else {
		status = run_once(stage, row, values);
	}

	/* A page failed while fields looked at what lies in place. The second run sees it marked as failed. */
	if (__builtin_expect(kw_faults_now(row->ctx) != faults, 0)) {
		kw_row_go_on(row);
		status = run_once(stage, row, values);
	}
	return status;
}

void kw_stage_place_rows(struct kw_stage *stage, const struct kw_slots *slots)
{
	for (size_t i = 0; i < stage->readings.nr; i++) {
		struct kw_reading *r = &stage->readings.item[i];

		r->rows.stride = slots->nr;
		for (size_t k = 0; k < stage->picks.nr; k++) {
			size_t field = (size_t)(stage->picks.item[k].from - r->values);

			if (field < r->group->table->nr)
				r->rows.column[field] = &slots->values[stage->picks.item[k].out];
		}
	}
}

kw_status kw_stage_take(struct kw_stage *stage, struct kw_row *row, size_t fetched, struct kw_value *values)
{
	kw_status status = kw_plan_take(row->ctx, &stage->plan, fetched, values);

	kw_stage_compute(stage, row, values);
	return status;
}
