/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A DWARF entry (DIE) with those of its attributes that types are made of, collected in one walk over them.
 *
 * libdw checks that what it reads lies in its section. It does not notice when siblings or references lead in circles:
 * siblings are walked here with a check that they go forward, and references are followed for a few steps at most.
 */
#ifndef TYPE_DWARF_DIE_H
#define TYPE_DWARF_DIE_H

#include <stdbool.h>
#include <stdint.h>

#include "type/libdw.h"

enum kw_die_attr {
	DIE_NAME,
	DIE_TYPE,
	DIE_BYTE_SIZE,
	DIE_DECLARATION,
	DIE_MEMBER_LOCATION,
	DIE_DATA_BIT_OFFSET,
	DIE_BIT_OFFSET,
	DIE_BIT_SIZE,
	DIE_ENCODING,
	DIE_COUNT,
	DIE_UPPER_BOUND,
	DIE_CONST_VALUE,
	DIE_SPECIFICATION, /* or abstract origin, which is the same to a variable */
	DIE_SIGNATURE,
	DIE_EXTERNAL,
	DIE_NR_ATTRS
};

struct kw_die {
	const struct kw_libdw *dw;
	Dwarf_Die die;
	int tag;
	uint32_t has; /* a bit for each kw_die_attr */
	Dwarf_Attribute attr[DIE_NR_ATTRS];
};

/** Collect an entry's attributes. */
void kw_die_read(const struct kw_libdw *dw, const Dwarf_Die *die, struct kw_die *ret);

/** True when the entry has an attribute. */
static inline bool kw_die_has(const struct kw_die *die, enum kw_die_attr which)
{
	return die->has >> which & 1;
}

/** The entry's name, in the section of strings; NULL when it has none that can be read. */
const char *kw_die_name(struct kw_die *die);

/** An attribute that is a plain number of 0 or more; false when there is none. */
bool kw_die_number(struct kw_die *die, enum kw_die_attr which, uint64_t *ret);

/** An enumerator's value; *ret_negative tells that it is below 0. */
bool kw_die_value(struct kw_die *die, uint64_t *ret, bool *ret_negative);

/** The entry that an attribute refers to; false when there is none. */
bool kw_die_follow(struct kw_die *die, enum kw_die_attr which, Dwarf_Die *ret);

/** Where a member begins in its structure, in bits. */
uint64_t kw_die_member_bits(struct kw_die *die, uint32_t bit_size);

/** True when an entry only declares a type or variable. */
bool kw_die_is_declaration(struct kw_die *die);

/** Get the first child; false when there is none. */
bool kw_die_first_child(const struct kw_libdw *dw, const Dwarf_Die *parent, Dwarf_Die *ret);

/** True when an entry is really one of a unit: what a search has guessed may be bytes in the midst of another. */
bool kw_die_is_entry(const struct kw_libdw *dw, const Dwarf_Die *unit, const Dwarf_Die *entry);

/** Go on to the next sibling; false at the end, or when the entry after this one is none that lies behind it. */
bool kw_die_next(const struct kw_libdw *dw, Dwarf_Die *die);

#endif
