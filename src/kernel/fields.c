/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making the values of fields. */
#include <stddef.h>
#include <string.h>

#include "kernel/field_table.h"

const struct kw_field_def *kw_field_def(const struct kw_field *field)
{
	return (const struct kw_field_def *)((const char *)field - offsetof(struct kw_field_def, pub));
}

void kw_set_string(struct kw_value *out, const char *str)
{
	*out = (struct kw_value){ .type = KW_VAL_STRING, .len = (uint32_t)strlen(str), .str = str };
}
