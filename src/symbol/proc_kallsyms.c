/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/kallsyms of this machine: for live kernels whose VMCOREINFO does not say where the tables are (before 6.0).
 *
 * The kernel prints all addresses as zeros to those it does not trust.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "symbol/origins.h"
#include "symbol/set.h"
#include "util/error.h"
#include "util/strbuf.h"

#define PATH	  "/proc/kallsyms"
#define MAX_BYTES (256u << 20)

static int read_all(int fd, struct kw_strbuf *text)
{
	char bytes[16384];
	ssize_t got;

	do {
		got = read(fd, bytes, sizeof(bytes));
		if (got > 0)
			kw_strbuf_add(text, bytes, (size_t)got);
	} while ((got > 0 && text->len < MAX_BYTES && !text->failed) || (got < 0 && errno == EINTR));
	return got < 0 ? errno : text->failed ? ENOMEM : 0;
}

static bool has_address(const char *name, uint64_t addr, char letter, void *arg)
{
	(void)name;
	(void)letter;
	*(bool *)arg = addr >= KERNEL_MAP;
	return !*(bool *)arg;
}

static kw_status parse(kw_ctx *ctx, const struct kw_strbuf *text, struct symbol_list **ret)
{
	struct symbol_list *list;
	bool shown = false;
	kw_status status = symbol_text_parse(ctx, text->str, text->len, &list);

	if (status != KW_OK)
		return kw_fail_in(ctx, PATH);
	symbol_list_each(list, has_address, &shown);
	if (shown && symbol_list_finish(list)) {
		*ret = list;
		return KW_OK;
	}
	symbol_list_free(list);
	if (shown)
		return kw_fail_nomem(ctx);
	return kw_fail(ctx, KW_DENIED,
		       PATH ": the kernel hides the addresses; become root and set kernel.kptr_restrict to 1 "
			    "or 0");
}

kw_status proc_kallsyms_open(kw_ctx *ctx, struct symbol_list **ret)
{
	struct kw_strbuf text = { 0 };
	int fd = open(PATH, O_RDONLY | O_CLOEXEC), err;
	kw_status status;

	if (fd < 0)
		return kw_fail_errno(ctx, errno, PATH);
	err = read_all(fd, &text);
	close(fd);
	status = err ? kw_fail_errno(ctx, err, PATH) : parse(ctx, &text, ret);
	kw_strbuf_free(&text);
	return status;
}
