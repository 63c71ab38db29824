/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading libdw: see the header. */
#include "type/libdw.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static struct kw_libdw libdw;
static bool loaded;

static void load(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	loaded = true;
#define KW_LIBDW_FIND(name)                            \
	*(void **)&libdw.name = dlsym(library, #name); \
	if (!libdw.name)                               \
		loaded = false;
	KW_LIBDW_FUNCTIONS(KW_LIBDW_FIND)
#undef KW_LIBDW_FIND
}

const struct kw_libdw *kw_libdw_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? &libdw : NULL;
}
