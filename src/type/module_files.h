/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where files of modules lie on this machine. */
#ifndef TYPE_MODULE_FILES_H
#define TYPE_MODULE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/** A file, by the name of its module: with "_" where the file's may have "-". */
struct kw_module_file {
	char *module, *path;
};

/** Files, those of folders that were added earlier first. Free with kw_module_files_free(). */
struct kw_module_files {
	struct kw_module_file *item;
	size_t nr, cap;
};

/** Add all NAME.ko and NAME.ko.debug in a folder and those within it; there links are not followed. */
void kw_module_files_add(struct kw_module_files *files, const char *folder);

void kw_module_files_free(struct kw_module_files *files);

#endif
