/*
 * ELF files with DWARF: open one, find types, members and variables by name, and follow what they refer to. Whatever
 * the file says, that ends, and gives a type or an error.
 *
 * The seeds are one small program with the names below, as gcc and clang write it: DWARF 4 and 5, 64 bits, compressed, with
 * type units, after optimisation at link time, with a link to a supplementary file, with an index of names, and not linked, as modules are.
 */
#include <kwalk/output.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "type/origin.h"
#include "type/types.h"
#include "util/context.h"

#define MAX_INPUT   (1 << 16)
#define E_TYPE	    16
#define MEMBERS_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_members(kw_ctx *ctx, const struct kw_type *type, int depth)
{
	struct kw_member member;
	char name[128];

	kw_type_name(ctx, type, name, sizeof(name));
	kw_type_size(ctx, type);
	for (uint32_t i = 0; i < type->count && i < MEMBERS_MAX; i++) {
		if (kw_type_member_at(ctx, type, i, &member))
			break;
		if (!member.type || !member.owner || !member.name)
			abort();
		kw_type_name(ctx, member.type, name, sizeof(name));
		kw_type_size(ctx, member.type);
		if (depth)
			use_members(ctx, kw_type_strip(ctx, kw_type_target(ctx, member.type)), depth - 1);
	}
}

static void use_names(kw_ctx *ctx, FILE *out)
{
	static const char *const names[] = { "struct s", "union u",	 "enum e",     "t",
					     "int",	 "struct outer", "struct far", "struct nosuch" };
	const struct kw_type *type;
	int64_t value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (kw_type_find(ctx, names[i], &type))
			continue;
		use_members(ctx, kw_type_strip(ctx, type), 1);
		kw_print_type(ctx, out, type);
	}
	kw_enum_value(ctx, "enum e", "MINUS", &value);
	if (kw_type_of_variable(ctx, "variable", 0x400120, &type) == KW_OK)
		use_members(ctx, kw_type_strip(ctx, type), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kw_target target = { 0 };
	kw_ctx ctx = { .target = &target };
	static FILE *out;
	char path[32];
	int fd;

	if (size <= E_TYPE || size > MAX_INPUT || memcmp(data, "\177ELF", 4))
		return -1;
	if (!out)
		out = fopen("/dev/null", "w");
	fd = memfd_create("vmlinux", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* As a module's file is opened. */
	if ((data[E_TYPE] == ET_REL ? kw_types_take_dwarf : kw_types_open)(&ctx, path) == KW_OK)
		use_names(&ctx, out);
	kw_types_free(target.types);
	free(target.forced);
	free(ctx.message);
	close(fd);
	return 0;
}
