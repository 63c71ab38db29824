/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words for types, units and reasons of absence. */
#include <kwalk/value.h>

#define LOOK_UP(names, index, other) \
	((size_t)(index) < sizeof(names) / sizeof((names)[0]) ? (names)[index] : (other))

const char *kw_absent_text(enum kw_absent reason)
{
	static const char *const texts[KW_ABSENT_NR] = {
		[KW_ABSENT_NONE] = "",
		[KW_ABSENT_NO_MM] = "no mm: kernel thread or exiting",
		[KW_ABSENT_NO_MEMBER] = "this kernel has no such member",
		[KW_ABSENT_NO_SYMBOL] = "this kernel has no such symbol",
		[KW_ABSENT_NULL] = "a pointer on the way is NULL",
		[KW_ABSENT_UNMAPPED] = "no memory at that address",
		[KW_ABSENT_NOT_IN_DUMP] = "excluded when the dump was made",
		[KW_ABSENT_UNREADABLE] = "unreadable: I/O error or truncated file",
		[KW_ABSENT_SWAPPED] = "the page is swapped out",
		[KW_ABSENT_TORN] = "changed again and again while it was read",
		[KW_ABSENT_NOT_APPLICABLE] = "does not apply here",
		[KW_ABSENT_NOT_KNOWN] = "not known how the kernel makes it",
		[KW_ABSENT_DAMAGED] = "damaged structure",
	};

	return LOOK_UP(texts, reason, "unknown reason");
}

const char *kw_unit_name(enum kw_unit unit)
{
	static const char *const names[] = {
		[KW_UNIT_NONE] = "",	       [KW_UNIT_BYTES] = "bytes",
		[KW_UNIT_NANOSECONDS] = "ns",  [KW_UNIT_TIMESTAMP] = "epoch-ns",
		[KW_UNIT_PERCENT] = "percent", [KW_UNIT_COUNT] = "count",
	};

	return LOOK_UP(names, unit, "unknown");
}

const char *kw_value_type_name(enum kw_value_type type)
{
	static const char *const names[] = {
		[KW_VAL_ABSENT] = "absent", [KW_VAL_UINT] = "uint",	  [KW_VAL_INT] = "int",
		[KW_VAL_FLOAT] = "float",   [KW_VAL_BOOL] = "bool",	  [KW_VAL_STRING] = "string",
		[KW_VAL_BYTES] = "bytes",   [KW_VAL_ADDRESS] = "address", [KW_VAL_ENUM] = "enum",
	};

	return LOOK_UP(names, type, "unknown");
}
