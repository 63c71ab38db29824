/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The catalogue: the tables of all subjects, and looking things up in them. */
#include <stddef.h>
#include <string.h>

#include "kernel/field_table.h"
#include "util/error.h"

static const struct kw_field_table *const tables[] = { &kw_task_fields, &kw_mm_fields, &kw_cputime_fields };

#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))

const struct kw_field_def *kw_field_def(const struct kw_field *field)
{
	return (const struct kw_field_def *)((const char *)field - offsetof(struct kw_field_def, pub));
}

static bool has_alias(const char *aliases, const char *name)
{
	size_t len = strlen(name);

	while (*aliases) {
		size_t span = strcspn(aliases, ",");

		if (span == len && memcmp(aliases, name, len) == 0)
			return true;
		aliases += span + (aliases[span] == ',');
	}
	return false;
}

const struct kw_field *kw_field_find(const char *name)
{
	const struct kw_field *field;

	for (size_t i = 0; (field = kw_field_at(i)); i++)
		if (strcmp(field->name, name) == 0 || (*name && has_alias(field->aliases, name)))
			return field;
	return NULL;
}

const struct kw_field *kw_field_at(size_t i)
{
	for (size_t t = 0; t < NR_TABLES; t++) {
		if (i < tables[t]->nr)
			return &tables[t]->fields[i].pub;
		i -= tables[t]->nr;
	}
	return NULL;
}

kw_status kw_field_available(kw_ctx *ctx, const struct kw_field *field)
{
	const struct kw_field_def *def = kw_field_def(field);
	const struct kw_kernel *kernel;
	struct kw_path path;
	kw_status status = kw_kernel_get(ctx, &kernel);

	return status ? status : kw_path_compile(ctx, kernel->task_struct, def->needs[0], &path);
}

void kw_set_string(struct kw_value *out, const char *str)
{
	*out = (struct kw_value){ .type = KW_VAL_STRING, .len = (uint32_t)strlen(str), .str = str };
}

void kw_set_row_text(struct kw_row *row, struct kw_value *out, const char *str)
{
	size_t len = strlen(str);

	if (len > KW_ROW_TEXT - row->text_used)
		len = KW_ROW_TEXT - row->text_used;
	memcpy(row->text + row->text_used, str, len);
	*out = (struct kw_value){ .type = KW_VAL_STRING,
				  .len = (uint32_t)len,
				  .str = row->text + row->text_used };
	row->text_used += len;
}

bool kw_pass_absent(const struct kw_value *in, size_t nr, struct kw_value *out)
{
	for (size_t i = 0; i < nr; i++) {
		if (in[i].type == KW_VAL_ABSENT) {
			*out = in[i];
			return true;
		}
	}
	return false;
}
