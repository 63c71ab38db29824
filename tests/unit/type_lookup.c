/* Types by name, members, paths, enumerators, names of types. */
#include "unit/type_given.h"

#include "type/declare.h"

static struct given given;

static void close_given(void)
{
	given_close(&given);
}

static void open_given(void)
{
	cr_assert_eq(
		given_open(
			&given,
			/*  1 */ "INT int 4 signed\n"
				 /*  2 */ "INT long~unsigned~int 8 unsigned\n"
				 /*  3 */ "INT char 1 signed\n"
				 /*  4 */ "STRUCT list_head 16 { next 5 0 ; prev 5 64 }\n"
				 /*  5 */ "PTR 4\n"
				 /*  6 */ "TYPEDEF pid_t 1\n"
				 /*  7 */ "ARRAY 3 16\n"
				 /*  8 */ "STRUCT - 16 { count 10 0 ; flag 1 64 }\n"
				 /*  9 */ "UNION - 16 { whole 8 0 ; - 8 0 }\n"
				 /* 10 */ "ARRAY 2 0\n"
				 /* 11 */ "STRUCT task_struct 128 { pid 6 0 ; comm 7 32 ; tasks 4 192 ; - 9 320 ; "
				 "stat 12 448 ; up 13 832 ; bits 15 896 }\n"
				 /* 12 */ "ARRAY 4 3\n"
				 /* 13 */ "PTR 11\n"
				 /* 14 */ "ENUM pid_type 4 { PIDTYPE_PID 0 ; PIDTYPE_TGID 1 }\n"
				 /* 15 */ "STRUCT flags 4 kflag { a 1 0:3 ; b 1 3:5 }\n"
				 /* 16 */ "UNION task 4 { a 1 0 }\n"
				 /* 17 */ "TYPEDEF loop 18\n"
				 /* 18 */ "TYPEDEF loop2 17\n"
				 /* 19 */ "STRUCT broken 8 { a 99 0 }\n"),
		KW_OK);
}

TestSuite(type_lookup, .init = open_given, .fini = close_given);

static void expect_error(kw_status status, kw_status want, const char *text)
{
	cr_expect_eq(status, want, "%d: %s", status, kw_error(&given.ctx));
	cr_expect_str_eq(kw_error(&given.ctx), text);
}

Test(type_lookup, wrong_names)
{
	const struct kw_type *type;
	char many[2000];

	expect_error(kw_type_find(&given.ctx, "struct task_strct", &type), KW_NOTFOUND,
		     "struct task_strct: the kernel has no such type; did you mean task_struct?");
	expect_error(kw_type_find(&given.ctx, "zzz", &type), KW_NOTFOUND, "zzz: the kernel has no such type");
	cr_expect_eq(kw_type_find(&given.ctx, "struct task_struct *", &type), KW_INVALID);
	cr_expect_eq(kw_type_find(&given.ctx, "char[16]", &type), KW_INVALID);
	cr_expect_eq(kw_type_find(&given.ctx, "", &type), KW_INVALID);
	cr_expect_eq(kw_type_find(&given.ctx, "  ", &type), KW_INVALID);
	cr_expect_eq(kw_type_find(&given.ctx, "struct pid_type", &type), KW_NOTFOUND);
	cr_expect_eq(kw_type_find(&given.ctx, "struct", &type), KW_NOTFOUND);
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	cr_expect_eq(kw_type_find(&given.ctx, many, &type), KW_INVALID);
}

Test(type_lookup, names)
{
	cr_expect_eq(given_type(&given, "struct task_struct")->id, 11);
	cr_expect_eq(given_type(&given, " struct\t task_struct ")->id, 11);
	cr_expect_eq(given_type(&given, "task_struct")->id, 11);
	cr_expect_eq(given_type(&given, "union task")->id, 16);
	cr_expect_eq(given_type(&given, "enum pid_type")->id, 14);
	cr_expect_eq(given_type(&given, "pid_t")->id, 6);
	cr_expect_eq(given_type(&given, "unsigned long")->id, 2);
	cr_expect_eq(given_type(&given, "long unsigned int")->id, 2);
	cr_expect_eq(given_type(&given, "void"), &kw_type_void);
	cr_expect_eq(given_type(&given, "task_struct"), given_type(&given, "struct task_struct"));
}

Test(type_lookup, nothing_open)
{
	kw_ctx ctx = { 0 };
	const struct kw_type *type;

	cr_expect_eq(kw_type_find(&ctx, "int", &type), KW_INVALID);
	cr_expect_null(kw_types_description(&ctx));
	free(ctx.message);
}

Test(type_lookup, from_type_to_type)
{
	const struct kw_type *pid = given_type(&given, "pid_t");
	struct kw_member member;

	cr_expect_eq(kw_type_strip(&given.ctx, pid)->id, 1);
	cr_expect_eq(kw_type_target(&given.ctx, pid)->id, 1);
	cr_expect_eq(kw_type_size(&given.ctx, pid), 4);
	cr_expect_eq(kw_type_target(&given.ctx, &kw_type_void), &kw_type_void);
	cr_expect_eq(kw_type_strip(&given.ctx, &kw_type_void), &kw_type_void);
	cr_expect_eq(kw_type_size(&given.ctx, &kw_type_void), 0);
	cr_assert_eq(kw_type_offset(&given.ctx, "task_struct", "up", &member), KW_OK);
	cr_expect_eq(kw_type_target(&given.ctx, member.type), given_type(&given, "task_struct"));
	cr_expect_eq(kw_type_strip(&given.ctx, given_type(&given, "loop")), &kw_type_void, "cyclic");
	cr_expect_eq(kw_type_size(&given.ctx, given_type(&given, "loop")), 0);
}

Test(type_lookup, members)
{
	const struct kw_type *task = given_type(&given, "task_struct");
	struct kw_member member;

	cr_assert_eq(kw_type_member_at(&given.ctx, task, 1, &member), KW_OK);
	cr_expect_str_eq(member.name, "comm");
	cr_expect_eq(member.bit_offset, 32);
	cr_expect_eq(member.owner, task);
	cr_expect_eq(kw_type_member_at(&given.ctx, task, 7, &member), KW_INVALID);
	cr_expect_eq(kw_type_member_at(&given.ctx, given_type(&given, "int"), 0, &member), KW_INVALID);
	cr_assert_eq(kw_type_member(&given.ctx, task, "flag", &member), KW_OK);
	cr_expect_eq(member.bit_offset, 320 + 64);
	cr_expect_eq(member.owner->id, 8);
	cr_assert_eq(kw_type_member(&given.ctx, given_type(&given, "flags"), "b", &member), KW_OK);
	cr_expect_eq(member.bit_offset, 3);
	cr_expect_eq(member.bit_size, 5);
	expect_error(kw_type_member(&given.ctx, task, "com", &member), KW_NOTFOUND,
		     "struct task_struct has no member com; did you mean comm?");
	expect_error(kw_type_member(&given.ctx, task, "flga", &member), KW_NOTFOUND,
		     "struct task_struct has no member flga; did you mean flag?");
	expect_error(kw_type_member(&given.ctx, given_type(&given, "pid_t"), "x", &member), KW_INVALID,
		     "int is no structure or union: it has no members");
	expect_error(kw_type_member(&given.ctx, given_type(&given, "broken"), "a", &member), KW_FORMAT,
		     "member a: BTF: refers to a type 99, which it does not have");
}

Test(type_lookup, wrong_paths)
{
	static const struct {
		const char *path;
		kw_status status;
		const char *text;
	} cases[] = {
		{ "", KW_INVALID, "expected the name of a member" },
		{ ".pid", KW_INVALID, "expected the name of a member" },
		{ "pid.", KW_INVALID, "expected the name of a member" },
		{ "tasks..next", KW_INVALID, "expected the name of a member" },
		{ "tasks->next", KW_NOTFOUND, "no member tasks->next" },
		{ "stat[1", KW_INVALID, "expected [NUMBER]" },
		{ "stat[]", KW_INVALID, "expected [NUMBER]" },
		{ "stat[-1]", KW_INVALID, "expected [NUMBER]" },
		{ "stat[3]", KW_INVALID, "stat has 3 elements: there is no [3]" },
		{ "stat[99999999999999999999]", KW_INVALID, "there is no" },
		{ "stat[1]next", KW_INVALID, "expected . or [" },
		{ "whole.count[1000001]", KW_INVALID, "there is no" },
		{ "pid[0]", KW_INVALID, "pid is no array" },
		{ "pid.x", KW_INVALID, "int is no structure" },
		{ "up.pid", KW_INVALID, "up is a pointer" },
		{ "tasks.nxt", KW_NOTFOUND, "did you mean next?" },
	};
	struct kw_member member;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(kw_type_offset(&given.ctx, "task_struct", cases[i].path, &member),
			     cases[i].status, "%s: %s", cases[i].path, kw_error(&given.ctx));
		cr_expect_not_null(strstr(kw_error(&given.ctx), cases[i].text), "%s: %s", cases[i].path,
				   kw_error(&given.ctx));
	}
	cr_expect_eq(kw_type_offset(&given.ctx, "no_struct", "pid", &member), KW_NOTFOUND);
}

Test(type_lookup, paths)
{
	static const struct {
		const char *path;
		uint64_t bit_offset;
		uint32_t type, bit_size;
	} cases[] = {
		{ "pid", 0, 6, 0 },
		{ "comm", 32, 7, 0 },
		{ "comm[15]", 32 + 120, 3, 0 },
		{ "tasks.prev", 192 + 64, 5, 0 },
		{ "flag", 320 + 64, 1, 0 },
		{ "whole.flag", 320 + 64, 1, 0 },
		{ "count[2]", 320 + 128, 2, 0 },
		{ "stat[2].prev", 448 + 256 + 64, 5, 0 },
		{ "stat[0x1]", 448 + 128, 4, 0 },
		{ "bits.b", 896 + 3, 1, 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kw_member member;

		cr_assert_eq(kw_type_offset(&given.ctx, "struct task_struct", cases[i].path, &member), KW_OK,
			     "%s", kw_error(&given.ctx));
		cr_expect_eq(member.bit_offset, cases[i].bit_offset, "%s", cases[i].path);
		cr_expect_eq(member.type->id, cases[i].type, "%s", cases[i].path);
		cr_expect_eq(member.bit_size, cases[i].bit_size, "%s", cases[i].path);
	}
}

Test(type_lookup, enumerators)
{
	int64_t value = -1;
	const char *name;

	cr_assert_eq(kw_enum_value(&given.ctx, "enum pid_type", "PIDTYPE_TGID", &value), KW_OK);
	cr_expect_eq(value, 1);
	cr_assert_eq(kw_enum_value(&given.ctx, "pid_type", "PIDTYPE_PID", &value), KW_OK);
	cr_expect_eq(value, 0);
	expect_error(kw_enum_value(&given.ctx, "enum pid_type", "PIDTYPE_TGD", &value), KW_NOTFOUND,
		     "enum pid_type has no PIDTYPE_TGD; did you mean PIDTYPE_TGID or PIDTYPE_PID?");
	cr_expect_eq(kw_enum_value(&given.ctx, "int", "A", &value), KW_INVALID);
	cr_assert_eq(kw_enumerator_at(&given.ctx, given_type(&given, "pid_type"), 1, &name, &value), KW_OK);
	cr_expect_str_eq(name, "PIDTYPE_TGID");
	cr_expect_eq(kw_enumerator_at(&given.ctx, given_type(&given, "pid_type"), 2, &name, &value),
		     KW_INVALID);
	cr_expect_eq(kw_enumerator_at(&given.ctx, given_type(&given, "int"), 0, &name, &value), KW_INVALID);
}

Test(type_lookup, c_names)
{
	static const char *const want[] = {
		"void",
		"int",
		"char",
		"struct page",
		"struct page *",
		"const char",
		"const char *",
		"char[16]",
		"char *const",
		"struct page *[4]",
		"char (*)[16]",
		"int (*)(struct page *, ...)",
		"int[2][3]",
		"volatile int",
		"int (*(*)(void))(struct page *, ...)",
		"union {...}",
		"enum kind",
		"void *",
		"char[]",
		"void (*[2])(int (*)(struct page *, ...))",
	};
	static const uint32_t ids[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 15, 16, 19, 20, 21, 22, 23, 26
	};
	struct given other;
	char name[128];

	cr_assert_eq(given_open(&other,
				/*  1 */ "INT int 4 signed\n"
					 /*  2 */ "INT char 1 signed\n"
					 /*  3 */ "FWD page struct\n"
					 /*  4 */ "PTR 3\n"
					 /*  5 */ "CONST 2\n"
					 /*  6 */ "PTR 5\n"
					 /*  7 */ "ARRAY 2 16\n"
					 /*  8 */ "PTR 2\n"
					 /*  9 */ "CONST 8\n"
					 /* 10 */ "ARRAY 4 4\n"
					 /* 11 */ "PTR 7\n"
					 /* 12 */ "FUNC_PROTO 1 { p 4 ; ... }\n"
					 /* 13 */ "PTR 12\n"
					 /* 14 */ "ARRAY 1 3\n"
					 /* 15 */ "ARRAY 14 2\n"
					 /* 16 */ "VOLATILE 1\n"
					 /* 17 */ "FUNC_PROTO 13\n"
					 /* 18 */ "TYPE_TAG user 3\n"
					 /* 19 */ "PTR 17\n"
					 /* 20 */ "UNION - 4 { a 1 0 }\n"
					 /* 21 */ "ENUM kind 4 { A 0 }\n"
					 /* 22 */ "PTR 0\n"
					 /* 23 */ "ARRAY 2 0\n"
					 /* 24 */ "FUNC_PROTO 0 { f 13 }\n"
					 /* 25 */ "PTR 24\n"
					 /* 26 */ "ARRAY 25 2\n"),
		     KW_OK);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct kw_type *type =
			kw_btf_type(&other.ctx, kw_types_kernel(other.target.types), ids[i]);

		kw_type_name(&other.ctx, type, name, sizeof(name));
		cr_expect_str_eq(name, want[i], "type %u: got %s, want %s", ids[i], name, want[i]);
	}
	kw_type_name(&other.ctx, &kw_type_void, name, 3);
	cr_expect_str_eq(name, "vo");
	given_close(&other);
}

/* Functions that take functions that take functions. */
Test(type_lookup, c_names_end)
{
	struct given other;
	char name[4096];

	cr_assert_eq(given_open(&other,
				"PTR 2\nFUNC_PROTO 1 { a 1 ; b 1 ; c 1 ; d 1 ; e 1 ; f 1 ; g 1 ; h 1 }\n"
				"STRUCT s 8 { f 1 0 }"),
		     KW_OK);
	kw_type_name(&other.ctx, kw_btf_type(&other.ctx, kw_types_kernel(other.target.types), 2), name,
		     sizeof(name));
	cr_expect_gt(strlen(name), 100);
	given_close(&other);
}
