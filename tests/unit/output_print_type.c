/* Layouts as text: hostile types first, then each shape that a declaration can have. */
#include "unit/type_given.h"

#include <kwalk/output.h>

static char *print(struct given *given, const char *name)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(kw_print_type(&given->ctx, out, given_type(given, name)), KW_OK);
	fclose(out);
	return text;
}

static void expect_layout(const char *types, const char *name, const char *want)
{
	struct given given;
	char *text;

	cr_assert_eq(given_open(&given, types), KW_OK, "%s", kw_error(&given.ctx));
	text = print(&given, name);
	cr_expect_str_eq(text, want, "got:\n%s\nwant:\n%s", text, want);
	free(text);
	given_close(&given);
}

/* Each level names the next one five times: 5^16 members, were there no limit. */
Test(output_print_type, hostile_nesting)
{
	char types[4096], *end = types, *text;
	struct given given;

	end += sprintf(end, "STRUCT top 4 { - 2 0 }\n");
	for (int id = 2; id < 22; id++)
		end += sprintf(end, "STRUCT - 4 { - %d 0 ; - %d 0 ; - %d 0 ; - %d 0 ; - %d 0 }\n", id + 1,
			       id + 1, id + 1, id + 1, id + 1);
	sprintf(end, "INT int 4 signed");
	cr_assert_eq(given_open(&given, types), KW_OK);
	text = print(&given, "top");
	cr_expect_lt(strlen(text), 100u << 20);
	free(text);
	given_close(&given);
}

Test(output_print_type, hostile_members)
{
	expect_layout("STRUCT s 4 { a 9 0 ; self 1 0 ; - 1 64 }\n", "s",
		      "struct s {\n"
		      "\t/* member 0: member a: BTF: refers to a type 9, which it does not have */\n"
		      "\tstruct s self;                                  /*     0      4 */\n"
		      "\n"
		      "\t/* XXX 4 bytes hole */\n"
		      "\n"
		      "\tstruct s;                                       /*     8      4 */\n"
		      "\n"
		      "\t/* size: 4, members: 3, holes: 1, sum holes: 4 */\n"
		      "};\n");
}

Test(output_print_type, output_fails)
{
	struct given given;
	FILE *full = fopen("/dev/full", "w");

	cr_assert_eq(given_open(&given, "INT int 4 signed"), KW_OK);
	setvbuf(full, NULL, _IONBF, 0);
	cr_expect_eq(kw_print_type(&given.ctx, full, given_type(&given, "int")), KW_FAILED);
	fclose(full);
	given_close(&given);
}

Test(output_print_type, structure)
{
	expect_layout(
		"INT int 4 signed\nINT char 1 signed\nARRAY 2 16\nPTR 5\nSTRUCT task 64 { "
		"pid 1 0 ; comm 3 64 ; next 4 192 ; fn 7 256 ; tail 2 320 }\nFUNC_PROTO 1 { a 4 ; ... }\nPTR 6\n",
		"struct task",
		"struct task {\n"
		"\tint pid;                                        /*     0      4 */\n"
		"\n"
		"\t/* XXX 4 bytes hole */\n"
		"\n"
		"\tchar comm[16];                                  /*     8     16 */\n"
		"\tstruct task *next;                              /*    24      8 */\n"
		"\tint (*fn)(struct task *, ...);                  /*    32      8 */\n"
		"\tchar tail;                                      /*    40      1 */\n"
		"\n"
		"\t/* size: 64, members: 5, holes: 1, sum holes: 4, padding: 23 */\n"
		"};\n");
}

Test(output_print_type, anonymous_members)
{
	expect_layout("INT int 4 signed\n"
		      "STRUCT - 8 { a 1 0 ; b 1 32 }\n"
		      "UNION - 8 { whole 2 0 ; - 2 0 }\n"
		      "STRUCT s 24 { x 1 0 ; - 3 64 ; there 5 128 }\n"
		      "PTR 2\n",
		      "s",
		      "struct s {\n"
		      "\tint x;                                          /*     0      4 */\n"
		      "\n"
		      "\t/* XXX 4 bytes hole */\n"
		      "\n"
		      "\tunion {\n"
		      "\t\tstruct {\n"
		      "\t\t\tint a;                          /*     8      4 */\n"
		      "\t\t\tint b;                          /*    12      4 */\n"
		      "\t\t} whole;                                /*     8      8 */\n"
		      "\t\tstruct {\n"
		      "\t\t\tint a;                          /*     8      4 */\n"
		      "\t\t\tint b;                          /*    12      4 */\n"
		      "\t\t};                                      /*     8      8 */\n"
		      "\t};                                              /*     8      8 */\n"
		      "\tstruct {\n"
		      "\t\tint a;                                  /*     0      4 */\n"
		      "\t\tint b;                                  /*     4      4 */\n"
		      "\t} *there;                                       /*    16      8 */\n"
		      "\n"
		      "\t/* size: 24, members: 3, holes: 1, sum holes: 4 */\n"
		      "};\n");
}

Test(output_print_type, bitfields)
{
	expect_layout(
		"INT unsigned~int 4 unsigned\nINT u8 1 unsigned\n"
		"STRUCT s 12 kflag { a 1 0:3 ; b 1 3:5 ; c 1 40:1 ; d 2 64:0 }\n",
		"s",
		"struct s {\n"
		"\tunsigned int a:3;                               /*     0: 0   4 */\n"
		"\tunsigned int b:5;                               /*     0: 3   4 */\n"
		"\n"
		"\t/* XXX 4 bytes hole */\n"
		"\n"
		"\tunsigned int c:1;                               /*     4: 8   4 */\n"
		"\n"
		"\t/* XXX 7 bits hole */\n"
		"\t/* XXX 2 bytes hole */\n"
		"\n"
		"\tu8 d;                                           /*     8      1 */\n"
		"\n"
		"\t/* size: 12, members: 4, holes: 2, sum holes: 6, bit holes: 1, sum bit holes: 7, padding: 3 */\n"
		"};\n");
}

Test(output_print_type, the_rest)
{
	static const char types[] =
		"INT int 4 signed\nTYPEDEF pid_t 1\nENUM e 4 signed { A 0 ; B -1 }\n"
		"STRUCT - 4 { counter 1 0 }\nTYPEDEF atomic_t 4\nENUM64 big 8 { C 0xffffffffffffffff }\n"
		"UNION u 4 { a 1 0 ; b 1 0 }\nSTRUCT empty 0 { }\nINT _Bool 1 bool\nFLOAT double 8\n";

	expect_layout(types, "pid_t", "typedef int pid_t; /* size: 4 */\n");
	expect_layout(types, "e", "enum e {\n\tA = 0,\n\tB = -1,\n}; /* size: 4, values: 2 */\n");
	expect_layout(types, "big", "enum big {\n\tC = 18446744073709551615,\n}; /* size: 8, values: 1 */\n");
	expect_layout(types, "atomic_t",
		      "typedef struct {\n"
		      "\tint counter;                                    /*     0      4 */\n"
		      "\n"
		      "\t/* size: 4, members: 1 */\n"
		      "} atomic_t; /* size: 4 */\n");
	expect_layout(types, "u",
		      "union u {\n"
		      "\tint a;                                          /*     0      4 */\n"
		      "\tint b;                                          /*     0      4 */\n"
		      "\n"
		      "\t/* size: 4, members: 2 */\n"
		      "};\n");
	expect_layout(types, "empty", "struct empty {\n\n\t/* size: 0, members: 0 */\n};\n");
	expect_layout(types, "int", "int; /* size: 4, signed */\n");
	expect_layout(types, "_Bool", "_Bool; /* size: 1, boolean */\n");
	expect_layout(types, "double", "double; /* size: 8 */\n");
	expect_layout(types, "void", "void; /* size: 0 */\n");
}
