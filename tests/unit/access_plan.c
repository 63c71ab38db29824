/* Access plans: memory that is not there first, then what comes of bytes, what is merged, and what has changed. */
#include <fcntl.h>
#include <unistd.h>

#include "unit/kernel_given.h"

#include "access/plan.h"
#include "memory/source.h"

#define MAX_PATHS   16
#define NOT_IN_DUMP "<excluded when the dump was made>"

static const char things[] =
	"struct packed tight { u8 a : 3; u32 b : 31; u64 c : 60; };"
	"enum sign { LESS = -2, MORE = 2 };"
	"struct far { int first; struct far *next; char pad[20000]; int last; struct thing *thing; };"
	"struct thing { int number; u16 small; bool yes; u8 octets[5]; char name[16]; const char *text;"
	"	struct thing *next, *mm; struct far *far; long minus; s8 tiny; enum sign sign; int five : 5, six : 6;"
	"	u32 seven : 7; struct tight tight; u64 last; };";

static struct given g;
static uint64_t thing;
static struct kw_plan plan;
static struct kw_value values[MAX_PATHS];

static void have_kernel(void)
{
	g = given_config(&(struct kernel_config){ .types = things });
	thing = kernel_alloc(g.k, c_type_size(c_types_find(kernel_types(g.k), "thing")), 64);
}

static void forget_kernel(void)
{
	kw_plan_deinit(&plan);
	given_close(&g);
}

TestSuite(access_plan, .init = have_kernel, .fini = forget_kernel);

static kw_status add_path(const char *base, const char *text, uint32_t slot)
{
	const struct kw_type *type = NULL;
	struct kw_path path;

	cr_assert_eq(kw_type_find(g.ctx, base, &type), KW_OK, "%s", kw_error(g.ctx));
	cr_assert_eq(kw_path_compile(g.ctx, type, text, &path), KW_OK, "%s", kw_error(g.ctx));
	return kw_plan_add(g.ctx, &plan, &path, slot);
}

/* Make a plan of paths, separated by commas; returns how many. */
static uint32_t make_plan(const char *base, const char *paths)
{
	char copy[1024], *save = NULL;
	uint32_t nr = 0;

	kw_plan_deinit(&plan);
	snprintf(copy, sizeof(copy), "%s", paths);
	for (char *path = strtok_r(copy, ",", &save); path; path = strtok_r(NULL, ",", &save))
		cr_assert_eq(add_path(base, path, nr++), KW_OK, "%s: %s", path, kw_error(g.ctx));
	cr_assert_eq(kw_plan_finish(g.ctx, &plan), KW_OK);
	return nr;
}

static void expect_now(uint32_t nr, kw_status status, kw_status want_status, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(out);
	for (uint32_t i = 0; i < nr; i++) {
		fputs(i ? " " : "", out);
		print_value(out, &values[i]);
	}
	fclose(out);
	cr_expect_eq(status, want_status, "status %d instead of %d", status, want_status);
	cr_expect_str_eq(text, want, "got:  %s\nwant: %s", text, want);
	free(text);
}

/* Run by itself, and fetched with others: all the same. */
static void expect_run_at(uint64_t addr, uint32_t nr, kw_status want_status, const char *want)
{
	const uint64_t rows[] = { thing, addr, 0, addr };
	bool changed[4];

	expect_now(nr, kw_plan_run(g.ctx, &plan, addr, values), want_status, want);
	cr_assert_eq(kw_plan_fetch(g.ctx, &plan, rows, NULL, 4), KW_OK);
	expect_now(nr, kw_plan_take(g.ctx, &plan, 3, values), want_status, want);
	kw_plan_take(g.ctx, &plan, 2, values);
	expect_now(nr, kw_plan_take(g.ctx, &plan, 1, values), want_status, want);
	kw_plan_recheck(g.ctx, &plan, NULL, 4, changed);
	cr_expect_not(changed[0] || changed[1] || changed[2] || changed[3]);
}

static void expect_values(const char *paths, uint64_t addr, kw_status status, const char *want)
{
	expect_run_at(addr, make_plan("struct thing", paths), status, want);
}

static uint64_t another_thing(void)
{
	return kernel_alloc(g.k, c_type_size(c_types_find(kernel_types(g.k), "thing")), 64);
}

Test(access_plan, object_in_no_memory)
{
	given_open(&g, KERNEL_RAM);
	expect_values("number,next.number,name", 0xdead000000000100, KW_ABSENT,
		      "<no memory at that address> <no memory at that address> <no memory at that address>");
	expect_values("number", 0, KW_ABSENT, "<no memory at that address>");
	expect_values("last", UINT64_MAX - 4, KW_ABSENT, "<no memory at that address>");
	expect_values("last", UINT64_MAX - 200, KW_ABSENT, "<no memory at that address>");
	/* The last byte of it lies past the end of RAM. */
	expect_values("number", KERNEL_DIRECT + 0x100000 - 4, KW_OK, "0");
	expect_values("number", KERNEL_DIRECT + 0x100000 - 3, KW_ABSENT, "<no memory at that address>");
}

Test(access_plan, pointers_to_nowhere)
{
	uint64_t other = another_thing();

	kernel_set(g.k, thing, "thing.number", 7);
	kernel_set(g.k, thing, "thing.next", 0xdead000000000122);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values(
		"number,next.number,next.next.number,mm.number,mm.next.number", thing, KW_OK,
		"7 <no memory at that address> <no memory at that address> <no mm: kernel thread or exiting> "
		"<no mm: kernel thread or exiting>");
	kernel_set(g.k, thing, "thing.next", other);
	expect_values("number,next.number,next.next.number,next.mm.number", thing, KW_OK,
		      "7 0 <a pointer on the way is NULL> <no mm: kernel thread or exiting>");
	/* An object that would wrap. */
	kernel_set(g.k, thing, "thing.next", UINT64_MAX - 8);
	expect_values("next.number,next.last", thing, KW_OK,
		      "<no memory at that address> <no memory at that address>");
}

Test(access_plan, excluded_pages_are_no_zeros)
{
	uint64_t far = kernel_alloc(g.k, 24576, 4096), page = kernel_alloc(g.k, 4096, 4096);

	kernel_set(g.k, thing, "thing.next", page);
	kernel_set(g.k, page, "thing.number", 9);
	kernel_set(g.k, thing, "thing.far", far);
	kernel_set(g.k, far, "far.first", 3);
	kernel_exclude(g.k, page);
	kernel_exclude(g.k, far + 20000);
	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_values("number,next.number,far.first,far.last", thing, KW_OK,
			      "0 <excluded when the dump was made> 3 <excluded when the dump was made>");
		expect_values("number", page, KW_EXCLUDED, "<excluded when the dump was made>");
		expect_values("number", page - 1, KW_EXCLUDED, "<excluded when the dump was made>");
		kw_plan_deinit(&plan);
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/* An object on two pages, of which a dump has one; its name lies on both. */
static uint64_t half_a_thing(bool has_first)
{
	uint64_t pages = kernel_alloc(g.k, 8192, 4096), other = another_thing();
	uint64_t object = pages + 4096 - kernel_at(g.k, 0, "thing.name") - 8;

	kernel_set(g.k, object, "thing.number", 5);
	kernel_set(g.k, object, "thing.last", 6);
	kernel_set(g.k, object, "thing.next", other);
	kernel_set(g.k, other, "thing.number", 7);
	kernel_exclude(g.k, pages + (has_first ? 4096 : 0));
	return object;
}

Test(access_plan, a_part_of_an_object)
{
	uint64_t first = half_a_thing(true), second = half_a_thing(false);

	for (int form = KERNEL_ELF_PHYSICAL; form <= KERNEL_ELF_VIRTUAL; form++) {
		given_open(&g, form);
		expect_values("number,name,next.number,last", first, KW_OK,
			      "5 " NOT_IN_DUMP " " NOT_IN_DUMP " " NOT_IN_DUMP);
		expect_values("number,name,next.number,last", second, KW_OK,
			      NOT_IN_DUMP " " NOT_IN_DUMP " 7 6");
		expect_values("name,octets[0]", first, KW_OK, NOT_IN_DUMP " 0");
		expect_values("name,last", first, KW_EXCLUDED, NOT_IN_DUMP " " NOT_IN_DUMP);
		kw_plan_deinit(&plan);
		kw_free(g.ctx);
	}
	g.ctx = NULL;
}

/*
 * The live kernel gives zeros for a page that it does not want to show. An object of zeros whose page holds something else
 * is one.
 */
Test(access_plan, zeros_that_are_no_data)
{
	uint64_t unshown = kernel_alloc(g.k, 8192, 4096) + 256, shown = kernel_alloc(g.k, 4096, 4096) + 256;

	kernel_fill(g.k, shown + 3000, 1, 1);
	kernel_set(g.k, thing, "thing.next", unshown);
	kernel_set(g.k, thing, "thing.mm", shown);
	kernel_set(g.k, thing, "thing.number", 7);
	given_open(&g, KERNEL_RAM_PREAD);
	expect_values("number,next.number,mm.number", thing, KW_OK, "7 0 0");
	g.ctx->target->memory->kind = KW_SOURCE_LIVE;
	expect_values(
		"number,next.number,mm.number,next.next.number", thing, KW_OK,
		"7 <unreadable: I/O error or truncated file> 0 <unreadable: I/O error or truncated file>");
	/* A variable may be 0, and all that lies around it. */
	expect_values("number", unshown, KW_OK, "0");
	expect_values("number,mm.number", shown, KW_OK, "0 <no mm: kernel thread or exiting>");
}

/* It would have refused a page that the live kernel does not show. */
Test(access_plan, zeros_of_a_mapping)
{
	kernel_set(g.k, thing, "thing.next", kernel_alloc(g.k, 8192, 4096) + 256);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values("next.number", thing, KW_OK, "0");
	g.ctx->target->memory->kind = KW_SOURCE_LIVE;
	make_plan("struct thing", "next.number");
	expect_now(1, kw_plan_run(g.ctx, &plan, thing, values), KW_OK, "0");
}

Test(access_plan, file_cut_short_while_it_is_read)
{
	uint64_t low = kernel_alloc(g.k, 256, 64), high = KERNEL_DIRECT + 0xf0000;
	struct image file;
	char path[] = "/tmp/kwalk-plan-XXXXXX";
	int fd = mkstemp(path);
	uint32_t nr;

	kernel_set(g.k, low, "thing.next", high);
	kernel_set(g.k, high, "thing.number", 5);
	file = kernel_file(g.k, KERNEL_RAM);
	cr_assert(fd >= 0 && write(fd, file.bytes, file.size) == (ssize_t)file.size);
	image_free(&file);
	g.ctx = kw_new();
	cr_assert_eq(kw_open(g.ctx, path, NULL), KW_OK, "%s", kw_error(g.ctx));
	nr = make_plan("struct thing", "number,next.number");
	cr_assert_eq(ftruncate(fd, 0xf0000), 0);
	kw_pass_begin(g.ctx);
	expect_run_at(low, nr, KW_OK, "0 <unreadable: I/O error or truncated file>");
	expect_run_at(high, nr, KW_FAILED,
		      "<unreadable: I/O error or truncated file> <unreadable: I/O error or truncated file>");
	kw_pass_end(g.ctx);
	close(fd);
	unlink(path);
}

Test(access_plan, strings_behind_pointers)
{
	uint64_t page = kernel_alloc(g.k, 4096, 4096), text = kernel_alloc(g.k, 8192, 64);
	char want[4096];

	kernel_map(g.k, KERNEL_VMALLOC, page);
	kernel_write(g.k, page + 4090, "sixsix", 6);
	kernel_fill(g.k, text, 'x', 8192);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values("text,number", thing, KW_OK, "<a pointer on the way is NULL> 0");
	kernel_set(g.k, thing, "thing.text", 0x1000);
	expect_values("text,number", thing, KW_OK, "<no memory at that address> 0");
	/* It runs to the end of a page behind which there is none: what was had is shown. */
	kernel_set(g.k, thing, "thing.text", KERNEL_VMALLOC + 4090);
	expect_values("text", thing, KW_OK, "sixsix");
	kernel_set(g.k, thing, "thing.text", KERNEL_VMALLOC + 4096);
	expect_values("text", thing, KW_OK, "<no memory at that address>");
	/* No end in sight. */
	kernel_set(g.k, thing, "thing.text", text);
	memset(want, 'x', sizeof(want) - 1);
	want[sizeof(want) - 1] = '\0';
	expect_values("text", thing, KW_OK, want);
	kernel_write(g.k, text, "two\0words", 10);
	expect_values("text", thing, KW_OK, "two");
}

Test(access_plan, char_arrays)
{
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values("name", thing, KW_OK, "");
	kernel_write(g.k, kernel_at(g.k, thing, "thing.name"), "0123456789abcdefTAIL", 16);
	kernel_set(g.k, thing, "thing.text", kernel_at(g.k, thing, "thing.name"));
	expect_values("name,octets", thing, KW_OK, "0123456789abcdef 0000000000");
	kernel_write(g.k, kernel_at(g.k, thing, "thing.name"), "a\0b", 3);
	kernel_write(g.k, kernel_at(g.k, thing, "thing.octets"), "\x01\0\xff\0\x80", 5);
	expect_values("name,octets,name", thing, KW_OK, "a 0100ff0080 a");
	cr_expect_eq(values[1].len, 5);
	cr_expect_neq(values[0].str, values[2].str);
}

Test(access_plan, numbers)
{
	kernel_set(g.k, thing, "thing.number", 0x80000000);
	kernel_set(g.k, thing, "thing.small", 0xffff);
	kernel_set(g.k, thing, "thing.minus", (uint64_t)-5);
	kernel_set(g.k, thing, "thing.tiny", 0x80);
	kernel_set(g.k, thing, "thing.last", UINT64_MAX);
	kernel_set(g.k, thing, "thing.next", 0xfff);
	/* A bool that is neither 0 nor 1 is true all the same. */
	kernel_set(g.k, thing, "thing.yes", 2);
	given_open(&g, KERNEL_RAM);
	expect_values("number,small,minus,tiny,last,next,yes", thing, KW_OK,
		      "-2147483648 65535 -5 -128 18446744073709551615 0xfff true");
}

Test(access_plan, bits)
{
	kernel_set(g.k, thing, "thing.five", 0x1f);
	kernel_set(g.k, thing, "thing.six", 0x1f);
	kernel_set(g.k, thing, "thing.seven", 0x55);
	kernel_set(g.k, thing, "thing.tight.a", 5);
	kernel_set(g.k, thing, "thing.tight.b", 0x7ffffffe);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values("five,six,seven,tight.a,tight.b", thing, KW_OK, "-1 31 85 5 2147483646");
	kernel_set(g.k, thing, "thing.six", 0x20);
	kernel_fill(g.k, kernel_at(g.k, thing, "thing.tight.c"), 0xff, 8);
	expect_values("six,tight.c,tight.a", thing, KW_OK, "-32 1152921504606846975 5");
}

/* With its sign: what a name is found by. */
Test(access_plan, negative_enumerators)
{
	kernel_set(g.k, thing, "thing.sign", (uint32_t)-2);
	given_open(&g, KERNEL_RAM);
	make_plan("struct thing", "sign");
	cr_assert_eq(kw_plan_run(g.ctx, &plan, thing, values), KW_OK);
	cr_expect_eq(values[0].type, KW_VAL_ENUM);
	cr_expect_eq(values[0].i, -2);
}

Test(access_plan, objects_come_in_place)
{
	kernel_set(g.k, thing, "thing.number", 42);
	given_open(&g, KERNEL_RAM_PREAD);
	kw_plan_deinit(&plan);
	cr_assert_eq(add_path("struct thing", "tight", 0), KW_OK);
	cr_assert_eq(add_path("struct thing", "", 1), KW_OK);
	cr_assert_eq(kw_plan_finish(g.ctx, &plan), KW_OK);
	cr_assert_eq(kw_plan_run(g.ctx, &plan, thing, values), KW_OK);
	cr_expect_eq(values[0].type, KW_VAL_BYTES);
	cr_expect_eq(values[1].type, KW_VAL_BYTES);
	cr_expect_eq(values[1].len, c_type_size(c_types_find(kernel_types(g.k), "thing")));
	cr_expect_gt(values[0].str, values[1].str);
	cr_expect_leq(values[0].str + values[0].len, values[1].str + values[1].len);
}

Test(access_plan, objects_that_are_too_long_are_refused)
{
	given_open(&g, KERNEL_RAM);
	cr_expect_eq(add_path("struct far", "pad", 0), KW_INVALID);
	cr_expect_str_eq(kw_error(g.ctx), "is a structure or an array, not a value: name a member of it");
}

static void expect_plan(const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(out);
	kw_plan_explain(&plan, "thing", out);
	fclose(out);
	cr_expect_str_eq(text, want, "got:\n%swant:\n%s", text, want);
	free(text);
}

Test(access_plan, one_node_for_each_object)
{
	given_open(&g, KERNEL_RAM);
	make_plan("struct thing", "number,next.small,next.number,number,mm.number,next.next.yes,seven");
	expect_plan("node 0   thing  bytes 0x0..0x54\n"
		    "node 1   *(node 0 + 0x28)  bytes 0x0..0x30\n"
		    "node 2   *(node 0 + 0x30)  bytes 0x0..0x4\n"
		    "node 3   *(node 1 + 0x28)  bytes 0x6..0x7\n"
		    "load     node 0 + 0x0  4 bytes signed -> slot 0\n"
		    "load     node 0 + 0x0  4 bytes signed -> slot 3\n"
		    "load     node 0 + 0x50  4 bytes bits (7 bits from bit 11) -> slot 6\n"
		    "load     node 1 + 0x0  4 bytes signed -> slot 2\n"
		    "load     node 1 + 0x4  2 bytes unsigned -> slot 1\n"
		    "load     node 2 + 0x0  4 bytes signed -> slot 4\n"
		    "load     node 3 + 0x6  1 bytes bool -> slot 5\n");
}

Test(access_plan, far_apart_values_get_a_node_each)
{
	uint64_t far = kernel_alloc(g.k, 24576, 64), next = kernel_alloc(g.k, 24576, 64);

	kernel_set(g.k, far, "far.first", 1);
	kernel_set(g.k, far, "far.last", 2);
	kernel_set(g.k, far, "far.next", next);
	kernel_set(g.k, far, "far.thing", thing);
	kernel_set(g.k, next, "far.first", 3);
	kernel_set(g.k, next, "far.last", 4);
	kernel_set(g.k, thing, "thing.number", 5);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_run_at(far, make_plan("struct far", "first,last,next.first,next.last,thing.number"), KW_OK,
		      "1 2 3 4 5");
	expect_plan("node 0   thing  bytes 0x0..0x10\n"
		    "node 1   thing  bytes 0x4e30..0x4e40\n"
		    "node 2   *(node 0 + 0x8)  bytes 0x0..0x4\n"
		    "node 3   *(node 0 + 0x8)  bytes 0x4e30..0x4e34\n"
		    "node 4   *(node 1 + 0x4e38)  bytes 0x0..0x4\n"
		    "load     node 0 + 0x0  4 bytes signed -> slot 0\n"
		    "load     node 1 + 0x4e30  4 bytes signed -> slot 1\n"
		    "load     node 2 + 0x0  4 bytes signed -> slot 2\n"
		    "load     node 3 + 0x4e30  4 bytes signed -> slot 3\n"
		    "load     node 4 + 0x0  4 bytes signed -> slot 4\n");
	/* A pointer in the far part counts as well. */
	cr_expect_not(kw_plan_changed(g.ctx, &plan));
	kernel_set(g.k, far, "far.thing", 0);
	cr_expect(kw_plan_changed(g.ctx, &plan));
}

Test(access_plan, only_half_of_a_far_object_is_there)
{
	uint64_t far = KERNEL_DIRECT + 0x100000 - 64;

	kernel_set(g.k, far, "far.first", 1);
	given_open(&g, KERNEL_RAM);
	expect_run_at(far, make_plan("struct far", "first,last"), KW_OK, "1 <no memory at that address>");
}

Test(access_plan, changed_pointers)
{
	uint64_t other = another_thing(), third = another_thing();

	kernel_set(g.k, thing, "thing.next", other);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values("next.number,next.next.number,mm.number", thing, KW_OK,
		      "0 <a pointer on the way is NULL> <no mm: kernel thread or exiting>");
	cr_expect_not(kw_plan_changed(g.ctx, &plan));
	/* Values may change; what counts is whose they are. */
	kernel_set(g.k, other, "thing.number", 1);
	cr_expect_not(kw_plan_changed(g.ctx, &plan));
	kernel_set(g.k, other, "thing.next", third);
	cr_expect(kw_plan_changed(g.ctx, &plan));
	kernel_set(g.k, other, "thing.next", 0);
	cr_expect_not(kw_plan_changed(g.ctx, &plan));
	kernel_set(g.k, thing, "thing.mm", third);
	cr_expect(kw_plan_changed(g.ctx, &plan));
}

Test(access_plan, what_could_not_be_read_has_not_changed)
{
	kernel_set(g.k, thing, "thing.next", 0xdead000000000100);
	given_open(&g, KERNEL_RAM_LIVE);
	expect_values("next.next.next.number", thing, KW_OK, "<no memory at that address>");
	cr_expect_not(kw_plan_changed(g.ctx, &plan));
	expect_values("next.number", 0x1000, KW_ABSENT, "<no memory at that address>");
	cr_expect_not(kw_plan_changed(g.ctx, &plan));
}

Test(access_plan, sixteen_pointers_in_a_circle)
{
	char path[128] = "";

	kernel_set(g.k, thing, "thing.next", thing);
	kernel_set(g.k, thing, "thing.number", 42);
	given_open(&g, KERNEL_RAM_PREAD);
	for (int i = 0; i < 16; i++)
		strcat(path, "next.");
	strcat(path, "number");
	expect_values(path, thing, KW_OK, "42");
	cr_expect_eq(plan.nodes.nr, 17);
}

Test(access_plan, hints_about_nothing_are_harmless)
{
	static const uint64_t places[] = { 0, 0xdead000000000122, UINT64_MAX, UINT64_MAX - 40,
					   KERNEL_DIRECT - 8 };

	given_open(&g, KERNEL_RAM_LIVE);
	make_plan("struct thing", "next.number,next.last,next.next.text,mm.name,last");
	kw_plan_view(g.ctx, &plan, places, ARRAY_SIZE(places));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		kernel_set(g.k, thing, "thing.next", places[i]);
		kw_plan_view(g.ctx, &plan, &thing, 1);
	}
	kw_plan_forget(g.ctx, &plan);
}

/* What is viewed together is what is run one by one: values, and why there is none. */
Test(access_plan, objects_that_are_viewed_give_what_is_run)
{
	static const uint64_t places[] = { 0, 0xdead000000000122, UINT64_MAX - 40, KERNEL_DIRECT - 8 };
	struct kw_value run[4], taken[4];
	uint64_t rows[2] = { thing, thing };

	kernel_set(g.k, thing, "thing.number", 42);
	given_open(&g, KERNEL_RAM_LIVE);
	make_plan("struct thing", "next.number,next.last,next.next.text,number");
	for (size_t i = 0; i <= ARRAY_SIZE(places); i++) {
		kernel_set(g.k, thing, "thing.next", i < ARRAY_SIZE(places) ? places[i] : thing);
		cr_assert_eq(kw_plan_run(g.ctx, &plan, thing, run), KW_OK);
		cr_assert_eq(kw_plan_view_objects(g.ctx, &plan, rows, ARRAY_SIZE(rows)), KW_OK);
		for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
			cr_assert_eq(kw_plan_take(g.ctx, &plan, row, taken), KW_OK);
			for (size_t k = 0; k < ARRAY_SIZE(run); k++) {
				cr_expect_eq(taken[k].type, run[k].type, "place %zu, value %zu", i, k);
				cr_expect_eq(taken[k].absent, run[k].absent);
				cr_expect(taken[k].type == KW_VAL_STRING || taken[k].u == run[k].u);
			}
		}
		cr_expect_not(kw_plan_changed(g.ctx, &plan));
	}
	kernel_set(g.k, thing, "thing.next", 0);
	cr_expect(kw_plan_changed(g.ctx, &plan));
}

Test(access_plan, a_flat_plan_loads_in_place_what_it_runs)
{
	struct kw_value run[2], loaded[2], begun[KW_PLAN_ROWS];
	const uint8_t *span;

	kernel_set(g.k, thing, "thing.number", 42);
	given_open(&g, KERNEL_RAM);
	make_plan("struct thing", "number");
	cr_assert(plan.flat);
	cr_assert_eq(kw_plan_run(g.ctx, &plan, thing, run), KW_OK);
	span = kw_view(g.ctx, thing + plan.nodes.item[0].lo, 4);
	cr_assert_not_null(span);
	kw_plan_load_begin(&plan, begun, 1, 1);
	loaded[0] = begun[0];
	kw_plan_load(&plan, &span, 1, loaded, ARRAY_SIZE(loaded), 1);
	cr_expect_eq(loaded[0].type, run[0].type);
	cr_expect_eq(loaded[0].u, 42);
}

Test(access_plan, a_plan_that_follows_pointers_is_not_flat)
{
	given_open(&g, KERNEL_RAM);
	make_plan("struct thing", "next.number");
	cr_expect_not(plan.flat);
}
