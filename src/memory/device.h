/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /dev/kwalk: the device of kwalk's kernel module (src/kmod), which maps the kernel's own memory.
 *
 * Its offsets are physical addresses. It gives a page when that is touched, and refuses (SIGBUS) one that is not the
 * kernel's own; what it refuses is read from /proc/kcore.
 */
#ifndef MEMORY_DEVICE_H
#define MEMORY_DEVICE_H

#include <stdint.h>

#define KW_DEVICE_PATH "/dev/kwalk"

/**
 * Open the device at `path`, which the module makes: a character device that belongs to root and that others can't
 * write to.
 *
 * @param ret_why  set when it can't be had: an errno, ENOENT when the module is not loaded, ENODEV for what is no such
 *                 device
 * @return a file descriptor, or -1
 */
int kw_device_open(const char *path, int *ret_why);

#endif
