/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes what the example scripts look for, until it is ended: run by examples.test in a guest. Processes by the names of
 *
 *     stir-cpu     three that never sleep, so that two CPUs are not enough
 *     stir-memory  takes 1 MiB more, 5 times a second
 *     stir-io      writes and reads 64 KiB, 100 times a second
 *     stir-slab    makes 50 files, 20 times a second
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB	(1 << 20)
#define MAX_MIB 400

static void cpu(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void memory(void)
{
	for (int i = 0; i < MAX_MIB; i++) {
		char *more = malloc(MIB);

		if (more)
			memset(more, 1, MIB);
		usleep(200000);
	}
}

static void io(void)
{
	static char buffer[65536];
	int fd = open("/tmp/stirred", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	while (pwrite(fd, buffer, sizeof(buffer), 0) > 0 && pread(fd, buffer, sizeof(buffer), 0) > 0)
		usleep(10000);
}

static void slab(void)
{
	char name[64];

	mkdir("/tmp/stir", 0700);
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "/tmp/stir/%d", i);
		close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		if (i % 50 == 0)
			usleep(50000);
	}
}

static void start(const char *name, void (*run)(void))
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	run();
	pause();
	_exit(0);
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		start("stir-cpu", cpu);
	start("stir-memory", memory);
	start("stir-io", io);
	start("stir-slab", slab);
	pause();
	return 0;
}
