/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A type's layout as pahole shows it: each member with its offset and size, the holes between, the totals.
 *
 *     struct list_head {
 *             struct list_head *next;                         -- offset 0, size 8 --
 *             struct list_head *prev;                         -- offset 8, size 8 --
 *
 *             -- size: 16, members: 2 --
 *     };
 *
 * (with C comments where this one has dashes). Anonymous structures are shown where they stand, with offsets from the
 * beginning of the outermost. Names come out of the type room fit for a terminal.
 */
#include <kwalk/output.h>

#include "type/btf.h"
#include "type/declare.h"
#include "util/error.h"
#include "util/strbuf.h"

#include <string.h>

#define COMMENT_COLUMN 56
#define TAB	       8
#define LINES_MAX      10000 /* anonymous members may repeat one another without end */

struct printer {
	kw_ctx *ctx;
	struct kw_strbuf text;
	unsigned int lines; /* written so far */
};

/* What stands between the members of one structure. */
struct gaps {
	uint64_t end; /* bits, of the members so far */
	uint64_t holes, hole_bytes, bit_holes, hole_bits;
	bool is_union;
};

static void print_body(struct printer *p, const struct kw_type *type, uint64_t base_bits, unsigned int depth);

static void indent(struct printer *p, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		kw_strbuf_putc(&p->text, '\t');
	p->lines++;
}

/* The column in which the last line ends. */
static size_t column(const struct kw_strbuf *text)
{
	size_t start = text->len, column = 0;

	while (start && text->str[start - 1] != '\n')
		start--;
	for (size_t i = start; i < text->len; i++)
		column = text->str[i] == '\t' ? (column / TAB + 1) * TAB : column + 1;
	return column;
}

static void pad_to_comment(struct printer *p)
{
	size_t now = column(&p->text);

	kw_strbuf_putc(&p->text, ' ');
	while (++now < COMMENT_COLUMN)
		kw_strbuf_putc(&p->text, ' ');
}

/* Bodies of anonymous types */

static void print_enumerators(struct printer *p, const struct kw_type *type, unsigned int depth)
{
	for (uint32_t i = 0; i < type->count; i++) {
		const char *name;
		int64_t value;

		indent(p, depth);
		if (p->lines > LINES_MAX || kw_enumerator_at(p->ctx, type, i, &name, &value)) {
			kw_strbuf_puts(&p->text, "/* ... */\n");
			return;
		}
		if (type->encoding == KW_INT_UNSIGNED)
			kw_strbuf_printf(&p->text, "%s = %llu,\n", name, (unsigned long long)value);
		else
			kw_strbuf_printf(&p->text, "%s = %lld,\n", name, (long long)value);
	}
}

static const char *keyword(const struct kw_type *type)
{
	return type->kind == KW_TYPE_STRUCT ? "struct" : type->kind == KW_TYPE_UNION ? "union" : "enum";
}

/*
 * Append "struct NAME {", the members and "}". Only what has no name of its own is shown inside another type.
 */
static void print_braces(struct printer *p, const struct kw_type *type, uint64_t base_bits,
			 unsigned int depth)
{
	kw_strbuf_puts(&p->text, keyword(type));
	if (type->name[0])
		kw_strbuf_printf(&p->text, " %s", type->name);
	kw_strbuf_puts(&p->text, " {");
	if (depth >= KW_TYPE_NESTING) {
		kw_strbuf_puts(&p->text, " ... }");
		return;
	}
	kw_strbuf_putc(&p->text, '\n');
	p->lines++;
	if (type->kind == KW_TYPE_ENUM)
		print_enumerators(p, type, depth + 1);
	else
		print_body(p, type, base_bits, depth + 1);
	indent(p, depth);
	kw_strbuf_putc(&p->text, '}');
}

static bool is_shown_inline(const struct kw_type *core)
{
	return !core->name[0] &&
	       (core->kind == KW_TYPE_STRUCT || core->kind == KW_TYPE_UNION || core->kind == KW_TYPE_ENUM);
}

/* Whether the core of a declaration lies somewhere else than the member. */
static bool is_behind_pointer(struct printer *p, const struct kw_type *type)
{
	for (int i = 0; i < KW_TYPE_DEPTH && (type->kind == KW_TYPE_QUALIFIER || type->kind == KW_TYPE_ARRAY);
	     i++)
		type = kw_type_target(p->ctx, type);
	return type->kind == KW_TYPE_POINTER;
}

/* Append a declaration, with the body of an anonymous type in it. */
static void print_declaration(struct printer *p, const struct kw_type *type, const char *name,
			      uint64_t base_bits, unsigned int depth)
{
	const struct kw_type *core = kw_type_core(p->ctx, type);
	struct kw_strbuf outer = p->text;

	if (!is_shown_inline(core)) {
		kw_type_declare(p->ctx, type, name, NULL, &p->text);
		return;
	}
	p->text = (struct kw_strbuf){ 0 };
	print_braces(p, core, is_behind_pointer(p, type) ? 0 : base_bits, depth);
	kw_type_declare(p->ctx, type, name, p->text.str ? p->text.str : "", &outer);
	outer.failed |= p->text.failed;
	kw_strbuf_free(&p->text);
	p->text = outer;
}

/* Members */

/* A bitfield is shown as pahole does: byte offset of the unit it lies in, first bit there, bytes of the unit. */
static void print_bitfield_place(struct printer *p, uint64_t bit, uint64_t size)
{
	uint64_t unit = size ? size * 8 : 8;

	kw_strbuf_printf(&p->text, "/* %5llu:%2llu %3llu */\n", (unsigned long long)(bit / unit * unit / 8),
			 (unsigned long long)(bit % unit), (unsigned long long)size);
}

static void print_member(struct printer *p, const struct kw_member *member, uint64_t base_bits,
			 unsigned int depth)
{
	uint64_t size = kw_type_size(p->ctx, member->type), bit = base_bits + member->bit_offset;

	indent(p, depth);
	print_declaration(p, member->type, member->name, bit, depth);
	if (member->bit_size)
		kw_strbuf_printf(&p->text, ":%u", member->bit_size);
	kw_strbuf_putc(&p->text, ';');
	pad_to_comment(p);
	if (member->bit_size)
		print_bitfield_place(p, bit, size);
	else
		kw_strbuf_printf(&p->text, "/* %5llu %6llu */\n", (unsigned long long)(bit / 8),
				 (unsigned long long)size);
}

/* A hole between bits `from` and `to`: what is left of a byte, then bytes. */
static void print_hole(struct printer *p, struct gaps *gaps, uint64_t from, uint64_t to, unsigned int depth)
{
	uint64_t bits = (8 - from % 8) % 8, bytes;

	if (bits > to - from)
		bits = to - from;
	bytes = (to - from - bits) / 8;
	bits = to - from - bytes * 8;
	kw_strbuf_putc(&p->text, '\n');
	if (bits) {
		indent(p, depth);
		kw_strbuf_printf(&p->text, "/* XXX %llu bit%s hole */\n", (unsigned long long)bits,
				 bits == 1 ? "" : "s");
		gaps->bit_holes++;
		gaps->hole_bits += bits;
	}
	if (bytes) {
		indent(p, depth);
		kw_strbuf_printf(&p->text, "/* XXX %llu byte%s hole */\n", (unsigned long long)bytes,
				 bytes == 1 ? "" : "s");
		gaps->holes++;
		gaps->hole_bytes += bytes;
	}
	kw_strbuf_putc(&p->text, '\n');
}

static void note_member(struct printer *p, struct gaps *gaps, const struct kw_member *member)
{
	uint64_t bits = member->bit_size, end;

	if (!bits && __builtin_mul_overflow(kw_type_size(p->ctx, member->type), 8, &bits))
		return;
	if (!__builtin_add_overflow(member->bit_offset, bits, &end) && end > gaps->end)
		gaps->end = end;
}

static void print_totals(struct printer *p, const struct kw_type *type, const struct gaps *gaps,
			 unsigned int depth)
{
	uint64_t whole = type->size * 8;

	kw_strbuf_putc(&p->text, '\n');
	indent(p, depth);
	kw_strbuf_printf(&p->text, "/* size: %llu, members: %u", (unsigned long long)type->size, type->count);
	if (gaps->holes)
		kw_strbuf_printf(&p->text, ", holes: %llu, sum holes: %llu", (unsigned long long)gaps->holes,
				 (unsigned long long)gaps->hole_bytes);
	if (gaps->bit_holes)
		kw_strbuf_printf(&p->text, ", bit holes: %llu, sum bit holes: %llu",
				 (unsigned long long)gaps->bit_holes, (unsigned long long)gaps->hole_bits);
	if (!gaps->is_union && type->count && gaps->end < whole)
		kw_strbuf_printf(&p->text, ", padding: %llu", (unsigned long long)(whole - gaps->end) / 8);
	kw_strbuf_puts(&p->text, " */\n");
}

static void print_body(struct printer *p, const struct kw_type *type, uint64_t base_bits, unsigned int depth)
{
	struct gaps gaps = { .is_union = type->kind == KW_TYPE_UNION };

	for (uint32_t i = 0; i < type->count; i++) {
		struct kw_member member;

		if (p->lines >= LINES_MAX) {
			indent(p, depth);
			kw_strbuf_puts(&p->text, "/* ... */\n");
			return;
		}
		if (kw_type_member_at(p->ctx, type, i, &member)) {
			indent(p, depth);
			kw_strbuf_printf(&p->text, "/* member %u: %s */\n", i, kw_error(p->ctx));
			continue;
		}
		if (!gaps.is_union && member.bit_offset > gaps.end)
			print_hole(p, &gaps, gaps.end, member.bit_offset, depth);
		print_member(p, &member, base_bits, depth);
		note_member(p, &gaps, &member);
	}
	/* Totals of an anonymous structure would read as the outer one's. */
	if (type->name[0] || depth == 1)
		print_totals(p, type, &gaps, depth);
}

/* Types */

static void print_compound(struct printer *p, const struct kw_type *type)
{
	print_braces(p, type, 0, 0);
	kw_strbuf_puts(&p->text, ";\n");
}

static void print_enum(struct printer *p, const struct kw_type *type)
{
	print_braces(p, type, 0, 0);
	kw_strbuf_printf(&p->text, "; /* size: %llu, values: %u */\n", (unsigned long long)type->size,
			 type->count);
}

static void print_typedef(struct printer *p, const struct kw_type *type)
{
	kw_strbuf_puts(&p->text, "typedef ");
	print_declaration(p, kw_type_target(p->ctx, type), type->name, 0, 0);
	kw_strbuf_printf(&p->text, "; /* size: %llu */\n", (unsigned long long)kw_type_size(p->ctx, type));
}

static void print_scalar(struct printer *p, const struct kw_type *type)
{
	static const char *const encodings[] = { ", unsigned", ", signed", ", character", ", boolean" };

	kw_type_declare(p->ctx, type, "", NULL, &p->text);
	kw_strbuf_printf(&p->text, "; /* size: %llu%s */\n", (unsigned long long)kw_type_size(p->ctx, type),
			 type->kind == KW_TYPE_INT ? encodings[type->encoding] : "");
}

static void print_any(struct printer *p, const struct kw_type *type)
{
	switch (type->kind) {
	case KW_TYPE_STRUCT:
	case KW_TYPE_UNION: print_compound(p, type); break;
	case KW_TYPE_ENUM: print_enum(p, type); break;
	case KW_TYPE_TYPEDEF: print_typedef(p, type); break;
	default: print_scalar(p, type); break;
	}
}

kw_status kw_print_type(kw_ctx *ctx, FILE *out, const struct kw_type *type)
{
	struct printer p = { .ctx = ctx };
	kw_status status = KW_OK;

	kw_pass_begin(ctx);
	print_any(&p, type);
	kw_pass_end(ctx);
	if (p.text.failed)
		status = kw_fail_nomem(ctx);
	else if (fwrite(p.text.str, 1, p.text.len, out) != p.text.len)
		status = kw_fail(ctx, KW_FAILED, "the output can't be written");
	kw_strbuf_free(&p.text);
	return status;
}
