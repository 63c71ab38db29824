/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System.map: the kernel's symbols as they were linked, to be moved by what KASLR did.
 *
 * It carries no build ID; symbol_list_relocate() tells whether it belongs to the running kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/origins.h"
#include "symbol/set.h"
#include "util/error.h"

/* Debian's linux-image packages hold a file of this one line. */
#define STUB		 "The real System.map is in "
#define BZIMAGE_MAGIC	 "HdrS"
#define BZIMAGE_MAGIC_AT 0x202
#define MAX_BYTES	 (256u << 20)

static kw_status check_stub(kw_ctx *ctx, const char *text, size_t len)
{
	const char *stub = memmem(text, len < 4096 ? len : 4096, STUB, strlen(STUB));
	size_t part;

	if (!stub)
		return KW_OK;
	stub += strlen(STUB);
	part = (size_t)(text + len - stub);
	for (size_t i = 0; i < part; i++)
		if (stub[i] < ' ' || stub[i] > '~')
			part = i;
	return kw_fail(ctx, KW_INVALID,
		       "a placeholder without symbols; the real one is in %.*s: install it, and "
		       "give its vmlinux or System.map",
		       (int)(part < 120 ? part : 120), stub);
}

/* Text has no NULs; a bzImage says what it is at a fixed place. */
static kw_status check_text(kw_ctx *ctx, const char *text, size_t len)
{
	if (len > BZIMAGE_MAGIC_AT + 4 && !memcmp(text + BZIMAGE_MAGIC_AT, BZIMAGE_MAGIC, 4))
		return kw_fail(
			ctx, KW_INVALID,
			"a compressed kernel (bzImage); give its vmlinux, from the debug package, or its "
			"System.map");
	if (memchr(text, '\0', len < 4096 ? len : 4096))
		return kw_fail(ctx, KW_INVALID, "neither a System.map nor a vmlinux");
	return check_stub(ctx, text, len);
}

static kw_status parse(kw_ctx *ctx, const char *text, size_t len, const struct kernel_identity *identity,
		       struct symbol_list **ret)
{
	struct symbol_list *list;
	kw_status status = check_text(ctx, text, len);

	if (status == KW_OK)
		status = symbol_text_parse(ctx, text, len, &list);
	if (status != KW_OK)
		return status;
	status = symbol_list_finish(list) ? symbol_list_relocate(ctx, list, identity) : kw_fail_nomem(ctx);
	if (status == KW_OK)
		*ret = list;
	else
		symbol_list_free(list);
	return status;
}

static kw_status open_text(kw_ctx *ctx, int fd, const struct kernel_identity *identity,
			   struct symbol_list **ret)
{
	struct stat st;
	char *text;
	ssize_t got;
	kw_status status;

	if (fstat(fd, &st))
		return kw_fail_errno(ctx, errno, "fstat");
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > MAX_BYTES)
		return kw_fail(ctx, KW_INVALID, "neither a System.map nor a vmlinux");
	text = malloc((size_t)st.st_size);
	if (!text)
		return kw_fail_nomem(ctx);
	got = pread(fd, text, (size_t)st.st_size, 0);
	if (got < 0)
		status = kw_fail_errno(ctx, errno, "can't be read");
	else
		status = parse(ctx, text, (size_t)got, identity, ret);
	free(text);
	return status;
}

kw_status system_map_open(kw_ctx *ctx, const char *path, const struct kernel_identity *identity,
			  struct symbol_list **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	kw_status status;

	if (fd < 0)
		return kw_fail_errno(ctx, errno, "%s", path);
	status = open_text(ctx, fd, identity, ret);
	close(fd);
	return status == KW_OK ? KW_OK : kw_fail_in(ctx, "%s", path);
}
