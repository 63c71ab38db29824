/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols as a list of names and addresses: what text files and ELF files are turned into. */
#ifndef SYMBOL_LIST_H
#define SYMBOL_LIST_H

#include <kwalk/symbol.h>

struct symbol_list;

/** Make an empty list; NULL when memory runs out. */
struct symbol_list *symbol_list_new(void);

/** Free a list. NULL is accepted. */
void symbol_list_free(struct symbol_list *list);

/** Add a symbol; the name is copied. False when memory runs out, or there are more than any kernel has. */
bool symbol_list_add(struct symbol_list *list, const char *name, size_t len, uint64_t addr, char letter);

/** Make the list ready for looking things up; nothing is added afterwards. False when memory runs out. */
bool symbol_list_finish(struct symbol_list *list);

/** Add `slide` to all addresses from `from` on: what KASLR did to the image. */
void symbol_list_slide(struct symbol_list *list, uint64_t from, uint64_t slide);

size_t symbol_list_count(const struct symbol_list *list);

/** Find a name, of several the lowest address; false when there is none. */
bool symbol_list_find(const struct symbol_list *list, const char *name, uint64_t *ret_addr);

/** As kw_symbol_at(); false when there is none. */
bool symbol_list_at(const struct symbol_list *list, uint64_t addr, char *name, uint64_t *ret_offset);

/** Call fn for every symbol by address, until it returns false. */
void symbol_list_each(const struct symbol_list *list,
		      bool (*fn)(const char *name, uint64_t addr, char letter, void *arg), void *arg);

#endif
