/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relocatable files: see the header.
 *
 *     Elf64_Rela { offset in the section; symbol and kind; addend }      the value is that of the symbol + addend
 *
 * What refers to a section of DWARF uses a symbol of value 0 that stands for the section.
 */
#include "type/dwarf_reloc.h"

#include <gelf.h>
#include <string.h>

#define SECTIONS_MAX 65536
#define PLACE_SHIFT  32 /* no section is larger */

/* A file that is being relocated. */
struct link {
	Elf *elf;
	const uint8_t *symbols; /* of Elf64_Sym */
	size_t nr_symbols;
	size_t symtab;			     /* its section */
	uint8_t is_loaded[SECTIONS_MAX / 8]; /* a bit for each section */
};

uint64_t kw_dwarf_section_place(uint32_t section, uint64_t offset)
{
	return ((uint64_t)section << PLACE_SHIFT) + offset;
}

static const char *section_name(Elf *elf, const GElf_Shdr *header)
{
	size_t strings;
	const char *name = elf_getshdrstrndx(elf, &strings) < 0 ? NULL
								: elf_strptr(elf, strings, header->sh_name);

	return name ? name : "";
}

/* Sections whose bytes types and variables are read from. */
static bool is_wanted(Elf *elf, Elf_Scn *section)
{
	static const char *const names[] = { ".debug_info",  ".debug_types", ".debug_str_offsets",
					     ".debug_addr",  ".debug_names", ".zdebug_info",
					     ".zdebug_types" };
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(section_name(elf, &header), names[i]))
			return true;
	return false;
}

/* True, with its header, for a section of relocations of a section of DWARF. */
static bool is_relocations(Elf *elf, Elf_Scn *section, GElf_Shdr *ret)
{
	return gelf_getshdr(section, ret) && ret->sh_type == SHT_RELA && !(ret->sh_flags & SHF_COMPRESSED) &&
	       is_wanted(elf, elf_getscn(elf, ret->sh_info));
}

bool kw_dwarf_is_relocatable(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	GElf_Shdr header;

	if (!gelf_getehdr(elf, &file) || file.e_type != ET_REL)
		return false;
	while ((section = elf_nextscn(elf, section)))
		if (is_relocations(elf, section, &header))
			return true;
	return false;
}

static void note_loaded(struct link *link)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(link->elf, section))) {
		size_t i = elf_ndxscn(section);

		if (i < SECTIONS_MAX && gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC)
			link->is_loaded[i / 8] |= (uint8_t)(1u << i % 8);
	}
}

/* Use a table of symbols; false when it can't be read. */
static bool use_symbols(struct link *link, size_t table)
{
	Elf_Scn *section = elf_getscn(link->elf, table);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf)
		return false;
	link->symtab = table;
	link->symbols = data->d_buf;
	link->nr_symbols = data->d_size / sizeof(Elf64_Sym);
	return true;
}

static Elf64_Sym symbol_at(const struct link *link, size_t i)
{
	Elf64_Sym symbol;

	memcpy(&symbol, link->symbols + i * sizeof(symbol), sizeof(symbol));
	return symbol;
}

static uint64_t place_of(const struct link *link, const Elf64_Sym *symbol)
{
	if (link->is_loaded[symbol->st_shndx / 8] >> symbol->st_shndx % 8 & 1)
		return kw_dwarf_section_place(symbol->st_shndx, symbol->st_value);
	return symbol->st_value;
}

static void apply(const struct link *link, const Elf64_Rela *rela, Elf_Data *data)
{
	size_t size = ELF64_R_TYPE(rela->r_info) == R_X86_64_64 ? 8 : 4, i = ELF64_R_SYM(rela->r_info);
	Elf64_Sym symbol;
	uint64_t value;

	if ((size == 4 && ELF64_R_TYPE(rela->r_info) != R_X86_64_32) || i >= link->nr_symbols ||
	    data->d_size < size || rela->r_offset > data->d_size - size)
		return;
	symbol = symbol_at(link, i);
	value = place_of(link, &symbol) + (uint64_t)rela->r_addend;
	memcpy((uint8_t *)data->d_buf + rela->r_offset, &value, size);
}

static void relocate_section(struct link *link, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *target = elf_getdata(elf_getscn(link->elf, header->sh_info), NULL),
		 *data = elf_getdata(section, NULL);
	Elf64_Rela rela;

	if (!target || !target->d_buf || !data || !data->d_buf ||
	    (link->symtab != header->sh_link && !use_symbols(link, header->sh_link)))
		return;
	for (size_t at = 0; data->d_size - at >= sizeof(rela); at += sizeof(rela)) {
		memcpy(&rela, (const uint8_t *)data->d_buf + at, sizeof(rela));
		apply(link, &rela, target);
	}
}

void kw_dwarf_relocate(Elf *elf)
{
	struct link link = { .elf = elf };
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	note_loaded(&link);
	while ((section = elf_nextscn(elf, section)))
		if (is_relocations(elf, section, &header))
			relocate_section(&link, section, &header);
}

/* The file's own table of symbols; SIZE_MAX when there is none. */
static size_t find_symtab(Elf *elf, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret) && ret->sh_type == SHT_SYMTAB)
			return elf_ndxscn(section);
	return SIZE_MAX;
}

bool kw_dwarf_variable_place(Elf *elf, const char *name, uint64_t *ret)
{
	struct link link = { .elf = elf };
	GElf_Shdr header;
	size_t table = find_symtab(elf, &header), found = 0;

	if (table == SIZE_MAX || !use_symbols(&link, table))
		return false;
	note_loaded(&link);
	for (size_t i = 0; i < link.nr_symbols && found < 2; i++) {
		Elf64_Sym symbol = symbol_at(&link, i);
		const char *text = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT
					   ? elf_strptr(elf, header.sh_link, symbol.st_name)
					   : NULL;

		if (!text || symbol.st_shndx == SHN_UNDEF || strcmp(text, name))
			continue;
		*ret = place_of(&link, &symbol);
		found++;
	}
	return found == 1;
}
