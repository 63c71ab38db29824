/* BTF blobs: damaged ones first, then what each kind decodes to, split blobs, names, the cost of big ones. */
#include "unit/type_given.h"

#include <pthread.h>
#include <stdio.h>

#include "type/btf.h"

static kw_ctx ctx;

static void forget(void)
{
	free(ctx.message);
	memset(&ctx, 0, sizeof(ctx));
}

TestSuite(type_btf, .fini = forget);

static kw_status open_blob(const struct btf_blob *blob, size_t size, struct kw_btf **ret)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, blob->data, size);
	return kw_btf_open(&ctx, copy, size, KW_BTF_MALLOCED, NULL, ret);
}

static struct kw_btf *open_text(const char *text)
{
	struct btf_blob blob = btf_build(text);
	struct kw_btf *btf = NULL;

	cr_assert_eq(open_blob(&blob, blob.size, &btf), KW_OK, "%s", kw_error(&ctx));
	free(blob.data);
	return btf;
}

static void expect_error(kw_status status, kw_status want, const char *text)
{
	cr_expect_eq(status, want, "%d: %s", status, kw_error(&ctx));
	cr_expect_not_null(strstr(kw_error(&ctx), text), "got: %s", kw_error(&ctx));
}

#define TEXT                                                                            \
	"INT int 4 signed\n"                                                            \
	"INT char 1 signed\n"                                                           \
	"PTR 5\n"                                                                       \
	"ARRAY 2 16\n"                                                                  \
	"STRUCT task 40 { pid 1 0 ; comm 4 32 ; next 3 192 ; - 7 256 ; flags 8 288 }\n" \
	"ENUM kind 4 { A 0 ; B 1 }\n"                                                   \
	"UNION - 4 { whole 1 0 ; k 6 0 }\n"                                             \
	"TYPEDEF flags_t 1\n"                                                           \
	"FUNC_PROTO 1 { a 1 ; b 3 }\n"

/* Calls everything on every type there is. */
static void touch_all(struct kw_btf *btf)
{
	for (uint32_t id = 0; id <= kw_btf_nr(btf) + 1; id++) {
		const struct kw_type *type = kw_btf_type(&ctx, btf, id);
		struct kw_btf_member member;
		struct kw_btf_found found;
		const char *name;
		uint32_t other;
		int64_t value;

		kw_btf_size(btf, id);
		kw_btf_find_member(btf, id, "whole", &found);
		kw_btf_compound(btf, id, &other, &other);
		kw_btf_forward_is_union(btf, id);
		for (uint32_t i = 0; type && i <= type->count && i < 300; i++) {
			kw_btf_member(&ctx, btf, id, i, &member);
			kw_btf_enumerator(&ctx, btf, id, i, &name, &value);
			kw_btf_parameter(&ctx, btf, id, i, &name, &other);
		}
	}
}

Test(type_btf, cut_at_every_byte)
{
	struct btf_blob blob = btf_build(TEXT);

	for (size_t size = 0; size < blob.size; size++) {
		struct kw_btf *btf = NULL;

		cr_expect_neq(open_blob(&blob, size, &btf), KW_OK, "%zu bytes of %zu", size, blob.size);
		cr_expect_neq(kw_error(&ctx)[0], '\0');
	}
	free(blob.data);
}

Test(type_btf, every_byte_wrong)
{
	struct btf_blob blob = btf_build(TEXT);

	for (size_t at = 0; at < blob.size; at++) {
		for (int bit = 0; bit < 8; bit++) {
			struct kw_btf *btf = NULL;

			blob.data[at] ^= 1 << bit;
			if (open_blob(&blob, blob.size, &btf) == KW_OK)
				touch_all(btf);
			kw_btf_free(btf);
			blob.data[at] ^= 1 << bit;
		}
	}
	free(blob.data);
}

Test(type_btf, headers)
{
	static const struct {
		size_t at;
		uint8_t value;
		kw_status status;
		const char *text;
	} cases[] = {
		{ 0, 0x12, KW_FORMAT, "no BTF" },	  { 2, 2, KW_UNSUPPORTED, "version 2" },
		{ 4, 23, KW_FORMAT, "header length 23" }, { 7, 0xff, KW_FORMAT, "header length" },
		{ 11, 0xff, KW_FORMAT, "types" },	  { 15, 0xff, KW_FORMAT, "types" },
		{ 19, 0xff, KW_FORMAT, "strings" },	  { 23, 0xff, KW_FORMAT, "strings" },
	};
	struct btf_blob blob = btf_build(TEXT);
	struct kw_btf *btf;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t kept = blob.data[cases[i].at];

		blob.data[cases[i].at] = cases[i].value;
		expect_error(open_blob(&blob, blob.size, &btf), cases[i].status, cases[i].text);
		blob.data[cases[i].at] = kept;
	}
	blob.data[0] = 0xeb;
	blob.data[1] = 0x9f;
	expect_error(open_blob(&blob, blob.size, &btf), KW_UNSUPPORTED, "byte order");
	free(blob.data);
}

Test(type_btf, blob_size)
{
	struct btf_blob blob = btf_build(TEXT);
	uint8_t one = 1;

	cr_expect_eq(kw_btf_blob_size(blob.data, blob.size), blob.size);
	cr_expect_eq(kw_btf_blob_size(blob.data, BTF_BLOB_HEADER), blob.size);
	cr_expect_eq(kw_btf_blob_size(blob.data, BTF_BLOB_HEADER - 1), 0);
	blob.data[15] = 0xff;
	cr_expect_eq(kw_btf_blob_size(blob.data, blob.size), 0);
	cr_expect_eq(kw_btf_blob_size(&one, 1), 0);
	free(blob.data);

	blob = btf_build_layout("INT int 4 signed", (const uint8_t[8]){ 0 }, 2);
	cr_expect_eq(kw_btf_blob_size(blob.data, blob.size), blob.size);
	free(blob.data);
}

Test(type_btf, unknown_kind)
{
	struct btf_blob blob = btf_build("INT int 4 signed\nKIND 25 8\nINT long 8 signed");
	struct kw_btf *btf;

	expect_error(open_blob(&blob, blob.size, &btf), KW_FORMAT,
		     "type 2 has kind 25, unknown to this version");
	free(blob.data);
}

Test(type_btf, unknown_kind_with_a_layout)
{
	uint8_t layout[26 * 4] = { 0 };
	struct btf_blob blob;
	struct kw_btf *btf;
	uint32_t id;

	layout[25 * 4] = 8;
	blob = btf_build_layout("INT int 4 signed\nKIND 25 8\nTYPEDEF word 2\nSTRUCT s 4 { a 1 0 }", layout,
				26);
	cr_assert_eq(open_blob(&blob, blob.size, &btf), KW_OK, "%s", kw_error(&ctx));
	cr_assert(kw_btf_find(btf, "s", KW_BTF_ANY, &id));
	cr_expect_eq(id, 4);
	cr_expect_null(kw_btf_type(&ctx, btf, 2));
	cr_expect_eq(kw_btf_size(btf, 3), 0);
	kw_btf_free(btf);

	/* A layout that says the record is longer than what is left. */
	layout[25 * 4] = 255;
	free(blob.data);
	blob = btf_build_layout("KIND 25 8", layout, 26);
	expect_error(open_blob(&blob, blob.size, &btf), KW_FORMAT, "cut short");
	free(blob.data);
}

Test(type_btf, strings)
{
	struct btf_blob blob = btf_build("INT int 4 signed\nSTRUCT s 4 { a 1 0 }");
	struct kw_btf *btf;

	blob.data[blob.size - 1] = 'x';
	expect_error(open_blob(&blob, blob.size, &btf), KW_FORMAT, "do not end");
	blob.data[blob.size - 1] = '\0';
	blob.data[BTF_BLOB_HEADER + blob.types_len] = 'x';
	expect_error(open_blob(&blob, blob.size, &btf), KW_FORMAT, "do not begin");
	blob.data[BTF_BLOB_HEADER + blob.types_len] = '\0';

	/* The name of the structure is out of range. */
	blob.data[BTF_BLOB_HEADER + 16 + 3] = 0x7f;
	expect_error(open_blob(&blob, blob.size, &btf), KW_FORMAT, "type 2 has its name at");
	blob.data[BTF_BLOB_HEADER + 16 + 3] = 0;

	/* That of its member is; nothing looks at it before it is asked for. */
	blob.data[BTF_BLOB_HEADER + 28 + 3] = 0x7f;
	cr_assert_eq(open_blob(&blob, blob.size, &btf), KW_OK);
	struct kw_btf_member member;

	cr_assert_eq(kw_btf_member(&ctx, btf, 2, 0, &member), KW_OK);
	cr_expect_str_eq(member.name, "<name out of range>");
	kw_btf_free(btf);
	free(blob.data);
}

Test(type_btf, names_fit_for_a_terminal)
{
	struct kw_btf *btf = open_text("STRUCT \033[2J 4 { a\ab 2 0 }\nINT \xff 4 signed");
	struct kw_btf_member member;

	cr_expect_str_eq(kw_btf_type(&ctx, btf, 1)->name, "<unprintable name>");
	cr_expect_str_eq(kw_btf_type(&ctx, btf, 2)->name, "<unprintable name>");
	cr_assert_eq(kw_btf_member(&ctx, btf, 1, 0, &member), KW_OK);
	cr_expect_str_eq(member.name, "<unprintable name>");
	kw_btf_free(btf);
}

Test(type_btf, cycles)
{
	/* Typedefs, an array of itself, a structure of itself, qualifiers of one another. */
	struct kw_btf *btf =
		open_text("TYPEDEF a 2\nTYPEDEF b 1\nARRAY 3 2\nSTRUCT s 8 { - 4 0 ; - 4 0 ; - 4 0 }\n"
			  "CONST 6\nVOLATILE 5\nARRAY 8 4\nTYPEDEF t 7\nTYPEDEF self 9");
	struct kw_btf_found found;
	uint32_t id, count;

	for (uint32_t i = 1; i <= 9; i++) {
		if (i != 4)
			cr_expect_eq(kw_btf_size(btf, i), 0, "type %u", i);
		cr_expect_not(kw_btf_find_member(btf, i, "x", &found));
	}
	cr_expect_not(kw_btf_compound(btf, 1, &id, &count));
	touch_all(btf);
	kw_btf_free(btf);
}

Test(type_btf, sizes)
{
	struct kw_btf *btf = open_text("INT char 1 signed\n"
				       "ARRAY 1 0xffffffff\n"
				       "ARRAY 2 0xffffffff\n"
				       "ARRAY 3 0xffffffff\n"
				       "ARRAY 6 2\n"
				       "STRUCT huge 0xffffffff { }\n"
				       "PTR 0\n"
				       "ARRAY 7 3\n"
				       "CONST 8\n"
				       "ARRAY 1 0\n"
				       "FLOAT double 8\n"
				       "ENUM64 e 8 { A 0 }\n"
				       "FUNC_PROTO 0\n"
				       "ARRAY 13 3\n");
	static const uint64_t sizes[] = {
		0, 1, 0xffffffff, 0xfffffffe00000001, 0, 0x1fffffffe, 0xffffffff, 8, 24, 24, 0, 8, 8, 0, 0
	};

	for (uint32_t id = 0; id < sizeof(sizes) / sizeof(sizes[0]); id++)
		cr_expect_eq(kw_btf_size(btf, id), sizes[id], "type %u: %llx", id,
			     (unsigned long long)kw_btf_size(btf, id));
	cr_expect_eq(kw_btf_size(btf, 99), 0);
	kw_btf_free(btf);
}

Test(type_btf, kinds)
{
	struct kw_btf *btf =
		open_text("INT int 4 signed\nINT unsigned~int 4 unsigned\nINT char 1 signed\n"
			  "INT _Bool 1 bool\nINT u8 1 unsigned\nFLOAT double 8\nPTR 1\nARRAY 1 3\n"
			  "STRUCT s 4 { a 1 0 }\nUNION u 4 { a 1 0 ; b 1 0 }\nENUM e 4 { A 1 ; B 2 }\n"
			  "FWD page struct\nTYPEDEF t 1\nVOLATILE 1\nCONST 1\nRESTRICT 7\nTYPE_TAG user 1\n"
			  "FUNC_PROTO 1 { a 1 }\nENUM64 e64 8 signed { A -1 }\n");
	static const struct {
		enum kw_type_kind kind;
		enum kw_int_encoding encoding;
		const char *name;
		uint64_t size;
		uint32_t count, target;
	} want[] = {
		{ KW_TYPE_INT, KW_INT_SIGNED, "int", 4, 0, 0 },
		{ KW_TYPE_INT, KW_INT_UNSIGNED, "unsigned int", 4, 0, 0 },
		{ KW_TYPE_INT, KW_INT_CHAR, "char", 1, 0, 0 },
		{ KW_TYPE_INT, KW_INT_BOOL, "_Bool", 1, 0, 0 },
		{ KW_TYPE_INT, KW_INT_UNSIGNED, "u8", 1, 0, 0 },
		{ KW_TYPE_FLOAT, 0, "double", 8, 0, 0 },
		{ KW_TYPE_POINTER, 0, "", 8, 0, 1 },
		{ KW_TYPE_ARRAY, 0, "", 12, 3, 1 },
		{ KW_TYPE_STRUCT, 0, "s", 4, 1, 0 },
		{ KW_TYPE_UNION, 0, "u", 4, 2, 0 },
		{ KW_TYPE_ENUM, KW_INT_SIGNED, "e", 4, 2, 0 },
		{ KW_TYPE_FORWARD, 0, "page", 0, 0, 0 },
		{ KW_TYPE_TYPEDEF, 0, "t", 0, 0, 1 },
		{ KW_TYPE_QUALIFIER, 0, "volatile", 0, 0, 1 },
		{ KW_TYPE_QUALIFIER, 0, "const", 0, 0, 1 },
		{ KW_TYPE_QUALIFIER, 0, "restrict", 0, 0, 7 },
		{ KW_TYPE_QUALIFIER, 0, "", 0, 0, 1 },
		{ KW_TYPE_FUNCTION, 0, "", 0, 1, 1 },
		{ KW_TYPE_ENUM, KW_INT_SIGNED, "e64", 8, 1, 0 },
	};

	cr_assert_eq(kw_btf_nr(btf), sizeof(want) / sizeof(want[0]));
	for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct kw_type *type = kw_btf_type(&ctx, btf, i + 1);

		cr_assert_not_null(type, "%s", kw_error(&ctx));
		cr_expect_eq(type->kind, want[i].kind, "type %u", i + 1);
		cr_expect_eq(type->encoding, want[i].encoding, "type %u", i + 1);
		cr_expect_str_eq(type->name, want[i].name);
		cr_expect_eq(type->size, want[i].size, "type %u", i + 1);
		cr_expect_eq(type->count, want[i].count, "type %u", i + 1);
		cr_expect_eq(type->target, want[i].target, "type %u", i + 1);
		cr_expect_eq(kw_btf_type(&ctx, btf, i + 1), type, "made twice");
	}
	cr_expect_eq(kw_btf_type(&ctx, btf, 0), &kw_type_void);
	kw_btf_free(btf);
}

/* A function, a variable, a section and a tag are no types of anything. */
Test(type_btf, kinds_that_are_no_types)
{
	struct kw_btf *btf =
		open_text("INT int 4 signed\nFUNC f 1\nVAR v 1\nDATASEC .data 4 { 3 0 4 }\nDECL_TAG tag 1");

	for (uint32_t id = 2; id <= 5; id++)
		cr_expect_null(kw_btf_type(&ctx, btf, id));
	expect_error(ctx.status, KW_FORMAT, "type 5 is of kind 17");
	cr_expect_null(kw_btf_type(&ctx, btf, 6));
	expect_error(ctx.status, KW_FORMAT, "type 6");
	kw_btf_free(btf);
}

Test(type_btf, bitfields)
{
	/* With the kind flag, and as they were before it: by an INT that is narrower than its size. */
	struct kw_btf *btf = open_text("INT unsigned~int 4 unsigned\n"
				       "STRUCT now 8 kflag { a 1 0:3 ; b 1 3:29 ; c 1 32:0 }\n"
				       "INT unsigned~int 4 unsigned bits=3\n"
				       "INT unsigned~int 4 unsigned bits=5 offset=3\n"
				       "TYPEDEF five 4\n"
				       "STRUCT then 4 { a 3 0 ; b 5 0 ; c 1 32 }\n");
	static const struct {
		uint32_t id, i, offset, size;
	} want[] = { { 2, 0, 0, 3 }, { 2, 1, 3, 29 }, { 2, 2, 32, 0 },
		     { 6, 0, 0, 3 }, { 6, 1, 3, 5 },  { 6, 2, 32, 0 } };

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct kw_btf_member member;

		cr_assert_eq(kw_btf_member(&ctx, btf, want[i].id, want[i].i, &member), KW_OK);
		cr_expect_eq(member.bit_offset, want[i].offset, "case %zu", i);
		cr_expect_eq(member.bit_size, want[i].size, "case %zu", i);
	}
	kw_btf_free(btf);
}

Test(type_btf, enumerators)
{
	/* One enum with the flag: the producer knows it, so that the others are unsigned. */
	struct kw_btf *now = open_text("ENUM s 4 signed { A -1 }\nENUM u 4 { B 0xffffffff }\n"
				       "ENUM64 b 8 { C 0xfffffffffffffffe }");
	struct kw_btf *then = open_text("ENUM s 4 { A -1 }");
	const char *name;
	int64_t value;

	cr_assert_eq(kw_btf_enumerator(&ctx, now, 1, 0, &name, &value), KW_OK);
	cr_expect_str_eq(name, "A");
	cr_expect_eq(value, -1);
	cr_assert_eq(kw_btf_enumerator(&ctx, now, 2, 0, &name, &value), KW_OK);
	cr_expect_eq(value, 0xffffffff);
	cr_assert_eq(kw_btf_enumerator(&ctx, now, 3, 0, &name, &value), KW_OK);
	cr_expect_eq(value, -2);
	cr_assert_eq(kw_btf_enumerator(&ctx, then, 1, 0, &name, &value), KW_OK);
	cr_expect_eq(value, -1);
	expect_error(kw_btf_enumerator(&ctx, then, 1, 1, &name, &value), KW_INVALID,
		     "no enumerator number 1");
	kw_btf_free(now);
	kw_btf_free(then);
}

Test(type_btf, parameters)
{
	struct kw_btf *btf = open_text("INT int 4 signed\nFUNC_PROTO 1 { a 1 ; - 1 ; ... }");
	const char *name;
	uint32_t type;

	cr_assert_eq(kw_btf_parameter(&ctx, btf, 2, 0, &name, &type), KW_OK);
	cr_expect_str_eq(name, "a");
	cr_expect_eq(type, 1);
	cr_assert_eq(kw_btf_parameter(&ctx, btf, 2, 2, &name, &type), KW_OK);
	cr_expect_str_eq(name, "");
	cr_expect_eq(type, 0);
	cr_expect_eq(kw_btf_parameter(&ctx, btf, 2, 3, &name, &type), KW_INVALID);
	cr_expect_eq(kw_btf_parameter(&ctx, btf, 1, 0, &name, &type), KW_INVALID);
	kw_btf_free(btf);
}

Test(type_btf, names)
{
	struct kw_btf *btf =
		open_text("TYPEDEF x 5\nUNION x 4 { }\nENUM x 4 { }\nSTRUCT x 1 { }\nINT int 4 signed\n"
			  "STRUCT x 2 { }\nSTRUCT - 2 { }\nFWD fwd struct\nFUNC x 5");
	uint32_t id;

	cr_assert(kw_btf_find(btf, "x", KW_BTF_ANY, &id));
	cr_expect_eq(id, 4, "a structure comes first, the lowest of its name");
	cr_assert(kw_btf_find(btf, "x", KW_BTF_UNION, &id));
	cr_expect_eq(id, 2);
	cr_assert(kw_btf_find(btf, "x", KW_BTF_ENUM, &id));
	cr_expect_eq(id, 3);
	cr_expect_not(kw_btf_find(btf, "", KW_BTF_ANY, &id));
	cr_expect_not(kw_btf_find(btf, "fwd", KW_BTF_ANY, &id));
	cr_expect_not(kw_btf_find(btf, "int", KW_BTF_STRUCT, &id));
	cr_expect_not(kw_btf_find(btf, "in", KW_BTF_ANY, &id));
	cr_expect_not(kw_btf_find(btf, "intx", KW_BTF_ANY, &id));
	kw_btf_free(btf);
}

/* More names than the size of the blob lets expect: the hash grows, and the first of equal names stays first. */
Test(type_btf, many_names)
{
	enum { NAMES = 1500 };
	char *text = malloc(NAMES * 64), *end = text;
	struct kw_btf *btf;
	char name[32];
	uint32_t id;

	for (int i = 0; i < NAMES; i++)
		end += sprintf(end, "STRUCT name_%d %d { }\n", i % 1000, i);
	btf = open_text(text);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name_%d", i);
		cr_assert(kw_btf_find(btf, name, KW_BTF_STRUCT, &id), "%s", name);
		cr_expect_eq(id, (uint32_t)i + 1);
		cr_expect_eq(kw_btf_type(&ctx, btf, id)->size, (uint64_t)i);
	}
	kw_btf_free(btf);
	free(text);
}

/* Text of nr lines; free it. */
static char *lines(int nr, const char *first, const char *format)
{
	char *text = malloc(strlen(first) + (size_t)nr * 256 + 1), *end = text + sprintf(text, "%s", first);

	for (int i = 0; i < nr; i++)
		end += sprintf(end, format, i, i);
	return text;
}

static void expect_id(const struct kw_btf *btf, const char *name, enum kw_btf_class class, uint32_t want)
{
	uint32_t id = 0;

	cr_expect_eq(kw_btf_find(btf, name, class, &id), want != 0, "%s", name);
	cr_expect_eq(id, want, "%s: %u instead of %u", name, id, want);
}

/* A big blob is walked from several places, of which all but the first are guessed. */
Test(type_btf, places_guessed_right)
{
	enum { NR = 500 };
	char *text = lines(NR, "", "UNION - 8 { a 1 0 }\nSTRUCT s_%d %d { a 1 0 ; b 1 32 ; c 1 64 }\n");
	struct kw_btf *btf = open_text(text);

	cr_assert_eq(kw_btf_nr(btf), 2 * NR);
	for (uint32_t i = 0; i < NR; i++) {
		char name[32];

		snprintf(name, sizeof(name), "s_%u", i);
		cr_assert_str_eq(kw_btf_type(&ctx, btf, 2 * i + 2)->name, name);
		cr_assert_eq(kw_btf_type(&ctx, btf, 2 * i + 2)->size, i);
		cr_assert_eq(kw_btf_type(&ctx, btf, 2 * i + 1)->kind, KW_TYPE_UNION);
		expect_id(btf, name, KW_BTF_STRUCT, 2 * i + 2);
	}
	kw_btf_free(btf);
	free(text);
}

/* Type 1, bit size 2 and the next member's name: read from its second word on, each member looks like a pointer. */
Test(type_btf, places_guessed_wrong)
{
	enum { NR = 150 };
	char *text =
		lines(NR, "INT int 4 signed\n",
		      "STRUCT s_%d %d kflag { m 1 0:2 ; m 1 2:2 ; m 1 4:2 ; m 1 6:2 ; m 1 8:2 ; m 1 10:2 ; "
		      "m 1 12:2 ; m 1 14:2 ; m 1 16:2 ; m 1 18:2 ; m 1 20:2 ; m 1 22:2 ; m 1 24:2 }\n");
	struct kw_btf *btf = open_text(text);

	cr_expect_eq(kw_btf_nr(btf), NR + 1);
	for (uint32_t i = 0; i < NR; i++) {
		char name[32];

		snprintf(name, sizeof(name), "s_%u", i);
		expect_id(btf, name, KW_BTF_STRUCT, i + 2);
	}
	expect_id(btf, "m", KW_BTF_ANY, 0);
	kw_btf_free(btf);
	free(text);
}

Test(type_btf, damage_far_behind)
{
	enum { NR = 1000, RECORD = 12 };
	char *text = lines(NR, "", "TYPEDEF t_%d 1\n");
	struct btf_blob blob = btf_build(text);
	struct kw_btf *btf;

	for (size_t damage = 0; damage < 3; damage++) {
		struct btf_blob bad = { .data = malloc(blob.size), .size = blob.size };
		uint8_t *record =
			(uint8_t *)memcpy(bad.data, blob.data, blob.size) + KW_BTF_HEADER_SIZE + 800 * RECORD;

		if (damage == 0)
			record[7] = 100;
		else if (damage == 1)
			memset(record, 0x7f, 4);
		else
			record[7] = 4, record[6] = 0xff;
		expect_error(open_blob(&bad, bad.size, &btf), KW_FORMAT,
			     damage == 0   ? "type 801 has kind 100"
			     : damage == 1 ? "type 801 has its name at 2139062143"
					   : "type 801 is cut short");
		free(bad.data);
	}
	free(blob.data);
	free(text);
}

/* Sorted by name, as since 7.0; what is out of order all the same is found, too. */
Test(type_btf, sorted_names)
{
	enum { NR = 320 };
	char *sorted = lines(NR, "INT - 4 signed\nPTR 1\nPTR 2\n", "TYPEDEF t_%04d 1\nSTRUCT t_%04d 4 { }\n"),
	     *text;
	struct kw_btf *btf;

	cr_assert(asprintf(&text, "%sUNION u 4 { }\nENUM u 4 { }\nSTRUCT astray 4 { }\n", sorted) > 0);
	btf = open_text(text);
	for (uint32_t i = 0; i < NR; i++) {
		char name[32];

		snprintf(name, sizeof(name), "t_%04u", i);
		expect_id(btf, name, KW_BTF_ANY, 3 + 2 * i + 2);
		expect_id(btf, name, KW_BTF_STRUCT, 3 + 2 * i + 2);
		expect_id(btf, name, KW_BTF_UNION, 0);
	}
	expect_id(btf, "u", KW_BTF_ANY, 3 + 2 * NR + 1);
	expect_id(btf, "u", KW_BTF_ENUM, 3 + 2 * NR + 2);
	expect_id(btf, "astray", KW_BTF_ANY, 3 + 2 * NR + 3);
	expect_id(btf, "t_", KW_BTF_ANY, 0);
	expect_id(btf, "zzz", KW_BTF_ANY, 0);
	kw_btf_free(btf);
	free(text);
	free(sorted);
}

Test(type_btf, split)
{
	struct btf_blob base_blob = btf_build("INT int 4 signed\nSTRUCT base 4 { a 1 0 }");
	struct btf_blob blob = btf_build_split(
		"PTR 2\nSTRUCT module 24 { own 3 0 ; a 1 64 ; in 2 96 }\nSTRUCT base 8 { }", &base_blob);
	struct kw_btf *base, *btf;
	struct kw_btf_found found;
	struct kw_btf_member member;
	uint8_t *copy = malloc(blob.size);
	uint32_t id;

	cr_assert_eq(open_blob(&base_blob, base_blob.size, &base), KW_OK);
	memcpy(copy, blob.data, blob.size);
	cr_assert_eq(kw_btf_open(&ctx, copy, blob.size, KW_BTF_MALLOCED, base, &btf), KW_OK, "%s",
		     kw_error(&ctx));
	cr_assert(kw_btf_find(btf, "module", KW_BTF_ANY, &id));
	cr_expect_eq(id, 4);
	cr_assert_eq(kw_btf_member(&ctx, btf, 4, 1, &member), KW_OK);
	cr_expect_str_eq(member.name, "a");
	cr_expect_eq(kw_btf_type(&ctx, btf, 1), kw_btf_type(&ctx, base, 1), "one type, one node");
	cr_expect_str_eq(kw_btf_type(&ctx, btf, 2)->name, "base");
	cr_expect_eq(kw_btf_type(&ctx, btf, 3)->target, 2);
	cr_assert(kw_btf_find(btf, "base", KW_BTF_ANY, &id));
	cr_expect_eq(id, 5, "a split blob looks among its own names");
	cr_expect(kw_btf_find_member(btf, 4, "own", &found));
	cr_expect_null(kw_btf_type(&ctx, btf, 6));
	kw_btf_free(btf);
	kw_btf_free(base);
	free(blob.data);
	free(base_blob.data);
}

Test(type_btf, members_by_name)
{
	struct kw_btf *btf = open_text("INT int 4 signed\n"
				       "STRUCT - 8 { deep 1 0 ; - 3 32 }\n"
				       "UNION - 4 { left 1 0 ; right 1 0 }\n"
				       "STRUCT s 16 { a 1 0 ; - 2 64 }\n"
				       "CONST 4\nTYPEDEF s_t 5\nSTRUCT p 8 { - 8 0 }\nPTR 2");
	struct kw_btf_found found;

	cr_assert(kw_btf_find_member(btf, 6, "right", &found));
	cr_expect_eq(found.bit_offset, 96);
	cr_expect_eq(found.owner, 3);
	cr_expect_eq(found.member.bit_offset, 0);
	cr_expect_eq(found.member.type, 1);
	cr_assert(kw_btf_find_member(btf, 4, "a", &found));
	cr_expect_eq(found.owner, 4);
	cr_expect_not(kw_btf_find_member(btf, 4, "", &found));
	cr_expect_not(kw_btf_find_member(btf, 4, "b", &found));
	cr_expect_not(kw_btf_find_member(btf, 1, "a", &found));
	cr_expect_not(kw_btf_find_member(btf, 7, "deep", &found), "a pointer is not entered");
	kw_btf_free(btf);
}

enum { MANY = 3000 };

static void *make_all(void *arg)
{
	kw_ctx own = { 0 };

	for (uint32_t id = 1; id <= MANY; id++) {
		const struct kw_type *type = kw_btf_type(&own, arg, id);

		if (!type || type->id != id || type->size != id)
			return arg;
	}
	return NULL;
}

/* Several threads make the same types at once. */
Test(type_btf, threads)
{
	char *text = malloc(MANY * 32), *end = text;
	pthread_t threads[4];
	struct kw_btf *btf;
	void *bad;

	for (int i = 1; i <= MANY; i++)
		end += sprintf(end, "STRUCT - %d { }\n", i);
	btf = open_text(text);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, make_all, btf);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &bad);
		cr_expect_null(bad);
	}
	kw_btf_free(btf);
	free(text);
}
