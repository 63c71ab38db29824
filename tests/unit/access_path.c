/* Member paths: malformed ones and what is said of them first, then what each kind of member compiles to. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/path.h"
#include "fixtures/c_types.h"
#include "type/origin.h"
#include "type/types.h"

static kw_ctx ctx;
static struct kw_target target;
static struct c_types *types;

static const char declarations[] =
	"typedef unsigned char u8; typedef unsigned int u32; typedef unsigned long long u64;"
	"typedef struct { int counter; } atomic_t;"
	"typedef struct refcount_struct { atomic_t refs; } refcount_t;"
	"typedef struct { unsigned int val; } kuid_t;"
	"enum pid_type { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_PGID };"
	"enum plus { ONE = 1, TWO };"
	"enum minus { LESS = -1, MORE = 1 };"
	"struct upid { int nr; void *ns; };"
	"struct pid { int level; struct upid numbers[]; };"
	"struct mm { unsigned long total; struct { int deep; u64 deeper; }; struct mm *next; char name[8]; };"
	"struct packed tight { u8 a : 3; u32 b : 31; u64 c : 60; u64 d : 63; };"
	"struct pair { int a, b; };"
	"struct boxed { struct { struct { struct { struct { int v; } d; } c; } b; } a; };"
	"struct task {"
	"	int pid;"					/* 0 */
	"	unsigned int __state;"				/* 4 */
	"	struct mm *mm;"					/* 8 */
	"	struct mm **mms;"				/* 16 */
	"	char comm[16];"					/* 24 */
	"	u8 bytes[6];"					/* 40 */
	"	bool flag, pad;"				/* 46 */
	"	u32 low : 4, high : 3;"				/* 48 */
	"	int minus_bits : 5;"				/* 48, bit 7 */
	"	bool bool_bit : 1;"				/* 49, bit 12 */
	"	enum plus plus_bits : 2;"			/* 49, bit 13 */
	"	const char *text;"				/* 56 */
	"	u8 *octets;"					/* 64 */
	"	void *nothing;"					/* 72 */
	"	int table[2][3];"				/* 80 */
	"	struct pid *pids[3];"				/* 104 */
	"	enum plus plus;"				/* 128 */
	"	enum minus minus;"				/* 132 */
	"	kuid_t uid;"					/* 136 */
	"	refcount_t usage;"				/* 140 */
	"	struct boxed boxed;"				/* 144 */
	"	struct pair pair;"				/* 148 */
	"	union { long whole; struct { int lo, hi; }; };" /* 160 */
	"	short s; signed char sc; char c;"		/* 168 */
	"	long l;"					/* 176 */
	"	struct forward *elsewhere;"			/* 184 */
	"	struct task *parent;"				/* 192 */
	"	struct tight tight;"				/* 200 */
	"	char flexible[];"
	"};";

static void have_types(void)
{
	const char *const texts[] = { declarations, NULL };
	struct btf_blob blob;

	types = c_types_parse(texts);
	blob = c_types_btf(types);
	ctx.target = &target;
	cr_assert_eq(kw_types_take(&ctx, blob.data, blob.size), KW_OK, "%s", kw_error(&ctx));
	free(blob.data);
}

static void forget_types(void)
{
	kw_types_free(target.types);
	c_types_free(types);
	free(ctx.message);
}

TestSuite(access_path, .init = have_types, .fini = forget_types);

static const struct kw_type *task(void)
{
	const struct kw_type *type = NULL;

	cr_assert_eq(kw_type_find(&ctx, "struct task", &type), KW_OK, "%s", kw_error(&ctx));
	return type;
}

static void expect_error(const char *text, kw_status want_status, const char *want)
{
	struct kw_path path = { .size = 12345 };
	kw_status status = kw_path_compile(&ctx, task(), text, &path);

	cr_expect_eq(status, want_status, "%s: status %d instead of %d", text, status, want_status);
	cr_expect_str_eq(kw_error(&ctx), want, "%s\ngot:  %s\nwant: %s", text, kw_error(&ctx), want);
	cr_expect_eq(path.size, 12345, "%s: changed on failure", text);
}

static struct kw_path compile(const char *text)
{
	struct kw_path path = { 0 };

	cr_assert_eq(kw_path_compile(&ctx, task(), text, &path), KW_OK, "%s: %s", text, kw_error(&ctx));
	cr_expect_str_eq(kw_error(&ctx), "", "%s: %s", text, kw_error(&ctx));
	return path;
}

/* What a path without pointers compiles to. */
static void expect_path(const char *text, uint64_t offset, uint64_t size, enum kw_load load,
			enum kw_value_type type)
{
	struct kw_path path = compile(text);

	cr_expect_eq(path.nr_hops, 0, "%s: %u hops", text, path.nr_hops);
	cr_expect_eq(path.offset, offset, "%s: offset %lu", text, path.offset);
	cr_expect_eq(path.size, size, "%s: size %lu", text, path.size);
	cr_expect_eq(path.load, load, "%s: load %d", text, path.load);
	cr_expect_eq(kw_path_value_type(&ctx, &path), type, "%s: type %d", text,
		     kw_path_value_type(&ctx, &path));
}

static void expect_bits(const char *text, uint64_t offset, uint64_t size, unsigned int shift,
			unsigned int bits, enum kw_load load, enum kw_value_type type)
{
	struct kw_path path = compile(text);

	expect_path(text, offset, size, load, type);
	cr_expect_eq(path.shift, shift, "%s: shift %u", text, path.shift);
	cr_expect_eq(path.bits, bits, "%s: bits %u", text, path.bits);
}

static void expect_hops(const char *text, const uint64_t *hops, uint32_t nr, uint64_t offset)
{
	struct kw_path path = compile(text);

	cr_expect_eq(path.nr_hops, nr, "%s: %u hops", text, path.nr_hops);
	for (uint32_t i = 0; i < nr && i < path.nr_hops; i++)
		cr_expect_eq(path.hop[i], hops[i], "%s: hop %u at %lu", text, i, path.hop[i]);
	cr_expect_eq(path.offset, offset, "%s: offset %lu", text, path.offset);
}

Test(access_path, malformed)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ ".", "path \".\": expected a member name at column 1" },
		{ "mm.", "path \"mm.\": expected a member name at column 4" },
		{ "mm..next", "path \"mm..next\": expected a member name at column 4" },
		{ "mm-next", "path \"mm-next\": expected ., ->, [ or | at column 3" },
		{ "mm - > next", "path \"mm - > next\": expected ., ->, [ or | at column 4" },
		{ "mm->", "path \"mm->\": expected a member name at column 5" },
		{ "mm next", "path \"mm next\": expected ., ->, [ or | at column 4" },
		{ "1pid", "path \"1pid\": expected a member name at column 1" },
		{ "*mm", "path \"*mm\": expected a member name at column 1" },
		{ "\xc3\xa4", "path \"\xc3\xa4\": expected a member name at column 1" },
		{ "comm[", "path \"comm[\": expected a number or enum.ENUMERATOR at column 6" },
		{ "comm[]", "path \"comm[]\": expected a number or enum.ENUMERATOR at column 6" },
		{ "comm[-1]", "path \"comm[-1]\": expected a number or enum.ENUMERATOR at column 6" },
		{ "comm[1", "path \"comm[1\": expected ] at column 7" },
		{ "comm[08]", "path \"comm[08]\": expected ] at column 7" },
		{ "comm[1.5]", "path \"comm[1.5]\": expected ] at column 7" },
		{ "pids[pid_type]",
		  "path \"pids[pid_type]\": expected a number or enum.ENUMERATOR at column 14" },
		{ "pids[pid_type.]", "path \"pids[pid_type.]\": expected a member name at column 15" },
		{ "pid |", "path \"pid |\": expected a member name at column 6" },
		{ "| pid", "path \"| pid\": expected a member name at column 1" },
		{ "nosuch || pid", "path \"nosuch || pid\": expected a member name at column 9" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_error(cases[i].text, KW_INVALID, cases[i].error);
}

/* An alternative is for another kernel's members, not for what is no path in any. */
Test(access_path, malformed_alternatives_count)
{
	expect_error("pid..x | __state", KW_INVALID,
		     "path \"pid..x | __state\": expected a member name at column 5");
	expect_error("pid | __state..x", KW_INVALID,
		     "path \"pid | __state..x\": expected a member name at column 15");
	expect_error("pid | comm[", KW_INVALID,
		     "path \"pid | comm[\": expected a number or enum.ENUMERATOR at column 12");
}

Test(access_path, unknown_members)
{
	expect_error("pidd", KW_NOTFOUND,
		     "path \"pidd\": struct task has no member pidd; did you mean pid, pids or pad?");
	expect_error("mm.totl", KW_NOTFOUND,
		     "path \"mm.totl\": struct mm has no member totl; did you mean total?");
	expect_error("mm.depe", KW_NOTFOUND,
		     "path \"mm.depe\": struct mm has no member depe; did you mean deep or deeper?");
	expect_error("xyzzy", KW_NOTFOUND, "path \"xyzzy\": struct task has no member xyzzy");
	expect_error("nosuch | xyzzy", KW_NOTFOUND,
		     "path \"nosuch | xyzzy\": struct task has no member xyzzy");
	expect_error(
		"pids[pid_type.PIDTYPE_SID]", KW_NOTFOUND,
		"path \"pids[pid_type.PIDTYPE_SID]\": pid_type has no PIDTYPE_SID; did you mean PIDTYPE_PID, "
		"PIDTYPE_TGID or PIDTYPE_PGID?");
	expect_error(
		"pids[pid_tipe.PIDTYPE_PID]", KW_NOTFOUND,
		"path \"pids[pid_tipe.PIDTYPE_PID]\": pid_tipe: the kernel has no such type; did you mean "
		"pid_type?");
}

Test(access_path, through_what_has_no_members)
{
	expect_error("pid.x", KW_INVALID, "path \"pid.x\": .x: a value of type int has no members");
	expect_error("comm.x", KW_INVALID, "path \"comm.x\": .x: a value of type char[16] has no members");
	expect_error("nothing->x", KW_INVALID,
		     "path \"nothing->x\": .x: a value of type void has no members");
	expect_error("elsewhere->x", KW_INVALID,
		     "path \"elsewhere->x\": .x: a value of type struct forward has no members");
	expect_error("text->x", KW_INVALID,
		     "path \"text->x\": .x: a value of type const char has no members");
	expect_error("mms->total", KW_INVALID,
		     "path \"mms->total\": .total: a value of type struct mm * has no members");
	expect_error("pid[0]", KW_INVALID, "path \"pid[0]\": pid is neither an array nor a pointer");
	expect_error("pair[0]", KW_INVALID, "path \"pair[0]\": pair is neither an array nor a pointer");
	expect_error("[0]", KW_INVALID, "path \"[0]\": it is neither an array nor a pointer");
}

Test(access_path, indices_out_of_range)
{
	expect_error("comm[16]", KW_INVALID,
		     "path \"comm[16]\": index 16 is out of range, comm has 16 elements");
	expect_error("table[2]", KW_INVALID,
		     "path \"table[2]\": index 2 is out of range, table has 2 elements");
	expect_error("table[1][3]", KW_INVALID,
		     "path \"table[1][3]\": index 3 is out of range, table has 3 elements");
	expect_error(
		"comm[99999999999999999999]", KW_INVALID,
		"path \"comm[99999999999999999999]\": index 18446744073709551615 is out of range, comm has 16 "
		"elements");
	expect_error(
		"pids[minus.LESS]", KW_INVALID,
		"path \"pids[minus.LESS]\": index 18446744073709551615 is out of range, pids has 3 elements");
	expect_error("mm.next[400000000].total", KW_INVALID,
		     "path \"mm.next[400000000].total\": index 400000000 is too large");
	expect_error("mm[0xffffffffffffffff].total", KW_INVALID,
		     "path \"mm[0xffffffffffffffff].total\": index 18446744073709551615 is too large");
}

Test(access_path, too_long)
{
	char text[2000], want[4200];

	memset(text, 'a', sizeof(text));
	text[1025] = '\0';
	snprintf(want, sizeof(want), "path \"%.40s...\": longer than 1024 bytes", text);
	expect_error(text, KW_INVALID, want);
	text[128] = '\0';
	snprintf(want, sizeof(want), "path \"%.60s...\": a member name is longer than 127 bytes", text);
	expect_error(text, KW_INVALID, want);
	text[127] = '\0';
	snprintf(want, sizeof(want), "path \"%s\": struct task has no member %s", text, text);
	expect_error(text, KW_NOTFOUND, want);
}

Test(access_path, seventeen_pointers)
{
	char text[200] = "pid", longer[200], want[300];

	for (int i = 0; i < 16; i++) {
		snprintf(longer, sizeof(longer), "parent.%s", text);
		strcpy(text, longer);
	}
	cr_expect_eq(compile(text).nr_hops, 16);
	snprintf(longer, sizeof(longer), "parent.%s", text);
	snprintf(want, sizeof(want), "path \"%s\": follows more than 16 pointers", longer);
	expect_error(longer, KW_INVALID, want);
}

Test(access_path, scalars)
{
	expect_path("pid", 0, 4, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("__state", 4, 4, KW_LOAD_UNSIGNED, KW_VAL_UINT);
	expect_path("flag", 46, 1, KW_LOAD_BOOL, KW_VAL_BOOL);
	expect_path("s", 168, 2, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("sc", 170, 1, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("c", 171, 1, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("l", 176, 8, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path(" pid ", 0, 4, KW_LOAD_SIGNED, KW_VAL_INT);
}

Test(access_path, enums_are_enums_signed_or_not)
{
	expect_path("plus", 128, 4, KW_LOAD_UNSIGNED, KW_VAL_ENUM);
	expect_path("minus", 132, 4, KW_LOAD_SIGNED, KW_VAL_ENUM);
}

Test(access_path, single_members_are_unwrapped)
{
	expect_path("uid", 136, 4, KW_LOAD_UNSIGNED, KW_VAL_UINT);
	expect_path("uid.val", 136, 4, KW_LOAD_UNSIGNED, KW_VAL_UINT);
	expect_path("usage", 140, 4, KW_LOAD_SIGNED, KW_VAL_INT);
	/* Four structures around a number are no number any more. */
	expect_path("boxed.a", 144, 4, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("boxed", 144, 4, KW_LOAD_OBJECT, KW_VAL_ABSENT);
	expect_path("pair", 148, 8, KW_LOAD_OBJECT, KW_VAL_ABSENT);
}

Test(access_path, objects_give_no_value)
{
	expect_path("", 0, 224, KW_LOAD_OBJECT, KW_VAL_ABSENT);
	expect_path("table", 80, 24, KW_LOAD_OBJECT, KW_VAL_ABSENT);
	expect_path("table[1]", 92, 12, KW_LOAD_OBJECT, KW_VAL_ABSENT);
	expect_path("pids", 104, 24, KW_LOAD_OBJECT, KW_VAL_ABSENT);
	expect_path("flexible", 220, 0, KW_LOAD_OBJECT, KW_VAL_ABSENT);
}

Test(access_path, arrays)
{
	expect_path("comm", 24, 16, KW_LOAD_CHARS, KW_VAL_STRING);
	expect_path("comm[15]", 39, 1, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("bytes", 40, 6, KW_LOAD_BYTES, KW_VAL_BYTES);
	expect_path("bytes[0x2]", 42, 1, KW_LOAD_UNSIGNED, KW_VAL_UINT);
	expect_path("table[1][2]", 100, 4, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("flexible[1000]", 1220, 1, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("pids[pid_type.PIDTYPE_PGID]", 120, 8, KW_LOAD_ADDRESS, KW_VAL_ADDRESS);
	expect_path("pids[ 2 ]", 120, 8, KW_LOAD_ADDRESS, KW_VAL_ADDRESS);
}

Test(access_path, unnamed_members)
{
	expect_path("whole", 160, 8, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("lo", 160, 4, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_path("hi", 164, 4, KW_LOAD_SIGNED, KW_VAL_INT);
	expect_hops("mm->deeper", (uint64_t[]){ 8 }, 1, 16);
}

Test(access_path, bitfields)
{
	expect_bits("low", 48, 4, 0, 4, KW_LOAD_BITS, KW_VAL_UINT);
	expect_bits("high", 48, 4, 4, 3, KW_LOAD_BITS, KW_VAL_UINT);
	expect_bits("minus_bits", 48, 4, 7, 5, KW_LOAD_SIGNED_BITS, KW_VAL_INT);
	expect_bits("bool_bit", 49, 1, 4, 1, KW_LOAD_BITS, KW_VAL_BOOL);
	expect_bits("plus_bits", 48, 4, 13, 2, KW_LOAD_BITS, KW_VAL_ENUM);
}

/* Packed ones may cross the unit of their type: read as eight bytes from their first one. */
Test(access_path, packed_bitfields)
{
	expect_bits("tight.a", 200, 1, 0, 3, KW_LOAD_BITS, KW_VAL_UINT);
	expect_bits("tight.b", 200, 8, 3, 31, KW_LOAD_BITS, KW_VAL_UINT);
	expect_bits("tight.c", 204, 8, 2, 60, KW_LOAD_BITS, KW_VAL_UINT);
	/* 63 bits that begin at bit 6 of a byte do not fit into eight bytes: no value rather than a wrong one. */
	expect_path("tight.d", 211, 8, KW_LOAD_OBJECT, KW_VAL_ABSENT);
}

Test(access_path, pointers)
{
	expect_hops("mm.total", (uint64_t[]){ 8 }, 1, 0);
	expect_hops("mm->total", (uint64_t[]){ 8 }, 1, 0);
	expect_hops(" mm -> next . total ", (uint64_t[]){ 8, 24 }, 2, 0);
	expect_hops("mm[1].total", (uint64_t[]){ 8 }, 1, 40);
	expect_hops("mms[2]->total", (uint64_t[]){ 16, 16 }, 2, 0);
	expect_hops("pids[1]->numbers[3].nr", (uint64_t[]){ 112 }, 1, 8 + 3 * 16);
	expect_path("mm", 8, 8, KW_LOAD_ADDRESS, KW_VAL_ADDRESS);
	expect_path("nothing", 72, 8, KW_LOAD_ADDRESS, KW_VAL_ADDRESS);
	expect_path("octets", 64, 8, KW_LOAD_ADDRESS, KW_VAL_ADDRESS);
	expect_path("text", 56, 8, KW_LOAD_STRING, KW_VAL_STRING);
	expect_hops("text[2]", (uint64_t[]){ 56 }, 1, 2);
	cr_expect_eq(compile("text[2]").load, KW_LOAD_SIGNED);
	expect_hops("mm.name", (uint64_t[]){ 8 }, 1, 32);
	cr_expect_eq(compile("mm.name").load, KW_LOAD_CHARS);
}

Test(access_path, a_missing_mm_has_its_own_reason)
{
	struct kw_path path = compile("mm.next.total");

	cr_expect_eq(path.null_reason[0], KW_ABSENT_NO_MM);
	cr_expect_eq(path.null_reason[1], KW_ABSENT_NULL);
	cr_expect_eq(compile("parent.pid").null_reason[0], KW_ABSENT_NULL);
	cr_expect_eq(compile("mms[0].total").null_reason[1], KW_ABSENT_NULL);
}

Test(access_path, alternatives)
{
	expect_path("state | __state", 4, 4, KW_LOAD_UNSIGNED, KW_VAL_UINT);
	expect_path("__state | state", 4, 4, KW_LOAD_UNSIGNED, KW_VAL_UINT);
	expect_path("nosuch|pid.x|pid[1]|comm[99]|l", 176, 8, KW_LOAD_SIGNED, KW_VAL_INT);
	/* Nothing of an alternative that failed after a pointer is left. */
	expect_path("mm.nosuch | pid", 0, 4, KW_LOAD_SIGNED, KW_VAL_INT);
}

Test(access_path, states_of_memory_are_reasons)
{
	cr_expect_eq(kw_absent_of_status(KW_ABSENT), KW_ABSENT_UNMAPPED);
	cr_expect_eq(kw_absent_of_status(KW_EXCLUDED), KW_ABSENT_NOT_IN_DUMP);
	cr_expect_eq(kw_absent_of_status(KW_FAILED), KW_ABSENT_UNREADABLE);
}
