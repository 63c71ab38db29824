/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Telling what a step took. */
#ifndef UTIL_TIME_H
#define UTIL_TIME_H

#include <stdint.h>
#include <time.h>

/** Nanoseconds of the monotonic clock. */
static inline uint64_t kw_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
