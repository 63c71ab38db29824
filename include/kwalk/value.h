/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values: typed, with a unit, and able to be absent with a reason.
 */
#ifndef KWALK_VALUE_H
#define KWALK_VALUE_H

#include <kwalk/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kw_value_type {
	KW_VAL_ABSENT, /**< no value: the reason is in kw_value.absent */
	KW_VAL_UINT,
	KW_VAL_INT,
	KW_VAL_FLOAT,
	KW_VAL_BOOL,
	KW_VAL_STRING, /**< bytes as the kernel holds them: not NUL-terminated, not necessarily UTF-8 */
	KW_VAL_BYTES,
	KW_VAL_ADDRESS,
	KW_VAL_ENUM, /**< u is the number; its name is found through the field or path */
};

/** The base unit of a number; tables may show another one (ps's), JSON always shows this one. */
enum kw_unit {
	KW_UNIT_NONE,
	KW_UNIT_BYTES,
	KW_UNIT_NANOSECONDS, /**< a duration */
	KW_UNIT_TIMESTAMP,   /**< nanoseconds since the epoch */
	KW_UNIT_PERCENT,
	KW_UNIT_COUNT,
};

/** Why there is no value. */
enum kw_absent {
	KW_ABSENT_NONE,		  /**< there is one */
	KW_ABSENT_NO_MM,	  /**< kernel thread, or a task that is past the end of its memory */
	KW_ABSENT_NO_MEMBER,	  /**< this kernel has no such member */
	KW_ABSENT_NO_SYMBOL,	  /**< this kernel has no such symbol */
	KW_ABSENT_NULL,		  /**< a pointer on the way is NULL */
	KW_ABSENT_UNMAPPED,	  /**< no memory at that address */
	KW_ABSENT_NOT_IN_DUMP,	  /**< excluded when the dump was made */
	KW_ABSENT_UNREADABLE,	  /**< I/O error or truncated file */
	KW_ABSENT_SWAPPED,	  /**< the page is swapped out */
	KW_ABSENT_TORN,		  /**< changed while it was read, again and again */
	KW_ABSENT_NOT_APPLICABLE, /**< has no meaning for this row */
	KW_ABSENT_NOT_KNOWN,	  /**< there is one, and how the kernel makes it is not known */
	KW_ABSENT_DAMAGED,	  /**< what leads to it goes round, has no end, or is not what it should be */
	KW_ABSENT_NR
};

/** A value. Strings and bytes point into storage that lives as long as the row that holds them. */
struct kw_value {
	uint8_t type;	/**< enum kw_value_type */
	uint8_t absent; /**< enum kw_absent, when type is KW_VAL_ABSENT */
	uint16_t flags; /**< 0 */
	uint32_t len;	/**< bytes of str */
	union {
		uint64_t u;
		int64_t i;
		double f;
		const char *str;
	};
};

/** Return the reason as a phrase for people ("no mm: kernel thread or exiting"), a static string. */
KW_API const char *kw_absent_text(enum kw_absent reason);

/** Return the unit's name ("bytes", "ns", ...), a static string, "" for none. */
KW_API const char *kw_unit_name(enum kw_unit unit);

/** Return the type's name ("uint", "string", ...), a static string. */
KW_API const char *kw_value_type_name(enum kw_value_type type);

#ifdef __cplusplus
}
#endif

#endif
