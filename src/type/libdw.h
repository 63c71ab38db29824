/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is used of libdw (elfutils). It is loaded when DWARF is first read: linking it would cost every start of
 * every command its loading and that of the decompressors behind it.
 */
#ifndef TYPE_LIBDW_H
#define TYPE_LIBDW_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>

/* Each becomes a member of struct kw_libdw, of its own type and name. */
#define KW_LIBDW_FUNCTIONS(F) \
	F(dwarf_begin_elf)    \
	F(dwarf_end)          \
	F(dwarf_errmsg)       \
	F(dwarf_get_units)    \
	F(dwarf_offdie)       \
	F(dwarf_diecu)        \
	F(dwarf_tag)          \
	F(dwarf_child)        \
	F(dwarf_siblingof)    \
	F(dwarf_attr)         \
	F(dwarf_getattrs)     \
	F(dwarf_whatattr)     \
	F(dwarf_whatform)     \
	F(dwarf_formstring)   \
	F(dwarf_formudata)    \
	F(dwarf_formsdata)    \
	F(dwarf_formflag)     \
	F(dwarf_formblock)    \
	F(dwarf_formref_die)  \
	F(dwarf_setalt)       \
	F(dwarf_getalt)       \
	F(dwarf_cu_getdwarf)  \
	F(dwelf_dwarf_gnu_debugaltlink)

/** libdw's functions. */
struct kw_libdw {
#define KW_LIBDW_MEMBER(name) __typeof__(name) *name;
	KW_LIBDW_FUNCTIONS(KW_LIBDW_MEMBER)
#undef KW_LIBDW_MEMBER
};

/** Load libdw; NULL when it is not installed or lacks a function. Loaded once for the process, never unloaded. */
const struct kw_libdw *kw_libdw_load(void);

#endif
