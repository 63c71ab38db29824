/* A context whose types come from a text. Included by the tests of src/type and of what prints types. */
#ifndef UNIT_TYPE_GIVEN_H
#define UNIT_TYPE_GIVEN_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/btf_builder.h"
#include "type/origin.h"
#include "type/types.h"
#include "util/context.h"

struct given {
	kw_ctx ctx;
	struct kw_target target;
};

/* Returns what taking the blob did. */
static inline kw_status given_open(struct given *given, const char *text)
{
	struct btf_blob blob = btf_build(text);
	kw_status status;

	memset(given, 0, sizeof(*given));
	given->ctx.target = &given->target;
	status = kw_types_take(&given->ctx, blob.data, blob.size);
	free(blob.data);
	return status;
}

static inline void given_close(struct given *given)
{
	kw_types_free(given->target.types);
	free(given->ctx.message);
}

static inline const struct kw_type *given_type(struct given *given, const char *name)
{
	const struct kw_type *type = NULL;

	cr_assert_eq(kw_type_find(&given->ctx, name, &type), KW_OK, "%s: %s", name, kw_error(&given->ctx));
	return type;
}

#endif
