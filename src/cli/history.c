/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the history of the prompt is kept: $XDG_STATE_HOME/kwalk/history, by default in ~/.local/state.
 *
 * kwalk mostly runs as root, and $HOME may be another user's (sudo keeps it on some systems): then nothing is written
 * there, nor is anything followed that is no plain file of one's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/line_input.h"

static bool is_own_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static bool have_folder(const char *path)
{
	return (mkdir(path, 0700) == 0 || is_own_folder(path)) && is_own_folder(path);
}

/* $XDG_STATE_HOME, or what stands for it; each folder on the way is made, and must be the user's own. */
static bool find_state(char *path, size_t size)
{
	const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");

	if (state && *state == '/')
		return (size_t)snprintf(path, size, "%s", state) < size && have_folder(path);
	if (!home || *home != '/' || (size_t)snprintf(path, size, "%s", home) >= size || !is_own_folder(path))
		return false;
	if ((size_t)snprintf(path, size, "%s/.local", home) >= size || !have_folder(path))
		return false;
	return (size_t)snprintf(path, size, "%s/.local/state", home) < size && have_folder(path);
}

char *history_path(void)
{
	char state[3072], folder[3584];
	struct stat st;
	char *path;

	if (!find_state(state, sizeof(state)))
		return NULL;
	snprintf(folder, sizeof(folder), "%s/kwalk", state);
	if (!have_folder(folder) || asprintf(&path, "%s/history", folder) < 0)
		return NULL;
	if (lstat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
		free(path);
		return NULL;
	}
	return path;
}
