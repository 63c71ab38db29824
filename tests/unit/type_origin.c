/* Where types come from: searches in memory, files, sections of ELF files; memory that changes or is cut short. */
#include "unit/type_given.h"

#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "type/blob.h"

#define RAM_SIZE 0x200000

/* A blob that is large enough for a kernel's. */
static struct btf_blob make_kernel(void)
{
	enum { FILLERS = 3000 };
	char *text = malloc(FILLERS * 40 + 400), *end = text;
	struct btf_blob blob;

	end += sprintf(end,
		       "INT int 4 signed\nSTRUCT task_struct 4 { pid 1 0 }\nSTRUCT other 4 { thing 1 0 }\n");
	for (int i = 0; i < FILLERS; i++)
		end += sprintf(end, "STRUCT filler_%04d 4 { }\n", i);
	blob = btf_build(text);
	free(text);
	return blob;
}

static void close_types(struct image_target *target)
{
	kw_types_free(target->target.types);
	target->target.types = NULL;
	image_close(target);
}

Test(type_origin, nothing_to_find)
{
	struct image ram = image_new(RAM_SIZE);
	struct image_target target;
	const struct kw_type *type;

	cr_assert_eq(image_open(&target, &ram, NULL), KW_OK);
	for (int again = 0; again < 2; again++) {
		cr_expect_eq(kw_type_find(&target.ctx, "int", &type), KW_UNREADABLE);
		cr_expect_not_null(strstr(kw_error(&target.ctx), "-k"), "%s", kw_error(&target.ctx));
		cr_expect_null(kw_types_description(&target.ctx));
	}
	close_types(&target);
	image_free(&ram);
}

/* Memory holds copies that are damaged, cut off by its end, too small, or no kernel's. */
Test(type_origin, search)
{
	struct image ram = image_new(RAM_SIZE);
	struct btf_blob blob = make_kernel(), small = btf_build("STRUCT task_struct 4 { }");
	static const struct kw_open_options with_pread = { .size = sizeof(with_pread), .no_mmap = true };

	cr_assert_gt(blob.size, 70000);
	image_put(&ram, 0x1000, small.data, small.size);
	image_put(&ram, 0x10010, blob.data, blob.size);
	ram.bytes[0x10010 + BTF_BLOB_HEADER + 7] = 0x7f;
	image_put(&ram, 0x40010, blob.data, blob.size);
	ram.bytes[0x40010 + blob.size - 1] = 'x';
	/* Across two chunks of the search. */
	image_put(&ram, 0x100000 - 7, blob.data, blob.size);
	image_put(&ram, RAM_SIZE - 0x1000, blob.data, 0x1000);
	for (int way = 0; way < 2; way++) {
		struct image_target target;
		const struct kw_type *type;

		cr_assert_eq(image_open(&target, &ram, way ? &with_pread : NULL), KW_OK);
		cr_assert_eq(kw_type_find(&target.ctx, "struct task_struct", &type), KW_OK, "%s",
			     kw_error(&target.ctx));
		cr_expect_eq(type->size, 4);
		cr_expect_not_null(strstr(kw_types_description(&target.ctx), "0xffff9, found by its shape"),
				   "%s", kw_types_description(&target.ctx));
		close_types(&target);
	}
	free(small.data);
	free(blob.data);
	image_free(&ram);
}

static void open_in_place(struct image *ram, struct image_target *target, struct btf_blob *blob)
{
	const struct kw_type *type;

	*ram = image_new(RAM_SIZE);
	*blob = make_kernel();
	image_put(ram, 0x1000, blob->data, blob->size);
	cr_assert_eq(image_open(target, ram, NULL), KW_OK);
	cr_assert_eq(kw_type_find(&target->ctx, "task_struct", &type), KW_OK, "%s", kw_error(&target->ctx));
	cr_assert_not_null(strstr(kw_types_description(&target->ctx), "in place"), "%s",
			   kw_types_description(&target->ctx));
}

/* A guest writes over its BTF: what was handed out stays, what comes after is at worst an error. */
Test(type_origin, memory_changes)
{
	struct btf_blob blob;
	struct image ram;
	struct image_target target;
	const struct kw_type *type;
	struct kw_member member;
	uint8_t *junk;
	int fd;

	open_in_place(&ram, &target, &blob);
	type = NULL;
	cr_assert_eq(kw_type_find(&target.ctx, "task_struct", &type), KW_OK);
	cr_assert_eq(kw_type_member(&target.ctx, type, "pid", &member), KW_OK);
	junk = malloc(blob.size);
	memset(junk, 0x1b, blob.size);
	fd = open(target.path, O_WRONLY);
	cr_assert_eq(pwrite(fd, junk, blob.size, 0x1000), (ssize_t)blob.size);
	close(fd);
	cr_expect_str_eq(type->name, "task_struct");
	cr_expect_str_eq(member.name, "pid");
	cr_expect_eq(kw_type_find(&target.ctx, "other", &type), KW_NOTFOUND);
	cr_expect_neq(kw_type_member_at(&target.ctx, member.owner, 0, &member), KW_OK);
	free(junk);
	free(blob.data);
	close_types(&target);
	image_free(&ram);
}

Test(type_origin, memory_is_cut_short)
{
	struct btf_blob blob;
	struct image ram;
	struct image_target target;
	const struct kw_type *type, *other;
	struct kw_member member;

	open_in_place(&ram, &target, &blob);
	cr_assert_eq(kw_type_find(&target.ctx, "task_struct", &type), KW_OK);
	cr_assert_eq(truncate(target.path, 0), 0);
	cr_expect_str_eq(type->name, "task_struct");
	cr_expect_eq(kw_type_find(&target.ctx, "other", &other), KW_NOTFOUND);
	cr_expect_neq(kw_type_member(&target.ctx, type, "pid", &member), KW_OK);
	free(blob.data);
	close_types(&target);
	image_free(&ram);
}

Test(type_origin, files)
{
	char path[] = "/tmp/kwalk-btf-XXXXXX";
	int fd = mkstemp(path);
	struct btf_blob blob = btf_build("INT int 4 signed");
	kw_ctx ctx = { 0 };
	struct kw_blob found;

	cr_expect_eq(kw_blob_from_file(&ctx, "/nonexistent/btf", &found), KW_UNREADABLE);
	cr_expect_not_null(strstr(kw_error(&ctx), "/nonexistent/btf"));
	cr_expect_neq(kw_blob_from_file(&ctx, "/tmp", &found), KW_OK);
	cr_expect_eq(kw_blob_from_file(&ctx, path, &found), KW_FORMAT, "an empty file");
	cr_assert_eq(write(fd, blob.data, blob.size), (ssize_t)blob.size);
	cr_assert_eq(kw_blob_from_file(&ctx, path, &found), KW_OK);
	cr_expect_eq(found.size, blob.size);
	cr_expect_arr_eq(found.data, blob.data, blob.size);
	kw_blob_release(&found);
	cr_expect_eq(kw_blob_from_elf(&ctx, path, &found), KW_FORMAT, "no ELF");
	cr_expect_eq(kw_blob_from_elf(&ctx, "/proc/self/exe", &found), KW_NOTFOUND, "no .BTF");
	unlink(path);
	close(fd);
	free(blob.data);
	free(ctx.message);
}

static void add_section(Elf *elf, size_t name, uint32_t type, void *bytes, size_t len)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = elf_newdata(scn);
	Elf64_Shdr *header = elf64_getshdr(scn);

	*data = (Elf_Data){ .d_buf = bytes, .d_size = len, .d_align = 1, .d_version = EV_CURRENT };
	header->sh_name = (Elf64_Word)name;
	header->sh_type = type;
}

static void write_elf(int fd, const struct btf_blob *blob)
{
	static char names[] = "\0.BTF\0.shstrtab";
	Elf *elf;
	Elf64_Ehdr *header;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	header = elf64_newehdr(elf);
	header->e_machine = EM_X86_64;
	header->e_type = ET_EXEC;
	header->e_shstrndx = 2;
	add_section(elf, 1, SHT_PROGBITS, blob->data, blob->size);
	add_section(elf, 6, SHT_STRTAB, names, sizeof(names));
	cr_assert_gt(elf_update(elf, ELF_C_WRITE), 0, "%s", elf_errmsg(-1));
	elf_end(elf);
}

Test(type_origin, elf_section)
{
	char path[] = "/tmp/kwalk-btf-XXXXXX";
	int fd = mkstemp(path);
	struct btf_blob blob = btf_build("INT int 4 signed\nSTRUCT s 4 { a 1 0 }");
	kw_ctx ctx = { 0 };
	struct kw_blob found;

	write_elf(fd, &blob);
	cr_assert_eq(kw_blob_from_elf(&ctx, path, &found), KW_OK, "%s", kw_error(&ctx));
	cr_expect_eq(found.size, blob.size);
	cr_expect_arr_eq(found.data, blob.data, blob.size);
	kw_blob_release(&found);
	unlink(path);
	close(fd);
	free(blob.data);
}
