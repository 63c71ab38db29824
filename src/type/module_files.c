/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where files of modules lie: see the header. */
#include "type/module_files.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define DEPTH_MAX 16	   /* of folders; modules lie some six deep */
#define FILES_MAX 1000000u /* looked at; a distribution's kernel has some 5,000 */

/* The module that a file's name stands for: malloc()ed; NULL when it is no module's. */
static char *module_of(const char *file)
{
	const char *end = strstr(file, ".ko");
	char *module;

	if (!end || end == file || (strcmp(end, ".ko") && strcmp(end, ".ko.debug")))
		return NULL;
	module = strndup(file, (size_t)(end - file));
	for (char *c = module; c && *c; c++)
		if (*c == '-')
			*c = '_';
	return module;
}

static void add_file(struct kw_module_files *files, const FTSENT *entry)
{
	struct kw_module_file file = { .module = module_of(entry->fts_name) };

	if (!file.module)
		return;
	file.path = strdup(entry->fts_path);
	if (!file.path || !kw_array_push(files, file)) {
		free(file.module);
		free(file.path);
	}
}

void kw_module_files_add(struct kw_module_files *files, const char *folder)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	unsigned int left = FILES_MAX;
	FTSENT *entry;

	while (tree && left-- && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_D && entry->fts_level > DEPTH_MAX)
			fts_set(tree, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F || entry->fts_info == FTS_NSOK)
			add_file(files, entry);
	}
	if (tree)
		fts_close(tree);
}

void kw_module_files_free(struct kw_module_files *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		free(files->item[i].module);
		free(files->item[i].path);
	}
	free(files->item);
	*files = (struct kw_module_files){ 0 };
}
