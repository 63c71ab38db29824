/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbol table of a vmlinux, to be moved by what KASLR did.
 *
 * It belongs to the running kernel when its build ID is the one in VMCOREINFO (since 5.9), and in any case only when its
 * addresses fit.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/kallsyms.h"
#include "symbol/origins.h"
#include "symbol/symbols.h"
#include "util/error.h"

bool is_elf_file(const char *path)
{
	char magic[SELFMAG];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_elf;

	if (fd < 0)
		return false;
	is_elf = pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		 !memcmp(magic, ELFMAG, SELFMAG);
	close(fd);
	return is_elf;
}

static kw_status check_machine(kw_ctx *ctx, Elf *elf)
{
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return kw_fail(ctx, KW_FORMAT, "a damaged ELF file");
	if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return kw_fail(ctx, KW_INVALID, "is not for x86-64; give the vmlinux of the target's kernel");
	return KW_OK;
}

/* Find the GNU build ID among the notes of one section. */
static const unsigned char *build_id_in(Elf_Data *notes, size_t *ret_len)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*ret_len = note.n_descsz;
			return (const unsigned char *)bytes + desc;
		}
		at = next;
	}
	return NULL;
}

/* By libelf alone: libdw, which has this in one call, would be loaded at every start for it. */
const unsigned char *kw_elf_build_id(Elf *elf, size_t *ret_len)
{
	const unsigned char *bits = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (!bits && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			bits = build_id_in(elf_getdata(section, NULL), ret_len);
	return bits;
}

/* Others may be reading what was said first: it stays. */
kw_status kw_remember_forced(kw_ctx *ctx, const char *path, const char *what, const char *build_id)
{
	char *text, *none = NULL;

	if (asprintf(&text, "%s belongs to another build of %s (build ID %s): values may be wrong", path,
		     what, build_id) < 0)
		return kw_fail_nomem(ctx);
	if (!__atomic_compare_exchange_n(&ctx->target->forced, &none, text, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free(text);
	return KW_OK;
}

static kw_status check_build_id(kw_ctx *ctx, const char *path, Elf *elf,
				const struct kernel_identity *identity)
{
	size_t len = 0;
	const unsigned char *bits = kw_elf_build_id(elf, &len);
	char text[2 * 64 + 1] = "";

	if (!bits || !len || len > 64 || !identity->build_id)
		return KW_OK;
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	if (strlen(text) == identity->build_id_len &&
	    !memcmp(text, identity->build_id, identity->build_id_len))
		return KW_OK;
	if (identity->force)
		return kw_remember_forced(ctx, path, "the kernel", text);
	return kw_fail(ctx, KW_INVALID,
		       "belongs to another kernel: its build ID is %s, the running one's %.*s (%.*s)", text,
		       (int)identity->build_id_len, identity->build_id, (int)identity->release_len,
		       identity->release ? identity->release : "");
}

kw_status kw_check_build(kw_ctx *ctx, const char *path, Elf *elf, bool force)
{
	struct kernel_identity identity = { .force = force };

	identity.build_id = kw_vmcoreinfo(ctx, "BUILD-ID", &identity.build_id_len);
	identity.release = kw_vmcoreinfo(ctx, "OSRELEASE", &identity.release_len);
	return check_build_id(ctx, path, elf, &identity);
}

static Elf_Scn *find_symtab(Elf *elf, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == SHT_SYMTAB)
			return section;
	return NULL;
}

/* The letter that nm would print, as far as the symbol itself tells. */
static char letter_of(const GElf_Sym *symbol)
{
	bool local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;

	if (symbol->st_shndx == SHN_ABS)
		return local ? 'a' : 'A';
	if (GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
		return local ? 't' : 'T';
	return local ? 'd' : 'D';
}

static kw_status add_symbol(kw_ctx *ctx, Elf *elf, const GElf_Shdr *header, const GElf_Sym *symbol,
			    struct symbol_list *list)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	const char *name;

	if (type == STT_FILE || type == STT_SECTION || symbol->st_shndx == SHN_UNDEF)
		return KW_OK;
	name = elf_strptr(elf, header->sh_link, symbol->st_name);
	if (!name || !*name)
		return KW_OK;
	if (!symbol_list_add(list, name, strlen(name), symbol->st_value, letter_of(symbol)))
		return kw_fail_nomem(ctx);
	return KW_OK;
}

static kw_status read_symbols(kw_ctx *ctx, Elf *elf, struct symbol_list *list)
{
	GElf_Shdr header;
	Elf_Scn *section = find_symtab(elf, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t nr = data ? data->d_size / sizeof(Elf64_Sym) : 0;
	kw_status status = KW_OK;

	if (!nr)
		return kw_fail(ctx, KW_INVALID,
			       "has no symbol table (stripped); give the vmlinux of the debug package");
	if (nr > KALLSYMS_MAX_SYMBOLS)
		return kw_fail(ctx, KW_FORMAT, "%zu symbols are not possible", nr);
	for (size_t i = 1; i < nr && status == KW_OK; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol))
			status = add_symbol(ctx, elf, &header, &symbol, list);
	}
	return status;
}

static kw_status fill(kw_ctx *ctx, const char *path, Elf *elf, const struct kernel_identity *identity,
		      struct symbol_list *list)
{
	kw_status status = check_machine(ctx, elf);

	if (status == KW_OK)
		status = check_build_id(ctx, path, elf, identity);
	if (status == KW_OK)
		status = read_symbols(ctx, elf, list);
	if (status == KW_OK && !symbol_list_finish(list))
		status = kw_fail_nomem(ctx);
	return status == KW_OK ? symbol_list_relocate(ctx, list, identity) : status;
}

static kw_status open_elf(kw_ctx *ctx, const char *path, int fd, const struct kernel_identity *identity,
			  struct symbol_list *list)
{
	kw_status status;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return kw_fail(ctx, KW_FORMAT, "%s", elf_errmsg(-1));
	status = fill(ctx, path, elf, identity, list);
	elf_end(elf);
	return status;
}

kw_status elf_symtab_open(kw_ctx *ctx, const char *path, const struct kernel_identity *identity,
			  struct symbol_list **ret)
{
	struct symbol_list *list = symbol_list_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	kw_status status;

	if (fd < 0)
		status = kw_fail_errno(ctx, errno, "%s", path);
	else if (!list)
		status = kw_fail_nomem(ctx);
	else if ((status = open_elf(ctx, path, fd, identity, list)) != KW_OK)
		status = kw_fail_in(ctx, "%s", path);
	if (fd >= 0)
		close(fd);
	if (status == KW_OK)
		*ret = list;
	else
		symbol_list_free(list);
	return status;
}
