/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declarations as C writes them.
 *
 * A declaration is built from the inside, the name, outwards along the chain of types: a pointer puts a * in front,
 * an array and a function put brackets behind, and where a pointer is behind one of those, parentheses go between.
 * What the chain ends in (the core) and its qualifiers come first in the text.
 */
#include "type/declare.h"
#include "type/btf.h"
#include "type/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETER_DEPTH 3    /* functions as parameters of functions */
#define STEPS_MAX	1000 /* types in one declaration: functions that refer to one another grow without end */

/* One declaration being written. */
struct writer {
	kw_ctx *ctx;
	unsigned int steps; /* left */
};

static void declare(struct writer *w, const struct kw_type *type, const char *name, const char *body,
		    unsigned int depth, struct kw_strbuf *out);

/* Replace a text by front + text + back. */
static void wrap(struct kw_strbuf *text, const char *front, const char *back)
{
	struct kw_strbuf whole = { 0 };

	kw_strbuf_puts(&whole, front);
	kw_strbuf_add(&whole, text->str, text->len);
	kw_strbuf_puts(&whole, back);
	whole.failed |= text->failed;
	kw_strbuf_free(text);
	*text = whole;
}

static kw_status get_parameter(kw_ctx *ctx, const struct kw_type *function, uint32_t i, uint32_t *ret_id)
{
	kw_status status;
	const char *name;

	kw_pass_begin(ctx);
	status = kw_btf_parameter(ctx, function->origin, function->id, i, &name, ret_id);
	kw_pass_end(ctx);
	return status;
}

static void add_parameters(struct writer *w, const struct kw_type *function, unsigned int depth,
			   struct kw_strbuf *out)
{
	if (!function->count)
		kw_strbuf_puts(out, "void");
	for (uint32_t i = 0; i < function->count; i++) {
		const struct kw_type *type = NULL;
		uint32_t id;

		if (i)
			kw_strbuf_puts(out, ", ");
		if (w->steps && get_parameter(w->ctx, function, i, &id) == KW_OK && id)
			type = kw_btf_type(w->ctx, function->origin, id);
		if (type)
			declare(w, type, "", NULL, depth - 1, out);
		else
			kw_strbuf_puts(out, "...");
		if (!w->steps)
			return;
	}
}

static void wrap_function(struct writer *w, const struct kw_type *function, unsigned int depth,
			  struct kw_strbuf *text)
{
	kw_strbuf_putc(text, '(');
	if (depth)
		add_parameters(w, function, depth, text);
	kw_strbuf_putc(text, ')');
}

/* "const " and so on for the core, from qualifiers met since the last pointer. */
struct qualifiers {
	bool is_const, is_volatile, is_restrict;
};

static void add_qualifier(struct qualifiers *q, const char *name)
{
	q->is_const |= strcmp(name, "const") == 0;
	q->is_volatile |= strcmp(name, "volatile") == 0;
	q->is_restrict |= strcmp(name, "restrict") == 0;
}

static const char *qualifier_text(const struct qualifiers *q, char buf[32])
{
	snprintf(buf, 32, "%s%s%s", q->is_const ? "const " : "", q->is_volatile ? "volatile " : "",
		 q->is_restrict ? "restrict " : "");
	return buf;
}

/* Put a pointer, qualified, in front of the declarator. */
static void wrap_pointer(struct kw_strbuf *text, struct qualifiers *q, bool brackets_follow)
{
	char words[32], front[40];

	qualifier_text(q, words);
	if (words[0] && !text->len)
		words[strlen(words) - 1] = '\0';
	snprintf(front, sizeof(front), "%s*%s", brackets_follow ? "(" : "", words);
	wrap(text, front, brackets_follow ? ")" : "");
	*q = (struct qualifiers){ 0 };
}

static const char *forward_word(kw_ctx *ctx, const struct kw_type *type)
{
	bool is_union;

	kw_pass_begin(ctx);
	is_union = kw_btf_forward_is_union(type->origin, type->id);
	kw_pass_end(ctx);
	return is_union ? "union " : "struct ";
}

static void add_core(kw_ctx *ctx, const struct kw_type *type, struct kw_strbuf *out)
{
	switch (type->kind) {
	case KW_TYPE_STRUCT: kw_strbuf_puts(out, "struct "); break;
	case KW_TYPE_UNION: kw_strbuf_puts(out, "union "); break;
	case KW_TYPE_ENUM: kw_strbuf_puts(out, "enum "); break;
	case KW_TYPE_FORWARD: kw_strbuf_puts(out, forward_word(ctx, type)); break;
	default: break;
	}
	kw_strbuf_puts(out, type->name[0] ? type->name : "{...}");
}

/* Whether what a pointer points to is written with brackets behind the name. */
static bool has_brackets(kw_ctx *ctx, const struct kw_type *type)
{
	for (int depth = 0; depth < KW_TYPE_DEPTH && type->kind == KW_TYPE_QUALIFIER; depth++)
		type = kw_type_target(ctx, type);
	return type->kind == KW_TYPE_ARRAY || type->kind == KW_TYPE_FUNCTION;
}

static void wrap_array(const struct kw_type *array, struct kw_strbuf *text)
{
	if (array->count)
		kw_strbuf_printf(text, "[%u]", array->count);
	else
		kw_strbuf_puts(text, "[]");
}

/* Declarator around `text`; returns the core. */
static const struct kw_type *walk(struct writer *w, const struct kw_type *type, unsigned int depth,
				  struct kw_strbuf *text, struct qualifiers *q)
{
	for (int i = 0; i < KW_TYPE_DEPTH && w->steps; i++) {
		const struct kw_type *target = kw_type_target(w->ctx, type);

		w->steps--;
		switch (type->kind) {
		case KW_TYPE_QUALIFIER: add_qualifier(q, type->name); break;
		case KW_TYPE_POINTER: wrap_pointer(text, q, has_brackets(w->ctx, target)); break;
		case KW_TYPE_ARRAY: wrap_array(type, text); break;
		case KW_TYPE_FUNCTION: wrap_function(w, type, depth, text); break;
		default: return type;
		}
		type = target;
	}
	return &kw_type_void;
}

static void declare(struct writer *w, const struct kw_type *type, const char *name, const char *body,
		    unsigned int depth, struct kw_strbuf *out)
{
	struct kw_strbuf text = { 0 };
	struct qualifiers q = { 0 };
	const struct kw_type *core;
	char words[32];

	kw_strbuf_puts(&text, name);
	core = walk(w, type, depth, &text, &q);
	kw_strbuf_puts(out, qualifier_text(&q, words));
	if (body)
		kw_strbuf_puts(out, body);
	else
		add_core(w->ctx, core, out);
	/* "char[16]", but "char *" and "char name[16]". */
	if (text.len && text.str[0] != '[')
		kw_strbuf_putc(out, ' ');
	kw_strbuf_add(out, text.str, text.len);
	out->failed |= text.failed;
	kw_strbuf_free(&text);
}

void kw_type_declare(kw_ctx *ctx, const struct kw_type *type, const char *name, const char *body,
		     struct kw_strbuf *out)
{
	struct writer w = { ctx, STEPS_MAX };

	declare(&w, type, name, body, PARAMETER_DEPTH, out);
}

const struct kw_type *kw_type_core(kw_ctx *ctx, const struct kw_type *type)
{
	for (int steps = 0; steps < KW_TYPE_DEPTH; steps++) {
		if (type->kind != KW_TYPE_QUALIFIER && type->kind != KW_TYPE_POINTER &&
		    type->kind != KW_TYPE_ARRAY && type->kind != KW_TYPE_FUNCTION)
			return type;
		type = kw_type_target(ctx, type);
	}
	return &kw_type_void;
}

void kw_type_name(kw_ctx *ctx, const struct kw_type *type, char *buf, size_t size)
{
	struct kw_strbuf text = { 0 };

	if (!size)
		return;
	kw_type_declare(ctx, type, "", NULL, &text);
	snprintf(buf, size, "%s", text.str ? text.str : "?");
	kw_strbuf_free(&text);
}
