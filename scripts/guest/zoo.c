/*
 * The keeper: starts one process of every kind that a monitor meets, each at rest when the guest is frozen.
 *
 * A creature is a function in creatures.c: it makes itself what it is, settles under a name and sleeps. It learns its
 * PID as the first namespace sees it from /proc/self, since /proc belongs to that namespace. The registry is a
 * mapped file, so that a creature finds it again after an exec. The keeper waits for each creature before it starts
 * the next, and leaves the dead ones unreaped.
 */
#include "zoo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define REGISTRY "/run/zoo"
#define KEEPER	 "zoo-keeper"

enum { STEP_US = 2000, CREATURE_SECONDS = 60, KEEPER_SECONDS = 240, FILLER_SECONDS = 3600 };

static struct zoo_registry *registry;

static struct zoo_registry *open_registry(int flags)
{
	int fd = open(REGISTRY, O_RDWR | O_CLOEXEC | flags, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*registry)))
		return NULL;
	void *memory = mmap(NULL, sizeof(*registry), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* A number in the target of a link such as "PID/task/TID", behind so many slashes. */
static pid_t number_in_link(const char *path, int slashes)
{
	char text[64];
	ssize_t len = readlink(path, text, sizeof(text) - 1);

	if (len <= 0)
		return -1;
	text[len] = 0;
	const char *at = text;
	while (slashes-- > 0 && (at = strchr(at, '/')))
		at++;
	return at ? (pid_t)atoi(at) : -1;
}

static void enter(const char *name, pid_t pid, pid_t tid, int ready)
{
	unsigned at = __atomic_fetch_add(&registry->count, 1, __ATOMIC_SEQ_CST);

	if (at >= ZOO_MAX)
		abort();
	struct zoo_entry *entry = &registry->entry[at];
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	entry->pid = pid;
	entry->tid = tid;
	__atomic_store_n(&entry->ready, ready, __ATOMIC_SEQ_CST);
}

void settle(const char *name)
{
	enter(name, number_in_link("/proc/self", 0), number_in_link("/proc/thread-self", 2), 1);
}

void doze(void)
{
	for (;;)
		pause();
}

void rest(const char *name)
{
	settle(name);
	doze();
}

bool may_be_busy(void)
{
	return __atomic_load_n(&registry->busy, __ATOMIC_RELAXED);
}

unsigned crowd_threads(void)
{
	return registry->crowd_threads;
}

static bool known(const char *name)
{
	unsigned count = __atomic_load_n(&registry->count, __ATOMIC_SEQ_CST);

	for (unsigned i = 0; i < count; i++)
		if (registry->entry[i].ready && strcmp(registry->entry[i].name, name) == 0)
			return true;
	return false;
}

static bool await(const char *name, int seconds)
{
	for (long left = seconds * 1000000L; left > 0; left -= STEP_US) {
		if (known(name))
			return true;
		usleep(STEP_US);
	}
	printf("lab: %s did not settle\n", name);
	return false;
}

static void keep(void)
{
	prctl(PR_SET_NAME, KEEPER);
	for (const struct creature *creature = zoo_creatures; creature->name; creature++) {
		pid_t pid = fork();
		if (pid == 0) {
			creature->live();
			printf("lab: %s gave up: %s\n", creature->name, strerror(errno));
			_exit(1);
		}
		if (!await(creature->name, CREATURE_SECONDS))
			enter(creature->name, pid, pid, 0);
	}
	rest(KEEPER); /* says that all are there */
}

static unsigned processes_now(void)
{
	DIR *proc = opendir("/proc");
	unsigned count = 0;

	if (!proc)
		return 0;
	for (struct dirent *entry; (entry = readdir(proc));)
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	closedir(proc);
	return count;
}

static void fill(unsigned wanted)
{
	prctl(PR_SET_NAME, "filler");
	for (unsigned have = processes_now(); have < wanted; have++) {
		pid_t pid = fork();
		if (pid == 0)
			doze();
		if (pid < 0) {
			printf("lab: fork after %u processes: %s\n", have, strerror(errno));
			return;
		}
	}
	rest("filler-parent");
}

struct zoo_registry *zoo_start(const struct zoo_wish *wish)
{
	registry = open_registry(O_CREAT);
	if (!registry)
		return NULL;
	registry->busy = wish->busy;
	registry->crowd_threads = wish->threads;
	if (fork() == 0) {
		keep();
		_exit(1);
	}
	if (!await(KEEPER, KEEPER_SECONDS))
		return NULL;
	if (wish->processes && fork() == 0) {
		fill(wish->processes);
		_exit(1);
	}
	if (wish->processes && !await("filler-parent", FILLER_SECONDS))
		return NULL;
	return registry;
}

void zoo_release_busy(void)
{
	__atomic_store_n(&registry->busy, 1, __ATOMIC_RELAXED);
}

void zoo_role(int argc, char **argv)
{
	registry = open_registry(0);
	for (const struct role *role = zoo_roles; registry && role->name; role++)
		if (strcmp(role->name, argv[2]) == 0)
			role->live(argc, argv);
	_exit(1);
}
