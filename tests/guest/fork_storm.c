/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Forks and reaps children as fast as asked: run by forks.test and examples.test in a guest.
 *
 *     fork_storm SECONDS RATE LONG_MS [LOG]
 *
 * RATE children a second, of which every other one ends at once and the rest live LONG_MS. They share the memory of their
 * parent, so that forking is cheap and each can write down itself when it ends. LOG gets a line for each:
 *
 *     PID BEFORE AFTER END REAPED KIND
 *
 * with the times of CLOCK_BOOTTIME, in ns, before and after the fork, when the child was about to end, and when it was reaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CHILDREN 400000
#define MAX_AT_ONCE  4096
#define STACK	     8192

struct child {
	pid_t pid;
	bool is_long;
	unsigned int slot;
	uint64_t before, after, end, reaped;
};

static struct child *children;
static unsigned int nr_children, first_alive, failed;
static char *stacks;
static unsigned int free_slots[MAX_AT_ONCE], nr_free;
static struct timespec life;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int live(void *arg)
{
	struct child *child = arg;

	if (child->is_long)
		nanosleep(&life, NULL);
	child->end = now_ns();
	_exit(0);
}

/* Those that were forked longest ago are at the front. */
static void note_reaped(pid_t pid, uint64_t now)
{
	for (unsigned int i = first_alive; i < nr_children; i++) {
		struct child *child = &children[i];

		if (child->pid != pid || child->reaped)
			continue;
		child->reaped = now;
		free_slots[nr_free++] = child->slot;
		break;
	}
	while (first_alive < nr_children && children[first_alive].reaped)
		first_alive++;
}

static void reap(int options)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, options)) > 0)
		note_reaped(pid, now_ns());
}

static void fork_one(void)
{
	struct child *child = &children[nr_children];

	child->slot = free_slots[nr_free - 1];
	child->is_long = nr_children & 1;
	child->before = now_ns();
	child->pid = clone(live, stacks + (child->slot + 1) * STACK, CLONE_VM | SIGCHLD, child);
	child->after = now_ns();
	if (child->pid < 0) {
		failed++;
		usleep(1000);
		return;
	}
	nr_free--;
	nr_children++;
}

static void storm(uint64_t span, uint64_t rate)
{
	uint64_t begin = now_ns(), passed;

	while ((passed = now_ns() - begin) < span && nr_children < MAX_CHILDREN) {
		/* What was missed is not made up for. */
		if (nr_children >= passed * rate / 1000000000 + 1 || !nr_free)
			usleep(200);
		else
			fork_one();
		reap(WNOHANG);
	}
	reap(0);
	printf("%u children in %.1f s, %u forks failed\n", nr_children, (double)(now_ns() - begin) / 1e9,
	       failed);
}

static bool write_log(const char *path)
{
	FILE *out = fopen(path, "we");

	for (unsigned int i = 0; out && i < nr_children; i++) {
		const struct child *c = &children[i];

		fprintf(out, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", c->pid, c->before,
			c->after, c->end, c->reaped, c->is_long ? "long" : "short");
	}
	return out && fclose(out) == 0;
}

static void *memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		return at;
	perror("fork_storm");
	exit(1);
}

int main(int argc, char **argv)
{
	long ms;

	if (argc < 4)
		return 2;
	ms = strtol(argv[3], NULL, 10);
	life = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	children = memory(MAX_CHILDREN * sizeof(*children));
	stacks = memory(MAX_AT_ONCE * STACK);
	for (unsigned int i = 0; i < MAX_AT_ONCE; i++)
		free_slots[nr_free++] = i;
	storm(strtoull(argv[1], NULL, 10) * 1000000000, strtoull(argv[2], NULL, 10));
	if (argc > 4 && !write_log(argv[4])) {
		perror(argv[4]);
		return 1;
	}
	return 0;
}
