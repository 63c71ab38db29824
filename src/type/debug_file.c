/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding a kernel's debug file: see the header.
 *
 *     FOLDER/.build-id/ab/cdef....debug       every distribution
 *     FOLDER/boot/vmlinux-RELEASE             Debian
 *     FOLDER/lib/modules/RELEASE/vmlinux      Debian, Fedora
 *
 * What the target says of itself goes into these paths: the build ID must be hexadecimal, and the release a plain name.
 */
#include "type/debug_file.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbols.h"
#include "util/error.h"

#define BUILD_ID_MAX 128 /* digits; they are 40 */

const char *kw_debug_folder(void)
{
	const char *named = secure_getenv("KWALK_DEBUG_FOLDER");

	return named && *named ? named : "/usr/lib/debug";
}

bool kw_debug_file_path(const char *folder, const char *hex, size_t len, char *buf, size_t size)
{
	if (len < 4 || len > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)hex[i]))
			return false;
	return snprintf(buf, size, "%s/.build-id/%.2s/%.*s.debug", folder, hex, (int)len - 2, hex + 2) <
	       (int)size;
}

static bool is_plain_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._+-~", name[i]))
			return false;
	return len && len < 128 && name[0] != '.';
}

bool kw_debug_file_modules(kw_ctx *ctx, char *buf, size_t size)
{
	size_t len = 0;
	const char *release = kw_vmcoreinfo(ctx, "OSRELEASE", &len);

	return release && is_plain_name(release, len) &&
	       snprintf(buf, size, "/lib/modules/%.*s", (int)len, release) < (int)size;
}

/* Try a path where there is a file; others leave *status as it is. */
static bool try_path(kw_ctx *ctx, const char *path, kw_debug_file_try *try, void *arg, kw_status *status)
{
	if (access(path, F_OK))
		return false;
	*status = try(ctx, path, arg);
	return *status == KW_OK || *status == KW_NOMEM;
}

kw_status kw_debug_file_find(kw_ctx *ctx, kw_debug_file_try *try, void *arg)
{
	const char *folder = kw_debug_folder();
	size_t id_len = 0, len = 0;
	const char *id = kw_vmcoreinfo(ctx, "BUILD-ID", &id_len),
		   *release = kw_vmcoreinfo(ctx, "OSRELEASE", &len);
	static const char *const by_release[][2] = { { "boot/vmlinux-", "" },
						     { "lib/modules/", "/vmlinux" } };
	kw_status status = KW_NOTFOUND;
	char path[512];

	if (id && kw_debug_file_path(folder, id, id_len, path, sizeof(path)) &&
	    try_path(ctx, path, try, arg, &status))
		return status;
	if (!release || !is_plain_name(release, len))
		return status;
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s%.*s%s", folder, by_release[i][0], (int)len, release,
			 by_release[i][1]);
		if (try_path(ctx, path, try, arg, &status))
			break;
	}
	return status;
}

/* What is used of libdebuginfod; loaded when it is used. */
struct client {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int len, char **ret_path);
	void (*end)(void *client);
};

static bool load_client(struct client *ret)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&ret->begin = dlsym(library, "debuginfod_begin");
	*(void **)&ret->find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&ret->end = dlsym(library, "debuginfod_end");
	return ret->begin && ret->find && ret->end;
}

/* Ask the servers for a build ID; a length of 0 says that it is text. The caller frees *ret_path. */
static kw_status fetch(kw_ctx *ctx, const struct client *client, const char *hex, char **ret_path)
{
	void *session = client->begin();
	int fd;

	if (!session)
		return kw_fail(ctx, KW_UNREADABLE, "debuginfod: can't begin a session");
	fd = client->find(session, (const unsigned char *)hex, 0, ret_path);
	client->end(session);
	if (fd < 0)
		return kw_fail(ctx, KW_NOTFOUND, "debuginfod: %s: %s", hex, strerror(-fd));
	close(fd);
	return KW_OK;
}

kw_status kw_debug_file_fetch(kw_ctx *ctx, kw_debug_file_try *try, void *arg)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	size_t len = 0;
	const char *id = kw_vmcoreinfo(ctx, "BUILD-ID", &len);
	struct client client;
	char hex[BUILD_ID_MAX + 1], unused[BUILD_ID_MAX + 32], *path;
	kw_status status;

	if (!urls || !*urls)
		return kw_fail(ctx, KW_NOTFOUND, "debuginfod: DEBUGINFOD_URLS names no server");
	if (!id || !kw_debug_file_path("", id, len, unused, sizeof(unused)))
		return kw_fail(ctx, KW_NOTFOUND, "debuginfod: the kernel's build ID is not known");
	if (!load_client(&client))
		return kw_fail(
			ctx, KW_UNSUPPORTED,
			"debuginfod: needs libdebuginfod.so.1, which is not installed (Debian: libdebuginfod1)");
	snprintf(hex, sizeof(hex), "%.*s", (int)len, id);
	status = fetch(ctx, &client, hex, &path);
	if (status)
		return status;
	status = try(ctx, path, arg);
	free(path);
	return status;
}
