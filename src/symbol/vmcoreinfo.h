/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of VMCOREINFO: "KEY=VALUE" lines that the kernel writes for crash tools. */
#ifndef SYMBOL_VMCOREINFO_H
#define SYMBOL_VMCOREINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How it begins: in memory this is what one looks for. */
#define VMCOREINFO_MARK "OSRELEASE="

/** The kernel limits the text to a page; no note is believed to be longer than this. */
#define VMCOREINFO_MAX 65536

/** Return the length of the text in a buffer: up to the first byte that can't be in it. */
size_t vmcoreinfo_length(const char *text, size_t size);

/** True when it is the text of an x86-64 Linux kernel: begins as it should, names a page size and the page table. */
bool vmcoreinfo_is_valid(const char *text, size_t len);

/** Look up a value; NULL when there is none. */
const char *vmcoreinfo_find(const char *text, size_t len, const char *key, size_t *ret_len);

/** Look up a number: hexadecimal for SYMBOL, ADDRESS and KERNELOFFSET, else decimal, which may be negative. */
bool vmcoreinfo_number(const char *text, size_t len, const char *key, uint64_t *ret);

#endif
