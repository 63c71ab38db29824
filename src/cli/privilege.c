/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Giving up privileges once the files are open.
 *
 * Root is needed to open kernel memory, not to read on. What follows parses bytes that nobody vouches for, so it runs
 * without capabilities and without the way back to them. capset(2) is called as such: it is one call, and a library
 * for it would cost every start-up its loading.
 */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cli.h"

void cli_drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* Neither can fail for a process that only gives up; without privileges there is nothing to give. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}
