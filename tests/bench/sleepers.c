/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bench: many real processes for ps to list.
 *
 *     bench_sleepers COUNT
 *
 * Forks COUNT children that sleep, prints "ready", and ends them all when stdin ends, as it does when the bench is
 * gone, for whatever reason. Each child also dies with this program, so none is left behind even by a SIGKILL. They
 * form a process group of their own: the terminal's Ctrl-C reaches the bench alone, which then closes the pipe.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_COUNT 1000000

static void sleep_for_ever(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static size_t start(pid_t *child, size_t count)
{
	pid_t parent = getpid();

	for (size_t i = 0; i < count; i++) {
		child[i] = fork();
		if (child[i] == 0)
			sleep_for_ever(parent);
		if (child[i] < 0) {
			fprintf(stderr, "bench_sleepers: no more than %zu processes: %s\n", i,
				strerror(errno));
			return i;
		}
	}
	return count;
}

static void end(const pid_t *child, size_t count)
{
	for (size_t i = 0; i < count; i++)
		kill(child[i], SIGKILL);
	for (size_t i = 0; i < count; i++)
		waitpid(child[i], NULL, 0);
}

static void wait_for_end_of_stdin(void)
{
	char byte;
	ssize_t got;

	do
		got = read(STDIN_FILENO, &byte, 1);
	while (got > 0 || (got < 0 && errno == EINTR));
}

int main(int argc, char **argv)
{
	size_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0, started;
	pid_t *child;

	if (!count || count > MAX_COUNT) {
		fprintf(stderr, "usage: bench_sleepers COUNT\n");
		return 2;
	}
	child = calloc(count, sizeof(*child));
	if (!child)
		return 1;
	setpgid(0, 0);
	started = start(child, count);
	if (started == count) {
		printf("ready\n");
		fflush(stdout);
		wait_for_end_of_stdin();
	}
	end(child, started);
	free(child);
	return started == count ? 0 : 1;
}
