/*
 * One process of every kind that a monitor meets, each at rest when the guest is frozen.
 *
 * A creature is a function: it makes itself what it is, calls settle() and sleeps. It learns its PID as the
 * first namespace sees it from /proc/self, since /proc belongs to that namespace. The keeper starts them one
 * after another, waits for each, and keeps the dead ones unreaped.
 */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct zoo_registry *registry;
static volatile int *busy_may_run;
static struct zoo_wish wishes;

static pid_t link_number(const char *path, int skip_words)
{
	char text[64];
	ssize_t len = readlink(path, text, sizeof(text) - 1);

	if (len <= 0)
		return -1;
	text[len] = 0;
	const char *at = text;
	while (skip_words-- > 0 && (at = strchr(at, '/')))
		at++;
	return at ? (pid_t)atoi(at) : -1;
}

static void enter(const char *name, pid_t pid, pid_t tid)
{
	unsigned at = __atomic_fetch_add(&registry->count, 1, __ATOMIC_SEQ_CST);

	if (at >= ZOO_MAX)
		_exit(1);
	struct zoo_entry *entry = &registry->entry[at];
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	entry->pid = pid;
	entry->tid = tid;
	__atomic_store_n(&entry->ready, 1, __ATOMIC_SEQ_CST);
}

/* Enter the calling thread into the registry. */
static void settle(const char *name)
{
	enter(name, link_number("/proc/self", 0), link_number("/proc/thread-self", 2));
}

static void rest(const char *name) __attribute__((noreturn));
static void rest(const char *name)
{
	settle(name);
	for (;;)
		pause();
}

static void sleeping(void)
{
	prctl(PR_SET_NAME, "sleeping");
	rest("sleeping");
}

static void busy(void)
{
	prctl(PR_SET_NAME, "busy");
	nice(19);
	settle("busy");
	while (!*busy_may_run)
		usleep(10000);
	for (;;)
		;
}

static void vfork_parent(void)
{
	prctl(PR_SET_NAME, "vfork-parent");
	settle("vfork-parent");
	if (vfork() == 0) {
		prctl(PR_SET_NAME, "vfork-child");
		settle("vfork-child");
		for (;;)
			pause();
	}
	_exit(0);
}

static void zombie_exit3(void)
{
	prctl(PR_SET_NAME, "zombie-exit3");
	settle("zombie-exit3");
	_exit(3);
}

static const struct {
	const char *name;
	void (*live)(void);
} creatures[] = {
	{ "sleeping", sleeping },
	{ "busy", busy },
	{ "vfork-child", vfork_parent },
	{ "zombie-exit3", zombie_exit3 },
};

static bool known(const char *name)
{
	for (unsigned i = 0; i < registry->count && i < ZOO_MAX; i++)
		if (registry->entry[i].ready && strcmp(registry->entry[i].name, name) == 0)
			return true;
	return false;
}

static void await(const char *name)
{
	for (int tries = 0; tries < 2000; tries++) {
		if (known(name))
			return;
		usleep(5000);
	}
	printf("lab: creature %s did not settle\n", name);
	struct zoo_entry *entry = &registry->entry[registry->count++ % ZOO_MAX];
	snprintf(entry->name, sizeof(entry->name), "%s", name);
}

static void keeper(void)
{
	prctl(PR_SET_NAME, "zoo-keeper");
	settle("zoo-keeper");
	for (size_t i = 0; i < sizeof(creatures) / sizeof(creatures[0]); i++) {
		if (fork() == 0) {
			creatures[i].live();
			_exit(1);
		}
		await(creatures[i].name);
	}
	rest("zoo-complete");
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static unsigned processes_now(void)
{
	char text[128];
	unsigned total = 0;

	if (read_text("/proc/loadavg", text, sizeof(text)) > 0)
		sscanf(text, "%*s %*s %*s %*u/%u", &total);
	return total;
}

static void filler_parent(void)
{
	prctl(PR_SET_NAME, "filler");
	for (unsigned have = processes_now(); have < wishes.processes; have++) {
		pid_t pid = fork();
		if (pid < 0)
			printf("lab: fork: %s\n", strerror(errno));
		if (pid == 0)
			for (;;)
				pause();
	}
	rest("filler-parent");
}

static bool await_for(const char *name, int seconds)
{
	for (int tries = 0; tries < seconds * 100; tries++) {
		if (known(name))
			return true;
		usleep(10000);
	}
	printf("lab: %s took too long\n", name);
	return false;
}

struct zoo_registry *zoo_start(const struct zoo_wish *wish)
{
	wishes = *wish;
	registry = share(sizeof(*registry));
	busy_may_run = share(4096);
	if (!registry || !busy_may_run)
		return NULL;
	*busy_may_run = wish->busy;
	if (fork() == 0) {
		keeper();
		_exit(1);
	}
	if (!await_for("zoo-complete", 90))
		return NULL;
	if (wish->processes && fork() == 0)
		filler_parent();
	if (wish->processes && !await_for("filler-parent", 600))
		return NULL;
	return registry;
}

void zoo_release_busy(void)
{
	*busy_may_run = 1;
}

void zoo_role(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	_exit(1);
}
