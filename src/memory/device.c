/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device of the kernel module: see the header. */
#include "memory/device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int kw_device_open(const char *path, int *ret_why)
{
	/* Without O_NONBLOCK something else of that name, a pipe or a tape, could make us wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0) {
		*ret_why = errno;
		return -1;
	}
	if (!fstat(fd, &st) && S_ISCHR(st.st_mode) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	*ret_why = ENODEV;
	return -1;
}
