/* Symbols from files: System.map, vmlinux, the text of /proc/kallsyms; and which of them are refused. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "symbol/origins.h"
#include "symbol/set.h"

#define MIB	0x100000ULL
#define LINKED	0xffffffff81000000ULL
#define SLIDE	0xc400000ULL
#define RUNNING (LINKED + SLIDE)
#define BANNER	0x1000ULL /* from _stext on */

static const char info[] = "OSRELEASE=6.1.0-test\nBUILD-ID=0102030405060708090a0b0c0d0e0f1011121314\n"
			   "SYMBOL(swapper_pg_dir)=ffffffff8d600000\nSYMBOL(init_uts_ns)=ffffffff8d700000\n"
			   "SYMBOL(mem_section)=ffff888012345000\n";

static const char map_text[] = "0000000000000000 D __per_cpu_start\n"
			       "0000000000031980 D runqueues\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81001000 D linux_banner\n"
			       "ffffffff81200000 D swapper_pg_dir\n"
			       "ffffffff81300000 D init_uts_ns\n"
			       "ffffffff81350000 D mem_section\n"
			       "ffffffff81400000 B _end\n";

/* A running kernel with nothing in it but a banner. */
struct running {
	struct image ram;
	struct image_target target;
	struct kernel_identity identity;
	char path[64]; /* of the file that is given */
};

static void start(struct running *running)
{
	struct kw_kernel_map map = { .phys_base = 0 - (RUNNING - KERNEL_MAP),
				     .image_start = RUNNING,
				     .image_size = 2 * MIB,
				     .levels = 4 };
	kw_ctx *ctx = &running->target.ctx;

	*running = (struct running){ .ram = image_new(2 * MIB), .path = "/tmp/kwalk-symbols-XXXXXX" };
	image_put_text(&running->ram, BANNER, "Linux version 6.1.0-test (somebody@somewhere)");
	cr_assert_eq(image_open(&running->target, &running->ram, NULL), KW_OK);
	cr_assert_eq(kw_memory_set_kernel(ctx, &map), KW_OK);
	cr_assert_eq(kw_symbols_new(ctx), KW_OK);
	running->target.target.symbols->vmcoreinfo = strdup(info);
	running->target.target.symbols->vmcoreinfo_len = strlen(info);
	running->identity.build_id = kw_vmcoreinfo(ctx, "BUILD-ID", &running->identity.build_id_len);
	running->identity.release = kw_vmcoreinfo(ctx, "OSRELEASE", &running->identity.release_len);
	running->identity.stext = RUNNING;
}

static void stop(struct running *running)
{
	unlink(running->path);
	kw_symbols_free(running->target.target.symbols);
	image_close(&running->target);
	image_free(&running->ram);
}

static void write_file(struct running *running, const void *bytes, size_t len)
{
	int fd = mkstemp(running->path);

	cr_assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

static uint64_t address(const struct symbol_list *list, const char *name)
{
	uint64_t addr = KW_NO_ADDR;

	symbol_list_find(list, name, &addr);
	return addr;
}

/* Expect a message that names the file and what is wrong with it. */
static void expect_refusal(struct running *running, kw_status status, kw_status want, const char *part)
{
	const char *message = kw_error(&running->target.ctx);

	cr_assert_eq(status, want, "%s", message);
	cr_assert(strstr(message, running->path), "%s", message);
	cr_assert(strstr(message, part), "%s", message);
}

/* System.map */

static kw_status open_map(const char *text, struct running *running, struct symbol_list **ret)
{
	start(running);
	write_file(running, text, strlen(text));
	return system_map_open(&running->target.ctx, running->path, &running->identity, ret);
}

Test(symbol_files, a_system_map_is_moved_to_the_running_kernel)
{
	struct running running;
	struct symbol_list *list;
	char name[KW_SYMBOL_NAME_SIZE];
	uint64_t offset;

	cr_assert_eq(open_map(map_text, &running, &list), KW_OK, "%s", kw_error(&running.target.ctx));
	cr_assert_eq(symbol_list_count(list), 9);
	cr_assert_eq(address(list, "_stext"), RUNNING);
	cr_assert_eq(address(list, "init_uts_ns"), RUNNING + 0x300000);
	cr_assert_eq(address(list, "runqueues"), 0x31980, "per-CPU offsets do not move");
	cr_assert_eq(address(list, "nothing"), KW_NO_ADDR);
	cr_assert(symbol_list_at(list, RUNNING + 0x1234, name, &offset));
	cr_assert_str_eq(name, "linux_banner");
	cr_assert_eq(offset, 0x234);
	cr_assert_not(symbol_list_at(list, RUNNING - 1, name, &offset));
	cr_assert_not(symbol_list_at(list, RUNNING + 0x401000, name, &offset));
	symbol_list_free(list);
	stop(&running);
}

static char *replaced(const char *text, const char *old, const char *new)
{
	char *copy = strdup(text), *at = strstr(copy, old);

	cr_assert(at && strlen(old) == strlen(new));
	memcpy(at, new, strlen(new));
	return copy;
}

static void expect_foreign(const char *old, const char *new, const char *part)
{
	char *text = replaced(map_text, old, new);
	struct running running;
	struct symbol_list *list;

	expect_refusal(&running, open_map(text, &running, &list), KW_INVALID, part);
	stop(&running);
	free(text);
}

Test(symbol_files, a_system_map_of_another_kernel_is_refused)
{
	expect_foreign("81300000 D init_uts_ns", "81300040 D init_uts_ns", "init_uts_ns lies elsewhere");
	expect_foreign("81200000 D swapper", "81201000 D swapper", "swapper_pg_dir lies elsewhere");
	expect_foreign("81000000 T _stext", "81000040 T _stext", "_stext lies elsewhere");
	expect_foreign("81001000 D linux_b", "81001008 D linux_b", "linux_banner lies elsewhere");
	expect_foreign("_stext", "_stexx", "no symbol _stext");
}

Test(symbol_files, a_placeholder_says_where_the_real_one_is)
{
	struct running running;
	struct symbol_list *list;

	expect_refusal(
		&running,
		open_map(
			"ffffffffffffffff B The real System.map is in the linux-image-6.1.0-test-dbg package\n",
			&running, &list),
		KW_INVALID, "linux-image-6.1.0-test-dbg package");
	stop(&running);
}

Test(symbol_files, what_is_no_system_map_is_refused)
{
	static const struct {
		const char *text, *part;
		kw_status status;
	} cases[] = {
		{ "", "neither a System.map nor a vmlinux", KW_INVALID },
		{ "hello\n", "line 1", KW_FORMAT },
		{ "ffffffff81000000 T _stext\nffffffff81000000\n", "line 2", KW_FORMAT },
		{ "ffffffff81000000 T _stext\n\nffffffff81000000 T\n", "line 3", KW_FORMAT },
		{ "ffffffff810000000 T _stext\n", "line 1", KW_FORMAT },
		{ " T _stext\n", "line 1", KW_FORMAT },
		{ "\n\n\n", "no symbol _stext", KW_INVALID },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct running running;
		struct symbol_list *list;

		expect_refusal(&running, open_map(cases[i].text, &running, &list), cases[i].status,
			       cases[i].part);
		stop(&running);
	}
}

Test(symbol_files, what_is_no_text_at_all_is_refused)
{
	static const struct {
		const char *bytes, *part;
		size_t at;
	} cases[] = { { "HdrS", "bzImage", 0x202 }, { "x", "neither a System.map nor a vmlinux", 100 } };

	for (size_t i = 0; i < 2; i++) {
		char bytes[1024] = "MZ";
		struct running running;
		struct symbol_list *list;

		memcpy(bytes + cases[i].at, cases[i].bytes, strlen(cases[i].bytes));
		start(&running);
		write_file(&running, bytes, sizeof(bytes));
		expect_refusal(&running,
			       system_map_open(&running.target.ctx, running.path, &running.identity, &list),
			       KW_INVALID, cases[i].part);
		stop(&running);
	}
}

Test(symbol_files, a_file_that_is_not_there_says_so)
{
	struct running running;
	struct symbol_list *list;

	start(&running);
	strcpy(running.path, "/nonexistent/map");
	expect_refusal(&running, system_map_open(&running.target.ctx, running.path, &running.identity, &list),
		       KW_UNREADABLE, "No such file");
	expect_refusal(&running, elf_symtab_open(&running.target.ctx, running.path, &running.identity, &list),
		       KW_UNREADABLE, "No such file");
	cr_assert_not(is_elf_file(running.path));
	strcpy(running.path, "/tmp");
	expect_refusal(&running, system_map_open(&running.target.ctx, running.path, &running.identity, &list),
		       KW_INVALID, "neither");
	stop(&running);
}

/* Text in general. */

Test(symbol_files, modules_are_left_out_of_proc_kallsyms)
{
	static const char text[] = "ffffffff81000000 T _stext\nffffffffc0000000 t f\t[module]\n"
				   "ffffffff81000010 t f\nffffffff81000020 d last";
	kw_ctx *ctx = kw_new();
	struct symbol_list *list;

	cr_assert_eq(symbol_text_parse(ctx, text, strlen(text), &list), KW_OK);
	cr_assert(symbol_list_finish(list));
	cr_assert_eq(symbol_list_count(list), 3);
	cr_assert_eq(address(list, "f"), 0xffffffff81000010);
	cr_assert_eq(address(list, "last"), 0xffffffff81000020);
	symbol_list_free(list);
	kw_free(ctx);
}

Test(symbol_files, of_several_symbols_of_a_name_the_lowest_is_taken)
{
	static const char text[] = "ffffffff81000030 t f\nffffffff81000010 t f\nffffffff81000020 t f\n";
	kw_ctx *ctx = kw_new();
	struct symbol_list *list;

	cr_assert_eq(symbol_text_parse(ctx, text, strlen(text), &list), KW_OK);
	cr_assert(symbol_list_finish(list));
	cr_assert_eq(address(list, "f"), 0xffffffff81000010);
	symbol_list_free(list);
	kw_free(ctx);
}

Test(symbol_files, text_cut_anywhere_does_no_harm)
{
	kw_ctx *ctx = kw_new();

	for (size_t len = 0; len < strlen(map_text); len++) {
		char *cut = memcpy(malloc(len + 1), map_text, len);
		struct symbol_list *list = NULL;
		kw_status status = symbol_text_parse(ctx, cut, len, &list);

		cr_assert(status == KW_OK || status == KW_FORMAT);
		symbol_list_free(list);
		free(cut);
	}
	kw_free(ctx);
}

/* ELF */

/* What to make of an ELF file. */
struct elf_plan {
	const char *build_id; /* hexadecimal */
	uint64_t uts_ns;
	unsigned int machine;
	bool stripped;
};

static Elf_Scn *add_section(Elf *elf, unsigned int type, void *bytes, size_t len, unsigned int link,
			    size_t entry)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	data->d_buf = bytes;
	data->d_size = len;
	data->d_type = type == SHT_SYMTAB ? ELF_T_SYM : ELF_T_BYTE;
	data->d_align = 4;
	gelf_getshdr(section, &header);
	header.sh_type = type;
	header.sh_link = link;
	header.sh_entsize = entry;
	gelf_update_shdr(section, &header);
	return section;
}

static size_t fill_note(uint8_t *note, const char *build_id)
{
	uint32_t head[3] = { 4, (uint32_t)(strlen(build_id) / 2), 3 /* NT_GNU_BUILD_ID */ };

	memcpy(note, head, sizeof(head));
	memcpy(note + 12, "GNU", 4);
	for (size_t i = 0; i < head[1]; i++) {
		unsigned int byte;

		sscanf(build_id + 2 * i, "%2x", &byte);
		note[16 + i] = (uint8_t)byte;
	}
	return 16 + (head[1] + 3) / 4 * 4;
}

static Elf64_Sym symbol(uint32_t name, uint64_t value, unsigned int type)
{
	return (Elf64_Sym){ .st_name = name,
			    .st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
			    .st_shndx = 1,
			    .st_value = value };
}

static void write_elf(struct running *running, const struct elf_plan *plan)
{
	static char strings[] = "\0_stext\0init_uts_ns\0vmlinux.c\0runqueues";
	Elf64_Sym symbols[] = {
		{ 0 },
		symbol(20, 0, STT_FILE),
		symbol(1, LINKED, STT_FUNC),
		symbol(8, plan->uts_ns, STT_OBJECT),
		symbol(30, 0x31980, STT_OBJECT),
		symbol(100000, LINKED, STT_OBJECT), /* its name is beyond the strings */
	};
	uint8_t note[128] = { 0 };
	int fd = mkstemp(running->path);
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	gelf_newehdr(elf, ELFCLASS64);
	gelf_getehdr(elf, &header);
	header.e_machine = (GElf_Half)plan->machine;
	header.e_type = ET_EXEC;
	gelf_update_ehdr(elf, &header);
	add_section(elf, SHT_STRTAB, strings, sizeof(strings), 0, 0);
	if (!plan->stripped)
		add_section(elf, SHT_SYMTAB, symbols, sizeof(symbols), 1, sizeof(*symbols));
	if (plan->build_id)
		add_section(elf, SHT_NOTE, note, fill_note(note, plan->build_id), 0, 0);
	cr_assert(elf_update(elf, ELF_C_WRITE) > 0, "%s", elf_errmsg(-1));
	elf_end(elf);
	close(fd);
}

#define OWN_ID "0102030405060708090a0b0c0d0e0f1011121314"

static kw_status open_elf(const struct elf_plan *plan, struct running *running, struct symbol_list **ret)
{
	start(running);
	write_elf(running, plan);
	cr_assert(is_elf_file(running->path));
	return elf_symtab_open(&running->target.ctx, running->path, &running->identity, ret);
}

Test(symbol_files, a_vmlinux_is_moved_to_the_running_kernel)
{
	static const struct elf_plan plans[] = { { OWN_ID, LINKED + 0x300000, EM_X86_64, false },
						 { NULL, LINKED + 0x300000, EM_X86_64, false } };

	for (size_t i = 0; i < 2; i++) {
		struct running running;
		struct symbol_list *list;

		cr_assert_eq(open_elf(&plans[i], &running, &list), KW_OK, "%s",
			     kw_error(&running.target.ctx));
		cr_assert_eq(symbol_list_count(list), 3);
		cr_assert_eq(address(list, "_stext"), RUNNING);
		cr_assert_eq(address(list, "init_uts_ns"), RUNNING + 0x300000);
		cr_assert_eq(address(list, "runqueues"), 0x31980);
		symbol_list_free(list);
		stop(&running);
	}
}

Test(symbol_files, a_vmlinux_that_does_not_fit_is_refused)
{
	static const struct {
		struct elf_plan plan;
		kw_status status;
		const char *part;
	} cases[] = {
		{ { "ff02030405060708090a0b0c0d0e0f1011121314", LINKED + 0x300000, EM_X86_64, false },
		  KW_INVALID,
		  "its build ID is ff02" },
		{ { OWN_ID "00", LINKED + 0x300000, EM_X86_64, false }, KW_INVALID, "build ID" },
		{ { OWN_ID, LINKED + 0x300040, EM_X86_64, false }, KW_INVALID, "init_uts_ns lies elsewhere" },
		{ { OWN_ID, LINKED + 0x300000, EM_AARCH64, false }, KW_INVALID, "not for x86-64" },
		{ { OWN_ID, LINKED + 0x300000, EM_X86_64, true }, KW_INVALID, "stripped" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct running running;
		struct symbol_list *list;

		expect_refusal(&running, open_elf(&cases[i].plan, &running, &list), cases[i].status,
			       cases[i].part);
		stop(&running);
	}
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_size;
}

Test(symbol_files, a_vmlinux_cut_short_is_refused)
{
	static const struct elf_plan plan = { OWN_ID, LINKED + 0x300000, EM_X86_64, false };
	struct running running;
	struct symbol_list *list;

	start(&running);
	write_elf(&running, &plan);
	/* The section headers are at the end: without the last of them there is nothing. */
	for (off_t len = size_of(running.path) - 1; len > 0; len -= 7) {
		kw_status status;

		list = NULL;
		if (truncate(running.path, len))
			abort();
		status = elf_symtab_open(&running.target.ctx, running.path, &running.identity, &list);
		symbol_list_free(list);
		cr_assert_neq(status, KW_OK);
	}
	stop(&running);
}
