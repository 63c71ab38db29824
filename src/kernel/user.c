/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of this host's users, each asked for once. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/field_table.h"
#include "util/array.h"

struct user {
	uint32_t uid;
	char *name; /* NULL: the host does not know it */
};

struct kw_users {
	struct user *item;
	size_t nr, cap;
};

struct kw_users *kw_users_new(void)
{
	return calloc(1, sizeof(struct kw_users));
}

void kw_users_free(struct kw_users *users)
{
	if (!users)
		return;
	for (size_t i = 0; i < users->nr; i++)
		free(users->item[i].name);
	free(users->item);
	free(users);
}

static char *ask(uint32_t uid)
{
	struct passwd pwd, *found = NULL;
	char buf[4096];

	if (getpwuid_r(uid, &pwd, buf, sizeof(buf), &found) || !found)
		return NULL;
	return strdup(found->pw_name);
}

const char *kw_user_name(struct kw_users *users, uint32_t uid)
{
	for (size_t i = users->nr; i-- > 0;)
		if (users->item[i].uid == uid)
			return users->item[i].name;
	if (!kw_array_push(users, (struct user){ uid, ask(uid) }))
		return NULL;
	return users->item[users->nr - 1].name;
}
