/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DWARF entries and their attributes: see the header. */
#include "type/dwarf_die.h"

#include <string.h>

#define DEPTH_MAX 64 /* entries within one another */

static int index_of(unsigned int code)
{
	switch (code) {
	case DW_AT_name: return DIE_NAME;
	case DW_AT_type: return DIE_TYPE;
	case DW_AT_byte_size: return DIE_BYTE_SIZE;
	case DW_AT_declaration: return DIE_DECLARATION;
	case DW_AT_data_member_location: return DIE_MEMBER_LOCATION;
	case DW_AT_data_bit_offset: return DIE_DATA_BIT_OFFSET;
	case DW_AT_bit_offset: return DIE_BIT_OFFSET;
	case DW_AT_bit_size: return DIE_BIT_SIZE;
	case DW_AT_encoding: return DIE_ENCODING;
	case DW_AT_count: return DIE_COUNT;
	case DW_AT_upper_bound: return DIE_UPPER_BOUND;
	case DW_AT_const_value: return DIE_CONST_VALUE;
	case DW_AT_abstract_origin:
	case DW_AT_specification: return DIE_SPECIFICATION;
	case DW_AT_signature: return DIE_SIGNATURE;
	case DW_AT_external: return DIE_EXTERNAL;
	default: return -1;
	}
}

static int collect(Dwarf_Attribute *attr, void *arg)
{
	struct kw_die *die = arg;
	int index = index_of(die->dw->dwarf_whatattr(attr));

	if (index >= 0) {
		die->attr[index] = *attr;
		die->has |= 1u << index;
	}
	return DWARF_CB_OK;
}

void kw_die_read(const struct kw_libdw *dw, const Dwarf_Die *die, struct kw_die *ret)
{
	ret->dw = dw;
	ret->die = *die;
	ret->has = 0;
	ret->tag = dw->dwarf_tag(&ret->die);
	dw->dwarf_getattrs(&ret->die, collect, ret, 0);
}

const char *kw_die_name(struct kw_die *die)
{
	return kw_die_has(die, DIE_NAME) ? die->dw->dwarf_formstring(&die->attr[DIE_NAME]) : NULL;
}

bool kw_die_number(struct kw_die *die, enum kw_die_attr which, uint64_t *ret)
{
	Dwarf_Word value;

	if (!kw_die_has(die, which) || die->dw->dwarf_formudata(&die->attr[which], &value))
		return false;
	*ret = value;
	return true;
}

bool kw_die_value(struct kw_die *die, uint64_t *ret, bool *ret_negative)
{
	Dwarf_Attribute *attr = &die->attr[DIE_CONST_VALUE];
	unsigned int form;
	Dwarf_Sword value;

	if (!kw_die_has(die, DIE_CONST_VALUE))
		return false;
	/* Compilers write what is negative in the forms that have a sign, and only that as such: data1 0xff is 255. */
	form = die->dw->dwarf_whatform(attr);
	if (form != DW_FORM_sdata && form != DW_FORM_implicit_const) {
		*ret_negative = false;
		return kw_die_number(die, DIE_CONST_VALUE, ret);
	}
	if (die->dw->dwarf_formsdata(attr, &value))
		return false;
	*ret = (uint64_t)value;
	*ret_negative = value < 0;
	return true;
}

/* DWARF 5's references into the supplementary file, which libdw 0.188 takes for ones within the file itself. */
static bool follow_sup(struct kw_die *die, const Dwarf_Attribute *attr, size_t size, Dwarf_Die *ret)
{
	Dwarf *sup = die->dw->dwarf_getalt(die->dw->dwarf_cu_getdwarf(attr->cu));
	Dwarf_Off offset = 0;

	memcpy(&offset, attr->valp, size);
	return sup && die->dw->dwarf_offdie(sup, offset, ret);
}

bool kw_die_follow(struct kw_die *die, enum kw_die_attr which, Dwarf_Die *ret)
{
	Dwarf_Attribute *attr = &die->attr[which];

	if (!kw_die_has(die, which))
		return false;
	switch (die->dw->dwarf_whatform(attr)) {
	case DW_FORM_ref_sup4: return follow_sup(die, attr, 4, ret);
	case DW_FORM_ref_sup8: return follow_sup(die, attr, 8, ret);
	default: return die->dw->dwarf_formref_die(attr, ret);
	}
}

/* Before DWARF 4 a location could be the expression "add this number". */
static bool location_expression(struct kw_die *die, uint64_t *ret)
{
	Dwarf_Block block;
	uint64_t value = 0;

	if (die->dw->dwarf_formblock(&die->attr[DIE_MEMBER_LOCATION], &block) || block.length < 2 ||
	    block.data[0] != DW_OP_plus_uconst)
		return false;
	for (Dwarf_Word i = 1; i < block.length && i <= 9; i++) {
		value |= (uint64_t)(block.data[i] & 0x7f) << (7 * (i - 1));
		if (!(block.data[i] & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* The bytes that a bitfield of the old form is counted from the end of. */
static uint64_t storage_bits(struct kw_die *die)
{
	Dwarf_Die next = die->die;
	struct kw_die at = *die;
	uint64_t size;

	for (int steps = 0; steps < 16; steps++) {
		if (kw_die_number(&at, DIE_BYTE_SIZE, &size))
			return size * 8;
		if (!kw_die_follow(&at, DIE_TYPE, &next))
			break;
		kw_die_read(die->dw, &next, &at);
	}
	return 0;
}

uint64_t kw_die_member_bits(struct kw_die *die, uint32_t bit_size)
{
	uint64_t bytes = 0, bits;

	if (kw_die_number(die, DIE_DATA_BIT_OFFSET, &bits))
		return bits;
	if (kw_die_has(die, DIE_MEMBER_LOCATION) && !kw_die_number(die, DIE_MEMBER_LOCATION, &bytes) &&
	    !location_expression(die, &bytes))
		return UINT64_MAX;
	if (bytes > UINT32_MAX)
		return UINT64_MAX;
	/* The old form counts from the most significant bit of its storage, which comes last in little endian. */
	if (bit_size && kw_die_number(die, DIE_BIT_OFFSET, &bits))
		return bytes * 8 + storage_bits(die) - bits - bit_size;
	return bytes * 8;
}

bool kw_die_is_declaration(struct kw_die *die)
{
	bool flag;

	return kw_die_has(die, DIE_DECLARATION) &&
	       !die->dw->dwarf_formflag(&die->attr[DIE_DECLARATION], &flag) && flag;
}

bool kw_die_first_child(const struct kw_libdw *dw, const Dwarf_Die *parent, Dwarf_Die *ret)
{
	Dwarf_Die die = *parent;

	return dw->dwarf_child(&die, ret) == 0;
}

bool kw_die_next(const struct kw_libdw *dw, Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dw->dwarf_siblingof(die, &next) || (const char *)next.addr <= (const char *)die->addr)
		return false;
	*die = next;
	return true;
}

bool kw_die_is_entry(const struct kw_libdw *dw, const Dwarf_Die *unit, const Dwarf_Die *entry)
{
	Dwarf_Die at, next;

	if (!kw_die_first_child(dw, unit, &at))
		return false;
	/* Down to the entry that it lies in, level by level: siblings come in the order of their addresses. */
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		for (next = at; (const char *)next.addr <= (const char *)entry->addr;) {
			at = next;
			if (!kw_die_next(dw, &next))
				break;
		}
		if (at.addr == entry->addr)
			return true;
		if ((const char *)at.addr > (const char *)entry->addr || !kw_die_first_child(dw, &at, &next))
			return false;
		at = next;
	}
	return false;
}
