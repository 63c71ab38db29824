/* Objects as C-like text and as JSON, read out of an image of RAM. */
#include "unit/type_given.h"

#include <kwalk/output.h>

#include "fixtures/image.h"

#define DIRECT	 0xffff888000000000ULL
#define RAM_SIZE 0x100000
#define AT	 (DIRECT + 0x1000)

struct object {
	struct image ram;
	struct image_target target;
};

/* Bytes to lie at AT, one page into memory. */
static void object_open(struct object *object, const char *types, const void *bytes, size_t len)
{
	struct btf_blob blob = btf_build(types);

	object->ram = image_new(RAM_SIZE);
	image_put(&object->ram, 0x1000, bytes, len);
	cr_assert_eq(image_open(&object->target, &object->ram, NULL), KW_OK, "%s",
		     kw_error(&object->target.ctx));
	cr_assert_eq(kw_memory_set_direct_map(&object->target.ctx, DIRECT), KW_OK);
	cr_assert_eq(kw_types_take(&object->target.ctx, blob.data, blob.size), KW_OK);
	free(blob.data);
}

static void object_close(struct object *object)
{
	kw_types_free(object->target.target.types);
	object->target.target.types = NULL;
	image_close(&object->target);
	image_free(&object->ram);
}

static char *print(struct object *object, const char *type, uint64_t addr,
		   const struct kw_print_options *opts, kw_status want)
{
	const struct kw_type *found;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	kw_status status;

	cr_assert_eq(kw_type_find(&object->target.ctx, type, &found), KW_OK);
	status = kw_print_object(&object->target.ctx, out, found, addr, opts);
	cr_expect_eq(status, want, "%d: %s", status, kw_error(&object->target.ctx));
	fclose(out);
	return text;
}

static void expect_text(struct object *object, const char *type, uint64_t addr,
			const struct kw_print_options *opts, kw_status status, const char *want)
{
	char *text = print(object, type, addr, opts, status);

	cr_expect_str_eq(text, want, "got:\n%s\nwant:\n%s", text, want);
	free(text);
}

#define JSON	     (&(struct kw_print_options){ .size = sizeof(struct kw_print_options), .json = true })
#define OPTIONS(...) (&(struct kw_print_options){ .size = sizeof(struct kw_print_options), __VA_ARGS__ })

/* A structure of itself, and one whose levels name the next one many times. */
Test(output_print_object, hostile_types)
{
	struct object object;
	char types[8192], *end = types, *text;

	end += sprintf(
		end,
		"STRUCT self 8 { a 1 0 }\nINT int 4 signed\nARRAY 2 0xffffffff\nSTRUCT long 8 { a 3 0 }\n"
		"INT int 4 signed\n");
	for (int id = 6; id < 26; id++)
		end += sprintf(end, "STRUCT s%d 4 { a %d 0 ; b %d 0 ; c %d 0 ; d %d 0 ; e %d 0 }\n", id,
			       id + 1, id + 1, id + 1, id + 1, id + 1);
	sprintf(end, "INT int 4 signed");
	object_open(&object, types, "", 1);
	free(print(&object, "self", AT, NULL, KW_OK));
	free(print(&object, "self", AT, OPTIONS(.depth = 1000), KW_OK));
	text = print(&object, "s6", AT, OPTIONS(.depth = 1000), KW_INCOMPLETE);
	cr_expect_not_null(strstr(kw_error(&object.target.ctx), "cut"));
	cr_expect_lt(strlen(text), 200u << 20);
	free(text);
	free(print(&object, "long", AT, OPTIONS(.max_items = 0xffffffff), KW_INCOMPLETE));
	object_close(&object);
}

Test(output_print_object, hostile_bytes)
{
	struct object object;

	object_open(&object, "INT char 1 signed\nARRAY 1 16\nSTRUCT s 16 { name 2 0 }",
		    "\033[2J\"\\\xff\n\x80"
		    "abcdefgh",
		    16);
	expect_text(&object, "s", AT, NULL, KW_OK,
		    "{ .name = \"\\e[2J\\\"\\\\\\xff\\n\\x80"
		    "abcdefg\" }\n");
	object_close(&object);
}

Test(output_print_object, absent)
{
	struct object object;

	object_open(&object, "INT int 4 signed\nPTR 0\nSTRUCT s 16 { a 1 0 ; p 2 64 }", "\1", 1);
	/* The second member lies behind the end of memory. */
	expect_text(&object, "s", DIRECT + RAM_SIZE - 8, NULL, KW_INCOMPLETE,
		    "{\n\t.a = 0,\n\t.p = <absent: no memory at that address>,\n}\n");
	cr_expect_not_null(strstr(kw_error(&object.target.ctx), "1 value can't be read"));
	expect_text(&object, "s", DIRECT + RAM_SIZE - 8, JSON, KW_INCOMPLETE, "{\"a\":0,\"p\":null}\n");
	expect_text(&object, "s", DIRECT + RAM_SIZE, NULL, KW_ABSENT, "");
	expect_text(&object, "s", UINT64_MAX - 4, NULL, KW_ABSENT, "");
	object_close(&object);
}

Test(output_print_object, numbers)
{
	static const struct {
		int8_t a;
		uint8_t b;
		bool c;
		char d, e;
		uint32_t f;
		int64_t g;
		float h;
		double i;
		uint32_t kind, strange;
	} value = { -1, 255, true, 'x', '\n', 4000000000u, -5, 1.5f, 0.1, 1, 7 };
	static const char types[] =
		"INT s8 1 signed\nINT u8 1 unsigned\nINT _Bool 1 bool\nINT char 1 signed\n"
		"INT u32 4 unsigned\nINT long 8 signed\nFLOAT float 4\nFLOAT double 8\n"
		"ENUM kind 4 { A 0 ; B 1 }\n"
		"STRUCT s 48 { a 1 0 ; b 2 8 ; c 3 16 ; d 4 24 ; e 4 32 ; f 5 64 ; g 6 128 ; "
		"h 7 192 ; i 8 256 ; kind 9 320 ; strange 9 352 }\n";
	struct object object;

	object_open(&object, types, &value, sizeof(value));
	expect_text(&object, "s", AT, NULL, KW_OK,
		    "{\n\t.a = -1,\n\t.b = 255,\n\t.c = true,\n\t.d = 'x',\n\t.e = 10,\n\t.f = 4000000000,\n"
		    "\t.g = -5,\n\t.h = 1.5,\n\t.i = 0.1,\n\t.kind = B,\n\t.strange = 7,\n}\n");
	expect_text(&object, "s", AT, JSON, KW_OK,
		    "{\"a\":-1,\"b\":255,\"c\":true,\"d\":120,\"e\":10,\"f\":4000000000,\"g\":-5,\"h\":1.5,"
		    "\"i\":0.1,\"kind\":\"B\",\"strange\":7}\n");
	object_close(&object);
}

Test(output_print_object, bitfields)
{
	static const uint32_t words[2] = { 5 | 0x1f << 3 | 1u << 31, 0x7 };
	struct object object;

	object_open(&object,
		    "INT unsigned~int 4 unsigned\nINT int 4 signed\nINT _Bool 1 bool\n"
		    "STRUCT s 8 kflag { a 1 0:3 ; b 2 3:5 ; c 3 8:1 ; d 1 31:1 ; e 1 32:32 ; bad 1 0:200 }",
		    words, sizeof(words));
	expect_text(&object, "s", AT, NULL, KW_OK,
		    "{\n\t.a = 5,\n\t.b = -1,\n\t.c = false,\n\t.d = 1,\n\t.e = 7,\n"
		    "\t.bad = <not a number of a size that is known>,\n}\n");
	object_close(&object);
}

Test(output_print_object, nesting)
{
	static const int32_t values[6] = { 1, 2, 3, 4, 5, 6 };
	static const char types[] = "INT int 4 signed\n"
				    "STRUCT one 4 { counter 1 0 }\n"
				    "UNION - 4 { left 1 0 ; right 2 0 }\n"
				    "STRUCT pair 8 { x 1 0 ; y 1 32 }\n"
				    "ARRAY 4 2\n"
				    "STRUCT s 24 { count 2 0 ; - 3 32 ; pairs 5 64 ; none 7 192 }\n"
				    "ARRAY 1 0\n";
	struct object object;

	object_open(&object, types, values, sizeof(values));
	expect_text(&object, "s", AT, NULL, KW_OK,
		    "{\n"
		    "\t.count = { .counter = 1 },\n"
		    "\t.left = 2,\n"
		    "\t.right = { .counter = 2 },\n"
		    "\t.pairs = {\n"
		    "\t\t[0] = {\n\t\t\t.x = 3,\n\t\t\t.y = 4,\n\t\t},\n"
		    "\t\t[1] = {\n\t\t\t.x = 5,\n\t\t\t.y = 6,\n\t\t},\n"
		    "\t},\n"
		    "\t.none = [],\n"
		    "}\n");
	expect_text(&object, "s", AT, JSON, KW_OK,
		    "{\"count\":{\"counter\":1},\"left\":2,\"right\":{\"counter\":2},"
		    "\"pairs\":[{\"x\":3,\"y\":4},{\"x\":5,\"y\":6}],\"none\":[]}\n");
	expect_text(
		&object, "s", AT, OPTIONS(.depth = 1), KW_OK,
		"{\n\t.count = { ... },\n\t.left = 2,\n\t.right = { ... },\n\t.pairs = { ... },\n\t.none = [],\n}\n");
	expect_text(&object, "s", AT, OPTIONS(.max_items = 1), KW_OK,
		    "{\n"
		    "\t.count = { .counter = 1 },\n"
		    "\t.left = 2,\n"
		    "\t.right = { .counter = 2 },\n"
		    "\t.pairs = {\n"
		    "\t\t[0] = {\n\t\t\t.x = 3,\n\t\t\t.y = 4,\n\t\t},\n"
		    "\t\t... 1 more\n"
		    "\t},\n"
		    "\t.none = [],\n"
		    "}\n");
	object_close(&object);
}

Test(output_print_object, arrays_and_pointers)
{
	static const struct {
		uint64_t pointer, name;
		int32_t numbers[6];
		char text[8];
		int32_t grid[2][2];
	} value = { 0, AT + 40, { 1, 2, 3, 4, 5, 6 }, "hello", { { 1, 2 }, { 3, 4 } } };
	static const char types[] =
		"INT int 4 signed\nINT char 1 signed\nPTR 0\nCONST 2\nPTR 4\nARRAY 1 6\nARRAY 2 8\n"
		"ARRAY 1 2\nARRAY 8 2\n"
		"STRUCT s 64 { pointer 3 0 ; name 5 64 ; numbers 6 128 ; text 7 320 ; grid 9 384 }\n";
	struct object object;

	object_open(&object, types, &value, sizeof(value));
	expect_text(&object, "s", AT, OPTIONS(.max_items = 4), KW_OK,
		    "{\n"
		    "\t.pointer = 0x0,\n"
		    "\t.name = 0xffff888000001028 \"hello\",\n"
		    "\t.numbers = { 1, 2, 3, 4, ... 2 more },\n"
		    "\t.text = \"hello\",\n"
		    "\t.grid = { { 1, 2 }, { 3, 4 } },\n"
		    "}\n");
	expect_text(&object, "s", AT, JSON, KW_OK,
		    "{\"pointer\":\"0x0\",\"name\":\"0xffff888000001028\",\"numbers\":[1,2,3,4,5,6],"
		    "\"text\":\"hello\",\"grid\":[[1,2],[3,4]]}\n");
	object_close(&object);
}

Test(output_print_object, scalars)
{
	static const uint64_t value = 42;
	struct object object;

	object_open(&object, "INT int 4 signed\nTYPEDEF pid_t 1\nSTRUCT empty 0 { }\nINT __int128 16 signed",
		    &value, sizeof(value));
	expect_text(&object, "pid_t", AT, NULL, KW_OK, "42\n");
	expect_text(&object, "pid_t", AT, JSON, KW_OK, "42\n");
	expect_text(&object, "empty", AT, NULL, KW_OK, "{}\n");
	expect_text(&object, "__int128", AT, NULL, KW_OK, "0x0000000000000002a\n");
	expect_text(&object, "void", AT, NULL, KW_OK, "<no value>\n");
	expect_text(&object, "void", AT, JSON, KW_OK, "null\n");
	object_close(&object);
}
