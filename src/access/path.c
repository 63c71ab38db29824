/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiling member paths.
 *
 * The text is cut into steps, a member or an index each. That is done twice: first for the whole text, so that what is no
 * path in any kernel is said to be none even where an alternative before it would do.
 *
 * The compiler keeps a place: the type reached so far and its bit offset in the object of the last hop. Everything
 * that does not follow a pointer only moves the offset; following a pointer adds a hop and starts at 0 again.
 */
#include "access/path.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define MAX_NAME   128
#define MAX_UNWRAP 4

struct compiler {
	kw_ctx *ctx;
	const char *text; /* whole path, for messages */
	const char *at;
	const char *end; /* of this alternative */
	const struct kw_type *type;
	uint64_t bit_offset;
	uint32_t bit_size;
	const char *member; /* name of the last member, for the reason of a NULL */
	struct kw_path *path;
};

enum step_kind { STEP_END, STEP_MEMBER, STEP_INDEX };

struct step {
	enum step_kind kind;
	char name[MAX_NAME];	   /* of the member, or of an index's enum; "" for a number */
	char enumerator[MAX_NAME]; /* of an index */
	uint64_t index;
};

static kw_status syntax_error(struct compiler *c, const char *expected)
{
	return kw_fail(c->ctx, KW_INVALID, "path \"%s\": expected %s at column %zu", c->text, expected,
		       (size_t)(c->at - c->text) + 1);
}

static void skip_blanks(struct compiler *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at))
		c->at++;
}

static bool is_name_char(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

static kw_status take_name(struct compiler *c, char name[MAX_NAME])
{
	size_t len = 0;

	skip_blanks(c);
	while (c->at + len < c->end && is_name_char(c->at[len]))
		len++;
	if (!len || isdigit((unsigned char)*c->at))
		return syntax_error(c, "a member name");
	if (len >= MAX_NAME)
		return kw_fail(c->ctx, KW_INVALID, "path \"%.60s...\": a member name is longer than %d bytes",
			       c->text, MAX_NAME - 1);
	memcpy(name, c->at, len);
	name[len] = '\0';
	c->at += len;
	return KW_OK;
}

static bool take_if(struct compiler *c, const char *token)
{
	size_t len = strlen(token);

	skip_blanks(c);
	if ((size_t)(c->end - c->at) < len || memcmp(c->at, token, len) != 0)
		return false;
	c->at += len;
	return true;
}

/* `N]` or `enum_name.ENUMERATOR]` */
static kw_status take_index(struct compiler *c, struct step *step)
{
	kw_status status = KW_OK;

	step->kind = STEP_INDEX;
	step->name[0] = '\0';
	skip_blanks(c);
	if (c->at < c->end && isdigit((unsigned char)*c->at)) {
		char *stop;

		step->index = strtoull(c->at, &stop, 0);
		c->at = stop;
	} else if (c->at == c->end || !is_name_char(*c->at)) {
		return syntax_error(c, "a number or enum.ENUMERATOR");
	} else {
		status = take_name(c, step->name);
		if (!status && !take_if(c, "."))
			status = syntax_error(c, "a number or enum.ENUMERATOR");
		if (!status)
			status = take_name(c, step->enumerator);
	}
	if (!status && !take_if(c, "]"))
		status = syntax_error(c, "]");
	return status;
}

static kw_status take_step(struct compiler *c, bool first, struct step *step)
{
	skip_blanks(c);
	step->kind = STEP_END;
	if (c->at == c->end)
		return KW_OK;
	if (take_if(c, "["))
		return take_index(c, step);
	if (!first && !take_if(c, ".") && !take_if(c, "->"))
		return syntax_error(c, "., ->, [ or |");
	step->kind = STEP_MEMBER;
	return take_name(c, step->name);
}

/* Point the compiler at the alternative that begins at `start`. */
static void begin_alternative(struct compiler *c, const char *start)
{
	c->at = start;
	c->end = start + strcspn(start, "|");
}

/* Only a text without alternatives may be empty: it stands for the object itself. */
static kw_status check_syntax(struct compiler *c)
{
	bool single = !strchr(c->text, '|');
	struct step step;

	begin_alternative(c, c->text);
	for (;;) {
		kw_status status = take_step(c, true, &step);

		if (!status && step.kind == STEP_END && !single)
			return syntax_error(c, "a member name");
		while (!status && step.kind != STEP_END)
			status = take_step(c, false, &step);
		if (status || !*c->end)
			return status;
		begin_alternative(c, c->end + 1);
	}
}

/* The task's mm is the one pointer whose absence means something to people. */
static enum kw_absent null_reason_of(const char *member)
{
	return member && strcmp(member, "mm") == 0 ? KW_ABSENT_NO_MM : KW_ABSENT_NULL;
}

static kw_status follow_pointer(struct compiler *c)
{
	struct kw_path *path = c->path;

	if (path->nr_hops == KW_PATH_MAX_HOPS)
		return kw_fail(c->ctx, KW_INVALID, "path \"%s\": follows more than %d pointers", c->text,
			       KW_PATH_MAX_HOPS);
	path->null_reason[path->nr_hops] = null_reason_of(c->member);
	path->hop[path->nr_hops++] = c->bit_offset / 8;
	c->bit_offset = 0;
	c->type = kw_type_target(c->ctx, kw_type_strip(c->ctx, c->type));
	return KW_OK;
}

static kw_status step_member(struct compiler *c, const char *name)
{
	const struct kw_type *type = kw_type_strip(c->ctx, c->type);
	struct kw_member member;
	kw_status status;

	if (type->kind == KW_TYPE_POINTER) {
		status = follow_pointer(c);
		if (status)
			return status;
		type = kw_type_strip(c->ctx, c->type);
	}
	if (type->kind != KW_TYPE_STRUCT && type->kind != KW_TYPE_UNION) {
		char type_name[128];

		kw_type_name(c->ctx, c->type, type_name, sizeof(type_name));
		return kw_fail(c->ctx, KW_INVALID, "path \"%s\": .%s: a value of type %s has no members",
			       c->text, name, type_name);
	}
	status = kw_type_member(c->ctx, type, name, &member);
	if (status)
		return kw_fail_in(c->ctx, "path \"%s\"", c->text);
	c->type = member.type;
	c->bit_offset += member.bit_offset;
	c->bit_size = member.bit_size;
	c->member = member.name;
	return KW_OK;
}

static kw_status index_of(struct compiler *c, const struct step *step, uint64_t *ret)
{
	int64_t value;

	*ret = step->index;
	if (!step->name[0])
		return KW_OK;
	if (kw_enum_value(c->ctx, step->name, step->enumerator, &value))
		return kw_fail_in(c->ctx, "path \"%s\"", c->text);
	*ret = (uint64_t)value;
	return KW_OK;
}

static kw_status step_index(struct compiler *c, const struct step *step)
{
	const struct kw_type *type = kw_type_strip(c->ctx, c->type), *element;
	uint64_t index = 0, size, bytes;
	kw_status status = index_of(c, step, &index);

	if (status)
		return status;
	if (type->kind == KW_TYPE_ARRAY) {
		if (type->count && index >= type->count)
			return kw_fail(c->ctx, KW_INVALID,
				       "path \"%s\": index %llu is out of range, %s has %u elements", c->text,
				       (unsigned long long)index, c->member ? c->member : "the array",
				       type->count);
		c->type = kw_type_target(c->ctx, type);
	} else if (type->kind == KW_TYPE_POINTER) {
		status = follow_pointer(c);
		if (status)
			return status;
	} else {
		return kw_fail(c->ctx, KW_INVALID, "path \"%s\": %s is neither an array nor a pointer",
			       c->text, c->member ? c->member : "it");
	}
	element = c->type;
	size = kw_type_size(c->ctx, element);
	if (__builtin_mul_overflow(index, size, &bytes) || bytes > UINT32_MAX)
		return kw_fail(c->ctx, KW_INVALID, "path \"%s\": index %llu is too large", c->text,
			       (unsigned long long)index);
	c->bit_offset += bytes * 8;
	c->bit_size = 0;
	return KW_OK;
}

/* A structure with one scalar in it stands for the scalar: atomic_t, kuid_t, refcount_t. */
static void unwrap_single(struct compiler *c)
{
	for (int depth = 0; depth < MAX_UNWRAP; depth++) {
		const struct kw_type *type = kw_type_strip(c->ctx, c->type), *inner;
		struct kw_member member;

		if (type->kind != KW_TYPE_STRUCT || type->count != 1 || type->size > 8 ||
		    kw_type_member_at(c->ctx, type, 0, &member) != KW_OK)
			return;
		inner = kw_type_strip(c->ctx, member.type);
		if (inner->kind != KW_TYPE_STRUCT && inner->kind != KW_TYPE_INT &&
		    inner->kind != KW_TYPE_ENUM)
			return;
		c->type = member.type;
		c->bit_offset += member.bit_offset;
		c->bit_size = member.bit_size;
	}
}

static bool is_char(const struct kw_type *type)
{
	return type->kind == KW_TYPE_INT && type->size == 1 &&
	       (type->encoding == KW_INT_CHAR || strcmp(type->name, "char") == 0);
}

static bool load_scalar(struct compiler *c, const struct kw_type *type)
{
	struct kw_path *path = c->path;
	bool is_signed = type->encoding == KW_INT_SIGNED || is_char(type);

	if (type->size != 1 && type->size != 2 && type->size != 4 && type->size != 8)
		return false;
	path->load = type->encoding == KW_INT_BOOL ? KW_LOAD_BOOL
		     : is_signed		   ? KW_LOAD_SIGNED
						   : KW_LOAD_UNSIGNED;
	if (c->bit_size) {
		uint64_t unit = type->size * 8, start = c->bit_offset / unit * unit;

		/* A bitfield may cross the unit of its type when packed: then eight bytes from its first one. */
		if (c->bit_offset + c->bit_size > start + unit) {
			start = c->bit_offset / 8 * 8;
			unit = 64;
		}
		if (c->bit_size > 64 || c->bit_offset - start + c->bit_size > 64)
			return false;
		path->load = is_signed ? KW_LOAD_SIGNED_BITS : KW_LOAD_BITS;
		path->shift = (uint8_t)(c->bit_offset - start);
		path->bits = (uint8_t)c->bit_size;
		path->offset = start / 8;
		path->size = unit / 8;
		return true;
	}
	path->size = type->size;
	return true;
}

static void load_array(struct compiler *c, const struct kw_type *type)
{
	const struct kw_type *element = kw_type_strip(c->ctx, kw_type_target(c->ctx, type));

	c->path->size = kw_type_size(c->ctx, type);
	c->path->load = KW_LOAD_OBJECT;
	if (element->kind == KW_TYPE_INT && element->size == 1 && c->path->size &&
	    c->path->size <= KW_PATH_MAX_STRING)
		c->path->load = is_char(element) ? KW_LOAD_CHARS : KW_LOAD_BYTES;
}

static void load_pointer(struct compiler *c, const struct kw_type *type)
{
	const struct kw_type *pointee = kw_type_strip(c->ctx, kw_type_target(c->ctx, type));

	c->path->size = 8;
	c->path->load = KW_LOAD_ADDRESS;
	if (is_char(pointee)) {
		c->path->load = KW_LOAD_STRING;
	}
}

static void finish(struct compiler *c)
{
	const struct kw_type *type;
	struct kw_path *path = c->path;

	path->type = c->type;
	unwrap_single(c);
	type = kw_type_strip(c->ctx, c->type);
	path->offset = c->bit_offset / 8;
	if ((type->kind == KW_TYPE_INT || type->kind == KW_TYPE_ENUM) && load_scalar(c, type)) {
		path->type = c->type;
		return;
	}
	if (type->kind == KW_TYPE_POINTER)
		load_pointer(c, type);
	else if (type->kind == KW_TYPE_ARRAY)
		load_array(c, type);
	else {
		path->load = KW_LOAD_OBJECT;
		path->size = kw_type_size(c->ctx, type);
	}
}

static kw_status compile_one(struct compiler *c, const struct kw_type *base)
{
	struct step step;
	bool first = true;

	*c->path = (struct kw_path){ 0 };
	c->type = base;
	c->bit_offset = 0;
	c->bit_size = 0;
	c->member = NULL;
	for (;;) {
		kw_status status = take_step(c, first, &step);

		first = false;
		if (!status && step.kind == STEP_END)
			break;
		if (!status)
			status = step.kind == STEP_MEMBER ? step_member(c, step.name) : step_index(c, &step);
		if (status)
			return status;
	}
	finish(c);
	return KW_OK;
}

kw_status kw_path_compile(kw_ctx *ctx, const struct kw_type *base, const char *text, struct kw_path *ret)
{
	struct kw_path path;
	struct compiler c = { .ctx = ctx, .text = text, .path = &path };
	kw_status status;

	if (strlen(text) > KW_PATH_MAX_TEXT)
		return kw_fail(ctx, KW_INVALID, "path \"%.40s...\": longer than %d bytes", text,
			       KW_PATH_MAX_TEXT);
	status = check_syntax(&c);
	if (status)
		return status;
	begin_alternative(&c, text);
	for (;;) {
		status = compile_one(&c, base);
		if (status == KW_OK || status == KW_NOMEM || *c.end == '\0')
			break;
		begin_alternative(&c, c.end + 1);
	}
	if (status)
		return status;
	/* What an alternative before said is no failure of this call. */
	if (strchr(text, '|'))
		kw_clear_error(ctx);
	*ret = path;
	return KW_OK;
}

enum kw_value_type kw_path_value_type(kw_ctx *ctx, const struct kw_path *path)
{
	const struct kw_type *type = kw_type_strip(ctx, path->type);

	switch (path->load) {
	case KW_LOAD_SIGNED:
	case KW_LOAD_SIGNED_BITS: return type->kind == KW_TYPE_ENUM ? KW_VAL_ENUM : KW_VAL_INT;
	case KW_LOAD_BOOL: return KW_VAL_BOOL;
	case KW_LOAD_UNSIGNED:
	case KW_LOAD_BITS:
		if (type->kind == KW_TYPE_ENUM)
			return KW_VAL_ENUM;
		return type->encoding == KW_INT_BOOL ? KW_VAL_BOOL : KW_VAL_UINT;
	case KW_LOAD_ADDRESS: return KW_VAL_ADDRESS;
	case KW_LOAD_CHARS:
	case KW_LOAD_STRING: return KW_VAL_STRING;
	case KW_LOAD_BYTES: return KW_VAL_BYTES;
	case KW_LOAD_OBJECT: break;
	}
	return KW_VAL_ABSENT;
}

enum kw_absent kw_absent_of_status(kw_status status)
{
	return status == KW_EXCLUDED ? KW_ABSENT_NOT_IN_DUMP
	       : status == KW_FAILED ? KW_ABSENT_UNREADABLE
	       : status == KW_FORMAT ? KW_ABSENT_DAMAGED
				     : KW_ABSENT_UNMAPPED;
}
