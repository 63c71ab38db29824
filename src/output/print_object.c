/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An object in the kernel's memory, C-like or as JSON.
 *
 *     {                                            {"pid":1,"comm":"init","usage":{"counter":2},
 *             .pid = 1,                             "mm":"0xffff888003c41000"}
 *             .comm = "init",
 *             .usage = { .counter = 2 },
 *             .mm = 0xffff888003c41000,
 *     }
 *
 * Members of anonymous structures and unions are shown among those of the structure they stand in, of a union all
 * members. Each scalar is read by itself, so that what is missing costs no more than itself: it is <absent: why>, in
 * JSON null. Depth, elements and the work of the whole are bounded; JSON, which may not be cut, has far wider bounds.
 */
#include <kwalk/output.h>

#include "access/path.h"
#include "memory/memory.h"
#include "output/json.h"
#include "output/number.h"
#include "output/safe.h"
#include "symbol/symbols.h"
#include "type/btf.h"
#include "util/error.h"
#include "util/strbuf.h"

#include <string.h>

#define DEFAULT_DEPTH 4
#define DEFAULT_ITEMS 32
#define JSON_DEPTH    16
#define JSON_ITEMS    65536
#define DEPTH_MAX     64
#define WORK_MAX      2000000 /* values and enumerators looked at */
#define STRING_MAX    4096    /* bytes of a char array shown */
#define POINTED_MAX   64      /* bytes shown of a string behind a pointer */
#define SYMBOL_REACH  0x10000 /* an address this far behind a symbol has nothing to do with it */
#define KERNEL_SPACE  (1ull << 63)
#define FLUSH_AT      65536

struct printer {
	kw_ctx *ctx;
	FILE *out;
	struct kw_strbuf text;
	unsigned int depth, max_items;
	bool json;
	bool no_symbols;
	unsigned int tabs; /* of the line being written */
	unsigned int work; /* left */
	uint64_t missing;  /* values that could not be read */
	kw_status why;	   /* of the first */
};

/* Where a value lies and what it is. */
struct place {
	const struct kw_type *type;
	uint64_t addr;
	unsigned int bit, bit_size; /* of a bitfield: its first bit in the byte at addr, its width; else 0 */
};

static void print_value(struct printer *p, const struct place *place, unsigned int level);

static void puts_text(struct printer *p, const char *text)
{
	kw_strbuf_puts(&p->text, text);
}

static void indent(struct printer *p)
{
	for (unsigned int i = 0; i < p->tabs; i++)
		kw_strbuf_putc(&p->text, '\t');
}

static bool work_done(struct printer *p, unsigned int steps)
{
	if (p->work < steps) {
		p->work = 0;
		return true;
	}
	p->work -= steps;
	return false;
}

static void flush(struct printer *p, size_t least)
{
	if (p->text.len <= least)
		return;
	fwrite(p->text.str, 1, p->text.len, p->out);
	kw_strbuf_clear(&p->text);
}

/* What is not shown, and what can't be */

static void put_absent(struct printer *p, kw_status status)
{
	if (!p->missing++)
		p->why = status;
	if (p->json)
		puts_text(p, "null");
	else
		kw_strbuf_printf(&p->text, "<absent: %s>", kw_absent_text(kw_absent_of_status(status)));
}

static void put_omitted(struct printer *p, const char *text)
{
	puts_text(p, p->json ? "null" : text);
}

static bool read_bytes(struct printer *p, uint64_t addr, void *buf, size_t len)
{
	kw_status status = kw_read(p->ctx, addr, buf, len);

	if (status)
		put_absent(p, status);
	return !status;
}

/* Numbers */

static uint64_t sign_extend(uint64_t value, unsigned int bits)
{
	unsigned int unused = 64 - bits;

	return bits && bits < 64 ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Read a scalar of up to 8 bytes, or a bitfield within 8 bytes. False when something was put in its place. */
static bool read_scalar(struct printer *p, const struct place *place, bool is_signed, uint64_t *ret)
{
	uint64_t raw = 0, size = kw_type_size(p->ctx, place->type);
	unsigned int bits = place->bit_size;

	if (bits)
		size = (place->bit + bits + 7) / 8;
	if (!size || size > sizeof(raw)) {
		put_omitted(p, "<not a number of a size that is known>");
		return false;
	}
	if (!read_bytes(p, place->addr, &raw, size))
		return false;
	if (bits) {
		raw >>= place->bit;
		raw = bits < 64 ? raw & ((1ull << bits) - 1) : raw;
	} else {
		bits = (unsigned int)size * 8;
	}
	*ret = is_signed ? sign_extend(raw, bits) : raw;
	return true;
}

static void put_char(struct printer *p, uint64_t value)
{
	char c = (char)value;

	if (!p->json && value >= 0x20 && value <= 0x7e)
		kw_strbuf_printf(&p->text, c == '\'' || c == '\\' ? "'\\%c'" : "'%c'", c);
	else
		kw_put_int(&p->text, c);
}

/* A number of 16 bytes, the only one that is longer than a word. */
static void print_wide(struct printer *p, const struct place *place)
{
	uint64_t word[2];

	if (!read_bytes(p, place->addr, word, sizeof(word)))
		return;
	kw_strbuf_printf(&p->text, p->json ? "\"0x%llx%016llx\"" : "0x%llx%016llx",
			 (unsigned long long)word[1], (unsigned long long)word[0]);
}

static void print_int(struct printer *p, const struct place *place)
{
	enum kw_int_encoding encoding = place->type->encoding;
	uint64_t value;

	if (place->type->size == 16 && !place->bit_size) {
		print_wide(p, place);
		return;
	}
	if (!read_scalar(p, place, encoding == KW_INT_SIGNED, &value))
		return;
	switch (encoding) {
	case KW_INT_SIGNED: kw_put_int(&p->text, (int64_t)value); break;
	case KW_INT_UNSIGNED: kw_put_uint(&p->text, value); break;
	case KW_INT_BOOL: puts_text(p, value ? "true" : "false"); break;
	case KW_INT_CHAR: put_char(p, value); break;
	}
}

static void print_float(struct printer *p, const struct place *place)
{
	struct kw_value value = { .type = KW_VAL_FLOAT };
	float single;

	if (place->type->size != sizeof(double) && place->type->size != sizeof(float)) {
		put_omitted(p, "<floating-point number of an unknown form>");
		return;
	}
	if (place->type->size == sizeof(double)) {
		if (!read_bytes(p, place->addr, &value.f, sizeof(value.f)))
			return;
	} else {
		if (!read_bytes(p, place->addr, &single, sizeof(single)))
			return;
		value.f = single;
	}
	if (!kw_put_base(&p->text, &value))
		put_omitted(p, "nan");
}

static void print_enum(struct printer *p, const struct place *place)
{
	bool is_signed = place->type->encoding == KW_INT_SIGNED;
	uint64_t value;

	if (!read_scalar(p, place, is_signed, &value))
		return;
	for (uint32_t i = 0; i < place->type->count && !work_done(p, 1); i++) {
		const char *name;
		int64_t number;

		if (kw_enumerator_at(p->ctx, place->type, i, &name, &number))
			break;
		if ((uint64_t)number != value)
			continue;
		if (p->json)
			kw_json_string(&p->text, name, strlen(name));
		else
			puts_text(p, name);
		return;
	}
	if (is_signed)
		kw_put_int(&p->text, (int64_t)value);
	else
		kw_put_uint(&p->text, value);
}

/* Strings and pointers */

static void put_string(struct printer *p, const char *bytes, size_t len)
{
	struct kw_safe_piece piece;

	if (p->json) {
		kw_json_string(&p->text, bytes, len);
		return;
	}
	kw_strbuf_putc(&p->text, '"');
	while (len) {
		size_t used = kw_safe_next(KW_SAFE_TEXT, bytes, len, &piece);

		for (size_t i = 0; i < piece.len; i++) {
			if (piece.text[i] == '"')
				kw_strbuf_putc(&p->text, '\\');
			kw_strbuf_putc(&p->text, piece.text[i]);
		}
		bytes += used;
		len -= used;
	}
	kw_strbuf_putc(&p->text, '"');
}

static void print_chars(struct printer *p, const struct place *place)
{
	char bytes[STRING_MAX];
	size_t len = place->type->count < sizeof(bytes) ? place->type->count : sizeof(bytes), shown;

	if (!read_bytes(p, place->addr, bytes, len))
		return;
	shown = strnlen(bytes, len);
	put_string(p, bytes, shown);
	if (shown == sizeof(bytes) && !p->json)
		puts_text(p, "...");
}

static void put_symbol(struct printer *p, uint64_t addr)
{
	char name[KW_SYMBOL_NAME_SIZE];
	kw_status status;
	uint64_t offset;

	if (p->no_symbols || addr < KERNEL_SPACE)
		return;
	status = kw_symbol_at(p->ctx, addr, name, &offset);
	p->no_symbols = status == KW_UNSUPPORTED;
	if (status || offset >= SYMBOL_REACH)
		return;
	puts_text(p, " <");
	kw_safe_add(&p->text, KW_SAFE_TEXT, name, strlen(name));
	if (offset)
		kw_strbuf_printf(&p->text, "+0x%llx", (unsigned long long)offset);
	kw_strbuf_putc(&p->text, '>');
}

static void put_pointed_string(struct printer *p, const struct kw_type *pointer, uint64_t addr)
{
	const struct kw_type *target = kw_type_target(p->ctx, pointer);
	char bytes[POINTED_MAX];

	/* What is only declared is no character, and finding what it is could take long. */
	if (target->kind == KW_TYPE_QUALIFIER)
		target = kw_type_target(p->ctx, target);
	if (target->kind != KW_TYPE_FORWARD)
		target = kw_type_strip(p->ctx, target);
	if (target->kind != KW_TYPE_INT || target->encoding != KW_INT_CHAR || addr < KERNEL_SPACE ||
	    kw_read_string(p->ctx, addr, bytes, sizeof(bytes)))
		return;
	kw_strbuf_putc(&p->text, ' ');
	put_string(p, bytes, strlen(bytes));
	if (strlen(bytes) == sizeof(bytes) - 1)
		puts_text(p, "...");
}

static void print_pointer(struct printer *p, const struct place *place)
{
	uint64_t value;

	if (!read_scalar(p, place, false, &value))
		return;
	if (p->json) {
		kw_json_value(&p->text, &(struct kw_value){ .type = KW_VAL_ADDRESS, .u = value });
		return;
	}
	kw_put_hex(&p->text, value);
	put_symbol(p, value);
	put_pointed_string(p, place->type, value);
}

/* Arrays */

static bool is_compound(const struct kw_type *type)
{
	return type->kind == KW_TYPE_STRUCT || type->kind == KW_TYPE_UNION;
}

static void put_elements_end(struct printer *p, uint32_t left, bool lines)
{
	if (left && lines) {
		indent(p);
		kw_strbuf_printf(&p->text, "... %u more\n", left);
	} else if (left) {
		kw_strbuf_printf(&p->text, ", ... %u more", left);
	}
	p->tabs -= lines;
	if (lines)
		indent(p);
	puts_text(p, lines ? "}" : " }");
}

/* Scalars stand on one line, structures on lines of their own with their index. */
static void print_elements(struct printer *p, const struct place *place, const struct kw_type *element,
			   unsigned int level)
{
	uint64_t size = kw_type_size(p->ctx, element);
	bool lines = !p->json && is_compound(element);
	uint32_t i, count = place->type->count;

	puts_text(p, p->json ? "[" : lines ? "{\n" : "{ ");
	p->tabs += lines;
	for (i = 0; i < count && i < p->max_items && p->work; i++) {
		struct place item = { .type = element };

		/* That the size of the array does not overflow was seen to when it was decoded; its address may. */
		if (__builtin_add_overflow(place->addr, i * size, &item.addr))
			break;
		if (lines) {
			indent(p);
			kw_strbuf_printf(&p->text, "[%u] = ", i);
		} else if (i) {
			puts_text(p, p->json ? "," : ", ");
		}
		print_value(p, &item, level + 1);
		if (lines)
			puts_text(p, ",\n");
		flush(p, FLUSH_AT);
	}
	if (p->json)
		kw_strbuf_putc(&p->text, ']');
	else
		put_elements_end(p, count - i, lines);
}

static void print_array(struct printer *p, const struct place *place, unsigned int level)
{
	const struct kw_type *element = kw_type_strip(p->ctx, kw_type_target(p->ctx, place->type));

	if (!place->type->count || !place->type->size)
		puts_text(p, "[]");
	else if (element->kind == KW_TYPE_INT && element->encoding == KW_INT_CHAR)
		print_chars(p, place);
	else if (level >= p->depth)
		put_omitted(p, "{ ... }");
	else
		print_elements(p, place, element, level);
}

/* Structures and unions */

static bool place_of(const struct place *outer, const struct kw_member *member, const struct kw_type *type,
		     struct place *ret)
{
	*ret = (struct place){ .type = type, .bit_size = member->bit_size };
	if (member->bit_size)
		ret->bit = member->bit_offset % 8;
	return !__builtin_add_overflow(outer->addr, member->bit_offset / 8, &ret->addr);
}

static void put_member_name(struct printer *p, const char *name, bool lines, bool *first)
{
	if (p->json) {
		if (!*first)
			kw_strbuf_putc(&p->text, ',');
		kw_json_string(&p->text, name, strlen(name));
		kw_strbuf_putc(&p->text, ':');
	} else {
		if (lines)
			indent(p);
		kw_strbuf_printf(&p->text, ".%s = ", name);
	}
	*first = false;
}

/* Members, and those of anonymous members among them. `nesting` is how many more of these are entered. */
static void print_members(struct printer *p, const struct place *place, unsigned int level, bool lines,
			  bool *first, unsigned int nesting)
{
	for (uint32_t i = 0; i < place->type->count && !work_done(p, 1); i++) {
		const struct kw_type *type;
		struct kw_member member;
		struct place inner;

		if (kw_type_member_at(p->ctx, place->type, i, &member))
			continue;
		type = kw_type_strip(p->ctx, member.type);
		if (!place_of(place, &member, type, &inner))
			continue;
		if (!member.name[0]) {
			if (is_compound(type) && nesting)
				print_members(p, &inner, level, lines, first, nesting - 1);
			continue;
		}
		put_member_name(p, member.name, lines, first);
		print_value(p, &inner, level + 1);
		if (lines)
			puts_text(p, ",\n");
		flush(p, FLUSH_AT);
	}
}

/* A structure of one named member, such as atomic_t, stands on one line. */
static bool has_one_member(struct printer *p, const struct kw_type *type)
{
	struct kw_member member;

	return type->count == 1 && kw_type_member_at(p->ctx, type, 0, &member) == KW_OK && member.name[0];
}

static void print_compound(struct printer *p, const struct place *place, unsigned int level)
{
	bool first = true, lines = !p->json && !has_one_member(p, place->type);

	if (level >= p->depth) {
		put_omitted(p, "{ ... }");
		return;
	}
	if (!place->type->count) {
		puts_text(p, "{}");
		return;
	}
	puts_text(p, p->json ? "{" : lines ? "{\n" : "{ ");
	p->tabs += lines;
	print_members(p, place, level, lines, &first, KW_TYPE_NESTING);
	p->tabs -= lines;
	if (lines)
		indent(p);
	puts_text(p, lines || p->json ? "}" : " }");
}

static void print_value(struct printer *p, const struct place *place, unsigned int level)
{
	if (work_done(p, 1)) {
		put_omitted(p, "...");
		return;
	}
	switch (place->type->kind) {
	case KW_TYPE_INT: print_int(p, place); break;
	case KW_TYPE_FLOAT: print_float(p, place); break;
	case KW_TYPE_ENUM: print_enum(p, place); break;
	case KW_TYPE_POINTER: print_pointer(p, place); break;
	case KW_TYPE_ARRAY: print_array(p, place, level); break;
	case KW_TYPE_STRUCT:
	case KW_TYPE_UNION: print_compound(p, place, level); break;
	default: put_omitted(p, "<no value>"); break;
	}
}

static void take_options(struct printer *p, const struct kw_print_options *opts)
{
	struct kw_print_options known = { 0 };

	if (opts)
		memcpy(&known, opts, opts->size < sizeof(known) ? opts->size : sizeof(known));
	p->json = known.json;
	p->depth = known.depth ? known.depth : p->json ? JSON_DEPTH : DEFAULT_DEPTH;
	if (p->depth > DEPTH_MAX)
		p->depth = DEPTH_MAX;
	p->max_items = known.max_items ? known.max_items : p->json ? JSON_ITEMS : DEFAULT_ITEMS;
}

static kw_status finish(struct printer *p)
{
	kw_status status = KW_OK;

	flush(p, 0);
	if (p->text.failed)
		status = kw_fail_nomem(p->ctx);
	else if (ferror(p->out))
		status = kw_fail(p->ctx, KW_FAILED, "the output can't be written");
	else if (!p->work)
		status =
			kw_fail(p->ctx, KW_INCOMPLETE, "cut: the object holds more than %u values", WORK_MAX);
	else if (p->missing)
		status = kw_fail(p->ctx, KW_INCOMPLETE, "%llu value%s can't be read: %s",
				 (unsigned long long)p->missing, p->missing == 1 ? "" : "s",
				 kw_absent_text(kw_absent_of_status(p->why)));
	else
		kw_clear_error(p->ctx);
	kw_strbuf_free(&p->text);
	return status;
}

kw_status kw_print_object(kw_ctx *ctx, FILE *out, const struct kw_type *type, uint64_t addr,
			  const struct kw_print_options *opts)
{
	struct printer p = { .ctx = ctx, .out = out, .work = WORK_MAX };
	struct place place = { .type = kw_type_strip(ctx, type), .addr = addr };
	kw_status status = KW_OK;
	uint8_t byte;

	take_options(&p, opts);
	kw_pass_begin(ctx);
	if (kw_type_size(ctx, place.type))
		status = kw_read(ctx, addr, &byte, 1);
	if (status)
		kw_fail(ctx, status, "0x%llx: %s", (unsigned long long)addr,
			kw_absent_text(kw_absent_of_status(status)));
	else
		print_value(&p, &place, 0);
	kw_pass_end(ctx);
	if (status)
		return status;
	kw_strbuf_putc(&p.text, '\n');
	return finish(&p);
}
