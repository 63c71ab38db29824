/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a source: what a name means, and what a file is by its content.
 *
 * Every message names the target, the reason and what to do. A target that can't be opened is an error: nothing else
 * is opened in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/reader.h"
#include "memory/source.h"
#include "util/error.h"

#define HEAD 4096 /* bytes by which a format is recognised */

/* In the order in which they are asked; a raw RAM image has no mark, so it comes last and takes everything. */
static const struct kw_source_ops *const sources[] = {
	&kw_elf_source,	 &kw_kdump_source,   &kw_lime_source,
	&kw_avml_source, &kw_foreign_source, &kw_ram_source,
};

int kw_read_file(int fd, uint64_t offset, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		ssize_t got;

		if (offset > INT64_MAX - len)
			return -1;
		got = pread(fd, to, len, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (!got)
			return -1;
		to += got;
		len -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

int kw_read_at(int fd, const struct flat *flat, uint64_t offset, void *buf, size_t len)
{
	ssize_t got;

	if (!flat)
		return kw_read_file(fd, offset, buf, len);
	got = flat_read(flat, fd, offset, buf, len);
	if (got < 0)
		return errno;
	return (size_t)got == len ? 0 : -1;
}

int kw_read_dump(const struct kw_memory *memory, uint64_t offset, void *buf, size_t len)
{
	return kw_read_at(memory->fd, memory->flat, offset, buf, len);
}

static kw_status set_text(kw_ctx *ctx, char **text, const char *fmt, va_list args)
{
	char *made = NULL;

	if (vasprintf(&made, fmt, args) < 0)
		return kw_fail_nomem(ctx);
	free(*text);
	*text = made;
	return KW_OK;
}

kw_status kw_memory_describe(kw_ctx *ctx, struct kw_memory *memory, const char *fmt, ...)
{
	va_list args;
	kw_status status;

	va_start(args, fmt);
	status = set_text(ctx, &memory->description, fmt, args);
	va_end(args);
	return status;
}

kw_status kw_memory_set_trouble(kw_ctx *ctx, struct kw_memory *memory, const char *fmt, ...)
{
	va_list args;
	kw_status status;

	va_start(args, fmt);
	status = set_text(ctx, &memory->trouble, fmt, args);
	va_end(args);
	return status;
}

/* What is read from a pipe comes when it comes. */
static kw_status let_wait(kw_ctx *ctx, const struct kw_memory *memory)
{
	int flags = fcntl(memory->fd, F_GETFL);

	if (flags < 0 || fcntl(memory->fd, F_SETFL, flags & ~O_NONBLOCK))
		return kw_fail_errno(ctx, errno, "%s", memory->name);
	return KW_OK;
}

kw_status kw_memory_set_left_out(kw_ctx *ctx, struct kw_memory *memory, const char *text)
{
	free(memory->left_out);
	memory->left_out = strdup(text);
	return memory->left_out ? KW_OK : kw_fail_nomem(ctx);
}

static kw_status check_file(kw_ctx *ctx, struct kw_memory *memory)
{
	struct stat st;
	const char *what;

	if (fstat(memory->fd, &st))
		return kw_fail_errno(ctx, errno, "%s", memory->name);
	switch (st.st_mode & S_IFMT) {
	case S_IFREG: what = NULL; break;
	case S_IFIFO:
	case S_IFSOCK: memory->is_pipe = true; return let_wait(ctx, memory);
	case S_IFDIR: what = "a directory"; break;
	default: what = "a device"; break;
	}
	if (what)
		return kw_fail(ctx, KW_UNREADABLE, "%s: is %s; give the file of a dump or of a guest's RAM",
			       memory->name, what);
	if (!st.st_size)
		return kw_fail(ctx, KW_UNREADABLE, "%s: the file is empty; was the dump finished?",
			       memory->name);
	memory->file_size = (uint64_t)st.st_size;
	return KW_OK;
}

/*
 * Read the first bytes of the dump in a file, having copied what is in a pipe, unpacked a file that is compressed, and
 * indexed one that is flattened.
 */
static kw_status read_head(kw_ctx *ctx, struct kw_memory *memory, const struct kw_open_options *opts,
			   uint8_t head[HEAD], size_t *ret_len)
{
	ssize_t len = memory->is_pipe ? 0 : pread(memory->fd, head, HEAD, 0);
	kw_status status;

	if (memory->is_pipe || (len > 0 && kw_is_packed_file(head, (size_t)len))) {
		status = kw_unpack_file(ctx, memory, opts);
		if (status != KW_OK)
			return status;
		len = pread(memory->fd, head, HEAD, 0);
	}
	if (len > 0 && flat_probe(head, (size_t)len)) {
		status = flat_open(ctx, memory->name, memory->fd, memory->file_size, &memory->flat);
		if (status != KW_OK)
			return status;
		memory->file_size = flat_size(memory->flat);
		len = flat_read(memory->flat, memory->fd, 0, head, HEAD);
	}
	if (len < 0)
		return kw_fail_errno(ctx, errno, "%s", memory->name);
	*ret_len = (size_t)len;
	return KW_OK;
}

/* Open the dump in a file by its content. */
static kw_status open_content(kw_ctx *ctx, struct kw_memory *memory, const struct kw_open_options *opts)
{
	uint8_t head[HEAD];
	size_t i = 0, len = 0;
	kw_status status = read_head(ctx, memory, opts, head, &len);

	if (status != KW_OK)
		return status;
	while (!sources[i]->probe(head, len))
		i++;
	if (memory->flat && sources[i] != &kw_elf_source && sources[i] != &kw_kdump_source)
		return kw_fail(ctx, KW_FORMAT, "%s: what its flattened blocks make is no dump: the file %s",
			       memory->name, flat_is_cut(memory->flat) ? "was cut short" : "is damaged");
	status = sources[i]->open(ctx, memory);
	if (status != KW_OK || !memory->wrapped_in)
		return status;
	return kw_memory_describe(ctx, memory, "%s with %s", memory->wrapped_in, memory->description);
}

/* "-" is standard input: a file from its beginning, or a pipe, which may be a socket that can't be opened again. */
static int open_named(const char *name)
{
	struct stat st;

	/* Without O_NONBLOCK a pipe would wait for somebody to open it for writing. */
	if (strcmp(name, "-") != 0)
		return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (!fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode))
		return open("/dev/stdin", O_RDONLY | O_CLOEXEC);
	return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
}

static kw_status open_file(kw_ctx *ctx, struct kw_memory *memory, const char *spec,
			   const struct kw_open_options *opts)
{
	kw_status status;

	memory->fd = open_named(spec);
	if (memory->fd < 0 && errno == ENOENT && strchr(memory->name, ','))
		return kw_kdump_open_set(ctx, memory);
	if (memory->fd < 0)
		return kw_fail_errno(ctx, errno, "%s", memory->name);
	status = check_file(ctx, memory);
	if (status != KW_OK)
		return status;
	return kw_is_kcore(memory->fd) ? kw_kcore_open(ctx, memory) : open_content(ctx, memory, opts);
}

static kw_status open_source(kw_ctx *ctx, struct kw_memory *memory, const char *spec,
			     const struct kw_open_options *opts)
{
	if (!spec || !strcmp(spec, "live"))
		return kw_kcore_open(ctx, memory);
	if (!strncmp(spec, "qemu:", 5))
		return kw_qemu_open(ctx, memory, spec + 5);
	return open_file(ctx, memory, spec, opts);
}

/* What a target is called in messages. */
static const char *name_of(const char *spec)
{
	if (!spec || !strcmp(spec, "live"))
		return "/proc/kcore";
	return strcmp(spec, "-") != 0 ? spec : "standard input";
}

kw_status kw_memory_open(kw_ctx *ctx, const char *spec, const struct kw_open_options *opts)
{
	struct kw_memory *memory = calloc(1, sizeof(*memory));
	kw_status status;

	if (!memory)
		return kw_fail_nomem(ctx);
	memory->fd = memory->device_fd = -1;
	pthread_mutex_init(&memory->hotplug.lock, NULL);
	memory->no_mmap = opts && opts->no_mmap;
	memory->name = strdup(name_of(spec));
	status = memory->name ? open_source(ctx, memory, spec, opts) : kw_fail_nomem(ctx);
	if (status == KW_OK)
		status = kw_memory_list_segments(ctx, memory);
	if (status == KW_OK && memory->guard.first && memory->kind != KW_SOURCE_LIVE &&
	    !populate_init(&memory->populate, &memory->guard, memory->fd, memory->file_size))
		status = kw_fail_nomem(ctx);
	/* On files in memory, which populate leaves alone, a page costs no more to map than to read. */
	memory->once = status == KW_OK && opts && opts->once && memory->populate.asked;
	memory->copied |= memory->once;
	if (status == KW_OK) {
		ctx->target->memory = memory;
		ctx->reader = kw_reader_new(ctx);
		if (ctx->reader)
			return KW_OK;
		ctx->target->memory = NULL;
		status = kw_fail_nomem(ctx);
	}
	kw_memory_close(memory);
	return status;
}

void kw_memory_close(struct kw_memory *memory)
{
	if (!memory)
		return;
	guard_unmap_all(&memory->guard);
	populate_free(&memory->populate);
	hotplug_free(&memory->hotplug);
	if (memory->decoded.source)
		memory->decoded.free(memory->decoded.source);
	flat_free(memory->flat);
	if (memory->fd >= 0)
		close(memory->fd);
	if (memory->device_fd >= 0)
		close(memory->device_fd);
	segments_free(&memory->virt);
	segments_free(&memory->phys);
	segments_free(&memory->listed);
	free(memory->vmcoreinfo);
	free(memory->description);
	free(memory->trouble);
	free(memory->left_out);
	free(memory->name);
	free(memory);
}

enum kw_source_kind kw_memory_kind(const struct kw_memory *memory)
{
	return memory->kind;
}

bool kw_memory_is_live(const struct kw_memory *memory)
{
	return memory->live;
}

int kw_memory_device_why(const struct kw_memory *memory)
{
	return memory->device_why;
}

bool kw_memory_is_copied(const struct kw_memory *memory)
{
	return memory->copied;
}

uint64_t kw_memory_cut_off(const struct kw_memory *memory)
{
	return memory->cut_off;
}

const char *kw_memory_description(const struct kw_memory *memory)
{
	return memory->description;
}

const char *kw_memory_trouble(const struct kw_memory *memory)
{
	return memory->trouble;
}

const char *kw_trouble(kw_ctx *ctx)
{
	return ctx->target ? ctx->target->memory->trouble : NULL;
}

const char *kw_memory_name(const struct kw_memory *memory)
{
	return memory->name;
}

const char *kw_memory_vmcoreinfo(const struct kw_memory *memory, size_t *ret_len)
{
	if (memory->vmcoreinfo)
		*ret_len = memory->vmcoreinfo_len;
	return memory->vmcoreinfo;
}

uint64_t kw_memory_cr3(const struct kw_memory *memory)
{
	return memory->cr3;
}

bool kw_memory_has_virtual(const struct kw_memory *memory)
{
	return memory->has_virtual;
}
